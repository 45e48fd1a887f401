/* The baseline plugin's algorithms beside the finalists: who takes part, and how the finalists did against them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/log.h"
#include "tuner/base/stats.h"
#include "tuner/session/session_final.h"

void mt_final_choose_libraries(mt_final *final)
{
    bool takes_part[MT_LIBRARIES_MAX] = {!final->libraries[0].is_out};
    size_t chosen = takes_part[0];
    for (; chosen < MT_LIBRARIES_TIMED; chosen++) {
        size_t next = MT_LIBRARIES_MAX;
        for (size_t i = 0; i < MT_LIBRARIES_MAX; i++) {
            bool is_free = !final->libraries[i].is_out && !takes_part[i];
            if (is_free && (next == MT_LIBRARIES_MAX || final->libraries[i].alone_ns < final->libraries[next].alone_ns)) next = i;
        }
        if (next == MT_LIBRARIES_MAX) break;
        takes_part[next] = true;
    }
    for (size_t i = 0; i < MT_LIBRARIES_MAX; i++) final->libraries[i].is_out = !takes_part[i];
    if (!chosen) final->library_count = 0;
}

/* The fastest in the rounds; MT_LIBRARIES_MAX = none. */
static size_t fastest(const mt_final *final)
{
    size_t best = MT_LIBRARIES_MAX;
    double best_ns = INFINITY, work[MT_FINAL_ROUNDS];
    for (size_t i = 0; i < MT_LIBRARIES_MAX; i++) {
        if (final->libraries[i].is_out) continue;
        memcpy(work, final->libraries[i].round_ns, sizeof work);
        mt_stats_sort(work, final->rounds);
        double median = mt_stats_median(work, final->rounds);
        if (!(median < best_ns)) continue;
        best = i;
        best_ns = median;
    }
    return best;
}

typedef struct comparison {
    double ns;                /* the library's median */
    double ratio, low, high;  /* library / finalist, of each round */
} comparison;

static comparison compare(const mt_final *final, const mt_library *library, const mt_finalist *finalist)
{
    comparison result;
    double ratio[MT_FINAL_ROUNDS], ns[MT_FINAL_ROUNDS];
    for (size_t r = 0; r < final->rounds; r++) {
        ns[r] = library->round_ns[r];
        ratio[r] = ns[r] / finalist->round_ns[r];
    }
    mt_stats_sort(ns, final->rounds);
    mt_stats_sort(ratio, final->rounds);
    result.ns = mt_stats_median(ns, final->rounds);
    result.ratio = mt_stats_median(ratio, final->rounds);
    mt_stats_median_interval(ratio, final->rounds, MT_FINAL_CONFIDENCE, &result.low, &result.high);
    return result;
}

mt_status mt_final_was_compared(const mt_final *final, int64_t id, bool *is_compared, mt_error *err)
{
    return mt_store_final_has_library(final->session->store, id, final->session->params->spec->library, is_compared, err);
}

/* `first`: NULL = it was not timed. */
static mt_status keep_one(mt_final *final, const mt_finalist *finalist, const mt_library *first, const mt_library *best, mt_error *err)
{
    comparison with_best = compare(final, best, finalist), with_first = first ? compare(final, first, finalist) : (comparison){.ns = NAN, .ratio = NAN};
    mt_row_library row = {.first_ns = with_first.ns, .first_ratio = with_first.ratio, .best_ns = with_best.ns, .best_ratio = with_best.ratio, .best_low = with_best.low, .best_high = with_best.high,
                          .is_limited = final->is_limited};
    snprintf(row.plugin, sizeof row.plugin, "%s", final->session->params->spec->library);
    return mt_store_library(final->session->store, finalist->row.measurement, 0, &row, first ? first->text : NULL, best->text, err);
}

mt_status mt_final_keep_libraries(mt_final *final, mt_subject_summary *summary, mt_error *err)
{
    mt_status st = MT_OK;
    const char *plugin = final->session->params->spec->library;
    size_t best = final->rounds ? fastest(final) : MT_LIBRARIES_MAX;
    summary->is_limited = final->is_limited;
    if (!plugin || !final->can_retime) return MT_OK;
    if (best == MT_LIBRARIES_MAX) {
        snprintf(summary->library_why, sizeof summary->library_why, "%s: %.200s", plugin, final->library_why[0] ? final->library_why : "it was not timed");
        mt_log_warn("%s: not compared with baseline %s", mt_space_shape(final->space)->name, summary->library_why);
        return MT_OK;
    }
    const mt_library *first = final->libraries[0].is_out ? NULL : &final->libraries[0];
    for (size_t i = 0; i < final->count; i++) MT_TRY(keep_one(final, &final->finalists[i], first, &final->libraries[best], err));
done:
    return st;
}
