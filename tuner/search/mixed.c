/* What `auto` is where the budget does not cover the space: models in turns while they make progress, and arms that look elsewhere when they don't. */
#include <math.h>
#include <stdint.h>

#include "tuner/base/alloc.h"
#include "tuner/search/model_search.h"

enum arm { GP, FOREST, SWEEP, OFFSPRING, SECOND_START };
static const char *const arm_names[] = {[GP] = "Gaussian process", [FOREST] = "forest", [SWEEP] = "sweep", [OFFSPRING] = "offspring", [SECOND_START] = "second start"};
enum { STEPS = 7, STUCK_AFTER = 45, ELITE = 5, PARENTS = 20, DRAWS = 200, HINTS = 2, DOUBT_EVERY = 4 };

/* Schedules: which arm proposes at which step, again and again. */
static const enum arm usual[STEPS] = {GP, FOREST, FOREST, GP, FOREST, FOREST, SWEEP};
static const enum arm slow[STEPS] = {GP, FOREST, OFFSPRING, GP, OFFSPRING, SECOND_START, SWEEP};
static const enum arm stuck[STEPS] = {GP, OFFSPRING, SECOND_START, GP, OFFSPRING, SECOND_START, OFFSPRING};

struct state {
    mt_model_search search; /* first */
    size_t hints[HINTS], hint_count, next_hint;
    bool may_doubt; /* the author's belief: not where the first sample is all there is */
};

static void destroy(void *memory)
{
    struct state *state = memory;
    if (!state) return;
    mt_model_search_free(&state->search);
    mt_free(state);
}

static mt_status create(const mt_search_setup *setup, void **out, mt_error *err)
{
    struct state *state = mt_alloc(1, sizeof *state);
    if (!state) return MT_FAIL(err, MT_ERR_NO_MEMORY, "model-based search: out of memory");
    mt_status st = mt_model_search_init(&state->search, setup, err);
    if (st != MT_OK) {
        mt_free(state);
        return st;
    }
    state->may_doubt = setup->budget > MT_FIRST_SAMPLE;
    for (size_t i = 0; i < setup->hint_count && i < HINTS; i++) state->hints[state->hint_count++] = setup->hints[i];
    *out = state;
    return MT_OK;
}

/* The first hint opens the first sample. The next one follows only if that one was the best of the sample: a donor whose best point
 * loses to a handful of spread ones knows nothing about this space, and its points would only draw the search to where they lie. */
static bool take_hint(struct state *state, mt_proposal *out)
{
    const mt_ledger *ledger = &state->search.ledger;
    while (state->next_hint < state->hint_count) {
        size_t hint = state->hints[state->next_hint];
        if (state->next_hint > 0) {
            bool has_led = ledger->best != SIZE_MAX && ledger->items[ledger->best].point == state->hints[0];
            if (mt_ledger_told(ledger) < MT_FIRST_SAMPLE) return false; /* not known yet */
            if (!has_led) state->next_hint = state->hint_count;
            if (!has_led) return false;
        }
        state->next_hint++;
        if (mt_ledger_knows(ledger, hint)) continue;
        *out = (mt_proposal){hint, NAN, 0};
        return true;
    }
    return false;
}

static bool propose_by(mt_model_search *search, enum arm arm, mt_proposal *out)
{
    switch (arm) {
    case GP: return mt_propose_gp(search, out);
    case SWEEP: return mt_propose_sweep(search, false, out);
    case OFFSPRING: return mt_propose_offspring(search, PARENTS, out);
    case SECOND_START: return mt_propose_second_start(search, out) || mt_propose_central(search, out);
    default: return false; /* the forest is what all fall back to */
    }
}

static enum arm choose_arm(const mt_model_search *search)
{
    const enum arm *schedule = search->since_better > STUCK_AFTER ? stuck : search->since_better > MT_SLOW_AFTER ? slow : usual;
    return schedule[search->ledger.count % STEPS];
}

/* Most of the first sample is what the author believes in; the rest looks whether that is so. */
static bool propose_first(struct state *state, mt_proposal *out)
{
    mt_model_search *search = &state->search;
    bool is_doubt = state->may_doubt && search->ledger.count % DOUBT_EVERY == DOUBT_EVERY - 1;
    return (!is_doubt && mt_propose_believed(search, out)) || mt_propose_central(search, out);
}

static const char *propose(void *memory, mt_proposal *out)
{
    struct state *state = memory;
    mt_model_search *search = &state->search;
    if (take_hint(state, out)) return "hint";
    if (mt_ledger_told(&search->ledger) < MT_FIRST_SAMPLE || !mt_model_search_refresh(search)) return propose_first(state, out) ? "first sample" : NULL;
    enum arm arm = choose_arm(search);
    if (propose_by(search, arm, out)) return arm_names[arm];
    if (mt_propose_forest(search, ELITE, DRAWS, out)) return arm_names[FOREST];
    return mt_propose_central(search, out) ? "first sample" : NULL;
}

static size_t ask(void *memory, size_t *points, size_t capacity)
{
    return mt_model_search_ask(memory, propose, points, capacity);
}

extern const mt_strategy mt_strategy_mixed;
const mt_strategy mt_strategy_mixed = {
    .name = "mixed",
    .summary = "models while they make progress, second starts and offspring when they don't",
    .create = create,
    .ask = ask,
    .tell = mt_model_search_tell,
    .destroy = destroy,
    .outlook = mt_model_search_outlook,
    .arm_of = mt_model_search_arm_of,
};
