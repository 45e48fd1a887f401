/* libtunelookup: asks a tuning database which variant of a kernel to run, on which launch geometry, for a GPU and a shape.
 *
 * C99 and C++11. Depends on SQLite and libc; never on CUDA. Never prints, never aborts, installs no handler, keeps no SQLite handle
 * between calls (so fork is safe). Everything handed out is a value, or a pointer that stays valid until tunelookup_close,
 * or until its plan is given to tunelookup_release.
 *
 * In short (examples/lookup.c):
 *
 *     tunelookup_db *db;      tunelookup_open(NULL, 0, &db);                                  once
 *     tunelookup_plan *plan;  tunelookup_prepare(db, &device, "msda", names, n, &plan);       once per kernel and device
 *     tunelookup_result r;    tunelookup_find(plan, values, &r);                              per call: about 100 ns, no lock, no allocation
 *     tunelookup_param(&r, "QUERIES", &queries);  tunelookup_launch(&r, 0, &launch);  …
 *
 * Threads: any number of threads may call find and the accessors on one plan while one other calls prepare or refresh. prepare, release, refresh, snapshot_id, flush_misses
 * and close on one tunelookup_db are the caller's to serialise. close must come last: it invalidates plans, results, cubins and texts.
 *
 * Fork: nothing is open and no lock is held between calls, so a child may go on with what its parent opened. As with every library, do not fork while another
 * thread is inside open, prepare, refresh or cubin.
 *
 * Trust: a database that holds cubins is as trusted as a shared library. A file (or its -wal or -journal) that others than its owner may write, that belongs to neither
 * the effective user nor root, or that lies in a folder which strangers may write, is refused (TUNELOOKUP_ERR_UNTRUSTED); in a sticky one (/tmp) only while it has a -wal or -journal. docs/security.md
 * has the rules.
 */
#ifndef TUNELOOKUP_H
#define TUNELOOKUP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TUNELOOKUP_API __attribute__((visibility("default")))
#else
#define TUNELOOKUP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TUNELOOKUP_VERSION_MAJOR 1
#define TUNELOOKUP_VERSION_MINOR 0
#define TUNELOOKUP_VERSION_PATCH 0

/* Every function that can fail returns one of these; 0 is success. Numbers are pinned. "No entry" is not an error: see match. */
typedef enum tunelookup_status {
    TUNELOOKUP_OK = 0,
    TUNELOOKUP_ERR_ARGUMENT = 1,     /* a NULL, a struct_size of 0, an index out of range, a result without a match */
    TUNELOOKUP_ERR_NO_MEMORY = 2,
    TUNELOOKUP_ERR_NOT_FOUND = 3,    /* no database file; no such knob; no cubin stored */
    TUNELOOKUP_ERR_IO = 4,           /* the file can't be read */
    TUNELOOKUP_ERR_NOT_A_DATABASE = 5, /* not a tuning database or pack, truncated or damaged; of a pack also: a byte was changed */
    TUNELOOKUP_ERR_NEWER_SCHEMA = 6, /* written by a newer msda-tune */
    TUNELOOKUP_ERR_UNTRUSTED = 7,    /* writable by others, or owned by a third party */
    TUNELOOKUP_ERR_SQLITE_TOO_OLD = 8, /* the system's SQLite is older than 3.26 or built without JSON */
    TUNELOOKUP_ERR_UNKNOWN_KERNEL = 9, /* the database has no such kernel (or not with that key) */
    TUNELOOKUP_ERR_NAMES = 10,       /* prepare: a shape value of the kernel is missing, given twice, of the wrong form, or unknown */
    TUNELOOKUP_ERR_VALUE = 11,       /* an expression can't be computed for these values (overflow, division by zero, a device fact that was not given …) */
    TUNELOOKUP_ERR_CUBIN_NOT_ALLOWED = 12, /* cubins of the user's file need TUNELOOKUP_USER_CUBINS */
    TUNELOOKUP_ERR_DRIVER_TOO_OLD = 13,    /* the cubin needs a newer driver than device.driver_version */
    TUNELOOKUP_ERR_CUBIN_DAMAGED = 14,     /* not an ELF image for this GPU, or its hash does not match */
    TUNELOOKUP_ERR_LIMIT = 15,       /* more names or knobs than this version supports */
    TUNELOOKUP_ERR_OLDER_SCHEMA = 16, /* written by an older msda-tune; any command of a newer one that writes into the file migrates it */
    TUNELOOKUP_ERR_OTHER_SNAPSHOT = 17, /* of a pinned handle: the files hold another snapshot */
    TUNELOOKUP_ERR_NOT_WITHIN = 18,  /* find_within: of no variant that may run is it known that its error is within the limit */
    TUNELOOKUP_ERR_NOT_IN_CLASS = 19 /* find, of a plan that is bound to a class: of no variant that may run is it known that it has the class's bits on this shape */
} tunelookup_status;

/* Flags of tunelookup_open. */
enum {
    TUNELOOKUP_RECORDED = 1,     /* answer from rows of recorded GPUs too (tests, machines without a GPU) */
    TUNELOOKUP_USER_CUBINS = 2,  /* hand out cubins of every database opened, not only of those shipped with the library */
    TUNELOOKUP_COUNT_MISSES = 4, /* count shapes that had no exact row (tunelookup_flush_misses) */
    TUNELOOKUP_ERRORS = 16,      /* prepare also reads what tunelookup_find_within answers from: times and errors of all variants of the tuned shapes, which takes it several times as long */
    TUNELOOKUP_PINNED = 8        /* answer from what the files hold at open, or not at all: no question is ever answered differently through this handle (tunelookup_open_pinned) */
};

/* Which step of the predictor answered, best first. Numbers are pinned. */
typedef enum tunelookup_match {
    TUNELOOKUP_MATCH_NONE = 0,         /* nothing can be said; tunelookup_explain tells why. Only match is valid in the result. */
    TUNELOOKUP_MATCH_EXACT = 1,        /* tuned for this GPU and this shape */
    TUNELOOKUP_MATCH_NEAREST = 2,      /* tuned for this GPU, another shape (the predictor) */
    TUNELOOKUP_MATCH_ARCHITECTURE = 3, /* tuned for another GPU of the same architecture */
    TUNELOOKUP_MATCH_DEFAULT = 4       /* the first of the kernel's default variants that may run */
} tunelookup_match;

/* The device as the caller's driver describes it. Set struct_size to sizeof(tunelookup_device). name and cc are required; zero what else you do not know: a row
 * whose expressions need it is then not returned (tunelookup_explain says which fact is missing). Texts are copied. */
typedef struct tunelookup_device {
    uint32_t struct_size;
    const char *name;          /* cuDeviceGetName, e.g. "NVIDIA H100 80GB HBM3"; canonicalised by the library */
    int64_t cc;                /* 10·major + minor */
    int64_t sm_count;
    int64_t smem_optin;        /* bytes: SHARED_MEMORY_PER_BLOCK_OPTIN */
    int64_t smem_per_sm;       /* bytes */
    int64_t smem_reserved;     /* bytes reserved per block */
    int64_t regs_per_sm;
    int64_t threads_per_sm;
    int64_t blocks_per_sm;
    int64_t max_cluster;       /* blocks, opt-in included; 1 = no clusters */
    int64_t l2_bytes;
    int64_t mem_bytes;
    int64_t clock_mhz;
    int64_t driver_version;    /* cuDriverGetVersion, e.g. 13000; 0 = do not check cubins against it */
} tunelookup_device;

typedef struct tunelookup_db tunelookup_db;
typedef struct tunelookup_plan tunelookup_plan;

enum { TUNELOOKUP_MAX_VALUES = 40 };

/* The answer: a value; copy it freely. The caller sets nothing. Members under "private" are not for callers. */
typedef struct tunelookup_result {
    tunelookup_match match;
    int32_t launch_count;          /* launches to make, in order; prepare launches come first, finish launches last */
    int32_t arg_count;             /* arguments that tunelookup_arg describes */
    int32_t validated;             /* 1: the row was checked against the reference (always, except for DEFAULT) */
    double median_ns;              /* as measured for the row that matched, on its GPU and shape, of one unit of work where the search space says `per`; NAN = not measured */
    double low_ns, high_ns;        /* its 95 % interval */
    double expected_slowdown;      /* against the best for the asked shape (ARCHITECTURE: on the GPU that was tuned): 1.0 = none expected; NAN = unknown */
    double slowdown_bound;         /* in nine of ten cases the slowdown is no greater, as held-out shapes say; EXACT: as expected_slowdown; NAN = unknown */
    double norm_error;             /* validated ‖out − ref‖/‖ref‖; NAN = unknown. find_within: the largest of those that were measured */
    const char *variant;           /* every knob: "ALGO=direct;CPB=8;…"; valid until close */
    const char *kernel_key;        /* 32 hex digits: the source that was tuned; valid until close */
    int32_t recorded;              /* 1: the row was not measured here, but replayed from a recording (only with TUNELOOKUP_RECORDED) */
    int32_t error_shapes;          /* 0: norm_error is of the asked shape (or unknown); n: it is the largest on n tuned shapes, and on a shape like these the error is greater in one of n + 1 cases */
    /* private */
    const void *answers_;
    uint32_t row_, reserved_[3];
    double max_error_;
    int64_t values_[TUNELOOKUP_MAX_VALUES];
} tunelookup_result;

/* One kernel launch, evaluated for the asked shape and the prepared device. */
typedef struct tunelookup_launch_info {
    const char *entry;             /* the kernel's C or C++ name, as nvrtcAddNameExpression takes it; in a cubin of the tool tunelookup_symbol of it; valid until close */
    uint32_t grid[3], block[3];
    uint32_t cluster[3];           /* 0,0,0 = no cluster attribute */
    uint32_t smem_bytes;           /* dynamic; above 48 KiB opt in */
    int32_t carveout_percent;      /* set it explicitly: the driver's own choice depends on what ran before; -1 = not known */
    int32_t cooperative, programmatic;
    int32_t is_prepare;            /* run once after the inputs change, not at every call */
    int32_t arg_count;             /* kernel parameters */
    int32_t args[32];              /* their indices for tunelookup_arg */
    int32_t is_finish;             /* makes outputs of what the calls left; needed where the outputs are read, and no part of the measured time */
    int32_t repeat;                /* make it so many times, one after the other; 1 as a rule */
    int32_t reserved_[6];
} tunelookup_launch_info;

typedef enum tunelookup_arg_kind { TUNELOOKUP_ARG_TENSOR = 0, TUNELOOKUP_ARG_TENSORMAP = 1, TUNELOOKUP_ARG_SCALAR = 2, TUNELOOKUP_ARG_STRUCT = 3 } tunelookup_arg_kind;
typedef enum tunelookup_role { TUNELOOKUP_IN = 0, TUNELOOKUP_OUT = 1, TUNELOOKUP_INOUT = 2, TUNELOOKUP_SCRATCH = 3 } tunelookup_role;
typedef enum tunelookup_dtype {
    TUNELOOKUP_F16 = 0, TUNELOOKUP_BF16 = 1, TUNELOOKUP_F32 = 2, TUNELOOKUP_F64 = 3, TUNELOOKUP_I8 = 4, TUNELOOKUP_U8 = 5, TUNELOOKUP_I16 = 6,
    TUNELOOKUP_U16 = 7, TUNELOOKUP_I32 = 8, TUNELOOKUP_U32 = 9, TUNELOOKUP_I64 = 10, TUNELOOKUP_U64 = 11,
    TUNELOOKUP_F8E4M3 = 12, TUNELOOKUP_F8E5M2 = 13
} tunelookup_dtype;

/* One argument. */
typedef struct tunelookup_arg_info {
    tunelookup_arg_kind kind;
    const char *name;              /* valid until close */
    int32_t is_used;               /* 0: no launch of this variant takes it; scratch, maps and scalars are then not computed (zeros below) */
    tunelookup_dtype dtype;        /* TENSORMAP: the tensor's */
    tunelookup_role role;          /* TENSOR */
    int32_t rank;                  /* TENSOR */
    int64_t dims[8];               /* TENSOR: elements, outermost first */
    uint64_t bytes;                /* TENSOR: to allocate, for SCRATCH; SCALAR, STRUCT: size */
    int32_t zero_before_each;      /* TENSOR: set to zero before every call */
    int32_t tensor;                /* TENSORMAP: index of the tensor it describes */
    int32_t map_count;             /* TENSORMAP: maps in the parameter, one after the other */
    unsigned char scalar[8];       /* SCALAR: the parameter's bytes */
    int32_t member_count;          /* STRUCT: members, which tunelookup_member tells */
    int32_t reserved_[7];
} tunelookup_arg_info;

/* One tensor map, in the lengths that cuTensorMapEncodeTiled takes (tunelookup_cuda.h calls it). */
typedef struct tunelookup_tensormap_info {
    tunelookup_dtype dtype;
    uint32_t rank;
    uint64_t offset_bytes;         /* added to the tensor's address */
    uint64_t dims[5];              /* elements, innermost first */
    uint64_t stride_bytes[4];      /* of dims 1… */
    uint32_t box[5];               /* elements */
    int32_t swizzle_bytes;         /* 0, 32, 64, 128 */
    int32_t fill_nan;
    int32_t l2_promotion_bytes;    /* 0, 64, 128, 256 */
    int32_t reserved_[8];
} tunelookup_tensormap_info;

/* Opens a database, or a pack of `msda-tune pack` (its name ends in ".pack"), read-only and closes it again after looking at who may write it and at its first page; what else it holds is read, and refused, by prepare and cubin. path NULL: the user's database ($MSDA_TUNE_DB by secure_getenv, else
 * $XDG_DATA_HOME/msda-tune/tuning.sqlite, else ~/.local/share/…), where it exists, over the shipped ones (<prefix>/share/msda-tune-shipped). On failure *db is NULL.
 * A file that can't be used does not keep the others from answering: it is left out, and tunelookup_detail and tunelookup_explain say so. Errors are of the first, where none can.
 * Errors: ARGUMENT, NO_MEMORY, NOT_FOUND, IO, NOT_A_DATABASE, NEWER_SCHEMA, OLDER_SCHEMA, UNTRUSTED, SQLITE_TOO_OLD. The caller tunelookup_close's *db. */
TUNELOOKUP_API tunelookup_status tunelookup_open(const char *path, unsigned flags, tunelookup_db **db);

/* The same with the flag PINNED, for one snapshot: the id, 32 hex digits, that tunelookup_snapshot_id gave in another process, or on another machine, of the files there. Processes that are pinned to one id answer every
 * question about GPUs of one model alike, whoever writes into the files meanwhile and whenever they prepare: what is prepared is of exactly this snapshot. Once the files hold another one, prepare and refresh are
 * OTHER_SNAPSHOT; plans that are there go on answering as before, and a write that changes no answer changes no id. A file that can't be read for the moment is an error (IO), and not left out. Reads the files:
 * some tens of milliseconds. Errors: those of open, and OTHER_SNAPSHOT, with both ids in tunelookup_detail. */
TUNELOOKUP_API tunelookup_status tunelookup_open_pinned(const char *path, unsigned flags, const char *snapshot_id, tunelookup_db **db);

/* Resolves a kernel's shape values for one device and loads its rows into memory that never changes.
 * kernel: "msda" (the newest validated source answers) or "msda@<32 hex digits>" (the key that `msda-tune key` writes into a header).
 * names[count]: how values[] of find will be ordered. "N" an integer, "H[0]" … a list's elements (all of them, in any order), and
 * bound settings that take no place in values[]: "dtype=f16" a string of the shape, "workload=local15" (where no row here has it, those of other workloads answer; without: the variant with the least worst-case slowdown among the
 * winners of the workloads measured), "class=ALGO=…;…" a variant whose bits all answers are to have. A GPU without rows is no error, nor is a list of a length that no row has: find then takes the next steps of tunelookup_match, and tunelookup_explain says why.
 * Errors: ARGUMENT, NO_MEMORY, UNKNOWN_KERNEL, NAMES, LIMIT, of a pinned handle OTHER_SNAPSHOT, and those of open. The plan lives until close. */
TUNELOOKUP_API tunelookup_status tunelookup_prepare(tunelookup_db *db, const tunelookup_device *device, const char *kernel, const char *const names[], size_t count,
                                                    tunelookup_plan **plan);

/* The hot call: values[] in the order of the plan's integer names. OK with match NONE when nothing can be said. A shape without a row takes some tens of microseconds the first time.
 * Never returns a variant that was not validated, belongs to another source, or breaks a constraint for this shape and device.
 * A result whose match is NONE serves tunelookup_explain only. Errors: ARGUMENT (tunelookup_detail is left alone), NOT_IN_CLASS. Async-signal-safe; wait-free. */
TUNELOOKUP_API tunelookup_status tunelookup_find(const tunelookup_plan *plan, const int64_t values[], tunelookup_result *result);

/* Of a plan that is bound to a class ("class=" and a variant, the class's member, as `msda-tune show --bits` lists it) find answers with the fastest variant that computed the member's bits on the asked shape, and, where
 * outputs are batches ([arg] batch of the search space), whose first 1, 2, 4, … rows are those of the member in every batch in which it was measured. EXACT, or NOT_IN_CLASS with match NONE: a shape that was not tuned, or
 * on which nothing tells. Fingerprints are of the inputs of seed 0 and of the compiler that the rows name. find_several gives that one answer, find_within is ARGUMENT. No flag is needed; prepare reads some more. */

/* For who measures for himself before he decides: variants of which one is likely to be fastest, results[capacity]; *count of them. The first is what find answers; each of the others is the one of those that
 * may run for these values with which the best of all is expected to be fastest, so that they differ. 0 where find says NONE. Takes some tens of microseconds, and is not kept. Errors: ARGUMENT. */
TUNELOOKUP_API tunelookup_status tunelookup_find_several(const tunelookup_plan *plan, const int64_t values[], tunelookup_result results[], size_t capacity, size_t *count);

/* The same within a limit of errors: the fastest variant whose validated error (norm_error) is at most max_error. INFINITY is no limit: what find answers. For a handle that was opened with TUNELOOKUP_ERRORS.
 * EXACT: the shape's winner where it is within the limit, else the fastest variant of the shape's rows that is (of several workloads: on all of them). NEAREST, ARCHITECTURE: no row of the shape is; the variant was
 * within the limit on each of the error_shapes tuned shapes with the plan's strings (a type, say) on which it was validated. DEFAULT is never an answer: nobody validated it.
 * NOT_WITHIN: nothing is known to be within the limit; match is NONE then, and tunelookup_explain tells the least error that is known.
 * Errors: ARGUMENT (also for a max_error that is negative or NAN, and for a handle without TUNELOOKUP_ERRORS), NOT_WITHIN. Async-signal-safe; wait-free. */
TUNELOOKUP_API tunelookup_status tunelookup_find_within(const tunelookup_plan *plan, const int64_t values[], double max_error, tunelookup_result *result);

/* Value of an integer knob; NOT_FOUND when the variant has no such knob (an inactive one counts as none). */
TUNELOOKUP_API tunelookup_status tunelookup_param(const tunelookup_result *result, const char *name, int64_t *value);
/* Value of any knob as text ("ALGO" → "direct"); valid until close. */
TUNELOOKUP_API tunelookup_status tunelookup_param_text(const tunelookup_result *result, const char *name, const char **text);
/* Launch `index` of result->launch_count. Errors: ARGUMENT, VALUE. */
TUNELOOKUP_API tunelookup_status tunelookup_launch(const tunelookup_result *result, int index, tunelookup_launch_info *launch);
/* Argument `index` of result->arg_count. Errors: ARGUMENT, VALUE. */
TUNELOOKUP_API tunelookup_status tunelookup_arg(const tunelookup_result *result, int index, tunelookup_arg_info *arg);
/* Tensor map `map` of argument `index`. Errors: ARGUMENT, VALUE. */
TUNELOOKUP_API tunelookup_status tunelookup_tensormap(const tunelookup_result *result, int index, int map, tunelookup_tensormap_info *info);
/* Member `member` of argument `index`, a struct: *arg is the argument whose bytes stand *offset bytes behind its beginning, as a parameter of that kind has them: a tensor's address, maps, a scalar, a struct of a
 * lower index. What is between members means nothing. Errors: ARGUMENT, VALUE. */
TUNELOOKUP_API tunelookup_status tunelookup_member(const tunelookup_result *result, int index, int member, int32_t *arg, uint64_t *offset);

/* The variant's cubin, compiled for the asked shape or for a tuned one with the same baked values, for cuLibraryLoadData/cuModuleLoadData: read from the file at the first call, checked (hash, ELF, architecture, length), kept until close.
 * Any number of threads may call it. Errors: NOT_FOUND, CUBIN_NOT_ALLOWED, DRIVER_TOO_OLD, CUBIN_DAMAGED, IO, NO_MEMORY, of a pack NOT_A_DATABASE, UNTRUSTED. */
TUNELOOKUP_API tunelookup_status tunelookup_cubin(const tunelookup_result *result, const void **cubin, size_t *bytes);

/* The name in a cubin that tunelookup_cubin gave, for cuModuleGetFunction and cuModuleGetGlobal, of a launch's entry or of a variable: of C++ names another than in the source. A text of the cubin,
 * or `name` itself, as for extern "C". */
TUNELOOKUP_API const char *tunelookup_symbol(const void *cubin, size_t bytes, const char *name);

/* How it matched, on which row, why not better, expected slowdown, provenance: a few lines of text. Returns the length needed without the NUL; writes at most size. */
TUNELOOKUP_API size_t tunelookup_explain(const tunelookup_result *result, char *buffer, size_t size);

/* Reads the files again if they changed; plans answer from the new rows from then on, results found before stay valid (the old rows are freed by close). All plans or
 * none: on failure the old rows go on answering. A pinned handle reads nothing anew, and only says whether the files hold its snapshot still. Errors: those of open and prepare. */
TUNELOOKUP_API tunelookup_status tunelookup_refresh(tunelookup_db *db);

enum { TUNELOOKUP_SNAPSHOT_ID = 33 };

/* Names all that may answer: 32 hex digits and a NUL, a hash of the files' contents (never of their paths, times or pages), of the flags RECORDED and USER_CUBINS and of this library's version. Processes whose ids are
 * equal answer every question alike, on whatever machines: ranks compare theirs once, or open with the first one's (tunelookup_open_pinned). What was prepared since open or the last refresh answers from exactly this
 * snapshot; where a file changed since, the call says so (ERR_IO). Reads the files: some tens of milliseconds; of a pinned handle it is the id that it is pinned to. On failure id is "". Serialise it like prepare.
 * Errors: ARGUMENT, IO, and those of open. */
TUNELOOKUP_API tunelookup_status tunelookup_snapshot_id(tunelookup_db *db, char id[TUNELOOKUP_SNAPSHOT_ID]);

/* Appends the misses counted so far (flag TUNELOOKUP_COUNT_MISSES) to a JSON-lines file (created 0600) and clears the counts that were written. Concurrent processes may
 * share the file. Errors: ARGUMENT (also for an SQLite database, and for a file in a share/msda-tune-shipped), NO_MEMORY, IO. */
TUNELOOKUP_API tunelookup_status tunelookup_flush_misses(tunelookup_db *db, const char *path);

/* Frees a plan before close does, with all that came from its finds. One that counts misses stays until close, which they wait for. Serialise it like prepare; NULL is a no-op. */
TUNELOOKUP_API void tunelookup_release(tunelookup_plan *plan);
TUNELOOKUP_API void tunelookup_close(tunelookup_db *db); /* NULL is a no-op */

/* Static text for a status; never NULL. */
TUNELOOKUP_API const char *tunelookup_strerror(tunelookup_status status);
/* "1.0.0"; *number (may be NULL) gets 10000·major + 100·minor + patch. */
TUNELOOKUP_API const char *tunelookup_version(int *number);
/* Why this thread's last call failed, in detail ("" = nothing to add): the file, the name, SQLite's words; valid until the thread's next call. */
TUNELOOKUP_API const char *tunelookup_detail(void);

#ifdef __cplusplus
}
#endif

#endif
