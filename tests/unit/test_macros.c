#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/macros.h"

static void options_are(const mt_options *options, const char *expected)
{
    mt_strbuf text = { 0 };
    for (size_t i = 0; i < options->count; i++) mt_strbuf_addf(&text, "%s%s", i ? " " : "", options->items[i]);
    ck_assert_str_eq(mt_strbuf_text(&text), expected);
    mt_strbuf_free(&text);
}

static void variant_is(const char *point, const char *expected)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_scene *scene = must_scene(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(scene, point);
    ck_assert_msg(mt_options_variant(scene, &options, &err) == MT_OK, "%s", err.message);
    options_are(&options, expected);
    mt_options_free(&options);
    mt_scene_free(scene);
    mt_spec_free(spec);
}

START_TEST(knobs_baked_shape_and_options_of_a_variant)
{
    variant_is("ALGO=tma;CPB=8;MODE=slow;THREADS=129",
               "-DALGO=ALGO_tma -DALGO_direct=1 -DALGO_tma=2 -DCPB=8 -DMODE=MODE_slow -DMODE_fast=2 -DMODE_slow=1 -DSHAPE_D=32 -DSHAPE_H=8,4 -DSHAPE_H_0=8 "
               "-DSHAPE_H_1=4 -DSHAPE_H_LEN=2 -DTHREADS=129 --use_fast_math=false -DEXTRA=8"); /* no --maxrregcount: REGS is inactive */
}
END_TEST

START_TEST(everything_is_baked_by_default)
{
    variant_is("ALGO=direct;MODE=fast;THREADS=64;REGS=255",
               "-DALGO=ALGO_direct -DALGO_direct=1 -DALGO_tma=2 -DMODE=MODE_fast -DMODE_fast=2 -DMODE_slow=1 -DREGS=255 -DSHAPE_D=32 -DSHAPE_H=8,4 -DSHAPE_H_0=8 "
               "-DSHAPE_H_1=4 -DSHAPE_H_LEN=2 -DSHAPE_N=2 -DSHAPE_S=160 -DSHAPE_W=16,8 -DSHAPE_W_0=16 -DSHAPE_W_1=8 -DSHAPE_W_LEN=2 -DSHAPE_dtype=SHAPE_dtype_f16 "
               "-DSHAPE_dtype_f16=1 -DTHREADS=64 --use_fast_math=false --maxrregcount=255");
}
END_TEST

START_TEST(the_support_module_sees_all)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_scene *scene = must_scene(spec, &spec->shapes[1], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(scene, "ALGO=tma;CPB=8;MODE=slow;THREADS=129"); /* a point that is set changes nothing here */
    ck_assert_msg(mt_options_support(scene, &spec->workloads[0], &options, &err) == MT_OK, "%s", err.message);
    options_are(&options,
                "-DALGO=ALGO_direct -DALGO_direct=1 -DALGO_tma=2 -DCPB=2 -DMODE=MODE_fast -DMODE_fast=2 -DMODE_slow=1 -DMT_SUPPORT=1 -DREGS=64 -DSHAPE_D=8 "
                "-DSHAPE_H=1 -DSHAPE_H_0=1 -DSHAPE_H_LEN=1 -DSHAPE_N=1 -DSHAPE_S=1 -DSHAPE_W=1 -DSHAPE_W_0=1 -DSHAPE_W_LEN=1 -DSHAPE_dtype=SHAPE_dtype_f32 "
                "-DSHAPE_dtype_f32=1 -DTHREADS=128 -DWORKLOAD_kind=WORKLOAD_kind_local -DWORKLOAD_kind_local=1 -DWORKLOAD_sigma=1.5 --use_fast_math=false "
                "--maxrregcount=64");
    mt_options_free(&options);
    mt_scene_free(scene);
    mt_spec_free(spec);
}
END_TEST

START_TEST(nothing_is_baked)
{
    mt_spec *spec = must_parse(KERNEL SHAPE OUT LAUNCH "[algorithm v]\nbake = none\noptions = -DX=${N}  --std=c++20\n");
    mt_scene *scene = must_scene(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(scene, "ALGO=v");
    ck_assert_int_eq(mt_options_variant(scene, &options, &err), MT_OK);
    ck_assert_int_eq(mt_options_add(&options, "--last", &err), MT_OK);
    options_are(&options, "-DALGO=ALGO_v -DALGO_v=1 -DX=128 --std=c++20 --last");
    mt_options_free(&options);
    mt_scene_free(scene);
    mt_spec_free(spec);
}
END_TEST

UNIT_MAIN("macros", knobs_baked_shape_and_options_of_a_variant, everything_is_baked_by_default, the_support_module_sees_all, nothing_is_baked)
