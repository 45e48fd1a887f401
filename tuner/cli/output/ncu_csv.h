/* What `ncu --csv --print-units base` prints, as a handful of numbers. */
#pragma once

#include "tuner/base/status.h"

/* name as stored, ncu's metric */
#define MT_NCU_MAP(X)                                                                  \
    X(dram_percent, "dram__throughput.avg.pct_of_peak_sustained_elapsed")              \
    X(l1_percent, "l1tex__throughput.avg.pct_of_peak_sustained_active")                \
    X(l2_percent, "lts__throughput.avg.pct_of_peak_sustained_elapsed")                 \
    X(sm_percent, "sm__throughput.avg.pct_of_peak_sustained_elapsed")                  \
    X(occupancy_percent, "sm__warps_active.avg.pct_of_peak_sustained_active")          \
    X(duration_ns, "gpu__time_duration.sum")

/* NAN = not in the text. Several launches: durations are added, percentages weighted by duration. */
typedef struct mt_ncu {
#define MT_NCU_FIELD(name, metric) double name;
    MT_NCU_MAP(MT_NCU_FIELD)
#undef MT_NCU_FIELD
    int launches;
} mt_ncu;

/* "metric,metric,…" for --metrics. */
const char *mt_ncu_metrics(void);
/* UNSUPPORTED, naming the permission, when ncu was not allowed to read counters; NOT_FOUND with ncu's own words when nothing was profiled. */
mt_status mt_ncu_parse(const char *text, mt_ncu *result, mt_error *err);
