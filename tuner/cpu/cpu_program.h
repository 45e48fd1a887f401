/* The C++ text that runs a plan's launches on the CPU, for behind a source: what shim/block.cuh offers, called with the plan's numbers. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/launch/plan.h"
#include "tuner/space/source/source.h"

#define MT_CPU_SEED 1

/* How the parts find each other's contents, in their folder: of argument %zu. */
#define MT_CPU_INPUT "input.%zu"
#define MT_CPU_EXPECTED "expected.%zu"
#define MT_CPU_COMPARED "compared.%zu.%d" /* and of one of the variant's runs */

enum { MT_CPU_RUNS = 2 }; /* of the variant, from equal inputs: the second meets what the first left in variables, and its threads take turns in another order */

typedef struct mt_cpu_job {
    const mt_spec *spec;
    const mt_plan *plan;
    const mt_plan_tensor *tensors; /* per argument, also of those that only the other plan takes; bytes 0: none */
    const mt_dtype *written;       /* per argument: what the reference writes, or with `reference = default` the variant; MT_DTYPE_COUNT: nothing */
    const char *source;            /* preprocessed: which of the variables that inputs fill it has */
} mt_cpu_job;

/* Makes the inputs, which are stored, and runs the reference's launches, if it has any, on them. */
mt_status mt_cpu_program_reference(const mt_cpu_job *job, mt_strbuf *out, mt_error *err);
/* Runs the variant MT_CPU_RUNS times, and compares with what the reference stored; with `reference = default` with its own first run. */
mt_status mt_cpu_program_variant(const mt_cpu_job *job, mt_strbuf *out, mt_error *err);
