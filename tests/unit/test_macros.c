#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/macros.h"

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
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(env, point);
    ck_assert_msg(mt_options_variant(env, &options, &err) == MT_OK, "%s", err.message);
    options_are(&options, expected);
    mt_options_free(&options);
    mt_env_free(env);
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
    mt_env *env = must_env(spec, &spec->shapes[1], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(env, "ALGO=tma;CPB=8;MODE=slow;THREADS=129"); /* a point that is set changes nothing here */
    ck_assert_msg(mt_options_support(env, &spec->workloads[0], 0, &options, &err) == MT_OK, "%s", err.message);
    options_are(&options,
                "-DALGO=ALGO_direct -DALGO_direct=1 -DALGO_tma=2 -DCPB=2 -DMODE=MODE_fast -DMODE_fast=2 -DMODE_slow=1 -DMT_SUPPORT=1 -DREGS=64 -DSHAPE_D=8 "
                "-DSHAPE_H=1 -DSHAPE_H_0=1 -DSHAPE_H_LEN=1 -DSHAPE_N=1 -DSHAPE_S=1 -DSHAPE_W=1 -DSHAPE_W_0=1 -DSHAPE_W_LEN=1 -DSHAPE_dtype=SHAPE_dtype_f32 "
                "-DSHAPE_dtype_f32=1 -DTHREADS=128 -DWORKLOAD_kind=WORKLOAD_kind_local -DWORKLOAD_kind_local=1 -DWORKLOAD_sigma=1.5 --use_fast_math=false "
                "--maxrregcount=64");
    mt_options_free(&options);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

START_TEST(nothing_is_baked)
{
    mt_spec *spec = must_parse(KERNEL SHAPE OUT LAUNCH "[algorithm v]\nbake = none\noptions = -DX=${N}  --std=c++20\n");
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(env, "ALGO=v");
    ck_assert_int_eq(mt_options_variant(env, &options, &err), MT_OK);
    ck_assert_int_eq(mt_options_add(&options, "--last", &err), MT_OK);
    options_are(&options, "-DALGO=ALGO_v -DALGO_v=1 -DX=128 --std=c++20 --last");
    mt_options_free(&options);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

START_TEST(texts_stand_for_themselves)
{
    mt_spec *spec = must_parse(KERNEL "options = ${MATH} -DCOPY=${TYPE}\n" SHAPE OUT LAUNCH "[algorithm v]\nbake = none\n[params]\nTYPE = float, \"unsigned int\"\nMATH = \"\", \"--use_fast_math\"\nHALF = 0.5, 1.5\n");
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = {0};
    must_set(env, "ALGO=v;HALF=1.5;MATH=;TYPE=unsigned int");
    ck_assert_int_eq(mt_options_variant(env, &options, &err), MT_OK);
    options_are(&options, "-DALGO=ALGO_v -DALGO_v=1 -DHALF=1.5 -DHALF_INDEX=2 -DMATH= -DMATH_INDEX=1 -DTYPE=unsigned int -DTYPE_INDEX=2 -DCOPY=unsigned int"); /* an empty text is no option */
    mt_options_free(&options);
    must_set(env, "ALGO=v;HALF=0.5;MATH=--use_fast_math;TYPE=float");
    ck_assert_int_eq(mt_options_variant(env, &options, &err), MT_OK);
    options_are(&options, "-DALGO=ALGO_v -DALGO_v=1 -DHALF=0.5 -DHALF_INDEX=1 -DMATH=--use_fast_math -DMATH_INDEX=2 -DTYPE=float -DTYPE_INDEX=1 --use_fast_math -DCOPY=float");
    mt_options_free(&options);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

static void point_is(const char *text, const char *point, const char *expected)
{
    mt_spec *spec = must_parse(text);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_options options;
    mt_error err = { 0 };
    must_set(env, point);
    ck_assert_msg(mt_options_variant(env, &options, &err) == MT_OK, "%s", err.message);
    options_are(&options, expected);
    mt_options_free(&options);
    mt_env_free(env);
    mt_spec_free(spec);
}

static void must_not_parse(const char *text, const char *words)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_spec_parse("test.ini", text, strlen(text), &spec, &err), MT_ERR_SPEC);
    must_contain(err.message, words);
}

/* What the tool follows itself does not reach the compiler; the other words keep their order, and quotes hold them together. */
START_TEST(words_of_options)
{
    point_is(KERNEL "options = -Iinc -I \"a b\" -O1x -include=x.h --pre-include y.h -DTEXT=\"a b\" '-DMORE=a b' -D LAST=2 -DC='x' it's\n" SHAPE VARIANT OUT LAUNCH, "ALGO=v",
             "-DALGO=ALGO_v -DALGO_v=1 -DSHAPE_N=128 -O1x -DTEXT=\"a b\" -DMORE=a b -DLAST=2 -DC='x' it's");
}
END_TEST

START_TEST(macros_of_knobs_may_have_a_beginning)
{
    point_is(KERNEL "macros = KNOB_\noptions = -DT=${T}\n" SHAPE VARIANT OUT LAUNCH "[param T]\nvalues = 8\n[param mode]\nvalues = on, off\n", "ALGO=v;T=8;mode=off",
             "-DKNOB_ALGO=KNOB_ALGO_v -DKNOB_ALGO_v=1 -DKNOB_T=8 -DKNOB_mode=KNOB_mode_off -DKNOB_mode_off=2 -DKNOB_mode_on=1 -DSHAPE_N=128 -DT=8");
    must_not_parse(KERNEL "macros = SHAPE_K\n" SHAPE VARIANT OUT LAUNCH, "macros = SHAPE_K: names that begin with SHAPE_ are taken");
    must_not_parse(KERNEL "macros = 1K\n" SHAPE VARIANT OUT LAUNCH, "macros = 1K: expected a name");
}
END_TEST

/* A list never defines a name twice with different values. */
START_TEST(collisions_name_both)
{
    static const struct { const char *kernel, *shape, *knobs, *words, *algorithm; } cases[] = {
        {"", "", "[param A]\nvalues = x, B_C\n[param A_B]\nvalues = C\n", "macro A_B_C has two values, -DA_B_C=1 and -DA_B_C=2: B_C, a value of knob A and C, a value of knob A_B; expected different names", ""},
        {"", "H = 3, 5\nH_LEN = 7\n", "", "macro SHAPE_H_LEN has two values, -DSHAPE_H_LEN=2 and -DSHAPE_H_LEN=7: LEN, a part of the list H and shape value H_LEN", ""},
        {"", "H = 3, 5\nH_1 = 7\n", "", "1, a part of the list H and shape value H_1", ""},
        {"", "dtype = f16\ndtype_f16 = 5\n", "", "macro SHAPE_dtype_f16 has two values, -DSHAPE_dtype_f16=1 and -DSHAPE_dtype_f16=5: f16, the value of dtype and shape value dtype_f16", ""},
        {"options = -DK=32\n", "", "[param K]\nvalues = 64\n", "macro K has two values, -DK=64 and -DK=32: knob K and -DK=32 of [kernel] options", ""},
        {"options = --define-macro K=32\n", "", "[param K]\nvalues = 64\n", "knob K and --define-macro=K=32 of [kernel] options", ""},
        {"options = --define-macro=K=32\n", "", "[param K]\nvalues = 64\n", "knob K and --define-macro=K=32 of [kernel] options", ""},
        {"options = -D K\n", "", "[param K]\nvalues = 64\n", "knob K and -DK of [kernel] options", ""},
        {"options = -UK\n", "", "[param K]\nvalues = 64\n", "-DK=64 and -UK: knob K and -UK of [kernel] options", ""},
        {"options = -DSHAPE_N=1\n", "", "", "shape value N and -DSHAPE_N=1 of [kernel] options", ""},
        {"options = -inc${L}=/abs/s.h\n", "", "[param L]\nvalues = lude\n", "options: -include=/abs/s.h, which a knob makes: a folder or header that a knob names is not in the kernel's key; expected it written out", ""},
        {"options = -Xptxas=-op${L}=f\n", "", "[param L]\nvalues = tf\n", "-Xptxas=-optf=f, which a knob makes: the tool can't see which files this reads", ""},
        {"options = -DX=1 -DX=2\n", "", "", "macro X has two values, -DX=1 and -DX=2: -DX=1 of [kernel] options and -DX=2 of [kernel] options; expected", ""},
        {"options = -DX=1\n", "", "", "-DX=1 of [kernel] options and -DX=2 of [algorithm v] options; expected", "options = -DX=2\n"},
        {"", "", "", "-DX=1 of [algorithm v] options and -UX of [algorithm v] options; expected", "options = -DX=1 -UX\n"},
        {"", "", "[param K]\nvalues = 64\n", "knob K and -DK=32 of [algorithm v] options; expected", "options = -DK=32\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_strbuf text = { 0 };
        mt_options options;
        mt_error err = { 0 };
        mt_strbuf_addf(&text, KERNEL "%s" SHAPE "%s" VARIANT "%s" OUT LAUNCH "%s", cases[i].kernel, cases[i].shape, cases[i].algorithm, cases[i].knobs);
        mt_spec *spec = must_parse(mt_strbuf_text(&text));
        mt_env *env = must_env(spec, &spec->shapes[0], &h100);
        mt_env_set_knob(env, 0, 0);
        for (size_t k = 1; k < spec->param_count; k++) mt_env_set_knob(env, k, 0);
        ck_assert_int_eq(mt_options_variant(env, &options, &err), MT_ERR_SPEC);
        must_contain(err.message, cases[i].words);
        mt_env_free(env);
        mt_spec_free(spec);
        mt_strbuf_free(&text);
    }
}
END_TEST

/* Twice the same harms nobody. */
START_TEST(one_value_twice_is_no_collision)
{
    point_is(KERNEL "options = -DK=64 -DX -DX=1\n" SHAPE VARIANT OUT LAUNCH "[param K]\nvalues = 64\n", "ALGO=v;K=64", "-DALGO=ALGO_v -DALGO_v=1 -DK=64 -DSHAPE_N=128 -DK=64 -DX -DX=1");
}
END_TEST

UNIT_MAIN("macros", words_of_options, texts_stand_for_themselves, macros_of_knobs_may_have_a_beginning, collisions_name_both, one_value_twice_is_no_collision, knobs_baked_shape_and_options_of_a_variant, everything_is_baked_by_default, the_support_module_sees_all, nothing_is_baked)
