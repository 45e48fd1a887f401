/* What is shipped: the rows that answer, the comparison that picked the winner, code compiled later. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/recording_fixture.h"

#include "db/store/portfolio_rows.h"
#include "db/exchange/recording/recording.h"
#include "tuner/base/file.h"

static const char *in_folder(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    return path;
}

static char *text_of(const char *path)
{
    char *text = NULL;
    size_t length;
    ck_ok(mt_file_read(path, 0, &text, &length, &fixture_err));
    return text;
}

static mt_store *open_memory(void)
{
    mt_store *store = NULL;
    ck_ok(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &fixture_err));
    return store;
}

typedef struct picked { char variant[64], shape[64]; double median_ns; int64_t tied, count; } picked;

static mt_status see_best(void *context, const mt_measurement_row *row, mt_error *err)
{
    picked *p = context;
    (void)err;
    snprintf(p->variant, sizeof p->variant, "%s", row->variant);
    snprintf(p->shape, sizeof p->shape, "%s", row->shape);
    p->median_ns = row->outcome.timing.median_ns;
    p->tied = row->tied_count;
    p->count++;
    return MT_OK;
}

static picked best_of(mt_store *store)
{
    picked p = {0};
    ck_ok(mt_query_best(store, NULL, see_best, &p, &fixture_err));
    return p;
}

static mt_status add_near_tie(void *context, const mt_near_tie *row, mt_error *err)
{
    mt_finalist_row *rows = context;
    size_t at = 0;
    (void)err;
    while (rows[at].measurement) at++;
    rows[at] = (mt_finalist_row){.measurement = row->measurement, .median_ns = row->median_ns + 0.5, .low_ns = 90, .high_ns = 110, .ratio = 1 + (double)at / 100, .ratio_low = 0.99,
                                 .ratio_high = 1.03, .is_tied = true, .is_picked = at == 1};
    return MT_OK;
}

/* A=1 is the fastest, A=2 the pick of the final, A=3 is in it too; A=4 is the default, A=5 nothing; another shape has A=1 alone. */
static mt_store *make_store(void)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store), other = fixture_subject_of(store, "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "00112233445566778899aabbccddeeff", "N=1;dtype=f16", 13000, MT_ORIGIN_MEASURED);
    int64_t session = fixture_session(store);
    mt_finalist_row rows[MT_FINALISTS_MAX] = {{0}};
    const mt_final_row final = {.method = "interleaved", .rounds = 5, .confidence = 0.95};
    for (int i = 1; i <= 5; i++) {
        char variant[8];
        snprintf(variant, sizeof variant, "A=%d", i);
        fixture_put_ok(store, session, &s, variant, i <= 3 ? 100 + i : 200 * i);
    }
    mt_outcome failed = fixture_outcome(MT_OUTCOME_COMPILE_ERROR, 0);
    failed.text = "first line\nsecond line";
    fixture_put(store, session, &s, "A=6", &failed);
    ck_ok(mt_store_comparison_point(store, &s, "default", "A=4", &fixture_err));
    ck_ok(mt_store_comparison_point(store, &s, "baseline", "A=6", &fixture_err));
    ck_ok(mt_store_near_ties(store, &s, MT_OBJECTIVE_TIME, add_near_tie, rows, &fixture_err));
    ck_ok(mt_store_final(store, session, &s, &final, rows, 3, &fixture_err));
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    fixture_put_ok(store, session, &other, "A=1", 7);
    ck_ok(mt_store_refresh_best(store, &other, &fixture_err));
    return store;
}

static mt_filter only(const char *shape_key)
{
    return (mt_filter){.shape_key = shape_key};
}

START_TEST(a_final_travels)
{
    mt_store *store = make_store(), *other = open_memory();
    const mt_filter filter = only("N=48;dtype=f16");
    ck_ok(mt_recording_export(store, &filter, in_folder("a.jsonl"), &fixture_err));
    ck_ok(import_file(other, in_folder("a.jsonl"), MT_ORIGIN_MEASURED));
    picked p = best_of(other);
    ck_assert_str_eq(p.variant, "A=2"); /* and not A=1, which has the least median */
    ck_assert_double_eq(p.median_ns, 102.5);
    ck_assert_int_eq(p.tied, 3);
    ck_ok(mt_recording_export(other, NULL, in_folder("b.jsonl"), &fixture_err));
    char *a = text_of(in_folder("a.jsonl")), *b = text_of(in_folder("b.jsonl"));
    ck_assert_str_eq(a, b);
    ck_assert_ptr_nonnull(strstr(a, "\"final\":{\"method\":\"interleaved\",\"rounds\":5,\"confidence\":0.95,\"objective\":\"time\",\"rows\":[{\"v\":\"A=1\""));
    mt_free(a);
    mt_free(b);
    mt_store_close(store);
    mt_store_close(other);
}
END_TEST

/* Rows are exported by what they say themselves: not by the winner that another table repeats, and without expressions that an import leaves out. */
START_TEST(an_export_of_a_damaged_file_is_imported_whole)
{
    static const struct { const char *damage, *member; } cases[] = {
        {"DELETE FROM best", "\"final\":{"},
        {"UPDATE best SET tied_count = -1", "\"final\":{"},
        {"UPDATE best SET final_id = NULL", "\"final\":{"},
        {"UPDATE best SET final_id = 99", "\"final\":{"},
        {"UPDATE kernel SET spec_json = '{\"x\":1}'", "\"spec\":{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store_close(make_store());
        fixture_sql(cases[i].damage);
        mt_store *store = NULL, *other = open_memory();
        const mt_filter filter = only("N=48;dtype=f16");
        ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
        ck_ok(mt_recording_export(store, &filter, in_folder("a.jsonl"), &fixture_err));
        char *text = text_of(in_folder("a.jsonl"));
        ck_assert_msg(strstr(text, cases[i].member), "%s", cases[i].damage);
        fixture_stderr_begin();
        ck_ok(import_file(other, in_folder("a.jsonl"), MT_ORIGIN_MEASURED));
        ck_assert_str_eq(fixture_stderr_end(), "");
        ck_assert_str_eq(best_of(other).variant, "A=2");
        mt_free(text);
        mt_store_close(store);
        mt_store_close(other);
        ck_assert_int_eq(remove(fixture_db), 0);
    }
}
END_TEST

static mt_status tell_finalist(void *context, const mt_finalist_row *row, mt_error *err)
{
    (void)err;
    mt_strbuf_addf(context, " %s%s%s", row->variant, row->is_tied ? "=" : "<", row->is_picked ? "!" : "");
    return MT_OK;
}

typedef struct telling { mt_store *store; mt_strbuf *text; } telling;

static mt_status tell_winner(void *context, const mt_measurement_row *row, mt_error *err)
{
    const telling *t = context;
    mt_strbuf_addf(t->text, "%s wins %s in %g ns, tied %lld:", row->variant, row->shape, row->outcome.timing.median_ns, (long long)row->tied_count);
    mt_status st = row->final_id ? mt_query_finalists(t->store, row->final_id, tell_finalist, t->text, err) : MT_OK;
    mt_strbuf_add_char(t->text, '\n');
    return st;
}

/* Winners with their finals. */
static char *tell_winners(mt_store *store)
{
    mt_strbuf text = {0};
    telling t = {store, &text};
    ck_ok(mt_query_best(store, NULL, tell_winner, &t, &fixture_err));
    return mt_strbuf_take(&text);
}

/* What is exported is imported without a complaint, and exported again with the same bytes. The winners that it then has. */
static char *check_that_all_travels(mt_store *store, bool answers_only, const char *what, const char *winners)
{
    mt_store *other = open_memory();
    int64_t left_out = 0;
    ck_ok(mt_recording_export_all(store, NULL, answers_only, in_folder("a.jsonl"), &fixture_err));
    char *a = text_of(in_folder("a.jsonl"));
    fixture_stderr_begin();
    ck_ok(mt_recording_import_bytes(other, a, strlen(a), "a.jsonl", MT_ORIGIN_MEASURED, &left_out, &fixture_err));
    const char *said = fixture_stderr_end();
    ck_assert_msg(left_out == 0 && !*said, "%s: %s", what, said);
    ck_ok(mt_recording_export_all(other, NULL, answers_only, in_folder("b.jsonl"), &fixture_err));
    char *b = text_of(in_folder("b.jsonl")), *there = tell_winners(other);
    ck_assert_msg(strstr(there, winners), "%s: no \"%s\" in %s", what, winners, there);
    size_t same = 0;
    while (a[same] && a[same] == b[same]) same++;
    ck_assert_msg(a[same] == b[same], "%s: from byte %zu on \"%.80s\" became \"%.80s\"", what, same, a + same, b + same);
    mt_free(a);
    mt_free(b);
    mt_store_close(other);
    return there;
}

static void check_that_winners_travel(mt_store *store, bool answers_only, const char *what, const char *winners)
{
    char *here = tell_winners(store), *there = check_that_all_travels(store, answers_only, what, winners);
    ck_assert_msg(strcmp(here, there) == 0, "%s: %s became %s", what, here, there);
    mt_free(here);
    mt_free(there);
}

#define WINS(variant, ns, tied, final) variant " wins N=48;dtype=f16 in " ns " ns, tied " tied ":" final "\n"

/* A finalist stands as long as the row that it was in the final with is its variant's result. */
START_TEST(a_final_travels_without_those_that_fell)
{
    static const struct { const char *variant; mt_outcome_kind kind; double median_ns; const char *winners; } cases[] = {
        {"A=3", MT_OUTCOME_CENSORED, 103, WINS("A=2", "102.5", "2", " A=1= A=2=!")},
        {"A=3", MT_OUTCOME_WRONG_RESULT, 0, WINS("A=2", "102.5", "2", " A=1= A=2=!")},
        {"A=3", MT_OUTCOME_CRASHED, 0, WINS("A=2", "102.5", "2", " A=1= A=2=!")},
        {"A=3", MT_OUTCOME_YARDSTICK, 103, WINS("A=2", "102.5", "2", " A=1= A=2=!")},
        {"A=3", MT_OUTCOME_OK, 150, WINS("A=2", "102.5", "2", " A=1= A=2=!")}, /* no near-tie any more */
        {"A=3", MT_OUTCOME_OK, 1e6, WINS("A=2", "102.5", "2", " A=1= A=2=!")},
        {"A=3", MT_OUTCOME_OK, 103, WINS("A=1", "101", "2", "")},              /* a near-tie that the final has not seen */
        {"A=3", MT_OUTCOME_EXCLUDED, 0, WINS("A=2", "102.5", "3", " A=1= A=2=! A=3=")},
        {"A=3", MT_OUTCOME_COMPILER_KILLED, 0, WINS("A=2", "102.5", "3", " A=1= A=2=! A=3=")},
        {"A=1", MT_OUTCOME_TIMEOUT, 0, WINS("A=2", "102.5", "2", " A=2=! A=3=")},
        {"A=2", MT_OUTCOME_CENSORED, 102, WINS("A=1", "101", "1", "")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *store = make_store();
        mt_subject s = fixture_subject(store);
        const mt_outcome outcome = fixture_outcome(cases[i].kind, cases[i].median_ns);
        char what[64];
        snprintf(what, sizeof what, "%s %s %g", cases[i].variant, mt_outcome_name(cases[i].kind), cases[i].median_ns);
        fixture_put(store, fixture_session(store), &s, cases[i].variant, &outcome);
        ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
        fixture_sql("UPDATE measurement SET created_unix_ms = 1000 + id");
        if (strchr(cases[i].winners, '!')) check_that_winners_travel(store, true, what, cases[i].winners); /* whose intervals alone reach into the winner's is not shipped */
        check_that_winners_travel(store, false, what, cases[i].winners);
        mt_store_close(store);
        ck_assert_int_eq(remove(fixture_db), 0);
    }
}
END_TEST

/* Code that was wrong is wrong for good, in a file that has one row of it, too. */
START_TEST(a_variant_that_was_wrong_travels_as_one)
{
    mt_store *store = make_store();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    const mt_outcome wrong = fixture_outcome(MT_OUTCOME_WRONG_RESULT, 0);
    fixture_put(store, session, &s, "A=3", &wrong);
    fixture_put_ok(store, session, &s, "A=3", 50);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    fixture_sql("UPDATE measurement SET created_unix_ms = 1000 + id");
    check_that_winners_travel(store, true, "wrong", WINS("A=2", "102.5", "2", " A=1= A=2=!"));
    check_that_winners_travel(store, false, "wrong", WINS("A=2", "102.5", "2", " A=1= A=2=!"));
    mt_store_close(store);
}
END_TEST

#define OF_A_3 " WHERE measurement_id = (SELECT m.id FROM measurement m JOIN variant v ON v.id = m.variant_id WHERE v.text = 'A=3')"

/* Of a damaged file: all rows say who wins; those that answer are of the winner that it names. */
START_TEST(a_damaged_final_travels_as_far_as_it_stands)
{
    static const char by_median[] = WINS("A=1", "101", "2", ""), as_named[] = WINS("A=2", "102", "1", ""), whole[] = WINS("A=2", "102.5", "3", " A=1= A=2=! A=3="), rest[] = WINS("A=2", "102.5", "2", " A=1= A=2=!");
    static const struct { const char *damage, *winners, *answers; } cases[] = {
        {"UPDATE best SET final_id = NULL", whole, whole},
        {"UPDATE finalist SET median_ns = 1e9" OF_A_3, by_median, as_named},
        {"UPDATE finalist SET measurement_id = 99" OF_A_3, by_median, as_named},
        {"DELETE FROM finalist" OF_A_3, by_median, as_named},
        {"UPDATE finalist SET picked = 1", by_median, as_named},
        {"UPDATE measurement SET median_ns = 'x' WHERE median_ns = 103", rest, rest},
        {"UPDATE measurement SET outcome = 'censored' WHERE median_ns = 103", rest, rest},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *store = NULL;
        mt_store_close(make_store());
        fixture_sql(cases[i].damage);
        ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
        mt_free(check_that_all_travels(store, false, cases[i].damage, cases[i].winners));
        mt_free(check_that_all_travels(store, true, cases[i].damage, cases[i].answers));
        mt_store_close(store);
        ck_assert_int_eq(remove(fixture_db), 0);
    }
}
END_TEST

/* The text before the rows, with another final. */
static char *with_final(const char *text, const char *final)
{
    const char *at = strstr(text, ",\"final\":"), *end = strstr(at, "]}}\n");
    mt_strbuf out = {0};
    mt_strbuf_add_bytes(&out, text, (size_t)(at - text));
    mt_strbuf_addf(&out, ",\"final\":%s", final);
    mt_strbuf_add(&out, end + 2);
    return mt_strbuf_take(&out);
}

static mt_status no_final(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    *(int *)context += row->final_id != 0;
    return MT_OK;
}

/* Winners that a final picked. */
static int fixture_finals(mt_store *store)
{
    int count = 0;
    ck_ok(mt_query_best(store, NULL, no_final, &count, &fixture_err));
    return count;
}

/* It is named and left out; the rows stay. */
START_TEST(an_unsound_final_is_left_out)
{
#define ROW(v) "{\"v\":\"" v "\",\"ns\":1,\"lo\":1,\"hi\":1,\"r\":1,\"rl\":1,\"rh\":1,\"tied\":1"
#define FINAL(rows) "{\"method\":\"interleaved\",\"rounds\":5,\"confidence\":0.95,\"objective\":\"time\",\"rows\":[" rows "]}"
    static const struct { const char *final, *message; } cases[] = {
        {FINAL(ROW("A=9") ",\"picked\":1}"), "names a variant that has no row"},
        {FINAL(ROW("A=1") "}"), "must have one row that is picked"},
        {FINAL(ROW("A=1") ",\"picked\":1}," ROW("A=2") ",\"picked\":1}"), "must have one row that is picked"},
        {FINAL(ROW("A=1") ",\"picked\":1}," ROW("A=1") "}"), "names a variant twice"},
        {FINAL("{\"v\":\"A=1\",\"ns\":\"x\",\"lo\":1,\"hi\":1,\"r\":1,\"rl\":1,\"rh\":1,\"picked\":1}"), "median_ns is NULL; expected"},
        {FINAL("{\"v\":\"A=1\",\"ns\":true,\"lo\":1,\"hi\":1,\"r\":1,\"rl\":1,\"rh\":1,\"picked\":1}"), "median_ns is NULL; expected"},
        {FINAL("{\"v\":\"A=1\",\"ns\":3,\"lo\":1,\"hi\":2,\"r\":1,\"rl\":1,\"rh\":1,\"picked\":1}"), "median_ns is 3; expected a time between low_ns (1) and high_ns (2)"},
        {FINAL("{\"v\":\"A=1\",\"ns\":1,\"lo\":1,\"hi\":1,\"r\":0,\"rl\":0,\"rh\":1,\"picked\":1}"), "ratio is 0; expected a ratio from"},
        {FINAL("{\"v\":\"A=1\",\"ns\":1,\"lo\":1,\"hi\":1,\"r\":2,\"rl\":1,\"rh\":1.5,\"picked\":1}"), "ratio is 2; expected a ratio between ratio_low (1) and ratio_high (1.5)"},
        {FINAL("{\"v\":\"A=1\",\"ns\":2,\"lo\":3,\"hi\":1,\"r\":1,\"rl\":1,\"rh\":1,\"picked\":1}"), "median_ns is 2; expected a time between low_ns (3) and high_ns (1)"},
        {FINAL("{\"v\":\"A=1\",\"ns\":9e999,\"lo\":1,\"hi\":1,\"r\":1,\"rl\":1,\"rh\":1,\"picked\":1}"), "median_ns is inf; expected a time"},
        {"{\"method\":\"dice\",\"rounds\":5,\"confidence\":0.95,\"objective\":\"time\",\"rows\":[]}", "no sound method"},
        {"{\"method\":\"intervals\",\"rounds\":-5,\"confidence\":0.95,\"objective\":\"time\",\"rows\":[]}", "no sound method"},
        {"{\"method\":\"intervals\",\"rounds\":5,\"confidence\":1.95,\"objective\":\"time\",\"rows\":[]}", "no sound method"},
        {"{\"method\":\"intervals\",\"rounds\":5,\"confidence\":0.5,\"objective\":\"fun\",\"rows\":[]}", "no sound method"},
        {"7", "x.jsonl:1: is left out: expected an object in \"final\""},
    };
    mt_store *store = make_store(), *other = open_memory();
    const mt_filter filter = only("N=48;dtype=f16");
    ck_ok(mt_recording_export(store, &filter, in_folder("a.jsonl"), &fixture_err));
    char *text = text_of(in_folder("a.jsonl"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bad = with_final(text, cases[i].final);
        fixture_err.message[0] = '\0';
        fixture_stderr_begin();
        mt_status st = mt_recording_import_bytes(other, bad, strlen(bad), "x.jsonl", MT_ORIGIN_MEASURED, NULL, &fixture_err);
        const char *said = fixture_stderr_end();
        ck_assert_msg(strstr(st == MT_OK ? said : fixture_err.message, cases[i].message), "no \"%s\" in: %s%s", cases[i].message, said, fixture_err.message);
        ck_assert_int_eq(fixture_finals(other), 0);
        mt_free(bad);
    }
    mt_free(text);
    mt_store_close(store);
    mt_store_close(other);
}
END_TEST

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) count++;
    return count;
}

typedef struct compared { int count; mt_row_library library; } compared;

static mt_status see_library(void *context, const mt_measurement_row *row, mt_error *err)
{
    compared *all = context;
    (void)err;
    if (row->library.plugin[0]) {
        all->count++;
        all->library = row->library;
    }
    return MT_OK;
}

/* The comparison with a baseline plugin: show and the report have the ratio from shipped rows too. */
START_TEST(a_library_travels)
{
    char first[192], second[192];
    const mt_row_library older = {.plugin = "zother", .first_ns = NAN, .first_ratio = NAN, .best_ns = 1, .best_ratio = 1, .best_low = NAN, .best_high = NAN},
                         library = {.plugin = "cublaslt", .first_ns = 130, .first_ratio = 1.3, .best_ns = 110.5, .best_ratio = 1.0 / 3, .best_low = 0.25, .best_high = 0.5, .is_limited = true};
    mt_store *store = make_store(), *other = open_memory();
    int64_t winner = fixture_number("SELECT measurement_id FROM best b JOIN subject s ON s.id = b.subject_id WHERE final_id IS NOT NULL");
    ck_ok(mt_store_library(store, winner, 1000, &older, NULL, NULL, &fixture_err));
    ck_ok(mt_store_library(store, winner, 2000, &library, "the third", NULL, &fixture_err));
    snprintf(first, sizeof first, "%s", in_folder("first.jsonl"));
    snprintf(second, sizeof second, "%s", in_folder("second.jsonl"));
    ck_ok(mt_recording_export_all(store, NULL, true, first, &fixture_err));
    ck_ok(import_file(other, first, MT_ORIGIN_MEASURED));
    compared all = {0};
    ck_ok(mt_query_best(other, NULL, see_library, &all, &fixture_err));
    ck_assert_int_eq(all.count, 1);
    ck_assert_str_eq(all.library.plugin, "cublaslt");
    ck_assert(all.library.first_ns == 130 && all.library.first_ratio == 1.3 && all.library.best_ns == 110.5 && all.library.best_low == 0.25 && all.library.best_high == 0.5 && all.library.is_limited);
    ck_assert_double_eq_tol(all.library.best_ratio, 1.0 / 3, 1e-14);
    ck_ok(mt_recording_export_all(other, NULL, true, second, &fixture_err));
    char *a = text_of(first), *b = text_of(second);
    ck_assert_str_eq(a, b);
    ck_assert_ptr_nonnull(strstr(a, ",\"library\":{\"by\":\"cublaslt\",\"first_ns\":130,\"first_r\":1.3,\"ns\":110.5,\"r\":0.333333333333333,\"rl\":0.25,\"rh\":0.5,\"limited\":1}"));
    mt_free(a);
    mt_free(b);
    mt_store_close(store);
    mt_store_close(other);
}
END_TEST

/* When it was measured, not when it was read. */
START_TEST(times_travel)
{
    mt_store *store = make_store();
    int64_t winner = fixture_number("SELECT measurement_id FROM best WHERE final_id IS NOT NULL");
    const mt_row_library library = {.plugin = "cublaslt", .first_ns = NAN, .first_ratio = NAN, .best_ns = 110.5, .best_ratio = 1.5, .best_low = NAN, .best_high = NAN};
    ck_ok(mt_store_library(store, winner, 0, &library, NULL, "the third", &fixture_err));
    fixture_number("UPDATE measurement SET created_unix_ms = 1000");
    ck_ok(mt_recording_export_all(store, NULL, true, in_folder("a.jsonl"), &fixture_err));
    ck_ok(import_file(store, in_folder("a.jsonl"), MT_ORIGIN_RECORDED));
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM library_comparison"), 2);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM library_comparison WHERE created_unix_ms = 1000"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM final_round"), 2);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM final_round WHERE created_unix_ms = 1000"), 1);
    mt_store_close(store);
}
END_TEST

/* A comparison that no tuner writes is named and left out; its row stays, and wins. */
START_TEST(an_unsound_comparison_is_left_out_alone)
{
    static const struct { const char *library, *message; } cases[] = {
        {"{\"by\":\"x\",\"ns\":5,\"r\":1,\"rl\":0,\"rh\":0}", "\"library\": library_comparison: best_ratio is 1; expected a ratio between best_ratio_low (0) and best_ratio_high (0)"},
        {"{\"by\":\"x\",\"ns\":5,\"r\":3,\"rl\":1,\"rh\":2}", "best_ratio is 3; expected"},
        {"{\"by\":\"x\",\"ns\":5,\"r\":0}", "best_ratio is 0; expected a ratio from"},
        {"{\"by\":\"x\",\"ns\":5,\"r\":1,\"first_r\":0}", "first_ratio is 0; expected"},
        {"{\"by\":\"x\",\"ns\":0,\"r\":1}", "best_ns is 0; expected a time"},
        {"{\"by\":\"x\",\"ns\":\"y\",\"r\":1}", "best_ns is NULL; expected a time"},
        {"{\"by\":\"X\",\"ns\":5,\"r\":1}", "plugin is \"X\"; expected the name of a plugin"},
        {"{\"by\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",\"ns\":5,\"r\":1}", "plugin is \"\"; expected the name of a plugin"},
        {"{\"by\":\"a\\\"b\",\"ns\":4,\"r\":0.8}", "plugin is \"a\"b\"; expected the name of a plugin"},
        {"{\"ns\":4,\"r\":0.8}", "plugin is \"\"; expected the name of a plugin"},
        {"{\"by\":\"x\",\"ns\":4}", "best_ratio is NULL; expected a ratio from"},
        {"[\"x\",4,0.8]", ": is left out: expected an object in \"library\""},
        {"null", ": is left out: expected an object in \"library\""},
    };
    mt_store *store = make_store();
    const mt_filter filter = only("N=48;dtype=f16");
    ck_ok(mt_recording_export(store, &filter, in_folder("a.jsonl"), &fixture_err));
    char *text = text_of(in_folder("a.jsonl")), *row = strstr(strstr(text, "\n{\"v\":\"A=2\""), "}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *other = open_memory();
        mt_strbuf bad = {0};
        mt_strbuf_add_bytes(&bad, text, (size_t)(row - text));
        mt_strbuf_addf(&bad, ",\"library\":%s%s", cases[i].library, row);
        fixture_stderr_begin();
        mt_status st = mt_recording_import_bytes(other, mt_strbuf_text(&bad), bad.length, "x.jsonl", MT_ORIGIN_MEASURED, NULL, &fixture_err);
        const char *said = fixture_stderr_end();
        ck_ok(st);
        ck_assert_msg(strstr(said, cases[i].message), "no \"%s\" in: %s", cases[i].message, said);
        ck_assert_str_eq(best_of(other).variant, "A=2");
        compared all = {0};
        ck_ok(mt_query_best(other, NULL, see_library, &all, &fixture_err));
        ck_assert_int_eq(all.count, 0);
        mt_strbuf_free(&bad);
        mt_store_close(other);
    }
    mt_free(text);
    mt_store_close(store);
}
END_TEST

START_TEST(only_what_answers_is_shipped)
{
    mt_store *store = make_store(), *other = open_memory();
    ck_ok(mt_recording_export_all(store, NULL, true, in_folder("a.jsonl"), &fixture_err));
    char *a = text_of(in_folder("a.jsonl"));
    ck_assert_uint_eq(count_of(a, "\n{\"v\":"), 6); /* A=1, 2, 3, 4 and 6; A=1 of the other shape */
    ck_assert_ptr_null(strstr(a, "A=5"));
    ck_assert_ptr_null(strstr(a, "second line"));
    ck_assert_ptr_nonnull(strstr(a, "first line"));
    ck_assert_uint_eq(count_of(a, "\"spec\":"), 1); /* the second line 1 is of the same kernel */
    ck_assert_ptr_null(strstr(a, "\"tc\":"));
    ck_assert_ptr_nonnull(strstr(a, "\"cubin\":"));
    ck_assert(strstr(a, "N=1;dtype=f16") < strstr(a, "N=48;dtype=f16"));
    ck_ok(import_file(other, in_folder("a.jsonl"), MT_ORIGIN_MEASURED));
    ck_assert_int_eq(best_of(other).count, 2);
    ck_assert_str_eq(best_of(other).variant, "A=2");
    ck_ok(mt_recording_export_all(other, NULL, true, in_folder("b.jsonl"), &fixture_err));
    char *b = text_of(in_folder("b.jsonl"));
    ck_assert_str_eq(a, b);
    /* The other shape's A=1 has been told: its number says it. A number that was not given yet says nothing, nor does any in a file that has none. */
    char *number = strstr(a, "\n{\"v\":0,");
    ck_assert(number && number > strstr(a, "\n{\"v\":\"A=1\","));
    number[6] = '7';
    fixture_stderr_begin();
    ck_ok(mt_recording_import_bytes(other, a, strlen(a), "x.jsonl", MT_ORIGIN_IMPORTED, NULL, &fixture_err));
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "no variant has this number yet: 7"));
    number[6] = '0';
    for (char *at = a; (at = strstr(at, "\"version\":2")); ) at[10] = '1';
    fixture_stderr_begin();
    ck_ok(mt_recording_import_bytes(other, a, strlen(a), "x.jsonl", MT_ORIGIN_IMPORTED, NULL, &fixture_err));
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "expected a text in \"v\", found \"0\""));
    /* The first line 1 of a file always has the programs: where it has none, variants may have been told before it. */
    char *cut = strstr(a, "\n{\"format\"");
    int64_t left_out = 0;
    for (char *at = a; (at = strstr(at, "\"version\":1")); ) at[10] = '2';
    fixture_stderr_begin();
    ck_ok(mt_recording_import_bytes(other, cut + 1, strlen(cut + 1), "x.jsonl", MT_ORIGIN_MEASURED, &left_out, &fixture_err));
    const char *said = fixture_stderr_end();
    ck_assert_ptr_nonnull(strstr(said, "x.jsonl:1: is left out: \"kernel.spec\""));
    ck_assert_ptr_nonnull(strstr(said, "x.jsonl:2: is left out: of line 1 nobody knows whether it told a variant"));
    ck_assert_int_ge(left_out, 2);
    mt_free(a);
    mt_free(b);
    mt_store_close(store);
    mt_store_close(other);
}
END_TEST

/* Two files one behind the other are both read: the second's numbers are of its own variants. */
START_TEST(files_may_be_concatenated)
{
    mt_store *store = make_store(), *other = open_memory();
    mt_subject s = fixture_subject_of(store, "h200|cc90|sm132|141g", "NVIDIA H200", "00112233445566778899aabbccddeeff", "N=1;dtype=f16", 13000, MT_ORIGIN_MEASURED), t = s;
    int64_t session = fixture_session(store);
    ck_ok(mt_recording_export_all(store, NULL, true, in_folder("a.jsonl"), &fixture_err));
    fixture_put_ok(store, session, &s, "B=0", 5);
    ck_ok(mt_store_refresh_best(store, &s, &fixture_err));
    t = fixture_subject_of(store, "h200|cc90|sm132|141g", "NVIDIA H200", "00112233445566778899aabbccddeeff", "N=48;dtype=f16", 13000, MT_ORIGIN_MEASURED);
    fixture_put_ok(store, session, &t, "B=0", 6);
    ck_ok(mt_store_refresh_best(store, &t, &fixture_err));
    const mt_filter h200 = {.gpu = "h200"};
    ck_ok(mt_recording_export_all(store, &h200, true, in_folder("b.jsonl"), &fixture_err));
    char *a = text_of(in_folder("a.jsonl")), *b = text_of(in_folder("b.jsonl"));
    ck_assert_ptr_nonnull(strstr(b, "\n{\"v\":0,"));
    mt_strbuf both = {0};
    mt_strbuf_add(&both, a);
    mt_strbuf_add(&both, b);
    ck_ok(mt_recording_import_bytes(other, both.text, both.length, "x.jsonl", MT_ORIGIN_MEASURED, NULL, &fixture_err));
    ck_ok(mt_recording_export_all(other, &h200, true, in_folder("c.jsonl"), &fixture_err));
    char *c = text_of(in_folder("c.jsonl"));
    ck_assert_str_eq(b, c);
    mt_strbuf_free(&both);
    mt_free(a);
    mt_free(b);
    mt_free(c);
    mt_store_close(store);
    mt_store_close(other);
}
END_TEST

START_TEST(without_winners_there_is_nothing_to_ship)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    mt_outcome failed = fixture_outcome(MT_OUTCOME_TIMEOUT, 0);
    fixture_put(store, fixture_session(store), &s, "A=1", &failed);
    ck_fails(mt_recording_export_all(store, NULL, true, in_folder("a.jsonl"), &fixture_err), MT_ERR_NOTHING_VALID, "no subject of this choice has a winner");
    mt_store_close(store);
}
END_TEST

typedef struct code { int with, without; int64_t subject; char hash[40]; } code;

static mt_status see_code(void *context, const mt_codeless_row *row, mt_error *err)
{
    code *c = context;
    (void)err;
    *(row->has_code ? &c->with : &c->without) += 1;
    if (!row->has_code) c->subject = row->subject;
    snprintf(c->hash, sizeof c->hash, "%s", row->cubin_hash);
    return MT_OK;
}

/* Code that is compiled later is the answer's, with the compiler that made it; the measurement keeps what it was measured with. */
START_TEST(code_comes_later)
{
    mt_store *store = make_store();
    code before = {0}, after = {0};
    const mt_toolchain_row newer = {13010, 13000, "sm_90a"};
    ck_ok(mt_query_codeless(store, NULL, see_code, &before, &fixture_err));
    ck_assert(before.without == 2 && before.with == 0);
    ck_assert_str_eq(before.hash, "0123456789abcdef0123456789abcdef");
    mt_hash hash = mt_hash_bytes("code", 4);
    ck_ok(mt_store_answer_code(store, before.subject, &newer, &hash, "code", 4, &fixture_err));
    ck_ok(mt_query_codeless(store, NULL, see_code, &after, &fixture_err));
    ck_assert(after.without == 1 && after.with == 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM answer a JOIN toolchain t ON t.id = a.toolchain_id JOIN cubin c ON c.hash = a.cubin_hash WHERE t.nvrtc_version = 13010"), 1);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement WHERE cubin_hash <> '0123456789abcdef0123456789abcdef'"), 0);
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("recording_answers", a_final_travels, a_final_travels_without_those_that_fell, a_variant_that_was_wrong_travels_as_one, a_damaged_final_travels_as_far_as_it_stands, an_export_of_a_damaged_file_is_imported_whole, an_unsound_final_is_left_out, a_library_travels, an_unsound_comparison_is_left_out_alone, times_travel, only_what_answers_is_shipped, files_may_be_concatenated, without_winners_there_is_nothing_to_ship, code_comes_later)
