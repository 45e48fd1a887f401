/* The report: what it makes of measurements, and how each format writes it. */
#include "tests/unit/store_fixture.h"

#include "reports/format.h"
#include "reports/knobs.h"
#include "reports/report.h"
#include "reports/timeline.h"

static void put(mt_store *store, int64_t session, const mt_subject *subject, const char *variant, mt_outcome_kind kind, double ns)
{
    mt_outcome o = fixture_outcome(kind, ns);
    fixture_put(store, session, subject, variant, &o);
}

/* VEC decides, PAD does nothing, DEPTH is active with ALGO=b only. */
static mt_store *make_store(void)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    put(store, session, &s, "ALGO=a;PAD=0;VEC=10", MT_OUTCOME_OK, 100);
    put(store, session, &s, "ALGO=a;PAD=1;VEC=10", MT_OUTCOME_OK, 100);
    put(store, session, &s, "ALGO=a;PAD=0;VEC=9", MT_OUTCOME_OK, 400);
    put(store, session, &s, "ALGO=a;PAD=1;VEC=9", MT_OUTCOME_OK, 300);
    put(store, session, &s, "ALGO=a;PAD=1;VEC=9", MT_OUTCOME_OK, 400); /* again: the newest counts */
    put(store, session, &s, "ALGO=b;DEPTH=2;PAD=0;VEC=9", MT_OUTCOME_OK, 400);
    put(store, session, &s, "ALGO=b;DEPTH=3;PAD=0;VEC=9", MT_OUTCOME_WRONG_RESULT, 0);
    put(store, session, &s, "ALGO=b;DEPTH=4;PAD=0;VEC=9", MT_OUTCOME_CENSORED, 800);
    return store;
}

static size_t knob_of(const mt_report_subject *s, const char *name)
{
    for (size_t k = 0; k < s->knob_count; k++)
        if (strcmp(s->knobs[k].name, name) == 0) return k;
    ck_abort_msg("no knob %s", name);
    return 0;
}

START_TEST(knobs_and_what_they_do)
{
    mt_store *store = make_store();
    mt_report_data data = {0};
    ck_ok(mt_report_load(store, NULL, NULL, &data, &fixture_err));
    ck_assert_uint_eq(data.count, 1);
    const mt_report_subject *s = &data.subjects[0];
    size_t vec = knob_of(s, "VEC"), pad = knob_of(s, "PAD"), depth = knob_of(s, "DEPTH"), algo = knob_of(s, "ALGO");
    ck_assert_str_eq(s->knobs[vec].values[0], "9"); /* by number, not by text */
    ck_assert_str_eq(s->knobs[vec].values[1], "10");
    ck_assert_uint_eq(s->knobs[depth].count, 4);
    ck_assert_str_eq(s->knobs[depth].values[3], "–");
    ck_assert_double_eq(mt_knobs_fastest(s), 100);
    mt_knob_effect *effects = mt_knobs_effects(s);
    const mt_level_effect *nine = &effects[vec].levels[0], *inactive = &effects[depth].levels[3];
    ck_assert_uint_eq(nine->count, 5);
    ck_assert_uint_eq(nine->timed, 4); /* with the one stopped as too slow */
    ck_assert_uint_eq(nine->failed, 1);
    ck_assert_double_eq(nine->best, 4);
    ck_assert_double_eq(nine->median, 4);
    ck_assert_double_eq(nine->worst, 8);
    ck_assert_uint_eq(inactive->count, 4);
    ck_assert_double_gt(effects[vec].overall, 0.85);
    ck_assert_double_lt(effects[pad].overall, 0.1);
    ck_assert_double_nan(effects[depth].overall); /* the fastest is of an algorithm that lacks it */
    ck_assert_double_nan(effects[algo].overall);  /* and has one value within itself */
    ck_assert_double_gt(effects[vec].near_best, effects[pad].near_best);
    ck_assert_uint_eq(effects[vec].values, 2);
    ck_assert_uint_eq(effects[algo].values, 1); /* of the three that it has, inactive included, those within the winner's algorithm */
    ck_assert_uint_eq(effects[depth].values, 0);
    double sum = 0;
    for (size_t k = 0; k < s->knob_count; k++) sum += isnan(effects[k].near_best) ? 0 : effects[k].near_best;
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    double cells[4];
    size_t order[8];
    mt_knobs_rank(s, effects, order);
    ck_assert_uint_eq(order[0], vec);
    ck_assert_uint_eq(order[1], pad);
    mt_knobs_pair(s, algo, vec, cells); /* a, b × 9, 10 */
    ck_assert_double_eq(cells[0], 400);
    ck_assert_double_eq(cells[1], 100);
    ck_assert_double_eq(cells[2], 400);
    ck_assert_double_infinite(cells[3]);
    mt_knobs_effects_free(s, effects);
    const mt_row *again = mt_report_newest(s, "ALGO=a;PAD=1;VEC=9");
    ck_assert_double_eq(again->median_ns, 400);
    ck_assert_ptr_null(mt_report_newest(s, "ALGO=c"));
    mt_report_data_free(&data);
    mt_store_close(store);
}
END_TEST

/* A replay of a recording that lacks a variant says nothing about it; an infinite time is none. Each variant is counted in one of the summary's columns. */
START_TEST(what_was_not_run_has_not_failed)
{
    mt_store *store = make_store();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_report_data data = {0};
    mt_report_options options = {0};
    mt_doc doc = {0};
    mt_strbuf out = {0};
    put(store, session, &s, "ALGO=b;DEPTH=5;PAD=0;VEC=9", MT_OUTCOME_EXCLUDED, 0);
    ck_ok(mt_report_load(store, NULL, NULL, &data, &fixture_err));
    mt_knob_effect *effects = mt_knobs_effects(&data.subjects[0]);
    ck_assert_uint_eq(effects[knob_of(&data.subjects[0], "ALGO")].levels[1].failed, 1);
    mt_knobs_effects_free(&data.subjects[0], effects);
    mt_report_data_free(&data);
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    mt_format_md(&doc, &out);
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&out), "- Evaluations: 8\n"));
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&out), "- Variants that failed: 1 of 7\n- Stopped as too slow: 1 of 7\n- Not run: 1 of 8\n"));
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&out), " | 8 | 5 | 1 | 1 | 1 |\n"));
    const char *convergence = strstr(mt_strbuf_text(&out), "**Evaluations until the fastest time of all was nearly reached**"), *outcomes = strstr(mt_strbuf_text(&out), "**How evaluations ended, and what was not run**");
    ck_assert_ptr_nonnull(convergence); /* the same number everywhere */
    ck_assert_ptr_nonnull(strstr(convergence, "| 8 |"));
    ck_assert_ptr_nonnull(outcomes);
    ck_assert_ptr_nonnull(strstr(outcomes, "| excluded | not run: a constraint excludes it on this shape and GPU |  |  | 1 |\n"));
    mt_strbuf_free(&out);
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

/* While a session runs, or after one that was killed, a subject has no winner: the first screen shows the best so far, and says that it is one. */
START_TEST(the_best_so_far_stands_in_for_a_winner)
{
    mt_store *store = make_store();
    mt_subject s = fixture_subject(store);
    const char *sections[] = {"best", "summary"};
    const mt_report_options options = {.sections = sections, .section_count = 2};
    for (int has_winner = 0; has_winner < 2; has_winner++) {
        mt_doc doc = {0};
        mt_strbuf out = {0}, page = {0};
        if (has_winner) ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
        ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
        mt_format_md(&doc, &out);
        const char *row = strstr(mt_strbuf_text(&out), "ALGO=a;PAD=0;VEC=10");
        ck_assert_ptr_nonnull(row);
        ck_assert_int_eq(strstr(mt_strbuf_text(&out), "| best so far |") != NULL, !has_winner);
        mt_format_html(&doc, &page);
        ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&page), has_winner ? "<p>1 winner. " : "<p>1 without a winner: no final has picked one, and the fastest so far is listed. "));
        mt_strbuf_free(&page);
        ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&out), has_winner ? "- Subject with a winner: 1 of 1\n" : "- Subject with a winner: 0 of 1\n"));
        mt_strbuf_free(&out);
        mt_doc_free(&doc);
    }
    mt_store_close(store);
}
END_TEST

START_TEST(gaps_between_sessions_do_not_count)
{
    const mt_row rows[] = {{.session = 1, .created_unix_ms = 1000, .is_clocked = true}, {.session = 1, .created_unix_ms = 3000, .is_clocked = true},
                           {.session = 2, .created_unix_ms = 900000, .is_clocked = true}, {.session = 2, .created_unix_ms = 901000, .is_clocked = true}};
    const mt_report_subject subject = {.is_clocked = true};
    mt_timeline line = mt_timeline_begin(&subject);
    double seconds[4];
    for (size_t i = 0; i < 4; i++) mt_timeline_next(&line, &rows[i]), seconds[i] = line.seconds;
    ck_assert_double_eq(seconds[1], 2);
    ck_assert_double_eq(seconds[2], 2);
    ck_assert_double_eq(seconds[3], 3);
}
END_TEST

/* A file's rows were written whenever somebody measured them, in one search or in many: no clock of a search. What did not run is no evaluation. */
START_TEST(imports_have_no_seconds_and_what_did_not_run_is_no_evaluation)
{
    const mt_row rows[] = {{.session = 1, .created_unix_ms = 1000}, {.session = 1, .created_unix_ms = 378240000}, {.session = 1, .created_unix_ms = 378240001, .kind = MT_OUTCOME_EXCLUDED},
                           {.session = 2, .created_unix_ms = 1000, .is_clocked = true}, {.session = 2, .created_unix_ms = 3500, .is_clocked = true, .kind = MT_OUTCOME_TIMEOUT}};
    for (int is_mixed = 0; is_mixed < 2; is_mixed++) {
        const mt_report_subject subject = {.is_clocked = is_mixed};
        mt_timeline line = mt_timeline_begin(&subject);
        for (size_t i = 0; i < (is_mixed ? 5 : 3); i++) mt_timeline_next(&line, &rows[i]);
        ck_assert_uint_eq(line.evaluation, is_mixed ? 4 : 2);
        if (is_mixed) ck_assert_double_eq(line.seconds, 2.5);
        else ck_assert(isnan(line.seconds));
    }
}
END_TEST

static const mt_column columns[] = {{"Name", NULL}, {"Time (µs)", "%.1f"}, {"When", NULL}, {"Said", NULL}, {0}};

static void fill(mt_doc *doc)
{
    doc->title = mt_strdup("T");
    doc->source = mt_strdup("a</title>b");
    mt_doc_section_begin(doc, "one", "One");
    mt_doc_figure(doc, "Figure", "%d %%", 5);
    mt_doc_note(doc, "a * note");
    mt_doc_table(doc, "rows", "Caption", columns);
    mt_doc_knobs(doc, "A=1;B=<b>");
    mt_doc_number(doc, 1.25);
    mt_doc_time(doc, 1700000000000);
    mt_doc_code(doc, "x|\"y\n\x1b[31m</script>");
    mt_doc_text(doc, "=SUM(A1)");
    mt_doc_number(doc, NAN);
    mt_doc_time(doc, 0);
    mt_doc_code(doc, NULL);
    mt_json_name(mt_doc_chart(doc, "chart", "A chart"), "text");
    mt_strbuf_add_json(&doc->sections[0].blocks[3].data, "</script><!--");
}

START_TEST(every_format_writes_texts_as_texts)
{
    static void (*const writers[])(const mt_doc *, mt_strbuf *) = {mt_format_html, mt_format_md, mt_format_csv, mt_format_json};
    mt_doc doc = {0};
    mt_strbuf out[4] = {{0}, {0}, {0}, {0}};
    fill(&doc);
    ck_assert(mt_doc_is_ok(&doc));
    for (size_t i = 0; i < 4; i++) writers[i](&doc, &out[i]);
    const char *html = mt_strbuf_text(&out[0]);
    ck_assert_ptr_nonnull(strstr(html, "a&lt;/title&gt;b"));
    ck_assert_ptr_nonnull(strstr(html, "<td class=\"v\">A=1 B=&lt;b&gt;</td>"));
    ck_assert_ptr_nonnull(strstr(html, "<td class=\"n\">1.2</td><td class=\"w\">2023-11-14 22:13 UTC</td>"));
    ck_assert_ptr_nonnull(strstr(html, "x|&quot;y\n\xef\xbf\xbd[31m&lt;/script&gt;"));
    ck_assert_ptr_null(strstr(html, "\x1b"));
    ck_assert_ptr_null(strstr(html, "\"</script><!--"));
    ck_assert_ptr_nonnull(strstr(html, "default-src 'none'; script-src 'sha256-"));
    ck_assert_str_eq(mt_strbuf_text(&out[1]), "# T\n\na&lt;/title>b\n\n## One\n\n- Figure: 5 %\n\na \\* note\n\n**Caption**\n\n| Name | Time (µs) | When | Said |\n|---|---:|---|---|\n"
                                              "| A=1;B=&lt;b> | 1.2 | 2023-11-14 22:13 UTC | x\\|\"y \xef\xbf\xbd\\[31m&lt;/script> |\n| =SUM(A1) |  |  |  |\n\n");
    ck_assert_str_eq(mt_strbuf_text(&out[2]), "\"Name\",\"Time (µs)\",\"When\",\"Said\"\r\n\"A=1;B=<b>\",1.25,\"2023-11-14 22:13 UTC\",\"x|\"\"y\n\xef\xbf\xbd[31m</script>\"\r\n\"'=SUM(A1)\",,\"\",\"\"\r\n");
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&out[3]), "\"columns\":[\"Name\",\"Time (µs)\",\"When\",\"Said\"],\"rows\":[\n[\"A=1;B=<b>\",1.25,1700000000000,\"x|\\\"y\\n\\u001b[31m</script>\"],\n"
                                                          "[\"=SUM(A1)\",null,null,\"\"]]}"));
    for (size_t i = 0; i < 4; i++) mt_strbuf_free(&out[i]);
    mt_doc_free(&doc);
}
END_TEST

START_TEST(very_long_texts_fold_and_break)
{
    static const mt_column two[] = {{"Name", NULL}, {"Knobs", NULL}, {0}};
    char name[1001], knob[101];
    mt_doc doc = {.title = mt_strdup("T"), .source = mt_strdup("S")};
    mt_strbuf page = {0};
    memset(name, 'n', 1000), name[1000] = 0;
    memset(knob, 'k', 100), knob[100] = 0;
    mt_doc_section_begin(&doc, "one", "One");
    mt_doc_table(&doc, "rows", "Caption", two);
    mt_doc_text(&doc, name);
    mt_doc_knobs(&doc, knob);
    mt_format_html(&doc, &page);
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&page), "<td><details><summary>nnnn"));
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&page), "<td class=\"v\">kkkk"));
    mt_strbuf_free(&page);
    mt_doc_free(&doc);
}
END_TEST

START_TEST(drift_is_told_for_each_session_and_subject)
{
    mt_store *store = make_store();
    fixture_session(store);
    fixture_sql("INSERT INTO anchor (session_id, subject_id, variant_id, created_unix_ms, median_ns, low_ns, high_ns, sm_mhz) VALUES (1, 1, 1, 1000, 100, 99, 101, 1755), "
                "(2, 1, 1, 1500, 200, 199, 201, NULL), (1, 1, 1, 2000, 103, 102, 104, 1700), (2, 1, 1, 2500, 202, 199, 203, NULL)");
    const char *const name = "noise";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    mt_doc doc = {0};
    mt_strbuf text = {0};
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    mt_format_csv(&doc, &text);
    static const char *const parts[] = {",1,\"1970-01-01 00:00 UTC\",0.1,0.001,0,1755\r\n", ",2,\"1970-01-01 00:00 UTC\",0.2,0.001,0,\r\n", ",0.103,0.001,3,1700\r\n", ",0.202,0.002,1,\r\n"};
    for (size_t i = 0; i < 4; i++) ck_assert_msg(strstr(mt_strbuf_text(&text), parts[i]) != NULL, "no %s in %s", parts[i], mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

/* Whichever allocation fails, the report says so and nothing leaks (the sanitizers' builds see that). */
START_TEST(memory_may_run_out_anywhere)
{
    mt_store *store = make_store();
    const mt_report_options options = {.has_charts = true};
    bool was_ok = false;
    for (size_t n = 1; !was_ok && n < 20000; n += n < 200 ? 1 : 37) {
        mt_doc doc = {0};
        mt_error err = {0};
        mt_alloc_fail_at(n);
        mt_status st = mt_report_make(store, NULL, &options, &doc, &err);
        mt_alloc_fail_at(0);
        was_ok = st == MT_OK;
        if (!was_ok) ck_assert_msg(st == MT_ERR_NO_MEMORY || st == MT_ERR_DB, "allocation %zu: status %d, %s", n, (int)st, err.message);
        mt_doc_free(&doc);
    }
    ck_assert(was_ok);
    mt_store_close(store);
}
END_TEST

START_TEST(long_tables_end_with_a_word_on_the_rest)
{
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store);
    for (int i = 0; i < 405; i++) {
        char key[32];
        snprintf(key, sizeof key, "N=%d", i);
        mt_subject s = fixture_subject_of(store, "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "00112233445566778899aabbccddeeff", key, 13000, MT_ORIGIN_MEASURED);
        put(store, session, &s, "A=1", MT_OUTCOME_OK, 100 + i);
    }
    const char *const name = "convergence";
    mt_doc page = {0}, file = {0};
    mt_strbuf text = {0};
    const mt_report_options for_people = {.sections = &name, .section_count = 1, .has_charts = true, .most_rows = 50}, for_programs = {.sections = &name, .section_count = 1};
    ck_ok(mt_report_make(store, NULL, &for_people, &page, &fixture_err));
    ck_ok(mt_report_make(store, NULL, &for_programs, &file, &fixture_err));
    mt_format_md(&page, &text);
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&text), "355 more subjects are not listed here"));
    ck_assert_ptr_null(strstr(mt_strbuf_text(&text), "have charts of their own")); /* all have: there is room */
    ck_assert_uint_eq(page.sections[0].blocks[1].cell_count, 50 * page.sections[0].blocks[1].column_count);
    ck_assert_uint_eq(file.sections[0].blocks[1].cell_count, 405 * file.sections[0].blocks[1].column_count);
    mt_strbuf_free(&text);
    mt_doc_free(&page);
    mt_doc_free(&file);
    mt_store_close(store);
}
END_TEST

/* The first screen: a kernel with many winners keeps no other's from the page, and takes the room that others leave. */
START_TEST(kernels_share_the_first_screen)
{
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store);
    const struct { const char *gpu, *name; int winners; } groups[] = {{"a100-sxm|cc80|sm108|80g", "NVIDIA A100", 800}, {"h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", 5}};
    for (size_t g = 0; g < 2; g++)
        for (int i = 0; i < groups[g].winners; i++) {
            char key[32];
            snprintf(key, sizeof key, "N=%d", i);
            mt_subject s = fixture_subject_of(store, groups[g].gpu, groups[g].name, "00112233445566778899aabbccddeeff", key, 13000, MT_ORIGIN_MEASURED);
            put(store, session, &s, "A=1", MT_OUTCOME_OK, 100 + i);
            ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
        }
    const char *const name = "best";
    mt_doc page = {0};
    const mt_report_options options = {.sections = &name, .section_count = 1, .most_rows = 50};
    ck_ok(mt_report_make(store, NULL, &options, &page, &fixture_err));
    const mt_block *table = page.sections[0].blocks, *word = table;
    while (table->kind != MT_BLOCK_TABLE) table++;
    while (word->kind != MT_BLOCK_NOTE) word++;
    size_t rows[2] = {0};
    for (size_t i = 0; i < table->cell_count; i += table->column_count) rows[strcmp(table->cells[i].text, groups[1].name) == 0]++;
    ck_assert_msg(rows[0] == 695, "%zu and %zu of %zu cells: %s", rows[0], rows[1], table->cell_count, word->text);
    ck_assert_uint_eq(rows[1], 5);
    ck_assert_str_eq(word->text, "105 more winners are not listed here; msda-tune report --format csv --section best lists all.");
    mt_doc_free(&page);
    mt_store_close(store);
}
END_TEST

/* Neighbours of the best: of the knobs that both have exactly one is different; failed ones count, those that were not run do not. Of many by the same change the fastest is told. */
START_TEST(what_one_knob_alone_costs)
{
    mt_store *store = make_store();
    mt_subject s = fixture_subject(store);
    const char *const name = "knobs";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    mt_doc doc = {0};
    mt_strbuf text = {0};
    put(store, fixture_session(store), &s, "ALGO=a;PAD=7;VEC=10", MT_OUTCOME_EXCLUDED, 0);
    put(store, fixture_session(store), &s, "ALGO=a;PAD=8;VEC=10", MT_OUTCOME_WRONG_RESULT, 0);
    put(store, fixture_session(store), &s, "ALGO=b;DEPTH=1;PAD=0;VEC=10", MT_OUTCOME_OK, 300); /* DEPTH depends on ALGO=b */
    put(store, fixture_session(store), &s, "ALGO=b;DEPTH=2;PAD=0;VEC=10", MT_OUTCOME_OK, 200);
    put(store, fixture_session(store), &s, "ALGO=b;DEPTH=3;PAD=0;VEC=10", MT_OUTCOME_WRONG_RESULT, 0);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    mt_format_md(&doc, &text);
    const char *rows = strstr(mt_strbuf_text(&text), "differ from it in one knob");
    ck_assert_ptr_nonnull(rows);
    ck_assert_ptr_nonnull(strstr(rows, "| VEC | 10 | 9 | 0.400 | 0.002 | 4.000 | ok |\n"));
    ck_assert_ptr_nonnull(strstr(rows, "| PAD | 0 | 1 | 0.100 | 0.000 | 1.000 | ok |\n"));
    ck_assert_ptr_nonnull(strstr(rows, "| PAD | 0 | 8 |  |  |  | wrong\\_result |\n"));
    ck_assert_ptr_null(strstr(rows, "| PAD | 0 | 7 |"));
    const char *other = strstr(rows, "| ALGO | a | b | 0.200 |");
    ck_assert_ptr_nonnull(other);
    ck_assert_ptr_null(strstr(other + 1, "| ALGO |"));
    mt_strbuf_free(&text);
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

static mt_subject subject_of(mt_store *store, const char *kernel_key, const char *shape)
{
    return fixture_subject_of(store, "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", kernel_key, shape, 13000, MT_ORIGIN_MEASURED);
}

static mt_store *make_two_sources(void)
{
    static const char *const winners[] = {"A=1;B=1;C=1", "A=1;B=2;C=2", "A=2;B=2;D=1"};
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store);
    mt_subject old = subject_of(store, "00112233445566778899aabbccddeeff", "N=1");
    put(store, session, &old, "A=9", MT_OUTCOME_OK, 50);
    ck_ok(mt_store_refresh_best(store, &old, &fixture_err));
    for (int i = 0; i < 3; i++) {
        char shape[8];
        snprintf(shape, sizeof shape, "N=%d", i);
        mt_subject s = subject_of(store, "11112233445566778899aabbccddeeff", shape);
        put(store, session, &s, winners[i], MT_OUTCOME_OK, 100);
        ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    }
    fixture_sql("UPDATE measurement SET created_unix_ms = 1000 * id");
    return store;
}

/* What a row tells is what the default does not have: a value that happens to be another row's stands in its own all the same, and the algorithm always. */
START_TEST(rows_tell_the_knobs_that_differ_from_the_default)
{
    const char *const name = "best";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    mt_store *store = make_two_sources();
    mt_doc doc = {0};
    mt_strbuf text = {0};
    fixture_sql("UPDATE kernel SET spec_json = '{\"params\":[{\"name\":\"A\",\"values\":[\"1\",\"2\"],\"default\":1},{\"name\":\"B\",\"values\":[\"1\",\"2\",\"3\"],\"default\":2}]}'");
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    mt_format_md(&doc, &text);
    static const char *const told[] = {" | A=1;B=1;C=1 | A=1;B=1;C=1 |", " | A=1;B=2;C=2 | A=1;B=2;C=2 |", " | B=2;D=1 | A=2;B=2;D=1 |"};
    for (size_t i = 0; i < 3; i++) ck_assert_msg(strstr(mt_strbuf_text(&text), told[i]) != NULL, "no %s in %s", told[i], mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

START_TEST(the_default_is_called_so)
{
    const char *const name = "best";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    mt_doc doc = {0};
    mt_strbuf text = {0};
    put(store, fixture_session(store), &s, "A=2;ALGO=b", MT_OUTCOME_OK, 100);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    for (int is_other = 0; is_other < 2; is_other++) {
        char sql[300];
        snprintf(sql, sizeof sql, "UPDATE kernel SET spec_json = '{\"params\":[{\"name\":\"ALGO\",\"values\":[\"a\",\"b\"],\"default\":1},{\"name\":\"A\",\"values\":[\"1\",\"2\"],\"default\":%d}]}'", !is_other);
        fixture_sql(sql);
        ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
        mt_format_md(&doc, &text);
        ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&text), is_other ? " | A=2;ALGO=b | A=2;ALGO=b |" : " | the default | A=2;ALGO=b |"));
        mt_strbuf_free(&text);
        mt_doc_free(&doc);
    }
    mt_store_close(store);
}
END_TEST

/* Groups come with today's source first; older ones are folded, and no mean is over both. */
START_TEST(older_sources_stand_behind_and_are_not_averaged)
{
    mt_store *store = make_two_sources();
    const mt_report_options options = {0};
    mt_doc doc = {0};
    mt_strbuf page = {0};
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    mt_format_html(&doc, &page);
    const char *html = mt_strbuf_text(&page), *today = strstr(html, "<details class=\"group\" open><summary><h3>"), *older = strstr(html, "<details class=\"group\"><summary><h3>");
    ck_assert(today && older && today < older);
    ck_assert_ptr_nonnull(strstr(today, "today&#39;s source 11112233"));
    ck_assert_ptr_nonnull(strstr(older, "older source 00112233"));
    ck_assert_ptr_null(strstr(html, "<dt>Faster than the default</dt>"));
    mt_strbuf_free(&page);
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

/* Production: a shape with a winner on that GPU is answered by it, another one that is known is named, with what it gets. Old sources answer nothing. */
START_TEST(what_production_gets)
{
    mt_store *store = make_two_sources();
    mt_subject other = fixture_subject_of(store, "h200|cc90|sm132|141g", "NVIDIA H200", "11112233445566778899aabbccddeeff", "N=1", 13000, MT_ORIGIN_MEASURED);
    const char *const name = "lookup";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    mt_doc doc = {0};
    mt_strbuf text = {0};
    put(store, fixture_session(store), &other, "A=1", MT_OUTCOME_OK, 100);
    ck_ok(mt_store_refresh_best(store, &other, &fixture_err));
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    mt_format_md(&doc, &text);
    const char *all = mt_strbuf_text(&text);
    ck_assert_ptr_nonnull(strstr(all, "| NVIDIA H100 80GB HBM3 | cold | measured | 3 | 0 | the default |"));
    ck_assert_ptr_nonnull(strstr(all, "| NVIDIA H200 | cold | measured | 1 | 2 | the default |"));
    ck_assert_ptr_nonnull(strstr(all, "| N=0 |"));
    ck_assert_ptr_nonnull(strstr(all, "| N=2 |"));
    ck_assert_ptr_null(strstr(all, "| N=1 |"));
    mt_strbuf_free(&text);
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

/* A section without a row or figure is a line at the end, and no entry of the navigation. */
START_TEST(empty_sections_take_no_room)
{
    mt_doc doc = {.title = mt_strdup("T"), .source = mt_strdup("S")};
    mt_strbuf page = {0};
    mt_doc_section_begin(&doc, "one", "One");
    mt_doc_figure(&doc, "Figure", "5");
    mt_doc_section_begin(&doc, "two", "Two");
    mt_doc_table(&doc, "rows", "Caption", columns);
    mt_doc_note(&doc, "Nobody did.");
    mt_format_html(&doc, &page);
    ck_assert_ptr_null(strstr(mt_strbuf_text(&page), "id=\"two\""));
    ck_assert_ptr_null(strstr(mt_strbuf_text(&page), "#two"));
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&page), "<dl class=\"empty\"><dt>Two</dt><dd>Nobody did. </dd>"));
    mt_strbuf_free(&page);
    mt_doc_free(&doc);
}
END_TEST

/* What limits a winner, once a profiler has looked at it: the part of the GPU that is busiest; none of them is where it waits. Nothing is said, or explained, of what was not measured. */
START_TEST(the_busiest_part_of_the_gpu_limits_a_winner)
{
    static const struct { const char *metrics, *told; } cases[] = {
        {NULL, NULL}, {"(1, 'dram_percent', 71.6, 'ncu', 1), (1, 'sm_percent', 40, 'ncu', 1)", "| DRAM 72 % |"}, {"(1, 'l2_percent', 20, 'ncu', 1), (1, 'sm_percent', 33, 'ncu', 1)", "| latency (SM 33 %) |"}};
    mt_store *store = make_store();
    mt_subject s = fixture_subject(store);
    const char *const name = "best";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[256];
        mt_doc doc = {0};
        mt_strbuf text = {0};
        snprintf(sql, sizeof sql, "DELETE FROM metric; INSERT INTO metric VALUES %s", cases[i].metrics ? cases[i].metrics : "(2, 'dram_percent', 99, 'ncu', 1)"); /* of another variant */
        fixture_sql(sql);
        ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
        mt_format_md(&doc, &text);
        if (cases[i].told) ck_assert_msg(strstr(mt_strbuf_text(&text), cases[i].told) != NULL, "no %s in %s", cases[i].told, mt_strbuf_text(&text));
        else ck_assert_ptr_null(strstr(mt_strbuf_text(&text), " % |"));
        mt_strbuf_free(&text);
        mt_doc_free(&doc);
    }
    mt_store_close(store);
}
END_TEST

/* A winner that a constraint keeps from another shape has not failed there: its cell is empty. */
START_TEST(what_may_not_run_elsewhere_has_no_cell)
{
    mt_store *store = fixture_open();
    int64_t session = fixture_session(store);
    const char *const name = "portability";
    const mt_report_options options = {.sections = &name, .section_count = 1};
    mt_doc doc = {0};
    static const mt_outcome_kind elsewhere[] = {MT_OUTCOME_EXCLUDED, MT_OUTCOME_WRONG_RESULT};
    for (int i = 0; i < 2; i++) {
        mt_subject s = subject_of(store, "00112233445566778899aabbccddeeff", i ? "N=1" : "N=0");
        put(store, session, &s, i ? "A=1" : "A=0", MT_OUTCOME_OK, 100);
        put(store, session, &s, i ? "A=0" : "A=1", elsewhere[i], 0);
        ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    }
    ck_ok(mt_report_make(store, NULL, &options, &doc, &fixture_err));
    const mt_block *chart = doc.sections[0].blocks;
    while (chart->kind != MT_BLOCK_CHART) chart++;
    const char *cells = strstr(mt_strbuf_text(&chart->data), "\"cells\":");
    ck_assert_ptr_nonnull(cells);
    ck_assert_str_eq(cells, "\"cells\":[[0,0,1],[0,1,null],[1,1,1]]");
    mt_doc_free(&doc);
    mt_store_close(store);
}
END_TEST

START_TEST(only_what_has_entries_is_explained)
{
    static const mt_column two[] = {{"Time (µs)", "%.1f"}, {"Remark", NULL}, {0}};
    static const mt_explanation list[] = {{NULL, NULL, "Always."}, {"Time", NULL, "Of times."}, {"Remark", "od", "Of odd ones."}, {"Remark", NULL, "Of remarks."}, {0}};
    static const struct { double time; const char *remark, *told; } cases[] = {{1, "", "Always. Of times."}, {NAN, "odd", "Always. Of odd ones. Of remarks."}, {NAN, "even", "Always. Of remarks."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_doc doc = {0};
        mt_doc_section_begin(&doc, "one", "One");
        mt_doc_table(&doc, "none", "Empty", two);
        mt_doc_table(&doc, "rows", "Caption", two);
        mt_doc_number(&doc, cases[i].time);
        mt_doc_text(&doc, cases[i].remark);
        mt_doc_explain(&doc, "none", list); /* no row: no word */
        mt_doc_explain(&doc, "absent", list);
        mt_doc_explain(&doc, "rows", list);
        ck_assert_uint_eq(doc.sections[0].count, 3);
        ck_assert_str_eq(doc.sections[0].blocks[2].text, cases[i].told);
        mt_doc_free(&doc);
    }
    mt_doc doc = {.title = mt_strdup("title"), .source = mt_strdup("source")};
    mt_strbuf page = {0};
    mt_doc_section_begin(&doc, "one", "One");
    mt_doc_table(&doc, "rows", "Caption", two);
    mt_doc_fold(&doc, 0, 1, "More");
    mt_doc_number(&doc, 1);
    mt_doc_text(&doc, "even");
    mt_doc_explain(&doc, "rows", list);
    mt_format_html(&doc, &page); /* of what a page folds it says where it is */
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&page), ">Always. Of times.</p>"));
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&page), ">More: Of remarks.</p>"));
    mt_strbuf_free(&page);
    mt_doc_free(&doc);
}
END_TEST

FIXTURE_MAIN("report", what_may_not_run_elsewhere_has_no_cell, the_busiest_part_of_the_gpu_limits_a_winner, only_what_has_entries_is_explained, what_production_gets, what_one_knob_alone_costs, rows_tell_the_knobs_that_differ_from_the_default, the_default_is_called_so, older_sources_stand_behind_and_are_not_averaged, empty_sections_take_no_room, knobs_and_what_they_do, what_was_not_run_has_not_failed, the_best_so_far_stands_in_for_a_winner, gaps_between_sessions_do_not_count, imports_have_no_seconds_and_what_did_not_run_is_no_evaluation, every_format_writes_texts_as_texts, very_long_texts_fold_and_break, drift_is_told_for_each_session_and_subject, memory_may_run_out_anywhere, long_tables_end_with_a_word_on_the_rest, kernels_share_the_first_screen)
