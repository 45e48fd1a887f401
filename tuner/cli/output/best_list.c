#include "tuner/cli/output/best_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/print_knobs.h"

enum { OLD = 1 << 30 }; /* added to the place of a group that goes last */

/* ---- gathering ---- */

/* Its first choice may have failed, or not be known. */
static void add_library(mt_strbuf *notes, const mt_row_library *library)
{
    mt_strbuf_addf(notes, "  (%.3f × %s's best", library->best_ratio, library->plugin);
    if (isfinite(library->first_ratio)) mt_strbuf_addf(notes, ", %.3f × its first choice", library->first_ratio);
    mt_strbuf_add(notes, library->is_limited ? "; throttled)" : ")");
}

static char *notes_of(const mt_measurement_row *row)
{
    mt_strbuf notes = {0};
    if (row->objective != MT_OBJECTIVE_TIME) {
        char energy[MT_PRINT_ENERGY_SIZE];
        mt_print_energy(row->outcome.energy.run_uj, row->outcome.energy.error_uj, energy, sizeof energy);
        mt_strbuf_addf(&notes, "  (by %s: %s)", mt_objective_name(row->objective), energy);
    }
    if (row->error_limit.is_given) mt_strbuf_addf(&notes, "  (of those with an error of at most %.3g)", row->error_limit.most);
    if (row->tied_count > 1) mt_strbuf_addf(&notes, "  (tied with %lld other%s)", (long long)row->tied_count - 1, row->tied_count == 2 ? "" : "s");
    if (row->refusal) mt_strbuf_add(&notes, "  (refused by lookups)");
    if (row->is_programmatic) mt_strbuf_add(&notes, "  (programmatic launch)");
    if (row->library.plugin[0]) add_library(&notes, &row->library);
    return notes.length || notes.failed ? mt_strbuf_take(&notes) : mt_strdup("");
}

static char *subject_of(const mt_measurement_row *row)
{
    mt_strbuf subject = {0};
    mt_strbuf_addf(&subject, "%s\n%s\n%s\n%s\n%s\n%d", row->gpu_key, row->kernel_key, row->shape_key, row->workload, row->workload_key, (int)row->outcome.timing.l2);
    return mt_strbuf_take(&subject);
}

static size_t group_of(const mt_best_list *list, const char *heading, bool is_old)
{
    for (size_t i = list->count; i-- > 0;)
        if (strcmp(list->items[i].heading, heading) == 0) return list->items[i].group;
    return list->count + (is_old ? OLD : 0);
}

mt_status mt_best_list_add(mt_best_list *list, mt_store *store, const mt_measurement_row *row, const char *heading, bool is_old, const char *usual, char *json, mt_error *err)
{
    const mt_timing *timing = &row->outcome.timing;
    mt_best_item *items = mt_grow(list->items, list->count, &list->capacity, sizeof *items), *before = list->count ? &items[list->count - 1] : NULL;
    if (!items) {
        mt_free(json);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory");
    }
    list->items = items;
    mt_best_item item = {.heading = mt_strdup(heading), .subject = subject_of(row), .shape = mt_strdup(row->shape), .workload = mt_strdup(row->workload), .variant = mt_strdup(row->variant),
                         .usual = mt_strdup(usual ? usual : ""), .notes = notes_of(row), .l2 = mt_l2_name(timing->l2), .median_ns = timing->median_ns,
                         .half_ns = mt_timing_half_ns(timing), .error = row->outcome.accuracy.output[0] ? row->outcome.accuracy.norm_error : NAN,
                         .floor_ratio = row->model_floor_ns > 0 ? row->model_floor_ns / timing->median_ns : NAN, .default_ns = NAN, .created_unix_ms = row->created_unix_ms, .json = json, .at = list->count};
    if (!item.heading || !item.subject || !item.shape || !item.workload || !item.variant || !item.usual || !item.notes) {
        list->failed = true;
        items[list->count++] = item;
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "show: out of memory");
    }
    bool is_first = !before || strcmp(before->heading, heading) != 0 || strcmp(before->subject, item.subject) != 0;
    item.group = group_of(list, heading, is_old);
    item.of_subject = is_first ? list->count : before->of_subject;
    if (!is_first) item.default_ns = before->default_ns;
    items[list->count++] = item;
    double baseline_ns;
    size_t count;
    return is_first ? mt_query_comparison_points(store, row->id, &items[list->count - 1].default_ns, &baseline_ns, &count, err) : MT_OK;
}

/* ---- sorting ---- */

/* The least comes first; NAN, not known, last. */
static double key_of(const mt_best_item *first, mt_best_sort sort)
{
    switch (sort) {
    case MT_SORT_TIME: return -first->median_ns;
    case MT_SORT_SPEEDUP: return -first->default_ns / first->median_ns;
    case MT_SORT_FLOOR: return first->floor_ratio;
    case MT_SORT_NEWEST: return -(double)first->created_unix_ms;
    case MT_SORT_SHAPE: break;
    }
    return 0;
}

static int compare_places(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
    const mt_best_item *a = left, *b = right;
    if (a->group != b->group) return compare_places(a->group, b->group);
    if (isnan(a->key) != isnan(b->key)) return isnan(a->key) ? 1 : -1;
    if (a->key < b->key || a->key > b->key) return a->key < b->key ? -1 : 1;
    return a->of_subject != b->of_subject ? compare_places(a->of_subject, b->of_subject) : compare_places(a->at, b->at);
}

void mt_best_list_sort(mt_best_list *list, mt_best_sort sort)
{
    for (size_t i = 0; i < list->count; i++) list->items[i].key = key_of(&list->items[list->items[i].of_subject], sort);
    if (list->count) qsort(list->items, list->count, sizeof *list->items, compare);
}

/* ---- printing ---- */

/* Columns that a group does without: all cold; no default's time. */
typedef struct extent {
    bool l2, speedup, all_knobs;
} extent;

static void add_heading(mt_table *table, const extent *shown, char *right)
{
    const char *const names[] = {"shape", "workload", "time", "±", shown->l2 ? "L2" : NULL, shown->speedup ? "× default" : NULL, "error", "floor", "knobs"};
    static const char sides[] = "llrrlrrrl";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!names[i]) continue;
        right[table->columns++] = sides[i];
        mt_table_cell(table, names[i]);
    }
}

/* "-" where it is not known. */
static void add_number(mt_table *table, double number, int decimals, const char *unit)
{
    if (isfinite(number)) mt_table_cellf(table, "%.*f%s", decimals, number, unit);
    else mt_table_cell(table, "-");
}

static void add_knobs(mt_table *table, const mt_best_item *item, bool all)
{
    mt_strbuf knobs = {0};
    if (all) mt_print_knobs(&knobs, item->variant);
    else mt_knobs_add_told(&knobs, item->variant, item->usual);
    mt_strbuf_add(&knobs, item->notes);
    mt_table_cell(table, mt_strbuf_text(&knobs));
    mt_strbuf_free(&knobs);
}

static void add_item(mt_table *table, const mt_best_item *item, const extent *shown)
{
    char time[MT_PRINT_TIME_SIZE];
    mt_table_cell(table, item->shape);
    mt_table_cell(table, item->workload);
    mt_table_cell(table, mt_print_us(item->median_ns, time, sizeof time));
    mt_table_cell(table, mt_print_us(item->half_ns, time, sizeof time));
    if (shown->l2) mt_table_cell(table, item->l2);
    if (shown->speedup) add_number(table, item->default_ns / item->median_ns, 2, "");
    if (isfinite(item->error)) mt_table_cellf(table, "%.2g", item->error);
    else mt_table_cell(table, "-");
    add_number(table, 100 * item->floor_ratio, 0, " %");
    add_knobs(table, item, shown->all_knobs);
}

enum { COLUMNS = 9 };

/* `right` belongs to the table. */
static void fill(mt_table *table, const mt_best_item *items, size_t count, extent shown, char right[COLUMNS + 1])
{
    mt_table_free(table);
    *table = (mt_table){.right = right};
    add_heading(table, &shown, right);
    for (size_t i = 0; i < count; i++) add_item(table, &items[i], &shown);
}

/* Returns whether knobs were left out. */
static bool print_group(const mt_best_item *items, size_t count, bool is_verbose, FILE *out)
{
    mt_table table = {0};
    char right[COLUMNS + 1] = "";
    extent shown = {.all_knobs = true};
    for (size_t i = 0; i < count; i++) {
        shown.l2 |= strcmp(items[i].l2, "cold") != 0;
        shown.speedup |= isfinite(items[i].default_ns);
    }
    fprintf(out, "%s\n", items[0].heading);
    fill(&table, items, count, shown, right);
    bool fits = mt_table_width(&table) + 2 <= MT_PAGE_COLUMNS;
    if (!fits && !is_verbose) {
        shown.all_knobs = false;
        fill(&table, items, count, shown, right);
        table.wraps = true;
    }
    mt_table_print(&table, out, "  ");
    mt_table_free(&table);
    bool leaves_out = false;
    for (size_t i = 0; i < count && !shown.all_knobs; i++) leaves_out |= items[i].usual[0] != 0;
    return leaves_out;
}

/* Variants of one subject stand in the order of its final, which timed the near-ties again. */
static bool has_final_order(const mt_best_list *list)
{
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(list->items[i - 1].subject, list->items[i].subject) == 0 && list->items[i - 1].median_ns > list->items[i].median_ns) return true;
    return false;
}

void mt_best_list_print(const mt_best_list *list, bool is_verbose, FILE *out)
{
    bool leaves_out = false;
    for (size_t begin = 0, end; begin < list->count && !list->failed; begin = end) {
        for (end = begin; end < list->count && list->items[end].group == list->items[begin].group; end++) {}
        if (begin) fprintf(out, "\n");
        leaves_out |= print_group(&list->items[begin], end - begin, is_verbose, out);
    }
    if (has_final_order(list)) fprintf(out, "\nA slower variant above a faster one: they are tied within the interval, and the final decided.\n");
    if (leaves_out) mt_knobs_print_left_out(out);
}

void mt_best_list_json(const mt_best_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count && !list->failed; i++) fprintf(out, "%s%s", i ? ",\n " : "[\n ", list->items[i].json);
    fprintf(out, list->count ? "\n]\n" : "[]\n");
}

void mt_best_list_free(mt_best_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        mt_best_item *item = &list->items[i];
        char *const texts[] = {item->heading, item->subject, item->shape, item->workload, item->variant, item->usual, item->notes, item->json};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) mt_free(texts[k]);
    }
    mt_free(list->items);
    *list = (mt_best_list){0};
}
