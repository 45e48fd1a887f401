#include "tuner/gpu/trial/timing_rules.h"

#include "tuner/base/stats.h"

static const double throttled_below = 0.75;

double mt_samples_mhz(const mt_sample *samples, size_t count, double *work)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (samples[i].mhz > 0) work[known++] = samples[i].mhz;
    if (known == 0) return 0;
    mt_stats_sort(work, known);
    return mt_stats_median(work, known);
}

size_t mt_samples_keep(const mt_sample *samples, size_t count, double reference_mhz, double *kept, double *work)
{
    size_t kept_count = 0;
    double own_mhz = mt_samples_mhz(samples, count, work);
    double limit_mhz = throttled_below * (own_mhz > reference_mhz ? own_mhz : reference_mhz);
    for (size_t i = 0; i < count; i++) {
        bool is_slow = samples[i].mhz > 0 && samples[i].mhz < limit_mhz;
        if (!is_slow && !samples[i].is_throttled) kept[kept_count++] = samples[i].ns;
    }
    if (kept_count > 0) return kept_count;
    for (size_t i = 0; i < count; i++)
        kept[i] = samples[i].ns;
    return count;
}

void mt_timing_summarize(double *kept, size_t count, mt_timing *timing)
{
    timing->samples = (uint32_t)count;
    timing->mean_ns = mt_stats_mean(kept, count);
    timing->stddev_ns = mt_stats_stddev(kept, count);
    mt_stats_sort(kept, count);
    timing->min_ns = kept[0];
    timing->median_ns = mt_stats_median(kept, count);
    mt_stats_median_interval(kept, count, 0.95, &timing->low_ns, &timing->high_ns);
}

enum { FEW_SAMPLES = 3, INTERVAL_SAMPLES = 6 /* the fewest that give a 95 % interval */ };

bool mt_timing_is_hopeless(const mt_timing_options *options, const mt_timing *timing)
{
    static const double far = 2.5, out_of_reach = 25, disturbance_ns = 1e6;
    if (!(options->race_ns > 0)) return false;
    if (timing->min_ns > options->race_ns * out_of_reach + disturbance_ns) return true;
    if (timing->samples < FEW_SAMPLES) return false;
    if (timing->min_ns > options->race_ns * (1 + far * (options->race_factor - 1))) return true;
    return timing->samples >= INTERVAL_SAMPLES && timing->low_ns > options->race_ns * options->race_factor;
}

bool mt_timing_is_done(const mt_timing_options *options, const mt_timing *timing, size_t taken, int64_t spent_ns)
{
    if (taken >= options->max_samples || spent_ns >= options->max_ns) return true;
    if (timing->samples < options->min_samples) return false;
    double allowed = options->interval * timing->median_ns;
    return timing->median_ns - timing->low_ns <= allowed && timing->high_ns - timing->median_ns <= allowed;
}

size_t mt_timing_chunk(const mt_timing_options *options, size_t taken, double sample_ns, size_t limit)
{
    static const double longest_chunk_ns = 50e6;
    static const size_t step = 5;
    size_t wanted = taken < options->min_samples ? options->min_samples - taken : step;
    if (options->race_ns > 0 && taken < INTERVAL_SAMPLES) wanted = taken < FEW_SAMPLES ? FEW_SAMPLES - taken : INTERVAL_SAMPLES - taken;
    size_t left = taken < options->max_samples ? options->max_samples - taken : 1;
    if (wanted > limit) wanted = limit;
    if (wanted > left) wanted = left;
    while (wanted > 1 && (double)wanted * sample_ns > longest_chunk_ns)
        wanted--;
    return wanted < 1 ? 1 : wanted;
}

size_t mt_timing_warm_up(double first_ns)
{
    static const double wanted_ns = 1e6;
    enum { MOST = 8 };
    if (!(first_ns > 0)) return MOST;
    return first_ns * MOST <= wanted_ns ? MOST : (size_t)(wanted_ns / first_ns);
}

bool mt_timing_wants_graph(const mt_timing_options *options, double run_ns)
{
    switch (options->method) {
    case MT_METHOD_EVENTS: return false;
    case MT_METHOD_GRAPH: return run_ns < MT_METHOD_REACH * options->graph_below_ns;
    default: break;
    }
    return run_ns < options->graph_below_ns;
}

mt_batch_plan mt_batch_plan_make(mt_l2 l2, double launch_ns, uint64_t set_bytes, uint64_t l2_bytes)
{
    static const double graph_ns = 200e3; /* long against an event's resolution of half a microsecond */
    enum { MAX_SETS = 128, MIN_LAUNCHES = 20, MAX_LAUNCHES = 256 };
    static const double latency_ns = 3e3; /* of a launch between events, which launch_ns holds and a graph hides; what is left of the graph's own must not count */
    double alone_ns = l2 == MT_L2_WARM ? (launch_ns > 2 * latency_ns ? launch_ns - latency_ns : launch_ns / 2) : launch_ns;
    double wanted_launches = alone_ns > 0 ? graph_ns / alone_ns : MAX_LAUNCHES;
    uint32_t launches = wanted_launches > MAX_LAUNCHES ? MAX_LAUNCHES : (uint32_t)wanted_launches;
    if (launches < MIN_LAUNCHES) launches = MIN_LAUNCHES;
    if (l2 == MT_L2_WARM) return (mt_batch_plan){.sets = 1, .launches = launches};
    uint64_t wanted_bytes = 3 * (l2_bytes > 0 ? l2_bytes : (uint64_t)128 << 20);
    uint64_t sets = set_bytes > 0 ? (wanted_bytes + set_bytes - 1) / set_bytes : MAX_SETS;
    if (sets < 2) sets = 2;
    if (sets > MAX_SETS) {
        sets = MAX_SETS;
        if (launches > MAX_SETS) launches = MAX_SETS;
    }
    if (sets > launches) sets = launches; /* the others would never be used */
    return (mt_batch_plan){.sets = (uint32_t)sets, .launches = launches};
}
