/* A group's portfolio chosen anew and stored, and the rule as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/predictor/table.h"

/* ---- JSON: numbers with all their digits, since the library must choose as it was tried here ---- */

/* The n-th "NAME=…" of a shape's key. */
static void name_of(const mt_predictor_table *table, size_t name, char *out, size_t size)
{
    const char *at = table->shape_keys[0];
    for (size_t i = 0; i < name && *at; i++) at += strcspn(at, ";") + 1;
    size_t length = strcspn(at, "=");
    snprintf(out, size, "%.*s", (int)length, at);
}

void mt_predictor_feature_name(const mt_predictor_table *table, size_t feature, char *out, size_t size)
{
    static const char *const parts[] = {".length", ".sum", ".mean", ".first", ".last"};
    const size_t *name = table->data.name;
    size_t first = feature;
    while (first > 0 && name[first - 1] == name[feature]) first--;
    bool is_list = first + 1 < table->data.feature_count && name[first + 1] == name[first];
    name_of(table, name[feature], out, size);
    size_t used = strlen(out);
    if (is_list) snprintf(out + used, size - used, "%s", parts[feature - first]);
}

static void add_weights(mt_strbuf *out, const mt_predictor_table *table, const mt_predictor *predictor)
{
    char name[128];
    mt_strbuf_add(out, "\"weights\":[");
    for (size_t i = 0; i < table->data.feature_count; i++) {
        size_t siblings = 1;
        if (i && table->data.name[i - 1] == table->data.name[i]) continue;
        while (i + siblings < table->data.feature_count && table->data.name[i + siblings] == table->data.name[i]) siblings++;
        name_of(table, table->data.name[i], name, sizeof name);
        mt_strbuf_addf(out, "%s{\"name\":", i ? "," : "");
        mt_strbuf_add_json(out, name);
        mt_strbuf_addf(out, ",\"weight\":%.17g}", predictor->features[i].weight * (double)siblings);
    }
    mt_strbuf_add(out, "]");
}

static void add_curve(mt_strbuf *out, const char *name, const mt_rule_curve *curve)
{
    mt_strbuf_addf(out, ",\"%s\":{\"reach\":%.17g,\"knots\":[", name, curve->reach);
    for (size_t i = 0; i < curve->count; i++) mt_strbuf_addf(out, "%s[%.17g,%.17g]", i ? "," : "", curve->distance[i], curve->value[i]);
    mt_strbuf_add(out, "]}");
}

/* Blocks or times, not costs: a launch has blocks, and costs are of a GPU. The variants' in one text a subject, since they are many. */
static void add_costs(mt_strbuf *out, const mt_predictor_table *table, const mt_predictor *predictor)
{
    size_t width = table->variant_count;
    mt_strbuf_addf(out, ",\"cost\":{\"weight\":%.17g,\"sm_count\":%lld", predictor->cost_weight, (long long)table->sm_count);
    if (table->time_digest) mt_strbuf_addf(out, ",\"model\":%u", (unsigned)table->time_digest);
    if (table->data.loss) mt_strbuf_add(out, ",\"decide\":true");
    mt_strbuf_add(out, ",\"variants\":[");
    for (size_t v = 0; v < table->column_count; v++) mt_strbuf_addf(out, "%s%lld", v ? "," : "", (long long)table->variants[v]);
    mt_strbuf_add(out, "],\"shapes\":[");
    for (size_t s = 0; s < table->subject_count; s++) { /* a lookup may ask for one workload */
        const double *work = table->work + table->subjects[s].shape * width;
        mt_strbuf_addf(out, "%s{\"subject\":%lld,\"%s\":\"", s ? "," : "", (long long)table->subjects[s].id, table->time_digest ? "times" : "blocks");
        for (size_t v = 0; v < table->column_count; v++) mt_strbuf_addf(out, "%s%.0f", v ? " " : "", v < width && work[v] > 0 ? work[v] : 0);
        mt_strbuf_add(out, "\"}");
    }
    mt_strbuf_add(out, "]}");
}

static char *rule_json(const mt_predictor_table *table, const mt_predictor *predictor)
{
    mt_strbuf out = {0};
    mt_strbuf_addf(&out, "{\"format\":%d,\"learned\":%s,", MT_RULE_FORMAT, predictor->is_learned ? "true" : "false");
    add_weights(&out, table, predictor);
    if (predictor->cost_weight > 0) add_costs(&out, table, predictor);
    add_curve(&out, "error", &predictor->error);
    add_curve(&out, "most", &predictor->most);
    mt_strbuf_add(&out, ",\"usable\":[");
    for (size_t v = 0, count = 0; v < table->variant_count; v++)
        if (predictor->is_usable[v]) mt_strbuf_addf(&out, "%s%lld", count++ ? "," : "", (long long)table->variants[v]);
    mt_strbuf_add(&out, "]}");
    return mt_strbuf_take(&out);
}

/* ---- storing ---- */

typedef struct parts {
    int64_t *subjects;
    mt_portfolio_member *variants;
    mt_portfolio_cell *cells;
} parts;

static size_t fill_parts(const mt_predictor_table *table, const mt_predictor *predictor, parts *p)
{
    size_t cells = 0;
    for (size_t s = 0; s < table->subject_count; s++) p->subjects[s] = table->subjects[s].id;
    for (size_t v = 0; v < table->column_count; v++) p->variants[v] = (mt_portfolio_member){table->variants[v], 0};
    for (size_t k = 0; k < predictor->member_count; k++) p->variants[predictor->members[k]].position = (int64_t)k + 1;
    for (size_t s = 0; s < table->subject_count; s++) {
        for (size_t v = 0; v < table->column_count; v++) {
            const mt_predictor_cell_row *cell = &table->cells[s * table->column_count + v];
            if (cell->measurement) p->cells[cells++] = (mt_portfolio_cell){table->subjects[s].id, table->variants[v], cell->measurement, isfinite(cell->slowdown) ? cell->slowdown : NAN};
        }
    }
    return cells;
}

static mt_status store(mt_store *to, const mt_predictor_table *table, const mt_predictor_options *options, bool is_asked, const mt_predictor *predictor, mt_error *err)
{
    mt_status st = MT_OK;
    char *json = rule_json(table, predictor);
    parts p = {mt_alloc(table->subject_count + 1, sizeof *p.subjects), mt_alloc(table->column_count + 1, sizeof *p.variants),
               mt_alloc(table->subject_count * table->column_count + 1, sizeof *p.cells)};
    if (!json || !p.subjects || !p.variants || !p.cells) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory"));
    const mt_predictor_score *score = &predictor->score;
    mt_portfolio portfolio = {
        .row = {.is_asked = is_asked, .is_exact = predictor->is_exact, .max_count = (int64_t)options->max, .unserved_count = (int64_t)predictor->unserved, .held_out_count = (int64_t)score->count,
                .within = options->within, .worst = exp2(predictor->worst), .held_out_mean = score->count ? exp2(score->mean) : NAN, .held_out_worst = score->count ? exp2(score->worst) : NAN,
                .rule_json = json},
        .subjects = p.subjects, .subject_count = table->subject_count, .variants = p.variants, .variant_count = table->column_count, .cells = p.cells};
    portfolio.cell_count = fill_parts(table, predictor, &p);
    st = mt_store_portfolio(to, &table->group, &portfolio, err);
done:
    MT_FREE_EACH(json, p.subjects, p.variants, p.cells);
    return st;
}

mt_status mt_predictor_refresh(mt_store *to, const mt_portfolio_group *group, const mt_predictor_options *asked, mt_error *err)
{
    mt_status st = MT_OK;
    mt_predictor_table table = {0};
    mt_predictor *predictor = mt_alloc(1, sizeof *predictor);
    mt_predictor_options options = asked ? *asked : (mt_predictor_options){MT_PREDICTOR_AUTO_MAX, MT_PREDICTOR_WITHIN};
    bool was_asked = asked != NULL;
    int64_t max;
    if (!predictor) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    if (!asked) {
        MT_TRY(mt_query_portfolio_limits(to, group, &was_asked, &max, &options.within, err));
        if (was_asked) options.max = (size_t)max;
    }
    mt_error why;
    st = mt_predictor_table_load(to, group, options.within, &table, &why);
    bool has_none = st == MT_OK ? table.shape_count == 0 : st == MT_ERR_UNSUPPORTED && !asked; /* shapes without values, as imports have: nothing to compare */
    if (st != MT_OK && !has_none) MT_LEAVE(MT_FAIL(err, st, "%s", why.message));
    if (has_none) MT_LEAVE(mt_store_portfolio(to, group, NULL, err));
    MT_TRY(mt_predictor_build(&table.data, NULL, &options, predictor, err));
    st = store(to, &table, &options, was_asked, predictor, err);
done:
    mt_predictor_table_free(&table);
    mt_free(predictor);
    return st;
}

typedef struct group_list {
    mt_portfolio_group *items;
    size_t count, capacity;
} group_list;

static mt_status add_group(void *context, const mt_portfolio_group_info *row, mt_error *err)
{
    group_list *list = context;
    mt_portfolio_group *added = MT_APPEND(list->items, list->count, list->capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "portfolio: out of memory");
    *added = row->group;
    return MT_OK;
}

mt_status mt_predictor_refresh_all(mt_store *to, mt_error *err)
{
    group_list list = {0};
    const mt_filter everything = {0};
    mt_status st = mt_query_groups(to, &everything, add_group, &list, err);
    for (size_t i = 0; i < list.count && st == MT_OK; i++) st = mt_predictor_refresh(to, &list.items[i], NULL, err);
    mt_free(list.items);
    return st;
}
