/* The protocol between the coordinator and its workers: framed messages over a stream socket.
 *
 * Frame: magic u32, version u16, type u16, payload length u32, payload; little-endian; 1 MiB of payload at most. Cubins and inputs go by path, the
 * search space and its source by a memory file (bundle.h). An unknown magic, version, type or length, and a payload that is not exactly one record, are
 * refused: both sides are the same executable, so that a mismatch means damage. */
#pragma once

#include "tuner/base/method.h"
#include "tuner/base/outcome.h"
#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/facts.h"

enum {
    MT_PROTO_MAGIC = 0x5754534d, /* "MSTW" */
    MT_PROTO_VERSION = 1,
    MT_PROTO_HEADER_BYTES = 12,
    MT_PROTO_MAX_BYTES = 1 << 20,
    MT_PROTO_MAX_TEXT = 1 << 18, /* senders cut logs to this */
    MT_PROTO_FOLDERS = 16        /* of headers */
};

typedef enum mt_message_type {
    MT_MESSAGE_HELLO = 1, /* worker → coordinator, once */
    MT_MESSAGE_COMPILE,   /* → compile worker */
    MT_MESSAGE_COMPILED,
    MT_MESSAGE_EVALUATE,  /* → device worker */
    MT_MESSAGE_STAGE,
    MT_MESSAGE_RESULT,
    MT_MESSAGE_BYE,       /* → worker: exit */
    MT_MESSAGE_PREPARE,   /* → device worker in reserve: an order, of which only the subject is made ready; without a shape only the context */
    MT_MESSAGE_PREPARED,
    MT_MESSAGE_ASK_LOAD,  /* → watching worker */
    MT_MESSAGE_LOAD,
    MT_MESSAGE_TYPE_END
} mt_message_type;

typedef struct mt_hello {
    uint32_t pid;
    mt_status status;         /* why the worker can't work, in `error` */
    const char *error;
    int64_t nvrtc_version;    /* or nvcc's. Compile workers, also below */
    const char *header_folders[MT_PROTO_FOLDERS]; /* where the compiler finds headers; may be NULL */
    const char *compiler;     /* nvcc's identity (nvcc.h); NULL = NVRTC */
    mt_device_facts facts;    /* device workers */
    const char *bus_id;
    int32_t device_count;      /* device workers: GPUs that the driver shows */
    int32_t foreign_processes; /* on the GPU; −1 = unknown */
    mt_energy_source energy;   /* what the device worker can measure it with */
    int32_t busy_percent;      /* of the time before, by other processes then; −1 = unknown */
} mt_hello;

typedef enum mt_compile_kind { MT_COMPILE_VARIANT, MT_COMPILE_SUPPORT, MT_COMPILE_TOOL, MT_COMPILE_KIND_COUNT } mt_compile_kind;

typedef struct mt_compile_order {
    uint64_t id;
    mt_compile_kind kind;         /* TOOL: the tool's own kernels; else the bundle's source */
    const char *arch, *cache_dir;
    const char *entries;          /* whose worst resources to report, each with a line end; NULL = of all */
    const char *const *options;
    uint32_t option_count;
    uint32_t macro_count;         /* the first so many options are macros that must be in effect */
} mt_compile_order;

typedef struct mt_compiled {
    uint64_t id;
    mt_status status;             /* not MT_OK: the compiler could not be run; `error` */
    const char *error;
    bool ok;                      /* the source compiled */
    bool is_cached;
    const char *log, *cubin_path;
    mt_hash cubin;
    int64_t compile_ns;
    bool has_resources;           /* the log told them */
    uint32_t registers, spill_bytes, static_smem_bytes;
} mt_compiled;

typedef struct mt_evaluate_order {
    uint64_t id;
    const char *shape, *shape_key, *workload; /* the key proves that both sides mean the same numbers */
    const char *variant;                      /* canonical text */
    const char *cubin_path, *support_path, *tool_path;
    uint64_t seed;
    bool guard_pages;
    const char *const *inputs;                /* "name=path" */
    uint32_t input_count;
    /* timing */
    mt_l2 l2;
    double interval;
    uint32_t min_samples, max_samples;
    int64_t max_ns;
    double graph_below_ns;
    double race_ns, race_factor;
    bool is_retime;               /* validated before: loaded and timed only */
    mt_depth depth;
    mt_method method;
    int64_t energy_ns;            /* retime: also measure energy, in a loop of at least this long; 0 = don't */
    const char *baseline;         /* a plugin's algorithm in the variant's place (tuner/gpu/trial/evaluate.h); NULL = the variant */
    uint32_t algorithm;
} mt_evaluate_order;

/* Where an evaluation stands. The first three belong to the subject, the others to the variant. */
#define MT_WORK_MAP(X)                                  \
    X(START, "start")                                   \
    X(INPUTS, "prepare inputs")                         \
    X(REFERENCE, "reference")                           \
    X(LOAD, "load")                                     \
    X(VALIDATE, "validate")                             \
    X(TIME, "time")                                     \
    X(DONE, "done")
typedef enum mt_work {
#define MT_WORK_ENUM(name, text) MT_WORK_##name,
    MT_WORK_MAP(MT_WORK_ENUM)
#undef MT_WORK_ENUM
        MT_WORK_COUNT
} mt_work;
const char *mt_work_name(mt_work work);

typedef struct mt_stage_report {
    uint64_t id;
    mt_work work;
} mt_stage_report;

typedef struct mt_verdict {
    uint64_t id;
    mt_status status;             /* not MT_OK: the subject's fault, or the machine's; `error` */
    const char *error;
    bool is_sticky;               /* the context is broken; the worker exits after this message */
    mt_outcome outcome;
    const char *launch_json;
    int32_t foreign_processes;    /* on the GPU, as seen within the last second; −1 = unknown */
    const char *vacuous;          /* an output whose reference holds no number but 0; NULL = none */
} mt_verdict;

/* The answer to PREPARE. That inputs could not be made is no error here: the order itself will tell. */
typedef struct mt_prepared {
    mt_status status;             /* not MT_OK: there is no context; `error` */
    const char *error;
} mt_prepared;

/* What kernels ran on the GPU lately, in per cent of the time; −1 = unknown. */
typedef struct mt_load {
    int32_t all_percent;
    int32_t others_percent;       /* of the processes that do not descend from the coordinator */
} mt_load;

typedef struct mt_message {
    mt_message_type type;
    union {
        mt_hello hello;
        mt_compile_order compile;
        mt_compiled compiled;
        mt_evaluate_order evaluate;   /* also PREPARE */
        mt_prepared prepared;
        mt_load load;
        mt_stage_report stage;
        mt_verdict verdict;
    };
} mt_message;

/* Appends one frame. PROTOCOL error when the payload would be too long. Texts are borrowed. */
mt_status mt_proto_encode(const mt_message *message, mt_strbuf *out, mt_error *err);
/* Reads the frame that bytes[count] begins with. *used = 0: not all of it is there yet (MT_OK), else its size. The message owns its texts (mt_message_free). */
mt_status mt_proto_decode(const void *bytes, size_t count, mt_message *message, size_t *used, mt_error *err);
void mt_message_free(mt_message *message); /* one that was decoded; zeroed struct is fine; zeroes it */
