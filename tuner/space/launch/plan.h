/* A plan: one point's arguments and launches as numbers, ready for the device; and the hardware's rules that it must keep. */
#pragma once

#include "tuner/space/points/env.h"

typedef struct mt_plan_tensor {
    size_t arg;               /* index into spec args */
    mt_dtype dtype;
    size_t rank;
    int64_t dims[MT_MAX_RANK];
    uint64_t elements;        /* product of dims; may be above 2^31 */
    uint64_t bytes;
    double init_a, init_b;    /* as mt_arg's, with uniform's bounds as numbers */
} mt_plan_tensor;

typedef struct mt_plan_map {  /* one CUtensorMap; lengths as cuTensorMapEncodeTiled takes them */
    uint64_t offset_bytes;
    uint32_t rank;
    uint64_t dims[MT_TENSORMAP_RANK];
    uint64_t stride_bytes[MT_TENSORMAP_RANK - 1];
    uint32_t box[MT_TENSORMAP_RANK];
    int swizzle_bytes;
} mt_plan_map;

typedef struct mt_plan_arg {
    mt_arg_kind kind;
    mt_plan_tensor tensor;    /* MT_ARG_TENSOR */
    mt_plan_map *maps;        /* MT_ARG_TENSORMAP: map_count of them, owned */
    size_t map_count;
    mt_dtype map_dtype;       /* of the tensor */
    unsigned char scalar[8];  /* MT_ARG_SCALAR: little-endian bytes */
    mt_dtype scalar_dtype;
    uint64_t *offsets;        /* MT_ARG_STRUCT: of its members, in bytes; owned */
    uint64_t struct_bytes, struct_align;
    bool used;                /* some launch of this plan takes it (or a map of it); others are not evaluated */
} mt_plan_arg;

typedef struct mt_plan_launch {
    const mt_launch *from;
    char *entry;              /* the kernel's C or C++ name, values in the place of ${NAME}; owned */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0,0,0 = none */
    uint32_t smem_bytes;
    int32_t carveout_percent; /* −1 = chosen by the tool from the occupancy */
    uint32_t blocks_per_sm;   /* that the variant counts on; 0 = not said */
    uint32_t repeat;          /* times that it is made; at least 1 */
} mt_plan_launch;

typedef struct mt_plan {
    mt_plan_arg *args;        /* arg_count of the spec, same order */
    size_t arg_count;
    int64_t per;              /* units of work of a run, at least 1: a time is that of one unit */
    mt_plan_launch *launches; size_t launch_count; /* of all phases, in the order in which they run */
} mt_plan;

/* Whether the algorithm (or "reference") has this one of the launches; what their `when` says does not count. */
bool mt_plan_takes_launch(const mt_spec *spec, const mt_launch *launch, const char *algorithm);
/* Evaluates the point that is set in the environment. *illegal (mt_free) receives the rule that it breaks when the numbers can't be a launch at all
 * (grid of 0, a dimension above the hardware's, negative shared memory): then MT_OK and no plan. Other failures are errors. */
mt_status mt_plan_make(const mt_env *env, mt_plan *plan, char **illegal, mt_error *err);
/* The reference's plan: in/out tensors and the reference's launches, or with `reference = default` all of the default variant's; no point needs to be set. combination: of the knobs that it reads (reference_knobs.h). */
mt_status mt_plan_reference(const mt_env *env, size_t combination, mt_plan *plan, mt_error *err);
/* Bytes that an argument takes as a kernel parameter. */
uint64_t mt_plan_parameter_bytes(const mt_plan_arg *arg);
uint64_t mt_plan_parameter_align(const mt_plan_arg *arg);
/* The seed of an argument's contents: those with the same distribution must not be copies of each other. */
uint64_t mt_plan_seed(uint64_t seed, size_t arg);
void mt_plan_free(mt_plan *plan); /* zeroed struct is fine */

/* Checks the plan against the device, before compiling: threads per block, grid limits, cluster (size against device.max_cluster, grid
 * divisible, cooperative), dynamic shared memory against the opt-in limit (names the largest that fits), tensor maps (box ≤ 256, inner bytes
 * multiple of 16, swizzle span, strides multiples of 16 and < 2^40, 16-byte offset, dims ≤ 2^32, cc ≥ 90). Returns NULL when legal, else the rule broken
 * with numbers (mt_free). Sources: CUDA C++ Programming Guide, driver API's cuTensorMapEncodeTiled. */
char *mt_plan_illegal(const mt_env *env, const mt_plan *plan);

typedef struct mt_kernel_code { /* what a compiler made of a kernel */
    uint32_t registers, static_smem_bytes;
    uint32_t most_threads;    /* of a block, by its launch bounds; 0 = as many as the device allows */
    uint32_t cluster[3];      /* __cluster_dims__ of the source; 0,0,0 = none */
} mt_kernel_code;

/* The rules that the plan alone could not tell: why this code can't be launched so, with the numbers (mt_free); NULL = it can. Of the launch block, dynamic shared memory, grid and cluster count. */
char *mt_plan_code_illegal(const mt_plan_launch *launch, const mt_kernel_code *code, const mt_device_facts *facts);
