/* How many points there are below a prefix, without walking over them.
 *
 * What the knobs 0 … d − 1 leave possible depends only on those of them that conditions still to come read. So prefixes that agree in these "live" knobs share one
 * state, whose count is computed once: a decision diagram over the knobs, made top-down, with conditions pruning as in the walk. From the counts follow the number
 * of valid points and a uniform draw (space_sample.c).
 *
 * Conditions that read knobs far apart keep many knobs live. Where that takes more states than the limit, conditions are left out until it doesn't; the counts are
 * then of a set that holds all valid points and some others, and whoever draws has to look at the rest of the conditions. */
#include <float.h>

#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"

typedef struct state {
    uint64_t rank_plus_one; /* of the live knobs; 0 = empty */
    uint64_t count;
    uint32_t depth;
} state;

struct mt_diagram {
    uint64_t live[MT_MAX_PARAMS + 1]; /* per depth */
    bool *is_out;                     /* conditions left out: the space's checks, then its whens by knob */
    size_t out_count;
    size_t out_at[MT_MAX_PARAMS];     /* of each depth's */
    state *states;                    /* open addressing; capacity is a power of two */
    size_t capacity, count;
    uint64_t total;
};

/* ---- which conditions ---- */

static size_t condition_count(const mt_space *space)
{
    return space->check_count + space->spec->param_count;
}

static const mt_check *condition(const mt_space *space, size_t i)
{
    return i < space->check_count ? &space->checks[i] : &space->whens[i - space->check_count];
}

/* A knob is live at depth d if it lies before d and a condition of depth d or later reads it. ALGO always is: what is active depends on it. */
static void find_live(mt_diagram *diagram, const mt_space *space)
{
    for (size_t d = 0; d < space->spec->param_count; d++) {
        uint64_t knobs = 1;
        for (size_t i = 0; i < condition_count(space); i++) {
            const mt_check *check = condition(space, i);
            if (check->expr && !diagram->is_out[i] && check->depth >= (int)d) knobs |= check->knobs;
        }
        diagram->live[d] = knobs & ((UINT64_C(1) << d) - 1);
    }
}

/* An upper bound on the states, and with it on time and memory. */
static double bound_states(mt_diagram *diagram, const mt_space *space)
{
    double total = 0;
    find_live(diagram, space);
    for (size_t d = 1; d < space->spec->param_count; d++) {
        double states = 1;
        for (uint64_t left = diagram->live[d]; left; left &= left - 1) states *= (double)mt_rank_digits(space, (size_t)__builtin_ctzll(left));
        total += states;
    }
    return total;
}

static int knob_count(const mt_check *check)
{
    return __builtin_popcountll(check->knobs);
}

/* Leaves out the condition whose absence saves most; of equals the one that reads most knobs. False: none is left. */
static bool leave_one_out(mt_diagram *diagram, const mt_space *space)
{
    double least = DBL_MAX;
    size_t chosen = condition_count(space);
    for (size_t i = 0; i < condition_count(space); i++) {
        const mt_check *check = condition(space, i);
        if (!check->expr || diagram->is_out[i] || knob_count(check) == 0) continue;
        diagram->is_out[i] = true;
        double states = bound_states(diagram, space);
        diagram->is_out[i] = false;
        bool is_better = chosen == condition_count(space) || states < least || (states == least && knob_count(check) > knob_count(condition(space, chosen)));
        if (!is_better) continue;
        least = states;
        chosen = i;
    }
    if (chosen == condition_count(space)) return false;
    diagram->is_out[chosen] = true;
    diagram->out_count++;
    diagram->out_at[condition(space, chosen)->depth]++;
    return true;
}

/* ---- states ---- */

static state *find_state(const mt_diagram *diagram, uint64_t rank, size_t depth)
{
    uint64_t hash = (rank * 64 + depth) * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash ^ hash >> 29) & (diagram->capacity - 1);
    while (diagram->states[at].rank_plus_one && (diagram->states[at].rank_plus_one != rank + 1 || diagram->states[at].depth != depth)) at = (at + 1) & (diagram->capacity - 1);
    return &diagram->states[at];
}

static bool grow(mt_diagram *diagram)
{
    mt_diagram larger = *diagram;
    larger.capacity = diagram->capacity ? 2 * diagram->capacity : 256;
    larger.states = mt_alloc(larger.capacity, sizeof *larger.states);
    if (!larger.states) return false;
    for (size_t i = 0; i < diagram->capacity; i++) {
        const state *old = &diagram->states[i];
        if (old->rank_plus_one) *find_state(&larger, old->rank_plus_one - 1, old->depth) = *old;
    }
    mt_free(diagram->states);
    *diagram = larger;
    return true;
}

static uint64_t key_of(const mt_diagram *diagram, const mt_space *space, const mt_walker *walker, size_t param)
{
    return mt_rank_of(space, &walker->point, diagram->live[param]);
}

uint64_t mt_diagram_below(const mt_diagram *diagram, const mt_space *space, const mt_walker *walker, size_t param)
{
    if (param == space->spec->param_count) return 1;
    if (param == 0) return diagram->total;
    return find_state(diagram, key_of(diagram, space, walker, param), param)->count; /* 0 where conditions that hold never lead */
}

/* ---- conditions, less those left out ---- */

void mt_diagram_levels(const mt_diagram *diagram, const mt_space *space, mt_walker *walker, size_t param, int *low, int *high)
{
    if (!diagram->is_out[space->check_count + param]) {
        (void)mt_space_levels(space, walker, param, low, high); /* FAILED: all levels */
        return;
    }
    mt_activity activity = (mt_activity)space->activities[(size_t)walker->point.level[0] * space->spec->param_count + param];
    *low = activity == MT_ACTIVE_YES ? 0 : MT_INACTIVE;
    *high = activity == MT_ACTIVE_NO ? MT_INACTIVE : (int)space->spec->params[param].value_count - 1;
}

bool mt_diagram_holds(const mt_diagram *diagram, const mt_space *space, mt_walker *walker, size_t param)
{
    const mt_check *culprit;
    if (!diagram->out_at[param]) return mt_checks_at(space, walker, (int)param, &culprit) != MT_TRUTH_BROKEN;
    for (size_t i = space->first[param + 1]; i < space->first[param + 2]; i++) {
        if (!diagram->is_out[i] && mt_check_truth(&space->checks[i], walker) == MT_TRUTH_BROKEN) return false;
    }
    return true;
}

/* ---- counting ---- */

typedef struct counting {
    mt_diagram *diagram;
    const mt_space *space;
    mt_walker *walker;
    mt_effort effort;
    bool is_over; /* a limit was reached */
    mt_error *err;
} counting;

static mt_status count_below(counting *c, size_t param, uint64_t *count);

/* Arithmetic that fails is the file's error, unless what guards it was left out. */
static mt_status look_at(counting *c, size_t param, bool *holds)
{
    const mt_check *culprit;
    if (c->diagram->out_count) {
        *holds = mt_diagram_holds(c->diagram, c->space, c->walker, param);
        return MT_OK;
    }
    mt_truth truth = mt_checks_at(c->space, c->walker, (int)param, &culprit);
    *holds = truth == MT_TRUTH_HOLDS;
    return truth == MT_TRUTH_FAILED ? mt_check_fail(culprit, c->walker, c->err) : MT_OK;
}

static mt_status find_levels(counting *c, size_t param, int *low, int *high)
{
    if (c->diagram->out_count) mt_diagram_levels(c->diagram, c->space, c->walker, param, low, high);
    else if (mt_space_levels(c->space, c->walker, param, low, high) == MT_TRUTH_FAILED) return mt_check_fail(&c->space->whens[param], c->walker, c->err);
    return MT_OK;
}

static mt_status sum_levels(counting *c, size_t param, uint64_t *sum)
{
    mt_status st = MT_OK;
    int low, high;
    *sum = 0;
    MT_TRY(find_levels(c, param, &low, &high));
    for (int level = low; level <= high && !c->is_over; level++) {
        uint64_t below = 0;
        bool holds;
        if (!mt_effort_step(&c->effort, c->walker, &st, c->err)) {
            c->is_over = true;
            return st;
        }
        c->walker->point.level[param] = (int16_t)level;
        MT_TRY(look_at(c, param, &holds));
        if (holds) MT_TRY(count_below(c, param + 1, &below));
        *sum += below; /* at most the number of ranks */
    }
    c->walker->point.level[param] = MT_INACTIVE;
done:
    return st;
}

static mt_status count_below(counting *c, size_t param, uint64_t *count)
{
    mt_diagram *diagram = c->diagram;
    mt_status st = MT_OK;
    *count = 1;
    if (param == c->space->spec->param_count) return MT_OK;
    uint64_t key = key_of(diagram, c->space, c->walker, param);
    const state *known = find_state(diagram, key, param);
    *count = known->count;
    if (known->rank_plus_one) return MT_OK;
    MT_TRY(sum_levels(c, param, count));
    if (c->is_over || diagram->count == c->space->limits.states) {
        c->is_over = true;
        return MT_OK;
    }
    if (2 * (diagram->count + 1) > diagram->capacity && !grow(diagram)) return MT_FAIL(c->err, MT_ERR_NO_MEMORY, "out of memory for counting points");
    *find_state(diagram, key, param) = (state){ key + 1, *count, (uint32_t)param };
    diagram->count++;
done:
    return st;
}

static mt_status count_all(counting *c, bool *is_complete)
{
    const mt_check *culprit;
    mt_status st = MT_OK;
    mt_diagram *diagram = c->diagram;
    mt_free(diagram->states);
    diagram->states = NULL;
    diagram->capacity = diagram->count = 0;
    diagram->total = 0;
    c->is_over = false;
    c->effort.steps = 0;
    c->walker->evaluations = 0;
    find_live(diagram, c->space);
    if (!grow(diagram)) return MT_FAIL(c->err, MT_ERR_NO_MEMORY, "out of memory for counting points");
    mt_truth shape = mt_checks_at(c->space, c->walker, -1, &culprit);
    if (shape == MT_TRUTH_FAILED) st = mt_check_fail(culprit, c->walker, c->err);
    if (shape == MT_TRUTH_HOLDS) st = sum_levels(c, 0, &diagram->total);
    *is_complete = !c->is_over;
    return st;
}

/* All conditions first; then ever fewer, until at last the bound on the states is within the limit. */
static mt_status make(counting *c)
{
    static const double allowances[] = { 1024, 32, 1 };
    bool is_complete = false;
    mt_status st = count_all(c, &is_complete);
    for (size_t i = 0; st == MT_OK && !is_complete && i < sizeof allowances / sizeof *allowances; i++) {
        size_t before = c->diagram->out_count;
        while (bound_states(c->diagram, c->space) > allowances[i] * (double)c->space->limits.states && leave_one_out(c->diagram, c->space)) continue;
        if (c->diagram->out_count > before) st = count_all(c, &is_complete);
    }
    while (st == MT_OK && !is_complete && leave_one_out(c->diagram, c->space)) st = count_all(c, &is_complete); /* evaluating took the effort, or the limit is tiny */
    if (st == MT_OK && !is_complete) st = MT_FAIL(c->err, MT_ERR_UNSUPPORTED, "%s: shape %s: its points can't be counted with %zu states", c->space->spec->path, c->space->shape->name, c->space->limits.states);
    return st;
}

mt_status mt_diagram_make(const mt_space *space, const mt_space_watch *watch, mt_diagram **out, mt_error *err)
{
    mt_diagram *diagram = mt_alloc(1, sizeof *diagram);
    counting c = { .diagram = diagram, .space = space, .effort = { watch, 0, space->limits.effort }, .err = err };
    mt_status st = MT_OK;
    *out = NULL;
    c.walker = mt_walker_take(space);
    if (diagram) diagram->is_out = mt_alloc(condition_count(space), sizeof *diagram->is_out);
    if (!diagram || !c.walker || !diagram->is_out) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory"));
    MT_TRY(make(&c));
    *out = diagram;
    diagram = NULL;
done:
    if (c.walker) mt_walker_give(space, c.walker);
    mt_diagram_free(diagram);
    return st;
}

void mt_diagram_free(mt_diagram *diagram)
{
    if (!diagram) return;
    MT_FREE_EACH(diagram->is_out, diagram->states, diagram);
}

uint64_t mt_diagram_total(const mt_diagram *diagram)
{
    return diagram->total;
}

bool mt_diagram_is_exact(const mt_diagram *diagram)
{
    return diagram->out_count == 0;
}
