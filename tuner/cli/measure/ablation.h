/* What each knob of the best variant is worth: the measured rows that differ from it in one knob, for `show --ablation`. */
#pragma once

#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/database.h"
#include "tuner/cli/requests/sources.h"

/*
 * Prints for each best row that the filter lets through its neighbours (db/store/neighbour.h), fastest first, each in its newest measurement. `variant`: for the rows
 * of this variant instead ("A=1 B=2" or "A=1;B=2"); NULL: of the best. `sources` marks headings. *bases = such rows.
 */
mt_status mt_ablation_print(mt_store *store, const mt_filter *filter, const char *variant, mt_sources *sources, size_t *bases, mt_error *err);
