/* Every valid point in the file's order. */
#include <limits.h>

#include "tuner/base/alloc.h"
#include "tuner/search/strategy.h"

struct state {
    size_t count, next;
    unsigned char *told; /* one bit a point: a walk over the whole space may hold one bit for each of its points */
};

static void destroy(void *memory)
{
    struct state *state = memory;
    if (!state) return;
    mt_free(state->told);
    mt_free(state);
}

static mt_status create(const mt_search_task *task, void **out, mt_error *err)
{
    if (!mt_space_is_enumerated(task->space))
        return MT_FAIL(err, MT_ERR_UNSUPPORTED, "exhaustive search: about %zu valid points are too many to enumerate; expected another strategy or more constraints", mt_space_count(task->space));
    struct state *state = mt_alloc(1, sizeof *state);
    if (state) {
        state->count = mt_space_count(task->space);
        state->told = mt_alloc(state->count / CHAR_BIT + 1, 1);
    }
    if (!state || !state->told) {
        destroy(state);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "exhaustive search: out of memory");
    }
    *out = state;
    return MT_OK;
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    size_t given = 0;
    for (; given < capacity && state->next < state->count; state->next++) {
        if (state->told[state->next / CHAR_BIT] >> (state->next % CHAR_BIT) & 1) continue;
        points[given++] = state->next;
    }
    return given;
}

static void tell(void *memory, size_t point, double cost_ns)
{
    struct state *state = memory;
    (void)cost_ns;
    if (point < state->count) state->told[point / CHAR_BIT] |= (unsigned char)(1u << (point % CHAR_BIT));
}

extern const mt_strategy mt_strategy_exhaustive;
const mt_strategy mt_strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every valid variant, in the file's order",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
