/* Inside libtunelookup: what its files share. Outside of db/lookup/ only db/exchange, tuner/predictor, tuner/cli/commands and white-box tests may include it (tests/checks/layers.sh).
 *
 * The answers of a plan: the kernel's expressions, its variants and rows, and a hash table over the rows' shapes, all in one arena.
 * They never change once a plan points to them, and live until close, so finders need no lock and results stay valid over a refresh. */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "db/cells.h"
#include "db/pack.h"
#include "db/program.h"
#include "db/row_rules.h"
#include "db/rule.h"
#include "db/trees.h"
#include "include/tunelookup.h"

struct sqlite3;

/* Limits on what a file may hold, so that every evaluation fits a caller's stack and results have one size. */
enum {
    MT_LOOKUP_SLOTS = 256,     /* shape values, device facts, knobs, lets */
    MT_LOOKUP_PREPARE = 0, MT_LOOKUP_TIMED = 1, MT_LOOKUP_FINISH = 2, MT_LOOKUP_PHASES = 3, /* of launches, in the order in which they run */
    MT_LOOKUP_LAUNCHES = 16,   /* of one variant, of all phases */
    MT_LOOKUP_ARGS = 32,       /* of one launch */
    MT_LOOKUP_ALL_ARGS = 128,  /* of a kernel */
    MT_LOOKUP_PARAMS = 64, MT_LOOKUP_RANK = 8, MT_LOOKUP_MAP_RANK = 5, MT_LOOKUP_FACTS = 12,
    MT_LOOKUP_CHOICES = 4,     /* defaults of a kernel */
    MT_LOOKUP_NO_SLOT = UINT32_MAX,
    MT_LOOKUP_KEY_SIZE = 33,
    MT_LOOKUP_CARVEOUTS = MT_CELL_CARVEOUTS /* launches whose measured carve-out is kept */
};

/* Writes tunelookup_detail's text and returns `status`, so that `return mt_lookup_fail(…)` reads well. */
tunelookup_status mt_lookup_fail(tunelookup_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
tunelookup_status mt_lookup_no_memory(void);
void mt_lookup_clear_detail(void);

/* Whether the byte at `at` of `text` belongs to a character that may be shown as it is (lookup_text.c): valid UTF-8, no control character, none that turns the direction of
 * writing. The same rule as mt_text_is_shown of the tool, which this library can't use. */
bool mt_lookup_is_shown(const char *text, const char *at);
void mt_lookup_hex(const unsigned char digest[16], char hex[MT_LOOKUP_KEY_SIZE]);

#define LOOKUP_TRY(call)                          \
    do {                                          \
        st = (call);                              \
        if (st != TUNELOOKUP_OK) goto done;       \
    } while (0)
#define LOOKUP_LEAVE(status) do { st = (status); goto done; } while (0)

/* ---- memory (lookup_memory.c) ---- */

typedef struct mt_lookup_arena {
    struct mt_lookup_arena_chunk *chunks;
    size_t next_bytes; /* of the next chunk */
} mt_lookup_arena;

void *mt_lookup_arena_take(mt_lookup_arena *arena, size_t count, size_t size); /* zeroed, 16-byte aligned; NULL when memory runs out */
char *mt_lookup_arena_text(mt_lookup_arena *arena, const char *text, size_t length);
void mt_lookup_arena_free(mt_lookup_arena *arena);
void *mt_lookup_alloc(size_t bytes); /* zeroed; free() */
void mt_lookup_fail_at(size_t n);    /* tests: the n-th allocation from now fails; 0 = none */

/* ---- files (lookup_file.c) ---- */

typedef struct mt_lookup_stamp {
    dev_t device;
    uint64_t inode, wal_inode, wal_salts; /* the salts are others once a -wal begins anew */
    int64_t bytes, mtime_ns, ctime_ns, wal_bytes, wal_mtime_ns; /* −1: no such file; of a -wal also where it is empty, as readers leave it */
} mt_lookup_stamp;

typedef struct mt_lookup_file {
    char *path;        /* as given or found */
    bool is_shipped;   /* its cubins need no opt-in */
    bool is_optional;  /* the user's default file over shipped ones: may be missing */
    mt_lookup_stamp stamp;
} mt_lookup_file;

/* Behind "in the user's file": which shipped files were asked too, or where there are none. */
void mt_lookup_tell_shipped(const tunelookup_db *db, char *out, size_t size);
/* Where open(NULL) looks: the user's file, then the shipped ones in order of their names. */
tunelookup_status mt_lookup_default_files(mt_lookup_file **files, size_t *count);
tunelookup_status mt_lookup_given_file(const char *path, mt_lookup_file **files, size_t *count);
/* Whether the file, which need not exist, would lie in a share/msda-tune-shipped of any installation. */
bool mt_lookup_lies_in_shipped(const char *path);
void mt_lookup_files_free(mt_lookup_file *files, size_t count);
mt_lookup_stamp mt_lookup_stamp_of(const char *path);
bool mt_lookup_stamp_equal(const mt_lookup_stamp *a, const mt_lookup_stamp *b);
/* Follows links to the real path and checks owners and modes of the file, its companions and its folders (lookup_trust.c). *is_shared: strangers may create files beside it (a
 * sticky folder such as /tmp), so that no companion may be read: one could come after the check. */
tunelookup_status mt_lookup_check_trust(const char *path, char real[PATH_MAX], bool *is_shared);

/* One file, open for the length of one call (lookup_sqlite.c). Must stay where it is while open. */
typedef struct mt_lookup_session {
    struct sqlite3 *db;
    bool is_pack; unsigned char contents[MT_BLAKE2B_BYTES]; /* of a pack: the hash of its table of contents, and so of all that is in it */
    unsigned steps;    /* that SQLite made, in units of the progress handler */
    bool is_immutable; /* read without locks and companions; .stamp: as it was before */
    mt_lookup_stamp stamp;
} mt_lookup_session;
/* Checks trust and schema. session->db is NULL with OK when an optional file is missing. */
tunelookup_status mt_lookup_sqlite_open(const mt_lookup_file *file, mt_lookup_session *session);
/* The same of the file's first page alone (of a pack its table of contents), and closes it again: what the schema holds is for mt_lookup_sqlite_open to find, before anything of it is read. */
tunelookup_status mt_lookup_sqlite_try(const mt_lookup_file *file, mt_lookup_session *session);
/* To ask before what was read is believed: ERR_IO when the file was read without locks and somebody wrote it meanwhile. */
tunelookup_status mt_lookup_sqlite_confirm(const mt_lookup_file *file, const mt_lookup_session *session);
void mt_lookup_sqlite_close(mt_lookup_session *session);
/* Status and detail for what is wrong with a pack (db/pack.h); for what SQLite says of its last call. */
tunelookup_status mt_lookup_pack_fail(mt_pack_verdict verdict, const char *path, const char *why);
tunelookup_status mt_lookup_sqlite_fail(struct sqlite3 *db, const char *path);

/* ---- JSON (lookup_json.c) ---- */

typedef enum mt_lookup_json_kind { MT_LOOKUP_JSON_NULL, MT_LOOKUP_JSON_FALSE, MT_LOOKUP_JSON_TRUE, MT_LOOKUP_JSON_INTEGER, MT_LOOKUP_JSON_REAL, MT_LOOKUP_JSON_TEXT, MT_LOOKUP_JSON_ARRAY, MT_LOOKUP_JSON_OBJECT } mt_lookup_json_kind;
typedef struct mt_lookup_json {
    mt_lookup_json_kind kind;
    uint32_t count;    /* of members */
    const char *key; bool is_asked; /* in an object; somebody asked for it by this name */
    const char *text;  /* TEXT */
    int64_t number;    /* INTEGER */
    double real;       /* INTEGER, REAL */
    struct mt_lookup_json *first, *next; /* members; next: the following one of the same parent */
} mt_lookup_json;

/* Nodes and texts live in the arena. ERR_NOT_A_DATABASE where it is no JSON, or more or deeper than anything that the tuner writes. */
tunelookup_status mt_lookup_json_load(const char *path, const char *text, mt_lookup_arena *arena, const mt_lookup_json **root);
const mt_lookup_json *mt_lookup_json_member(const mt_lookup_json *object, const char *key);                 /* or NULL; object may be NULL */
const char *mt_lookup_json_text(const mt_lookup_json *object, const char *key);                      /* or NULL */
int64_t mt_lookup_json_int(const mt_lookup_json *object, const char *key, int64_t otherwise);
bool mt_lookup_json_bool(const mt_lookup_json *object, const char *key);

/* ---- the kernel's expressions (lookup_model.c, lookup_model_args.c) ---- */

typedef enum mt_lookup_name_kind { MT_LOOKUP_NAME_INT, MT_LOOKUP_NAME_LIST, MT_LOOKUP_NAME_STRING } mt_lookup_name_kind;
typedef struct mt_lookup_model_name {   /* one shape value */
    const char *name;
    mt_lookup_name_kind kind;
    /* bound by prepare */
    uint32_t offset, length;     /* INT, LIST: place in a result's values_ */
    const char *string;          /* STRING */
    bool is_bound;
} mt_lookup_model_name;

typedef struct mt_lookup_model_param {
    const char *name;
    bool is_string;
    const mt_program *when;
    bool has_standard; uint8_t changes_with; /* the space's default is known; what `when` changes with */
    mt_value standard;
    const char *standard_text;   /* "NAME=value" */
} mt_lookup_model_param;
enum { MT_LOOKUP_WITH_SHAPES = 1, MT_LOOKUP_WITH_KNOBS = 2, MT_LOOKUP_WITH_BOTH = 3, MT_LOOKUP_WITH_ANY = 4 }; /* what a value changes with (lookup_changes.c); 0: nothing but the plan's device and strings */
typedef struct mt_lookup_model_let {
    const char *name;
    const mt_program *value;
    bool is_in_costs, is_in_rules; /* the cost model, or where there is none some launch's grid or condition, reads it, itself or through others; what decides whether a variant may run does */
    uint8_t changes_with;
} mt_lookup_model_let;
typedef struct mt_lookup_model_variant {
    const char *name, *entry;
    const mt_program *requires_program; uint8_t changes_with; /* the program */
    uint64_t baked;              /* shape values that are compiled in, as bits of their indices */
} mt_lookup_model_variant;
typedef struct mt_lookup_model_constraint { const char *name, *why; const mt_program *holds; uint8_t changes_with; } mt_lookup_model_constraint;
typedef struct mt_lookup_model_list { const mt_program **items; uint32_t count; } mt_lookup_model_list;

typedef struct mt_lookup_model_arg {
    const char *name;
    tunelookup_arg_kind kind;
    tunelookup_role role;
    const char *dtype;           /* may hold ${…} */
    mt_lookup_model_list shape;
    bool zero_before_each;
    int32_t tensor;
    const char *loop;            /* NULL: one map */
    const mt_program *count, *offset;
    mt_lookup_model_list dims, strides, box;
    int32_t swizzle_bytes, l2_promotion_bytes;
    const mt_program *swizzle;   /* instead of swizzle_bytes; NULL = none */
    bool fill_nan;
    const mt_program *value;     /* NULL: the literal */
    double literal;
    struct { int32_t *items; uint32_t count, align; } members; /* of a struct: arguments; structs among them stand above it */
} mt_lookup_model_arg;

typedef struct mt_lookup_model_launch {
    int32_t variant;             /* −1 = all */
    int64_t number;
    const char *entry;           /* NULL = the variant's */
    int32_t args[MT_LOOKUP_ARGS];
    int32_t arg_count;
    mt_lookup_model_list grid, block, cluster;
    const mt_program *smem, *carveout, *when, *repeat;
    const mt_program *blocks_per_sm; /* it counts on so many; NULL = on none, or its file is older and does not say */
    int phase;                   /* MT_LOOKUP_PREPARE … */
    bool cooperative, programmatic;
    bool is_resident;            /* all blocks must run at once, without a cooperative launch */
} mt_lookup_model_launch;

typedef struct mt_lookup_model {
    const char *l2, *per;             /* per: units of work of one run, as written: times are of one unit; NULL = of the run */
    bool is_by_default;               /* outputs were compared with what the default variant computes */
    mt_lookup_model_name *names;             uint32_t name_count;
    mt_lookup_model_param *params;           uint32_t param_count;
    uint32_t *params_by_name;                /* knobs in the order of a variant's text */
    mt_lookup_model_let *lets;               uint32_t let_count, model_let; /* from model_let on: those of the cost model alone */
    const mt_program *time_ns;               /* the cost model; NULL = none */
    const mt_trees *correction;              /* of what it says, learned on GPUs of this architecture; NULL = none */
    uint32_t time_digest;                    /* of its expressions and of the correction; 0 = none */
    mt_lookup_model_variant *variants;       uint32_t variant_count;
    mt_lookup_model_constraint *constraints; uint32_t constraint_count;
    mt_lookup_model_arg *args;               uint32_t arg_count;
    mt_lookup_model_launch *launches;        uint32_t launch_count; /* by phase and number */
    uint32_t defaults[MT_LOOKUP_CHOICES], default_count; /* variants whose default points may answer, in order of preference */
    uint32_t device_slot, param_slot, let_slot, loop_slot, slot_count;
    int64_t facts[MT_LOOKUP_FACTS];   /* of the prepared device; 0 = not given */
    uint32_t missing_facts;           /* those that its expressions read and the caller did not give, as bits */
} mt_lookup_model;

extern const char *const mt_lookup_fact_names[MT_LOOKUP_FACTS];
tunelookup_status mt_lookup_model_load(const mt_lookup_json *root, const tunelookup_device *device, const char *where, mt_lookup_arena *arena, mt_lookup_model *model);

/* Between the two files of the model. */
typedef struct mt_lookup_model_reader {
    mt_lookup_arena *arena;
    mt_lookup_model *model;
    const char *where;           /* "FILE: kernel msda" */
    const char *loop;            /* the loop variable that programs may read now */
} mt_lookup_model_reader;
tunelookup_status mt_lookup_model_program(const mt_lookup_model_reader *reader, const mt_lookup_json *object, const char *key, const mt_program **program); /* NULL = it has none */
tunelookup_status mt_lookup_model_list_load(const mt_lookup_model_reader *reader, const mt_lookup_json *array, uint32_t limit, mt_lookup_model_list *list);
tunelookup_status mt_lookup_model_args(mt_lookup_model_reader *reader, const mt_lookup_json *array);
tunelookup_status mt_lookup_model_launches(mt_lookup_model_reader *reader, const mt_lookup_json *root);
uint32_t mt_lookup_model_slot(const mt_lookup_model *model, const char *name); /* or MT_LOOKUP_NO_SLOT */
tunelookup_status mt_lookup_model_bad(const mt_lookup_model_reader *reader, const char *what);

/* ---- rows (lookup_answers.c, lookup_rows.c, lookup_variants.c) ---- */

typedef struct mt_lookup_variant {  /* shared by the rows that it won */
    int64_t id;
    const char *text;               /* "ALGO=direct;CPB=8" */
    const char *packed;             /* the same with NUL for ';', one more at the end */
    int32_t algo;                   /* index into the model's variants; −1 = unknown */
    mt_value *knobs;                /* param_count */
    const mt_value *lets;           /* those that costs or rules read and that change with knobs alone, in order; NULL = not computed (mt_lookup_settle) */
    const uint8_t *places;          /* of its knobs and those lets between the edges of the correction; NULL = not found, or there is none */
    const char *problem; bool never_runs; /* it does not fit the stored space, NULL = it does; it may not run with the plan's strings on its device, whatever the shape's numbers */
} mt_lookup_variant;

typedef struct mt_lookup_text_row { int64_t id, numbers[2]; const char *text; } mt_lookup_text_row; /* of a small table, by id */

typedef struct mt_lookup_row {
    const mt_lookup_variant *variant;
    double median_ns, low_ns, high_ns, norm_error, slowdown;
    int64_t created_unix_ms, measurement;
    const char *shape_name, *workload;
    const mt_lookup_text_row *toolchain;  /* text: architecture; numbers: NVRTC, driver */
    char cubin[MT_LOOKUP_KEY_SIZE];       /* "" = none */
    int8_t carveouts[MT_LOOKUP_CARVEOUTS]; /* as measured, launch by launch; −1 = unknown */
    uint8_t file, workload_count;
    uint8_t unmeasured;                   /* of those workloads, or not to the end; where there are any, slowdown is NAN, and */
    double known_slowdown;                /* the worst over those that it has a time for; INFINITY: it failed on one */
    bool is_recorded, is_warm, is_other_workload; /* other than the plan asks for: answers where the shape has no row of that one */
    bool is_unsafe;                       /* mt_lookup_unsafe_on: never handed out */
    /* What checking it for this shape and device gave: 0 = not checked yet, 1 = refused, else 2 + its launches. Checking gives the same whoever does it, so that a finder
     * that comes first may write it down. */
    _Atomic uint8_t state;
    uint32_t rank;                        /* lower wins; equal: another workload of the same shape */
    struct mt_lookup_row *next;           /* while loading: the next row of equal rank for the shape */
    int64_t subject;
    double most_error;                    /* the largest over the workloads that the row answers for; NAN = it is not known of all */
    struct mt_lookup_row *slower, *of_class; uint32_t place; /* the next row of the shape's front (TUNELOOKUP_ERRORS), with a smaller most_error, or of its class; of a winner: the fastest of the plan's class; place among the extra rows, from 1 */
    int64_t values[];                     /* the shape, in the order of a result's values_ */
} mt_lookup_row;

typedef struct mt_lookup_wrong { const char *variant; const int64_t *values; uint32_t value_count; bool is_everywhere; } mt_lookup_wrong; /* a shape on which it was, NULL: of other list lengths; everywhere: it computed wrong results */
typedef struct mt_lookup_damaged { struct mt_lookup_damaged *next; const char *why; const int64_t *values; } mt_lookup_damaged; /* a row that is left out; values NULL: of which shape is not known */

typedef struct mt_lookup_entry { uint32_t hash, row; } mt_lookup_entry; /* row: index + 1; 0 = empty */

/* A file that is left out, or one source of the kernel in it: one that is broken hides no other. */
typedef struct mt_lookup_left_out {
    size_t file;
    char key[MT_LOOKUP_KEY_SIZE];     /* of the source whose expressions can't be read; "" = the whole file */
    tunelookup_status status;
    char why[400];
} mt_lookup_left_out;

typedef struct mt_lookup_answers {
    struct mt_lookup_answers *older;
    mt_lookup_arena arena;
    tunelookup_db *db;
    mt_lookup_model model;
    char kernel_key[MT_LOOKUP_KEY_SIZE];
    const char *kernel;
    const char *gpu;                  /* key of the GPU whose rows answer; where the files have none like it, of the asked one as far as it is known */
    const char **gpus;                /* the key as each file has it, or NULL */
    const char *workload, *member;    /* bound, or NULL; member: of a class, the variant with whose bits alone a shape is answered */
    const char *missing_workload;     /* bound, but no row here is of it, so that those of all others count; NULL = none */
    const char *elsewhere;            /* GPUs that have rows for this kernel, for explain; never NULL */
    const char *unknown;              /* which strings were bound that no stored shape has, and what there is; then find says NONE. "" = nothing */
    const char *unknown_workload;     /* that no file has the bound workload, and which there are; "" = one has */
    mt_lookup_left_out *left_out;     /* files that can't be read, or whose kernel can't: the others answer */
    uint32_t left_out_count;
    size_t spec_file, other_spec_file; /* whose expressions hold; a later one that has others, or the former again */
    uint32_t value_count;             /* integers of a shape */
    uint32_t order[TUNELOOKUP_MAX_VALUES]; /* place of the caller's i-th value */
    mt_lookup_row **rows;             /* the exact ones first */
    uint32_t row_count;               /* exact ones, one a shape */
    uint32_t row_total;               /* with those that predictors lead to, and the default's */
    struct mt_lookup_predictor *predictors;
    uint32_t predictor_count, first_default; /* rows of the default variant: one a slot, from there to row_total */
    struct mt_lookup_default *defaults;
    mt_lookup_wrong *wrong;           /* variants that are not to be handed out with the bound strings: wrong results, faults, crashes, anywhere; sorted once all files are read (lookup_wrong.c) */
    size_t wrong_count;
    bool default_fails;               /* the first default does, as another architecture's rows tell */
    const char *default_problem;      /* why the kernel's default is not known; NULL = it is */
    bool whens_read_lets;             /* some knob's condition reads a let, which must then be computed again after each knob */
    unsigned char *cache; size_t cache_stride; /* MT_LOOKUP_CACHED entries of that many bytes */
    uint32_t damaged_predictors, other_predictors, hidden_shapes; /* other: of another format; shapes of predictors, left out: they have other values than the kernel */
    const char *hidden_shape;         /* the first of them; where there are any */
    uint32_t own_workloads, other_workloads; /* rows of this GPU and kind, of the workload that was asked for (or of any where none was), and of others */
    uint32_t other_kinds;             /* rows of this GPU with other strings or lengths of lists */
    uint32_t hidden_recorded, hidden_imported, hidden_damaged; /* rows left out for their origin, or because they or what they refer to hold what no tuner writes */
    mt_lookup_damaged *damaged;       /* which those are, the first of them in front; not all, where they are many */
    mt_lookup_entry *table;
    uint32_t mask;
    int64_t driver_version, cc;
} mt_lookup_answers;

/* What is needed only while a plan's answers are made. */
typedef struct mt_lookup_table { mt_lookup_text_row *rows; uint32_t count; } mt_lookup_table;

typedef struct mt_lookup_source {     /* the kernel and the GPU as one file has them */
    mt_lookup_session session;
    int64_t kernel, device;           /* 0 = none */
} mt_lookup_source;

enum { MT_LOOKUP_BACKING_TABLES = 11, MT_LOOKUP_BACKING_SEEN = 128 };
typedef struct mt_lookup_backing {    /* of the file at hand (lookup_backing.c) */
    struct sqlite3_stmt *statements[MT_LOOKUP_BACKING_TABLES];
    struct { const mt_row_column *columns; size_t count; } rules[MT_LOOKUP_BACKING_TABLES]; /* of those tables that a statement reads */
    int64_t seen[MT_LOOKUP_BACKING_TABLES][MT_LOOKUP_BACKING_SEEN]; /* rows that are sound, by id modulo their number */
    char why[400];
} mt_lookup_backing;

typedef struct mt_lookup_loader {
    const tunelookup_plan *plan;
    mt_lookup_answers *answers;
    mt_lookup_arena scratch;
    const char *asked_gpu;            /* key made of the caller's facts, unknown ones as zeros */
    bool has_gpu;                     /* a file has such a GPU */
    mt_lookup_left_out *left_out;     /* found by earlier attempts, two of each file at most; the caller's */
    uint32_t left_out_count;
    bool is_of_file, is_of_spec;      /* where the attempt fails: because of `file`; because of the expressions in it */
    const char *spec;                 /* text of the expressions that hold; NULL = none yet */
    mt_lookup_row **rows;             /* every row that may answer */
    uint32_t row_count, row_capacity;
    mt_lookup_row *extra;             /* rows of predictors, newest first, by `next` */
    uint32_t extra_count;
    mt_lookup_entry *table;           /* shape → the row that answers, or the first of several workloads' */
    uint32_t mask, used;
    uint64_t failed_strings, worked_strings; /* of the bound ones, as bits: with which the first default computed wrong results on some GPU, and right ones */
    /* of the file at hand */
    size_t file;
    struct sqlite3 *db;
    int64_t kernel, device;
    mt_lookup_table workloads, toolchains;
    uint32_t *variant_map, variant_mask, variant_used; /* id → index + 1 into variants */
    mt_lookup_variant **variants;
    mt_lookup_backing backing;
    struct sqlite3_stmt *variant_text; /* made when the first is read; whoever begins another file, or ends, finalizes it */
} mt_lookup_loader;

typedef struct mt_lookup_claim { int64_t measurement, subject, variant, workload; } mt_lookup_claim; /* of a row of table answer */
#define MT_LOOKUP_TOO_LONG "a value is longer than 16 MiB"
/* What stands behind an answer. Its columns, behind those of "SELECT …": of "FROM answer" MT_ANSWER_JOINS (db/row_relations.h). */
void mt_lookup_backing_add_columns(mt_lookup_loader *loader, char *sql, size_t size);
/* Whether these rows, from column `at` on, and what they refer to are there, keep the rules of rows, and agree: loader->backing.why is "" then, else what is wrong with which row. */
tunelookup_status mt_lookup_backing_check(mt_lookup_loader *loader, const mt_lookup_claim *claim, struct sqlite3_stmt *row, int at);
/* Which row is not there, too long or breaks the rules: loader->backing.why; "" = none of them. */
tunelookup_status mt_lookup_backing_missing(mt_lookup_loader *loader, int64_t measurement, int64_t subject);
void mt_lookup_backing_end(mt_lookup_loader *loader); /* of the file at hand */

/* Reads the file's rows of the loader's kernel and device, and settles which of a shape's rows answers. */
tunelookup_status mt_lookup_rows_load(mt_lookup_loader *loader);
/* A variant in the arena of the answers; NULL = out of memory. */
mt_lookup_variant *mt_lookup_variant_make(mt_lookup_answers *answers, int64_t id, const char *text);
/* The variant with that id; its text is read when it first comes up. */
tunelookup_status mt_lookup_variant_get(mt_lookup_loader *loader, int64_t id, const mt_lookup_variant **variant);

/* What there is where no row answers (lookup_hints.c): answers->elsewhere and answers->unknown. */
tunelookup_status mt_lookup_hint_elsewhere(mt_lookup_loader *loader, const mt_lookup_source *sources);
tunelookup_status mt_lookup_hint_workload(mt_lookup_loader *loader, const mt_lookup_source *sources); /* answers->unknown_workload */
tunelookup_status mt_lookup_hint_unknown(mt_lookup_loader *loader, const mt_lookup_source *sources);

/* Empties the map of variants and reads the file's small tables; the loader's file, db, kernel and device are set. */
tunelookup_status mt_lookup_rows_begin(mt_lookup_loader *loader);
const mt_lookup_text_row *mt_lookup_table_find(const mt_lookup_table *table, int64_t id); /* never NULL */

/* What is not to be handed out (wrong results, faults …) with the strings that the plan is bound to, on any GPU of the file: answers->wrong, default_fails (lookup_wrong.c). Before the file's predictors. */
tunelookup_status mt_lookup_wrong_load(mt_lookup_loader *loader);
bool mt_lookup_is_wrong(const mt_lookup_answers *answers, const char *variant);
/* Why an exact row of the variant is not handed out either; NULL: it may be. Once mt_lookup_wrong_end has put all files' in order. */
void mt_lookup_wrong_end(mt_lookup_answers *answers);
const char *mt_lookup_unsafe_on(const mt_lookup_answers *answers, const char *variant, const int64_t *values);
#define MT_LOOKUP_COMPUTED_WRONG "it was wrong, or other bits each time, or faulted, crashed or hung, on a shape with these strings"

/* ---- the steps below an exact row (lookup_predictor.c, lookup_default.c, lookup_descend.c) ---- */

enum {
    MT_LOOKUP_PREDICTORS = 8,
    MT_LOOKUP_DEFAULTS = 8,    /* different sets of active knobs that the default may have */
    MT_LOOKUP_CACHED = 256,    /* answers to untuned shapes that are kept */
    MT_LOOKUP_CACHE_PROBES = 4,
    MT_LOOKUP_LACKS_STRINGS = 131072 /* in a predictor's rank, above all else */
};

/* What is known of one GPU's tuned shapes: a portfolio of one file. */
typedef struct mt_lookup_predictor {
    mt_rule rule;
    const char **shape_names;
    const mt_lookup_variant **variants; /* [variant_count], where the rule has a cost_weight; else NULL */
    const char *gpu;
    uint32_t rank;                   /* lower is asked first: the asked strings before others (what was right with others is not known to be right with these), this GPU, measured, kin, … */
    uint32_t held_out;               /* shapes that its expectations come from */
    double away, memory_away;        /* another GPU: how unlike in size, |log2| of SM counts and of gigabytes */
    const bool *is_out, *is_wrong_here; bool default_fails; /* [variant_count]: it computed wrong results with the plan's strings, here or elsewhere; mt_rule_refuse_wrong and mt_rule_default_fails for them */
    const double *most_error; const uint32_t *error_shapes; /* [variant_count]: the largest on the shapes with the plan's strings where it was right, NAN = there is none or it is not known on one; how many these are */
    bool is_other_gpu, is_recorded, is_warm;
    bool ignores_workload;           /* nothing was tuned for the workload asked for: all of them count */
    uint8_t file;
} mt_lookup_predictor;

/* The kernel's default variant for one set of active knobs. Slots are filled by finders and never change then. */
typedef struct mt_lookup_default {
    _Atomic uint32_t state;          /* 0 empty, 1 being written, 2 ready */
    uint64_t active;                 /* knobs, as bits */
    mt_lookup_variant variant;
    mt_value *knobs;                 /* param_count */
    char *text, *packed;             /* room for all knobs */
} mt_lookup_default;

/* What find answers for a shape without a row. */
typedef struct mt_lookup_decision {
    uint32_t row;                    /* index into the rows of the answers */
    uint8_t match, launches, predictor; /* predictor: index, 255 = none had a say */
    double slowdown, bound, norm_error; uint32_t error_shapes; /* factors, NAN = unknown, as is norm_error; 0: that is unknown, or of the asked shape */
} mt_lookup_decision;
typedef struct mt_lookup_cached {
    _Atomic uint32_t state;          /* as above */
    uint32_t hash; double max_error;
    mt_lookup_decision decision;
    int64_t values[];
} mt_lookup_cached;

/* Writes what was considered, for explain; NULL = nobody listens. */
typedef struct mt_lookup_trace {
    void (*say)(void *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
    void *context;
} mt_lookup_trace;

/* Fills the rule's features, curves, is_usable[variant_count], and the rank, from portfolio.rule_json; `names`: which of the shape's values each feature belongs to; `variants`: ids, ascending.
 * False = damaged, or no memory (lookup_rule.c). */
bool mt_lookup_rule_read(mt_lookup_loader *loader, const mt_lookup_json *root, const size_t *names, const int64_t *variants, bool *is_usable, mt_lookup_predictor *predictor);
/* Calls on_cell for each cell of the portfolio, in order; it returns false to stop, which counts as damage (lookup_cells.c). */
typedef bool (*mt_lookup_on_cell)(void *context, const mt_cell *cell);
tunelookup_status mt_lookup_cells_read(const mt_lookup_loader *loader, int64_t portfolio, void *context, mt_lookup_on_cell on_cell, bool *is_damaged);
/* The portfolios of the loader's file, for the asked GPU and for others of its architecture. Damaged ones are counted and left out. */
tunelookup_status mt_lookup_predictors_load(mt_lookup_loader *loader);
/* When all files are read: sorts the predictors, makes room for default variants and for the cache. */
tunelookup_status mt_lookup_predictors_end(mt_lookup_loader *loader);
/* The row of the first default that may run for these values, or row_total of the answers: then *why (may be NULL) says why none does, or that the kernel has none. first_fails: the first does,
 * as the rows of a predictor tell. */
uint32_t mt_lookup_default_row(const mt_lookup_answers *answers, const int64_t *values, bool first_fails, uint8_t *launches, char *why, size_t size);
/* Whether the variant may run for these values; *why as mt_lookup_env_refusal. */
bool mt_lookup_may_run(const mt_lookup_answers *answers, const mt_lookup_variant *variant, const int64_t *values, uint8_t *launches, char *why, size_t size);
/* Asks one predictor after the other, then the default. max_error: INFINITY, or the limit of errors, which the default can't keep. */
void mt_lookup_descend(const mt_lookup_answers *answers, const int64_t *values, double max_error, const mt_lookup_trace *trace, mt_lookup_decision *decision);
/* The same through the cache. */
void mt_lookup_decide(const mt_lookup_answers *answers, const int64_t *values, double max_error, mt_lookup_decision *decision);
/* The offers for these values of the first predictor that has any, best first, whether the default is expected to be faster or not; returns how many. */
size_t mt_lookup_several(const mt_lookup_answers *answers, const int64_t *values, mt_lookup_decision *decisions, size_t capacity);

/* Whether a failure is a file's, so that others may answer without it. */
bool mt_lookup_is_of_file(tunelookup_status st);
/* Resolves the kernel in the files, reads its expressions, names and rows. A file that is broken is left out, and so is a kernel whose expressions are; with nothing else to answer, what is wrong with the first is the error. */
tunelookup_status mt_lookup_answers_load(const tunelookup_plan *plan, mt_lookup_answers **answers);
void mt_lookup_answers_free(mt_lookup_answers *answers); /* NULL is a no-op */
/* Checks the row if nobody did: true when it may be returned. */
bool mt_lookup_row_check(const mt_lookup_answers *answers, mt_lookup_row *row);
/* The exact row of these values, or row_count. */
uint32_t mt_lookup_index_of(const mt_lookup_answers *answers, const int64_t *values);
uint32_t mt_lookup_hash(const int64_t *values, uint32_t count);

/* ---- names (lookup_names.c) ---- */

/* Binds the caller's names to the model's shape values: offsets, lengths, strings, answers->order, answers->workload. */
tunelookup_status mt_lookup_bind_names(mt_lookup_answers *answers, const char *const *names, size_t count);
/* A shape's stored key → values in canonical order; false when its strings or lists are not those bound. */
bool mt_lookup_parse_shape(const mt_lookup_model *model, const char *key, int64_t *values);

/* ---- evaluation (lookup_eval.c) ---- */

typedef struct mt_lookup_env {
    const mt_lookup_answers *answers;
    const mt_lookup_variant *variant;
    uint8_t places[MT_TREES_NAMES];  /* for the cost model's correction */
    bool has_fixed_places;           /* those that are the same for all variants of the shape */
    mt_value slots[MT_LOOKUP_SLOTS];
} mt_lookup_env;

/* Sets every name for `values` (which must outlive the environment) and the variant. */
void mt_lookup_env_fill(mt_lookup_env *env, const mt_lookup_answers *answers, const mt_lookup_variant *variant, const int64_t *values);
/* The same in three steps, the last for each let in order, for who needs some of them, or asks for several variants. */
void mt_lookup_env_begin(mt_lookup_env *env, const mt_lookup_answers *answers, const int64_t *values);
void mt_lookup_env_set_variant(mt_lookup_env *env, const mt_lookup_variant *variant);
void mt_lookup_env_compute(mt_lookup_env *env, uint32_t let);
mt_program_status mt_lookup_env_number(const mt_lookup_env *env, const mt_program *program, int64_t *value);
/* Why the variant may not run for these values on this device; NULL when it may. The text is written to `out`, or left out when that is NULL. */
const char *mt_lookup_env_refusal(const mt_lookup_env *env, char *out, size_t size);
/* The same by those rules alone that change with that. The variant has no problem; it may be unset where the shape's rules are asked for. */
const char *mt_lookup_env_refusal_of(const mt_lookup_env *env, uint8_t changes, char *out, size_t size);
/* Expands ${NAME}; false when a name has no text here or it does not fit. */
bool mt_lookup_env_expand(const mt_lookup_env *env, const char *text, char *out, size_t size);

/* ---- launches and arguments (lookup_launch.c, lookup_arg.c) ---- */

typedef struct mt_lookup_launches {
    const mt_lookup_model_launch *items[MT_LOOKUP_LAUNCHES];
    uint32_t count;
} mt_lookup_launches;
mt_program_status mt_lookup_env_launches(const mt_lookup_env *env, mt_lookup_launches *list);
/* Numbers of one launch. *rule: what it breaks when the numbers can't be a launch on this device. */
mt_program_status mt_lookup_env_launch(const mt_lookup_env *env, const mt_lookup_model_launch *from, tunelookup_launch_info *info, const char **rule);
/* Numbers of one argument, and of one map of a tensor map whose tensor's numbers are known. *rule as above. */
mt_program_status mt_lookup_env_arg(const mt_lookup_env *env, const mt_lookup_model_arg *arg, tunelookup_arg_info *info, const char **rule);
mt_program_status mt_lookup_env_map(mt_lookup_env *env, const mt_lookup_model_arg *arg, int64_t index, const tunelookup_arg_info *tensor, tunelookup_tensormap_info *info, const char **rule);
void mt_lookup_env_used(const mt_lookup_env *env, const mt_lookup_launches *list, bool used[MT_LOOKUP_ALL_ARGS]);
/* The device's rules for one launch or map (lookup_legal.c); NULL = kept. blocks_per_sm: what the launch counts on; 0 = nothing. */
const char *mt_lookup_launch_rule(const mt_lookup_env *env, const mt_lookup_model_launch *from, int64_t blocks_per_sm, const tunelookup_launch_info *info);
const char *mt_lookup_map_rule(const mt_lookup_env *env, const tunelookup_tensormap_info *info);
/* What would stop the launches of the environment's variant on this device, or NULL; *count gets their number. */
const char *mt_lookup_env_illegal(mt_lookup_env *env, uint32_t *count);
/* The environment of a result that matched; ERR_ARGUMENT otherwise. */
tunelookup_status mt_lookup_result_env(const tunelookup_result *result, mt_lookup_env *env);
uint32_t mt_lookup_dtype_bytes(tunelookup_dtype dtype);
bool mt_lookup_dtype_is_float(tunelookup_dtype dtype);

/* ---- misses (lookup_misses.c) ---- */

enum { MT_LOOKUP_MISS_SLOTS = 256, MT_LOOKUP_MISS_PROBES = 8 };
typedef struct mt_lookup_miss {
    _Atomic uint64_t word;                 /* generation, state and count in one, so that a count can't go to a shape that took the slot meanwhile */
    _Atomic int64_t values[TUNELOOKUP_MAX_VALUES]; /* in the caller's order */
} mt_lookup_miss;
typedef struct mt_lookup_misses {
    _Atomic uint64_t dropped;        /* the table was full; the next flush says how many */
    mt_lookup_miss slots[MT_LOOKUP_MISS_SLOTS];
} mt_lookup_misses;
void mt_lookup_count_miss(mt_lookup_misses *misses, const int64_t *values, uint32_t count);

/* ---- handles (tunelookup.c) ---- */

typedef struct mt_lookup_cubin {     /* pushed to a list that only grows */
    struct mt_lookup_cubin *next;
    char hash[MT_LOOKUP_KEY_SIZE];
    uint8_t file;
    size_t bytes;
    unsigned char *data;             /* 16-byte aligned */
} mt_lookup_cubin;
typedef struct mt_lookup_kept_text { struct mt_lookup_kept_text *next; char text[]; } mt_lookup_kept_text; /* the same */

struct tunelookup_plan {
    tunelookup_plan *next;
    tunelookup_db *db;
    _Atomic(mt_lookup_answers *) answers; /* newest; older ones hang on its `older` */
    char *kernel, *key;               /* key NULL: the newest */
    char **names;
    size_t name_count;
    uint32_t value_count;
    tunelookup_device device;         /* name owned */
    mt_lookup_misses *misses;         /* NULL unless TUNELOOKUP_COUNT_MISSES */
};

/* The row whose code, once compiled, is that of a result which has none: its own, or that of a tuned shape with equal values compiled in. NULL: no stored winner's code would be. */
const mt_lookup_row *mt_lookup_row_to_compile(const tunelookup_result *result);

struct tunelookup_db {
    unsigned flags;
    char pin[TUNELOOKUP_SNAPSHOT_ID]; /* the one snapshot that may answer; "" = whatever the files hold */
    bool is_default;                  /* opened without a path: the user's and the shipped files */
    mt_lookup_file *files;
    size_t file_count;
    tunelookup_plan *plans;
    _Atomic(mt_lookup_cubin *) cubins;
    _Atomic(mt_lookup_kept_text *) texts; /* entries with values in the place of ${NAME} */
};
