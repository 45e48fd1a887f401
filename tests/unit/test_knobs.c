#include "tests/unit/unit.h"
#include "tuner/cli/output/print_knobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/summary.h"
#include "tuner/space/points/point.h"

START_TEST(what_differs_comes_first)
{
    static const struct {
        const char *variant, *usual, *told, *all;
        size_t left_out;
    } cases[] = {
        {"ALGO=a;B=1;C=2", "ALGO=a;B=1;C=3", "ALGO=a C=2", "ALGO=a C=2 B=1", 1},
        {"ALGO=b;B=1;C=2", "ALGO=a;B=1;C=2", "ALGO=b", "ALGO=b B=1 C=2", 2},
        {"ALGO=b;B=1", "", "ALGO=b B=1", "ALGO=b B=1", 0},
        {"ALGO=b;B=1", NULL, "ALGO=b B=1", "ALGO=b B=1", 0},
        {"B=1", "B=11;AB=1", "B=1", "B=1", 0}, /* whole names and whole values */
        {"B=1", "B=1", "", "B=1", 1},
        {"N\033=1;B=1", "B=1", "N?=1", "N?=1 B=1", 1},
        {"", "B=1", "", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_strbuf told = {0}, all = {0};
        ck_assert_uint_eq(mt_knobs_add_unusual(&told, cases[i].variant, cases[i].usual), cases[i].left_out);
        mt_knobs_add_all(&all, cases[i].variant, cases[i].usual);
        ck_assert_str_eq(mt_strbuf_text(&told), cases[i].told);
        ck_assert_str_eq(mt_strbuf_text(&all), cases[i].all);
        mt_strbuf_free(&told);
        mt_strbuf_free(&all);
    }
}
END_TEST

/* The algorithm is told always, but the default has a name. */
START_TEST(the_default_is_called_so)
{
    static const struct { const char *variant, *usual, *told; } cases[] = {
        {"ALGO=a;B=1", "ALGO=a;B=1;C=2", "the default"}, /* C is not active */
        {"ALGO=a", "ALGO=a;B=1", "the default"},
        {"ALGO=b;B=1", "ALGO=a;B=1", "ALGO=b"},
        {"ALGO=a;B=2", "ALGO=a;B=1", "ALGO=a B=2"},
        {"ALGO=a;B=1", "ALGO=ab;B=1", "ALGO=a"},
        {"ALGO=a;B=1", "", "ALGO=a B=1"},
        {"ALGO=a;B=1", NULL, "ALGO=a B=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_strbuf told = {0};
        mt_knobs_add_told(&told, cases[i].variant, cases[i].usual);
        ck_assert_str_eq(mt_strbuf_text(&told), cases[i].told);
        ck_assert_int_eq(mt_key_is_default(cases[i].variant, cases[i].usual), strcmp(cases[i].told, "the default") == 0);
        mt_strbuf_free(&told);
    }
}
END_TEST

static char *wrapped(const char *text, size_t indent, const char *behind)
{
    char *lines = NULL;
    size_t length;
    FILE *out = open_memstream(&lines, &length);
    mt_print_wrapped(out, text, indent, behind);
    fclose(out);
    return lines;
}

START_TEST(lines_fit_the_page)
{
    char words[100 * 12 + 1] = "", expected[sizeof words + 200] = "";
    for (size_t i = 0; i < 100; i++) snprintf(words + strlen(words), sizeof words - strlen(words), "%sKNOB%02zu=µµ", i ? " " : "", i); /* 9 columns each */
    for (size_t i = 0; i < 100; i++) {
        bool is_first = i < 10 ? i == 0 : (i - 10) % 9 == 0; /* ten words fit the first line, nine the indented ones: 9 × 10 - 1 + 4 columns */
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%sKNOB%02zu=µµ", !i ? "" : is_first ? "\n    " : " ", i);
    }
    strcat(expected, "\n");
    char *lines = wrapped(words, 4, NULL);
    ck_assert_str_eq(lines, expected);
    free(lines);
    char path[300] = "  at: ";
    memset(path + strlen(path), '/', 150);
    strcat(path, " was, then");
    lines = wrapped(path, 4, ",:");
    ck_assert_ptr_nonnull(strstr(lines, "  at:\n    //"));       /* a path is never broken */
    ck_assert_ptr_nonnull(strstr(lines, "// was,\n    then\n")); /* only behind what was said */
    free(lines);
}
END_TEST

/* A summary of a variant with 30 knobs, of which ten are not the default's. */
static char *summary_of_many(bool is_verbose)
{
    mt_strbuf text = {0}, best = {0};
    mt_error err = {0};
    mt_spec *spec = NULL;
    mt_space *space = NULL;
    const mt_device_facts facts = {.name = "A GPU whose driver gives it a name that is as long as names of GPUs ever were in all those years", .cc = 90};
    mt_strbuf_add(&text, "[kernel]\nname = k\nsource = k.cu\nreference = r\n[shape s]\nN = 64\n[algorithm a]\n");
    mt_strbuf_add(&best, "ALGO=a");
    for (int i = 0; i < 30; i++) {
        mt_strbuf_addf(&text, "[param KNOB_%02d]\nvalues = 1, 20000\n", i);
        mt_strbuf_addf(&best, ";KNOB_%02d=%s", i, i < 20 ? "1" : "20000");
    }
    mt_strbuf_add(&text, "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1\n[launch 1]\nargs = out\ngrid = 1\nblock = 32\n");
    ck_assert_msg(mt_spec_parse("t.ini", mt_strbuf_text(&text), text.length, &spec, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_space_create(spec, &spec->shapes[0], &facts, &space, &err) == MT_OK, "%s", err.message);
    const mt_subject_summary summary = {.evaluated = 20000, .known = 12000, .ok = 19000, .failed = 700, .censored = 200, .yardstick = 100, .measured = 8000, .seconds = 86000,
                                        .shared = 6000, .shared_path = "/shared/tuning/of/all/machines/merged.sqlite", .shared_best = mt_strbuf_text(&best), .shared_ns = 1500,
                                        .best_ns = 2000, .low_ns = 1990, .high_ns = 2020, .best = mt_strbuf_text(&best), .default_ns = 5000, .baseline_ns = INFINITY,
                                        .is_programmatic = true, .is_limited = true, .wanted = MT_OBJECTIVE_EDP, .end = MT_SUBJECT_INTERRUPTED,
                                        .library = {.plugin = "cublas", .best_ratio = 1.01, .best_ns = 2020, .best_low = 1, .best_high = 1.02, .first_ratio = 1.2, .first_ns = 2400},
                                        .library_why = "cublas: it was not there, or it was there and said no"};
    mt_summary_counts counts = {.search = "20000 of about 1.0 M (estimated) valid points (18446744073709551615 before constraints), strategy exhaustive"};
    mt_reasons_add(&counts.reasons, MT_OUTCOME_COMPILE_ERROR, "ALGO=a", "what the compiler said of it, more or less, in a line that is longer than any page is wide: k.cu(12): error: x");
    char *lines = NULL;
    size_t length;
    FILE *out = open_memstream(&lines, &length);
    mt_summary_print(out, space, &spec->workloads[0], &facts, false, &summary, &counts, is_verbose);
    fclose(out);
    mt_space_free(space);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
    mt_strbuf_free(&best);
    return lines;
}

START_TEST(a_summary_fits_the_page)
{
    for (int is_verbose = 0; is_verbose < 2; is_verbose++) {
        char *lines = summary_of_many(is_verbose), *rest = lines;
        ck_assert_ptr_nonnull(strstr(lines, "              ALGO=a KNOB_20=20000 KNOB_21=20000"));
        ck_assert_int_eq(strstr(lines, "KNOB_00=1") != NULL, is_verbose);
        ck_assert_int_eq(strstr(lines, "              and 20 knobs as in the default (--verbose lists all)\n") != NULL, !is_verbose);
        for (char *line; (line = strsep(&rest, "\n"));) ck_assert_msg(mt_print_columns(line) <= MT_PAGE_COLUMNS, "%zu columns: %s", mt_print_columns(line), line);
        free(lines);
    }
}
END_TEST

UNIT_MAIN("knobs", what_differs_comes_first, the_default_is_called_so, lines_fit_the_page, a_summary_fits_the_page)
