/* Which shapes a tune is for: names of the file, values ("N=1;M=8;dtype=f16"), or what production asked for in vain. */
#pragma once

#include "db/exchange/misses.h"
#include "tuner/cli/options.h"
#include "tuner/cli/share.h"
#include "tuner/space/facts.h"
#include "tuner/space/spec/spec.h"

typedef struct mt_requested_shapes {
    const char *command;     /* for messages; borrowed; NULL = tune */
    mt_texts shapes;         /* names of the spec, in the order in which they are tuned; none = the file's default ones */
    char **names;            /* per miss of the list given: its shape's; NULL = it does not fit the space. Owned */
    size_t name_count;
} mt_requested_shapes;

/* Loads the space at `path`. `texts` (--shape): each holds names, split at commas, or the values of one shape. USAGE error for what the space does not know. */
mt_status mt_requested_shapes_load(const char *path, const mt_texts *texts, mt_spec **spec, mt_requested_shapes *wanted, mt_error *err);
/* The same for the misses that are the kernel's of the space; those that do not fit it are told and left out. */
mt_status mt_requested_shapes_load_misses(const char *path, const mt_misses *misses, const char *file, mt_spec **spec, mt_requested_shapes *wanted, mt_error *err);
/* By what factor today's answer for a shape of the spec may be slower than the best; 1 = nothing is to be won. */
typedef struct mt_expected_loss {
    void *context;
    double (*of)(void *context, const char *shape);
} mt_expected_loss;
/* Of these the ones asked for on the device become `shapes`, those first where most is to be won: how often a shape was asked for × what its answer may lose. The others are told. */
mt_status mt_requested_shapes_choose(const mt_misses *misses, const char *file, const mt_spec *spec, const mt_device_facts *facts, bool is_quiet, const mt_expected_loss *loss, mt_requested_shapes *wanted, mt_error *err);
void mt_requested_shapes_free(mt_requested_shapes *wanted); /* zeroed struct is fine */

/* Path of the space of a kernel: `given` if its kernel is that one, else the shipped space of that kernel; NOT_FOUND. mt_free *path. */
mt_status mt_requested_shapes_space(const char *given, const char *kernel, char **path, mt_error *err);
