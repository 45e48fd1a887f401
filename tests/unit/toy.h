/* A toy search space for the tests of search/ and run/: no kernel, just knobs. */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/space/points/space.h"

/* Facts of an H100 SXM. */
static inline mt_device_facts toy_facts(void)
{
    mt_device_facts facts = {
        .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024, .regs_per_sm = 65536, .threads_per_sm = 2048,
        .blocks_per_sm = 32, .max_cluster = 16, .l2_bytes = 52428800, .mem_bytes = 85000000000, .clock_mhz = 1980, .driver_version = 13000, .nvrtc_version = 13000,
    };
    snprintf(facts.name, sizeof facts.name, "NVIDIA H100 80GB HBM3");
    return facts;
}

/* `knobs`: the [param]s, [constraint]s and whatever else the test wants; `tune`: lines for [tune]. */
static inline void toy_text(char *text, size_t size, const char *tune, const char *knobs)
{
    int length = snprintf(text, size,
        "[kernel]\nname = toy\nsource = toy.cu\nreference = toy_reference\n"
        "[tune]\n%s\n[shape small]\nN = 64\n[shape large]\nN = 4096\nmain = no\n"
        "[algorithm plain]\n%s\n"
        "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1e-6\n"
        "[launch 1]\nargs = out\ngrid = ceil_div(N, 64)\nblock = 64\n",
        tune, knobs);
    ck_assert_int_lt(length, (int)size);
}

static inline mt_spec *toy_spec_from(const char *path, const char *text)
{
    mt_spec *spec = NULL;
    mt_error err = {0};
    ck_assert_msg(mt_spec_parse(path, text, strlen(text), &spec, &err) == MT_OK, "%s", err.message);
    return spec;
}

static inline mt_spec *toy_spec(const char *tune, const char *knobs)
{
    char text[8192];
    toy_text(text, sizeof text, tune, knobs);
    return toy_spec_from("toy.ini", text);
}

static inline mt_space *toy_space(const mt_spec *spec)
{
    mt_space *space = NULL;
    mt_error err = {0};
    mt_device_facts facts = toy_facts();
    ck_assert_msg(mt_space_create(spec, &spec->shapes[0], &facts, &space, &err) == MT_OK, "%s", err.message);
    return space;
}
