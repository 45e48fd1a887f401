#include "tests/unit/unit.h"
#include "tuner/cli/output/progress.h"

#include <math.h>
#include <string.h>

static const char spec_text[] = "[kernel]\nname = k\nsource = k.cu\nreference = r\n[shape s]\nN = 64\n[workload w]\nsigma = 2\n[algorithm a]\n"
                                "[param X]\nvalues = 1, 2, 3, 4\n[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1\n"
                                "[launch 1]\nargs = out\ngrid = 1\nblock = 32\n[model]\nfloor_ns = 1000\n";

static int64_t now_ns;
static int64_t clock_of_the_test(void)
{
    return now_ns;
}

typedef struct stage {
    mt_spec *spec;
    mt_space *space;
    mt_device_facts facts;
    mt_display display;
    mt_progress progress;
    char *told, *summary;
    size_t told_length, summary_length;
} stage;

static void set_up(stage *s, bool is_terminal)
{
    mt_error err = {0};
    *s = (stage){.facts = {.name = "Test \033GPU", .cc = 90}};
    ck_assert_msg(mt_spec_parse("t.ini", spec_text, sizeof spec_text - 1, &s->spec, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_space_create(s->spec, &s->spec->shapes[0], &s->facts, &s->space, &err) == MT_OK, "%s", err.message);
    mt_display_init(&s->display, false);
    s->display.progress = open_memstream(&s->told, &s->told_length);
    s->display.summary = open_memstream(&s->summary, &s->summary_length);
    s->display.is_terminal = is_terminal;
    s->display.width = 60;
    s->display.has_own_width = true;
    s->display.now_ns = clock_of_the_test;
    s->display.facts = &s->facts;
    s->progress = mt_display_progress(&s->display);
    now_ns = 5000000000;
    s->progress.subject_begin(s->progress.context, s->space, &s->spec->workloads[0], "random", 4, 9);
}

static void tear_down(stage *s)
{
    mt_display_end(&s->display);
    fclose(s->display.progress);
    fclose(s->display.summary);
    free(s->told);
    free(s->summary);
    mt_space_free(s->space);
    mt_spec_free(s->spec);
}

static void evaluate(stage *s, size_t done, mt_outcome_kind kind, const char *text, double best_ns, const char *best)
{
    mt_outcome outcome = {.kind = kind, .text = (char *)text};
    now_ns += 500000000;
    s->progress.evaluated(s->progress.context, done, 4, "ALGO=a;X=1", &outcome, false, best_ns, best);
}

static const char *told(stage *s)
{
    fflush(s->display.progress);
    return s->told;
}

START_TEST(plain_lines_are_few)
{
    stage s;
    set_up(&s, false);
    evaluate(&s, 1, MT_OUTCOME_OK, NULL, 3000, "ALGO=a;X=1");
    evaluate(&s, 2, MT_OUTCOME_OK, NULL, 2000, "ALGO=a;X=2");
    evaluate(&s, 3, MT_OUTCOME_TIMEOUT, NULL, 2000, "ALGO=a;X=2");
    ck_assert_str_eq(told(&s), "s · w: up to 4 of 4 valid points (9 before constraints), strategy random\n");
    now_ns += 10000000000;
    s.progress.tick(s.progress.context);
    s.progress.tick(s.progress.context);
    ck_assert_ptr_nonnull(strstr(told(&s), "\ns · w  3/4  best 2.000 µs  1 failed  0.3/s  3.8 s left\n"));
    now_ns += 9000000000; /* the next subject begins before it is time */
    s.progress.subject_begin(s.progress.context, s.space, &s.spec->workloads[0], "random", 4, 9);
    evaluate(&s, 1, MT_OUTCOME_OK, NULL, 3000, "ALGO=a;X=1");
    size_t before = strlen(told(&s));
    evaluate(&s, 2, MT_OUTCOME_OK, NULL, 2500, "ALGO=a;X=2");
    ck_assert_str_eq(told(&s) + before, "s · w  2/4  best 2.500 µs  2.0/s  1.0 s left\n");
    ck_assert_ptr_null(strchr(s.told, '\r'));
    tear_down(&s);
}
END_TEST

/* Columns of the widest thing that is drawn between two returns of the cursor; sequences for the terminal take none. */
static size_t widest(const char *told)
{
    size_t most = 0, columns = 0;
    for (; *told; told++) {
        if (*told == '\033') told += strcspn(told, "KJA");
        else if (*told == '\r' || *told == '\n') columns = 0;
        else columns += ((unsigned char)*told & 0xc0) != 0x80;
        if (columns > most) most = columns;
    }
    return most;
}

START_TEST(what_is_drawn_is_never_wider_than_the_terminal)
{
    static const int widths[] = {1, 2, 3, 7, 11, 40, 200};
    for (size_t i = 0; i < 2 * sizeof widths / sizeof widths[0]; i++) {
        stage s;
        set_up(&s, true);
        s.display.width = 60;
        s.display.wants_view = i % 2;
        evaluate(&s, 1, MT_OUTCOME_CRASHED, "signal 9 was what ended the worker at last", INFINITY, NULL);
        size_t before = strlen(told(&s));
        s.display.width = widths[i / 2];
        for (size_t done = 2; done <= 4; done++) evaluate(&s, done, MT_OUTCOME_OK, NULL, 2000, "ALGO=a;X=2");
        size_t columns = widest(told(&s) + before);
        ck_assert_msg(columns > 0 && columns <= (size_t)(widths[i / 2] > 2 ? widths[i / 2] : 2), "%zu of %d columns", columns, widths[i / 2]);
        tear_down(&s);
    }
}
END_TEST

START_TEST(a_narrow_terminal_loses_the_rate_first)
{
    static const struct { int width; const char *line; } lines[] = {{56, "s · w  2/4  best 2.000 µs  1 failed  2.0/s  1.0 s left\033[K"}, {55, "s · w  2/4  best 2.000 µs  1 failed  1.0 s left\033[K"}, {49, "s · w  2/4  best 2.000 µs  1 failed  1.0 s left\033[K"}};
    for (size_t i = 0; i < 2 * sizeof lines / sizeof lines[0]; i++) {
        stage s;
        set_up(&s, true);
        s.display.wants_view = i % 2;
        s.display.width = s.display.wants_view ? 26 : lines[i / 2].width;
        evaluate(&s, 1, MT_OUTCOME_TIMEOUT, NULL, INFINITY, NULL);
        size_t before = strlen(told(&s));
        evaluate(&s, 2, MT_OUTCOME_OK, NULL, 2000, "ALGO=a;X=2");
        const char *line = s.display.wants_view ? "s · w  2/4  1.0 s left\033[K" : lines[i / 2].line;
        ck_assert_msg(strstr(told(&s) + before, line), "%d columns: %s", s.display.width, told(&s) + before);
        tear_down(&s);
    }
}
END_TEST

START_TEST(the_live_line_is_one_for_each_subject)
{
    stage s;
    set_up(&s, true);
    ck_assert_ptr_nonnull(strstr(told(&s), "\rs · w  0/4\033[K"));
    for (size_t i = 1; i <= 4; i++) evaluate(&s, i, MT_OUTCOME_OK, NULL, 4000 - (double)i, "ALGO=a;X=2");
    ck_assert_ptr_null(strchr(told(&s), '\n'));
    tear_down(&s);
}
END_TEST

START_TEST(the_live_line_fits_and_goes_away)
{
    stage s;
    set_up(&s, true);
    for (size_t i = 1; i <= 4; i++) evaluate(&s, i, i == 2 ? MT_OUTCOME_CRASHED : MT_OUTCOME_OK, NULL, 2000, "ALGO=a;X=2");
    ck_assert_ptr_nonnull(strstr(told(&s), "\rs · w  1/4  best 2.000 µs"));
    mt_display_clear(&s.display);
    const char *text = told(&s);
    ck_assert_str_eq(text + strlen(text) - 4, "\r\033[K");
    tear_down(&s);
}
END_TEST

START_TEST(the_view_shows_the_last_failures_and_goes_away)
{
    stage s;
    set_up(&s, true);
    s.display.wants_view = true;
    s.display.width = 90;
    evaluate(&s, 1, MT_OUTCOME_OK, NULL, 4000, "ALGO=a;X=1");
    evaluate(&s, 2, MT_OUTCOME_CRASHED, "signal\0339 here", 4000, "ALGO=a;X=1");
    evaluate(&s, 3, MT_OUTCOME_OK, NULL, 2000, "ALGO=a;X=2");
    const char *view = strstr(told(&s), "3/4");
    ck_assert_ptr_nonnull(view);
    ck_assert_ptr_nonnull(strstr(told(&s), "[███████████████░░░░░]  3/4  2.0/s  0.5 s left\033[K\n"));
    ck_assert_ptr_nonnull(strstr(view, "best      2.000 µs  (2.00 × as fast as the first)\033[K\n            ALGO=a X=2\033[K\n"));
    ck_assert_ptr_nonnull(strstr(view, "outcomes  2 ok, 1 crashed\033[K\n"));
    ck_assert_ptr_nonnull(strstr(view, "failed    crashed: signal?9 here  ALGO=a X=1\033[K"));
    mt_display_clear(&s.display);
    const char *text = told(&s);
    ck_assert_str_eq(text + strlen(text) - 8, "\033[4A\r\033[J");
    tear_down(&s);
}
END_TEST

START_TEST(the_summary_has_it_all)
{
    stage s;
    set_up(&s, false);
    evaluate(&s, 1, MT_OUTCOME_OK, NULL, 2000, "ALGO=a;X=1");
    evaluate(&s, 2, MT_OUTCOME_WRONG_RESULT, "out[3] is\n\0337", 2000, "ALGO=a;X=1");
    const mt_subject_summary summary = {.evaluated = 2, .known = 1, .ok = 1, .failed = 1, .measured = 1, .best_ns = 2000, .low_ns = 1990, .high_ns = 2020,
                                        .best = "ALGO=a;X=1", .default_ns = 5000, .baseline_ns = INFINITY, .seconds = 1};
    s.progress.subject_end(s.progress.context, s.space, &s.spec->workloads[0], &summary);
    fflush(s.display.summary);
    ck_assert_str_eq(s.summary, "\nk · s · w   on Test ?GPU\n"
                                "  Best:       2.000 µs ± 0.020 µs\n"
                                "              ALGO=a X=1\n"
                                "              2.50 × as fast as the default (5.000 µs)\n"
                                "              the model's floor, 1.000 µs, is 50 % of this time\n"
                                "  Search:     4 valid points (9 before constraints), strategy random\n"
                                "  Evaluated:  2 in 1.0 s, 1 of them known from before; 1 ok, 1 failed\n"
                                "      1 wrong_result, first: out[3] is ?7\n"
                                "              ALGO=a X=1\n");
    tear_down(&s);
}
END_TEST

START_TEST(nothing_found)
{
    stage s;
    set_up(&s, false);
    evaluate(&s, 1, MT_OUTCOME_COMPILE_ERROR, "k.cu(3): error", INFINITY, NULL);
    const mt_subject_summary summary = {.evaluated = 1, .failed = 1, .measured = 1, .best_ns = INFINITY, .default_ns = INFINITY, .baseline_ns = INFINITY, .end = MT_SUBJECT_INTERRUPTED};
    s.progress.subject_end(s.progress.context, s.space, &s.spec->workloads[0], &summary);
    fflush(s.display.summary);
    ck_assert_ptr_nonnull(strstr(s.summary, "  Best:       none\n"));
    ck_assert_ptr_nonnull(strstr(s.summary, "1 failed (interrupted)\n"));
    tear_down(&s);
}
END_TEST

static char *times_text(const mt_session_times *times, bool is_recorded)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    mt_summary_times(out, times, is_recorded);
    fclose(out);
    return text;
}

START_TEST(where_the_time_went)
{
    const mt_session_times times = {.compile_ns = 90000000000, .wait_ns = 4000000000, .validate_ns = 6000000000, .time_ns = 9000000000, .device_ns = 16000000000, .idle_setup_ns = 1000000000, .idle_no_compiled_ns = 500000000, .idle_dispatch_ns = 100000000, .database_ns = 500000000,
                                    .search_ns = 200000000, .total_ns = 10000000000, .device_count = 2, .compiles = {400, 12, 3}};
    char *real = times_text(&times, false), *recorded = times_text(&times, true);
    ck_assert_str_eq(real, "Time:         10 s: GPUs busy 80 % (validating 6.0 s, timing 9.0 s,\n              loading and the rest 1.0 s); database 0.5 s, search 0.2 s\n"
                           "Idle:         5.0 % before the first variants, 2.5 % without a compiled one,\n              0.5 % until the next was started, 12.0 % else\n"
                           "Compiling:    1 min 30 s in 400 compiles, side by side; 12 from the cache, 3 shared;\n              compiled variants waited 4.0 s\n");
    ck_assert_str_eq(recorded, "Time:         10 s: database 0.5 s, search 0.2 s\n");
    free(real);
    free(recorded);
}
END_TEST

UNIT_MAIN("progress", a_narrow_terminal_loses_the_rate_first, what_is_drawn_is_never_wider_than_the_terminal, the_live_line_is_one_for_each_subject, where_the_time_went, plain_lines_are_few, the_live_line_fits_and_goes_away, the_view_shows_the_last_failures_and_goes_away, the_summary_has_it_all, nothing_found)
