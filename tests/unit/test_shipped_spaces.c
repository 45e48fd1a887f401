/* Every shipped space on every kind of GPU: whatever may run there has a plan and a believed time. What a space says of one architecture alone (a knob that others lack) shows here. */
#include "tests/unit/space_fixture.h"

#include "tuner/space/facts.h"

#include <glob.h>
#include <stdio.h>

/* One GPU of each compute capability that db/devices.ini knows. */
static const char *const gpus[] = {"v100", "t4", "a100", "a10", "orin", "l4", "h200", "b200", "b300", "thor", "rtx5090", "gb10"};
enum { MOST_SHAPES = 3, POINTS = 100 };

static mt_device_facts facts_of(const char *gpu)
{
    mt_device_facts facts;
    mt_error err = {0};
    ck_assert_msg(mt_facts_load(SOURCE_DIR "/db/devices.ini", gpu, &facts, &err) == MT_OK, "%s", err.message);
    return facts;
}

static void must_plan(const mt_space *space, mt_env *env, size_t index, const char *path, const char *gpu)
{
    mt_error err = {0};
    mt_point point;
    mt_plan plan = {0};
    double ns;
    char *illegal = NULL;
    mt_space_at(space, index, &point);
    mt_status st = mt_env_set_point(env, &point, &err);
    if (st == MT_OK) st = mt_plan_make(env, &plan, &illegal, &err);
    if (st == MT_OK) st = mt_env_time_ns(env, &ns, &err);
    ck_assert_msg(st == MT_OK, "%s on %s: %s", path, gpu, err.message);
    ck_assert_msg(!illegal, "%s on %s, shape %s: a valid point is no launch: %s", path, gpu, mt_env_shape(env)->name, illegal);
    mt_plan_free(&plan);
}

/* How many points were tried. */
static size_t try_shape(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const char *path, const char *gpu)
{
    mt_space *space = NULL;
    mt_error err = {0};
    mt_rng rng;
    size_t tried = 0;
    mt_env *env = must_env(spec, shape, facts);
    mt_rng_seed(&rng, 1);
    mt_status st = mt_space_create(spec, shape, facts, &space, &err);
    ck_assert_msg(st == MT_OK, "%s on %s, shape %s: %s", path, gpu, shape->name, err.message);
    for (size_t index; tried < POINTS && mt_space_sample(space, &rng, &index); tried++) must_plan(space, env, index, path, gpu);
    mt_space_free(space);
    mt_env_free(env);
    return tried;
}

static size_t try_space(const char *path)
{
    mt_spec *spec = must_load(path);
    size_t tried = 0, step = 1 + (spec->shape_count - 1) / MOST_SHAPES;
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        mt_device_facts facts = facts_of(gpus[i]);
        for (size_t k = 0; k < spec->shape_count; k += step) tried += try_shape(spec, &spec->shapes[k], &facts, path, gpus[i]);
    }
    mt_spec_free(spec);
    return tried;
}

START_TEST(every_point_of_every_gpu_has_a_plan_and_a_time)
{
    glob_t spaces;
    ck_assert_int_eq(glob(SOURCE_DIR "/search_spaces/*.ini", 0, NULL, &spaces), 0);
    for (size_t i = 0; i < spaces.gl_pathc; i++) ck_assert_msg(try_space(spaces.gl_pathv[i]) > 0, "%s has no point anywhere", spaces.gl_pathv[i]);
    globfree(&spaces);
}
END_TEST

/* A new compute capability in devices.ini is to stand in the list above. */
START_TEST(the_list_has_every_compute_capability)
{
    char text[4096];
    FILE *file = fopen(SOURCE_DIR "/db/devices.ini", "r");
    ck_assert_ptr_nonnull(file);
    for (int cc; fgets(text, sizeof text, file);) {
        bool known = false;
        if (sscanf(text, " cc = %d", &cc) != 1) continue;
        for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) known = known || facts_of(gpus[i]).cc == cc;
        ck_assert_msg(known, "no GPU of compute capability %d in the list", cc);
    }
    fclose(file);
}
END_TEST

UNIT_MAIN("shipped_spaces", every_point_of_every_gpu_has_a_plan_and_a_time, the_list_has_every_compute_capability)
