#include "tests/unit/space_fixture.h"
#include "tuner/space/points/point.h"

START_TEST(text_is_sorted_and_holds_active_knobs_only)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_point point = must_point(spec, "MODE=fast;THREADS=129;ALGO=tma;CPB=8");
    char *text = mt_point_text(spec, &point);
    ck_assert_str_eq(text, "ALGO=tma;CPB=8;MODE=fast;THREADS=129");
    mt_free(text);
    mt_spec_free(spec);
}
END_TEST

START_TEST(the_order_in_the_file_changes_nothing)
{
    mt_spec *one = must_parse(REST "[param A]\nvalues = 1, 2\n[param B]\nvalues = x, y\n");
    mt_spec *two = must_parse(REST "[param B]\nvalues = y, x\n[param A]\nvalues = 2, 1\n");
    mt_point left = must_point(one, "ALGO=v;A=1;B=y"), right = must_point(two, "B=y;A=1;ALGO=v");
    char *a = mt_point_text(one, &left), *b = mt_point_text(two, &right);
    ck_assert_str_eq(a, b);
    mt_free(a);
    mt_free(b);
    mt_spec_free(one);
    mt_spec_free(two);
}
END_TEST

static void refuse(const mt_spec *spec, const char *text, const char *part)
{
    mt_point point;
    mt_error err = { 0 };
    ck_assert_int_ne(mt_point_parse(spec, text, &point, &err), MT_OK);
    must_contain(err.message, part);
}

START_TEST(refusals_name_what_is_wrong)
{
    mt_spec *spec = must_load(FULL_INI);
    refuse(spec, "ALGO=tma;THREADZ=64", "no knob `THREADZ`, did you mean `THREADS`?");
    refuse(spec, "ALGO=tma;THREADS=65", "`65` is not among the values of THREADS");
    refuse(spec, "ALGO=tna", "`tna` is not among the values of ALGO");
    refuse(spec, "THREADS=64", "does not say which ALGO");
    refuse(spec, "", "does not say which ALGO");
    refuse(spec, "ALGO", "expected KNOB=VALUE");
    refuse(spec, "ALGO=tma;ALGO=tma", "given twice");
    mt_spec_free(spec);
}
END_TEST

UNIT_MAIN("point", text_is_sorted_and_holds_active_knobs_only, the_order_in_the_file_changes_nothing, refusals_name_what_is_wrong)
