/* Fits the correction of a cost model to times: fit_correction SPACE FACTS TIMES CANDIDATES > FILE.
 *
 * FACTS: a GPU's facts as JSON. TIMES, lines: "v VARIANT" (numbered from 0), "s FAMILY KEY NUMBER:NS …" for a shape that nobody tunes, "t FAMILY KEY …" for others. CANDIDATES: variants, one a line.
 * What a choice loses is measured on the s shapes, each family chosen for by trees that did not see it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/lookup/lookup.h"
#include "db/rule.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/predictor/boost.h"
#include "tuner/predictor/predictor_times.h"
#include "tuner/space/spec/spec.h"
#include "tuner/space/spec/spec_json.h"

enum { FOLDS = 5, MOST_SHAPES = 4096, MOST_VARIANTS = 32768 };

typedef struct shape { char *key; bool is_survey; size_t first, count, fold; } shape;
typedef struct row { size_t shape, variant; double ns; } row;
static struct {
    mt_times_of *times;
    const mt_lookup_variant *variants[MOST_VARIANTS];
    char *texts[MOST_VARIANTS];
    bool is_candidate[MOST_VARIANTS];
    size_t variant_count, shape_count, row_count, row_capacity, name_count;
    shape shapes[MOST_SHAPES];
    row *rows;
    mt_trees_name names[MT_TREES_NAMES];
    const char *values[MT_TREES_NAMES][MT_TREES_TEXTS];
    int64_t *numbers;
    double *targets, *base;
    bool *is_out;
    int64_t edges[MT_TREES_NAMES][MT_TREES_EDGES];
    size_t edge_counts[MT_TREES_NAMES];
} all;
static mt_error err;

static void must(bool is_good, const char *what)
{
    if (is_good) return;
    fprintf(stderr, "fit_correction: %s: %s\n", what, err.message);
    exit(1);
}

static void add_name(const char *name, mt_trees_part part, uint32_t slot)
{
    must(all.name_count < MT_TREES_NAMES, "too many names");
    all.names[all.name_count] = (mt_trees_name){.name = name, .part = part, .slot = slot, .texts = all.values[all.name_count]};
    all.name_count++;
}

/* A list as its parts. */
static void add_shape_value(const mt_lookup_model *model, uint32_t i)
{
    bool is_list = model->names[i].kind == MT_LOOKUP_NAME_LIST;
    for (mt_trees_part part = is_list ? MT_TREES_LENGTH : MT_TREES_WHOLE; part < (is_list ? MT_TREES_PARTS : MT_TREES_LENGTH); part++) add_name(model->names[i].name, part, i);
}

static void list_names(void)
{
    const mt_lookup_model *model = mt_predictor_times_model(all.times);
    add_name("", MT_TREES_WHOLE, 0);
    for (uint32_t i = 0; i < model->name_count; i++) add_shape_value(model, i);
    for (uint32_t i = 0; i < model->param_count; i++) add_name(model->params[i].name, MT_TREES_WHOLE, model->param_slot + i);
    for (uint32_t i = 0; i < model->let_count; i++)
        if (model->lets[i].is_in_costs) add_name(model->lets[i].name, MT_TREES_WHOLE, model->let_slot + i);
}

static void learn_texts(const mt_value *slots)
{
    for (size_t n = 1; n < all.name_count; n++) {
        mt_trees_name *name = &all.names[n];
        const mt_value *value = &slots[name->slot];
        if (value->kind != MT_VALUE_STRING || name->text_count == MT_TREES_TEXTS || mt_trees_value(name, value) != MT_TREES_NONE) continue;
        all.values[n][name->text_count++] = mt_strdup(value->string);
    }
}

/* The family's hash decides the fold. */
static size_t fold_of(const char *family)
{
    uint32_t digest = 2166136261u;
    for (; *family; family++) digest = (digest ^ (unsigned char)*family) * 16777619u;
    return (digest >> 8) % FOLDS;
}

static char *next_word(char **at)
{
    char *word = *at, *end = strchr(word, ' ');
    must(end != NULL, "a shape's line");
    *end = '\0';
    *at = end + 1;
    return word;
}

static void read_shape(char *line)
{
    shape *s = &all.shapes[all.shape_count];
    char *at = line + 2;
    must(all.shape_count < MOST_SHAPES, "too many shapes");
    *s = (shape){.is_survey = *line == 's', .fold = fold_of(next_word(&at)), .first = all.row_count};
    s->key = mt_strdup(next_word(&at));
    while (*at) {
        row *r = MT_APPEND(all.rows, all.row_count, all.row_capacity);
        *r = (row){.shape = all.shape_count, .variant = strtoull(at, &at, 10)};
        r->ns = strtod(at + 1, &at);
        at += *at == ' ';
        s->count++;
    }
    all.shape_count++;
}

static void read_times(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    must(file != NULL, path);
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == 'v') {
            all.texts[all.variant_count] = mt_strdup(line + 2);
            all.variants[all.variant_count++] = mt_predictor_times_variant(all.times, line + 2);
        } else if (*line != '#') {
            read_shape(line);
        }
    }
    free(line);
    fclose(file);
}

static void read_candidates(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    must(file != NULL, path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        for (size_t v = 0; v < all.variant_count; v++)
            if (strcmp(all.texts[v], line) == 0) all.is_candidate[v] = true;
    }
    fclose(file);
}

static void compute(void)
{
    all.numbers = mt_alloc(all.row_count * all.name_count + 1, sizeof *all.numbers);
    all.targets = mt_alloc(all.row_count + 1, sizeof *all.targets);
    all.base = mt_alloc(all.row_count + 1, sizeof *all.base);
    all.is_out = mt_alloc(all.row_count + 1, sizeof *all.is_out);
    for (size_t s = 0; s < all.shape_count; s++) {
        bool is_known = mt_predictor_times_set_shape(all.times, all.shapes[s].key);
        for (size_t i = all.shapes[s].first; i < all.shapes[s].first + all.shapes[s].count; i++) {
            int64_t ns = is_known ? mt_predictor_times_at(all.times, all.variants[all.rows[i].variant]) : 0;
            all.targets[i] = NAN;
            if (ns <= 0) continue;
            learn_texts(mt_predictor_times_slots(all.times));
            mt_trees_numbers(all.names, all.name_count, mt_predictor_times_slots(all.times), (double)ns, all.numbers + i * all.name_count);
            all.base[i] = mt_rule_log2_real((double)ns);
            all.targets[i] = fmax(-2, fmin(3, mt_rule_log2_real(all.rows[i].ns) - all.base[i]));
        }
    }
}

static mt_trees fit(size_t fold)
{
    mt_trees trees;
    for (size_t i = 0; i < all.row_count; i++) all.is_out[i] = isnan(all.targets[i]) || all.shapes[all.rows[i].shape].fold == fold;
    const mt_boost_data data = {.row_count = all.row_count, .name_count = all.name_count, .numbers = all.numbers, .targets = all.targets, .is_out = all.is_out, .edges = &all.edges[0][0], .edge_counts = all.edge_counts};
    must(mt_boost_fit(&data, &trees, &err) == MT_OK, "fit");
    for (size_t n = 0; n < all.name_count; n++) {
        all.names[n].edges = all.edges[n];
        all.names[n].edge_count = all.edge_counts[n];
    }
    return trees;
}

static double sum_of(const mt_trees *trees, const int64_t *numbers)
{
    uint8_t places[MT_TREES_NAMES];
    for (size_t n = 0; n < all.name_count; n++) places[n] = mt_trees_place(&all.names[n], numbers[n]);
    return mt_trees_sum(trees, places);
}

/* log2 of what the cheapest candidate loses; NAN = none was measured. */
static double loss_on(const shape *s, const mt_trees *trees)
{
    double least = INFINITY, best = INFINITY, chosen = NAN;
    for (size_t i = s->first; i < s->first + s->count; i++) {
        if (isnan(all.targets[i])) continue;
        best = fmin(best, all.rows[i].ns);
        if (!all.is_candidate[all.rows[i].variant]) continue;
        double cost = all.base[i] + sum_of(trees, all.numbers + i * all.name_count);
        if (cost >= least) continue;
        least = cost;
        chosen = all.rows[i].ns;
    }
    return isnan(chosen) ? NAN : mt_rule_log2_real(chosen / best);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_loss(void)
{
    static double losses[MOST_SHAPES];
    size_t count = 0;
    double sum = 0;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        mt_trees trees = fit(fold);
        for (size_t s = 0; s < all.shape_count; s++) {
            double loss = all.shapes[s].is_survey && all.shapes[s].fold == fold ? loss_on(&all.shapes[s], &trees) : NAN;
            if (!isnan(loss)) sum += losses[count++] = loss;
        }
        mt_boost_free(&trees);
    }
    qsort(losses, count, sizeof *losses, by_value);
    size_t most = (size_t)ceil(0.9 * (double)(count + 1)) - 1;
    fprintf(stderr, "fit_correction: %zu rows, %zu shapes; %zu left out: geomean %.4f, nine of ten %.3f, worst %.3f\n", all.row_count, all.shape_count, count, exp2(sum / (double)count),
            exp2(losses[most]), exp2(losses[count - 1]));
    printf("\"loss\":{\"shapes\":%zu,\"mean\":%.6f,\"nine_of_ten\":%.6f,\"worst\":%.6f}", count, sum / (double)count, losses[most], losses[count - 1]);
}

static void print_names(void)
{
    printf(",\n\"names\":[");
    for (size_t n = 0; n < all.name_count; n++) {
        printf("%s{\"name\":\"%s\"", n ? "," : "", all.names[n].name);
        if (all.names[n].part) printf(",\"part\":\"%s\"", mt_trees_part_names[all.names[n].part]);
        for (size_t i = 0; i < all.names[n].text_count; i++) printf("%s\"%s\"", i ? "," : ",\"texts\":[", all.names[n].texts[i]);
        if (all.names[n].text_count) printf("]");
        printf(",\"edges\":[");
        for (size_t i = 0; i < all.names[n].edge_count; i++) printf("%s%" PRId64, i ? "," : "", all.names[n].edges[i]);
        printf("]}\n");
    }
    printf("]");
}

static void print_trees(const mt_trees *trees)
{
    size_t leaves = (size_t)1 << trees->depth;
    printf(",\n\"depth\":%zu,\"trees\":[\n", trees->depth);
    for (size_t t = 0; t < trees->count; t++) {
        const mt_trees_split *splits = trees->splits + t * (leaves - 1);
        printf("\"");
        for (size_t i = 0; i + 1 < leaves; i++) printf("%u %u ", (unsigned)splits[i].name, (unsigned)splits[i].edge);
        for (size_t i = 0; i < leaves; i++) printf("%s%d", i ? " " : "", trees->leaves[t * leaves + i]);
        printf(t + 1 < trees->count ? "\",\n" : "\"]}\n");
    }
}

int main(int argc, char **argv)
{
    mt_spec *spec = NULL;
    must(argc == 5, "usage: fit_correction SPACE FACTS TIMES CANDIDATES");
    must(mt_spec_load(argv[1], &spec, &err) == MT_OK, argv[1]);
    mt_free(spec->model_correction); /* the one before this */
    spec->model_correction = NULL;
    char *json = mt_spec_json(spec), *facts = NULL;
    size_t length;
    must(mt_file_read(argv[2], 1 << 20, &facts, &length, &err) == MT_OK, argv[2]);
    must(mt_predictor_times_make(json, facts, &all.times, &err) == MT_OK && all.times, "no cost model");
    list_names();
    read_times(argv[3]);
    read_candidates(argv[4]);
    compute();
    const char *cc = strstr(facts, "\"cc\":");
    printf("{\"cc\":%ld,", strtol(cc + 5, NULL, 10));
    print_loss();
    printf(",\n\"candidates\":[");
    for (size_t v = 0, count = 0; v < all.variant_count; v++)
        if (all.is_candidate[v]) printf("%s\"%s\"", count++ ? ",\n" : "\n", all.texts[v]);
    printf("]");
    mt_trees trees = fit(FOLDS);
    print_names();
    print_trees(&trees);
    mt_boost_free(&trees);
    mt_spec_free(spec);
    return 0;
}
