/* What compiled code must have for the launches that take it: kernels with these parameters that a block of these threads may run, variables of these sizes. The driver would find out, but needs a GPU. */
#pragma once

#include "tuner/base/outcome.h"
#include "tuner/worker/proto.h"
#include "tuner/space/launch/plan.h"

typedef struct mt_needed_kernel {
    char *entry;            /* owned */
    const char *algorithm;  /* that launches it, for messages; NULL = the reference, or an input */
    uint64_t *bytes;        /* of each argument; owned */
    size_t count;
    mt_plan_launch launch;  /* block of 0 = the tool launches it as it may */
    bool is_made;           /* the launch is the one that is made for a reference, where the file lists none */
    mt_place place, named;  /* of its arguments, and of what names the entry, for messages; path NULL = none */
} mt_needed_kernel;

typedef struct mt_needed_variable {
    const char *name, *input; /* that goes to it; NULL: the source need not have the variable */
    uint64_t bytes;
} mt_needed_variable;

typedef struct mt_needs {   /* other names are the spec's */
    mt_needed_kernel *kernels;
    mt_needed_variable *variables;
    size_t kernel_count, variable_count;
} mt_needs;

/* Of a variant's launches and constants. `needs` is zeroed. */
mt_status mt_needs_of_variant(const mt_spec *spec, const mt_plan *plan, const mt_algorithm *algorithm, mt_needs *needs, mt_error *err);
/* Of the reference's launches (a zeroed plan: there is none) and of the kernels that make inputs. */
mt_status mt_needs_of_support(const mt_spec *spec, const mt_plan *reference, mt_needs *needs, mt_error *err);
void mt_needs_free(mt_needs *needs); /* zeroed struct is fine; zeroes it */

/* The first need that code which compiled does not meet: the outcome is a compile error then, or illegal where it is a limit of the device; else it stays, as where log and cubin do not tell.
 * *code: of all that the launches can run and read, "" where it can't be told; NULL = nobody asks. */
void mt_needs_check(const mt_needs *needs, const mt_compiled *compiled, const mt_device_facts *facts, mt_outcome *outcome, mt_hash *code);
