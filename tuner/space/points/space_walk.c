/* Depth-first enumeration: one knob per level, each condition as soon as the last knob that it reads is set. */

#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"

enum { RAW_NODE_LIMIT = 2000000, PRUNED_NODE_LIMIT = 200000, STEPS_PER_LOOK = 4096 };

/* ---- effort ---- */

bool mt_effort_step(mt_effort *effort, const mt_walker *walker, mt_status *st, mt_error *err)
{
    *st = MT_OK;
    if (++effort->steps % STEPS_PER_LOOK == 0 && effort->watch) *st = effort->watch->look(effort->watch->context, err);
    return *st == MT_OK && effort->steps + walker->evaluations * MT_EVALUATION_STEPS <= effort->limit;
}

/* ---- the walk's state ---- */

typedef struct walk {
    mt_space *space;
    const mt_diagram *diagram;   /* or NULL */
    mt_walker *walker;
    uint64_t *remaining;         /* [variant][param]: combinations of this and later knobs; 0 = depends on their levels */
    uint64_t control;            /* knobs that some `when` reads */
    size_t raw_nodes, raw_node_limit;
    size_t pruned_nodes;         /* spent on counting what was pruned */
    mt_effort effort;
    bool is_complete;
    mt_error *err;
} walk;

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static bool prepare(walk *w)
{
    const mt_spec *spec = w->space->spec;
    w->remaining = mt_alloc(spec->algorithm_count * spec->param_count, sizeof *w->remaining);
    if (!w->remaining) return false;
    for (size_t i = 0; i < spec->param_count; i++) w->control |= w->space->whens[i].knobs;
    for (size_t v = 0; v < spec->algorithm_count; v++) {
        const unsigned char *row = w->space->activities + v * spec->param_count;
        uint64_t product = 1;
        for (size_t p = spec->param_count; p-- > 0;) {
            if (row[p] == MT_ACTIVE_DEPENDS) product = 0;
            if (row[p] == MT_ACTIVE_YES && p > 0) product = times(product, spec->params[p].value_count);
            w->remaining[v * spec->param_count + p] = product;
        }
    }
    return true;
}

/* ---- raw count ---- */

/* Combinations of knobs param… without constraints. Only knobs that some `when` reads are tried one by one. */
static uint64_t count_raw(walk *w, size_t param)
{
    const mt_spec *spec = w->space->spec;
    int16_t *level = &w->walker->point.level[param];
    if (param == spec->param_count) return 1;
    if (++w->raw_nodes > w->raw_node_limit) return UINT64_MAX;
    const mt_param *knob = &spec->params[param];
    int low, high;
    /* Arithmetic that fails is what a constraint would have guarded: then the knob counts as inactive. */
    bool is_active = mt_space_levels(w->space, w->walker, param, &low, &high) == MT_TRUTH_HOLDS;
    uint64_t total = 0;
    if (!is_active || !((w->control >> param & 1) || param == 0)) {
        *level = (int16_t)(is_active ? (int)knob->default_level : MT_INACTIVE);
        total = times(is_active ? knob->value_count : 1, count_raw(w, param + 1));
    } else {
        for (int i = 0; i <= high; i++) {
            *level = (int16_t)i;
            total = plus(total, count_raw(w, param + 1));
        }
    }
    *level = MT_INACTIVE;
    return total;
}

mt_status mt_space_count_raw(mt_space *space, mt_error *err)
{
    walk w = { .space = space, .walker = mt_walker_take(space), .raw_node_limit = RAW_NODE_LIMIT };
    if (!w.walker) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < space->spec->param_count; i++) w.control |= space->whens[i].knobs;
    space->raw_count = count_raw(&w, 0);
    mt_walker_give(space, w.walker);
    return MT_OK;
}

/* ---- pruned counts ---- */

static void note_pruned(walk *w, const mt_check *check, uint64_t points)
{
    mt_space *space = w->space;
    if (points == 0) space->is_exact[check->kind] = false;
    space->pruned[check->kind] = plus(space->pruned[check->kind], points ? points : 1);
}

/* Points below a branch that ends at knob `param`; 0 when counting them would cost more than they are worth. */
static uint64_t points_below(walk *w, size_t param)
{
    const mt_spec *spec = w->space->spec;
    if (param + 1 == spec->param_count) return 1;
    uint64_t product = w->remaining[(size_t)w->walker->point.level[0] * spec->param_count + param + 1];
    if (product || w->pruned_nodes >= PRUNED_NODE_LIMIT) return product;
    w->raw_nodes = 0;
    w->raw_node_limit = PRUNED_NODE_LIMIT - w->pruned_nodes;
    uint64_t points = count_raw(w, param + 1);
    w->pruned_nodes += w->raw_nodes;
    return points == UINT64_MAX ? 0 : points;
}

/* ---- the walk ---- */

static mt_status add_point(walk *w)
{
    mt_space *space = w->space;
    if (space->count == space->limits.points) {
        w->is_complete = false;
        return MT_OK;
    }
    unsigned char *grown = mt_grow(space->points, space->count, &space->capacity, space->stride);
    if (!grown) return MT_FAIL(w->err, MT_ERR_NO_MEMORY, "out of memory for %zu points", space->count);
    space->points = grown;
    mt_space_pack(space, &w->walker->point, grown + space->count * space->stride);
    space->count++;
    return MT_OK;
}

static mt_status visit(walk *w, size_t param);

static mt_status try_level(walk *w, size_t param, int level)
{
    const mt_check *culprit;
    mt_status st;
    if (!mt_effort_step(&w->effort, w->walker, &st, w->err)) {
        w->is_complete = false;
        return st;
    }
    w->walker->point.level[param] = (int16_t)level;
    switch (mt_checks_at(w->space, w->walker, (int)param, &culprit)) {
    case MT_TRUTH_FAILED: return mt_check_fail(culprit, w->walker, w->err);
    case MT_TRUTH_BROKEN: if (!w->diagram) note_pruned(w, culprit, points_below(w, param)); return MT_OK;
    default: break;
    }
    if (w->diagram && mt_diagram_below(w->diagram, w->space, w->walker, param + 1) == 0) return MT_OK;
    return visit(w, param + 1);
}

static mt_status visit(walk *w, size_t param)
{
    mt_status st = MT_OK;
    int low, high;
    if (param == w->space->spec->param_count) return add_point(w);
    if (mt_space_levels(w->space, w->walker, param, &low, &high) == MT_TRUTH_FAILED) return mt_check_fail(&w->space->whens[param], w->walker, w->err);
    for (int level = low; level <= high && w->is_complete; level++) MT_TRY(try_level(w, param, level));
    w->walker->point.level[param] = MT_INACTIVE;
done:
    return st;
}

static void forget_all(mt_space *space)
{
    mt_free(space->points);
    space->points = NULL;
    space->count = space->capacity = 0;
    for (size_t i = 0; i < mt_space_pruned_kinds(space); i++) {
        space->pruned[i] = 0;
        space->is_exact[i] = true;
    }
}

mt_status mt_space_walk(mt_space *space, const mt_diagram *diagram, const mt_space_watch *watch, bool *is_complete, mt_error *err)
{
    mt_status st = MT_OK;
    walk w = { .space = space, .diagram = diagram, .effort = { watch, 0, space->limits.effort }, .is_complete = true, .err = err };
    const mt_check *culprit;
    w.walker = mt_walker_take(space);
    if (!w.walker || !prepare(&w)) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory"));
    switch (mt_checks_at(space, w.walker, -1, &culprit)) {
    case MT_TRUTH_FAILED: st = mt_check_fail(culprit, w.walker, err); break;
    case MT_TRUTH_BROKEN: note_pruned(&w, culprit, space->raw_count); break;
    default: st = visit(&w, 0);
    }
    *is_complete = w.is_complete;
    if (st == MT_OK && !w.is_complete) forget_all(space);
done:
    if (w.walker) mt_walker_give(space, w.walker);
    mt_free(w.remaining);
    return st;
}
