#include "tests/unit/space_fixture.h"
#include "tuner/base/clock.h"
#include "tuner/base/rng.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/space.h"

#include <dirent.h>
#include <stdio.h>

static mt_space *must_space(const mt_spec *spec, size_t shape, const mt_device_facts *facts)
{
    mt_space *space = NULL;
    mt_error err = { 0 };
    ck_assert_msg(mt_space_create(spec, &spec->shapes[shape], facts, &space, &err) == MT_OK, "%s", err.message);
    return space;
}

/* The rules that exclude everything, each with its numbers, the strictest first; of equals the file's first. */
START_TEST(what_excludes_all_is_told)
{
    static const struct {
        const char *constraints, *told;
    } cases[] = {
        {"[constraint big]\nexpr = K > 8\nwhy = too small\n", "'big' excludes 4 of 4: too small: K > 8"},
        {"[constraint big]\nexpr = K > 8\n", "'big' excludes 4 of 4: K > 8"},
        {"[constraint odd]\nexpr = K % 2 == 1\nwhy = even\n[constraint high]\nexpr = K % 2 == 0\n", "'odd' excludes 2 of 4: even: K % 2 == 1; 'high' excludes 2 of 4: K % 2 == 0"},
        {"[constraint one]\nexpr = K != 1\n[constraint most]\nexpr = K == 1\n", "'most' excludes 3 of 4: K == 1; 'one' excludes 1 of 4: K != 1"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        mt_space *space = NULL;
        mt_error err = { 0 };
        mt_strbuf told = {0};
        snprintf(text, sizeof text, REST "[param K]\nvalues = 1..4\n%s", cases[i].constraints);
        mt_spec *spec = must_parse(text);
        ck_assert_msg(mt_space_create(spec, &spec->shapes[0], &h100, &space, &err) == MT_OK, "%s", err.message);
        mt_space_tell_pruned(space, &told);
        ck_assert_str_eq(mt_strbuf_text(&told), cases[i].told);
        mt_strbuf_free(&told);
        mt_space_free(space);
        mt_spec_free(spec);
    }
}
END_TEST

/* ---- enumeration ---- */

START_TEST(order_is_the_file_s_and_inactive_knobs_are_absent)
{
    mt_spec *spec = must_parse(KERNEL SHAPE OUT LAUNCH "[algorithm a]\n[algorithm b]\n[param K]\nvalues = 1, 2\nwhen = ALGO == b\n[param M]\nvalues = x, y\n");
    mt_space *space = must_space(spec, 0, &h100);
    ck_assert_uint_eq(mt_space_count(space), 6);
    ck_assert_uint_eq(mt_space_raw_count(space), 6);
    text_is(space, 0, "ALGO=a;M=x");
    text_is(space, 1, "ALGO=a;M=y");
    text_is(space, 2, "ALGO=b;K=1;M=x");
    text_is(space, 5, "ALGO=b;K=2;M=y");
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(a_constraint_on_an_inactive_knob_does_not_apply)
{
    mt_spec *spec = must_parse(KERNEL SHAPE OUT LAUNCH "[algorithm a]\n[algorithm b]\n[param K]\nvalues = 1, 2\nwhen = ALGO == b\n[param M]\nvalues = 1, 2\n"
                               "[let]\nT = K * M\n[constraint c]\nexpr = T < 3\nwhy = small\n[constraint d]\nexpr = M == 1 || K == 1\n");
    mt_space *space = must_space(spec, 0, &h100);
    bool is_exact;
    ck_assert_uint_eq(mt_space_count(space), 5); /* a: both M; b: all but K=2;M=2 */
    ck_assert_uint_eq(pruned_by(space, "c", &is_exact), 1);
    ck_assert(is_exact);
    ck_assert_uint_eq(pruned_by(space, "d", &is_exact), 0);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(requires_guards_what_the_variant_s_constraints_compute)
{
    mt_spec *spec = must_parse(KERNEL "[shape s]\nN = 100\n[shape t]\nN = 128\n" OUT LAUNCH "[algorithm a]\n[algorithm b]\nrequires = N % 64 == 0\n[param K]\nvalues = 1, 2\n"
                               "[let]\nTILES = N / 64\n[constraint c]\nexpr = ALGO == a || TILES >= K\n");
    mt_space *space = must_space(spec, 0, &h100);
    const char *name, *why;
    bool is_exact;
    ck_assert_uint_eq(mt_space_count(space), 2);
    ck_assert_uint_eq(mt_space_pruned(space, 2, &name, &why, &is_exact), 2);
    ck_assert_str_eq(name, "b");
    ck_assert_str_eq(why, "N % 64 == 0");
    ck_assert(is_exact);
    mt_space_free(space);
    space = must_space(spec, 1, &h100);
    ck_assert_uint_eq(mt_space_count(space), 4);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(a_constraint_of_shape_values_guards_the_shape)
{
    mt_spec *spec = must_parse(REST "[param K]\nvalues = 1, 2\n[constraint starts]\nexpr = N == 129\nwhy = the levels must fill the map\n[constraint k]\nexpr = 1 / K > 0\n");
    mt_space *space = must_space(spec, 0, &h100);
    bool is_exact;
    size_t index;
    mt_error err = { 0 };
    ck_assert_uint_eq(mt_space_count(space), 0);
    ck_assert_uint_eq(pruned_by(space, "starts", &is_exact), 2);
    ck_assert_int_eq(mt_space_default(space, &index, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "[constraint starts] N == 129 (the levels must fill the map) excludes the shape s on NVIDIA H100 80GB HBM3");
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(arithmetic_that_fails_says_where)
{
    mt_spec *spec = must_parse(REST "[param A]\nvalues = 1, 2\n[param K]\nvalues = 1, 0\n[constraint k]\nexpr = N / K > 0\n");
    mt_space *space = NULL;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_space_create(spec, &spec->shapes[0], &h100, &space, &err), MT_ERR_SPEC);
    ck_assert_ptr_null(space);
    must_contain(err.message, "dir/test.ini:21: column 10: N / K > 0: division by zero (shape s, at A=1;ALGO=v;K=0)");
    mt_spec_free(spec);
}
END_TEST

START_TEST(one_point_and_one_value)
{
    mt_spec *spec = must_parse(REST "[param K]\nvalues = 7\n");
    mt_space *space = must_space(spec, 0, &h100);
    size_t index = 9, out[4];
    ck_assert_uint_eq(mt_space_count(space), 1);
    ck_assert_int_eq(mt_space_default(space, &index, NULL), MT_OK);
    ck_assert_uint_eq(index, 0);
    ck_assert_uint_eq(mt_space_neighbours(space, 0, out, 4), 0);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(raw_counts_saturate_and_stay_cheap)
{
    mt_strbuf text = { 0 };
    mt_strbuf_add(&text, REST "[constraint none]\nexpr = P0 > 1000\nwhy = nothing\n");
    for (int i = 0; i < 60; i++) mt_strbuf_addf(&text, "[param P%d]\nvalues = 1..100\n%s", i, i % 2 ? "when = P0 > 50\n" : "");
    mt_spec *spec = must_parse(mt_strbuf_text(&text));
    mt_space *space = must_space(spec, 0, &h100);
    ck_assert_uint_eq(mt_space_count(space), 0);
    ck_assert(mt_space_raw_count(space) == UINT64_MAX);
    mt_space_free(space);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
}
END_TEST

/* ---- against the definition ---- */

/* All level vectors, filtered by the rules as they are written down. */
START_TEST(enumeration_agrees_with_brute_force)
{
    mt_spec *spec = must_load(FULL_INI);
    const mt_shape *shape = &spec->shapes[0];
    mt_space *space = must_space(spec, 0, &h100);
    mt_env *env = must_env(spec, shape, &h100);
    size_t found = 0, total = 1;
    for (size_t i = 0; i < spec->param_count; i++) total *= spec->params[i].value_count + 1;
    for (size_t code = 0; code < total; code++) {
        mt_point point;
        size_t rest = code, index;
        bool valid = true;
        for (size_t i = 0; i < MT_MAX_PARAMS; i++) point.level[i] = MT_INACTIVE;
        for (size_t i = 0; i < spec->param_count; i++) {
            point.level[i] = (int16_t)(rest % (spec->params[i].value_count + 1)) - 1;
            rest /= spec->params[i].value_count + 1;
        }
        if (point.level[0] == MT_INACTIVE) continue;
        ck_assert_int_eq(mt_env_set_point(env, &point, NULL), MT_OK);
        for (size_t i = 0; i < spec->param_count; i++) {
            int64_t value = 1;
            bool inactive = false;
            if (spec->params[i].has_when) ck_assert_int_eq(mt_env_int(env, &spec->params[i].when, &value, &inactive, NULL), MT_OK);
            valid = valid && (value && !inactive) == (point.level[i] != MT_INACTIVE);
        }
        for (size_t i = 0; valid && i < spec->constraint_count; i++) {
            int64_t value;
            bool inactive;
            ck_assert_int_eq(mt_env_int(env, &spec->constraints[i].expr, &value, &inactive, NULL), MT_OK);
            valid = value || inactive;
        }
        ck_assert_int_eq(mt_space_find(space, &point, &index), valid);
        found += valid;
    }
    ck_assert_uint_eq(found, mt_space_count(space));
    mt_env_free(env);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(wide_knobs_and_lookups)
{
    mt_spec *spec = must_parse(REST "[param W]\nvalues = 1..1000\n[param K]\nvalues = 1, 2, 3\n[constraint c]\nexpr = W % 7 != K\n");
    mt_space *space = must_space(spec, 0, &h100);
    for (size_t i = 0; i < mt_space_count(space); i++) {
        mt_point point;
        size_t index;
        mt_space_at(space, i, &point);
        ck_assert_int_ne(spec->params[1].numbers[point.level[1]] % 7, spec->params[2].numbers[point.level[2]]);
        ck_assert(mt_space_find(space, &point, &index));
        ck_assert_uint_eq(index, i);
    }
    mt_point point = must_point(spec, "ALGO=v;W=701;K=1");
    size_t index;
    ck_assert(!mt_space_find(space, &point, &index));
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* ---- defaults and neighbours ---- */

START_TEST(default_points)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_space *space = must_space(spec, 0, &h100);
    mt_error err = { 0 };
    size_t index;
    ck_assert_int_eq(mt_space_default(space, &index, &err), MT_OK);
    text_is(space, index, "ALGO=direct;MODE=fast;THREADS=128");
    ck_assert_int_eq(mt_space_variant_default(space, "tma", &index, &err), MT_OK);
    text_is(space, index, "ALGO=tma;CPB=2;MODE=fast;THREADS=128");
    ck_assert_int_eq(mt_space_variant_default(space, "tna", &index, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "did you mean `tma`?");
    mt_space_free(space);
    mt_device_facts old = h100;
    old.cc = 80;
    space = must_space(spec, 0, &old);
    ck_assert_int_eq(mt_space_variant_default(space, "tma", &index, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "[algorithm tma] device.cc >= 90 excludes variant tma's default point ALGO=tma");
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(a_default_that_can_t_run_is_no_point)
{
    mt_spec *spec = must_parse(KERNEL SHAPE OUT LAUNCH "[algorithm a]\n[param K]\nvalues = 1, 2, 4\ndefault = 4\n[constraint legal]\nexpr = K < 3\n");
    mt_space *space = must_space(spec, 0, &h100);
    mt_error err = { 0 };
    size_t index;
    ck_assert_uint_eq(mt_space_count(space), 2);
    ck_assert_int_eq(mt_space_default(space, &index, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "[constraint legal] K < 3 excludes the default point ALGO=a;K=4");
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

static bool contains(const mt_space *space, const size_t *list, size_t count, const char *text)
{
    mt_point wanted = must_point(mt_space_spec(space), text);
    for (size_t i = 0; i < count; i++) {
        mt_point point;
        mt_space_at(space, list[i], &point);
        if (memcmp(&point, &wanted, sizeof point) == 0) return true;
    }
    return false;
}

START_TEST(neighbours_differ_in_one_knob)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_space *space = must_space(spec, 0, &h100);
    size_t index, out[32], none;
    mt_point here = must_point(spec, "ALGO=direct;THREADS=128;MODE=fast");
    ck_assert(mt_space_find(space, &here, &index));
    size_t count = mt_space_neighbours(space, index, out, 32);
    ck_assert_uint_eq(count, 5);
    ck_assert(contains(space, out, count, "ALGO=tma;CPB=2;THREADS=128;MODE=fast"));             /* CPB becomes active: its default */
    ck_assert(contains(space, out, count, "ALGO=direct;REGS=64;THREADS=64;MODE=fast"));         /* so does REGS */
    ck_assert(contains(space, out, count, "ALGO=direct;THREADS=130;MODE=fast"));
    ck_assert(contains(space, out, count, "ALGO=direct;THREADS=128;MODE=slow"));
    ck_assert_uint_eq(mt_space_neighbours(space, index, out, 2), 5);
    ck_assert_uint_eq(mt_space_neighbours(space, index, &none, 0), 5);
    here = must_point(spec, "ALGO=direct;THREADS=64;REGS=255;MODE=fast");
    ck_assert(mt_space_find(space, &here, &index));
    count = mt_space_neighbours(space, index, out, 32);
    ck_assert(contains(space, out, count, "ALGO=direct;THREADS=129;MODE=fast"));                /* REGS drops */
    ck_assert(contains(space, out, count, "ALGO=tma;CPB=2;THREADS=64;MODE=fast"));
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* ---- the shipped spaces ---- */

enum { SHAPES_OF_A_SPACE = 10, MOST_PLANNED = 1000 }; /* tests labelled compile see every shape */

static void raw_is_valid_plus_pruned(const mt_space *space)
{
    uint64_t total = mt_space_count(space);
    for (size_t kind = 0; kind < mt_space_pruned_kinds(space); kind++) {
        const char *name, *why;
        bool is_exact;
        total += mt_space_pruned(space, kind, &name, &why, &is_exact);
        if (!is_exact) return;
    }
    ck_assert_msg(total == mt_space_raw_count(space), "%s, %s: %llu valid and pruned of %llu", mt_space_spec(space)->path, mt_space_shape(space)->name, (unsigned long long)total, (unsigned long long)mt_space_raw_count(space));
}

/* All points, or so many of a large space. */
static void plan_all(const mt_spec *spec, const mt_shape *shape, const mt_space *space)
{
    mt_env *env = must_env(spec, shape, &h100);
    mt_error err = { 0 };
    mt_plan plan;
    size_t legal = 0, looked_at = mt_space_count(space) < MOST_PLANNED ? mt_space_count(space) : MOST_PLANNED, index;
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    ck_assert_msg(mt_plan_reference(env, 0, &plan, &err) == MT_OK, "%s", err.message);
    mt_plan_free(&plan);
    for (size_t i = 0; i < looked_at; i += UNIT_SLOWNESS) {
        mt_point point;
        char *illegal = NULL;
        if (looked_at == mt_space_count(space)) index = i;
        else ck_assert(mt_space_sample(space, &rng, &index));
        mt_space_at(space, index, &point);
        ck_assert_int_eq(mt_env_set_point(env, &point, &err), MT_OK);
        ck_assert_msg(mt_plan_make(env, &plan, &illegal, &err) == MT_OK, "%s", err.message);
        if (!illegal) illegal = mt_plan_illegal(env, &plan);
        legal += !illegal;
        mt_plan_free(&plan);
        mt_free(illegal);
    }
    ck_assert_msg(legal > 0, "%s: no point of shape %s can run on an H100", spec->path, shape->name);
    mt_env_free(env);
}

START_TEST(every_shipped_space_adds_up_and_can_be_planned)
{
    DIR *folder = opendir(SOURCE_DIR "/search_spaces");
    ck_assert_ptr_nonnull(folder);
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[1024];
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".ini") != 0) continue;
        snprintf(path, sizeof path, "%s/search_spaces/%s", SOURCE_DIR, entry->d_name);
        mt_spec *spec = must_load(path);
        for (size_t shape = 0; shape < spec->shape_count; shape += UNIT_SLOWNESS * (spec->shape_count / SHAPES_OF_A_SPACE + 1)) {
            mt_space *space = must_space(spec, shape, &h100);
            ck_assert_msg(mt_space_count(space) > 0, "%s: shape %s has no valid point", path, spec->shapes[shape].name);
            raw_is_valid_plus_pruned(space);
            plan_all(spec, &spec->shapes[shape], space);
            mt_space_free(space);
        }
        mt_spec_free(spec);
        files++;
    }
    closedir(folder);
    ck_assert_uint_ge(files, 1);
}
END_TEST

/* ---- size and memory ---- */

START_TEST(a_million_points_take_seconds_at_most)
{
    mt_spec *spec = must_parse(REST "[let]\nT = A * B * C\n[param A]\nvalues = 1..10\n[param B]\nvalues = 1..10\n[param C]\nvalues = 1..10\n[param D]\nvalues = 1..10\n"
                               "[param E]\nvalues = 1..10\n[param F]\nvalues = 1..13\n[constraint one]\nexpr = T <= 900 || D > 2\n[constraint two]\nexpr = (T + E * F) % 7 != 3\n");
    int64_t start = mt_clock_thread_cpu_ns(); /* whatever else this machine does */
    mt_space *space = must_space(spec, 0, &h100);
    int64_t spent = mt_clock_thread_cpu_ns() - start;
    ck_assert_uint_gt(mt_space_count(space), 1000000);
    ck_assert_msg(spent < UNIT_SLOWNESS * INT64_C(20000000000), "%.1f s", (double)spent * 1e-9);
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    for (int i = 0; i < 1000; i++) {
        mt_point point;
        size_t wanted = mt_rng_below(&rng, mt_space_count(space)), index;
        mt_space_at(space, wanted, &point);
        ck_assert(mt_space_find(space, &point, &index) && index == wanted);
    }
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_status st = MT_ERR_NO_MEMORY;
    size_t n = 1;
    for (; st != MT_OK && n < 10000; n++) {
        mt_space *space = NULL;
        mt_error err = { 0 };
        mt_alloc_fail_at(n);
        st = mt_space_create(spec, &spec->shapes[0], &h100, &space, &err);
        mt_alloc_fail_at(0);
        ck_assert_msg(st == MT_OK || st == MT_ERR_NO_MEMORY, "allocation %zu: %s", n, err.message);
        mt_space_free(space);
    }
    ck_assert_uint_gt(n, 10);
    st = MT_ERR_NO_MEMORY;
    for (n = 1; st != MT_OK && n < 100; n++) {
        mt_point points[2] = { must_point(spec, "ALGO=direct;MODE=slow;THREADS=128"), must_point(spec, "ALGO=direct;MODE=slow;THREADS=128") };
        mt_space *space = NULL;
        mt_error err = { 0 };
        mt_alloc_fail_at(n);
        st = mt_space_create_recorded(spec, &spec->shapes[0], &h100, points, 2, &space, &err);
        mt_alloc_fail_at(0);
        ck_assert_msg(st == MT_OK || st == MT_ERR_NO_MEMORY, "allocation %zu: %s", n, err.message);
        if (st == MT_OK) ck_assert_uint_eq(mt_space_count(space), 1);
        mt_space_free(space);
    }
    ck_assert_uint_gt(n, 5);
    mt_spec_free(spec);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        what_excludes_all_is_told, order_is_the_file_s_and_inactive_knobs_are_absent, a_constraint_on_an_inactive_knob_does_not_apply,
        requires_guards_what_the_variant_s_constraints_compute, a_constraint_of_shape_values_guards_the_shape, arithmetic_that_fails_says_where,
        one_point_and_one_value, raw_counts_saturate_and_stay_cheap, enumeration_agrees_with_brute_force, wide_knobs_and_lookups,
        default_points, a_default_that_can_t_run_is_no_point, neighbours_differ_in_one_knob, every_shipped_space_adds_up_and_can_be_planned, a_million_points_take_seconds_at_most, every_allocation_may_fail,
    };
    return unit_run("space", tests, sizeof tests / sizeof tests[0]);
}
