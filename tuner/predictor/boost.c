#include "tuner/predictor/boost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/rng.h"

enum { COUNT = 100, DEPTH = 7, SPLITS = (1 << DEPTH) - 1, LEAVES = 1 << DEPTH, BINS = 64, SAMPLE = 49152, LEAST_ROWS = 3 };
static const double RATE = 0.17;  /* of what is left, that a tree takes away */
static const double RIDGE = 5;    /* rows with nothing left that each leaf is taken to have besides */
static const double MOST = 7;     /* octaves, of a leaf */

typedef struct sum { double value, count; } sum;

typedef struct fitting {
    const mt_boost_data *data;
    mt_rng rng;
    int64_t (*edges)[BINS];   /* [name_count]: the greatest number of each bin but the last */
    size_t *bin_count;        /* [name_count] */
    uint8_t *bins;            /* [name_count][row_count] */
    double *left;             /* [row_count]: target less what the trees so far say */
    uint8_t *node;            /* [row_count]: among those of the level that is split */
    size_t *rows, row_count;  /* those that are there */
    size_t *sample, sample_count;
    sum (*histogram)[BINS];   /* [LEAVES] */
    mt_trees_split *splits;   /* of all trees */
    int16_t *leaves;
} fitting;

/* ---- bins ---- */

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of sorted numbers: one bin each, or where they are too many, bins of as many rows as each other. */
static size_t find_edges(const int64_t *sorted, size_t count, int64_t edges[BINS])
{
    size_t different = 0, bins = 0;
    for (size_t i = 0; i < count; i++) different += i == 0 || sorted[i] != sorted[i - 1];
    for (size_t i = 0; i + 1 < count && bins + 1 < BINS; i++) {
        if (sorted[i] == sorted[i + 1]) continue;
        bool is_full = different <= BINS || (i + 1) * BINS / count > bins;
        if (is_full) edges[bins++] = sorted[i];
    }
    return bins + 1;
}

static uint8_t bin_of(const int64_t *edges, size_t bins, int64_t number)
{
    size_t low = 0, high = bins - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (number <= edges[middle]) high = middle;
        else low = middle + 1;
    }
    return (uint8_t)low;
}

static bool make_bins(fitting *f)
{
    const mt_boost_data *data = f->data;
    int64_t *sorted = mt_alloc(data->row_count + 1, sizeof *sorted);
    for (size_t n = 0; sorted && n < data->name_count; n++) {
        for (size_t i = 0; i < f->row_count; i++) sorted[i] = data->numbers[f->rows[i] * data->name_count + n];
        qsort(sorted, f->row_count, sizeof *sorted, by_number);
        f->bin_count[n] = find_edges(sorted, f->row_count, f->edges[n]);
        for (size_t i = 0; i < f->row_count; i++) {
            size_t row = f->rows[i];
            f->bins[n * data->row_count + row] = bin_of(f->edges[n], f->bin_count[n], data->numbers[row * data->name_count + n]);
        }
    }
    mt_free(sorted);
    return sorted != NULL;
}

/* ---- one tree ---- */

static void draw_sample(fitting *f)
{
    f->sample_count = 0;
    for (size_t i = 0; i < f->row_count; i++) {
        bool is_drawn = f->row_count <= SAMPLE || mt_rng_below(&f->rng, f->row_count) < SAMPLE;
        if (is_drawn) f->sample[f->sample_count++] = f->rows[i];
    }
}

/* Half of the names, so that trees differ. */
static size_t draw_names(fitting *f, size_t names[MT_TREES_NAMES])
{
    size_t count = 0;
    for (size_t n = 0; n < f->data->name_count; n++)
        if (f->bin_count[n] > 1 && mt_rng_below(&f->rng, 2)) names[count++] = n;
    return count;
}

static double gain_of(sum s)
{
    return s.value * s.value / (s.count + RIDGE);
}

/* Sums over each node's rows, by bin. */
static void fill_histogram(fitting *f, size_t name, size_t nodes)
{
    const uint8_t *bins = f->bins + name * f->data->row_count;
    memset(f->histogram, 0, nodes * sizeof *f->histogram);
    for (size_t i = 0; i < f->sample_count; i++) {
        size_t row = f->sample[i];
        sum *s = &f->histogram[f->node[row]][bins[row]];
        s->value += f->left[row];
        s->count++;
    }
}

typedef struct best_split { double gain; size_t name, bin; bool is_any; } best_split;

static void try_name(const sum *bins, size_t count, size_t name, best_split *best)
{
    sum all = {0, 0}, low = {0, 0};
    for (size_t b = 0; b < count; b++) all = (sum){all.value + bins[b].value, all.count + bins[b].count};
    for (size_t b = 0; b + 1 < count; b++) {
        low = (sum){low.value + bins[b].value, low.count + bins[b].count};
        sum high = {all.value - low.value, all.count - low.count};
        if (low.count < LEAST_ROWS || high.count < LEAST_ROWS) continue;
        double gain = gain_of(low) + gain_of(high) - gain_of(all);
        if (gain <= best->gain) continue;
        *best = (best_split){gain, name, b, true};
    }
}

/* Each node of the level gets the split that takes most of the squares away, and its rows move down. */
static void split_level(fitting *f, const size_t *names, size_t name_count, size_t level, mt_trees_split *splits)
{
    size_t nodes = (size_t)1 << level, first = nodes - 1;
    best_split best[LEAVES] = {{0}};
    for (size_t k = 0; k < name_count; k++) {
        fill_histogram(f, names[k], nodes);
        for (size_t n = 0; n < nodes; n++) try_name(f->histogram[n], f->bin_count[names[k]], names[k], &best[n]);
    }
    for (size_t n = 0; n < nodes; n++) splits[first + n] = best[n].is_any ? (mt_trees_split){(uint8_t)best[n].name, (uint8_t)best[n].bin} : (mt_trees_split){0, MT_TREES_NO_EDGE};
    for (size_t i = 0; i < f->row_count; i++) {
        size_t row = f->rows[i], node = f->node[row];
        bool is_high = best[node].is_any && f->bins[best[node].name * f->data->row_count + row] > best[node].bin;
        f->node[row] = (uint8_t)(2 * node + is_high);
    }
}

static void fill_leaves(fitting *f, int16_t *leaves)
{
    sum sums[LEAVES] = {{0, 0}};
    for (size_t i = 0; i < f->sample_count; i++) {
        size_t row = f->sample[i];
        sums[f->node[row]].value += f->left[row];
        sums[f->node[row]].count++;
    }
    for (size_t n = 0; n < LEAVES; n++) leaves[n] = (int16_t)lrint(MT_TREES_UNIT * fmax(-MOST, fmin(MOST, RATE * sums[n].value / (sums[n].count + RIDGE))));
    for (size_t i = 0; i < f->row_count; i++) f->left[f->rows[i]] -= (double)leaves[f->node[f->rows[i]]] / MT_TREES_UNIT;
}

static void grow_tree(fitting *f, size_t tree)
{
    size_t names[MT_TREES_NAMES], count = draw_names(f, names);
    draw_sample(f);
    for (size_t i = 0; i < f->row_count; i++) f->node[f->rows[i]] = 0;
    for (size_t level = 0; level < DEPTH; level++) split_level(f, names, count, level, f->splits + tree * SPLITS);
    fill_leaves(f, f->leaves + tree * LEAVES);
}

/* ---- all of them ---- */

static bool allocate(fitting *f)
{
    size_t rows = f->data->row_count + 1, names = f->data->name_count + 1;
    f->edges = mt_alloc(names, sizeof *f->edges);
    f->bin_count = mt_alloc(names, sizeof *f->bin_count);
    f->bins = mt_alloc(names * rows, 1);
    f->left = mt_alloc(rows, sizeof *f->left);
    f->node = mt_alloc(rows, 1);
    f->rows = mt_alloc(rows, sizeof *f->rows);
    f->sample = mt_alloc(rows, sizeof *f->sample);
    f->histogram = mt_alloc(LEAVES, sizeof *f->histogram);
    f->splits = mt_alloc(COUNT * SPLITS, sizeof *f->splits);
    f->leaves = mt_alloc(COUNT * LEAVES, sizeof *f->leaves);
    return f->edges && f->bin_count && f->bins && f->left && f->node && f->rows && f->sample && f->histogram && f->splits && f->leaves;
}

mt_status mt_boost_fit(const mt_boost_data *data, mt_trees *trees, mt_error *err)
{
    fitting f = {.data = data};
    bool has_memory = allocate(&f);
    mt_rng_seed(&f.rng, 1);
    for (size_t i = 0; has_memory && i < data->row_count; i++) {
        f.left[i] = data->targets[i];
        if (!data->is_out || !data->is_out[i]) f.rows[f.row_count++] = i;
    }
    has_memory = has_memory && make_bins(&f);
    for (size_t t = 0; has_memory && t < COUNT; t++) grow_tree(&f, t);
    for (size_t n = 0; has_memory && n < data->name_count; n++) {
        data->edge_counts[n] = f.bin_count[n] - 1;
        memcpy(data->edges + n * MT_TREES_EDGES, f.edges[n], data->edge_counts[n] * sizeof(int64_t));
    }
    void *const scratch[] = {f.edges, f.bin_count, f.bins, f.left, f.node, f.rows, f.sample, f.histogram};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) mt_free(scratch[i]);
    *trees = (mt_trees){.depth = DEPTH, .count = COUNT, .name_count = data->name_count, .splits = f.splits, .leaves = f.leaves};
    if (has_memory) return MT_OK;
    mt_boost_free(trees);
    return mt_no_memory("portfolio", err);
}

void mt_boost_free(mt_trees *trees)
{
    mt_free((void *)(uintptr_t)trees->splits);
    mt_free((void *)(uintptr_t)trees->leaves);
    *trees = (mt_trees){0};
}
