/* Which shapes a tune is for: names of the file, values ("N=1;M=8;dtype=f16"), or what production asked for in vain. */
#ifndef MT_CLI_REQUESTS_REQUESTED_SHAPES_H
#define MT_CLI_REQUESTS_REQUESTED_SHAPES_H

#include "db/exchange/misses.h"
#include "tuner/cli/options.h"
#include "tuner/cli/share.h"
#include "tuner/space/facts.h"
#include "tuner/space/spec.h"

typedef struct mt_requested_shapes {
    const char *command;     /* for messages; borrowed; NULL = tune */
    mt_names shapes;         /* names of the spec, in the order in which they are tuned; none = the file's default ones */
    char **names;            /* per miss of the list given: its shape's; NULL = it does not fit the space. Owned */
    size_t name_count;
} mt_requested_shapes;

/* Loads the space at `path`. `texts` (--shape): each holds names, split at commas, or the values of one shape. USAGE error for what the space does not know. */
mt_status mt_requested_shapes_load(const char *path, const mt_words *texts, mt_spec **spec, mt_requested_shapes *wanted, mt_error *err);
/* The same for the misses that are the kernel's of the space; those that do not fit it are told and left out. */
mt_status mt_requested_shapes_load_misses(const char *path, const mt_misses *misses, const char *file, mt_spec **spec, mt_requested_shapes *wanted, mt_error *err);
/* Of these the ones asked for on the device become `shapes`, the heaviest first; the others are told. *count: how many there are. */
mt_status mt_requested_shapes_choose(const mt_misses *misses, const char *file, const mt_spec *spec, const mt_device_facts *facts, bool is_quiet, mt_requested_shapes *wanted, mt_error *err);
void mt_requested_shapes_free(mt_requested_shapes *wanted); /* zeroed struct is fine */

/* Path of the space of a kernel: `given` if its kernel is that one, else the shipped space of that kernel; NOT_FOUND. mt_free *path. */
mt_status mt_requested_shapes_space(const char *given, const char *kernel, char **path, mt_error *err);

#endif
