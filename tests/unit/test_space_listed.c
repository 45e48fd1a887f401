/* Spaces made of what a recording holds. */
#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/space.h"

#include <stdio.h>

START_TEST(a_space_of_recorded_points_is_these_points)
{
    mt_spec *spec = must_parse("[kernel]\npoints = recorded\n[shape s]\n[algorithm v]\n[param K]\nvalues = 1..300\n[param F]\nvalues = \"0.5\", word\ndefault = word\n");
    const char *const texts[] = {"ALGO=v;F=word;K=2", "ALGO=v;F=0.5;K=1", "ALGO=v;F=word;K=2", "ALGO=v;F=0.5;K=300"};
    mt_point points[4];
    mt_space *space = NULL;
    mt_error err = { 0 };
    bool is_exact = false;
    size_t index;
    for (size_t i = 0; i < 4; i++) points[i] = must_point(spec, texts[i]);
    ck_assert_msg(mt_space_create_recorded(spec, &spec->shapes[0], &h100, points, 4, &space, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(mt_space_count(space), 3);
    ck_assert_uint_eq(mt_space_raw_count(space), 600);
    ck_assert_uint_eq(pruned_by(space, "not recorded", &is_exact), 597);
    ck_assert(is_exact);
    text_is(space, 0, "ALGO=v;F=0.5;K=1");
    text_is(space, 1, "ALGO=v;F=word;K=2");
    text_is(space, 2, "ALGO=v;F=0.5;K=300");
    ck_assert(mt_space_find(space, &points[3], &index) && index == 2);
    ck_assert_uint_eq(mt_space_neighbours(space, 0, &index, 1), 1); /* K = 300; F = word is not recorded with K = 1 */
    ck_assert_uint_eq(index, 2);
    ck_assert_int_eq(mt_space_default(space, &index, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "the default point of shape s is not recorded");
    mt_space_free(space);
    ck_assert_int_eq(mt_space_create_recorded(spec, &spec->shapes[0], &h100, NULL, 0, &space, &err), MT_OK);
    ck_assert_uint_eq(mt_space_count(space), 0);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* Which knobs a point has is as it was recorded: none is set to a default. */
START_TEST(recorded_points_have_the_knobs_they_were_recorded_with)
{
#define RECORDED "[kernel]\npoints = recorded\n[shape s]\n[algorithm v]\n[algorithm w]\n[param K]\nvalues = 1..4\ndefault = 2\n[param F]\nvalues = a, b\n"
    static const char *const texts[] = {"ALGO=v;K=1", "ALGO=v;K=2", "ALGO=v;F=a;K=2", "ALGO=v;F=b;K=2", "ALGO=w;K=1", "ALGO=w;K=2"};
    static const char *const spaces[] = {RECORDED, RECORDED "default = b\n"};
    for (size_t k = 0; k < 2; k++) {
        mt_spec *spec = must_parse(spaces[k]);
        mt_point points[6];
        mt_space *space = NULL;
        mt_error err = { 0 };
        size_t index, neighbours[8];
        for (size_t i = 0; i < 6; i++) points[i] = must_point(spec, texts[i]);
        ck_assert_msg(mt_space_create_recorded(spec, &spec->shapes[0], &h100, points, 6, &space, &err) == MT_OK, "%s", err.message);
        ck_assert_uint_eq(mt_space_count(space), 6);
        for (size_t i = 0; i < 6; i++) text_is(space, i, texts[i]);
        ck_assert_uint_eq(mt_space_raw_count(space), 4 * 2 + 4); /* w never has F */
        ck_assert(mt_space_default(space, &index, &err) == MT_OK && index == (k ? 3 : 1)); /* some of v have F: the file says whether the default has */
        ck_assert(mt_space_variant_default(space, "w", &index, &err) == MT_OK && index == 5);
        ck_assert_uint_eq(mt_space_neighbours(space, 1, neighbours, 8), 2); /* K=1, and w */
        mt_space_free(space);
        mt_spec_free(spec);
    }
}
END_TEST

#define EDITED REST "[param K]\nvalues = 1..4\n[param F]\nvalues = a, b\nwhen = K > 1\n[constraint small]\nexpr = K < 4\n"

START_TEST(a_recorded_space_is_what_is_valid_of_it)
{
    static const char *const texts[] = {"ALGO=v;K=1", "ALGO=v;F=b;K=3", "ALGO=v;K=3", "ALGO=v;F=a;K=2", "ALGO=v;F=a;K=4", "ALGO=v;F=a;K=1"};
    mt_spec *spec = must_parse(EDITED);
    mt_point points[6];
    mt_space *space = NULL;
    mt_error err = { 0 };
    bool is_exact = false;
    size_t index;
    for (size_t i = 0; i < 6; i++) points[i] = must_point(spec, texts[i]);
    ck_assert_msg(mt_space_create_recorded(spec, &spec->shapes[0], &h100, points, 6, &space, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(mt_space_count(space), 4);
    text_is(space, 0, "ALGO=v;K=1");
    text_is(space, 1, "ALGO=v;F=a;K=2");
    text_is(space, 2, "ALGO=v;F=a;K=3"); /* a knob that it lacked stands at its default */
    text_is(space, 3, "ALGO=v;F=b;K=3");
    ck_assert(mt_space_default(space, &index, &err) == MT_OK && index == 0);
    ck_assert(mt_space_find(space, &points[3], &index) && index == 1);
    ck_assert(!mt_space_find(space, &points[4], &index) && !mt_space_find(space, &points[5], &index)); /* excluded; a knob that is not active */
    ck_assert_uint_eq(mt_space_raw_count(space), 7);
    ck_assert_uint_eq(pruned_by(space, "small", &is_exact), 1);
    ck_assert_uint_eq(pruned_by(space, "not recorded", &is_exact), 2); /* K = 2 and K = 4 with F = b */
    ck_assert(is_exact);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* As in the walk, a constraint guards what stands behind it, and without one the error is told. */
START_TEST(a_recorded_point_may_be_guarded)
{
#define DIVIDES REST "[param K]\nvalues = 0..3\ndefault = 1\n[param F]\nvalues = a, b\nwhen = 12 / K > 4\n"
    static const char *const guards[] = {"[constraint some]\nexpr = K > 0\n", ""};
    for (size_t i = 0; i < 2; i++) {
        char text[sizeof DIVIDES + 100];
        snprintf(text, sizeof text, "%s%s", DIVIDES, guards[i]);
        mt_spec *spec = must_parse(text);
        mt_point points[] = {must_point(spec, "ALGO=v;K=0"), must_point(spec, "ALGO=v;K=2")};
        mt_space *space = NULL;
        mt_error err = { 0 };
        bool is_exact;
        mt_status st = mt_space_create_recorded(spec, &spec->shapes[0], &h100, points, 2, &space, &err);
        ck_assert_msg(st == (i == 0 ? MT_OK : MT_ERR_SPEC), "%d: %s", st, err.message);
        if (i == 0) {
            ck_assert_uint_eq(mt_space_count(space), 1);
            text_is(space, 0, "ALGO=v;F=a;K=2");
            ck_assert_uint_eq(pruned_by(space, "some", &is_exact), 1);
        }
        mt_space_free(space);
        mt_spec_free(spec);
    }
}
END_TEST

START_TEST(what_excludes_all_that_is_recorded_is_told)
{
    mt_spec *spec = must_parse(REST "[param K]\nvalues = 1..100\n[constraint small]\nexpr = K < 4\n");
    mt_point point = must_point(spec, "ALGO=v;K=50");
    mt_space *space = NULL;
    mt_error err = { 0 };
    mt_strbuf told = {0};
    ck_assert_int_eq(mt_space_create_recorded(spec, &spec->shapes[0], &h100, &point, 1, &space, &err), MT_OK);
    ck_assert_uint_eq(mt_space_count(space), 0);
    mt_space_tell_pruned(space, &told);
    must_contain(mt_strbuf_text(&told), "'small' excludes ");
    must_contain(mt_strbuf_text(&told), ": K < 4");
    ck_assert_ptr_null(strstr(mt_strbuf_text(&told), "not recorded"));
    mt_strbuf_free(&told);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_space_of_recorded_points_is_these_points, a_recorded_space_is_what_is_valid_of_it, recorded_points_have_the_knobs_they_were_recorded_with,
        a_recorded_point_may_be_guarded, what_excludes_all_that_is_recorded_is_told,
    };
    return unit_run("space_listed", tests, sizeof tests / sizeof tests[0]);
}
