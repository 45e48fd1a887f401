/* Uniform draws without replacement.
 *
 * A Fisher–Yates shuffle of 0..count−1 that is drawn only as far as asked: the map holds the places whose content differs from their
 * index, so that memory follows the number of draws. Told points are skipped when drawn, which makes a resumed search visit just what the
 * uninterrupted one would have visited. A space that is not enumerated is sampled, and what was drawn before is drawn again. */
#include "tuner/base/alloc.h"
#include "tuner/base/rng.h"
#include "tuner/search/index_map.h"
#include "tuner/search/strategy.h"

struct state {
    const mt_space *space;
    mt_shard shard;
    size_t count, drawn;
    mt_rng rng;
    mt_index_map moved; /* place → content, where they differ */
    mt_index_map told; /* and, of a sampled space, what was asked */
};

enum { DRAWS = 1000 }; /* a sampled space has far more points than any budget: so many repetitions mean that it is seen all */

static void destroy(void *memory)
{
    struct state *state = memory;
    if (!state) return;
    mt_index_map_free(&state->moved);
    mt_index_map_free(&state->told);
    mt_free(state);
}

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    struct state *state = mt_alloc(1, sizeof *state);
    if (!state) return MT_FAIL(err, MT_ERR_NO_MEMORY, "random search: out of memory");
    state->space = setup->space;
    state->shard = setup->shard;
    state->count = mt_space_count(setup->space);
    mt_rng_seed(&state->rng, setup->seed);
    *out = state;
    return MT_OK;
}

/* The next element of the shuffle. False when memory ran out: the search then ends early, with all it has. */
static bool draw(struct state *state, size_t *point)
{
    size_t place = state->drawn + (size_t)mt_rng_below(&state->rng, state->count - state->drawn);
    size_t first = state->drawn;
    *point = place;
    mt_index_map_get(&state->moved, place, point);
    mt_index_map_get(&state->moved, state->drawn, &first);
    if (place != state->drawn && !mt_index_map_put(&state->moved, place, first)) return false;
    state->drawn++;
    return true;
}

static size_t ask_sampled(struct state *state, size_t *points, size_t capacity)
{
    size_t given = 0, point, draws = DRAWS * mt_shard_count(&state->shard);
    for (size_t i = 0; given < capacity && i < draws && mt_space_sample(state->space, &state->rng, &point); i++) {
        if (!mt_shard_has(&state->shard, state->space, point) || mt_index_map_get(&state->told, point, NULL)) continue;
        if (!mt_index_map_put(&state->told, point, 0)) break;
        points[given++] = point;
        i = 0;
    }
    return given;
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    size_t given = 0;
    if (!mt_space_is_enumerated(state->space)) return ask_sampled(state, points, capacity);
    while (given < capacity && state->drawn < state->count) {
        if (!draw(state, &points[given])) break;
        if (mt_shard_has(&state->shard, state->space, points[given]) && !mt_index_map_get(&state->told, points[given], NULL)) given++;
    }
    return given;
}

static void tell(void *memory, size_t point, double time_ns)
{
    struct state *state = memory;
    (void)time_ns;
    (void)mt_index_map_put(&state->told, point, 0); /* without memory the session's own record still keeps a point from running twice */
}

extern const mt_strategy mt_strategy_random;
const mt_strategy mt_strategy_random = {
    .name = "random",
    .summary = "uniform draws without repetition",
    .splits = true,
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
