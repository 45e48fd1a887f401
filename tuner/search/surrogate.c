/* A spread first sample, then a Gaussian process over everything and a forest around the best in turns, and now and then a neighbour of the best. */
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"

enum arm { GP, FOREST, SWEEP, FIRST_SAMPLE };
static const char *const arm_names[] = {[GP] = "process", [FOREST] = "forest", [SWEEP] = "sweep", [FIRST_SAMPLE] = "first sample"};
enum { GP_EVERY = 3, SWEEP_EVERY = 7, ELITE = 5, DRAWS = 200 };

struct state {
    mt_model_search search;
    mt_index_map arms; /* by which arm each point was asked */
};

static void destroy(void *memory)
{
    struct state *state = memory;
    if (!state) return;
    mt_model_search_free(&state->search);
    mt_index_map_free(&state->arms);
    mt_free(state);
}

static mt_status create(const mt_search_task *task, void **out, mt_error *err)
{
    struct state *state = mt_alloc(1, sizeof *state);
    if (!state) return MT_FAIL(err, MT_ERR_NO_MEMORY, "surrogate search: out of memory");
    mt_status st = mt_model_search_init(&state->search, task, err);
    if (st != MT_OK) mt_free(state);
    else *out = state;
    return st;
}

static bool propose(mt_model_search *search, mt_proposal *out, enum arm *arm)
{
    size_t known = search->ledger.count;
    *arm = FIRST_SAMPLE;
    if (mt_ledger_told(&search->ledger) < MT_FIRST_SAMPLE || !mt_model_search_refresh(search)) return mt_propose_central(search, out);
    bool is_gp = known % GP_EVERY == 0;
    *arm = SWEEP;
    if (known % SWEEP_EVERY == 0 && mt_propose_sweep(search, is_gp, out)) return true;
    *arm = GP;
    if (is_gp && mt_propose_gp(search, out)) return true;
    *arm = FOREST;
    if (mt_propose_forest(search, ELITE, DRAWS, out)) return true;
    *arm = FIRST_SAMPLE;
    return mt_propose_central(search, out);
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    mt_proposal proposal;
    size_t given = 0;
    enum arm arm;
    while (given < capacity && propose(&state->search, &proposal, &arm) && mt_model_search_add(&state->search, proposal)) {
        points[given++] = proposal.point;
        (void)mt_index_map_put(&state->arms, proposal.point, arm); /* without memory its arm is not known, and nothing else is lost */
    }
    return given;
}

static void tell(void *memory, size_t point, double cost_ns)
{
    mt_model_search_tell(&((struct state *)memory)->search, point, cost_ns);
}

static double outlook(void *memory)
{
    return mt_model_search_outlook(&((struct state *)memory)->search);
}

static const char *arm_of(const void *memory, size_t point)
{
    const struct state *state = memory;
    size_t arm;
    return mt_index_map_get(&state->arms, point, &arm) ? arm_names[arm] : "";
}

extern const mt_strategy mt_strategy_surrogate;
const mt_strategy mt_strategy_surrogate = {
    .name = "surrogate",
    .summary = "a Gaussian process and a forest of random trees in turns",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
    .outlook = outlook,
    .arm_of = arm_of,
};
