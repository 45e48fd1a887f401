/* The correction of a cost model: trees, their fit, their file, and what tuner and library make of them. */
#include "tuner/predictor/boost.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/rng.h"
#include "tuner/base/strbuf.h"
#include "tuner/predictor/predictor_times.h"
#include "tuner/space/points/env.h"
#include "tuner/space/spec/spec_json.h"

static const int64_t edges[] = {-3, 0, 10};

START_TEST(a_number_lies_between_edges)
{
    const mt_trees_name name = {.name = "N", .edges = edges, .edge_count = 3};
    static const struct { int64_t number; uint8_t place; } cases[] = {{MT_TREES_NONE, 0}, {-3, 0}, {-2, 1}, {0, 1}, {1, 2}, {10, 2}, {11, 3}, {INT64_MAX, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) ck_assert_uint_eq(mt_trees_place(&name, cases[i].number), cases[i].place);
    ck_assert_uint_eq(mt_trees_place(&(mt_trees_name){.name = "N"}, 7), 0);
}
END_TEST

/* Depth 2: the first split by name 0, then one by name 1, and one that parts nothing. */
START_TEST(trees_are_summed)
{
    const mt_trees_split splits[] = {{0, 1}, {1, 0}, {0, MT_TREES_NO_EDGE}, {0, MT_TREES_NO_EDGE}, {0, MT_TREES_NO_EDGE}, {0, MT_TREES_NO_EDGE}};
    const int16_t leaves[] = {MT_TREES_UNIT, -MT_TREES_UNIT, 2 * MT_TREES_UNIT, 99, MT_TREES_UNIT / 2, 99, 99, 99};
    const mt_trees trees = {.depth = 2, .count = 2, .name_count = 2, .splits = splits, .leaves = leaves};
    ck_assert_double_eq_tol(mt_trees_sum(&trees, (const uint8_t[]){1, 0}), 1.5, 1e-12);
    ck_assert_double_eq_tol(mt_trees_sum(&trees, (const uint8_t[]){1, 1}), -0.5, 1e-12);
    ck_assert_double_eq_tol(mt_trees_sum(&trees, (const uint8_t[]){2, 1}), 2.5, 1e-12);
}
END_TEST

START_TEST(values_become_numbers)
{
    static const char *const texts[] = {"f16", "bf16"};
    const mt_trees_name name = {.name = "dtype", .texts = texts, .text_count = 2};
    const int64_t list[] = {3, 4};
    ck_assert_int_eq(mt_trees_value(&name, &(mt_value){.kind = MT_VALUE_STRING, .string = "bf16"}), 1);
    ck_assert_int_eq(mt_trees_value(&name, &(mt_value){.kind = MT_VALUE_STRING, .string = "f32"}), MT_TREES_NONE);
    ck_assert_int_eq(mt_trees_value(&name, &(mt_value){.kind = MT_VALUE_UNDEFINED}), MT_TREES_NONE);
    ck_assert_int_eq(mt_trees_value(&(mt_trees_name){.name = "H", .part = MT_TREES_SUM}, &(mt_value){.kind = MT_VALUE_LIST, .list = list, .length = 2}), 7);
}
END_TEST

/* Steps in two of three numbers, and noise in none: what is left of them is little, and the same each time. */
START_TEST(a_fit_finds_steps)
{
    enum { ROWS = 3000, NAMES = 3 };
    int64_t *numbers = mt_alloc(ROWS * NAMES, sizeof *numbers), own_edges[NAMES * MT_TREES_EDGES];
    double *targets = mt_alloc(ROWS, sizeof *targets), worst = 0;
    size_t edge_counts[NAMES];
    mt_trees trees, again;
    mt_error err;
    mt_rng rng;
    mt_rng_seed(&rng, 5);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t n = 0; n < NAMES; n++) numbers[i * NAMES + n] = (int64_t)mt_rng_below(&rng, 100);
        targets[i] = (numbers[i * NAMES] > 40 ? 0.5 : -0.25) + (numbers[i * NAMES + 2] > 70 ? 1 : 0);
    }
    const mt_boost_data data = {.row_count = ROWS, .name_count = NAMES, .numbers = numbers, .targets = targets, .edges = own_edges, .edge_counts = edge_counts};
    ck_assert_int_eq(mt_boost_fit(&data, &trees, &err), MT_OK);
    ck_assert_int_eq(mt_boost_fit(&data, &again, &err), MT_OK);
    ck_assert_uint_eq(trees.count, again.count);
    ck_assert_int_eq(memcmp(trees.leaves, again.leaves, trees.count * ((size_t)1 << trees.depth) * sizeof *trees.leaves), 0);
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t places[NAMES];
        for (size_t n = 0; n < NAMES; n++) {
            const mt_trees_name name = {.name = "", .edges = own_edges + n * MT_TREES_EDGES, .edge_count = edge_counts[n]};
            places[n] = mt_trees_place(&name, numbers[i * NAMES + n]);
        }
        worst = fmax(worst, fabs(mt_trees_sum(&trees, places) - targets[i]));
    }
    ck_assert_double_lt(worst, 0.1);
    mt_boost_free(&trees);
    mt_boost_free(&again);
    MT_FREE_EACH(numbers, targets);
}
END_TEST

/* ---- the file ---- */

static const char ini_text[] = "[kernel]\nname = k\nsource = k.cu\nreference = r\n[shape s]\nN = 100\ndtype = f16\n"
                               "[algorithm v]\n[param BLOCK]\nvalues = 32, 64\n[param MODE]\nvalues = a, b\n"
                               "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1e-3\n[launch 1]\nargs = x\ngrid = N\nblock = BLOCK\n"
                               "[model]\nhalf = N * BLOCK / 2\ntime_ns = 1000 + half\n";
/* Blocks of more than 32 double the time; mode b takes an eighth of an octave from it. */
#define NAMES "\"names\":[{\"name\":\"\",\"edges\":[2000]},{\"name\":\"BLOCK\",\"edges\":[32]},{\"name\":\"MODE\",\"texts\":[\"a\",\"b\"],\"edges\":[0]},{\"name\":\"half\",\"edges\":[]}]"
#define TREES "\"depth\":1,\"trees\":[\"1 0 0 4096\",\"2 0 0 -512\"]"
static const char facts[] = "{\"cc\":90,\"sm_count\":132}";
static mt_error err;

static mt_spec *spec_with(const char *correction)
{
    mt_spec *spec = NULL;
    ck_assert_msg(mt_spec_parse("k.ini", ini_text, strlen(ini_text), &spec, &err) == MT_OK, "%s", err.message);
    spec->model_correction = mt_strdup(correction);
    return spec;
}

static mt_times_of *times_with(const char *correction)
{
    mt_times_of *times = NULL;
    mt_spec *spec = spec_with(correction);
    char *json = mt_spec_json(spec);
    ck_assert_int_eq(mt_predictor_times_make(json, facts, &times, &err), MT_OK);
    mt_free(json);
    mt_spec_free(spec);
    return times;
}

START_TEST(tuner_and_library_agree)
{
    static const struct { const char *point; double factor; } cases[] = {{"ALGO=v;BLOCK=32;MODE=a", 1}, {"ALGO=v;BLOCK=64;MODE=a", 2}, {"ALGO=v;BLOCK=32;MODE=b", 0.917004}, {"ALGO=v;BLOCK=64;MODE=b", 1.834008}};
    static const char correction[] = "{\"cc\":90," NAMES "," TREES "}";
    const mt_device_facts device = {.cc = 90, .sm_count = 132};
    mt_spec *spec = spec_with(correction);
    mt_times_of *times = times_with(correction);
    mt_env *env;
    ck_assert_ptr_nonnull(mt_predictor_times_correction(times));
    ck_assert(mt_predictor_times_set_shape(times, "N=100;dtype=f16"));
    ck_assert_int_eq(mt_env_create(spec, &spec->shapes[0], &device, &env, &err), MT_OK);
    ck_assert_int_eq(mt_env_correct(env, mt_predictor_times_correction(times), &err), MT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_point point;
        double ns, plain = 1000 + 100 * (strstr(cases[i].point, "64") ? 64 : 32) / 2;
        ck_assert_int_eq(mt_point_parse(spec, cases[i].point, &point, &err), MT_OK);
        ck_assert_int_eq(mt_env_set_point(env, &point, &err), MT_OK);
        ck_assert_int_eq(mt_env_time_ns(env, &ns, &err), MT_OK);
        ck_assert_double_eq_tol(ns, cases[i].factor * plain, 0.001 * ns);
        ck_assert_int_eq(mt_predictor_times_at(times, mt_predictor_times_variant(times, cases[i].point)), (int64_t)ns);
    }
    mt_env_free(env);
    mt_predictor_times_free(times);
    mt_spec_free(spec);
}
END_TEST

START_TEST(another_architecture_has_none)
{
    mt_times_of *times = times_with("{\"cc\":80," NAMES "," TREES "}"), *of_none = NULL, *own = times_with("{\"cc\":90," NAMES "," TREES "}");
    mt_spec *spec = NULL;
    ck_assert_int_eq(mt_spec_parse("k.ini", ini_text, strlen(ini_text), &spec, &err), MT_OK);
    char *json = mt_spec_json(spec);
    ck_assert_int_eq(mt_predictor_times_make(json, facts, &of_none, &err), MT_OK);
    ck_assert_ptr_nonnull(times);
    ck_assert_ptr_null(mt_predictor_times_correction(times));
    ck_assert_uint_eq(mt_predictor_times_digest(times), mt_predictor_times_digest(of_none));
    ck_assert_uint_ne(mt_predictor_times_digest(times), mt_predictor_times_digest(own)); /* what was stored with the one does not hold with the other */
    mt_free(json);
    mt_spec_free(spec);
    mt_predictor_times_free(times);
    mt_predictor_times_free(of_none);
    mt_predictor_times_free(own);
}
END_TEST

START_TEST(damaged_ones_are_refused)
{
    static const char *const bad[] = {
        "{\"cc\":90," NAMES "}",
        "{\"cc\":90," TREES "}",
        "{\"cc\":90,\"names\":[{\"name\":\"\",\"edges\":[2000]},{\"name\":\"BLOCK\",\"edges\":[32]},{\"name\":\"WHAT\",\"edges\":[0]}]," TREES "}",
        "{\"cc\":90,\"names\":[{\"name\":\"\",\"edges\":[3,3]},{\"name\":\"BLOCK\",\"edges\":[32]},{\"name\":\"MODE\",\"edges\":[0]}]," TREES "}",
        "{\"cc\":90,\"names\":[{\"name\":\"\"},{\"name\":\"BLOCK\",\"edges\":[32]},{\"name\":\"MODE\",\"edges\":[0]}]," TREES "}",
        "{\"cc\":90," NAMES ",\"depth\":0,\"trees\":[\"0\"]}",
        "{\"cc\":90," NAMES ",\"depth\":9,\"trees\":[\"0\"]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":[\"1 0 0\"]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":[\"1 0 0 4096 1\"]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":[\"4 0 0 4096\"]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":[\"1 256 0 4096\"]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":[\"1 0 0 40960\"]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":[7]}",
        "{\"cc\":90," NAMES ",\"depth\":1,\"trees\":\"1 0 0 4096\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(times_with(bad[i]) == NULL, "%s", bad[i]);
}
END_TEST

static void must_fail(const char *model, const char *expected)
{
    mt_strbuf text = {0};
    mt_spec *spec = NULL;
    mt_strbuf_addf(&text, "%.*s[model]\n%s", (int)(strstr(ini_text, "[model]") - ini_text), ini_text, model);
    ck_assert_int_ne(mt_spec_parse("k.ini", text.text, text.length, &spec, &err), MT_OK);
    ck_assert_msg(strstr(err.message, expected) != NULL, "%s", err.message);
    mt_strbuf_free(&text);
}

START_TEST(files_are_checked)
{
    must_fail("flops = N\ncorrection = c.json\n", "correction: there is no time_ns");
    must_fail("time_ns = N\ncorrection = there/is/none.json\n", "there/is/none.json");
}
END_TEST

UNIT_MAIN("correction", a_number_lies_between_edges, trees_are_summed, values_become_numbers, a_fit_finds_steps, tuner_and_library_agree, another_architecture_has_none, damaged_ones_are_refused,
          files_are_checked)
