/* NVRTC options of one compile: -D macros for knobs, shape and workload, and the file's own options. The rules are in kernels/README.md. */
#pragma once

#include "tuner/space/points/env.h"

typedef struct mt_options {
    char **items;
    size_t count;
    size_t macro_count; /* the first so many are macros of knobs, shape and workload, which must be in effect */
    size_t kernel_count; /* and up to here [kernel]'s; behind them come the algorithm's */
} mt_options;

/* For the point set in the environment: knobs, baked shape values, [kernel] and [variant] options. No -arch, and nothing that names a folder or a header: mt_source holds what they lead to. A macro that is defined
 * twice with different values is an error that names both. */
mt_status mt_options_variant(const mt_env *env, mt_options *options, mt_error *err);
/* For the reference and the generators: all shape values, the workload's, MT_SUPPORT=1, every knob at its default, but those that the reference reads as the combination has them (reference_knobs.h). With `reference = default` it is the default variant that is
 * compiled: its active knobs alone, and its algorithm's options. */
mt_status mt_options_support(const mt_env *env, const mt_workload *workload, size_t combination, mt_options *options, mt_error *err);
mt_status mt_options_add(mt_options *options, const char *option, mt_error *err);
/* An option of ours: a C++ name behind it is one that the compile must have, with its name in compiled code. NVRTC gets it as a name expression. */
#define MT_NAME_OPTION "--msda-tune-name="
/* Such an option for what is no plain name, once; a plain name is in the code anyway. */
mt_status mt_options_add_name(mt_options *options, const char *name, mt_error *err);
void mt_options_free(mt_options *options); /* zeroed struct is fine */
