/* Simulated annealing: a random neighbour is taken when it is better, or slower by a factor that the temperature lets pass. The temperature
 * falls over the budget from "half as fast again" to about a percent. */
#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"
#include "tuner/search/ledger.h"
#include "tuner/search/offspring.h"
#include "tuner/search/strategy.h"

enum { FREE_MOVES = 64 };
#define HOT 0.5
#define COLD 0.01

struct state {
    mt_ledger ledger;
    mt_rng rng;
    size_t budget;
    size_t here; /* SIZE_MAX: no success yet */
    double here_ns;
};

static void destroy(void *memory)
{
    struct state *state = memory;
    if (!state) return;
    mt_ledger_free(&state->ledger);
    mt_free(state);
}

static mt_status create(const mt_search_task *task, void **out, mt_error *err)
{
    struct state *state = mt_alloc(1, sizeof *state);
    if (!state) return MT_FAIL(err, MT_ERR_NO_MEMORY, "annealing: out of memory");
    mt_ledger_init(&state->ledger, task->space);
    mt_rng_seed(&state->rng, task->seed);
    state->budget = task->budget;
    state->here = SIZE_MAX;
    *out = state;
    return MT_OK;
}

static void consider(struct state *state, size_t point, double cost_ns)
{
    double spent = fmin(1, (double)mt_ledger_told(&state->ledger) / (double)state->budget);
    double temperature = HOT * pow(COLD / HOT, spent);
    if (!isfinite(cost_ns)) return;
    bool is_taken = state->here == SIZE_MAX || cost_ns <= state->here_ns || mt_rng_uniform(&state->rng) < exp(-log(cost_ns / state->here_ns) / temperature);
    if (!is_taken) return;
    state->here = point;
    state->here_ns = cost_ns;
}

/* The next unknown point. Neighbours that are known are considered at once and cost nothing. */
static bool next_point(struct state *state, size_t *point)
{
    for (int i = 0; i < FREE_MOVES && state->here != SIZE_MAX; i++) {
        if (!mt_random_neighbour(state->ledger.space, &state->rng, state->here, point)) break;
        if (!mt_ledger_knows(&state->ledger, *point)) return true;
        consider(state, *point, mt_ledger_cost(&state->ledger, *point)); /* of a pending one: NAN, which is not taken */
    }
    return mt_ledger_draw(&state->ledger, &state->rng, point);
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    size_t given = 0;
    while (given < capacity && next_point(state, &points[given]) && mt_ledger_ask(&state->ledger, points[given], NAN)) given++;
    return given;
}

static void tell(void *memory, size_t point, double cost_ns)
{
    struct state *state = memory;
    mt_ledger_tell(&state->ledger, point, cost_ns);
    consider(state, point, cost_ns);
}

extern const mt_strategy mt_strategy_annealing;
const mt_strategy mt_strategy_annealing = {
    .name = "annealing",
    .summary = "a random walk that cools down",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
