/* The points that a session measures instead of a search: a variant and all that differ from it in one knob (`tune --around`, for `show --ablation`), or those of a list (`--variants`). */
#pragma once

#include "tuner/base/texts.h"
#include "tuner/session/session.h"

typedef struct mt_fixed_points {
    mt_session_fixed *fixed; size_t count; /* one a subject of the plan on which the variant may run; borrows the plan's shapes and workloads */
    mt_texts texts; /* all subjects' variants, owned */
    char why[2048]; /* what was said last of a shape that is left out */
} mt_fixed_points;

/* What `plan` (whose `fixed` is not set) would tune, with the points around `variant`, which is written as listings print it.
 * USAGE for a text that is no point of the space; NOT_FOUND when the variant may run on none of the shapes. Free with mt_fixed_points_free, also after an error. */
mt_status mt_fixed_points_around(const mt_session_params *plan, mt_evaluator *evaluator, const char *variant, mt_fixed_points *points, mt_error *err);
/* The variants of a file, one a line, on each subject of the plan; empty lines and those that begin with # do not count. USAGE, with file and line, for a text that is no point of the space. */
mt_status mt_fixed_points_listed(const mt_session_params *plan, const char *path, mt_fixed_points *points, mt_error *err);
void mt_fixed_points_free(mt_fixed_points *points);
