#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/check/cover.h"

#include <stdio.h>

static const char head[] = "[kernel]\nname = k\nsource = k.cu\nreference = r\n[shape s]\nN = 64\n";
static const char tail[] = "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1\n[launch 1]\nargs = out\ngrid = 1\nblock = 32\n";

typedef struct sample {
    mt_spec *spec;
    mt_space *space;
    size_t *points, count;
} sample;

static sample take(const char *middle)
{
    sample s = {0};
    mt_error err = {0};
    mt_device_facts facts = {.name = "test", .cc = 90, .sm_count = 132};
    char text[4096];
    int length = snprintf(text, sizeof text, "%s%s%s", head, middle, tail);
    ck_assert_msg(mt_spec_parse("t.ini", text, (size_t)length, &s.spec, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_space_create(s.spec, &s.spec->shapes[0], &facts, &s.space, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_cover_sample(s.space, &s.points, &s.count, &err) == MT_OK, "%s", err.message);
    return s;
}

static void drop(sample *s)
{
    mt_free(s->points);
    mt_space_free(s->space);
    mt_spec_free(s->spec);
}

static bool has(const size_t *points, size_t count, const mt_space *space, size_t variant, size_t param, int level)
{
    for (size_t i = 0; i < count; i++) {
        mt_point point;
        mt_space_at(space, points[i], &point);
        if (point.level[0] == (int)variant && point.level[param] == level) return true;
    }
    return false;
}

START_TEST(every_value_of_every_knob_is_there)
{
    sample s = take("[algorithm a]\n[algorithm b]\n[param X]\nvalues = 1, 2, 3, 4, 5\n[param Y]\nvalues = 1, 2, 3\n[param Z]\nvalues = 1, 2\nwhen = ALGO == b\n"
                    "[constraint c]\nexpr = X + Y <= 6\nwhy = small\n");
    size_t all = mt_space_count(s.space), *everything = mt_alloc(all, sizeof *everything);
    for (size_t i = 0; i < all; i++) everything[i] = i;
    for (size_t variant = 0; variant < 2; variant++)
        for (size_t p = 0; p < s.spec->param_count; p++)
            for (int level = 0; level < (int)s.spec->params[p].value_count; level++)
                ck_assert_int_eq(has(s.points, s.count, s.space, variant, p, level), has(everything, all, s.space, variant, p, level));
    ck_assert_uint_lt(s.count, all / 2);
    for (size_t i = 1; i < s.count; i++) ck_assert_uint_lt(s.points[i - 1], s.points[i]);
    mt_free(everything);
    drop(&s);
}
END_TEST

/* 10^8 combinations; one value that draws hardly meet, one that no valid point has. */
START_TEST(every_value_of_a_sampled_space_is_there)
{
    sample s = take("[algorithm a]\n[algorithm b]\n[param A]\nvalues = 1..100\n[param B]\nvalues = 1..100\n[param C]\nvalues = 1..100\n[param D]\nvalues = 1..100\n"
                    "[param Z]\nvalues = 1, 2\nwhen = ALGO == b\n"
                    "[constraint rare]\nexpr = A != 57 || (B == 3 && C == 4 && D == 5)\n[constraint never]\nexpr = D != 99\n");
    ck_assert(!mt_space_is_enumerated(s.space));
    for (size_t variant = 0; variant < 2; variant++) {
        for (size_t p = 1; p < s.spec->param_count; p++) {
            for (int level = 0; level < (int)s.spec->params[p].value_count; level++) {
                bool is_there = (p != 4 || level != 98) && (p != 5 || variant == 1);
                ck_assert_msg(has(s.points, s.count, s.space, variant, p, level) == is_there, "%s, variant %zu, level %d", s.spec->params[p].name, variant, level);
            }
        }
    }
    ck_assert_uint_lt(s.count, 500);
    for (size_t i = 1; i < s.count; i++) ck_assert_uint_lt(s.points[i - 1], s.points[i]);
    drop(&s);
}
END_TEST

START_TEST(one_point_and_none)
{
    sample one = take("[algorithm a]\n[param X]\nvalues = 7\n");
    ck_assert_uint_eq(one.count, 1);
    drop(&one);
    sample none = take("[algorithm a]\n[param X]\nvalues = 7\n[constraint c]\nexpr = X < 7\nwhy = none\n");
    ck_assert_uint_eq(none.count, 0);
    drop(&none);
}
END_TEST

UNIT_MAIN("cover", every_value_of_every_knob_is_there, every_value_of_a_sampled_space_is_there, one_point_and_none)
