#include "reports/section.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void mt_geomean_add(mt_geomean *mean, double value)
{
    if (!isfinite(value) || !(value > 0)) return;
    mean->logs += log(value);
    mean->count++;
}

double mt_geomean_of(const mt_geomean *mean) { return mean->count ? exp(mean->logs / (double)mean->count) : NAN; }

const char *mt_report_workload(const mt_measurement_row *row)
{
    return !*row->workload_key && strcmp(row->workload, "default") == 0 ? "" : row->workload;
}

const char *mt_gpu_model(const char *gpu_key, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)strcspn(gpu_key, "|"), gpu_key);
    return out;
}
