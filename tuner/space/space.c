/* The enumerated space: storage, index and neighbours. */
#include "tuner/space/space.h"

#include <assert.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/hash.h"
#include "tuner/space/space_internal.h"
#include "tuner/space/spec_internal.h"

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
        at[0] = (unsigned char)stored;
        if (space->is_wide[i]) at[1] = (unsigned char)(stored >> 8);
    }
}

void mt_space_at(const mt_space *space, size_t index, mt_point *point)
{
    assert(index < space->count);
    const unsigned char *bytes = space->points + index * space->stride;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    for (size_t i = 0; i < space->spec->param_count; i++) {
        const unsigned char *at = bytes + space->offset[i];
        int stored = space->is_wide[i] ? at[0] | at[1] << 8 : at[0];
        point->level[i] = (int16_t)(stored - 1);
    }
}

/* ---- index ---- */

static size_t home_of(const mt_space *space, const unsigned char *bytes)
{
    return (size_t)mt_hash_u64(bytes, space->stride, 0) & (space->index_size - 1);
}

static mt_status build_index(mt_space *space, mt_error *err)
{
    space->index_size = 16;
    while (space->index_size < 2 * space->count) space->index_size *= 2;
    space->index = mt_alloc(space->index_size, sizeof *space->index);
    if (!space->index) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory for the index of %zu points", space->count);
    for (size_t i = 0; i < space->count; i++) {
        size_t at = home_of(space, space->points + i * space->stride);
        while (space->index[at]) at = (at + 1) & (space->index_size - 1);
        space->index[at] = (uint32_t)(i + 1);
    }
    return MT_OK;
}

bool mt_space_find(const mt_space *space, const mt_point *point, size_t *index)
{
    unsigned char bytes[2 * MT_MAX_PARAMS];
    mt_space_pack(space, point, bytes);
    for (size_t at = home_of(space, bytes); space->index[at]; at = (at + 1) & (space->index_size - 1)) {
        size_t candidate = space->index[at] - 1;
        if (memcmp(space->points + candidate * space->stride, bytes, space->stride) == 0) {
            *index = candidate;
            return true;
        }
    }
    return false;
}

/* ---- life ---- */

/* Everything but the points and their index. */
static mt_status make_empty(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **out, mt_error *err)
{
    size_t kinds = spec->constraint_count + spec->variant_count;
    mt_space *space = mt_alloc(1, sizeof *space);
    *out = space;
    if (!space) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    space->spec = spec;
    space->shape = shape;
    space->facts = *facts;
    space->pruned = mt_alloc(kinds, sizeof *space->pruned);
    space->is_exact = mt_alloc(kinds, sizeof *space->is_exact);
    if (!space->pruned || !space->is_exact) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < kinds; i++) space->is_exact[i] = true;
    for (size_t i = 0; i < spec->param_count; i++) {
        if (spec->params[i].has_when) space->when_knobs[i] = mt_scope_knobs(spec, &spec->params[i].when);
    }
    lay_out(space);
    return MT_OK;
}

mt_status mt_space_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_space **out, mt_error *err)
{
    return mt_space_create_watched(spec, shape, facts, NULL, out, err);
}

mt_status mt_space_create_watched(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_space_watch *watch, mt_space **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_space *space = NULL;
    *out = NULL;
    MT_TRY(make_empty(spec, shape, facts, &space, err));
    MT_TRY(mt_space_walk(space, watch, err));
    MT_TRY(build_index(space, err));
    *out = space;
    space = NULL;
done:
    mt_space_free(space);
    return st;
}

mt_status mt_space_create_from_points(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_point *points, size_t count, mt_space **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_space *space = NULL;
    *out = NULL;
    MT_TRY(make_empty(spec, shape, facts, &space, err));
    space->points = mt_alloc(count, space->stride);
    if (!space->points) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory for %zu points", count);
        goto done;
    }
    space->count = space->capacity = count;
    space->raw_count = count;
    for (size_t i = 0; i < count; i++) mt_space_pack(space, &points[i], space->points + i * space->stride);
    MT_TRY(build_index(space, err));
    *out = space;
    space = NULL;
done:
    mt_space_free(space);
    return st;
}

void mt_space_free(mt_space *space)
{
    if (!space) return;
    mt_free(space->points);
    mt_free(space->index);
    mt_free(space->pruned);
    mt_free(space->is_exact);
    mt_free(space);
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
    (void)space;
    return true;
}

size_t mt_space_index_limit(const mt_space *space)
{
    return space->count;
}

bool mt_space_sample(const mt_space *space, mt_rng *rng, size_t *index)
{
    if (space->count == 0) return false;
    *index = (size_t)mt_rng_below(rng, space->count);
    return true;
}

uint64_t mt_space_raw_count(const mt_space *space)
{
    return space->raw_count;
}

size_t mt_space_pruned_kinds(const mt_space *space)
{
    return space->spec->constraint_count + space->spec->variant_count;
}

uint64_t mt_space_pruned(const mt_space *space, size_t kind, const char **name, const char **why, bool *is_exact)
{
    const mt_spec *spec = space->spec;
    assert(kind < mt_space_pruned_kinds(space));
    if (kind < spec->constraint_count) {
        const mt_constraint *constraint = &spec->constraints[kind];
        *name = constraint->name;
        *why = *constraint->why ? constraint->why : constraint->expr.source;
    } else {
        const mt_variant *variant = &spec->variants[kind - spec->constraint_count];
        *name = variant->name;
        *why = variant->has_requires ? variant->requires_expr.source : "";
    }
    *is_exact = space->is_exact[kind];
    return space->pruned[kind];
}

/* ---- neighbours ---- */

/* Brings the knobs after `changed` in line with their `when`s. False when that can't be computed: then there is no such point. */
static bool settle(const mt_space *space, mt_scene *scene, size_t changed, mt_point *point)
{
    const mt_spec *spec = space->spec;
    uint64_t dirty = UINT64_C(1) << changed;
    for (size_t i = changed + 1; i < spec->param_count; i++) {
        if (!(space->when_knobs[i] & dirty)) continue;
        bool is_active;
        if (mt_space_is_active(scene, i, &is_active, NULL) != MT_OK) return false;
        int level = !is_active ? MT_INACTIVE : point->level[i] != MT_INACTIVE ? point->level[i] : (int)spec->params[i].default_level;
        if (level == point->level[i]) continue;
        point->level[i] = (int16_t)level;
        mt_scene_set_knob(scene, i, level);
        dirty |= UINT64_C(1) << i;
    }
    return true;
}

size_t mt_space_neighbours(const mt_space *space, size_t index, size_t *out, size_t capacity)
{
    const mt_spec *spec = space->spec;
    mt_scene *scene = NULL;
    mt_point here;
    size_t found = 0;
    mt_space_at(space, index, &here);
    if (mt_scene_create(spec, space->shape, &space->facts, &scene, NULL) != MT_OK) return 0;
    for (size_t i = 0; i < spec->param_count; i++) {
        if (here.level[i] == MT_INACTIVE) continue;
        for (size_t level = 0; level < spec->params[i].value_count; level++) {
            size_t neighbour;
            mt_point there = here;
            if ((int)level == here.level[i]) continue;
            there.level[i] = (int16_t)level;
            mt_scene_set_point(scene, &there, NULL);
            if (!settle(space, scene, i, &there) || !mt_space_find(space, &there, &neighbour)) continue;
            if (found < capacity) out[found] = neighbour;
            found++;
        }
    }
    mt_scene_free(scene);
    return found;
}
