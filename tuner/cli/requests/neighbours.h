/* A variant and all that differ from it in one knob, as the points that a session measures: `tune --around`, for `show --ablation`. */
#ifndef MT_CLI_REQUESTS_NEIGHBOURS_H
#define MT_CLI_REQUESTS_NEIGHBOURS_H

#include "tuner/session/session.h"

typedef struct mt_neighbours {
    mt_session_given *given; size_t count; /* one a subject of the plan on which the variant may run; borrows the plan's shapes and workloads */
    char **texts; size_t text_count, text_capacity; /* all subjects' variants, owned */
    char why[2048]; /* what was said last of a shape that is left out */
} mt_neighbours;

/* What `plan` (whose `given` is not set) would tune, with the points around `variant`, which is written as listings print it. Points that only constraints of the search exclude are among
 * them. USAGE for a text that is no point of the space; NOT_FOUND when the variant may run on none of the shapes. Free with mt_neighbours_free, also after an error. */
mt_status mt_neighbours_gather(const mt_session_params *plan, mt_evaluator *evaluator, const char *variant, mt_neighbours *around, mt_error *err);
void mt_neighbours_free(mt_neighbours *around);

#endif
