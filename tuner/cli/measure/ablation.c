#include "tuner/cli/measure/ablation.h"

#include <stdlib.h>
#include <string.h>

#include "db/store/neighbour.h"
#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/measure/rerun.h"

/* ---- collecting ---- */

typedef struct neighbour {
    char *change, *variant;
    double median_ns, error;
    int64_t spill_bytes;
    bool is_stopped; /* slower than this, by racing */
} neighbour;

typedef struct base {
    char *gpu_key, *gpu_name, *kernel, *kernel_key, *shape, *shape_key, *workload, *workload_key, *variant;
    mt_origin origin;
    mt_l2 l2;
    double median_ns, error;
    neighbour *neighbours;
    size_t count, capacity;
} base;

typedef struct base_list {
    base *items;
    size_t count, capacity;
} base_list;

static mt_status add_base(void *context, const mt_measurement_row *row, mt_error *err)
{
    base_list *list = context;
    base *added = MT_APPEND(list->items, list->count, list->capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory");
    *added = (base){
        .gpu_key = mt_strdup(row->gpu_key), .gpu_name = mt_strdup(row->gpu_name), .kernel = mt_strdup(row->kernel), .kernel_key = mt_strdup(row->kernel_key),
        .shape = mt_strdup(row->shape), .shape_key = mt_strdup(row->shape_key), .workload = mt_strdup(row->workload), .workload_key = mt_strdup(row->workload_key),
        .variant = mt_strdup(row->variant), .origin = row->origin, .l2 = row->outcome.timing.l2, .median_ns = row->outcome.timing.median_ns,
        .error = row->outcome.accuracy.norm_error};
    return MT_OK;
}

typedef struct named_bases {
    base_list *list;
    const char *variant;
} named_bases;

static bool is_same_subject(const base *b, const mt_measurement_row *row)
{
    return strcmp(b->gpu_key, row->gpu_key) == 0 && strcmp(b->kernel, row->kernel) == 0 && strcmp(b->kernel_key, row->kernel_key) == 0 &&
           strcmp(b->shape_key, row->shape_key) == 0 && strcmp(b->workload_key, row->workload_key) == 0 && b->origin == row->origin &&
           b->l2 == row->outcome.timing.l2;
}

/* The named variant, where it was good, in its newest measurement. */
static mt_status add_named_base(void *context, const mt_measurement_row *row, mt_error *err)
{
    const named_bases *named = context;
    if (row->outcome.kind != MT_OUTCOME_OK || !mt_rerun_same_variant(named->variant, row->variant)) return MT_OK;
    for (size_t i = 0; i < named->list->count; i++) {
        if (!is_same_subject(&named->list->items[i], row)) continue;
        named->list->items[i].median_ns = row->outcome.timing.median_ns;
        return MT_OK;
    }
    return add_base(named->list, row, err);
}

/* Rows come in the order they were stored: a later one of the same variant replaces the earlier. */
static mt_status add_neighbour(void *context, const mt_measurement_row *row, mt_error *err)
{
    base *b = context;
    mt_knob_text from, to;
    mt_strbuf change = {0};
    mt_status st = MT_OK;
    bool is_stopped = row->outcome.kind == MT_OUTCOME_CENSORED;
    if (row->outcome.kind != MT_OUTCOME_OK && !is_stopped) return MT_OK;
    if (!mt_is_neighbour(b->variant, row->variant, &from, &to)) return MT_OK;
    mt_strbuf_addf(&change, "%.*s: %.*s → %.*s", (int)from.name_length, from.name, (int)from.value_length, from.value, (int)to.value_length, to.value);
    size_t i = 0;
    while (i < b->count && strcmp(b->neighbours[i].variant, row->variant) != 0) i++;
    if (i == b->count) {
        neighbour *added = MT_APPEND(b->neighbours, b->count, b->capacity);
        if (!added) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory"));
        *added = (neighbour){.change = mt_strdup(mt_strbuf_text(&change)), .variant = mt_strdup(row->variant)};
    }
    neighbour *n = &b->neighbours[i];
    n->median_ns = row->outcome.timing.median_ns;
    n->error = row->outcome.accuracy.norm_error;
    n->spill_bytes = row->outcome.resources.spill_bytes;
    n->is_stopped = is_stopped;
done:
    mt_strbuf_free(&change);
    return st;
}

static int by_time(const void *a, const void *b)
{
    const neighbour *x = a, *y = b;
    return (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
}

/* Where another value brings other knobs with it (ALGO, SCHEDULE), many rows are neighbours by the same change: the fastest of them speaks for it. Sorted by time. */
static void keep_fastest(base *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        size_t j = 0;
        while (j < kept && strcmp(b->neighbours[j].change, b->neighbours[i].change) != 0) j++;
        if (j == kept) {
            b->neighbours[kept++] = b->neighbours[i];
            continue;
        }
        mt_free(b->neighbours[i].change);
        mt_free(b->neighbours[i].variant);
    }
    b->count = kept;
}

/* ---- printing ---- */

static void print_base(const base *b, mt_sources *sources, bool is_first)
{
    char time[MT_PRINT_TIME_SIZE];
    mt_table table = {.columns = 5, .right = "lrrrr"};
    mt_strbuf text = {0};
    mt_print_clean(&text, b->kernel, 0);
    mt_strbuf_add(&text, " on ");
    mt_print_clean(&text, b->gpu_name, 0);
    mt_strbuf_addf(&text, ", source %.8s%s, ", b->kernel_key, mt_sources_mark(sources, b->kernel, b->kernel_key));
    mt_print_clean(&text, b->shape, 0);
    mt_strbuf_add(&text, " · ");
    mt_print_clean(&text, b->workload, 0);
    mt_strbuf_addf(&text, ", %s, %s", mt_l2_name(b->l2), mt_origin_name(b->origin));
    printf("%s", is_first ? "" : "\n");
    mt_print_wrapped(stdout, mt_strbuf_text(&text), 2, NULL);
    mt_strbuf_clear(&text);
    mt_strbuf_add(&text, "  ");
    mt_print_knobs(&text, b->variant);
    mt_print_wrapped(stdout, mt_strbuf_text(&text), 2, NULL);
    mt_strbuf_free(&text);
    for (size_t i = 0; i < table.columns; i++) mt_table_cell(&table, (const char *const[]){"knob", "time", "ratio", "error", "spills"}[i]);
    mt_table_cell(&table, "(itself)");
    mt_table_cell(&table, mt_print_us(b->median_ns, time, sizeof time));
    mt_table_cell(&table, "1");
    mt_table_cellf(&table, "%.2g", b->error);
    mt_table_cell(&table, "");
    for (size_t i = 0; i < b->count; i++) {
        const neighbour *n = &b->neighbours[i];
        mt_table_cell(&table, n->change);
        mt_table_cellf(&table, "%s%s", n->is_stopped ? "> " : "", mt_print_us(n->median_ns, time, sizeof time));
        mt_table_cellf(&table, "%.3f", n->median_ns / b->median_ns);
        mt_table_cellf(&table, "%.2g", n->error);
        mt_table_cellf(&table, "%lld B", (long long)n->spill_bytes);
    }
    mt_table_print(&table, stdout, "  ");
    mt_table_free(&table);
}

static void free_base(base *b)
{
    MT_FREE_EACH(b->gpu_key, b->gpu_name, b->kernel, b->kernel_key, b->shape, b->shape_key, b->workload, b->workload_key, b->variant);
    for (size_t i = 0; i < b->count; i++) {
        mt_free(b->neighbours[i].change);
        mt_free(b->neighbours[i].variant);
    }
    mt_free(b->neighbours);
}

mt_status mt_ablation_print(mt_store *store, const mt_filter *filter, const char *variant, mt_sources *sources, size_t *bases, mt_error *err)
{
    mt_status st = MT_OK;
    base_list list = {0};
    named_bases named = {&list, variant};
    if (variant) MT_TRY(mt_query_measurements(store, filter, add_named_base, &named, err));
    else MT_TRY(mt_query_best(store, filter, add_base, &list, err));
    for (size_t i = 0; i < list.count; i++) {
        base *b = &list.items[i];
        const mt_filter same = {.gpu = b->gpu_key, .kernel = b->kernel, .kernel_key = b->kernel_key, .shape_key = b->shape_key, .workload_key = b->workload_key,
                                .origin = &b->origin, .l2 = &b->l2};
        MT_TRY(mt_query_measurements(store, &same, add_neighbour, b, err));
        if (b->count) qsort(b->neighbours, b->count, sizeof *b->neighbours, by_time);
        keep_fastest(b);
        print_base(b, sources, i == 0);
    }
    if (list.count) printf("\nA line is the fastest known variant in which that knob differs; all others that both have are equal.\n");
    *bases = list.count;
done:
    for (size_t i = 0; i < list.count; i++) free_base(&list.items[i]);
    mt_free(list.items);
    return st;
}
