/* The inside of mt_gpu; for this folder and tuner/gpu/trial alone. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"
#include "tuner/gpu/device/nvml_api.h"
#include "tuner/gpu/device/subject.h"
#include "tuner/gpu/device/timer.h"
#include "tuner/gpu/support.h"

/* field of the tool's kernels; the exported name is mt_<field>. */
#define MT_TOOL_MAP(X)                                                                                  \
    X(fill_uniform) X(fill_normal) X(fill_ramp) X(widen) X(guard_fill) X(guard_check) X(report_reset) X(checksum)    \
    X(compare) X(compare_finish) X(spread) X(diff) X(flush_write) X(flush_read) X(hold) X(clock_stamp)

typedef struct mt_tool {
    mt_module module; /* code NULL = not loaded */
#define MT_TOOL_FIELD(name) CUfunction name;
    MT_TOOL_MAP(MT_TOOL_FIELD)
#undef MT_TOOL_FIELD
} mt_tool;

struct mt_gpu {
    mt_cuda_api cuda;
    mt_nvml nvml;
    CUdevice device;
    bool has_context;
    CUstream stream; /* everything runs in this one */
    mt_device_facts facts;
    char bus_id[32];
    int count;       /* of GPUs in this machine */
    mt_tool tool;
    mt_timer timer;
    mt_subject_memory subject;
    mt_buffers scratch;      /* per argument; memory is kept from variant to variant */
    CUdeviceptr copies;      /* of buffers, for batches */
    uint64_t copies_bytes;
    CUdeviceptr report;      /* mt_report on the device */
    CUdeviceptr parts;       /* MT_COMPARE_BLOCKS shares */
    mt_report *report_host;  /* pinned */
    uint64_t next_salt;      /* of guard bands: no two bands are alike */
    struct mt_baseline *baseline; /* tuner/gpu/trial/baseline.h; NULL until one is asked for */
    void (*free_baseline)(mt_gpu *gpu); /* set with it */
    mt_strbuf launch_json;
    mt_stage_callback stage_callback; /* of the call in progress; may be NULL */
    void *stage_context;
    mt_stage stage;
};

/* Tells the coordinator, whose deadlines differ for making inputs and running a variant. Telling the stage that it is in already is silent. */
void mt_gpu_enter(mt_gpu *gpu, mt_stage stage);

/* Puts "what: CUDA_ERROR_X (text)" into err as MT_ERR_GPU. */
mt_status mt_gpu_fail(const mt_gpu *gpu, CUresult code, mt_error *err, const char *what);
/* Inside a function with `CUresult code` and one `done:` label. */
#define MT_CU(call)                            \
    do {                                       \
        code = (call);                         \
        if (code != CUDA_SUCCESS) goto done;   \
    } while (0)
/* Inside a function with `mt_status st`, `mt_gpu *gpu`, `mt_error *err` and one `done:` label. */
#define MT_TRY_CU(call, what)                                  \
    do {                                                       \
        CUresult mt_code_ = (call);                            \
        if (mt_code_ != CUDA_SUCCESS) {                        \
            st = mt_gpu_fail(gpu, mt_code_, err, (what));      \
            goto done;                                         \
        }                                                      \
    } while (0)
