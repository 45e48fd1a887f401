/* Depth-first enumeration: one knob per level, each condition as soon as the last knob that it reads is set. */
#include "tuner/space/space_internal.h"

#include <assert.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/spec_internal.h"

enum { POINT_LIMIT = 50000000, RAW_NODE_LIMIT = 2000000, PRUNED_NODE_LIMIT = 200000, NODES_PER_LOOK = 4096 };

/* ---- conditions ---- */

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

static int last_knob(uint64_t knobs)
{
    return knobs ? 63 - __builtin_clzll(knobs) : -1;
}

static bool make_check(const mt_spec *spec, const mt_expr *expr, size_t kind, int variant, mt_check *check)
{
    uint64_t knobs = mt_scope_knobs(spec, expr) | (variant >= 0 ? 1 : 0);
    *check = (mt_check){ .expr = expr, .kind = kind, .variant = variant, .knobs = knobs, .depth = last_knob(knobs) };
    return collect_lets(spec, expr, &check->lets, &check->let_count);
}

mt_status mt_checks_make(const mt_spec *spec, mt_check **checks, size_t *count, mt_error *err)
{
    bool ok = true;
    *count = 0;
    *checks = mt_alloc(spec->constraint_count + spec->variant_count, sizeof **checks);
    for (size_t i = 0; *checks && i < spec->variant_count; i++) { /* first: what a variant requires guards the constraints' arithmetic */
        const mt_variant *variant = &spec->variants[i];
        if (variant->has_requires) ok = make_check(spec, &variant->requires_expr, spec->constraint_count + i, (int)i,
                                                   &(*checks)[(*count)++]) && ok;
    }
    for (size_t i = 0; *checks && i < spec->constraint_count; i++) {
        ok = make_check(spec, &spec->constraints[i].expr, i, -1, &(*checks)[(*count)++]) && ok;
    }
    return *checks && ok ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}

void mt_checks_free(mt_check *checks, size_t count)
{
    for (size_t i = 0; checks && i < count; i++) mt_free(checks[i].lets);
    mt_free(checks);
}

/* ---- the walk's state ---- */

typedef enum activity { ACTIVE_NO, ACTIVE_YES, ACTIVE_DEPENDS } activity;

typedef struct walk {
    mt_space *space;
    mt_scene *scene;
    mt_check *checks;            /* sorted by depth, stable */
    size_t check_count;
    size_t first[MT_MAX_PARAMS + 2]; /* checks of depth d: first[d + 1] … first[d + 2] */
    unsigned char *activities;   /* [variant][param] */
    uint64_t *remaining;         /* [variant][param]: combinations of this and later knobs; 0 = depends on their levels */
    uint64_t control;            /* knobs that some `when` reads */
    size_t raw_nodes, raw_node_limit;
    size_t pruned_nodes;         /* spent on counting what was pruned */
    const mt_space_watch *watch; /* or NULL */
    size_t nodes;                /* tried */
    mt_point point;
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

static void sort_by_depth(walk *w, mt_check *unsorted)
{
    size_t next = 0;
    for (int depth = -1; depth < (int)w->space->spec->param_count; depth++) {
        w->first[depth + 1] = next;
        for (size_t i = 0; i < w->check_count; i++) {
            if (unsorted[i].depth == depth) w->checks[next++] = unsorted[i];
        }
    }
    w->first[w->space->spec->param_count + 1] = next;
}

static void set_level(walk *w, size_t param, int level)
{
    if (mt_scene_level(w->scene, param) != level) mt_scene_set_knob(w->scene, param, level);
    w->point.level[param] = (int16_t)level;
}

mt_status mt_space_is_active(const mt_scene *scene, size_t param, bool *is_active, mt_error *err)
{
    const mt_param *knob = &mt_scene_spec(scene)->params[param];
    int64_t value = 1;
    bool inactive = false;
    mt_status st = knob->has_when ? mt_scene_int(scene, &knob->when, &value, &inactive, err) : MT_OK;
    *is_active = value != 0 && !inactive; /* a `when` that reads an inactive knob is not fulfilled */
    return st;
}

/* Most `when`s ask for ALGO alone: then each variant's knobs are known before the walk. */
static void classify(walk *w)
{
    const mt_spec *spec = w->space->spec;
    for (size_t v = 0; v < spec->variant_count; v++) {
        unsigned char *row = w->activities + v * spec->param_count;
        set_level(w, 0, (int)v);
        for (size_t p = 0; p < spec->param_count; p++) {
            bool is_active = true, is_static = (w->space->when_knobs[p] & ~UINT64_C(1)) == 0;
            if (is_static && mt_space_is_active(w->scene, p, &is_active, NULL) != MT_OK) is_static = false; /* the walk will tell the error */
            row[p] = !is_static ? ACTIVE_DEPENDS : is_active ? ACTIVE_YES : ACTIVE_NO;
        }
        uint64_t product = 1;
        for (size_t p = spec->param_count; p-- > 0;) {
            if (row[p] == ACTIVE_DEPENDS) product = 0;
            if (row[p] == ACTIVE_YES && p > 0) product = times(product, spec->params[p].value_count);
            w->remaining[v * spec->param_count + p] = product;
        }
    }
    set_level(w, 0, MT_INACTIVE);
}

/* ---- raw count ---- */

/* Combinations of knobs param… without constraints. Only knobs that some `when` reads are tried one by one. */
static uint64_t count_raw(walk *w, size_t param)
{
    const mt_spec *spec = w->space->spec;
    if (param == spec->param_count) return 1;
    if (++w->raw_nodes > w->raw_node_limit) return UINT64_MAX;
    const mt_param *knob = &spec->params[param];
    bool is_active = false;
    if (mt_space_is_active(w->scene, param, &is_active, NULL) != MT_OK) is_active = false; /* arithmetic that a constraint would have guarded */
    uint64_t total = 0;
    if (!is_active || !(w->control >> param & 1)) {
        set_level(w, param, is_active ? (int)knob->default_level : MT_INACTIVE);
        total = times(is_active ? knob->value_count : 1, count_raw(w, param + 1));
    } else {
        for (size_t level = 0; level < knob->value_count; level++) {
            set_level(w, param, (int)level);
            total = plus(total, count_raw(w, param + 1));
        }
    }
    set_level(w, param, MT_INACTIVE);
    return total;
}

/* ---- the walk ---- */

static mt_status fail_check(walk *w, const mt_blame *blame, mt_program_status status)
{
    mt_strbuf where = { 0 };
    char *text = mt_point_text(w->space->spec, &w->point);
    if (text && *text) mt_strbuf_addf(&where, ", at %s", text);
    mt_status st = mt_scene_fail(w->scene, blame, status, mt_strbuf_text(&where), w->err);
    mt_strbuf_free(&where);
    mt_free(text);
    return st;
}

/* Checks the conditions that became decidable with knob `depth`; *broken is the first that fails, or NULL. */
static mt_status check_depth(walk *w, int depth, const mt_check **broken)
{
    *broken = NULL;
    for (size_t i = w->first[depth + 1]; i < w->first[depth + 2]; i++) {
        const mt_check *check = &w->checks[i];
        mt_blame blame;
        mt_value value = { 0 };
        if (check->variant >= 0 && check->variant != w->point.level[0]) continue;
        for (size_t k = 0; k < check->let_count; k++) mt_scene_touch_let(w->scene, check->lets[k]);
        mt_program_status status = mt_scene_run_ready(w->scene, check->expr, &value, &blame);
        if (status == MT_PROGRAM_INACTIVE) continue; /* it does not apply here */
        if (status != MT_PROGRAM_OK) return fail_check(w, &blame, status);
        if (value.number == 0) {
            *broken = check;
            return MT_OK;
        }
    }
    return MT_OK;
}

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
    uint64_t product = w->remaining[(size_t)w->point.level[0] * spec->param_count + param + 1];
    if (product || w->pruned_nodes >= PRUNED_NODE_LIMIT) return product;
    w->raw_nodes = 0;
    w->raw_node_limit = PRUNED_NODE_LIMIT - w->pruned_nodes;
    uint64_t points = count_raw(w, param + 1);
    w->pruned_nodes += w->raw_nodes;
    return points == UINT64_MAX ? 0 : points;
}

static mt_status add_point(walk *w)
{
    mt_space *space = w->space;
    if (space->count == POINT_LIMIT) {
        return MT_FAIL(w->err, MT_ERR_UNSUPPORTED, "%s: shape %s has more than %d valid points: expected constraints or fewer values",
                       space->spec->path,
                       space->shape->name, POINT_LIMIT);
    }
    unsigned char *grown = mt_grow(space->points, space->count, &space->capacity, space->stride);
    if (!grown) return MT_FAIL(w->err, MT_ERR_NO_MEMORY, "out of memory for %zu points", space->count);
    space->points = grown;
    mt_space_pack(space, &w->point, grown + space->count * space->stride);
    space->count++;
    return MT_OK;
}

static mt_status visit(walk *w, size_t param);

static mt_status try_level(walk *w, size_t param, int level)
{
    const mt_check *broken;
    if (w->watch && ++w->nodes % NODES_PER_LOOK == 0) {
        mt_status looked = w->watch->look(w->watch->context, w->err);
        if (looked != MT_OK) return looked;
    }
    set_level(w, param, level);
    mt_status st = check_depth(w, (int)param, &broken);
    if (st != MT_OK) return st;
    if (!broken) return visit(w, param + 1);
    note_pruned(w, broken, points_below(w, param));
    return MT_OK;
}

static mt_status visit(walk *w, size_t param)
{
    mt_status st = MT_OK;
    const mt_spec *spec = w->space->spec;
    if (param == spec->param_count) return add_point(w);
    bool is_active = true;
    if (param > 0) {
        activity known = w->activities[(size_t)w->point.level[0] * spec->param_count + param];
        is_active = known == ACTIVE_YES;
        if (known == ACTIVE_DEPENDS) MT_TRY(mt_space_is_active(w->scene, param, &is_active, w->err));
    }
    if (!is_active) {
        MT_TRY(try_level(w, param, MT_INACTIVE));
    } else {
        for (size_t level = 0; level < spec->params[param].value_count; level++) MT_TRY(try_level(w, param, (int)level));
    }
    set_level(w, param, MT_INACTIVE);
done:
    return st;
}

static mt_status prepare(walk *w, mt_check **unsorted, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = w->space->spec;
    MT_TRY(mt_scene_create(spec, w->space->shape, &w->space->facts, &w->scene, err));
    MT_TRY(mt_checks_make(spec, unsorted, &w->check_count, err));
    w->checks = mt_alloc(w->check_count, sizeof *w->checks);
    w->activities = mt_alloc(spec->variant_count * spec->param_count, 1);
    w->remaining = mt_alloc(spec->variant_count * spec->param_count, sizeof *w->remaining);
    if (!w->checks || !w->activities || !w->remaining) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) w->point.level[i] = MT_INACTIVE;
    for (size_t i = 0; i < spec->param_count; i++) w->control |= w->space->when_knobs[i];
    sort_by_depth(w, *unsorted);
    classify(w);
done:
    return st;
}

mt_status mt_space_walk(mt_space *space, const mt_space_watch *watch, mt_error *err)
{
    mt_status st = MT_OK;
    walk w = { .space = space, .watch = watch, .err = err, .raw_node_limit = RAW_NODE_LIMIT };
    mt_check *unsorted = NULL;
    const mt_check *broken;
    MT_TRY(prepare(&w, &unsorted, err));
    space->raw_count = count_raw(&w, 0);
    MT_TRY(check_depth(&w, -1, &broken));
    if (broken) {
        note_pruned(&w, broken, space->raw_count);
    } else {
        MT_TRY(visit(&w, 0));
    }
done:
    mt_checks_free(unsorted, unsorted ? w.check_count : 0);
    mt_free(w.checks); /* shallow: the lets belong to `unsorted` */
    mt_free(w.activities);
    mt_free(w.remaining);
    mt_scene_free(w.scene);
    return st;
}
