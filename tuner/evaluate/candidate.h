/* What can be said of a point without compiling it: is it legal, and how is it compiled. Shared by the evaluators that compile. */
#pragma once

#include "tuner/evaluate/needs.h"
#include "tuner/space/source/macros.h"
#include "tuner/space/points/space.h"

typedef struct mt_candidate {
    char *illegal;      /* the rule that it breaks; then nothing else is set */
    char *launched;     /* entries of the launches, each with a line end: whose resources count */
    mt_needs needs;
    int64_t per;        /* units of work of a run */
    mt_options options;
} mt_candidate;

/* `environment` is of the space's spec, shape and device; its point is set. Errors are the search-space file's (file:line). */
mt_status mt_candidate_make(mt_env *env, const mt_space *space, size_t index, mt_candidate *candidate, mt_error *err);
void mt_candidate_free(mt_candidate *candidate); /* zeroed struct is fine */
/* What the reference and the input generators need; mt_needs_free it, whatever the status. */
mt_status mt_candidate_support_needs(const mt_env *env, mt_needs *needs, mt_error *err);
/* How they are compiled; mt_options_free it, whatever the status. */
mt_status mt_candidate_support_options(const mt_env *env, const mt_workload *workload, mt_options *options, mt_error *err);
/* True when the reference or an input generator is a kernel that must be compiled. */
bool mt_candidate_needs_support(const mt_spec *spec);
