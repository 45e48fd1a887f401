#include "tests/unit/space_fixture.h"
#include "tuner/space/points/env.h"

#include <math.h>

#define ENV_INI                                                                                                                 \
    REST "[let]\nHALF = N / 2\nPER = N / K\nDEEP = PER + 1\nHERE = K * 2\nNAME = mode\nBAD = N / 3\n"                              \
         "[param K]\nvalues = 1, 3, 128\nwhen = N > 1\n[param Q]\nvalues = 7\nwhen = K == 3\n[param mode]\nvalues = fast, slow\n" \
         "[model]\nflops = 2 * N\ndram_bytes = device.sm_count * 10\n"                                                            \
         "[constraint one]\nexpr = Q * 0 == 0\n[constraint two]\nexpr = DEEP > 0\n[constraint three]\nexpr = N == 1 || BAD > 1\n" \
         "[constraint four]\nexpr = K != 3 || PER > 0\n[constraint five]\nexpr = HERE > 1\n"

typedef struct fixture {
    mt_spec *spec;
    mt_env *env;
} fixture;

static fixture start(const char *text, const char *point)
{
    fixture f = { .spec = must_parse(text) };
    f.env = must_env(f.spec, &f.spec->shapes[0], &h100);
    if (point) must_set(f.env, point);
    return f;
}

static void stop(fixture *f)
{
    mt_env_free(f->env);
    mt_spec_free(f->spec);
}

static int64_t value_of(const fixture *f, size_t constraint)
{
    int64_t value;
    mt_error err = { 0 };
    ck_assert_msg(mt_env_int(f->env, &f->spec->constraints[constraint].expr, &value, NULL, &err) == MT_OK, "%s", err.message);
    return value;
}

START_TEST(inactive_is_told_apart_from_wrong)
{
    fixture f = start(ENV_INI, "ALGO=v;K=1;mode=fast");
    int64_t value = 5;
    bool inactive = false;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_env_int(f.env, &f.spec->constraints[0].expr, &value, &inactive, &err), MT_OK);
    ck_assert(inactive);
    ck_assert_int_eq(value, 0);
    ck_assert_int_eq(mt_env_int(f.env, &f.spec->constraints[0].expr, &value, NULL, &err), MT_ERR_SPEC);
    must_contain(err.message, "dir/test.ini:");
    must_contain(err.message, "Q * 0 == 0");
    stop(&f);
}
END_TEST

START_TEST(lets_follow_the_point_and_fail_only_where_they_are_read)
{
    fixture f = start(ENV_INI, "ALGO=v;K=1;mode=fast");
    int64_t value;
    mt_error err = { 0 };
    ck_assert_int_eq(value_of(&f, 1), 1);
    ck_assert_int_eq(value_of(&f, 3), 1);
    must_set(f.env, "ALGO=v;K=3;Q=7;mode=fast"); /* 128 / 3 is inexact: the point can be set all the same */
    ck_assert_int_eq(value_of(&f, 4), 1);
    ck_assert_int_eq(mt_env_int(f.env, &f.spec->constraints[1].expr, &value, NULL, &err), MT_ERR_SPEC);
    must_contain(err.message, "N / K: result is not an integer"); /* the let that failed, not the one that reads it */
    must_contain(err.message, "column 9");
    must_set(f.env, "ALGO=v;K=128;mode=fast");
    ck_assert_int_eq(value_of(&f, 1), 1);
    stop(&f);
}
END_TEST

START_TEST(a_let_that_is_skipped_does_no_harm)
{
    fixture f = start(ENV_INI, "ALGO=v;K=1;mode=fast");
    int64_t value;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_env_int(f.env, &f.spec->constraints[2].expr, &value, NULL, &err), MT_ERR_SPEC); /* N is 128: BAD is read */
    must_contain(err.message, "N / 3");
    ck_assert_int_eq(value_of(&f, 3), 1); /* K != 3 decides before PER */
    stop(&f);
}
END_TEST

START_TEST(single_knobs_renew_what_depends_on_them)
{
    fixture f = start(ENV_INI, NULL);
    int64_t value;
    bool inactive;
    ck_assert_int_eq(mt_env_int(f.env, &f.spec->constraints[4].expr, &value, &inactive, NULL), MT_OK);
    ck_assert(inactive);
    mt_env_set_knob(f.env, 1, 0);
    ck_assert_int_eq(value_of(&f, 4), 1);
    mt_env_set_knob(f.env, 1, MT_INACTIVE);
    ck_assert_int_eq(mt_env_int(f.env, &f.spec->constraints[4].expr, &value, &inactive, NULL), MT_OK);
    ck_assert(inactive);
    stop(&f);
}
END_TEST

START_TEST(texts_are_expanded)
{
    fixture f = start(ENV_INI, "ALGO=v;K=3;Q=7;mode=slow");
    char *out = NULL;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_env_expand(f.env, "a${N}-${K}${mode}/${HALF}$ {", &out, &err), MT_OK);
    ck_assert_str_eq(out, "a128-3slow/64$ {");
    mt_free(out);
    ck_assert_int_eq(mt_env_expand(f.env, "${M}", &out, &err), MT_ERR_SPEC);
    ck_assert_int_eq(mt_env_expand(f.env, "${N", &out, &err), MT_ERR_SPEC);
    ck_assert_int_eq(mt_env_expand(f.env, "${PER}", &out, &err), MT_ERR_SPEC);
    must_set(f.env, "ALGO=v;K=1;mode=slow");
    ck_assert_int_eq(mt_env_expand(f.env, "${Q}", &out, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "inactive");
    ck_assert_ptr_null(out);
    stop(&f);
}
END_TEST

START_TEST(the_model_has_figures_or_nan)
{
    fixture f = start(ENV_INI, NULL);
    mt_model model;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_env_model(f.env, &model, &err), MT_OK);
    ck_assert(model.flops == 256 && model.dram_bytes == 1320 && isnan(model.floor_ns));
    stop(&f);
}
END_TEST

static const char MODEL_INI[] = REST "[let]\nTWICE = 2 * N\n[param K]\nvalues = 0, 1, 4, 9\n[param Q]\nvalues = 5\nwhen = K == 9\n"
                                     "[model]\nflops = per_k\nper_k = 2 * TWICE\neach = floor_div(per_k, K)\ntime_ns = K == 9 ? each - 1000 * Q : K == 4 ? each + Q : each\n";

static mt_status time_at(const fixture *f, const char *point, double *ns, mt_error *err)
{
    must_set(f->env, point);
    return mt_env_time_ns(f->env, ns, err);
}

START_TEST(the_cost_model_gives_each_point_a_time)
{
    fixture f = start(MODEL_INI, NULL);
    mt_model model;
    mt_error err = { 0 };
    double ns;
    ck_assert_int_eq(time_at(&f, "ALGO=v;K=1", &ns, &err), MT_OK);
    ck_assert_double_eq(ns, 512);
    ck_assert_int_eq(mt_env_model(f.env, &model, &err), MT_OK);
    ck_assert_double_eq(model.flops, 512);
    stop(&f);
    f = start(ENV_INI, "ALGO=v;K=1;mode=slow");
    ck_assert_int_eq(mt_env_time_ns(f.env, &ns, &err), MT_OK);
    ck_assert_double_nan(ns);
    stop(&f);
}
END_TEST

START_TEST(a_time_that_is_none_names_file_line_and_what_is_wrong)
{
    static const struct { const char *point, *wrong; } bad[] = {
        { "ALGO=v;K=0", "floor_div(per_k, K): division by zero" }, { "ALGO=v;K=4", "time_ns reads a knob that is inactive" }, { "ALGO=v;K=9;Q=5", "time_ns is -4944 (shape s, at ALGO=v;K=9;Q=5): expected a time of at least 1" },
    };
    fixture f = start(MODEL_INI, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mt_error err = { 0 };
        double ns;
        ck_assert_int_eq(time_at(&f, bad[i].point, &ns, &err), MT_ERR_SPEC);
        must_contain(err.message, bad[i].wrong);
        must_contain(err.message, ".ini:");
        ck_assert_double_nan(ns);
    }
    stop(&f);
}
END_TEST

UNIT_MAIN("scene", inactive_is_told_apart_from_wrong, lets_follow_the_point_and_fail_only_where_they_are_read, a_let_that_is_skipped_does_no_harm,
          single_knobs_renew_what_depends_on_them, texts_are_expanded, the_model_has_figures_or_nan,
          the_cost_model_gives_each_point_a_time, a_time_that_is_none_names_file_line_and_what_is_wrong)
