/* One small space twice: enumerated, and sampled because its limits are small. */
#pragma once

#include "tests/unit/space_fixture.h"
#include "tuner/space/points/space_internal.h"

static inline mt_space_limits limits_of(size_t states)
{
    return (mt_space_limits){ .points = 0, .combinations = 0, .effort = UINT64_MAX, .states = states };
}

static inline mt_space *must_enumerate(const mt_spec *spec)
{
    mt_space *space = NULL;
    mt_error err = { 0 };
    ck_assert_msg(mt_space_create(spec, &spec->shapes[0], &h100, &space, &err) == MT_OK, "%s", err.message);
    ck_assert(mt_space_is_enumerated(space) && mt_space_count_is_exact(space));
    return space;
}

static inline mt_space *must_sample(const mt_spec *spec, size_t states)
{
    mt_space *space = NULL;
    mt_error err = { 0 };
    mt_space_limits limits = limits_of(states);
    ck_assert_msg(mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, &limits, &space, &err) == MT_OK, "%s", err.message);
    ck_assert(!mt_space_is_enumerated(space));
    return space;
}

typedef struct pair {
    mt_spec *spec;
    mt_space *all, *sampled;
} pair;

static inline pair make_pair(mt_spec *spec, size_t states)
{
    return (pair){ spec, must_enumerate(spec), must_sample(spec, states) };
}

static inline void free_pair(pair *p)
{
    mt_space_free(p->all);
    mt_space_free(p->sampled);
    mt_spec_free(p->spec);
}
