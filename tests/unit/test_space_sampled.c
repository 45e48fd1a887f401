/* Spaces that are sampled: they must hold just the points that enumerating gives. Limits make small ones be sampled, with all conditions counted through (exact) or
 * with some left out (coarse). */
#include "tests/unit/sampled_fixture.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"
#include "tuner/search/strategy.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* Conditional knobs (by ALGO, by another knob, by a let), wide and narrow constraints, one that guards another's division, a `requires`. */
static const char mixed[] = KERNEL SHAPE OUT LAUNCH
    "[algorithm a]\n[algorithm b]\nrequires = N % 64 == 0\n[algorithm c]\nrequires = N == 1\n[let]\nT = K * M\nU = L - 2\n"
    "[param K]\nvalues = 1, 2, 3, 4\nwhen = ALGO == b\n[param M]\nvalues = 1, 2, 3\ndefault = 2\n[param L]\nvalues = 1, 2, 3\n[param R]\nvalues = x, y, z\nwhen = M > 1\n"
    "[param S]\nvalues = 1, 2\nwhen = R == y\n[param V]\nvalues = 1..5\n[param W]\nvalues = 1..6\n"
    "[constraint t]\nexpr = T <= 6\n[constraint guard]\nexpr = L != 2\n[constraint guarded]\nexpr = 6 / U != 0 || L == 2\n[constraint wide]\nexpr = (M + L + V + W) % 3 == 0\n"
    "[constraint s]\nexpr = S == 1 || V < W\n";

/* ---- against the enumeration ---- */

/* The enumerated index of a sampled one. */
static size_t translate(const pair *p, size_t rank)
{
    mt_point point;
    size_t index = SIZE_MAX;
    mt_space_at(p->sampled, rank, &point);
    ck_assert(mt_space_find(p->all, &point, &index));
    return index;
}

static void every_rank_agrees(const pair *p)
{
    size_t found = 0, before = 0;
    for (size_t rank = 0; rank < mt_space_index_limit(p->sampled); rank++) {
        mt_point point;
        size_t index, again;
        mt_space_at(p->sampled, rank, &point);
        bool is_valid = mt_space_find(p->all, &point, &index);
        ck_assert_int_eq(mt_space_find(p->sampled, &point, &again), is_valid);
        if (!is_valid) continue;
        ck_assert_uint_eq(again, rank);
        ck_assert(found == 0 || index == before + 1); /* the same order */
        before = index;
        found++;
    }
    ck_assert_uint_eq(found, mt_space_count(p->all));
}

static void next_visits_all(const pair *p)
{
    size_t found = 0, least = 0, rank, first = SIZE_MAX;
    for (; mt_space_next(p->sampled, least, &rank); least = rank + 1, found++) {
        ck_assert_uint_ge(rank, least);
        ck_assert_uint_eq(translate(p, rank), found);
        if (found == 0) first = rank;
    }
    ck_assert_uint_eq(found, mt_space_count(p->all));
    ck_assert(!mt_space_next(p->sampled, mt_space_index_limit(p->sampled), &rank));
    ck_assert(mt_space_next(p->sampled, first, &rank) && rank == first);
}

static int compare(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void neighbours_agree(const pair *p)
{
    enum { MOST = 256 };
    size_t rank, least = 0;
    for (size_t i = 0; mt_space_next(p->sampled, least, &rank); i++, least = rank + 1) {
        size_t expected[MOST], given[MOST];
        size_t count = mt_space_neighbours(p->all, i, expected, MOST);
        ck_assert_uint_le(count, MOST);
        ck_assert_uint_eq(mt_space_neighbours(p->sampled, rank, given, MOST), count);
        for (size_t k = 0; k < count; k++) given[k] = translate(p, given[k]);
        qsort(given, count, sizeof *given, compare);
        qsort(expected, count, sizeof *expected, compare);
        for (size_t k = 0; k < count; k++) ck_assert_uint_eq(given[k], expected[k]);
    }
}

static void defaults_agree(const pair *p)
{
    for (size_t i = 0; i < p->spec->algorithm_count; i++) {
        size_t expected = 0, given = 0;
        mt_error expected_error = { 0 }, given_error = { 0 };
        mt_status st = mt_space_variant_default(p->all, p->spec->algorithms[i].name, &expected, &expected_error);
        ck_assert_int_eq(mt_space_variant_default(p->sampled, p->spec->algorithms[i].name, &given, &given_error), st);
        if (st == MT_OK) ck_assert_uint_eq(translate(p, given), expected);
        ck_assert_str_eq(given_error.message, expected_error.message);
    }
}

static void first_of_each_value_agrees(const pair *p)
{
    for (size_t v = 0; v < p->spec->algorithm_count; v++) {
        for (size_t param = 0; param < p->spec->param_count; param++) {
            for (int level = 0; level < (int)p->spec->params[param].value_count; level++) {
                size_t expected, given;
                bool is_there = mt_space_first_with(p->all, v, param, level, &expected);
                ck_assert_int_eq(mt_space_first_with(p->sampled, v, param, level, &given), is_there);
                if (is_there) ck_assert_uint_eq(translate(p, given), expected);
            }
        }
    }
}

static void agrees(mt_spec *spec, size_t states)
{
    pair p = make_pair(spec, states);
    every_rank_agrees(&p);
    next_visits_all(&p);
    neighbours_agree(&p);
    defaults_agree(&p);
    first_of_each_value_agrees(&p);
    free_pair(&p);
}

START_TEST(sampled_is_enumerated_exact)
{
    agrees(must_load(FULL_INI), 1 << 20);
    agrees(must_parse(mixed), 1 << 20);
}
END_TEST

START_TEST(sampled_is_enumerated_coarse)
{
    agrees(must_load(FULL_INI), 20);
    agrees(must_parse(mixed), 30);
}
END_TEST

/* The walk that leaves out branches without points gives what the plain one gives. */
START_TEST(a_guided_walk_gives_the_same_points)
{
    for (size_t states = 30; states <= 1 << 20; states *= 32) {
        mt_spec *spec = must_parse(mixed);
        mt_space *all = must_enumerate(spec), *guided = NULL;
        mt_error err = { 0 };
        mt_space_limits limits = { .points = 1000000, .combinations = 0, .effort = UINT64_MAX, .states = states };
        ck_assert_msg(mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &guided, &err) == MT_OK, "%s", err.message);
        ck_assert(mt_space_is_enumerated(guided) && guided->count_error == 0);
        ck_assert_uint_eq(mt_space_count(guided), mt_space_count(all));
        for (size_t i = 0; i < mt_space_count(all); i++) {
            mt_point a, b;
            mt_space_at(all, i, &a);
            mt_space_at(guided, i, &b);
            ck_assert(memcmp(&a, &b, sizeof a) == 0);
        }
        mt_space_free(all);
        mt_space_free(guided);
        mt_spec_free(spec);
    }
}
END_TEST

/* ---- counts ---- */

START_TEST(counts_are_exact_or_estimated)
{
    pair p = make_pair(must_parse(mixed), 1 << 20);
    char text[MT_SPACE_COUNT_SIZE], expected[MT_SPACE_COUNT_SIZE];
    ck_assert(mt_space_count_is_exact(p.sampled));
    ck_assert(p.sampled->count_error == 0);
    ck_assert_uint_eq(mt_space_count(p.sampled), mt_space_count(p.all));
    snprintf(expected, sizeof expected, "%zu", mt_space_count(p.all));
    ck_assert_str_eq(mt_space_count_text(p.sampled, text, sizeof text), expected);
    free_pair(&p);

    p = make_pair(must_parse(mixed), 30);
    double off = (double)mt_space_count(p.sampled) - (double)mt_space_count(p.all);
    ck_assert(!mt_space_count_is_exact(p.sampled));
    ck_assert_msg(p.sampled->count_error > 0 && fabs(off) < 4 * p.sampled->count_error, "off by %g, standard error %g", off, p.sampled->count_error);
    ck_assert(p.sampled->count_error < 0.1 * (double)mt_space_count(p.all));
    mt_space_count_text(p.sampled, text, sizeof text);
    must_contain(text, "about ");
    must_contain(text, " (estimated)");
    free_pair(&p);
}
END_TEST

START_TEST(count_texts)
{
    static const struct { size_t count; const char *text; } cases[] = {
        { 7, "about 7 (estimated)" }, { 999, "about 999 (estimated)" }, { 1000, "about 1.0 k (estimated)" }, { 1040000, "about 1.0 M (estimated)" },
        { 999999, "about 1.0 M (estimated)" }, { 123456789, "about 123 M (estimated)" }, { SIZE_MAX >> 1, "about 9.2 E (estimated)" },
    };
    mt_spec *spec = must_parse(mixed);
    mt_space *space = must_sample(spec, 30);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[MT_SPACE_COUNT_SIZE];
        space->count = cases[i].count;
        ck_assert_str_eq(mt_space_count_text(space, text, sizeof text), cases[i].text);
    }
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* An eighth of the combinations each is kept back by one of the two; the estimates come from 20,000 draws. */
START_TEST(pruned_counts_are_estimated)
{
    mt_spec *spec = must_parse(REST "[param A]\nvalues = 1..8\n[param B]\nvalues = 1..8\n[param C]\nvalues = 1..8\n[constraint a]\nexpr = A != 1\n[constraint c]\nexpr = C != 1\n");
    mt_space *space = must_sample(spec, 1 << 20);
    static const double expected[] = { 64, 56 };
    for (size_t kind = 0; kind < 2; kind++) {
        const char *name, *why;
        bool is_exact;
        double count = (double)mt_space_pruned(space, kind, &name, &why, &is_exact);
        ck_assert(!is_exact);
        ck_assert_msg(fabs(count - expected[kind]) < 6, "%s: %g", name, count);
    }
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* ---- uniformity ---- */

/* Chi-square of the draws against equal chances, in standard deviations above its mean. */
static double chi_square(const pair *p, bool is_naive)
{
    size_t count = mt_space_count(p->all), draws = UNIT_SHARE(200) * count;
    double *seen = calloc(count, sizeof *seen), sum = 0;
    mt_rng rng;
    mt_rng_seed(&rng, 42);
    mt_walker *walker = mt_walker_take(p->all);
    for (size_t i = 0; i < draws; i++) {
        size_t rank, index;
        if (!is_naive) {
            ck_assert(mt_space_sample(p->sampled, &rng, &rank));
            seen[translate(p, rank)]++;
            continue;
        }
        do { /* each knob with equal chances for its levels: valid points, but not uniform */
            for (size_t param = 0; param < p->spec->param_count; param++) {
                int low, high;
                mt_space_levels(p->all, walker, param, &low, &high);
                walker->point.level[param] = (int16_t)(low + (int)mt_rng_below(&rng, (uint64_t)(high - low + 1)));
            }
        } while (!mt_space_find(p->all, &walker->point, &index));
        seen[index]++;
    }
    mt_walker_give(p->all, walker);
    double mean = (double)draws / (double)count;
    for (size_t i = 0; i < count; i++) sum += (seen[i] - mean) * (seen[i] - mean) / mean;
    free(seen);
    return (sum - (double)(count - 1)) / sqrt(2 * (double)(count - 1));
}

START_TEST(draws_are_uniform)
{
    pair p = make_pair(must_parse(mixed), 1 << 20);
    double exact = chi_square(&p, false), naive = chi_square(&p, true);
    free_pair(&p);
    p = make_pair(must_parse(mixed), 30);
    double coarse = chi_square(&p, false);
    free_pair(&p);
    ck_assert_msg(exact < 4, "exact: %g standard deviations above the mean", exact);
    ck_assert_msg(coarse < 4, "coarse: %g standard deviations above the mean", coarse);
    ck_assert_msg(naive > 20, "the test must tell a draw that is not uniform: %g", naive);
}
END_TEST

/* ---- arithmetic that fails ---- */

START_TEST(arithmetic_that_fails_is_the_file_s_error)
{
    static const char text[] = REST "[param A]\nvalues = 1, 2\n[param B]\nvalues = 1..8\n[param K]\nvalues = 1, 0\n[constraint k]\nexpr = A / K > 0\n[constraint b]\nexpr = A + B + K < 10\n";
    mt_spec *spec = must_parse(text);
    for (size_t states = 8; states <= 1 << 20; states <<= 17) {
        mt_space *space = NULL;
        mt_error err = { 0 };
        mt_space_limits limits = limits_of(states);
        ck_assert_int_eq(mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &space, &err), MT_ERR_SPEC);
        must_contain(err.message, "A / K > 0: division by zero (shape s, at A=");
        ck_assert_ptr_null(space);
    }
    mt_spec_free(spec);
}
END_TEST

/* ---- edges ---- */

START_TEST(a_space_without_points)
{
    mt_spec *spec = must_parse(REST "[param A]\nvalues = 1..9\n[param B]\nvalues = 1..9\n[param C]\nvalues = 1..9\n[constraint none]\nexpr = A * B * C == 0\nwhy = nothing\n");
    mt_space *space = NULL;
    mt_error err = { 0 };
    mt_space_limits limits = limits_of(1 << 20);
    size_t index;
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    ck_assert_int_eq(mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &space, &err), MT_OK);
    ck_assert_uint_eq(mt_space_count(space), 0); /* counted: none */
    ck_assert(mt_space_count_is_exact(space));
    ck_assert(!mt_space_sample(space, &rng, &index));
    ck_assert(!mt_space_next(space, 0, &index));
    ck_assert_int_eq(mt_space_default(space, &index, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "[constraint none] A * B * C == 0 (nothing) excludes the default point A=1;ALGO=v;B=1;C=1");
    mt_space_free(space);

    limits = (mt_space_limits){ .points = 10, .combinations = 0, .effort = 700, .states = 8 }; /* neither counted nor walked through: draws have to tell */
    ck_assert_int_eq(mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &space, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "dir/test.ini: shape s: no valid point among 1000000 draws");
    must_contain(err.message, "'none' excludes most");
    mt_spec_free(spec);
}
END_TEST

/* One point of 2^36, whose conditions read knobs eight apart. */
START_TEST(a_rare_point_is_found_by_counting)
{
    mt_strbuf text = { 0 };
    mt_strbuf_add(&text, REST);
    for (int i = 0; i < 36; i++) mt_strbuf_addf(&text, "[param P%d]\nvalues = 0, 1\n", i);
    for (int i = 0; i < 28; i++) mt_strbuf_addf(&text, "[constraint c%d]\nexpr = P%d + P%d == 1\n", i, i, i + 8);
    mt_strbuf_add(&text, "[constraint last]\nexpr = P28 + P29 + P30 + P31 + P32 + P33 + P34 + P35 == 8\n");
    mt_spec *spec = must_parse(mt_strbuf_text(&text));
    mt_space *space = NULL, *sampled = must_sample(spec, 1 << 20);
    mt_error err = { 0 };
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    ck_assert_msg(mt_space_create(spec, &spec->shapes[0], &h100, &space, &err) == MT_OK, "%s", err.message);
    ck_assert(mt_space_is_enumerated(space));
    ck_assert_uint_eq(mt_space_count(space), 1);
    ck_assert_uint_eq(mt_space_count(sampled), 1);
    for (int i = 0; i < 10; i++) {
        mt_point a, b;
        size_t rank;
        ck_assert(mt_space_sample(sampled, &rng, &rank));
        mt_space_at(sampled, rank, &a);
        mt_space_at(space, 0, &b);
        ck_assert(memcmp(&a, &b, sizeof a) == 0);
    }
    mt_space_free(sampled);
    mt_space_free(space);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
}
END_TEST

/* One in two thousand draws is valid: a million points take much longer than they are given. */
START_TEST(draws_end_at_their_time)
{
    static const int64_t patience_ns = 2000000000; /* long enough for one, also on a busy machine */
    mt_strbuf text = { 0 };
    mt_strbuf_add(&text, REST);
    for (int i = 0; i < 8; i++) mt_strbuf_addf(&text, "[param P%d]\nvalues = 0..9\n", i);
    mt_strbuf_add(&text, "[constraint rare]\nexpr = (P0 + 2 * P1 + 9 * P2 + 28 * P3 + 65 * P4 + 126 * P5 + 217 * P6 + 344 * P7) % 2003 == 1\n");
    mt_spec *spec = must_parse(mt_strbuf_text(&text));
    mt_space *space = must_sample(spec, 64);
    mt_rng rng;
    size_t index, found = 0;
    mt_rng_seed(&rng, 1);
    mt_space_draw_until(space, mt_clock_now_ns() + patience_ns);
    for (int i = 0; i < 1000000; i++) found += mt_space_sample(space, &rng, &index);
    ck_assert_msg(found > 0 && found < 1000000, "%zu", found);
    mt_space_free(space);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
}
END_TEST

START_TEST(too_many_combinations_to_be_numbered)
{
    mt_strbuf text = { 0 };
    mt_strbuf_add(&text, REST);
    for (int i = 0; i < 60; i++) mt_strbuf_addf(&text, "[param P%d]\nvalues = 1..10\n", i);
    mt_spec *spec = must_parse(mt_strbuf_text(&text));
    mt_space *space = NULL;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_space_create(spec, &spec->shapes[0], &h100, &space, &err), MT_ERR_UNSUPPORTED);
    must_contain(err.message, "shape s has more than 2000000 valid points");
    must_contain(err.message, "more than 2^63 combinations");
    ck_assert_ptr_null(space);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
}
END_TEST

static mt_status give_up(void *context, mt_error *err)
{
    int *looks = context;
    return --*looks ? MT_OK : MT_FAIL(err, MT_ERR_INTERRUPTED, "enough");
}

START_TEST(the_watch_ends_it_in_every_phase)
{
    mt_spec *spec = must_parse(REST "[param A]\nvalues = 1..40\n[param B]\nvalues = 1..40\n[param C]\nvalues = 1..40\n[param D]\nvalues = 1..40\n[constraint c]\nexpr = (A * B * C + D) % 2 == 0\n");
    mt_space_limits limits = { .points = 1000, .combinations = UINT64_MAX, .effort = 20000000, .states = 200 };
    mt_status st = MT_ERR_INTERRUPTED;
    int n = 1;
    for (; st == MT_ERR_INTERRUPTED && n < 10000; n++) {
        int looks = n;
        const mt_space_watch watch = { give_up, &looks };
        mt_space *space = NULL;
        mt_error err = { 0 };
        st = mt_space_create_limited(spec, &spec->shapes[0], &h100, &watch, &limits, &space, &err);
        ck_assert_msg(st == MT_OK || st == MT_ERR_INTERRUPTED, "%s", err.message);
        ck_assert((st == MT_OK) == (space != NULL));
        mt_space_free(space);
    }
    ck_assert_int_gt(n, 80); /* the pruned counts alone look that often */
    ck_assert_int_eq(st, MT_OK);
    mt_spec_free(spec);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    static const size_t states[] = { 1 << 20, 30 };
    mt_spec *spec = must_parse(mixed);
    for (size_t i = 0; i < 2; i++) {
        mt_status st = MT_ERR_NO_MEMORY;
        size_t n = 1;
        for (; st != MT_OK && n < 10000; n++) {
            mt_space *space = NULL;
            mt_error err = { 0 };
            mt_space_limits limits = limits_of(states[i]);
            mt_alloc_fail_at(n);
            st = mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &space, &err);
            mt_alloc_fail_at(0);
            ck_assert_msg(st == MT_OK || st == MT_ERR_NO_MEMORY, "allocation %zu: %s", n, err.message);
            mt_space_free(space);
        }
        ck_assert_uint_gt(n, 20);
    }
    mt_spec_free(spec);
}
END_TEST

/* ---- large ---- */

static const char large[] = REST
    "[let]\nTHREADS = X * Y\nTILE = X * P\nSMEM = (TILE + Q) * S * 4\n"
    "[param X]\nvalues = 1..32\n[param Y]\nvalues = 1..16\n[param P]\nvalues = 1..10\n[param Q]\nvalues = 0..9\n[param S]\nvalues = 1..8\n[param U]\nvalues = 1..16\n[param W]\nvalues = 1..16\n"
    "[constraint warps]\nexpr = THREADS % 32 == 0\n[constraint smem]\nexpr = SMEM <= 2048\n[constraint unroll]\nexpr = P % U == 0\n[constraint width]\nexpr = W <= X\n";

START_TEST(ten_to_the_eight_are_counted_at_once)
{
    mt_spec *spec = must_parse(large);
    mt_space *space = NULL;
    mt_error err = { 0 };
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    int64_t start = mt_clock_thread_cpu_ns(); /* whatever else this machine does */
    ck_assert_msg(mt_space_create(spec, &spec->shapes[0], &h100, &space, &err) == MT_OK, "%s", err.message);
    double spent = (double)(mt_clock_thread_cpu_ns() - start) * 1e-9;
    ck_assert_uint_gt(mt_space_raw_count(space), 100000000);
    ck_assert_msg(spent < 20, "%.1f s", spent); /* generous: sanitizers */
    ck_assert(mt_space_is_enumerated(space) && mt_space_count(space) > 100000);
    mt_space_limits limits = limits_of(1 << 20);
    mt_space *sampled = NULL;
    ck_assert_msg(mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &sampled, &err) == MT_OK, "%s", err.message);
    ck_assert(mt_space_count_is_exact(sampled));
    ck_assert_uint_eq(mt_space_count(sampled), mt_space_count(space));
    for (int i = 0; i < 1000; i++) {
        mt_point point;
        size_t rank, index;
        ck_assert(mt_space_sample(sampled, &rng, &rank));
        mt_space_at(sampled, rank, &point);
        ck_assert(mt_space_find(space, &point, &index));
    }
    mt_space_free(sampled);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* ---- exhaustive search ---- */

START_TEST(exhaustive_walks_a_sampled_space)
{
    pair p = make_pair(must_parse(mixed), 30);
    const mt_strategy *strategy = mt_strategy_find("exhaustive");
    size_t points[7], known, count = mt_space_count(p.all), given, total = 0;
    void *state = NULL;
    mt_error err = { 0 };
    ck_assert_int_eq(strategy->create(&(mt_search_setup){ .space = p.sampled, .seed = 1, .budget = count }, &state, &err), MT_OK);
    ck_assert(mt_space_next(p.sampled, mt_space_index_limit(p.sampled) / 2, &known));
    strategy->tell(state, known, 1);
    unsigned char *seen = calloc(count, 1);
    while ((given = strategy->ask(state, points, 7)) > 0) {
        for (size_t i = 0; i < given; i++, total++) {
            size_t index = translate(&p, points[i]);
            ck_assert(!seen[index] && points[i] != known);
            seen[index] = 1;
            strategy->tell(state, points[i], 1);
        }
    }
    ck_assert_uint_eq(total, count - 1);
    strategy->destroy(state);
    free(seen);
    free_pair(&p);
}
END_TEST

/* ---- threads ---- */

typedef struct reader {
    const pair *pair;
    uint64_t seed;
    size_t checked;
} reader;

static void *read_space(void *context)
{
    reader *r = context;
    mt_rng rng;
    mt_rng_seed(&rng, r->seed);
    for (int i = 0; i < 300; i++) {
        mt_point point;
        size_t rank, again, next, ours[64], theirs[64], index = 0;
        if (!mt_space_sample(r->pair->sampled, &rng, &rank)) return NULL;
        mt_space_at(r->pair->sampled, rank, &point);
        bool is_right = mt_space_find(r->pair->all, &point, &index) && mt_space_find(r->pair->sampled, &point, &again) && again == rank;
        is_right = is_right && mt_space_next(r->pair->sampled, rank, &next) && next == rank;
        is_right = is_right && mt_space_neighbours(r->pair->sampled, rank, ours, 64) == mt_space_neighbours(r->pair->all, index, theirs, 64);
        r->checked += is_right;
    }
    return NULL;
}

START_TEST(threads_read_at_once)
{
    enum { THREADS = 4 };
    pair p = make_pair(must_parse(mixed), 30);
    pthread_t threads[THREADS];
    reader readers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        readers[i] = (reader){ &p, i, 0 };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_space, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(readers[i].checked, 300);
    }
    free_pair(&p);
}
END_TEST

/* Variant a has most points, c none that is valid. */
START_TEST(one_variant_s_points_are_drawn_evenly)
{
    pair p = make_pair(must_parse(KERNEL SHAPE OUT LAUNCH "[algorithm a]\n[algorithm b]\n[algorithm c]\n[param K]\nvalues = 1..40\nwhen = ALGO == a\n[param M]\nvalues = 1..6\n"
                                  "[constraint some]\nexpr = ALGO == a || M < 5\n[constraint none]\nexpr = ALGO != c\n"), 1 << 20);
    const mt_space *const spaces[] = {p.all, p.sampled};
    mt_rng rng;
    mt_rng_seed(&rng, 3);
    for (size_t k = 0; k < 2; k++) {
        size_t index, seen[7] = {0};
        for (int i = 0; i < 4000; i++) {
            mt_point point;
            ck_assert(mt_space_sample_variant(spaces[k], 1, &rng, &index));
            mt_space_at(spaces[k], index, &point);
            ck_assert_int_eq(point.level[0], 1);
            seen[point.level[2]]++;
        }
        for (size_t m = 0; m < 4; m++) ck_assert_msg(seen[m] > 850 && seen[m] < 1150, "%zu of 1000", seen[m]);
        ck_assert(!mt_space_sample_variant(spaces[k], 2, &rng, &index));
    }
    free_pair(&p);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        sampled_is_enumerated_exact, sampled_is_enumerated_coarse, a_guided_walk_gives_the_same_points, counts_are_exact_or_estimated, count_texts, pruned_counts_are_estimated,
        draws_are_uniform, arithmetic_that_fails_is_the_file_s_error, a_space_without_points, a_rare_point_is_found_by_counting, draws_end_at_their_time, too_many_combinations_to_be_numbered,
        the_watch_ends_it_in_every_phase, every_allocation_may_fail, ten_to_the_eight_are_counted_at_once, exhaustive_walks_a_sampled_space, one_variant_s_points_are_drawn_evenly, threads_read_at_once,
    };
    return unit_run("space_sampled", tests, sizeof tests / sizeof tests[0]);
}
