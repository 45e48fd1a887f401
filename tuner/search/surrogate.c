/* A spread first sample, then a Gaussian process over everything and a forest around the best in turns, and now and then a neighbour of the best. */
#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"

enum { GP_EVERY = 3, SWEEP_EVERY = 7, ELITE = 5, DRAWS = 200 };

static void destroy(void *state)
{
    if (state) mt_model_search_free(state);
    mt_free(state);
}

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    mt_model_search *search = mt_alloc(1, sizeof *search);
    if (!search) return MT_FAIL(err, MT_ERR_NO_MEMORY, "surrogate search: out of memory");
    mt_status st = mt_model_search_init(search, setup, err);
    if (st != MT_OK) mt_free(search);
    else *out = search;
    return st;
}

static const char *propose(void *state, mt_proposal *out)
{
    mt_model_search *search = state;
    size_t known = search->ledger.count;
    if (mt_ledger_told(&search->ledger) >= MT_FIRST_SAMPLE && mt_model_search_refresh(search)) {
        bool is_gp = known % GP_EVERY == 0;
        if (known % SWEEP_EVERY == 0 && mt_propose_sweep(search, is_gp, out)) return "sweep";
        if (is_gp && mt_propose_gp(search, out)) return "Gaussian process";
        if (mt_propose_forest(search, ELITE, DRAWS, out)) return "forest";
    }
    return mt_propose_central(search, out) ? "first sample" : NULL;
}

static size_t ask(void *state, size_t *points, size_t capacity)
{
    return mt_model_search_ask(state, propose, points, capacity);
}

extern const mt_strategy mt_strategy_surrogate;
const mt_strategy mt_strategy_surrogate = {
    .name = "surrogate",
    .summary = "a Gaussian process and a forest of random trees in turns",
    .create = create,
    .ask = ask,
    .tell = mt_model_search_tell,
    .destroy = destroy,
    .outlook = mt_model_search_outlook,
    .arm_of = mt_model_search_arm_of,
};
