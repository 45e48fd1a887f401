/* The search space as read from its .ini: immutable after loading. docs/search_space_format.md documents every key.
 *
 * Names that expressions may use live in one table of slots: shape values, device facts, knobs (ALGO first), lets, and one loop
 * variable for arrays of tensor maps. Programs are bound to these slots when the file is loaded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/hash.h"
#include "tuner/base/outcome.h"
#include "tuner/base/status.h"
#include "tuner/space/dtype.h"
#include "tuner/space/expr/expr.h"
#include "tuner/space/ini/ini.h"

enum { MT_MAX_PARAMS = 64, MT_MAX_RANK = 8, MT_TENSORMAP_RANK = 5, MT_YARDSTICKS_MAX = 4, MT_DEFAULTS_MAX = 4 };

/* One value of a shape or workload: exactly one of the forms. */
typedef struct mt_setting {
    char *name;
    mt_value value;     /* strings and lists are owned by the spec */
    double number;      /* workloads: may be fractional */
    char *text;         /* canonical text: "48", "92,46,23,12", "f16", "1.5" */
} mt_setting;

typedef struct mt_shape {
    char *name;
    mt_setting *settings; /* same names in the same order in every shape */
    size_t setting_count;
    char **workloads;     /* default workloads' names; at least one when the file has workloads */
    size_t workload_count;
    bool is_main;         /* tuned where no shape is named */
    char *key;            /* canonical text of the settings: "D=32;H=92,46;…" */
    int line;
} mt_shape;

typedef struct mt_workload {
    char *name;
    mt_setting *settings; /* may differ from workload to workload */
    size_t setting_count;
    bool is_default;
    char *key;            /* canonical text; "" for the implicit workload "default" of a file without [workload] */
} mt_workload;

typedef struct mt_let {
    char *name;
    mt_expr expr;
} mt_let;

typedef struct mt_param {
    char *name;          /* params[0] is ALGO, made from the algorithms */
    char *macro;         /* as the source sees it: [kernel] macros and the name */
    bool is_string;
    bool is_verbatim;    /* texts that the source sees as they stand: code, options, fractions; no names of macros */
    int64_t *numbers;    /* value_count, when integers */
    char **strings;      /* value_count, when strings */
    size_t value_count;
    size_t default_level;
    bool has_default;    /* the file says it */
    bool has_when;
    mt_expr when;
    char *doc;
} mt_param;

typedef struct mt_constraint {
    char *name, *why;
    mt_expr expr;
} mt_constraint;

typedef enum mt_arg_kind { MT_ARG_TENSOR, MT_ARG_TENSORMAP, MT_ARG_SCALAR, MT_ARG_STRUCT } mt_arg_kind;
/* How many bytes a tensor map may swizzle; 0 = none. */
static inline bool mt_swizzle_exists(int64_t bytes)
{
    return bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128;
}

typedef enum mt_role { MT_ROLE_IN, MT_ROLE_OUT, MT_ROLE_INOUT, MT_ROLE_SCRATCH } mt_role;
typedef enum mt_init_kind { MT_INIT_ZEROS, MT_INIT_UNIFORM, MT_INIT_NORMAL, MT_INIT_KERNEL, MT_INIT_RAMP, MT_INIT_FILE } mt_init_kind;

bool mt_is_texture(const char *word); /* of a type, or a kind of argument: it says texture or surface */
/* What a file, or a kernel, is told that has some. */
#define MT_NO_TEXTURES "there are no textures and surfaces: expected a tensor, which the kernel reads by a `const float *__restrict__` (the same cache), or a tensormap where it wants borders filled"

typedef struct mt_expr_list {
    mt_expr *items;
    size_t count;
} mt_expr_list;

typedef struct mt_arg {
    char *name;
    mt_arg_kind kind;
    char *dtype_text;         /* may hold ${…} */
    /* tensor */
    mt_role role;
    mt_expr_list shape;
    mt_init_kind init;
    double init_a, init_b;    /* uniform(a,b), normal(mean,sd); a ramp: the first value and the step: iota is 0, 1; constant(x) is x, 0 */
    mt_expr_list init_bounds; /* uniform's, where they are expressions of the shape: then a and b mean nothing. 0 or 2 */
    char *init_kernel, *init_file; /* of kernel(NAME); of file:PATH.npy */
    char *constant;           /* role in: a __constant__ or __device__ variable of the source that gets its contents; NULL = none */
    double rtol, worst, atol;
    double may_differ;        /* integers: the share of elements that may differ from the reference; 0 = rtol, worst and atol say what may */
    bool any_order;           /* bits may differ between runs */
    double spread;            /* any_order: bound on how far two runs differ; 0 = none */
    char *batch;              /* out, inout: the shape value that is the first dimension, the rows of a batch, which should not depend on how many there are; NULL = none */
    bool zero_before_each;
    bool cycles;              /* scratch of u64: a counter per block, whose smallest, mean and largest are stored */
    /* tensormap */
    size_t of;                /* index of the tensor argument */
    bool is_array;            /* `for` given */
    char *loop;               /* its variable's name; NULL without `for` */
    mt_expr count;            /* number of maps when is_array */
    mt_expr offset;           /* elements; program NULL = 0 */
    mt_expr_list dims, strides, box;
    int swizzle_bytes;        /* 0, 32, 64, 128; not used where there is */
    mt_expr swizzle;          /* an expression of it; program NULL = none */
    bool fill_nan;
    int l2_promotion_bytes;   /* 0, 64, 128, 256 */
    /* scalar */
    bool is_bool;             /* dtype is then u8 */
    bool is_bits;             /* a fraction of a knob: `value` chooses its bits, and dtype is the integer of that size, as programs see it */
    mt_dtype float_dtype;     /* … whose bits they are */
    mt_expr value;            /* program NULL when a decimal literal was given */
    double literal;
    /* struct */
    size_t *members;          /* indices of arguments, in the order of its fields; structs among them stand above it */
    size_t member_count;
    int64_t align;            /* at least so many bytes; 0 = as its fields */
    int line;
} mt_arg;
bool mt_arg_is_output(const mt_arg *arg); /* a tensor of role out or inout */

/* In the order in which they run; only the middle ones are timed. */
typedef enum mt_launch_phase { MT_LAUNCH_PREPARE, MT_LAUNCH_TIMED, MT_LAUNCH_FINISH, MT_LAUNCH_PHASES } mt_launch_phase;
extern const char *const mt_launch_phase_names[MT_LAUNCH_PHASES]; /* as sections are called: prepare, launch, finish */

typedef struct mt_launch {
    mt_launch_phase phase;
    char *algorithm;      /* NULL = every algorithm; "reference" for the reference */
    int number;
    char *entry;          /* NULL = the algorithm's */
    size_t *args;         /* indices into spec args */
    size_t arg_count;
    size_t *reached;      /* args, and what they are made of: tensors of maps, fields of structs */
    size_t reached_count;
    mt_expr_list grid, block, cluster; /* 1..3; cluster count 0 = none */
    mt_expr smem, carveout, when;      /* program NULL = absent */
    mt_expr repeat;                    /* times that it is made, one after the other; program NULL = once */
    mt_expr blocks_per_sm;             /* that the variant counts on; program NULL = it counts on nothing */
    bool cooperative, programmatic;
    bool resident;                     /* blocks wait for each other without a cooperative launch (a persistent kernel with barriers of its own) */
    int line, args_line, entry_line;   /* of the section and of its keys (or the section's); of a reference's launch that the file does not give `reference`'s */
} mt_launch;

typedef struct mt_algorithm {
    char *name, *entry, *doc, *options;
    int entry_line;       /* of the key, or of the section */
    bool has_requires;
    mt_expr requires_expr;
    bool is_yardstick;    /* does not compute the outputs: timed beside the others, never validated, never the best */
    bool bake_all;
    char **bake;          /* shape value names when !bake_all; count 0 = none */
    size_t bake_count;
} mt_algorithm;

typedef struct mt_spec {
    char *path;           /* of the .ini, as given */
    mt_hash rules_key;    /* of the file without comments, [tune], shapes and workloads: what decides, for a shape, which points there are */
    char *text;           /* what was read: the file, what it includes, and sections behind it (tuner/space/spec/adhoc.h). mt_spec_parse reads it again */
    char *name;           /* [kernel] name */
    bool is_recorded;     /* `points = recorded`: nothing to compile, its points are those of a recording. Then source and reference are NULL and there are no arguments and launches */
    char *source;         /* resolved path of the .cu */
    char *reference;      /* entry name, or NULL: reference_file or reference_is_default is set */
    char *reference_file; /* .npy with the expected first output */
    bool reference_is_default; /* `reference = default`: what the default variant computes is taken for right */
    uint64_t reference_knobs; /* bits of params whose values decide what is right: the reference runs once for each combination (tuner/space/points/reference_knobs.h) */
    int source_line, reference_line; /* of the keys, for mt_spec_place */
    bool is_for_nvcc;     /* `compiler = nvcc` */
    char *options;        /* the compiler's options with ${…} */
    mt_expr per;          /* units of work of one run: all times are of one unit; program NULL = the whole run */
    char *macros;         /* what the knobs' macros begin with; NULL = nothing */
    char **include_dirs;  /* resolved */
    int include_line;     /* of the key, for messages */
    size_t include_count;

    char *strategy;       /* "auto" */
    int64_t budget;       /* evaluations per shape and workload */
    double time_s;        /* for the whole command */
    mt_l2 l2;
    double graph_below_us; /* kernels shorter than this are timed in CUDA graphs */
    mt_objective objective; /* what the pick among the finalists is for */
    char *baseline;       /* algorithm name or NULL */
    char *defaults_text;  /* [tune] defaults as written, or NULL */
    char **defaults;      /* algorithms whose default points the lookup answers with, in that order; the first is the first [algorithm]. None = that alone */
    size_t default_count;
    char *library;          /* [tune] baseline where it names a plugin (baselines.def) instead; NULL = none */

    mt_shape *shapes;           size_t shape_count;
    mt_workload *workloads;     size_t workload_count;   /* at least the implicit one */
    mt_let *lets;               size_t let_count;        /* [let]s, then the helper lines of [model], from model_let on */
    uint64_t *let_knobs;                                 /* per let: bit i = reads params[i], directly or through other lets; NULL until lets are read */
    size_t model_let;
    mt_algorithm *algorithms;   size_t algorithm_count;
    mt_param *params;           size_t param_count;      /* params[0] = ALGO */
    mt_constraint *constraints; size_t constraint_count;
    mt_arg *args;               size_t arg_count;
    mt_launch *launches;        size_t launch_count; /* of all phases */
    mt_expr model_flops, model_dram_bytes, model_moved_bytes, model_ops, model_floor_ns; /* program NULL = absent */
    char *model_correction_path, *model_correction; /* what measurements taught of time_ns, as JSON in one line (docs/stored_formats.md); NULL = none */
    mt_expr model_time_ns; /* what a point is believed to take; of knobs too. Orders points and excludes none, so that no key knows it */

    /* slots */
    char **slot_names;          size_t slot_count;
    size_t shape_slot, device_slot, param_slot, let_slot, loop_slot; /* first slot of each group */
    struct mt_ini_data *owned;  /* private to spec.c */
} mt_spec;

/* Reads a file, or text that was read before (`path` then only resolves relative names and stands in messages). Nothing but the .ini
 * itself and what it includes is read. The caller mt_spec_free's. */
mt_status mt_spec_load(const char *path, mt_spec **spec, mt_error *err);
/* The same with `more` behind the file's text. */
mt_status mt_spec_load_with(const char *path, const char *more, mt_spec **spec, mt_error *err);
mt_status mt_spec_parse(const char *path, const char *text, size_t length, mt_spec **spec, mt_error *err);
void mt_spec_free(mt_spec *spec); /* NULL is a no-op */

/* A space that lives on recordings has the defaults that its file gives. Elsewhere a knob without one has its first value. */
static inline bool mt_spec_has_default(const mt_spec *spec, const mt_param *param)
{
    return param->has_default || !spec->is_recorded;
}

/* Where a line that an expression or a section keeps is found by a person. */
mt_place mt_spec_place(const mt_spec *spec, int line);
int mt_spec_column(const mt_spec *spec, int *line, const char *source); /* as mt_ini_column */
const mt_shape *mt_spec_shape(const mt_spec *spec, const char *name);       /* or NULL */
const mt_workload *mt_spec_workload(const mt_spec *spec, const char *name); /* or NULL */
const mt_setting *mt_settings_find(const mt_setting *settings, size_t count, const char *name);
