#include "tuner/session/rates.h"

static void add(mt_metric *rates, size_t *count, const char *name, double value)
{
    if (value > 0) rates[(*count)++] = (mt_metric){name, value}; /* NAN: the model does not say */
}

size_t mt_rates_metrics(const mt_model *model, const mt_timing *timing, int64_t sm_count, mt_metric rates[MT_RATES_MAX])
{
    size_t count = 0;
    double seconds = timing->median_ns / 1e9;
    if (!(seconds > 0)) return 0;
    add(rates, &count, "dram_bytes_per_s", model->dram_bytes / seconds);
    add(rates, &count, "moved_bytes_per_s", model->moved_bytes / seconds);
    add(rates, &count, "flops_per_s", model->flops / seconds);
    add(rates, &count, "ops_per_s", model->ops / seconds);
    if (model->ops > 0) add(rates, &count, "clocks_per_op_per_sm", seconds * timing->sm_mhz * 1e6 * (double)sm_count / model->ops);
    return count;
}
