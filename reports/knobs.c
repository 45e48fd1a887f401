#include "reports/knobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/neighbour.h"
#include "tuner/base/alloc.h"
#include "tuner/base/stats.h"
#include "tuner/base/text.h"

static const char inactive[] = "–";
enum { NOT_SET = UINT16_MAX, MOST_LEVELS = UINT16_MAX - 1 };

/* ---- names and values ---- */

static bool is_same(const char *text, const char *part, size_t length) { return strncmp(text, part, length) == 0 && !text[length]; }

static mt_knob *get_knob(mt_report_subject *s, const char *name, size_t length, size_t *capacity)
{
    for (size_t i = 0; i < s->knob_count; i++)
        if (is_same(s->knobs[i].name, name, length)) return &s->knobs[i];
    mt_knob *knobs = mt_grow(s->knobs, s->knob_count, capacity, sizeof *knobs);
    if (!knobs) return NULL;
    s->knobs = knobs;
    knobs[s->knob_count] = (mt_knob){.name = mt_strndup(name, length)};
    return knobs[s->knob_count].name ? &knobs[s->knob_count++] : NULL;
}

static size_t level_of(const mt_knob *knob, const char *value, size_t length)
{
    for (size_t i = 0; i < knob->count; i++)
        if (is_same(knob->values[i], value, length)) return i;
    return NOT_SET;
}

static bool add_value(mt_knob *knob, const char *value, size_t length)
{
    if (level_of(knob, value, length) != NOT_SET || knob->count == MOST_LEVELS) return true;
    char **values = mt_realloc(knob->values, knob->count + 1, sizeof *values);
    if (values) knob->values = values;
    if (!values || !(values[knob->count] = mt_strndup(value, length))) return false;
    knob->count++;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    double p, q;
    bool is_x = mt_text_double(x, &p), is_y = mt_text_double(y, &q);
    if (is_x && is_y) return (p > q) - (p < q);
    return is_x != is_y ? (is_x ? -1 : 1) : strcmp(x, y);
}

static bool collect(mt_report_subject *s)
{
    size_t capacity = 0;
    const char *text;
    mt_knob_text pair;
    for (size_t i = 0; i < s->count; i++)
        for (text = s->rows[i].variant; mt_knob_text_next(&text, &pair);) {
            mt_knob *knob = get_knob(s, pair.name, pair.name_length, &capacity);
            if (!knob || !add_value(knob, pair.value, pair.value_length)) return false;
        }
    for (size_t k = 0; k < s->knob_count; k++) qsort(s->knobs[k].values, s->knobs[k].count, sizeof(char *), by_value);
    return true;
}

static bool fill_levels(mt_report_subject *s, mt_row *row)
{
    const char *text = row->variant;
    mt_knob_text pair;
    if (!(row->levels = mt_alloc(s->knob_count, sizeof *row->levels))) return false;
    for (size_t k = 0; k < s->knob_count; k++) row->levels[k] = NOT_SET;
    while (mt_knob_text_next(&text, &pair))
        for (size_t k = 0; k < s->knob_count; k++)
            if (is_same(s->knobs[k].name, pair.name, pair.name_length)) row->levels[k] = (uint16_t)level_of(&s->knobs[k], pair.value, pair.value_length);
    return true;
}

/* Where a knob is not active in a row, that is a value of its own. */
static bool add_inactive(mt_report_subject *s, size_t k)
{
    bool is_needed = false;
    for (size_t i = 0; i < s->count; i++) is_needed = is_needed || s->rows[i].levels[k] == NOT_SET;
    if (!is_needed) return true;
    if (!add_value(&s->knobs[k], inactive, strlen(inactive))) return false;
    uint16_t level = (uint16_t)level_of(&s->knobs[k], inactive, strlen(inactive));
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].levels[k] == NOT_SET) s->rows[i].levels[k] = level;
    return true;
}

bool mt_knobs_find(mt_report_subject *s)
{
    if (!collect(s)) return false;
    for (size_t i = 0; i < s->count; i++)
        if (!fill_levels(s, &s->rows[i])) return false;
    for (size_t k = 0; k < s->knob_count; k++)
        if (!add_inactive(s, k)) return false;
    return true;
}

void mt_knobs_free(mt_report_subject *s)
{
    for (size_t k = 0; k < s->knob_count; k++) {
        for (size_t v = 0; v < s->knobs[k].count; v++) mt_free(s->knobs[k].values[v]);
        mt_free(s->knobs[k].values);
        mt_free(s->knobs[k].name);
    }
    mt_free(s->knobs);
}

/* ---- effects ---- */

double mt_knobs_fastest(const mt_report_subject *s)
{
    double fastest = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].is_newest && s->rows[i].kind == MT_OUTCOME_OK && s->rows[i].is_timed) fastest = fmin(fastest, s->rows[i].median_ns);
    return isfinite(fastest) ? fastest : NAN;
}

static bool counts(const mt_row *row) { return row->is_newest && row->is_timed; }

/* Slowdowns of the rows with one value, sorted; returns how many. */
static size_t slowdowns_of(const mt_report_subject *s, size_t knob, size_t level, double fastest, double *out)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (counts(&s->rows[i]) && s->rows[i].levels[knob] == level) out[count++] = s->rows[i].median_ns / fastest;
    mt_stats_sort(out, count);
    return count;
}

static mt_level_effect level_effect(const mt_report_subject *s, size_t knob, size_t level, double fastest, double *scratch)
{
    mt_level_effect e = {.best = NAN, .low = NAN, .median = NAN, .high = NAN, .worst = NAN};
    for (size_t i = 0; i < s->count; i++) {
        if (!s->rows[i].is_newest || s->rows[i].levels[knob] != level || !mt_outcome_is_run(s->rows[i].kind)) continue;
        e.count++;
        e.failed += mt_outcome_is_failure(s->rows[i].kind);
    }
    e.timed = slowdowns_of(s, knob, level, fastest, scratch);
    if (!e.timed) return e;
    e.best = scratch[0];
    e.low = mt_stats_quantile(scratch, e.timed, 0.25);
    e.median = mt_stats_median(scratch, e.timed);
    e.high = mt_stats_quantile(scratch, e.timed, 0.75);
    e.worst = scratch[e.timed - 1];
    return e;
}

/* The level of the winner's algorithm, of the knob that is called so; NOT_SET without such a knob or a winner. */
static uint16_t algorithm_of(const mt_report_subject *s, const mt_row *best, size_t *knob)
{
    for (*knob = 0; best && *knob < s->knob_count; ++*knob)
        if (strcmp(s->knobs[*knob].name, "ALGO") == 0) return best->levels[*knob];
    return NOT_SET;
}

/* Marks the rows that tell what knobs are worth: those of the winner's algorithm that have a time. Knobs of others say nothing about it. */
static void mark_telling(const mt_report_subject *s, const mt_row *best, bool *tells)
{
    size_t knob;
    uint16_t algorithm = algorithm_of(s, best, &knob);
    for (size_t i = 0; i < s->count; i++) tells[i] = counts(&s->rows[i]) && (algorithm == NOT_SET || s->rows[i].levels[knob] == algorithm);
}

static bool is_active(const mt_report_subject *s, const mt_row *row, size_t knob) { return strcmp(s->knobs[knob].values[row->levels[knob]], inactive) != 0; }

/* Variance of the values' means of log time, over the variance of log time. */
static double overall_effect(const mt_report_subject *s, const bool *tells, size_t knob, size_t *values)
{
    double sum = 0, squares = 0, between = 0;
    size_t count = 0, levels = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!tells[i] || !is_active(s, &s->rows[i], knob)) continue;
        double x = log(s->rows[i].median_ns);
        sum += x;
        squares += x * x;
        count++;
    }
    double variance = count ? squares / (double)count - sum / (double)count * (sum / (double)count) : 0;
    for (size_t level = 0; level < s->knobs[knob].count; level++) {
        double level_sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < s->count; i++)
            if (s->rows[i].levels[knob] == level && tells[i] && is_active(s, &s->rows[i], knob)) level_sum += log(s->rows[i].median_ns), n++;
        if (n) between += (double)n * pow(level_sum / (double)n - sum / (double)count, 2);
        levels += n > 0;
    }
    *values = levels;
    return levels > 1 && variance > 1e-12 ? fmin(1, between / (double)count / variance) : NAN;
}

/* Pearson divergence of the values' frequencies among rows up to `limit` from those of all rows. */
static double divergence(const mt_report_subject *s, const bool *tells, size_t knob, double limit_ns)
{
    double sum = 0;
    size_t all = 0, top = 0;
    for (size_t i = 0; i < s->count; i++)
        if (tells[i] && is_active(s, &s->rows[i], knob)) all++, top += s->rows[i].median_ns <= limit_ns;
    if (!top || top == all) return 0;
    for (size_t level = 0; level < s->knobs[knob].count; level++) {
        size_t in_all = 0, in_top = 0;
        for (size_t i = 0; i < s->count; i++)
            if (s->rows[i].levels[knob] == level && tells[i] && is_active(s, &s->rows[i], knob)) in_all++, in_top += s->rows[i].median_ns <= limit_ns;
        if (!in_all) continue;
        double p = (double)in_all / (double)all, q = (double)in_top / (double)top;
        sum += p * (q / p - 1) * (q / p - 1);
    }
    return sum;
}

static void rate_knobs(const mt_report_subject *s, const mt_row *best, const bool *tells, double *scratch, mt_knob_effect *effects)
{
    double sum = 0;
    size_t timed = 0;
    for (size_t i = 0; i < s->count; i++)
        if (tells[i]) scratch[timed++] = s->rows[i].median_ns;
    mt_stats_sort(scratch, timed);
    double limit_ns = timed ? mt_stats_quantile(scratch, timed, 0.1) * (1 + 1e-12) : 0;
    for (size_t k = 0; k < s->knob_count; k++) {
        bool is_rated = !best || is_active(s, best, k);
        effects[k].overall = is_rated ? overall_effect(s, tells, k, &effects[k].values) : NAN;
        effects[k].near_best = isnan(effects[k].overall) ? NAN : divergence(s, tells, k, limit_ns);
        if (!isnan(effects[k].near_best)) sum += effects[k].near_best;
    }
    for (size_t k = 0; k < s->knob_count; k++) effects[k].near_best = sum > 0 ? effects[k].near_best / sum : NAN;
}

void mt_knobs_rank(const mt_report_subject *s, const mt_knob_effect *effects, size_t *order)
{
    for (size_t k = 0; k < s->knob_count; k++) {
        size_t at = k;
        double weight = isnan(effects[k].overall) ? -1 : effects[k].overall;
        for (; at && (isnan(effects[order[at - 1]].overall) ? -1 : effects[order[at - 1]].overall) < weight; at--) order[at] = order[at - 1];
        order[at] = k;
    }
}

mt_knob_effect *mt_knobs_effects(const mt_report_subject *s)
{
    double fastest = mt_knobs_fastest(s), *scratch = mt_alloc(s->count, sizeof *scratch);
    mt_knob_effect *effects = mt_alloc(s->knob_count, sizeof *effects);
    bool *tells = mt_alloc(s->count, sizeof *tells), is_ok = scratch && effects && tells;
    const mt_row *best = s->best ? mt_report_newest(s, s->best) : NULL;
    for (size_t k = 0; is_ok && k < s->knob_count; k++) {
        effects[k].levels = mt_alloc(s->knobs[k].count, sizeof *effects[k].levels);
        is_ok = effects[k].levels != NULL;
        for (size_t level = 0; is_ok && level < s->knobs[k].count; level++) effects[k].levels[level] = level_effect(s, k, level, fastest, scratch);
    }
    if (is_ok) mark_telling(s, best, tells);
    if (is_ok) rate_knobs(s, best, tells, scratch, effects);
    mt_free(tells);
    mt_free(scratch);
    if (is_ok) return effects;
    mt_knobs_effects_free(s, effects);
    return NULL;
}

void mt_knobs_effects_free(const mt_report_subject *s, mt_knob_effect *effects)
{
    for (size_t k = 0; effects && k < s->knob_count; k++) mt_free(effects[k].levels);
    mt_free(effects);
}

/* ---- neighbours of the best ---- */

static bool is_better_of(const mt_row *a, const mt_row *b) { return a->is_timed && !(b->is_timed && b->median_ns <= a->median_ns); }

mt_neighbour *mt_knobs_neighbours(const mt_report_subject *s, size_t *count)
{
    size_t most = 1;
    for (size_t k = 0; k < s->knob_count; k++) most += s->knobs[k].count;
    mt_neighbour *all = mt_alloc(most, sizeof *all);
    mt_knob_text from, to;
    *count = 0;
    for (size_t i = 0; all && s->best && i < s->count; i++) {
        const mt_row *row = &s->rows[i];
        size_t knob = 0, at = 0;
        if (!row->is_newest || !(row->is_timed || mt_outcome_is_failure(row->kind)) || !mt_is_neighbour(s->best, row->variant, &from, &to)) continue;
        while (!is_same(s->knobs[knob].name, to.name, to.name_length)) knob++;
        while (at < *count && !(all[at].knob == knob && all[at].row->levels[knob] == row->levels[knob])) at++;
        if (at == *count) all[(*count)++] = (mt_neighbour){knob, row};
        else if (is_better_of(row, all[at].row)) all[at].row = row;
    }
    return all;
}

void mt_knobs_pair(const mt_report_subject *s, size_t a, size_t b, double *cells)
{
    size_t width = s->knobs[b].count;
    for (size_t i = 0; i < s->knobs[a].count * width; i++) cells[i] = INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        const mt_row *row = &s->rows[i];
        if (!counts(row)) continue;
        double *cell = &cells[row->levels[a] * width + row->levels[b]];
        *cell = fmin(*cell, row->median_ns);
    }
}
