/* The space: enumerated or sampled; storage, index and neighbours. */
#include "tuner/space/points/space.h"

#include <assert.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"

/* By tests/bench/space_bench: two million points are walked in less than half a second; 5 · 10^7 steps take up to one. */
static const mt_space_limits default_limits = { .points = 2000000, .combinations = 20000000, .effort = 50000000, .states = 1 << 20 };

/* ---- packing ---- */

static void lay_out(mt_space *space)
{
    const mt_spec *spec = space->spec;
    for (size_t i = 0; i < spec->param_count; i++) {
        space->offset[i] = (uint16_t)space->stride;
        space->is_wide[i] = spec->params[i].value_count > 254;
        space->stride += space->is_wide[i] ? 2 : 1;
    }
}

void mt_space_pack(const mt_space *space, const mt_point *point, unsigned char *bytes)
{
    for (size_t i = 0; i < space->spec->param_count; i++) {
        unsigned stored = (unsigned)(point->level[i] + 1);
        unsigned char *at = bytes + space->offset[i];
        if (space->is_wide[i]) *at++ = (unsigned char)(stored >> 8);
        *at = (unsigned char)stored;
    }
}

void mt_space_at(const mt_space *space, size_t index, mt_point *point)
{
    assert(index < mt_space_index_limit(space));
    if (!space->is_enumerated) {
        mt_rank_decode(space, index, point);
        return;
    }
    const unsigned char *bytes = space->points + index * space->stride;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    for (size_t i = 0; i < space->spec->param_count; i++) {
        const unsigned char *at = bytes + space->offset[i];
        int stored = space->is_wide[i] ? at[0] << 8 | at[1] : at[0];
        point->level[i] = (int16_t)(stored - 1);
    }
}

/* ---- finding ---- */

/* Evaluates all conditions. Arithmetic that fails: not valid. */
static bool find_sampled(const mt_space *space, const mt_point *point, size_t *index)
{
    const mt_check *culprit;
    mt_walker *walker = mt_walker_take(space);
    if (!walker) return false;
    walker->point = *point;
    bool is_valid = mt_point_truth(space, walker, &culprit) == MT_TRUTH_HOLDS;
    if (is_valid) *index = mt_rank_of(space, point, UINT64_MAX);
    mt_walker_give(space, walker);
    return is_valid;
}

/* Among the packed points low … high − 1. */
static bool find_packed(const mt_space *space, const mt_point *point, size_t low, size_t high, size_t *index)
{
    unsigned char bytes[2 * MT_MAX_PARAMS];
    mt_space_pack(space, point, bytes);
    while (low < high) { /* packed points ascend, as the walk met them */
        size_t middle = low + (high - low) / 2;
        int order = memcmp(space->points + middle * space->stride, bytes, space->stride);
        if (order == 0) {
            *index = middle;
            return true;
        }
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return false;
}

bool mt_space_find(const mt_space *space, const mt_point *point, size_t *index)
{
    return space->is_enumerated ? find_packed(space, point, 0, space->count, index) : find_sampled(space, point, index);
}

/* ---- life ---- */

mt_status mt_space_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **out, mt_error *err)
{
    return mt_space_create_watched(spec, shape, facts, NULL, out, err);
}

mt_status mt_space_create_watched(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_space_watch *watch, mt_space **out, mt_error *err)
{
    return mt_space_create_limited(spec, shape, facts, watch, NULL, out, err);
}

mt_status mt_space_begin(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **out, mt_error *err)
{
    mt_status st = MT_OK;
    size_t kinds = spec->constraint_count + spec->algorithm_count;
    mt_space *space = mt_alloc(1, sizeof *space);
    *out = NULL;
    if (!space) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    space->spec = spec;
    space->shape = shape;
    space->facts = *facts;
    space->limits = default_limits;
    space->pruned = mt_alloc(kinds, sizeof *space->pruned);
    space->is_exact = mt_alloc(kinds, sizeof *space->is_exact);
    if (!space->pruned || !space->is_exact) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory"));
    for (size_t i = 0; i < kinds; i++) space->is_exact[i] = true;
    lay_out(space);
    MT_TRY(mt_pool_make(space, err));
    MT_TRY(mt_checks_make(space, err));
    MT_TRY(mt_ranks_make(space, err));
    *out = space;
    space = NULL;
done:
    mt_space_free(space);
    return st;
}

static mt_status fail_too_large(const mt_space *space, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: shape %s has more than %zu valid points, or takes too long to enumerate, and more than 2^63 combinations, too many to be sampled: "
                   "expected constraints that read earlier knobs, or fewer values", space->spec->path, space->shape->name, space->limits.points);
}

/* Few combinations are walked at once. Of many, the points are counted first: the counts tell whether they can be stored, and guide the walk past branches
 * without any. */
static mt_status fill(mt_space *space, const mt_space_watch *watch, mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(mt_space_count_raw(space, err));
    if (space->raw_count <= space->limits.combinations || !space->has_ranks) {
        MT_TRY(mt_space_walk(space, NULL, watch, &space->is_enumerated, err));
        if (space->is_enumerated) goto done;
        if (!space->has_ranks) return fail_too_large(space, err);
    }
    MT_TRY(mt_diagram_make(space, watch, &space->diagram, err));
    if (!mt_diagram_is_exact(space->diagram) || mt_diagram_total(space->diagram) <= space->limits.points)
        MT_TRY(mt_space_walk(space, space->diagram, watch, &space->is_enumerated, err));
    MT_TRY(mt_space_estimate(space, watch, err));
    if (space->is_enumerated) {
        mt_diagram_free(space->diagram);
        space->diagram = NULL;
    }
done:
    return st;
}

/* Growing by doubling may have left half of it unused. */
static void shrink(mt_space *space)
{
    unsigned char *points = space->count < space->capacity ? mt_realloc(space->points, space->count, space->stride) : NULL;
    if (!points) return;
    space->points = points;
    space->capacity = space->count;
}

mt_status mt_space_create_limited(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_space_watch *watch,
                                  const mt_space_limits *limits, mt_space **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_space *space = NULL;
    *out = NULL;
    MT_TRY(mt_space_begin(spec, shape, facts, &space, err));
    if (limits) space->limits = *limits;
    MT_TRY(fill(space, watch, err));
    if (space->is_enumerated) shrink(space);
    *out = space;
    space = NULL;
done:
    mt_space_free(space);
    return st;
}

void mt_space_free(mt_space *space)
{
    if (!space) return;
    mt_checks_free(space);
    mt_pool_free(space->pool);
    mt_diagram_free(space->diagram);
    MT_FREE_EACH(space->base, space->place, space->points, space->pruned, space->is_exact, space);
}

/* ---- facts of the space ---- */

const mt_spec *mt_space_spec(const mt_space *space)
{
    return space->spec;
}

const mt_shape *mt_space_shape(const mt_space *space)
{
    return space->shape;
}

size_t mt_space_count(const mt_space *space)
{
    return space->count;
}

bool mt_space_is_enumerated(const mt_space *space)
{
    return space->is_enumerated;
}

bool mt_space_count_is_exact(const mt_space *space)
{
    return space->is_enumerated || mt_diagram_is_exact(space->diagram);
}

size_t mt_space_index_limit(const mt_space *space)
{
    return space->is_enumerated ? space->count : space->base[space->spec->algorithm_count];
}

uint64_t mt_space_raw_count(const mt_space *space)
{
    return space->raw_count;
}

size_t mt_space_pruned_kinds(const mt_space *space)
{
    return space->spec->constraint_count + space->spec->algorithm_count + space->is_listed;
}

uint64_t mt_space_pruned(const mt_space *space, size_t kind, const char **name, const char **why, bool *is_exact)
{
    const mt_spec *spec = space->spec;
    assert(kind < mt_space_pruned_kinds(space));
    if (kind == spec->constraint_count + spec->algorithm_count) {
        *name = "not recorded";
        *why = "the recording has no result of it";
        *is_exact = true;
        return space->not_listed;
    }
    if (kind < spec->constraint_count) {
        const mt_constraint *constraint = &spec->constraints[kind];
        *name = constraint->name;
        *why = *constraint->why ? constraint->why : constraint->expr.source;
    } else {
        const mt_algorithm *variant = &spec->algorithms[kind - spec->constraint_count];
        *name = variant->name;
        *why = variant->has_requires ? variant->requires_expr.source : "";
    }
    *is_exact = space->is_exact[kind];
    return space->pruned[kind];
}

/* The kind that pruned most of those that pruned at most `below`, behind kind `last` among equals; false: none. That of what is recorded a constraint excludes everything says more than that the rest is
 * not recorded. */
static bool next_pruned(const mt_space *space, uint64_t below, size_t last, size_t *next)
{
    size_t not_recorded = space->spec->constraint_count + space->spec->algorithm_count;
    uint64_t most = 0;
    for (size_t kind = 0; kind < mt_space_pruned_kinds(space); kind++) {
        const char *name, *why;
        bool is_exact;
        uint64_t count = mt_space_pruned(space, kind, &name, &why, &is_exact);
        bool was_told = count > below || (count == below && kind <= last);
        if (count <= most || (was_told && below != UINT64_MAX) || (kind == not_recorded && (most || below != UINT64_MAX))) continue;
        most = count;
        *next = kind;
    }
    return most > 0;
}

static void tell_kind(const mt_space *space, size_t kind, uint64_t *count, mt_strbuf *text)
{
    enum { MOST_SOURCE = 160 }; /* a longer condition tells less than its `why` */
    const mt_spec *spec = space->spec;
    const char *name, *why, *source = kind < spec->constraint_count ? spec->constraints[kind].expr.source : "";
    bool is_exact;
    *count = mt_space_pruned(space, kind, &name, &why, &is_exact);
    mt_strbuf_addf(text, "%s'%s' excludes ", text->length ? "; " : "", name);
    if (is_exact) mt_strbuf_addf(text, "%llu of %llu", (unsigned long long)*count, (unsigned long long)space->raw_count);
    else mt_strbuf_add(text, "most");
    if (why && *why) mt_strbuf_addf(text, ": %s", why);
    if (why && *source && strcmp(why, source) != 0 && strlen(source) <= MOST_SOURCE) mt_strbuf_addf(text, ": %s", source);
}

void mt_space_tell_pruned(const mt_space *space, mt_strbuf *text)
{
    enum { MOST_KINDS = 3 };
    mt_strbuf told = {0};
    uint64_t below = UINT64_MAX;
    size_t kind = 0;
    for (int i = 0; i < MOST_KINDS && next_pruned(space, below, kind, &kind); i++) tell_kind(space, kind, &below, &told);
    mt_strbuf_add(text, mt_strbuf_text(&told));
    mt_strbuf_free(&told);
}

/* ---- neighbours ---- */

/* Brings the knobs after `changed` in line with their `when`s. False when that can't be computed: then there is no such point. */
static bool settle(const mt_space *space, mt_walker *walker, size_t changed)
{
    const mt_spec *spec = space->spec;
    uint64_t dirty = UINT64_C(1) << changed;
    for (size_t i = changed + 1; i < spec->param_count; i++) {
        int low, high, level = walker->point.level[i];
        if (!(space->whens[i].knobs & dirty)) continue;
        if (mt_space_levels(space, walker, i, &low, &high) == MT_TRUTH_FAILED) return false;
        int settled = high == MT_INACTIVE ? MT_INACTIVE : level != MT_INACTIVE ? level : (int)spec->params[i].default_level;
        if (settled == level) continue;
        walker->point.level[i] = (int16_t)settled;
        dirty |= UINT64_C(1) << i;
    }
    return true;
}

size_t mt_space_neighbours(const mt_space *space, size_t index, size_t *out, size_t capacity)
{
    const mt_spec *spec = space->spec;
    mt_walker *walker = mt_walker_take(space);
    mt_point here;
    size_t found = 0;
    if (!walker) return 0;
    mt_space_at(space, index, &here);
    for (size_t i = 0; i < spec->param_count; i++) {
        if (here.level[i] == MT_INACTIVE) continue;
        for (size_t level = 0; level < spec->params[i].value_count; level++) {
            size_t neighbour;
            if ((int)level == here.level[i]) continue;
            walker->point = here;
            walker->point.level[i] = (int16_t)level;
            if (!settle(space, walker, i) || !mt_space_find(space, &walker->point, &neighbour)) continue;
            if (found < capacity) out[found] = neighbour;
            found++;
        }
    }
    mt_walker_give(space, walker);
    return found;
}
