#include "tuner/cli/output/diff_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/print_knobs.h"

enum { KERNEL, SHAPE, WORKLOAD, L2, ORIGIN, GPU_A, GPU_B, SOURCE_A, SOURCE_B };

/* "SLOW", "only A" … */
static const char *rank_name(mt_diff_rank rank)
{
    static const char *const names[] = {"SLOW", "AMBG", "FAST", "SAME", "only A", "only B"};
    return names[rank];
}

/* ---- gathering ---- */

static mt_diff_rank rank_of(mt_diff_verdict verdict)
{
    static const mt_diff_rank ranks[] = {[MT_DIFF_SAME] = MT_RANK_SAME, [MT_DIFF_FAST] = MT_RANK_FAST, [MT_DIFF_SLOW] = MT_RANK_SLOW, [MT_DIFF_AMBG] = MT_RANK_AMBG};
    return ranks[verdict];
}

static void add_item(mt_diff_list *list, const mt_diff_subject *s, const mt_diff_time *a, const mt_diff_time *b, bool is_variant)
{
    const char *texts[MT_DIFF_TEXTS] = {s->kernel, s->shape, s->workload, s->l2, s->origin, s->gpu_a, s->gpu_b, s->source_a, s->source_b};
    mt_diff_item *added = MT_APPEND(list->items, list->count, list->capacity);
    if (!added) {
        list->failed = true;
        return;
    }
    mt_diff_item item = {.is_variant = is_variant, .at = list->count - 1, .ratio = {NAN, NAN, NAN}, .rank = a ? MT_RANK_ONLY_A : MT_RANK_ONLY_B};
    for (size_t i = 0; i < MT_DIFF_TEXTS; i++) list->failed |= !(item.texts[i] = mt_strdup(texts[i]));
    if (a) item.a = *a;
    if (b) item.b = *b;
    if (a) list->failed |= !(item.a.variant = item.variant_a = mt_strdup(a->variant));
    if (b) list->failed |= !(item.b.variant = item.variant_b = mt_strdup(b->variant));
    if (a && b) item.rank = rank_of(mt_diff_judge(a, b, list->threshold, &item.ratio));
    list->winners[item.rank] += !is_variant;
    *added = item;
}

void mt_diff_list_add(mt_diff_list *list, const mt_diff_subject *subject, bool with_variants)
{
    add_item(list, subject, subject->a, subject->b, false);
    for (size_t i = 0; with_variants && subject->a && subject->b && i < subject->variant_count; i++) add_item(list, subject, &subject->variants_a[i], &subject->variants_b[i], true);
}

static bool is_one_sided(mt_diff_rank rank) { return rank == MT_RANK_ONLY_A || rank == MT_RANK_ONLY_B; }

static int compare(const void *left, const void *right)
{
    const mt_diff_item *a = left, *b = right;
    if (is_one_sided(a->rank) != is_one_sided(b->rank)) return is_one_sided(a->rank) ? 1 : -1;
    if (a->is_variant != b->is_variant) return a->is_variant ? 1 : -1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    double more = fabs(a->ratio.change) - fabs(b->ratio.change);
    if (more > 0 || more < 0) return more > 0 ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

void mt_diff_list_sort(mt_diff_list *list)
{
    if (list->count) qsort(list->items, list->count, sizeof *list->items, compare);
}

/* ---- the table ---- */

/* "h100-sxm|…", or "… → …" where the sides differ: whole, since one model has boards of several memory sizes. */
static void add_gpus(mt_strbuf *out, const mt_diff_item *item)
{
    const char *a = *item->texts[GPU_A] ? item->texts[GPU_A] : item->texts[GPU_B], *b = *item->texts[GPU_B] ? item->texts[GPU_B] : a;
    mt_print_clean(out, a, 0);
    if (strcmp(a, b) == 0) return;
    mt_strbuf_add(out, " → ");
    mt_print_clean(out, b, 0);
}

static void add_heading(mt_strbuf *out, const mt_diff_item *item)
{
    mt_print_clean(out, item->texts[KERNEL], 0);
    mt_strbuf_add(out, " on ");
    add_gpus(out, item);
}

static void add_change(mt_strbuf *out, const mt_diff_ratio *ratio)
{
    if (isnan(ratio->change)) mt_strbuf_add(out, "-");
    else mt_strbuf_addf(out, "%+.2f %%", 100 * ratio->change);
    if (!isnan(ratio->low)) mt_strbuf_addf(out, " (%+.2f … %+.2f)", 100 * ratio->low, 100 * ratio->high);
}

/* The variant, or of two winners what one has and the other has not: where that is nothing, --json has the variant. */
static void add_knobs(mt_strbuf *out, const mt_diff_item *item)
{
    const char *a = item->a.variant, *b = item->b.variant;
    bool are_same = a && b && strcmp(a, b) == 0;
    if (are_same && !item->is_variant) {
        mt_strbuf_add(out, "the same variant");
        return;
    }
    if (!a || !b || are_same) {
        mt_print_knobs(out, a ? a : b);
        return;
    }
    mt_knobs_add_unusual(out, a, b);
    mt_strbuf_add(out, " → ");
    mt_knobs_add_unusual(out, b, a);
}

static void add_text_cell(mt_table *table, mt_strbuf *text)
{
    mt_table_cell(table, mt_strbuf_text(text));
    mt_strbuf_clear(text);
}

static void add_row(mt_table *table, const mt_diff_item *item, bool with_l2)
{
    char time[MT_PRINT_TIME_SIZE];
    mt_strbuf text = {0};
    mt_table_cell(table, rank_name(item->rank));
    mt_table_color(table, item->rank == MT_RANK_SLOW ? MT_COLOR_BAD : item->rank == MT_RANK_FAST ? MT_COLOR_GOOD : MT_COLOR_NONE);
    mt_table_cell(table, item->texts[SHAPE]);
    mt_table_cell(table, item->texts[WORKLOAD]);
    if (with_l2) mt_table_cell(table, item->texts[L2]);
    mt_table_cell(table, item->a.variant ? mt_print_us(item->a.median_ns, time, sizeof time) : "-");
    mt_table_cell(table, item->b.variant ? mt_print_us(item->b.median_ns, time, sizeof time) : "-");
    add_change(&text, &item->ratio);
    add_text_cell(table, &text);
    add_knobs(&text, item);
    add_text_cell(table, &text);
    mt_strbuf_free(&text);
}

/* The items of one kind, kernel and GPU that stand one behind the other. */
static void print_group(const mt_diff_item *items, size_t count, const char *heading, bool with_l2, FILE *out)
{
    const char *const names[] = {"verdict", "shape", "workload", with_l2 ? "L2" : NULL, "A", "B", "change", items->is_variant ? "knobs" : "knobs of the winners"};
    mt_table table = {.right = with_l2 ? "llllrrrl" : "lllrrrl", .wraps = true};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i]) mt_table_cell(&table, names[i]);
        table.columns += names[i] != NULL;
    }
    for (size_t i = 0; i < count; i++) add_row(&table, &items[i], with_l2);
    fprintf(out, "%s%s\n", heading, items->is_variant ? ", variants of both" : "");
    mt_table_print(&table, out, "  ");
    mt_table_free(&table);
}

/* Where the whole list has one kernel and GPU that is one table; else the order comes first, and headings come again. */
static void print_groups(const mt_diff_list *list, size_t count, FILE *out)
{
    bool with_l2 = false;
    for (size_t i = 0; i < count; i++) with_l2 |= strcmp(list->items[i].texts[L2], "cold") != 0;
    for (size_t begin = 0, end; begin < count && !list->failed; begin = end) {
        mt_strbuf heading = {0}, next = {0};
        add_heading(&heading, &list->items[begin]);
        for (end = begin + 1; end < count; end++) {
            mt_strbuf_clear(&next);
            add_heading(&next, &list->items[end]);
            if (list->items[end].is_variant != list->items[begin].is_variant || strcmp(mt_strbuf_text(&heading), mt_strbuf_text(&next)) != 0) break;
        }
        if (begin) fprintf(out, "\n");
        print_group(&list->items[begin], end - begin, mt_strbuf_text(&heading), with_l2, out);
        mt_strbuf_free(&heading);
        mt_strbuf_free(&next);
    }
}

void mt_diff_list_print(const mt_diff_list *list, bool is_verbose, FILE *out)
{
    size_t one_sided = list->winners[MT_RANK_ONLY_A] + list->winners[MT_RANK_ONLY_B], shown = is_verbose ? list->count : list->count - one_sided;
    if (!shown) return;
    print_groups(list, shown, out);
    fprintf(out, "\nwinners: ");
    for (mt_diff_rank rank = 0; rank < MT_RANK_ONLY_A; rank++) fprintf(out, "%s%zu %s", rank ? ", " : "", list->winners[rank], rank_name(rank));
    fprintf(out, " (A → B; SAME: within %.3g %%)\n", 100 * list->threshold);
    if (one_sided) fprintf(out, "%zu only in A, %zu only in B%s\n", list->winners[MT_RANK_ONLY_A], list->winners[MT_RANK_ONLY_B], is_verbose ? "" : " (--verbose lists them)");
}

/* ---- JSON ---- */

static void add_json_time(mt_strbuf *out, const char *name, const mt_diff_time *time)
{
    mt_strbuf_addf(out, ",\"%s\":", name);
    if (!time->variant) {
        mt_strbuf_add(out, "null");
        return;
    }
    mt_strbuf_add(out, "{\"variant\":");
    mt_strbuf_add_json(out, time->variant);
    const struct { const char *name; double ns; } numbers[] = {{"median_us", time->median_ns}, {"low_us", time->low_ns}, {"high_us", time->high_ns}};
    for (size_t i = 0; i < 3; i++) {
        mt_strbuf_addf(out, ",\"%s\":", numbers[i].name);
        if (isfinite(numbers[i].ns)) mt_strbuf_addf(out, "%.9g", numbers[i].ns / 1e3);
        else mt_strbuf_add(out, "null");
    }
    const struct { const char *name; int64_t version; } versions[] = {{"nvrtc", time->nvrtc_version}, {"driver", time->driver_version}};
    for (size_t i = 0; i < 2; i++) {
        if (versions[i].version) mt_strbuf_addf(out, ",\"%s\":%lld", versions[i].name, (long long)versions[i].version);
        else mt_strbuf_addf(out, ",\"%s\":null", versions[i].name);
    }
    mt_strbuf_addf(out, ",\"measured_unix_ms\":%lld}", (long long)time->created_unix_ms);
}

static void add_json(mt_strbuf *out, const mt_diff_item *item)
{
    static const char *const names[MT_DIFF_TEXTS] = {"kernel", "shape", "workload", "l2", "origin", "gpu_a", "gpu_b", "source_a", "source_b"};
    const mt_diff_ratio *ratio = &item->ratio;
    mt_strbuf_addf(out, "{\"kind\":\"%s\"", item->is_variant ? "variant" : "winner");
    for (size_t i = 0; i < MT_DIFF_TEXTS; i++) {
        mt_strbuf_addf(out, ",\"%s\":", names[i]);
        mt_strbuf_add_json(out, item->texts[i]);
    }
    mt_strbuf_addf(out, ",\"verdict\":\"%s\"", rank_name(item->rank));
    add_json_time(out, "a", &item->a);
    add_json_time(out, "b", &item->b);
    if (!isnan(ratio->change)) mt_strbuf_addf(out, ",\"change\":%.6g", ratio->change);
    else mt_strbuf_add(out, ",\"change\":null");
    if (!isnan(ratio->low)) mt_strbuf_addf(out, ",\"change_low\":%.6g,\"change_high\":%.6g}", ratio->low, ratio->high);
    else mt_strbuf_add(out, ",\"change_low\":null,\"change_high\":null}");
}

void mt_diff_list_json(const mt_diff_list *list, FILE *out)
{
    mt_strbuf json = {0};
    for (size_t i = 0; i < list->count && !list->failed; i++) {
        mt_strbuf_add(&json, i ? ",\n " : "\n ");
        add_json(&json, &list->items[i]);
    }
    fprintf(out, "[%s%s]\n", mt_strbuf_text(&json), list->count ? "\n" : "");
    mt_strbuf_free(&json);
}

void mt_diff_list_free(mt_diff_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < MT_DIFF_TEXTS; k++) mt_free(list->items[i].texts[k]);
        mt_free(list->items[i].variant_a);
        mt_free(list->items[i].variant_b);
    }
    mt_free(list->items);
    *list = (mt_diff_list){0};
}
