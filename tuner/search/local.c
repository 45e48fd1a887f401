/* Iterated local search with restarts.
 *
 * From a point to any better neighbour (one knob changed), until none is better; then a kick of a few random steps, and down again. A few
 * kicks that lead to nothing better are followed by a fresh random point. Neighbours that are known already cost nothing: the search goes
 * through them at once. */
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/search/offspring.h"
#include "tuner/search/search_base.h"

enum { KICK_STEPS = 3, KICKS = 4, FREE_MOVES = 64, STARTS = 4 };

struct state {
    mt_search_base base; /* first */
    size_t *around, around_count, around_capacity, next; /* neighbours of `here`, shuffled */
    size_t here, home;                                   /* where the search is; the best local optimum since the restart. SIZE_MAX: none */
    size_t kicks, starts;                                /* starts: how many are still to be asked */
    bool is_starting;                                    /* results of starts may still come */
};

static void destroy(void *memory)
{
    struct state *state = memory;
    if (state) mt_free(state->around);
    mt_search_base_destroy(state);
}

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(setup->space);
    mt_status st = mt_search_base_create(sizeof(struct state), setup, "local search", out, err);
    struct state *state = *out;
    if (st != MT_OK) return st;
    for (size_t i = 0; i < spec->param_count; i++) state->around_capacity += spec->params[i].value_count;
    state->here = state->home = SIZE_MAX;
    if ((state->around = mt_alloc(state->around_capacity, sizeof *state->around))) return MT_OK;
    destroy(state);
    *out = NULL;
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "local search: out of memory");
}

static void go(struct state *state, size_t point)
{
    state->here = point;
    state->next = 0;
    state->around_count = mt_space_neighbours(state->base.ledger.space, point, state->around, state->around_capacity);
    for (size_t i = state->around_count; i > 1; i--) {
        size_t other = (size_t)mt_rng_below(&state->base.rng, i), kept = state->around[i - 1];
        state->around[i - 1] = state->around[other];
        state->around[other] = kept;
    }
}

/* Down through what is known. False: no known neighbour is better. */
static bool descend(struct state *state)
{
    double here = mt_ledger_time(&state->base.ledger, state->here);
    for (size_t i = 0; i < state->around_count; i++) {
        if (!(mt_ledger_time(&state->base.ledger, state->around[i]) < here)) continue; /* of a pending or unknown one: NAN */
        go(state, state->around[i]);
        return true;
    }
    return false;
}

static bool is_waiting(const struct state *state)
{
    if (isnan(mt_ledger_time(&state->base.ledger, state->here))) return true;
    for (size_t i = 0; i < state->around_count; i++) {
        if (mt_ledger_knows(&state->base.ledger, state->around[i]) && isnan(mt_ledger_time(&state->base.ledger, state->around[i]))) return true;
    }
    return false;
}

/* `here` is a local optimum. Goes on from a kicked point, which may be unknown: then it is written to *point. False: start afresh. */
static bool kick(struct state *state, size_t *point, bool *is_fresh)
{
    bool is_better = state->home == SIZE_MAX || mt_ledger_time(&state->base.ledger, state->here) < mt_ledger_time(&state->base.ledger, state->home);
    if (is_better) {
        state->home = state->here;
        state->kicks = 0;
    } else if (state->kicks++ >= KICKS) {
        return false;
    }
    *point = state->home;
    for (int i = 0; i < KICK_STEPS; i++) {
        if (!mt_random_neighbour(state->base.ledger.space, &state->base.rng, *point, point)) return false;
    }
    *is_fresh = !mt_ledger_knows(&state->base.ledger, *point);
    if (*is_fresh || !isnan(mt_ledger_time(&state->base.ledger, *point))) go(state, *point);
    return true;
}

/* The best of a few random points is where a search begins; meanwhile `here` is the best so far. */
static bool restart(struct state *state, size_t *point)
{
    state->home = state->here = SIZE_MAX;
    state->kicks = 0;
    state->around_count = state->next = 0;
    state->starts = STARTS - 1;
    state->is_starting = true;
    return mt_ledger_draw(&state->base.ledger, &state->base.rng, point);
}

/* The next unknown point; false: none for now. */
static bool next_point(void *memory, size_t *point)
{
    struct state *state = memory;
    for (int moves = 0; moves < FREE_MOVES; moves++) {
        bool is_fresh = false;
        if (state->starts > 0) {
            state->starts--;
            return mt_ledger_draw(&state->base.ledger, &state->base.rng, point);
        }
        if (state->here == SIZE_MAX) {
            if (state->base.ledger.pending_count > 0) return false;
            return restart(state, point);
        }
        if (state->is_starting && state->base.ledger.pending_count > 0) return false;
        state->is_starting = false;
        if (descend(state)) continue;
        while (state->next < state->around_count) {
            *point = state->around[state->next++];
            if (!mt_ledger_knows(&state->base.ledger, *point)) return true;
        }
        if (is_waiting(state)) return false;
        if (!kick(state, point, &is_fresh)) return restart(state, point);
        if (is_fresh) return true;
    }
    return mt_ledger_draw(&state->base.ledger, &state->base.rng, point);
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    return mt_search_base_ask(memory, next_point, points, capacity);
}

static void tell(void *memory, size_t point, double time_ns)
{
    struct state *state = memory;
    mt_ledger_tell(&state->base.ledger, point, time_ns);
    if (!isfinite(time_ns)) {
        if (point == state->here) state->here = SIZE_MAX; /* a kick into a hole */
        return;
    }
    if (state->here == SIZE_MAX) go(state, point);
    bool is_near = state->is_starting;
    for (size_t i = 0; i < state->around_count && !is_near; i++) is_near = state->around[i] == point;
    if (is_near && time_ns < mt_ledger_time(&state->base.ledger, state->here)) go(state, point);
}

extern const mt_strategy mt_strategy_local;
const mt_strategy mt_strategy_local = {
    .name = "local",
    .summary = "downhill from random points, with kicks and restarts",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
