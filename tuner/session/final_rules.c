#include "tuner/session/final_rules.h"

#include <string.h>

#include "tuner/base/stats.h"

/* The fixed order: least dynamic shared memory, smallest cluster, first text. */
static bool is_preferred(const mt_near_tie *a, const mt_near_tie *b)
{
    if (a->smem_bytes != b->smem_bytes) return a->smem_bytes < b->smem_bytes;
    if (a->cluster != b->cluster) return a->cluster < b->cluster;
    return strcmp(a->variant, b->variant) < 0;
}

/* Of equal medians the preferred one leads, so that the order in which they come does not matter. */
static size_t leader_of(const mt_finalist *finalists, size_t count)
{
    size_t leader = 0;
    for (size_t i = 1; i < count; i++) {
        double a = finalists[i].row.median_ns, b = finalists[leader].row.median_ns;
        if (a < b || (a == b && is_preferred(&finalists[i].near, &finalists[leader].near))) leader = i;
    }
    return leader;
}

static void median_of(const double *values, size_t count, double confidence, double *median, double *low, double *high)
{
    double sorted[MT_FINAL_ROUNDS];
    memcpy(sorted, values, count * sizeof *sorted);
    mt_stats_sort(sorted, count);
    *median = mt_stats_median(sorted, count);
    mt_stats_median_interval(sorted, count, confidence, low, high);
}

size_t mt_final_pick(const mt_finalist *finalists, size_t count)
{
    size_t pick = 0;
    while (pick + 1 < count && !finalists[pick].row.is_tied) pick++;
    for (size_t i = pick + 1; i < count; i++)
        if (finalists[i].row.is_tied && is_preferred(&finalists[i].near, &finalists[pick].near)) pick = i;
    return pick;
}

void mt_final_judge_rounds(mt_finalist *finalists, size_t count, size_t rounds)
{
    double each = count > 1 ? 1 - (1 - MT_FINAL_CONFIDENCE) / (double)(count - 1) : MT_FINAL_CONFIDENCE;
    for (size_t i = 0; i < count; i++) {
        mt_finalist_row *row = &finalists[i].row;
        *row = (mt_finalist_row){.measurement = finalists[i].near.measurement, .energy = row->energy};
        median_of(finalists[i].round_ns, rounds, MT_FINAL_CONFIDENCE, &row->median_ns, &row->low_ns, &row->high_ns);
    }
    const mt_finalist *leader = &finalists[leader_of(finalists, count)];
    for (size_t i = 0; i < count; i++) {
        double ratios[MT_FINAL_ROUNDS];
        mt_finalist_row *row = &finalists[i].row;
        for (size_t r = 0; r < rounds; r++) ratios[r] = finalists[i].round_ns[r] / leader->round_ns[r];
        median_of(ratios, rounds, each, &row->ratio, &row->ratio_low, &row->ratio_high);
        row->is_tied = row->ratio_low <= 1 + MT_FINAL_MARGIN;
    }
    finalists[mt_final_pick(finalists, count)].row.is_picked = true;
}

void mt_final_judge_intervals(mt_finalist *finalists, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const mt_near_tie *near = &finalists[i].near;
        finalists[i].row = (mt_finalist_row){.measurement = near->measurement, .median_ns = near->median_ns, .low_ns = near->low_ns, .high_ns = near->high_ns};
    }
    const mt_finalist_row *leader = &finalists[leader_of(finalists, count)].row;
    for (size_t i = 0; i < count; i++) {
        mt_finalist_row *row = &finalists[i].row;
        row->ratio = row->median_ns / leader->median_ns;
        row->ratio_low = row->low_ns / leader->high_ns;
        row->ratio_high = row->high_ns / leader->low_ns;
        row->is_tied = row == leader || (row->median_ns <= leader->high_ns && row->low_ns <= leader->median_ns);
    }
    finalists[mt_final_pick(finalists, count)].row.is_picked = true;
}

mt_energy mt_final_energy(const mt_energy *rounds, size_t count)
{
    mt_energy mean = {.source = rounds[0].source};
    double least_uj = rounds[0].run_uj, most_uj = rounds[0].run_uj;
    for (size_t i = 0; i < count; i++) {
        const mt_energy *round = &rounds[i];
        if (round->source == MT_ENERGY_NONE) return (mt_energy){0};
        mean.run_uj += round->run_uj / (double)count;
        mean.power_w += round->power_w / (double)count;
        mean.loop_ms += round->loop_ms / (double)count;
        mean.period_ms += round->period_ms / (double)count;
        mean.runs += round->runs / count;
        if (round->error_uj > mean.error_uj) mean.error_uj = round->error_uj;
        if (round->run_uj < least_uj) least_uj = round->run_uj;
        if (round->run_uj > most_uj) most_uj = round->run_uj;
    }
    if ((most_uj - least_uj) / 2 > mean.error_uj) mean.error_uj = (most_uj - least_uj) / 2;
    return mean;
}

static double score_of(const mt_finalist_row *row, mt_objective objective)
{
    return objective == MT_OBJECTIVE_EDP ? row->energy.run_uj * row->median_ns : row->energy.run_uj;
}

/* As a part of the score. */
static double doubt_of(const mt_finalist_row *row, mt_objective objective)
{
    double energy = row->energy.error_uj / row->energy.run_uj;
    double time = (row->high_ns - row->low_ns) / 2 / row->median_ns;
    return objective == MT_OBJECTIVE_EDP ? energy + time : energy;
}

void mt_final_judge_energy(mt_finalist *finalists, size_t count, mt_objective objective)
{
    size_t leader = 0;
    for (size_t i = 1; i < count; i++) {
        double a = score_of(&finalists[i].row, objective), b = score_of(&finalists[leader].row, objective);
        if (a < b || (a == b && is_preferred(&finalists[i].near, &finalists[leader].near))) leader = i;
    }
    const mt_finalist_row *first = &finalists[leader].row;
    double reach = score_of(first, objective) * (1 + doubt_of(first, objective)) * (1 + MT_FINAL_MARGIN);
    for (size_t i = 0; i < count; i++) {
        mt_finalist_row *row = &finalists[i].row;
        row->is_tied = i == leader || score_of(row, objective) * (1 - doubt_of(row, objective)) <= reach;
        row->is_picked = false;
    }
    finalists[mt_final_pick(finalists, count)].row.is_picked = true;
}
