/* A plain genetic algorithm: a population of twenty, parents drawn by rank, uniform crossover, one knob in ten mutated, generations. */
#include <math.h>

#include "tuner/search/offspring.h"
#include "tuner/search/search_base.h"

enum { POPULATION = 20, TRIES = 200 };
#define MUTATION 0.1

struct state {
    mt_search_base base; /* first */
    size_t parents[POPULATION], parent_count;  /* points, best first */
    size_t members[POPULATION], member_count;  /* the generation under way: points, some asked just now, some known before */
};

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    return mt_search_base_create(sizeof(struct state), setup, "genetic search", out, err);
}

static bool is_complete(const struct state *state)
{
    for (size_t i = 0; i < state->member_count; i++) {
        if (isnan(mt_ledger_time(&state->base.ledger, state->members[i]))) return false;
    }
    return state->member_count == POPULATION;
}

static void succeed(struct state *state)
{
    state->parent_count = 0;
    for (size_t i = 0; i < state->member_count; i++) {
        double time_ns = mt_ledger_time(&state->base.ledger, state->members[i]);
        size_t at = state->parent_count++;
        for (; at > 0 && mt_ledger_time(&state->base.ledger, state->parents[at - 1]) > time_ns; at--) state->parents[at] = state->parents[at - 1];
        state->parents[at] = state->members[i];
    }
    state->member_count = 0;
}

/* Rank r of n has weight n − r. */
static size_t draw_parent(struct state *state)
{
    size_t n = state->parent_count, ticket = (size_t)mt_rng_below(&state->base.rng, n * (n + 1) / 2), rank = 0;
    while (ticket >= n - rank) ticket -= n - rank++;
    return state->parents[rank];
}

static bool is_member(const struct state *state, size_t point)
{
    for (size_t i = 0; i < state->member_count; i++) {
        if (state->members[i] == point) return true;
    }
    return false;
}

/* The next member. Children that are known already join for free, with the time that is known; they must not be all there is. */
static bool next_member(struct state *state, size_t *point)
{
    const mt_space *space = state->base.ledger.space;
    for (int i = 0; state->parent_count > 0 && i < TRIES; i++) {
        if (!mt_offspring(space, &state->base.rng, draw_parent(state), draw_parent(state), MUTATION, point) || is_member(state, *point)) continue;
        if (!mt_ledger_knows(&state->base.ledger, *point) || i < TRIES / 2) return true;
    }
    return mt_ledger_draw(&state->base.ledger, &state->base.rng, point);
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    size_t given = 0, for_free = 0;
    while (given < capacity) {
        size_t point;
        if (is_complete(state)) succeed(state);
        if (state->member_count == POPULATION || !next_member(state, &point)) break; /* waits for results, or has seen everything */
        if (mt_ledger_knows(&state->base.ledger, point)) {
            /* A population that breeds only what is known has converged. */
            if (++for_free > POPULATION && !mt_ledger_draw(&state->base.ledger, &state->base.rng, &point)) break;
        }
        if (!mt_ledger_knows(&state->base.ledger, point)) {
            if (!mt_ledger_ask(&state->base.ledger, point, NAN)) break;
            points[given++] = point;
            for_free = 0;
        }
        state->members[state->member_count++] = point;
    }
    return given;
}

static void tell(void *memory, size_t point, double time_ns)
{
    struct state *state = memory;
    bool was_asked = mt_ledger_knows(&state->base.ledger, point);
    mt_ledger_tell(&state->base.ledger, point, time_ns);
    /* What the session knew already is as good a first generation as any. */
    if (!was_asked && state->parent_count == 0 && state->member_count < POPULATION) state->members[state->member_count++] = point;
}

extern const mt_strategy mt_strategy_genetic;
const mt_strategy mt_strategy_genetic = {
    .name = "genetic",
    .summary = "generations of 20, crossover and mutation",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = mt_search_base_destroy,
};
