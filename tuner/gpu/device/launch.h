/* From a cubin and a plan to launches that are ready: entry, attributes, occupancy, carve-out, arguments. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/device/api.h"
#include "tuner/gpu/device/device.h"
#include "tuner/gpu/device/module.h"
#include "tuner/space/launch/plan.h"

/* A launch with everything set that the driver wants to know. */
typedef struct mt_ready {
    const mt_plan_launch *plan;
    const char *symbol; /* the entry in compiled code; the module's, or the plan's */
    CUfunction function;
    CUlaunchAttribute attributes[3];
    unsigned attribute_count;
    uint32_t registers, static_smem_bytes;
    int32_t carveout_percent;
    uint32_t blocks_per_sm;
    uint32_t active_clusters; /* 0 = no cluster */
} mt_ready;

typedef enum mt_refusal { MT_REFUSAL_NONE, MT_REFUSAL_LOAD, MT_REFUSAL_ILLEGAL, MT_REFUSAL_DRIVER } mt_refusal;

/* Finds the entry, opts into large shared memory and clusters above 8, asks for the occupancy and sets the carve-out. What stands against it
 * is told in *why: the entry or its parameters (LOAD), a rule of the hardware (ILLEGAL), or *code (DRIVER). */
mt_refusal mt_ready_make(mt_gpu *gpu, const mt_module *module, const mt_plan *plan, const mt_plan_launch *launch, mt_ready *ready, CUresult *code, mt_strbuf *why);
CUresult mt_ready_launch(mt_gpu *gpu, const mt_ready *ready, void **parameters);

/* The carve-out in percent that gives the smallest split of shared memory and L1 in which `blocks` blocks of that much shared memory fit on
 * an SM. */
int32_t mt_carveout_percent(const mt_device_facts *facts, uint32_t blocks, uint64_t static_bytes, uint64_t dynamic_bytes);

/* The values of a plan's arguments for one set of buffers. */
typedef struct mt_binding {
    CUdeviceptr *address; /* per argument; 0 = no buffer */
    CUtensorMap **maps;   /* per argument; NULL = none */
    void *memory;         /* of the maps */
    size_t count;
} mt_binding;

/* address[plan->arg_count] is copied. A map that the driver refuses is *code and named in *why. */
mt_status mt_binding_make(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const CUdeviceptr *address, mt_binding *binding, CUresult *code,
                          mt_strbuf *why, mt_error *err);
void mt_binding_free(mt_binding *binding); /* zeroed struct is fine */
/* Launches with the binding's values. */
CUresult mt_binding_launch(mt_gpu *gpu, const mt_binding *binding, const mt_plan *plan, const mt_ready *ready);
