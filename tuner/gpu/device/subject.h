/* The subject: inputs and references of one (spec, shape, workload, seed), kept on the device from variant to variant. */
#pragma once

#include "tuner/gpu/device/memory.h"
#include "tuner/gpu/device/module.h"
#include "tuner/gpu/device/subject_request.h"
#include "tuner/space/launch/plan.h"

/* Inputs and references of one seed. */
typedef struct mt_input_set {
    uint64_t seed;
    bool is_made;
    mt_buffers inputs;     /* in: what kernels read; inout: the contents to restore */
    mt_buffers references; /* out, inout: double for floats, else the argument's type */
    uint64_t *input_sums, *reference_sums; /* checksums, per argument */
} mt_input_set;

typedef struct mt_subject_memory {
    mt_hash key;
    bool is_made;
    size_t arg_count;
    mt_plan_tensor *tensors; /* per argument: in, inout, out; bytes == 0: not known (yet) */
    mt_input_set sets[2];
    size_t set_count;        /* 2 when both seeds fit on the device, else 1, which is then remade for each seed */
    size_t seed_count;       /* 1 when another seed would change nothing (all inputs from files) */
    mt_buffers work;         /* out and inout: what variants write */
    mt_buffers previous;     /* outputs of the run before, to compare bits with */
    mt_module support;       /* reference and generators; NULL = none */
    bool guard_pages;
    const char *vacuous;     /* an output whose comparison can prove nothing; borrowed from the spec, NULL = none */
} mt_subject_memory;

void mt_subject_free(mt_gpu *gpu, mt_subject_memory *subject);

/* The set of inputs for seed number `index` (< seed_count), made if it is not on the device now; every tensor that the plan uses is in it. A failing
 * generator is the session's error. */
mt_status mt_subject_inputs(mt_gpu *gpu, const mt_subject_request *request, const mt_plan *plan, size_t index, mt_input_set **set, mt_error *err);
/* True when the inputs and references on the device still have their checksums; sets that have not are made again when next asked for. */
mt_status mt_subject_check(mt_gpu *gpu, bool *intact, mt_error *err);

/* ---- for subject.c alone: inputs.c and reference.c ---- */

/* Fills data (an in or inout argument's) for the seed: file, zeros, distribution or generator of the support module. */
mt_status mt_input_make(mt_gpu *gpu, const mt_subject_request *request, size_t arg, const mt_plan_tensor *tensor, uint64_t seed, CUdeviceptr data, mt_error *err);
const char *mt_input_path(const mt_subject_request *request, const char *arg); /* of --input, or NULL */
/* Runs the reference for the set, whose inputs are made. */
mt_status mt_reference_make(mt_gpu *gpu, const mt_subject_request *request, const mt_env *env, mt_input_set *set, mt_error *err);
