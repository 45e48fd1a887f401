/* Simulated annealing: a random neighbour is taken when it is better, or slower by a factor that the temperature lets pass. The temperature
 * falls over the budget from "half as fast again" to about a percent. */
#include <math.h>

#include "tuner/search/offspring.h"
#include "tuner/search/search_base.h"

enum { FREE_MOVES = 64 };
#define HOT 0.5
#define COLD 0.01

struct state {
    mt_search_base base; /* first */
    size_t budget;
    size_t here; /* SIZE_MAX: no success yet */
    double here_ns;
};

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    mt_status st = mt_search_base_create(sizeof(struct state), setup, "annealing", out, err);
    struct state *state = *out;
    if (st != MT_OK) return st;
    state->budget = setup->budget;
    state->here = SIZE_MAX;
    return MT_OK;
}

static void consider(struct state *state, size_t point, double time_ns)
{
    double spent = fmin(1, (double)mt_ledger_told(&state->base.ledger) / (double)state->budget);
    double temperature = HOT * pow(COLD / HOT, spent);
    if (!isfinite(time_ns)) return;
    bool is_taken = state->here == SIZE_MAX || time_ns <= state->here_ns || mt_rng_uniform(&state->base.rng) < exp(-log(time_ns / state->here_ns) / temperature);
    if (!is_taken) return;
    state->here = point;
    state->here_ns = time_ns;
}

/* The next unknown point. Neighbours that are known are considered at once and cost nothing. */
static bool next_point(void *memory, size_t *point)
{
    struct state *state = memory;
    for (int i = 0; i < FREE_MOVES && state->here != SIZE_MAX; i++) {
        if (!mt_random_neighbour(state->base.ledger.space, &state->base.rng, state->here, point)) break;
        if (!mt_ledger_knows(&state->base.ledger, *point)) return true;
        consider(state, *point, mt_ledger_time(&state->base.ledger, *point)); /* of a pending one: NAN, which is not taken */
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
    consider(state, point, time_ns);
}

extern const mt_strategy mt_strategy_annealing;
const mt_strategy mt_strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing: slower neighbours are accepted less and less often",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = mt_search_base_destroy,
};
