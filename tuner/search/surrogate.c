/* A spread first sample, then a Gaussian process over everything and a forest around the best in turns, and now and then a neighbour of the best. */
#include <math.h>

#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"

enum { GP_EVERY = 3, SWEEP_EVERY = 7, ELITE = 5, DRAWS = 200 };

static void destroy(void *memory)
{
    if (memory) mt_model_search_free(memory);
    mt_free(memory);
}

static mt_status create(const mt_search_task *task, void **out, mt_error *err)
{
    mt_model_search *search = mt_alloc(1, sizeof *search);
    if (!search) return MT_FAIL(err, MT_ERR_NO_MEMORY, "surrogate search: out of memory");
    mt_status st = mt_model_search_init(search, task, err);
    if (st != MT_OK) mt_free(search);
    else *out = search;
    return st;
}

static bool propose(mt_model_search *search, mt_proposal *out)
{
    size_t known = search->ledger.count;
    if (mt_ledger_told(&search->ledger) < MT_FIRST_SAMPLE || !mt_model_search_refresh(search)) return mt_propose_central(search, out);
    bool is_gp = known % GP_EVERY == 0;
    if (known % SWEEP_EVERY == 0 && mt_propose_sweep(search, is_gp, out)) return true;
    if (is_gp && mt_propose_gp(search, out)) return true;
    return mt_propose_forest(search, ELITE, DRAWS, out) || mt_propose_central(search, out);
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    mt_model_search *search = memory;
    mt_proposal proposal;
    size_t given = 0;
    while (given < capacity && propose(search, &proposal) && mt_model_search_add(search, proposal)) points[given++] = proposal.point;
    return given;
}

static void tell(void *memory, size_t point, double cost_ns)
{
    mt_model_search_tell(memory, point, cost_ns);
}

static double outlook(void *memory)
{
    return mt_model_search_outlook(memory);
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
};
