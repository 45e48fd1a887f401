/* Every strategy of strategies.def keeps the contract of strategy.h: a new one is tested for free. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/toy.h"
#include "tuner/base/alloc.h"
#include "tuner/search/index_map.h"
#include "tuner/search/strategy.h"

/* A bowl with a few holes that fail. */
static double cost_of(size_t point, size_t count)
{
    if (point % 7 == 3) return INFINITY;
    double x = (double)point - 0.7 * (double)count;
    return 1000 + x * x;
}

struct walk {
    size_t *points;
    size_t count;
};

static mt_spec *spec;
static mt_space *space;

static void open_space(size_t points)
{
    char knobs[64];
    snprintf(knobs, sizeof knobs, "[param A]\nvalues = 1..%zu\n", points);
    spec = toy_spec("", knobs);
    space = toy_space(spec);
    ck_assert_uint_eq(mt_space_count(space), points);
}

static void close_space(void)
{
    mt_space_free(space);
    mt_spec_free(spec);
}

/* Asks at most `budget` points in batches; `known` points are told first. Asserts that nothing comes twice. */
static struct walk take_walk(const mt_strategy *strategy, uint64_t seed, size_t budget, size_t batch, const size_t *known, size_t known_count)
{
    size_t count = mt_space_count(space);
    struct walk walk = {calloc(budget + 1, sizeof(size_t)), 0};
    unsigned char *seen = calloc(count, 1);
    size_t points[16];
    void *state = NULL;
    mt_error err = {0};
    ck_assert_msg(strategy->create(&(mt_search_setup){.space = space, .seed = seed, .budget = budget}, &state, &err) == MT_OK, "%s", err.message);
    for (size_t i = 0; i < known_count; i++) {
        seen[known[i]] = 1;
        strategy->tell(state, known[i], cost_of(known[i], count));
    }
    while (walk.count < budget) {
        size_t wanted = budget - walk.count < batch ? budget - walk.count : batch;
        size_t given = strategy->ask(state, points, wanted);
        ck_assert_uint_le(given, wanted);
        if (given == 0) break; /* nothing is outstanding: finished */
        for (size_t i = 0; i < given; i++) {
            ck_assert_msg(points[i] < count && !seen[points[i]], "%s: point %zu", strategy->name, points[i]);
            seen[points[i]] = 1;
            walk.points[walk.count++] = points[i];
        }
        for (size_t i = 0; i < given; i++) strategy->tell(state, points[i], cost_of(points[i], count));
    }
    strategy->destroy(state);
    free(seen);
    return walk;
}

#define EACH_STRATEGY(strategy) \
    for (size_t index_ = 0; index_ < mt_strategy_count(); index_++) \
        for (const mt_strategy *strategy = mt_strategy_at(index_); strategy; strategy = NULL)

START_TEST(covers_without_repeating)
{
    open_space(150);
    EACH_STRATEGY(strategy) {
        struct walk walk = take_walk(strategy, 1, 5000, 16, NULL, 0); /* the budget is larger than the space */
        ck_assert_msg(walk.count == 150, "%s covered %zu of 150", strategy->name, walk.count);
        free(walk.points);
    }
    close_space();
}
END_TEST

START_TEST(same_seed_same_walk)
{
    open_space(500);
    EACH_STRATEGY(strategy) {
        struct walk a = take_walk(strategy, 7, 60, 5, NULL, 0), b = take_walk(strategy, 7, 60, 5, NULL, 0);
        ck_assert_uint_eq(a.count, 60);
        ck_assert_uint_eq(b.count, 60);
        ck_assert_mem_eq(a.points, b.points, 60 * sizeof(size_t));
        free(a.points);
        free(b.points);
    }
    close_space();
}
END_TEST

START_TEST(told_points_are_not_asked)
{
    size_t known[100];
    open_space(200);
    for (size_t i = 0; i < 100; i++) known[i] = 2 * i;
    EACH_STRATEGY(strategy) {
        struct walk walk = take_walk(strategy, 3, 1000, 8, known, 100);
        ck_assert_msg(walk.count == 100, "%s: %zu", strategy->name, walk.count);
        free(walk.points);
        for (size_t i = 0; i < 100; i++) known[i] = i; /* and a whole prefix */
        walk = take_walk(strategy, 3, 1000, 8, known, 100);
        ck_assert_uint_eq(walk.count, 100);
        free(walk.points);
        for (size_t i = 0; i < 100; i++) known[i] = 2 * i;
    }
    close_space();
}
END_TEST

START_TEST(told_in_the_middle)
{
    open_space(50);
    EACH_STRATEGY(strategy) {
        void *state = NULL;
        size_t point, count = 0;
        ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 5, .budget = 50}, &state, NULL), MT_OK);
        ck_assert_uint_eq(strategy->ask(state, &point, 1), 1);
        strategy->tell(state, point, 1.0);
        size_t other = (point + 20) % 50; /* the session knew it, or ran it on its own account */
        strategy->tell(state, other, 2.0);
        size_t asked;
        while (strategy->ask(state, &asked, 1) == 1) {
            ck_assert_uint_ne(asked, other);
            ck_assert_uint_ne(asked, point);
            strategy->tell(state, asked, INFINITY);
            count++;
        }
        ck_assert_uint_eq(count, 48);
        strategy->destroy(state);
    }
    close_space();
}
END_TEST

START_TEST(edges) /* spaces of one to three points, budgets of one and of more than all, the least and the largest seed */
{
    static const size_t sizes[] = {1, 2, 3};
    for (size_t i = 0; i < 3; i++) {
        open_space(sizes[i]);
        EACH_STRATEGY(strategy) {
            struct walk walk = take_walk(strategy, 0, 1, 1, NULL, 0);
            ck_assert_uint_eq(walk.count, 1);
            free(walk.points);
            walk = take_walk(strategy, UINT64_MAX, 100, 16, NULL, 0);
            ck_assert_uint_eq(walk.count, sizes[i]);
            free(walk.points);
            strategy->destroy(NULL);
        }
        close_space();
    }
}
END_TEST

START_TEST(no_room_no_points)
{
    open_space(10);
    EACH_STRATEGY(strategy) {
        void *state = NULL;
        size_t point;
        ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 5, .budget = 10}, &state, NULL), MT_OK);
        ck_assert_uint_eq(strategy->ask(state, &point, 0), 0);
        ck_assert_uint_eq(strategy->ask(state, &point, 1), 1);
        strategy->destroy(state);
    }
    close_space();
}
END_TEST

START_TEST(random_resumes_as_if_uninterrupted)
{
    const mt_strategy *strategy = mt_strategy_find("random");
    open_space(1000);
    struct walk whole = take_walk(strategy, 11, 100, 4, NULL, 0);
    struct walk rest = take_walk(strategy, 11, 60, 4, whole.points, 40);
    ck_assert_mem_eq(rest.points, whole.points + 40, 60 * sizeof(size_t));
    struct walk other = take_walk(strategy, 12, 100, 4, NULL, 0);
    ck_assert_mem_ne(other.points, whole.points, 100 * sizeof(size_t));
    free(whole.points);
    free(rest.points);
    free(other.points);
    close_space();
}
END_TEST

START_TEST(exhaustive_keeps_the_order)
{
    open_space(100);
    struct walk walk = take_walk(mt_strategy_find("exhaustive"), 9, 100, 7, NULL, 0);
    for (size_t i = 0; i < 100; i++) ck_assert_uint_eq(walk.points[i], i);
    free(walk.points);
    close_space();
}
END_TEST

START_TEST(names_and_auto)
{
    open_space(10);
    ck_assert_ptr_null(mt_strategy_find("auto"));
    ck_assert_ptr_null(mt_strategy_find(""));
    ck_assert_ptr_null(mt_strategy_at(mt_strategy_count()));
    EACH_STRATEGY(strategy) {
        ck_assert_ptr_eq(mt_strategy_find(strategy->name), strategy);
        ck_assert(strategy->summary[0] != '\0');
    }
    ck_assert_str_eq(mt_strategy_auto(space, 10)->name, "exhaustive");
    ck_assert_str_eq(mt_strategy_auto(space, 9)->name, "mixed");
    close_space();
}
END_TEST

/* ---- a space as kernels have them: an algorithm knob, knobs of one algorithm only, a constraint, failures ---- */

static const char *const kernel_like = "[param T]\nvalues = 32,64,128,256\n[param W]\nvalues = 1..6\n[param MODE]\nvalues = x, y, z\n"
                                       "[param DEEP]\nvalues = 1,2,4,8\nwhen = MODE == y\n[param LONE]\nvalues = 7\n[constraint work]\nexpr = T * W <= 768\n";

static double kernel_cost(size_t index)
{
    mt_point point;
    mt_space_at(space, index, &point);
    double t = point.level[1], w = point.level[2], mode = point.level[3], deep = point.level[4];
    if (point.level[1] == 3 && point.level[2] == 1) return INFINITY;
    return 1000 + 300 * fabs(t - 2) + 100 * fabs(w - 4) + 400 * (mode != 1) + (deep == MT_INACTIVE ? 0 : 150 * fabs(deep - 3));
}

static void open_kernel_like(void)
{
    spec = toy_spec("", kernel_like);
    space = toy_space(spec);
}

/* Evaluations until the best point is found, `outstanding` results always on their way. */
static size_t evaluations_to_best(const mt_strategy *strategy, uint64_t seed, size_t outstanding)
{
    size_t count = mt_space_count(space), queue[64], head = 0, waiting = 0, told = 0;
    double best = INFINITY;
    void *state = NULL;
    unsigned char *seen = calloc(count, 1);
    for (size_t i = 0; i < count; i++) best = fmin(best, kernel_cost(i));
    ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = seed, .budget = count}, &state, NULL), MT_OK);
    for (;;) {
        size_t fresh[64], given = strategy->ask(state, fresh, outstanding - waiting);
        for (size_t i = 0; i < given; i++) {
            ck_assert(fresh[i] < count && !seen[fresh[i]]);
            seen[fresh[i]] = 1;
            queue[(head + waiting++) % 64] = fresh[i];
        }
        ck_assert_msg(waiting > 0, "%s ended after %zu", strategy->name, told);
        size_t point = queue[head];
        head = (head + 1) % 64;
        waiting--;
        told++;
        strategy->tell(state, point, kernel_cost(point));
        if (kernel_cost(point) <= best) break;
    }
    strategy->destroy(state);
    free(seen);
    return told;
}

static double mean_to_best(const char *name, size_t outstanding)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 6; seed++) sum += (double)evaluations_to_best(mt_strategy_find(name), seed, outstanding) / 6;
    return sum;
}

/* 108 valid points: a random search needs 54 in the mean. */
START_TEST(better_than_chance)
{
    static const char *const names[] = {"local", "genetic", "surrogate", "mixed"};
    open_kernel_like();
    for (size_t i = 0; i < 4; i++) {
        double mean = mean_to_best(names[i], 1);
        ck_assert_msg(mean < (i < 2 ? 45 : 30), "%s: %g", names[i], mean);
    }
    close_space();
}
END_TEST

START_TEST(batches_keep_most_of_it)
{
    open_kernel_like();
    double mean = mean_to_best("mixed", 8);
    ck_assert_msg(mean < 42, "%g", mean);
    close_space();
}
END_TEST

/* Compiling runs ahead of measuring: what is wanted is given, and the first points of a batch are no copies of one another. */
START_TEST(models_fill_a_batch)
{
    size_t points[32];
    open_kernel_like();
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        const mt_strategy *strategy = mt_strategy_at(i);
        bool is_model = strcmp(strategy->name, "surrogate") == 0 || strcmp(strategy->name, "mixed") == 0;
        void *state = NULL;
        if (!is_model) continue;
        ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 1, .budget = 100}, &state, NULL), MT_OK);
        ck_assert_uint_eq(strategy->ask(state, points, 16), 16);
        for (size_t k = 0; k < 9; k++) strategy->tell(state, points[k], kernel_cost(points[k]));
        ck_assert_uint_eq(strategy->ask(state, points, 32), 32);
        strategy->destroy(state);
    }
    close_space();
}
END_TEST

/* Whoever has models tells which of its arms proposed a point: each of them has turns. */
START_TEST(arms_of_models)
{
    enum { ASKED = 60 };
    static const char *const arms[] = {"first sample", "Gaussian process", "forest", "sweep"};
    open_kernel_like();
    EACH_STRATEGY(strategy) {
        size_t counts[4] = {0}, point;
        void *state = NULL;
        if (!strategy->outlook) continue;
        ck_assert_msg(strategy->arm_of, "%s tells no arms", strategy->name);
        ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 3, .budget = 100}, &state, NULL), MT_OK);
        for (size_t asked = 0; asked < ASKED && strategy->ask(state, &point, 1) == 1; asked++) {
            const char *arm = strategy->arm_of(state, point);
            ck_assert_msg(*arm, "%s does not know who proposed evaluation %zu", strategy->name, asked);
            if (asked < 8) ck_assert_str_eq(arm, "first sample");
            for (size_t i = 0; i < 4; i++) counts[i] += strcmp(arm, arms[i]) == 0;
            strategy->tell(state, point, kernel_cost(point));
        }
        for (size_t i = 0; i < 4; i++) ck_assert_msg(counts[i] > 0, "%s: no turn of the arm \"%s\"", strategy->name, arms[i]);
        strategy->destroy(state);
    }
    close_space();
}
END_TEST

START_TEST(all_may_fail)
{
    open_kernel_like();
    size_t count = mt_space_count(space);
    EACH_STRATEGY(strategy) {
        void *state = NULL;
        size_t point, asked = 0;
        ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 2, .budget = count}, &state, NULL), MT_OK);
        for (; strategy->ask(state, &point, 1) == 1; asked++) strategy->tell(state, point, INFINITY);
        ck_assert_msg(asked == count, "%s: %zu of %zu", strategy->name, asked, count);
        strategy->destroy(state);
    }
    close_space();
}
END_TEST

/* ---- hints ---- */

/* Which of the hints came, as bits, within `asks` evaluations; the cost of a hint is `hint_cost`, of others 1000 and more. */
static unsigned hints_taken(const size_t *hints, double hint_cost, size_t asks)
{
    const mt_strategy *strategy = mt_strategy_find("mixed");
    void *state = NULL;
    unsigned taken = 0;
    ck_assert_int_eq(strategy->create(&(mt_search_setup){.space = space, .seed = 3, .budget = 100, .hints = hints, .hint_count = 3}, &state, NULL), MT_OK);
    for (size_t i = 0; i < asks; i++) {
        size_t point;
        bool is_hint = false;
        ck_assert_uint_eq(strategy->ask(state, &point, 1), 1);
        for (unsigned k = 0; k < 3; k++) {
            if (point != hints[k]) continue;
            taken |= 1u << k;
            is_hint = true;
        }
        if (i == 0) ck_assert_uint_eq(point, hints[0]);
        strategy->tell(state, point, is_hint ? hint_cost : kernel_cost(point));
    }
    strategy->destroy(state);
    return taken;
}

START_TEST(hints_open_the_search)
{
    size_t hints[3] = {50, 90, 20};
    open_kernel_like();
    ck_assert_uint_eq(hints_taken(hints, 500, 9), 3);    /* the first led, so the second followed; never a third */
    ck_assert_uint_eq(hints_taken(hints, 9999, 9), 1);   /* a poor donor is dropped */
    ck_assert_uint_eq(hints_taken(hints, INFINITY, 9), 1);
    close_space();
}
END_TEST

START_TEST(out_of_memory)
{
    open_kernel_like();
    EACH_STRATEGY(strategy) {
        for (size_t n = 1; n < 40; n++) {
            void *state = NULL;
            size_t points[20];
            mt_error err = {0};
            mt_alloc_fail_at(n);
            if (strategy->create(&(mt_search_setup){.space = space, .seed = 2, .budget = 60}, &state, &err) != MT_OK) {
                ck_assert_ptr_null(state);
                ck_assert_int_eq(err.status, MT_ERR_NO_MEMORY);
                continue;
            }
            size_t given = strategy->ask(state, points, 20); /* fewer, or none, but no crash */
            for (size_t i = 0; i < given; i++) strategy->tell(state, points[i], kernel_cost(points[i]));
            mt_alloc_fail_at(n);
            strategy->ask(state, points, 3);
            mt_alloc_fail_at(0);
            strategy->destroy(state);
        }
    }
    mt_alloc_fail_at(0);
    close_space();
}
END_TEST

START_TEST(index_map)
{
    mt_index_map map = {0};
    size_t value;
    ck_assert(!mt_index_map_get(&map, 0, &value));
    for (size_t i = 0; i < 5000; i++) ck_assert(mt_index_map_put(&map, i * 37, i));
    for (size_t i = 0; i < 5000; i++) {
        ck_assert(mt_index_map_get(&map, i * 37, &value));
        ck_assert_uint_eq(value, i);
        ck_assert(!mt_index_map_get(&map, i * 37 + 1, NULL));
    }
    ck_assert(mt_index_map_put(&map, 0, 99));
    ck_assert_uint_eq(map.count, 5000);
    ck_assert(mt_index_map_get(&map, 0, &value) && value == 99);
    mt_index_map_free(&map);
}
END_TEST

UNIT_MAIN("strategies", covers_without_repeating, same_seed_same_walk, told_points_are_not_asked, told_in_the_middle, edges, no_room_no_points, random_resumes_as_if_uninterrupted,
    exhaustive_keeps_the_order, names_and_auto, better_than_chance, batches_keep_most_of_it, models_fill_a_batch, arms_of_models, all_may_fail, hints_open_the_search, out_of_memory, index_map)
