/* EXPLORING */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"

struct state {
    mt_model_search search;
    const char *pattern, *late;
    size_t stuck_after, when;
    size_t since; /* tells since the last improvement */
    double best_ns;
};

static void destroy(void *memory)
{
    if (memory) mt_model_search_free(memory);
    mt_free(memory);
}

static mt_status create(const mt_search_task *task, void **out, mt_error *err)
{
    struct state *state = mt_alloc(1, sizeof *state);
    if (!state) return MT_FAIL(err, MT_ERR_NO_MEMORY, "surrogate search: out of memory");
    mt_status st = mt_model_search_init(&state->search, task, err);
    state->pattern = getenv("P1") ? getenv("P1") : "gffgffs";
    state->late = getenv("P2") ? getenv("P2") : state->pattern;
    state->when = getenv("PN") ? (size_t)atoi(getenv("PN")) : 100000;
    state->stuck_after = getenv("PS") ? (size_t)atoi(getenv("PS")) : 25;
    state->best_ns = INFINITY;
    if (st != MT_OK) mt_free(state);
    else *out = state;
    return st;
}

static bool propose(struct state *state, mt_proposal *out)
{
    mt_model_search *search = &state->search;
    size_t known = search->history.count;
    if (mt_history_told(&search->history) < MT_FIRST_SAMPLE || !mt_model_search_refresh(search)) return mt_propose_far(search, out);
    const char *pattern = state->since > state->stuck_after || known >= state->when ? state->late : state->pattern;
    char arm = pattern[known % strlen(pattern)];
    bool ok = false;
    switch (arm) {
    case 'g': ok = mt_propose_gp(search, out); break;
    case 's': ok = mt_propose_sweep(search, false, out); break;
    case 'S': ok = mt_propose_sweep(search, true, out); break;
    case 'f': ok = mt_propose_forest(search, 5, 200, 0, 0, out); break;
    case 'F': ok = mt_propose_forest(search, 5, 60, 60, 60, out); break;
    case 'n': ok = mt_propose_forest(search, 3, 0, 0, 60, out); break;
    case 'm': ok = mt_propose_forest(search, 0, 0, 0, 60, out); break;
    case 'k': ok = mt_propose_forest(search, 0, 0, 0, 1, out); break;
    case 'R': ok = mt_propose_rival(search, out) || mt_propose_far(search, out); break;
    case 'o': ok = mt_propose_offspring(search, 20, out); break;
    case 'O': ok = mt_propose_offspring(search, 10, out); break;
    case 'r': ok = mt_propose_far(search, out); break;
    }
    if (ok) return true;
    return mt_propose_forest(search, 5, 200, 0, 0, out) || mt_propose_far(search, out);
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    struct state *state = memory;
    mt_proposal proposal;
    size_t given = 0;
    while (given < capacity && propose(state, &proposal) && mt_model_search_add(&state->search, proposal)) points[given++] = proposal.point;
    return given;
}

static void tell(void *memory, size_t point, double cost_ns)
{
    struct state *state = memory;
    if (cost_ns < state->best_ns) state->best_ns = cost_ns, state->since = 0;
    else state->since++;
    mt_model_search_tell(&state->search, point, cost_ns);
}

extern const mt_strategy mt_strategy_auto_;
const mt_strategy mt_strategy_auto_ = {
    .name = "auto",
    .summary = "the default",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
