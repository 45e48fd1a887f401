/* How fast the work of a [model] was done: what a time means in bytes, operations and clocks. */
#pragma once

#include "db/store/store.h"
#include "tuner/space/points/env.h"

enum { MT_RATES_MAX = 5 };

/* Fills rates[0..] with those that the model (and the SM clock, where it is known) allow, and returns how many: dram_bytes_per_s,
 * moved_bytes_per_s, flops_per_s, ops_per_s, clocks_per_op_per_sm. None for a time that is not positive. */
size_t mt_rates_metrics(const mt_model *model, const mt_timing *timing, int64_t sm_count, mt_metric rates[MT_RATES_MAX]);
