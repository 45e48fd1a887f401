/* What the tests of tuner/space share: an H100, parsing text that must or must not parse, points by their text. */
#pragma once

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/space/launch/plan.h"
#include "tuner/space/points/env.h"
#include "tuner/space/points/space.h"
#include "tuner/space/spec/spec.h"

#include <string.h>

#define FULL_INI TEST_DATA_DIR "/ini/good_full.ini"

static const mt_device_facts h100 = {
    .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024,
    .regs_per_sm = 65536, .threads_per_sm = 2048, .blocks_per_sm = 32, .max_cluster = 16, .l2_bytes = 52428800, .mem_bytes = 85017755648,
    .clock_mhz = 1980,
};

/* The sections that a short test leaves out. */
#define KERNEL "[kernel]\nsource = k.cu\nreference = ref\n"
#define SHAPE "[shape s]\nN = 128\n"
#define VARIANT "[algorithm v]\n"
#define OUT "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n"
#define LAUNCH "[launch 1]\nargs = out\ngrid = N\nblock = 32\n"
#define REST KERNEL SHAPE VARIANT OUT LAUNCH

static inline mt_spec *must_parse(const char *text)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    mt_status st = mt_spec_parse("dir/test.ini", text, strlen(text), &spec, &err);
    ck_assert_msg(st == MT_OK, "%s", err.message);
    return spec;
}

static inline mt_spec *must_load(const char *path)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    mt_status st = mt_spec_load(path, &spec, &err);
    ck_assert_msg(st == MT_OK, "%s", err.message);
    return spec;
}

static inline mt_env *must_env(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts)
{
    mt_env *env = NULL;
    mt_error err = { 0 };
    ck_assert_msg(mt_env_create(spec, shape, facts, &env, &err) == MT_OK, "%s", err.message);
    return env;
}

static inline mt_point must_point(const mt_spec *spec, const char *text)
{
    mt_point point;
    mt_error err = { 0 };
    ck_assert_msg(mt_point_parse(spec, text, &point, &err) == MT_OK, "%s", err.message);
    return point;
}

static inline void must_set(mt_env *env, const char *text)
{
    mt_point point = must_point(mt_env_spec(env), text);
    mt_error err = { 0 };
    ck_assert_msg(mt_env_set_point(env, &point, &err) == MT_OK, "%s", err.message);
}

static inline void must_contain(const char *text, const char *part)
{
    ck_assert_msg(text && strstr(text, part), "expected \"%s\" in \"%s\"", part, text ? text : "(null)");
}

static inline void text_is(const mt_space *space, size_t index, const char *expected)
{
    mt_point point;
    mt_space_at(space, index, &point);
    char *text = mt_point_text(mt_space_spec(space), &point);
    ck_assert_str_eq(text, expected);
    mt_free(text);
}

static inline uint64_t pruned_by(const mt_space *space, const char *wanted, bool *is_exact)
{
    for (size_t kind = 0; kind < mt_space_pruned_kinds(space); kind++) {
        const char *name, *why;
        uint64_t count = mt_space_pruned(space, kind, &name, &why, is_exact);
        if (strcmp(name, wanted) == 0) return count;
    }
    ck_abort_msg("no kind %s", wanted);
    return 0;
}
