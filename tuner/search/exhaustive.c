/* Every valid point in the file's order. */
#include "tuner/base/alloc.h"
#include "tuner/search/index_map.h"
#include "tuner/search/strategy.h"

struct state {
    const mt_space *space;
    mt_shard shard;
    size_t next;
    mt_index_map told; /* from `next` on: memory follows what is known, not the size of the space */
};

static void destroy(void *memory)
{
    struct state *state = memory;
    if (!state) return;
    mt_index_map_free(&state->told);
    mt_free(state);
}

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    struct state *state = mt_alloc(1, sizeof *state);
    if (!state) return MT_FAIL(err, MT_ERR_NO_MEMORY, "exhaustive search: out of memory");
    state->space = setup->space;
    state->shard = setup->shard;
    *out = state;
    return MT_OK;
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    size_t given = 0, point;
    while (given < capacity && mt_space_next(state->space, state->next, &point)) {
        state->next = point + 1;
        if (mt_shard_has(&state->shard, state->space, point) && !mt_index_map_get(&state->told, point, NULL)) points[given++] = point;
    }
    return given;
}

static void tell(void *memory, size_t point, double time_ns)
{
    struct state *state = memory;
    (void)time_ns;
    if (point >= state->next) (void)mt_index_map_put(&state->told, point, 0); /* without memory the session's own record still keeps it from running twice */
}

extern const mt_strategy mt_strategy_exhaustive;
const mt_strategy mt_strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every valid variant, in the file's order",
    .splits = true,
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
