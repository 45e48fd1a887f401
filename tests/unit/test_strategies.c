/* Every strategy of strategies.def keeps the contract of strategy.h: a new one is tested for free. */
#include "tests/unit/unit.h"

#include <math.h>

#include "tests/unit/toy.h"
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
    ck_assert_msg(strategy->create(&(mt_search_task){.space = space, .seed = seed, .budget = budget}, &state, &err) == MT_OK, "%s", err.message);
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
    open_space(500);
    EACH_STRATEGY(strategy) {
        struct walk walk = take_walk(strategy, 1, 5000, 16, NULL, 0); /* the budget is larger than the space */
        ck_assert_msg(walk.count == 500, "%s covered %zu of 500", strategy->name, walk.count);
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
        ck_assert_int_eq(strategy->create(&(mt_search_task){.space = space, .seed = 5, .budget = 50}, &state, NULL), MT_OK);
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

START_TEST(edges)
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
        ck_assert_int_eq(strategy->create(&(mt_search_task){.space = space, .seed = 5, .budget = 10}, &state, NULL), MT_OK);
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
    ck_assert_str_eq(mt_strategy_auto(space, 9)->name, "random");
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
    exhaustive_keeps_the_order, names_and_auto, index_map)
