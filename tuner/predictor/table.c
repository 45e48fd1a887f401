#include "tuner/predictor/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"
#include "tuner/predictor/predictor_times.h"

/* One variant's newest time on one subject. */
typedef struct entry {
    size_t subject;
    mt_portfolio_time time;
} entry;

/* A variant and how well it did: what decides which variants get a column. */
typedef struct column_score {
    int64_t variant;
    size_t wins, served;
    bool is_winner;   /* the stored one of some shape */
    bool is_candidate; /* of the cost model's correction */
    double sum;       /* of log2 slowdowns where it served */
} column_score;

typedef struct loading {
    mt_predictor_table *table;
    entry *entries;
    size_t entry_count, entry_capacity, subject; /* subject: whose times are read */
    mt_store *store;
    mt_times_of *times; /* NULL = the kernel has no cost model */
} loading;

/* ---- subjects ---- */

static void free_subject(mt_predictor_subject *subject)
{
    MT_FREE_EACH(subject->workload, subject->workload_key, subject->default_variant);
}

static double default_slowdown(const mt_portfolio_subject *row)
{
    mt_outcome_kind kind;
    if (!row->default_outcome || !mt_outcome_from_name(row->default_outcome, &kind)) return NAN;
    if (mt_outcome_may_win(kind)) return row->default_ns > 0 ? fmax(1, row->default_ns / row->best_ns) : NAN; /* stopped as too slow: at least as slow as it was until then */
    return mt_outcome_is_timed(kind) ? NAN : INFINITY;
}

/* The index of the row's shape, made new where there is room; SIZE_MAX = no room. */
static size_t shape_index(mt_predictor_table *table, const mt_portfolio_subject *row, mt_status *st, mt_error *err)
{
    for (size_t i = 0; i < table->shape_count; i++) {
        if (table->shape_ids[i] == row->shape) return i;
    }
    if (table->shape_count == MT_RULE_SHAPES) return SIZE_MAX;
    size_t index = table->shape_count;
    table->shape_keys[index] = mt_strdup(row->shape_key);
    table->shape_names[index] = mt_strdup(row->shape_name);
    table->shape_ids[index] = row->shape;
    table->shape_count++;
    if (!table->shape_keys[index] || !table->shape_names[index]) *st = mt_no_memory("portfolio", err);
    return index;
}

/* Whether the row's shape can be compared with others of its kernel: of what it has, and of how many numbers that is. */
static bool is_shape_of_kernel(mt_predictor_table *table, const mt_portfolio_subject *row)
{
    double features[MT_RULE_FEATURES];
    size_t names[MT_RULE_FEATURES];
    if (mt_key_has_names(row->shape_key, row->names) && mt_rule_of_key(row->shape_key, row->kinds, features, names, NULL)) return true;
    if (table->misfits++ == 0) snprintf(table->misfit, sizeof table->misfit, "shape %.60s has other values than the kernel's expressions name (%.120s), or too many", row->shape_name, row->names);
    return false;
}

static mt_status on_subject(void *context, const mt_portfolio_subject *row, mt_error *err)
{
    mt_predictor_table *table = ((loading *)context)->table;
    mt_status st = MT_OK;
    if (!is_shape_of_kernel(table, row)) return MT_OK;
    size_t shape = shape_index(table, row, &st, err);
    if (st != MT_OK) return st;
    if (shape == SIZE_MAX) {
        table->left_out++;
        return MT_OK;
    }
    if (!table->kinds && !(table->kinds = mt_strdup(row->kinds))) return mt_no_memory("portfolio", err);
    mt_predictor_subject *subject = MT_APPEND(table->subjects, table->subject_count, table->subject_capacity);
    if (!subject) return mt_no_memory("portfolio", err);
    *subject = (mt_predictor_subject){.id = row->id, .shape = shape, .workload = mt_strdup(row->workload_name), .workload_key = mt_strdup(row->workload_key),
                                   .default_variant = row->default_variant ? mt_strdup(row->default_variant) : NULL, .best_ns = row->best_ns, .default_slowdown = default_slowdown(row)};
    return subject->workload && subject->workload_key && (subject->default_variant || !row->default_variant) ? MT_OK : mt_no_memory("portfolio", err);
}

/* ---- times ---- */

static mt_status on_time(void *context, const mt_portfolio_time *row, mt_error *err)
{
    loading *l = context;
    entry *added = MT_APPEND(l->entries, l->entry_count, l->entry_capacity);
    if (!added) return mt_no_memory("portfolio", err);
    *added = (entry){l->subject, *row};
    return MT_OK;
}

static int by_variant(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->time.variant != y->time.variant) return x->time.variant < y->time.variant ? -1 : 1;
    return (x->subject > y->subject) - (x->subject < y->subject);
}

static double slowdown_of(const mt_predictor_table *table, const entry *e)
{
    if (!mt_outcome_may_win(e->time.kind)) return INFINITY;
    return e->time.median_ns > 0 ? fmax(1, e->time.median_ns / table->subjects[e->subject].best_ns) : NAN;
}

static void count_entry(const mt_predictor_table *table, const entry *e, double within, column_score *s)
{
    double slowdown = slowdown_of(table, e);
    if (e->time.kind != MT_OUTCOME_OK || !(slowdown <= within)) return;
    s->served++;
    s->wins += slowdown == 1; /* of a final's near-ties too */
    s->is_winner = s->is_winner || e->time.median_ns == table->subjects[e->subject].best_ns;
    s->sum += log2(slowdown);
}

/* Winners first, then who serves many shapes, then who serves them well; ids make it definite. */
static int by_column_score(const void *a, const void *b)
{
    const column_score *x = a, *y = b;
    if (x->is_candidate != y->is_candidate) return x->is_candidate ? -1 : 1;
    if (!x->wins != !y->wins) return x->wins ? -1 : 1;
    if (x->served != y->served) return x->served > y->served ? -1 : 1;
    double mean_x = x->served ? x->sum / (double)x->served : 0, mean_y = y->served ? y->sum / (double)y->served : 0;
    if (mean_x != mean_y) return mean_x < mean_y ? -1 : 1;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

/* In the order of their scores, but such that all winners have room: near-ties of one shape must not take the place of another's winner. */
static void take_columns(mt_predictor_table *table, const column_score *column_scores, size_t count)
{
    size_t winners = 0;
    for (size_t i = 0; i < count; i++) winners += column_scores[i].is_winner;
    for (size_t i = 0; i < count && table->variant_count < MT_RULE_VARIANTS && (column_scores[i].served || column_scores[i].is_candidate); i++) {
        size_t room = MT_RULE_VARIANTS - table->variant_count;
        if (!column_scores[i].is_winner && !column_scores[i].is_candidate && room <= winners) continue;
        winners -= column_scores[i].is_winner;
        table->variants[table->variant_count++] = column_scores[i].variant;
    }
}

static mt_status find_candidates(const loading *l, column_score *scores, size_t count, mt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char *text;
        mt_status st = mt_query_variant_text(l->store, scores[i].variant, &text, err);
        if (st != MT_OK) return st;
        scores[i].is_candidate = mt_predictor_times_is_candidate(l->times, text);
        mt_free(text);
    }
    return MT_OK;
}

static mt_status choose_columns(loading *l, double within, mt_error *err)
{
    mt_status st = MT_OK;
    mt_predictor_table *table = l->table;
    column_score *column_scores = mt_alloc(l->entry_count + 1, sizeof *column_scores);
    size_t count = 0;
    if (!column_scores) return mt_no_memory("portfolio", err);
    for (size_t i = 0; i < l->entry_count; i++) {
        if (i == 0 || l->entries[i].time.variant != l->entries[i - 1].time.variant) column_scores[count++].variant = l->entries[i].time.variant;
        count_entry(table, &l->entries[i], within, &column_scores[count - 1]);
    }
    if (table->data.loss) MT_TRY(find_candidates(l, column_scores, count, err));
    if (count) qsort(column_scores, count, sizeof *column_scores, by_column_score);
    take_columns(table, column_scores, count);
done:
    mt_free(column_scores);
    return st;
}

static size_t column_of(const mt_predictor_table *table, int64_t variant)
{
    size_t at = 0;
    while (at < table->column_count && table->variants[at] != variant) at++;
    return at;
}

/* ---- fronts of time and error ---- */

typedef struct front_score { int64_t variant; size_t count; } front_score; /* on how many subjects' fronts it is */

/* By subject, the fastest first. */
static int by_time(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->subject != y->subject) return x->subject < y->subject ? -1 : 1;
    if (x->time.median_ns != y->time.median_ns) return x->time.median_ns < y->time.median_ns ? -1 : 1;
    if (x->time.norm_error != y->time.norm_error) return x->time.norm_error < y->time.norm_error ? -1 : 1;
    return (x->time.variant > y->time.variant) - (x->time.variant < y->time.variant);
}

static int by_count(const void *a, const void *b)
{
    const front_score *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

/* Those that are OK and whose error is known, in `list`, as by_time wants them; returns how many are on their subject's front, and puts those in front. */
static size_t keep_fronts(entry *list, size_t count)
{
    size_t kept = 0;
    double least = INFINITY;
    if (count) qsort(list, count, sizeof *list, by_time);
    for (size_t i = 0, subject = SIZE_MAX; i < count; i++) {
        if (list[i].subject != subject) least = INFINITY;
        subject = list[i].subject;
        if (!(list[i].time.norm_error < least)) continue;
        least = list[i].time.norm_error;
        list[kept++] = list[i];
    }
    if (kept) qsort(list, kept, sizeof *list, by_variant);
    return kept;
}

/* What is on a front gets a column behind those that may be chosen, as far as there is room; what is on many fronts comes first. */
static mt_status add_fronts(const loading *l, mt_error *err)
{
    mt_predictor_table *table = l->table;
    entry *list = mt_alloc(l->entry_count + 1, sizeof *list);
    front_score *scores = mt_alloc(l->entry_count + 1, sizeof *scores);
    size_t count = 0, score_count = 0;
    table->column_count = table->variant_count;
    for (size_t i = 0; list && i < l->entry_count; i++)
        if (l->entries[i].time.kind == MT_OUTCOME_OK && l->entries[i].time.median_ns > 0 && !isnan(l->entries[i].time.norm_error)) list[count++] = l->entries[i];
    if (list && scores) count = keep_fronts(list, count);
    for (size_t i = 0; list && scores && i < count; i++) {
        if (i == 0 || list[i].time.variant != list[i - 1].time.variant) scores[score_count++].variant = list[i].time.variant;
        scores[score_count - 1].count++;
    }
    if (score_count) qsort(scores, score_count, sizeof *scores, by_count);
    for (size_t i = 0; i < score_count && table->column_count < MT_RULE_VARIANTS; i++)
        if (column_of(table, scores[i].variant) == table->column_count) table->variants[table->column_count++] = scores[i].variant;
    mt_status st = list && scores ? MT_OK : mt_no_memory("portfolio", err);
    MT_FREE_EACH(list, scores);
    return st;
}

static void fill_cells(loading *l)
{
    mt_predictor_table *table = l->table;
    for (size_t i = 0; i < table->subject_count * table->column_count; i++) table->cells[i].slowdown = NAN;
    for (size_t i = 0, column = 0; i < l->entry_count; i++) {
        const entry *e = &l->entries[i];
        if (i == 0 || e->time.variant != l->entries[i - 1].time.variant) column = column_of(table, e->time.variant);
        if (column < table->column_count) table->cells[e->subject * table->column_count + column] = (mt_predictor_cell_row){e->time.measurement, slowdown_of(table, e)};
    }
}

/* ---- data ---- */

/* As the library computes it, bit by bit. */
static double log2_of(double factor)
{
    return isfinite(factor) ? mt_rule_log2_real(factor) : factor;
}

static void fill_data(mt_predictor_table *table, double *slowdown, double *of_default)
{
    size_t width = table->variant_count;
    for (size_t i = 0; i < table->shape_count * width; i++) slowdown[i] = 1;
    for (size_t i = 0; i < table->shape_count; i++) of_default[i] = 1;
    for (size_t s = 0; s < table->subject_count; s++) {
        const mt_predictor_subject *subject = &table->subjects[s];
        of_default[subject->shape] = mt_rule_worse(of_default[subject->shape], subject->default_slowdown);
        for (size_t v = 0; v < width; v++) slowdown[subject->shape * width + v] = mt_rule_worse(slowdown[subject->shape * width + v], table->cells[s * table->column_count + v].slowdown);
    }
    for (size_t i = 0; i < table->shape_count * width; i++) slowdown[i] = log2_of(slowdown[i]);
    for (size_t i = 0; i < table->shape_count; i++) of_default[i] = log2_of(of_default[i]);
}

/* Blocks of every cell that has a time. */
static mt_status find_blocks(mt_store *store, mt_predictor_table *table, mt_error *err)
{
    size_t width = table->variant_count;
    for (size_t i = 0; i < table->subject_count * width; i++) {
        double blocks;
        const mt_predictor_cell_row *cell = &table->cells[i / width * table->column_count + i % width];
        if (!isfinite(cell->slowdown)) continue;
        mt_status st = mt_query_blocks(store, cell->measurement, &blocks, err);
        if (st != MT_OK) return st;
        if (blocks > 0) table->work[table->subjects[i / width].shape * width + i % width] = blocks;
    }
    return MT_OK;
}

/* Times by the cost model, of every cell, since the lookup knows them of every variant too. */
static mt_status find_times(mt_store *store, mt_predictor_table *table, mt_times_of *times, mt_error *err)
{
    mt_status st = MT_OK;
    const struct mt_lookup_variant *variants[MT_RULE_VARIANTS];
    size_t width = table->variant_count;
    for (size_t v = 0; v < width; v++) {
        char *text;
        MT_TRY(mt_query_variant_text(store, table->variants[v], &text, err));
        variants[v] = mt_predictor_times_variant(times, text);
        mt_free(text);
        if (!variants[v]) return mt_no_memory("portfolio", err);
    }
    for (size_t i = 0; i < table->shape_count; i++) {
        if (!mt_predictor_times_set_shape(times, table->shape_keys[i])) continue;
        for (size_t v = 0; v < width; v++) {
            int64_t ns = mt_predictor_times_at(times, variants[v]);
            if (ns > 0) table->work[i * width + v] = (double)ns;
        }
    }
    table->time_digest = mt_predictor_times_digest(times);
done:
    return st;
}

static mt_status find_costs(mt_store *store, mt_predictor_table *table, mt_times_of *times, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = table->shape_count * table->variant_count;
    double *costs = mt_alloc(count + 1, sizeof *costs);
    table->work = mt_alloc(count + 1, sizeof *table->work);
    table->data.cost = costs; /* mt_predictor_table_free frees it */
    if (!costs || !table->work) return mt_no_memory("portfolio", err);
    for (size_t i = 0; i < count; i++) costs[i] = table->work[i] = NAN;
    if (table->sm_count <= 0) goto done;
    MT_TRY(times ? find_times(store, table, times, err) : find_blocks(store, table, err));
    for (size_t i = 0; i < count; i++)
        if (!isnan(table->work[i])) costs[i] = mt_rule_cost(table->work[i], table->time_digest != 0, (double)table->sm_count);
done:
    return st;
}

static mt_status make_data(mt_predictor_table *table, mt_error *err)
{
    double *slowdown = mt_alloc(table->shape_count * table->variant_count + 1, sizeof *slowdown), *of_default = mt_alloc(table->shape_count + 1, sizeof *of_default);
    double *shapes = mt_alloc(table->shape_count * MT_RULE_FEATURES + 1, sizeof *shapes);
    bool *texts = mt_alloc(MT_RULE_FEATURES, sizeof *texts);
    size_t *names = mt_alloc(MT_RULE_FEATURES, sizeof *names), width = 0;
    mt_predictor_data *data = &table->data; /* mt_predictor_table_free frees them */
    data->shapes = shapes;
    data->is_text = texts;
    data->name = names;
    data->slowdown = slowdown;
    data->default_slowdown = of_default;
    if (!slowdown || !of_default || !shapes || !texts || !names) return mt_no_memory("portfolio", err);
    for (size_t i = 0; i < table->shape_count; i++) {
        double row[MT_RULE_FEATURES];
        width = mt_rule_of_key(table->shape_keys[i], table->kinds, row, names, texts);
        memcpy(shapes + i * width, row, width * sizeof *row);
    }
    fill_data(table, slowdown, of_default);
    table->data.shape_count = table->shape_count;
    table->data.variant_count = table->variant_count;
    table->data.feature_count = width;
    return MT_OK;
}

static mt_status load_model(loading *l, mt_error *err)
{
    mt_predictor_table *table = l->table;
    mt_status st = mt_query_sm_count(l->store, table->group.device, &table->sm_count, err);
    if (st == MT_OK && table->sm_count > 0) st = mt_predictor_times_load(l->store, &table->group, &l->times, err);
    if (st != MT_OK || !l->times || !mt_predictor_times_loss(l->times, &table->loss)) return st;
    table->data.loss = &table->loss;
    return MT_OK;
}

mt_status mt_predictor_table_load(mt_store *store, const mt_portfolio_group *group, double within, mt_predictor_table *table, mt_error *err)
{
    mt_status st = MT_OK;
    loading l = {.table = table, .store = store};
    *table = (mt_predictor_table){.group = *group};
    MT_TRY(mt_query_portfolio_subjects(store, group, on_subject, &l, err));
    if (table->misfits && !table->shape_count) MT_LEAVE(MT_FAIL(err, MT_ERR_UNSUPPORTED, "portfolio: %s", table->misfit));
    if (table->misfits) mt_log_warn("portfolio: %zu tuned shape%s left out: %s", table->misfits, table->misfits == 1 ? " is" : "s are", table->misfit);
    for (l.subject = 0; l.subject < table->subject_count; l.subject++) MT_TRY(mt_query_portfolio_times(store, group, table->subjects[l.subject].id, on_time, &l, err));
    if (l.entry_count) qsort(l.entries, l.entry_count, sizeof *l.entries, by_variant);
    MT_TRY(load_model(&l, err));
    MT_TRY(choose_columns(&l, within, err));
    MT_TRY(add_fronts(&l, err));
    table->cells = mt_alloc(table->subject_count * table->column_count + 1, sizeof *table->cells);
    if (!table->cells) MT_LEAVE(mt_no_memory("portfolio", err));
    fill_cells(&l);
    MT_TRY(make_data(table, err));
    MT_TRY(find_costs(store, table, l.times, err));
done:
    mt_free(l.entries);
    mt_predictor_times_free(l.times);
    if (st != MT_OK) mt_predictor_table_free(table);
    return st;
}

void mt_predictor_table_free(mt_predictor_table *table)
{
    for (size_t i = 0; i < table->subject_count; i++) free_subject(&table->subjects[i]);
    for (size_t i = 0; i < table->shape_count; i++) {
        mt_free(table->shape_keys[i]);
        mt_free(table->shape_names[i]);
    }
    MT_FREE_EACH(table->subjects, table->cells, table->work, table->kinds);
    const void *const of_data[] = {table->data.shapes, table->data.is_text, table->data.name, table->data.slowdown, table->data.default_slowdown, table->data.cost};
    for (size_t i = 0; i < sizeof of_data / sizeof *of_data; i++) mt_free((void *)(uintptr_t)of_data[i]);
    *table = (mt_predictor_table){0};
}

/* ---- families ---- */

/* Adds "NAME=value;" of the shape's key. */
static bool add_value(const char *key, const char *name, size_t length, mt_strbuf *out)
{
    for (const char *at = key; *at; at += strcspn(at, ";"), at += *at == ';') {
        if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
        mt_strbuf_addf(out, "%.*s;", (int)strcspn(at, ";"), at);
        return true;
    }
    return false;
}

static mt_status family_of(const char *key, const char *names, mt_strbuf *out, mt_error *err)
{
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (!add_value(key, at, length, out)) return MT_FAIL(err, MT_ERR_NOT_FOUND, "portfolio: shapes have no value '%.*s'; there are those of %s", (int)length, at, key);
    }
    return MT_OK;
}

mt_status mt_predictor_families(const mt_predictor_table *table, const char *names, size_t family[MT_RULE_SHAPES], mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf texts[MT_RULE_SHAPES] = {0};
    for (size_t i = 0; i < table->shape_count && st == MT_OK; i++) {
        st = family_of(table->shape_keys[i], names, &texts[i], err);
        family[i] = 0;
        while (strcmp(mt_strbuf_text(&texts[family[i]]), mt_strbuf_text(&texts[i])) != 0) family[i]++;
    }
    for (size_t i = 0; i < table->shape_count; i++) mt_strbuf_free(&texts[i]);
    return st;
}
