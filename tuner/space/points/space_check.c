/* Conditions of the space: which knobs they read, when they become decidable, and what they answered before. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"
#include "tuner/space/spec/spec_scope.h"

/* ---- making ---- */

static void mark_lets(const mt_spec *spec, const mt_expr *expr, unsigned char *marks)
{
    for (size_t i = 0; i < mt_program_name_count(expr->program); i++) {
        uint32_t slot = mt_scope_slot(spec, mt_program_name(expr->program, i));
        if (slot == MT_NO_SLOT || slot < spec->let_slot || marks[slot - spec->let_slot]) continue;
        marks[slot - spec->let_slot] = 1;
        mark_lets(spec, &spec->lets[slot - spec->let_slot].expr, marks);
    }
}

static bool collect_lets(const mt_spec *spec, const mt_expr *expr, size_t **lets, size_t *count)
{
    unsigned char *marks = mt_alloc(spec->let_count, 1);
    *lets = mt_alloc(spec->let_count, sizeof **lets);
    if (marks && *lets) {
        mark_lets(spec, expr, marks);
        for (size_t i = 0; i < spec->let_count; i++) { /* the file's order: a let reads only earlier ones */
            if (marks[i]) (*lets)[(*count)++] = i;
        }
    }
    bool ok = marks && *lets;
    mt_free(marks);
    return ok;
}

/* Where the knobs have few combinations. */
static bool make_memory(const mt_spec *spec, mt_check *check)
{
    size_t size = 1;
    for (size_t p = 0; p < spec->param_count; p++) {
        size_t digits = spec->params[p].value_count + 1;
        if (!(check->knobs >> p & 1)) continue;
        if (digits > MT_MEMORY_SIZE / size) {
            check->memory_knobs = 0;
            return true;
        }
        check->memory_knob[check->memory_knobs] = (unsigned char)p;
        check->memory_place[check->memory_knobs++] = (uint32_t)size;
        size *= digits;
    }
    check->memory = mt_alloc(size, sizeof *check->memory);
    return check->memory != NULL;
}

static bool make_check(const mt_spec *spec, const mt_expr *expr, size_t kind, int variant, mt_check *check)
{
    uint64_t knobs = mt_scope_knobs(spec, expr) | (variant >= 0 ? 1 : 0);
    *check = (mt_check){ .expr = expr, .kind = kind, .variant = variant, .knobs = knobs, .depth = knobs ? 63 - __builtin_clzll(knobs) : -1 };
    return collect_lets(spec, expr, &check->lets, &check->let_count) && make_memory(spec, check);
}

static void free_check(mt_check *check)
{
    mt_free(check->lets);
    mt_free(check->memory);
}

/* Stable: within one depth, what a variant requires guards the constraints' arithmetic, and earlier constraints guard later ones. */
static void sort_by_depth(mt_space *space, const mt_check *unsorted)
{
    size_t next = 0;
    for (int depth = -1; depth < (int)space->spec->param_count; depth++) {
        space->first[depth + 1] = next;
        for (size_t i = 0; i < space->check_count; i++) {
            if (unsorted[i].depth == depth) space->checks[next++] = unsorted[i];
        }
    }
    space->first[space->spec->param_count + 1] = next;
}

static bool make_checks(mt_space *space, mt_check *unsorted)
{
    const mt_spec *spec = space->spec;
    bool ok = true;
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        const mt_algorithm *variant = &spec->algorithms[i];
        if (variant->has_requires) ok = make_check(spec, &variant->requires_expr, spec->constraint_count + i, (int)i, &unsorted[space->check_count++]) && ok;
    }
    for (size_t i = 0; i < spec->constraint_count; i++) {
        mt_check *check = &unsorted[space->check_count++];
        ok = make_check(spec, &spec->constraints[i].expr, i, -1, check) && ok;
    }
    for (size_t i = 0; i < spec->param_count; i++) {
        if (!spec->params[i].has_when) continue;
        ok = make_check(spec, &spec->params[i].when, 0, -1, &space->whens[i]) && ok;
        space->whens[i].depth = (int)i;
    }
    return ok;
}

/* Most `when`s ask for ALGO alone: then each variant's knobs are known before any walk. */
static void classify(mt_space *space, mt_walker *walker)
{
    const mt_spec *spec = space->spec;
    memset(space->activities, MT_ACTIVE_DEPENDS, spec->algorithm_count * spec->param_count);
    for (size_t v = 0; v < spec->algorithm_count; v++) {
        walker->point.level[0] = (int16_t)v;
        for (size_t p = 0; p < spec->param_count; p++) {
            bool asks_algo_alone = (space->whens[p].knobs & ~UINT64_C(1)) == 0;
            int low, high;
            if (!space->whens[p].expr) space->activities[v * spec->param_count + p] = MT_ACTIVE_YES;
            if (!space->whens[p].expr || !asks_algo_alone) continue;
            if (mt_space_levels(space, walker, p, &low, &high) == MT_TRUTH_FAILED) continue; /* whoever walks will tell the error */
            space->activities[v * spec->param_count + p] = low == MT_INACTIVE ? MT_ACTIVE_NO : MT_ACTIVE_YES;
        }
    }
}

mt_status mt_checks_make(mt_space *space, mt_error *err)
{
    const mt_spec *spec = space->spec;
    size_t most = spec->constraint_count + spec->algorithm_count;
    mt_check *unsorted = mt_alloc(most, sizeof *unsorted);
    mt_walker *walker = mt_walker_take(space);
    space->checks = mt_alloc(most, sizeof *space->checks);
    space->whens = mt_alloc(spec->param_count, sizeof *space->whens);
    space->activities = mt_alloc(spec->algorithm_count * spec->param_count, 1);
    bool ok = walker && unsorted && space->checks && space->whens && space->activities;
    if (ok) {
        ok = make_checks(space, unsorted);
        sort_by_depth(space, unsorted);
    }
    if (ok) classify(space, walker);
    if (walker) mt_walker_give(space, walker);
    mt_free(unsorted); /* what they own is in `checks` */
    return ok ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}

void mt_checks_free(mt_space *space)
{
    for (size_t i = 0; space->checks && i < space->check_count; i++) free_check(&space->checks[i]);
    for (size_t i = 0; space->whens && i < space->spec->param_count; i++) free_check(&space->whens[i]);
    MT_FREE_EACH(space->checks, space->whens, space->activities);
}

/* ---- asking ---- */

static mt_program_status evaluate(const mt_check *check, mt_walker *walker, mt_value *value, mt_expr_fault *fault)
{
    for (uint64_t left = check->knobs; left; left &= left - 1) {
        size_t param = (size_t)__builtin_ctzll(left);
        int level = walker->point.level[param];
        if (mt_env_level(walker->env, param) != level) mt_env_set_knob(walker->env, param, level);
    }
    walker->evaluations++;
    for (size_t i = 0; i < check->let_count; i++) mt_env_touch_let(walker->env, check->lets[i]);
    return mt_env_run_ready(walker->env, check->expr, value, fault);
}

/* A constraint that reads something inactive does not apply; a `when` that does is not fulfilled. */
static mt_truth find_out(const mt_check *check, mt_walker *walker, mt_truth inactive)
{
    mt_value value = { 0 };
    mt_expr_fault fault;
    mt_program_status status = evaluate(check, walker, &value, &fault);
    if (status == MT_PROGRAM_INACTIVE) return inactive;
    if (status != MT_PROGRAM_OK) return MT_TRUTH_FAILED;
    return value.number != 0 ? MT_TRUTH_HOLDS : MT_TRUTH_BROKEN;
}

static mt_truth recall(const mt_check *check, mt_walker *walker, mt_truth inactive)
{
    if (!check->memory) return find_out(check, walker, inactive);
    size_t at = 0;
    for (size_t i = 0; i < check->memory_knobs; i++) at += (size_t)(walker->point.level[check->memory_knob[i]] + 1) * check->memory_place[i];
    mt_truth truth = (mt_truth)atomic_load_explicit(&check->memory[at], memory_order_relaxed);
    if (truth != MT_TRUTH_UNKNOWN) return truth;
    truth = find_out(check, walker, inactive);
    atomic_store_explicit(&check->memory[at], (unsigned char)truth, memory_order_relaxed);
    return truth;
}

mt_truth mt_check_truth(const mt_check *check, mt_walker *walker)
{
    if (check->variant >= 0 && check->variant != walker->point.level[0]) return MT_TRUTH_HOLDS;
    return recall(check, walker, MT_TRUTH_HOLDS);
}

mt_status mt_check_fail(const mt_check *check, mt_walker *walker, mt_error *err)
{
    mt_value value;
    mt_expr_fault fault;
    mt_program_status status = evaluate(check, walker, &value, &fault);
    return mt_env_fail(walker->env, &fault, status, &walker->point, err);
}

mt_truth mt_checks_at(const mt_space *space, mt_walker *walker, int depth, const mt_check **culprit)
{
    for (size_t i = space->first[depth + 1]; i < space->first[depth + 2]; i++) {
        mt_truth truth = mt_check_truth(&space->checks[i], walker);
        if (truth == MT_TRUTH_HOLDS) continue;
        *culprit = &space->checks[i];
        return truth;
    }
    return MT_TRUTH_HOLDS;
}

mt_truth mt_space_levels(const mt_space *space, mt_walker *walker, size_t param, int *low, int *high)
{
    const mt_spec *spec = space->spec;
    mt_activity activity = param == 0 ? MT_ACTIVE_YES : (mt_activity)space->activities[(size_t)walker->point.level[0] * spec->param_count + param];
    mt_truth truth = activity == MT_ACTIVE_YES ? MT_TRUTH_HOLDS : MT_TRUTH_BROKEN;
    bool is_free = activity == MT_ACTIVE_DEPENDS && !space->whens[param].expr; /* of recorded points alone, whose knobs follow no condition that is known */
    if (activity == MT_ACTIVE_DEPENDS) truth = is_free ? MT_TRUTH_HOLDS : recall(&space->whens[param], walker, MT_TRUTH_BROKEN);
    *low = truth == MT_TRUTH_HOLDS && !is_free ? 0 : MT_INACTIVE;
    *high = truth == MT_TRUTH_BROKEN ? MT_INACTIVE : (int)spec->params[param].value_count - 1;
    return truth;
}

mt_truth mt_point_truth(const mt_space *space, mt_walker *walker, const mt_check **culprit)
{
    const mt_spec *spec = space->spec;
    *culprit = NULL;
    if (walker->point.level[0] < 0 || walker->point.level[0] >= (int)spec->params[0].value_count) return MT_TRUTH_BROKEN;
    for (int depth = -1; depth < (int)spec->param_count; depth++) {
        if (depth > 0) {
            int low, high, level = walker->point.level[depth];
            mt_truth activity = mt_space_levels(space, walker, (size_t)depth, &low, &high);
            if (activity == MT_TRUTH_FAILED) *culprit = &space->whens[depth];
            if (activity == MT_TRUTH_FAILED) return MT_TRUTH_FAILED;
            if (level < low || level > high) return MT_TRUTH_BROKEN;
        }
        mt_truth truth = mt_checks_at(space, walker, depth, culprit);
        if (truth != MT_TRUTH_HOLDS) return truth;
    }
    return MT_TRUTH_HOLDS;
}
