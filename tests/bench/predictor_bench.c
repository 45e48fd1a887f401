/* How good the predictor's answers are for shapes left out, on what a database holds: of all its shapes, and of random subsets, in which everything is chosen anew. A change of the predictor is
 * judged by both, since what helps one set of shapes may hurt another. And among those variants alone that were tried on (nearly) all shapes: there every answer has a time, so that two predictors are judged by the
 * same shapes, beside the best that any rule could answer. Needs no GPU.
 *
 *     predictor_bench DATABASE [KERNEL [SUBSETS]]
 *
 * DATABASE: one that `msda-tune import --as measured` made of db/tuned, or the tuner's own; of the first GPU with the most shapes. Slowdowns are against the best time known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/rng.h"
#include "tuner/predictor/table.h"

typedef struct picked { const char *kernel; mt_portfolio_group group; char gpu[128]; int64_t shapes; } picked;

static mt_status on_group(void *context, const mt_portfolio_group_info *row, mt_error *err)
{
    picked *p = context;
    (void)err;
    if (strcmp(row->kernel, p->kernel) != 0 || row->shapes <= p->shapes) return MT_OK;
    p->group = row->group;
    p->shapes = row->shapes;
    snprintf(p->gpu, sizeof p->gpu, "%s", row->gpu_key);
    return MT_OK;
}

/* The rows of some shapes; mt_free what free_part names. */
static mt_predictor_data part_of(const mt_predictor_data *data, const size_t *shapes, size_t count)
{
    mt_predictor_data part = *data;
    double *features = mt_alloc(count * data->feature_count + 1, sizeof *features), *slowdown = mt_alloc(count * data->variant_count + 1, sizeof *slowdown);
    double *of_default = mt_alloc(count + 1, sizeof *of_default), *cost = mt_alloc(count * data->variant_count + 1, sizeof *cost);
    if (!features || !slowdown || !of_default || !cost) exit(1);
    for (size_t i = 0; i < count; i++) {
        memcpy(features + i * data->feature_count, data->shapes + shapes[i] * data->feature_count, data->feature_count * sizeof *features);
        memcpy(slowdown + i * data->variant_count, data->slowdown + shapes[i] * data->variant_count, data->variant_count * sizeof *slowdown);
        memcpy(cost + i * data->variant_count, data->cost + shapes[i] * data->variant_count, data->variant_count * sizeof *cost);
        of_default[i] = data->default_slowdown[shapes[i]];
    }
    part.shape_count = count;
    part.shapes = features;
    part.slowdown = slowdown;
    part.default_slowdown = of_default;
    part.cost = cost;
    return part;
}

static void free_part(mt_predictor_data *part)
{
    mt_free((void *)(uintptr_t)part->shapes);
    mt_free((void *)(uintptr_t)part->slowdown);
    mt_free((void *)(uintptr_t)part->default_slowdown);
    mt_free((void *)(uintptr_t)part->cost);
}

static void must(mt_status st, const mt_error *err)
{
    if (st == MT_OK) return;
    fprintf(stderr, "predictor_bench: %s\n", err->message);
    exit(1);
}

static mt_predictor_evaluation evaluate(const mt_predictor_data *data)
{
    static const mt_predictor_options options = {MT_PREDICTOR_AUTO_MAX, MT_PREDICTOR_WITHIN};
    static mt_predictor_trial trials[MT_RULE_SHAPES];
    mt_predictor_evaluation evaluation;
    mt_error err;
    must(mt_predictor_evaluate(data, &options, NULL, trials, &evaluation, &err), &err);
    return evaluation;
}

/* The columns that lack a tenth of the shapes at most, and the rows that have a time in one of them. */
static mt_predictor_data tried_everywhere(const mt_predictor_data *data)
{
    size_t columns[MT_RULE_VARIANTS], shapes[MT_RULE_SHAPES] = {0}, width = 0, count = 0;
    for (size_t v = 0; v < data->variant_count; v++) {
        size_t lacking = 0;
        for (size_t i = 0; i < data->shape_count; i++) lacking += isnan(data->slowdown[i * data->variant_count + v]);
        if (lacking <= data->shape_count / 10) columns[width++] = v;
    }
    for (size_t i = 0; i < data->shape_count; i++) {
        bool has_time = false;
        for (size_t k = 0; k < width; k++) has_time = has_time || isfinite(data->slowdown[i * data->variant_count + columns[k]]);
        if (has_time) shapes[count++] = i;
    }
    mt_predictor_data part = part_of(data, shapes, count);
    double *slowdown = (double *)(uintptr_t)part.slowdown, *cost = (double *)(uintptr_t)part.cost;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < width; k++) {
            slowdown[i * width + k] = data->slowdown[shapes[i] * data->variant_count + columns[k]];
            cost[i * width + k] = data->cost[shapes[i] * data->variant_count + columns[k]];
        }
    }
    part.variant_count = width;
    return part;
}

/* The best of all variants that have a time on another shape. */
static void print_bound(const mt_predictor_data *data)
{
    double mean = 0, worst = 0;
    for (size_t i = 0; i < data->shape_count; i++) {
        double least = INFINITY;
        for (size_t v = 0; v < data->variant_count; v++) {
            bool is_known = false;
            for (size_t k = 0; k < data->shape_count; k++) is_known = is_known || (k != i && isfinite(data->slowdown[k * data->variant_count + v]));
            if (is_known) least = fmin(least, data->slowdown[i * data->variant_count + v]);
        }
        if (isinf(least)) continue;
        mean += least / (double)data->shape_count;
        worst = fmax(worst, least);
    }
    printf("; no rule can do better than %.3f, worst %.3f\n", exp2(mean), exp2(worst));
}

static void of_tried(const mt_predictor_data *data)
{
    mt_predictor_data part = tried_everywhere(data);
    if (part.shape_count && part.variant_count) {
        mt_predictor_evaluation e = evaluate(&part);
        printf("among %zu variants that were tried everywhere: predictor %.3f, worst %.3f over %zu of %zu shapes", part.variant_count, exp2(e.alone.mean), exp2(e.alone.worst), e.alone.count, part.shape_count);
        print_bound(&part);
    }
    free_part(&part);
}

/* Subsets of `size` shapes, drawn without putting back; the same ones in each run. */
static void of_subsets(const mt_predictor_data *data, size_t size, int subsets)
{
    size_t order[MT_RULE_SHAPES];
    double mean = 0, worst = 0, most = 0, unknown = 0, of_default = 0, by_volume = 0;
    mt_rng rng;
    mt_rng_seed(&rng, size);
    for (int k = 0; k < subsets; k++) {
        for (size_t i = 0; i < data->shape_count; i++) order[i] = i;
        for (size_t i = 0; i < size; i++) {
            size_t other = i + mt_rng_below(&rng, data->shape_count - i), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        mt_predictor_data part = part_of(data, order, size);
        mt_predictor_evaluation e = evaluate(&part);
        free_part(&part);
        mean += e.alone.mean / subsets;
        worst += e.alone.worst / subsets;
        unknown += (double)e.alone.unknown / subsets;
        of_default += e.by_default.mean / subsets;
        by_volume += e.by_volume.mean / subsets;
        most = fmax(most, e.alone.worst);
    }
    printf("%3d x %2zu shapes: predictor %.3f, worst %.3f on the average, %.3f at most, %.1f answers not measured; always the default %.3f, nearest by volume %.3f\n", subsets, size, exp2(mean),
           exp2(worst), exp2(most), unknown, exp2(of_default), exp2(by_volume));
}

int main(int argc, char **argv)
{
    static const double parts[] = {0.85, 0.7, 0.55};
    picked p = {.kernel = argc > 2 ? argv[2] : "msda"};
    int subsets = argc > 3 ? atoi(argv[3]) : 10;
    const mt_filter everything = {0};
    mt_store *store;
    mt_error err;
    static mt_predictor_table table;
    if (argc < 2) return fprintf(stderr, "usage: predictor_bench DATABASE [KERNEL [SUBSETS]]\n"), 2;
    must(mt_store_open(argv[1], MT_STORE_READ_ONLY, &store, &err), &err);
    must(mt_query_groups(store, &everything, on_group, &p, &err), &err);
    if (!p.shapes) return fprintf(stderr, "predictor_bench: %s: no tuned shape of %s\n", argv[1], p.kernel), 1;
    must(mt_predictor_table_load(store, &p.group, MT_PREDICTOR_WITHIN, &table, &err), &err);
    mt_predictor_evaluation e = evaluate(&table.data);
    printf("%s on %s, %zu shapes, %zu variants\n", p.kernel, p.gpu, table.data.shape_count, table.data.variant_count);
    printf("the predictor over %zu shapes: %.3f, worst %.3f; %zu answers not measured\n", e.alone.count, exp2(e.alone.mean), exp2(e.alone.worst), e.alone.unknown);
    printf("where all three have a time: predictor %.3f, worst %.3f; always the default %.3f, worst %.3f; nearest by volume %.3f, worst %.3f; over %zu shapes, %zu times the default answered\n", exp2(e.predictor.mean),
           exp2(e.predictor.worst), exp2(e.by_default.mean), exp2(e.by_default.worst), exp2(e.by_volume.mean), exp2(e.by_volume.worst), e.predictor.count, e.defaults);
    of_tried(&table.data);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && subsets > 0; i++) of_subsets(&table.data, (size_t)lround(parts[i] * (double)table.data.shape_count), subsets);
    mt_predictor_table_free(&table);
    mt_store_close(store);
    return 0;
}
