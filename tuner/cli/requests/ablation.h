/* What each knob of the best variant is worth: the measured rows that differ from it in one knob, for `show --ablation`. */
#ifndef MT_CLI_REQUESTS_ABLATION_H
#define MT_CLI_REQUESTS_ABLATION_H

#include "tuner/cli/requests/database.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/sources.h"

/*
 * Whether two variants ("ALGO=direct;BLEND=half2;…", sorted by name) differ in the value of exactly one knob that is active in both; knobs
 * that are active in one of them only depend on another and don't count. The knob's name and both values go to *change: "BLEND: half2 → f32".
 */
bool mt_ablation_is_neighbour(const char *base, const char *other, mt_strbuf *change);

/*
 * Prints for each best row that the filter lets through its neighbours, fastest first, each in its newest measurement. `variant`: for the rows
 * of this variant instead ("A=1 B=2" or "A=1;B=2"); NULL: of the best. `sources` marks headings. *bases = such rows.
 */
mt_status mt_ablation_print(mt_store *store, const mt_filter *filter, const char *variant, mt_sources *sources, size_t *bases, mt_error *err);

#endif
