/* Parts of a space: disjoint, together the space, equally large, each spread over all of it. */
#include "tests/unit/unit.h"

#include "tests/unit/sampled_fixture.h"
#include "tests/unit/toy.h"
#include "tuner/search/strategy.h"

static mt_spec *spec;
static mt_space *space;

static void open_space(const char *knobs)
{
    spec = toy_spec("", knobs);
    space = toy_space(spec);
}

static void close_space(void)
{
    mt_space_free(space);
    mt_spec_free(spec);
}

START_TEST(texts)
{
    mt_shard shard = {0};
    ck_assert(mt_shard_parse("1/1", &shard) && shard.index == 0 && shard.count == 1);
    ck_assert(mt_shard_parse("3/8", &shard) && shard.index == 2 && shard.count == 8);
    ck_assert(mt_shard_parse("100000/100000", &shard));
    static const char *const bad[] = {"", "/", "3", "3/", "/8", "0/8", "9/8", "-1/8", "1/0", "1/100001", "1/8x", "1 /8", "1/8/9", "99999999999999999999/8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) ck_assert_msg(!mt_shard_parse(bad[i], &shard), "%s", bad[i]);
}
END_TEST

START_TEST(parts_are_the_space)
{
    static const int sizes[] = {1, 2, 7, 8, 100, 833, 1024};
    static const size_t counts[] = {1, 2, 3, 8, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char knobs[64];
        snprintf(knobs, sizeof knobs, "[param A]\nvalues = 1..%d\n", sizes[i]);
        open_space(knobs);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            size_t total = 0, least = SIZE_MAX, most = 0;
            for (size_t index = 0; index < counts[k]; index++) {
                mt_shard shard = {index, counts[k]};
                size_t size = 0;
                for (size_t point = 0; point < (size_t)sizes[i]; point++) size += mt_shard_has(&shard, space, point);
                ck_assert_uint_eq(size, mt_shard_size(&shard, space));
                total += size;
                least = size < least ? size : least;
                most = size > most ? size : most;
            }
            ck_assert_uint_eq(total, sizes[i]);
            ck_assert_uint_le(most - least, 1);
        }
        for (size_t point = 0; point < (size_t)sizes[i]; point++) {
            size_t owners = 0;
            for (size_t index = 0; index < 8; index++) owners += mt_shard_has(&(mt_shard){index, 8}, space, point);
            ck_assert_uint_eq(owners, 1);
        }
        close_space();
    }
}
END_TEST

/* Counting off by the index would give a shard one value of the last knob. */
START_TEST(parts_see_every_value)
{
    open_space("[param A]\nvalues = 1..32\n[param B]\nvalues = 1..8\n");
    for (size_t index = 0; index < 8; index++) {
        unsigned seen_a = 0, seen_b = 0;
        for (size_t point = 0; point < 256; point++) {
            if (!mt_shard_has(&(mt_shard){index, 8}, space, point)) continue;
            seen_a |= 1u << point / 8;
            seen_b |= 1u << point % 8;
        }
        ck_assert_msg(seen_b == 0xff, "shard %zu: values %x of B", index, seen_b);
        ck_assert_msg(__builtin_popcount(seen_a) >= 20, "shard %zu: values %x of A", index, seen_a);
    }
    close_space();
}
END_TEST

/* Asks a strategy for all it has; counts into seen[point]. */
static size_t walk(const mt_strategy *strategy, const mt_space *of, mt_shard shard, uint64_t seed, unsigned char *seen)
{
    void *state = NULL;
    mt_error err = {0};
    size_t points[7], total = 0, given;
    const mt_search_setup setup = {.space = of, .seed = seed, .budget = 1000, .shard = shard};
    ck_assert_msg(strategy->create(&setup, &state, &err) == MT_OK, "%s", err.message);
    while ((given = strategy->ask(state, points, 7)) > 0) {
        for (size_t i = 0; i < given; i++) {
            seen[points[i]]++;
            strategy->tell(state, points[i], 1);
        }
        total += given;
    }
    strategy->destroy(state);
    return total;
}

START_TEST(strategies_that_split_keep_to_it)
{
    size_t splitting = 0;
    open_space("[param A]\nvalues = 1..10\n[param B]\nvalues = 1..15\n");
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        const mt_strategy *strategy = mt_strategy_at(i);
        unsigned char seen[150] = {0};
        if (!strategy->splits) continue;
        splitting++;
        for (size_t index = 0; index < 4; index++) { /* whatever the seeds */
            mt_shard shard = {index, 4};
            ck_assert_uint_eq(walk(strategy, space, shard, index, seen), mt_shard_size(&shard, space));
        }
        for (size_t point = 0; point < 150; point++) ck_assert_msg(seen[point] == 1, "%s: point %zu: %d times", strategy->name, point, seen[point]);
    }
    ck_assert_uint_eq(splitting, 2); /* exhaustive and random */
    close_space();
}
END_TEST

START_TEST(sampled_spaces_are_split_too)
{
    pair p = make_pair(toy_spec("", "[param A]\nvalues = 1..12\n[param B]\nvalues = 1..12\n[constraint c]\nexpr = A + B < 20\n"), 1000);
    size_t limit = mt_space_index_limit(p.sampled), count = mt_space_count(p.all);
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        const mt_strategy *strategy = mt_strategy_at(i);
        if (!strategy->splits) continue;
        unsigned char *seen = calloc(limit, 1);
        size_t total = 0, most = 0;
        for (size_t index = 0; index < 3; index++) {
            size_t size = walk(strategy, p.sampled, (mt_shard){index, 3}, 5, seen);
            total += size;
            most = size > most ? size : most;
        }
        for (size_t point = 0; point < limit; point++) ck_assert_uint_le(seen[point], 1);
        ck_assert_msg(total == count, "%s: %zu of %zu", strategy->name, total, count);
        ck_assert_uint_lt(most, count / 2);
        free(seen);
    }
    free_pair(&p);
}
END_TEST

START_TEST(islands_differ)
{
    mt_shard none = {0}, first = {0, 8}, second = {1, 8};
    ck_assert_uint_eq(mt_shard_seed(&none, 7), 7);
    ck_assert_uint_ne(mt_shard_seed(&first, 7), mt_shard_seed(&second, 7));
    ck_assert_uint_ne(mt_shard_seed(&first, 7), mt_shard_seed(&first, 8));
    ck_assert_uint_eq(mt_shard_seed(&second, 7), mt_shard_seed(&second, 7));
}
END_TEST

UNIT_MAIN("shard", texts, parts_are_the_space, parts_see_every_value, strategies_that_split_keep_to_it, sampled_spaces_are_split_too, islands_differ)
