/* Recordings: round trips without drift, refusals with line numbers, all or nothing. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/recording_fixture.h"
#include "tests/unit/sound_fixture.h"

#include <math.h>
#include <zstd.h>

#include "db/store/open/migrate.h"
#include "db/exchange/recording/recording.h"
#include "db/exchange/recording/recording_io.h"
#include "tuner/base/file.h"

static const mt_origin recorded = MT_ORIGIN_RECORDED;
static char *bytes;
static size_t length;

static const char *in_folder(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    return path;
}

static void read_bytes(const char *path)
{
    mt_free(bytes);
    bytes = NULL;
    ck_ok(mt_file_read(path, 0, &bytes, &length, &fixture_err));
}

static mt_store *open_memory(void)
{
    mt_store *store = NULL;
    ck_ok(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &fixture_err));
    return store;
}

static mt_status import_text(mt_store *store, const char *text)
{
    return mt_recording_import_bytes(store, text, strlen(text), "x.jsonl", recorded, NULL, &fixture_err);
}

static mt_status count_row(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(int *)context;
    return MT_OK;
}

static int rows_in(mt_store *store)
{
    int count = 0;
    ck_ok(mt_query_measurements(store, NULL, count_row, &count, &fixture_err));
    return count;
}

/* Every outcome, awkward numbers and texts, two toolchains, a superseded row. */
static mt_store *make_store(void)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t session = fixture_session(store);
    mt_toolchain_row older = {12080, 12080, "sm_90"};
    mt_subject before = s;
    ck_ok(mt_store_toolchain(store, &older, &before.toolchain, &fixture_err));
    float samples[3] = {1.0f / 3, 16777217.0f, 3e-12f};
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        char variant[64], text[] = "</script>\x01\"\\\t € \xff <b>";
        snprintf(variant, sizeof variant, "ALGO=a\"b;K=%02d", kind);
        mt_outcome o = fixture_outcome((mt_outcome_kind)kind, 1e9 / (kind + 3.0));
        o.timing.stddev_ns = kind ? 1.0 / 3 : -0.0;
        o.sample_ns = samples;
        o.text = kind % 2 ? text : NULL;
        if (kind == 5) o.accuracy.output[0] = '\0';
        fixture_put(store, session, kind == 1 ? &before : &s, variant, &o);
    }
    fixture_put_ok(store, session, &s, "ALGO=a\"b;K=00", 77);
    return store;
}

static mt_status keep_id(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    *(int64_t *)context = row->id;
    return MT_OK;
}

static int64_t winner_of(mt_store *store)
{
    int64_t id = 0;
    ck_ok(mt_query_best(store, NULL, keep_id, &id, &fixture_err));
    return id;
}

static void round_trip(const char *extension, bool with_samples)
{
    char first[192], second[192];
    mt_store *store = make_store(), *other = open_memory();
    mt_filter filter = {.with_samples = with_samples}, back = {.origin = &recorded, .with_samples = with_samples};
    if (with_samples) { /* as from a tuned space; without: as an older recording */
        mt_subject subject = fixture_subject(store);
        ck_ok(mt_store_comparison_point(store, &subject, "default", "ALGO=a\"b;K=00", &fixture_err));
        ck_ok(mt_store_comparison_point(store, &subject, "baseline", "ALGO=never;K=1", &fixture_err));
    }
    snprintf(first, sizeof first, "%s/a%s", fixture_folder, extension);
    snprintf(second, sizeof second, "%s/b%s", fixture_folder, extension);
    ck_ok(mt_recording_export(store, &filter, first, &fixture_err));
    ck_ok(import_file(other, first, recorded));
    ck_assert_int_eq(rows_in(other), MT_OUTCOME_KIND_COUNT);
    ck_ok(fixture_check(other, &fixture_err));
    double standard, baseline;
    size_t known;
    ck_ok(mt_query_comparison_points(other, winner_of(other), &standard, &baseline, &known, &fixture_err));
    ck_assert_uint_eq(known, with_samples ? 2 : 0);
    ck_assert(isnan(baseline) && (with_samples ? standard == 77 : isnan(standard)));
    ck_ok(mt_recording_export(other, &back, second, &fixture_err));
    char command[400];
    snprintf(command, sizeof command, "cmp '%s' '%s'", first, second);
    ck_assert_int_eq(system(command), 0);
    ck_ok(import_file(other, first, recorded)); /* the same file again: no row more */
    ck_assert_int_eq(rows_in(other), MT_OUTCOME_KIND_COUNT);
    ck_ok(import_file(other, first, MT_ORIGIN_IMPORTED));
    ck_assert_int_eq(rows_in(other), 2 * MT_OUTCOME_KIND_COUNT);
    mt_store_close(store);
    mt_store_close(other);
}

START_TEST(round_trips)
{
    round_trip(".jsonl", false);
    fixture_teardown();
    fixture_setup();
    round_trip(".jsonl", true);
    fixture_teardown();
    fixture_setup();
    round_trip(".jsonl.zst", true);
    read_bytes(in_folder("a.jsonl.zst"));
    ck_assert_mem_eq(bytes, "\x28\xb5\x2f\xfd", 4);
}
END_TEST

/* The kernel's programs travel with a recording; a file never replaces those that are stored. */
START_TEST(programs_survive)
{
    static const char has[] = "SELECT count(*) FROM kernel WHERE spec_json = '{\"format\":1,\"launch\":[\"$N 8 ceil_div\"]}'";
    const char *path = in_folder("p.jsonl");
    mt_store *store = make_store();
    ck_ok(mt_recording_export(store, NULL, path, &fixture_err));
    mt_store_close(store);
    read_bytes(path);
    ck_assert_ptr_nonnull(strstr(bytes, "\"spec\":{\"format\":1,\"launch\":[\"$N 8 ceil_div\"]}}"));
    ck_assert_int_eq(unlink(fixture_db), 0);
    store = fixture_open();
    char *at = strstr(bytes, "\"format\":1,\"launch\""), *bare = mt_strdup(bytes);
    size_t length_of_spec = strlen("\"format\":1,\"launch\":[\"$N 8 ceil_div\"]"), from = (size_t)(at - bytes);
    memmove(bare + from, bare + from + length_of_spec, strlen(bare + from + length_of_spec) + 1);
    ck_ok(import_text(store, bare)); /* "spec":{} */
    ck_assert_int_eq(fixture_number(has), 0);
    ck_ok(import_text(store, bytes));
    ck_assert_int_eq(fixture_number(has), 1);
    ck_ok(mt_recording_import_bytes(store, bare, strlen(bare), "x.jsonl", MT_ORIGIN_IMPORTED, NULL, &fixture_err));
    ck_assert_int_eq(fixture_number(has), 1);
    strstr(at, "launch")[0] = 'L'; /* other programs */
    ck_ok(import_text(store, bytes));
    ck_assert_int_eq(fixture_number(has), 1);
    mt_free(bare);
    mt_store_close(store);
}
END_TEST

static mt_status see_values(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)err;
    int *seen = context;
    const mt_outcome *o = &row->outcome;
    ck_assert_int_eq(row->origin, MT_ORIGIN_RECORDED);
    ck_assert_str_eq(row->gpu_name, "NVIDIA H100 80GB HBM3");
    ck_assert_str_eq(row->shape_key, "N=48;dtype=f16");
    if (strcmp(row->variant, "ALGO=a\"b;K=01") == 0) {
        ck_assert_str_eq(o->text, "</script>\x01\"\\\t € \xEF\xBF\xBD <b>");
        ck_assert_int_eq(row->nvrtc_version, 12080);
        ck_assert_str_eq(row->arch, "sm_90");
        ++*seen;
    } else {
        ck_assert_int_eq(row->nvrtc_version, 13000);
    }
    if (strcmp(row->variant, "ALGO=a\"b;K=00") == 0) {
        ck_assert_double_eq(o->timing.median_ns, 77); /* the newest row */
        ck_assert_str_eq(row->launch_json, "{\"launches\":[{\"grid\":[1,2,3],\"cluster\":[2,1,1]}]}");
        ck_assert_double_eq(row->model_flops, 1.4212915200e10);
        ck_assert_double_nan(row->model_dram_bytes);
        ck_assert_double_nan(o->accuracy.worst_value);
        ck_assert(isinf(o->accuracy.worst_reference));
        ck_assert_int_eq(o->resources.carveout_percent, -1);
        ck_assert_uint_eq(o->accuracy.worst_index, 123456789012);
        ++*seen;
    }
    if (o->kind == MT_OUTCOME_CENSORED) {
        ck_assert_double_eq_tol(o->timing.stddev_ns, 1.0 / 3, 1e-9);
        ck_assert_float_eq(o->sample_ns[0], 1.0f / 3);
        ck_assert_float_eq(o->sample_ns[2], 3e-12f);
        ++*seen;
    }
    return MT_OK;
}

START_TEST(values_survive)
{
    mt_store *store = make_store(), *other = open_memory();
    const char *path = in_folder("a.jsonl.zst");
    mt_filter filter = {.with_samples = true};
    ck_ok(mt_recording_export(store, &filter, path, &fixture_err));
    ck_ok(import_file(other, path, recorded));
    int seen = 0, best = 0;
    ck_ok(mt_query_measurements(other, &filter, see_values, &seen, &fixture_err));
    ck_assert_int_eq(seen, 3);
    ck_ok(mt_query_best(other, NULL, count_row, &best, &fixture_err));
    ck_assert_int_eq(best, 1); /* winners are there at once */
    mt_store_close(store);
    mt_store_close(other);
}
END_TEST

START_TEST(export_wants_one_subject)
{
    const char *path = in_folder("a.jsonl");
    mt_store *store = make_store();
    mt_filter none = {.shape = "no such"};
    ck_fails(mt_recording_export(store, &none, path, &fixture_err), MT_ERR_NOTHING_VALID, "h100-sxm|cc90|sm132|80g, msda (00112233), shape N=48");
    mt_subject warm = fixture_subject(store);
    warm.l2 = MT_L2_WARM;
    mt_outcome o = fixture_outcome(MT_OUTCOME_OK, 5);
    o.timing.l2 = MT_L2_WARM;
    fixture_put(store, fixture_session(store), &warm, "A=1", &o);
    ck_fails(mt_recording_export(store, NULL, path, &fixture_err), MT_ERR_USAGE, "warm, measured: 1 row");
    ck_assert_ptr_null(strstr(fixture_err.message, "1 rows"));
    ck_assert(!mt_file_exists(path));
    mt_l2 cold = MT_L2_COLD;
    mt_filter filter = {.l2 = &cold};
    ck_ok(mt_recording_export(store, &filter, path, &fixture_err));
    ck_fails(mt_recording_export(store, &filter, "/no/such/folder/a.jsonl", &fixture_err), MT_ERR_NOT_FOUND, "/no/such/folder");
    mt_store_close(store);
    mt_store *empty = open_memory();
    ck_fails(mt_recording_export(empty, NULL, path, &fixture_err), MT_ERR_NOTHING_VALID, "nothing");
    mt_store_close(empty);
}
END_TEST

#define HEADER_WITH(version, spec)                                                                                                        \
    "{\"format\":\"msda-tune recording\",\"version\":" version ",\"gpu\":{\"key\":\"g|x\",\"name\":\"G\",\"facts\":{}},\"kernel\":{\"name\":\"k\"," \
    "\"key\":\"ff\"" spec "},\"shape\":{\"name\":\"s\",\"key\":\"N=1\"},\"workload\":{\"name\":\"w\",\"key\":\"\"},\"regime\":"        \
    "\"cold\",\"toolchain\":{\"nvrtc\":13000,\"driver\":13000,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":5}\n"
#define HEADER_OF(version) HEADER_WITH(version, ",\"spec\":{}")
#define HEADER HEADER_OF("1")

#define OTHER_HEADER                                                                                                                      \
    "{\"format\":\"msda-tune recording\",\"version\":1,\"gpu\":{\"key\":\"h|x\",\"name\":\"H\",\"facts\":{}},\"kernel\":{\"name\":\"k\"," \
    "\"key\":\"ff\",\"spec\":{}},\"shape\":{\"name\":\"s\",\"key\":\"N=1\"},\"workload\":{\"name\":\"w\",\"key\":\"\"},\"regime\":"        \
    "\"cold\",\"toolchain\":{\"nvrtc\":13000,\"driver\":13000,\"arch\":\"sm_90a\"},\"recorded_unix_ms\":5}\n"

START_TEST(refusals_name_the_line)
{
    static const struct {
        const char *text, *part;
    } cases[] = {{"", "x.jsonl: is empty"},
                 {"\n\n", "x.jsonl: is empty"},
                 {"hello\n", "x.jsonl:1: is not a JSON object; expected a recording of msda-tune"},
                 {"SQLite format 3\xff\n", "x.jsonl:1: is an SQLite database, not a file of text: 'msda-tune merge"},
                 {"[1]\n", "x.jsonl:1: is not a JSON object"},
                 {"{\"format\":\"other\"}\n", "x.jsonl:1: is not an msda-tune recording; expected a recording of msda-tune (JSON lines, the first with \"format\"), a Kernel Tuner cache"},
                 {"{\"format\":\"msda-tune recording\",\"version\":3}\n", "format version 3"},
                 {"{\"format\":\"msda-tune recording\",\"version\":\"1\"}\n", "x.jsonl:1: expected a whole number"},
                 {"{\"format\":\"msda-tune recording\",\"version\":1}\n", "x.jsonl:1: expected a text in \"gpu.key\""}};
    mt_store *store = open_memory();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_fails(import_text(store, cases[i].text), i == 6 ? MT_ERR_UNSUPPORTED : MT_ERR_SYNTAX, cases[i].part);
        ck_assert_int_eq(rows_in(store), 0);
    }
    mt_store_close(store);
}
END_TEST

/* A line that is none of a recording is left out and named, and the sound ones are there: of its own subject, where it is known that it was no line 1, and of others. */
START_TEST(bad_lines_are_left_out)
{
    static const struct {
        const char *text, *part;
        int rows; /* of the two that come behind it: of the same subject, and of another */
    } cases[] = {{HEADER "{\"v\":\"A=1\"\n", "x.jsonl:2: is left out: begins a JSON object that does not end on its line: is the file cut short, or written over several lines?", 2},
                 {HEADER "{\"v\":}\n", "x.jsonl:2: is left out: is not a JSON object, or a damaged one", 2},
                 {HEADER "{\"v\":0,\"k\":\"ok\",\"ns\":5}\n", "x.jsonl:2: is left out: expected a text in \"v\", found \"0\"", 2},
                 {HEADER "{\"v\":\"A\\u0000B\",\"k\":\"ok\"}\n", "x.jsonl:2: is left out: holds a NUL", 2},
                 {HEADER "{\"v\":\"Y=1\",\"k\":\"ok\",\"ns\":5}\n{\"v\":\"Y=1\",\"k\":\"ok\",\"ns\":4}\n", "x.jsonl:3: is left out: a variant must be given once, and this one was before: Y=1", 3},
                 {HEADER_OF("2") "{\"v\":false,\"k\":\"ok\",\"ns\":5}\n", "x.jsonl:2: is left out: no variant has this number yet", 2},
                 {HEADER_OF("2") "{\"v\":-1,\"k\":\"ok\",\"ns\":5}\n", "x.jsonl:2: is left out: expected a whole number, zero or more, in \"v\"", 2},
                 {HEADER "{\"v\":\"\xff\",\"k\":\"ok\",\"ns\":5}\n", "x.jsonl:2: is left out: byte 7 is not UTF-8", 2},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":NaN}\n", "x.jsonl:2: is left out: is not a JSON object, or a damaged one", 2},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"flops\":\"x\"}\n", "x.jsonl:2: is left out: expected a number in \"flops\", found \"x\"", 2},
                 {HEADER "{}\n", "x.jsonl:2: is left out: expected a text in \"v\", found nothing", 2},
                 {HEADER "hello\n", "x.jsonl:2: is left out: is not a JSON object", 2},
                 /* what may have been a line 1 */
                 {HEADER "{\"gpu\":{\"key\":\"g\"},\"kernel\":\n", "x.jsonl:2: is left out: begins a JSON object that does not end", 1},
                 {HEADER "{\"forma", "x.jsonl:2: is left out: is not a JSON object, or a damaged one", 1}, /* its line end is gone too */
                 {HEADER "{\"v\":\"A=1\",\"k\":{\"format\":\"msda-tune recording\",\"version\":1}\n", "x.jsonl:2: is left out: is not a JSON object, or a damaged one", 1},
                 {HEADER "{\"format\":\"msda-tune recording\",\"version\":1}\n", "x.jsonl:2: is left out: expected a text in \"gpu.key\"", 1},
                 {HEADER "{\"format\":\"\xff\"}\n", "x.jsonl:2: is left out: byte 12 is not UTF-8", 1},
                 {"{\"format\":\"msda-tune recording\",\"version\":1}\n", "x.jsonl:1: is left out: expected a text in \"gpu.key\"", 1},
                 {"hello\n", "x.jsonl:1: is left out: is not a JSON object", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *store = open_memory();
        char text[4096];
        int64_t left_out = 0;
        int bytes_of_text = snprintf(text, sizeof text, "%s{\"v\":\"Z=1\",\"k\":\"ok\",\"ns\":5}\n" OTHER_HEADER "{\"v\":\"Z=1\",\"k\":\"ok\",\"ns\":6}\n", cases[i].text);
        fixture_stderr_begin();
        mt_status st = mt_recording_import_bytes(store, text, (size_t)bytes_of_text, "x.jsonl", recorded, &left_out, &fixture_err);
        const char *said = fixture_stderr_end();
        ck_assert_msg(st == MT_OK, "%s: %s", cases[i].text, fixture_err.message);
        ck_assert_msg(strstr(said, cases[i].part) != NULL, "no \"%s\" in: %s", cases[i].part, said);
        ck_assert_msg(rows_in(store) == cases[i].rows, "%s: %d rows", cases[i].text, (int)rows_in(store));
        ck_assert_msg(left_out == (cases[i].rows == 1 && cases[i].text[strlen(cases[i].text) - 1] == '\n' ? 2 : 1), "%s: %d left out", cases[i].text, (int)left_out);
        mt_store_close(store);
    }
}
END_TEST

/* Of a line 1 the members that the rows can do without are left out alone; in the first line of the file, too. */
START_TEST(bad_members_of_line_1)
{
    static const char header[] = HEADER;
    static const struct { const char *member, *bad, *part; } cases[] = {
        {"\"name\":\"G\"", "\"name\":7", "x.jsonl:1: is left out: \"gpu.name\": name is 7; expected a text"},
        {"\"facts\":{}", "\"facts\":[]", "x.jsonl:1: is left out: \"gpu.facts\": facts_json is NULL; expected a JSON object of whole numbers"},
        {"\"facts\":{}", "\"facts\":{\"cc\":\"90\"}", "x.jsonl:1: is left out: \"gpu.facts\": facts_json is \"{"},
        {"\"spec\":{}", "\"spec\":7", "x.jsonl:1: is left out: \"kernel.spec\": spec_json is NULL"},
        {"\"spec\":{}", "\"spec\":{\"format\":1,\"shape\":7}", "x.jsonl:1: is left out: spec_json: a list is no list"},
        {"\"name\":\"s\"", "\"name\":null", "x.jsonl:1: is left out: \"shape.name\""},
        {"\"name\":\"w\"", "\"name\":null", "x.jsonl:1: is left out: \"workload.name\""},
        {"\"nvrtc\":13000", "\"nvrtc\":-1", "x.jsonl:1: is left out: \"toolchain.nvrtc\": nvrtc_version is -1; expected a version number"},
        {"\"arch\":\"sm_90a\"", "\"arch\":5", "x.jsonl:1: is left out: \"toolchain.arch\": arch is 5"},
        {"\"recorded_unix_ms\":5", "\"recorded_unix_ms\":\"today\"", "x.jsonl:1: is left out: \"recorded_unix_ms\""},
        {"\"recorded_unix_ms\":5", "\"recorded_unix_ms\":5,\"default\":7", "x.jsonl:1: is left out: \"default\": text is 7; expected knobs"},
        {"\"recorded_unix_ms\":5", "\"recorded_unix_ms\":5,\"final\":7", "x.jsonl:1: is left out: expected an object in \"final\""},
        {"\"recorded_unix_ms\":5", "\"recorded_unix_ms\":5,\"final\":{\"method\":\"intervals\",\"rounds\":0,\"confidence\":0.95,\"objective\":\"time\",\"rows\":[{\"v\":\"Z=1\",\"ns\":50000,\"lo\":50000,\"hi\":50000,\"r\":1,\"rl\":1,\"rh\":1,\"tied\":1,\"picked\":1}]}",
         "x.jsonl:1: is left out: \"final\": its finalist has a median_ns that its measurement contradicts"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *store = open_memory();
        const char *at = strstr(header, cases[i].member);
        char text[4096];
        int64_t left_out = 0;
        ck_assert_ptr_nonnull(at);
        int count = snprintf(text, sizeof text, "%.*s%s%s{\"v\":\"Z=1\",\"k\":\"ok\",\"ns\":5}\n", (int)(at - header), header, cases[i].bad, at + strlen(cases[i].member));
        fixture_stderr_begin();
        mt_status st = mt_recording_import_bytes(store, text, (size_t)count, "x.jsonl", recorded, &left_out, &fixture_err);
        const char *said = fixture_stderr_end();
        ck_assert_msg(st == MT_OK && rows_in(store) == 1 && left_out == 1, "%s: %s", cases[i].bad, st == MT_OK ? said : fixture_err.message);
        ck_assert_msg(strstr(said, cases[i].part) != NULL, "no %s in: %s", cases[i].part, said);
        mt_store_close(store);
    }
}
END_TEST

/* Where a line is lost that may have told a variant, the numbers behind it are of none that is known: not even of the one that was counted so. */
START_TEST(numbers_behind_a_lost_line)
{
    static const char text[] = HEADER_OF("2") "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5}\n{\"v\":\"B=1\",\"k\":\"ok\n{\"v\":\"C=1\",\"k\":\"ok\",\"ns\":7}\n" HEADER_WITH("2", "")
        "{\"v\":0,\"k\":\"ok\",\"ns\":5}\n{\"v\":1,\"k\":\"ok\",\"ns\":6}\n{\"v\":2,\"k\":\"ok\",\"ns\":7}\n";
    mt_store *store = open_memory();
    int64_t left_out = 0;
    fixture_stderr_begin();
    ck_ok(mt_recording_import_bytes(store, text, sizeof text - 1, "x.jsonl", recorded, &left_out, &fixture_err));
    const char *said = fixture_stderr_end();
    ck_assert_int_eq(left_out, 3);
    ck_assert_int_eq(rows_in(store), 3);
    ck_assert_ptr_nonnull(strstr(said, "x.jsonl:7: is left out: of line 3 nobody knows whether it told a variant, so that this number is of none that is known: 1"));
    mt_store_close(store);
}
END_TEST

/* A row that holds what no tuner writes is left out and named; the others of its file are there. */
START_TEST(bad_rows_are_left_out)
{
    static const struct {
        const char *text, *part;
    } cases[] = {{HEADER "{\"v\":\"A=1\"}\n", "x.jsonl:2: is left out: expected a text in \"k\""},
                 {HEADER "\n\n{\"v\":\"A=1\",\"k\":\"fine\"}\n", "x.jsonl:4: is left out: \"k\" is an unknown outcome: fine"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\"}\n", "median_ns is "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":0}\n", "median_ns is "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":9e999}\n", "median_ns is "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":-5}\n", "median_ns is "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":true}\n", "x.jsonl:2: is left out: expected a number, found true or false, in ns"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"reg\":false}\n", "x.jsonl:2: is left out: expected a number, found true or false, in reg"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":6,\"hi\":7}\n", "x.jsonl:2: is left out: measurement: median_ns is 5; expected a time between low_ns"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":3,\"hi\":4}\n", "x.jsonl:2: is left out: measurement: median_ns is 5; expected a time between low_ns"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":6,\"hi\":4}\n", "x.jsonl:2: is left out: measurement: median_ns is 5; expected a time between low_ns"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":5}\n", "x.jsonl:2: is left out: measurement: median_ns is 5; expected a time between low_ns"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":-1,\"hi\":6}\n", "x.jsonl:2: is left out: measurement: low_ns is -1; expected a number from 0"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":5,\"hi\":9e999}\n", "expected a "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":1e17}\n", "expected a "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"mean\":-5}\n", "expected a "},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"censored\",\"ns\":5,\"lo\":6,\"hi\":7}\n", "x.jsonl:2: is left out: measurement: median_ns is 5; expected a time between low_ns"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"e\":-1}\n", "x.jsonl:2: is left out: expected a whole number, zero or more, in \"e\""},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"at\":4102444800000}\n", "x.jsonl:2: is left out: expected a time before the year 2100 in \"at\""},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":\"5\"}\n", "x.jsonl:2: is left out: \"ns\": median_ns is \"5\"; expected a time from"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":[5]}\n", "median_ns is \"[5]\"; expected a time from"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"reg\":4294967296}\n", "\"reg\": registers is 4294967296; expected a whole number from 0 to 4294967295"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"reg\":1.5}\n", "registers is 1.5; expected a whole number from 0 to"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"cubin\":\"0123456789abcdef0123456789abcdef0\"}\n", "cubin_hash"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"n\":2,\"s\":[1]}\n", "does not hold \"n\" samples"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"n\":1,\"s\":[1,2]}\n", "does not hold \"n\" samples"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"n\":1,\"s\":[\"x,\"]}\n", "does not hold \"n\" samples"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"n\":4294967295,\"s\":[1]}\n", "does not hold \"n\" samples"},
                 {HEADER_OF("2") "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5}\n" HEADER_WITH("2", "") "{\"v\":false,\"k\":\"ok\",\"ns\":5}\n", "x.jsonl:4: is left out: expected a number, found true or false, in v"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"chain\":{}}\n", "expected a whole number, zero or more, in \"chain\""},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"ns\":6}\n", "x.jsonl:2: is left out: \"ns\" is there twice in an object"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"launch\":{\"launches\":[{\"smem\":1,\"smem\":1}]}}\n", "x.jsonl:2: is left out: \"smem\" is there twice in an object"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"launch\":\"nonsense\"}\n", "x.jsonl:2: is left out: measurement: launch_json is \"nonsense\"; expected a JSON object of launches"},
                 {HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"lo\":5.000001,\"hi\":4.999999}\n", "x.jsonl:2: is left out: measurement: median_ns is 5; expected a time between low_ns"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_store *store = open_memory();
        char text[4096];
        snprintf(text, sizeof text, "%s{\"v\":\"Z=1\",\"k\":\"ok\",\"ns\":5}\n", cases[i].text);
        fixture_stderr_begin();
        mt_status st = import_text(store, text);
        const char *said = fixture_stderr_end();
        ck_assert_msg(st == MT_OK, "%s: %s", cases[i].text, fixture_err.message);
        ck_assert_msg(strstr(said, cases[i].part) != NULL, "no \"%s\" in: %s", cases[i].part, said);
        ck_assert_ptr_nonnull(strstr(said, "is left out: "));
        ck_assert_int_eq(rows_in(store), strstr(cases[i].text, "false,\"k\"") ? 2 : 1); /* a sound row before it */
        mt_store_close(store);
    }
    mt_store *store = open_memory();
    int devices = 0;
    ck_ok(import_text(store, HEADER)); /* no rows: fine */
    ck_ok(import_text(store, HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"unknown\":{}}")); /* from a later minor version; no last newline */
    ck_assert_int_eq(rows_in(store), 1);
    ck_ok(mt_query_best(store, NULL, count_row, &devices, &fixture_err));
    ck_assert_int_eq(devices, 1);
    mt_store_close(store);
}
END_TEST

/* Two subjects in one file; each has its own order, time and winner. */
START_TEST(several_subjects_in_a_file)
{
    mt_store *store = open_memory();
    int winners = 0;
    ck_ok(import_text(store, HEADER "{\"v\":\"B=1\",\"k\":\"ok\",\"ns\":5,\"at\":7}\n" OTHER_HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":6}\n"));
    ck_assert_int_eq(rows_in(store), 2);
    ck_ok(mt_query_best(store, NULL, count_row, &winners, &fixture_err));
    ck_assert_int_eq(winners, 2);
    const char *path = in_folder("both.jsonl.gz");
    ck_ok(mt_recording_export_all(store, NULL, false, path, &fixture_err));
    read_bytes(path);
    ck_assert(length > 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b);
    mt_store_close(store);
}
END_TEST

START_TEST(failed_import_leaves_the_rest)
{
    mt_store *store = open_memory();
    ck_ok(mt_store_begin(store, &fixture_err));
    ck_ok(import_text(store, HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5}\n"));
    ck_assert_int_eq(import_text(store, "{\"v\":"), MT_ERR_SYNTAX);
    ck_ok(mt_store_commit(store, &fixture_err));
    ck_assert_int_eq(rows_in(store), 1);
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

START_TEST(nul_bytes_are_refused)
{
    static const char text[] = HEADER "{\"v\":\"A\0\"}\n";
    mt_store *store = open_memory();
    fixture_stderr_begin();
    ck_ok(mt_recording_import_bytes(store, text, sizeof text - 1, "x", recorded, NULL, &fixture_err));
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "x:2: is left out: byte 8"));
    mt_store_close(store);
}
END_TEST

/* A cut of a compressed file before any of its lines is an error, as is every damaged byte that matters. */
START_TEST(damaged_compression)
{
    mt_store *store = make_store(), *other = open_memory();
    const char *path = in_folder("a.jsonl.zst");
    ck_ok(mt_recording_export(store, NULL, path, &fixture_err));
    mt_store_close(store);
    read_bytes(path);
    for (size_t cut = 0; cut + 16 < length; cut += 1 + length / 60) { /* all of it is one block */
        ck_assert_int_eq(mt_recording_import_bytes(other, bytes, cut, "cut", recorded, NULL, &fixture_err), MT_ERR_SYNTAX);
    }
    bytes[length / 2] ^= 0x10;
    ck_assert_int_eq(mt_recording_import_bytes(other, bytes, length, "flipped", recorded, NULL, &fixture_err), MT_ERR_SYNTAX);
    ck_assert_int_eq(rows_in(other), 0);
    mt_store_close(other);
}
END_TEST

/* A small file that claims gigabytes. */
START_TEST(bombs_are_refused)
{
    size_t size, count = (size_t)20 << 20;
    void *packed = NULL;
    char *text = malloc(count);
    memset(text, 'x', count);
    ck_ok(mt_lines_pack(text, count, &packed, &size, "bomb", &fixture_err));
    mt_store *store = open_memory();
    ck_fails(mt_recording_import_bytes(store, packed, size, "bomb", recorded, NULL, &fixture_err), MT_ERR_SYNTAX, "longer than 16 MiB");
    mt_free(packed);
    memset(text, '\n', count);
    ck_ok(mt_lines_pack(text, count, &packed, &size, "bomb", &fixture_err));
    size_t frames = 4; /* 80 MiB of empty lines */
    mt_lines_pretend_limit((size_t)64 << 20);
    char *many = malloc(size * frames);
    for (size_t i = 0; i < frames; i++) memcpy(many + i * size, packed, size);
    ck_fails(mt_recording_import_bytes(store, many, size * frames, "bomb", recorded, NULL, &fixture_err), MT_ERR_SYNTAX, "more than 1 GiB");
    free(many);
    mt_free(packed);
    free(text);
    mt_store_close(store);
}
END_TEST

START_TEST(missing_and_huge_files)
{
    mt_store *store = open_memory();
    ck_fails(import_file(store, in_folder("none.jsonl"), recorded), MT_ERR_NOT_FOUND, "none.jsonl");
    const char *path = in_folder("huge.jsonl");
    FILE *file = fopen(path, "w");
    ck_assert_int_eq(ftruncate(fileno(file), ((off_t)1 << 30) + 1), 0);
    fclose(file);
    ck_fails(import_file(store, path, recorded), MT_ERR_IO, "larger than");
    mt_store_close(store);
}
END_TEST

START_TEST(out_of_memory)
{
    for (size_t n = 1; n < 60; n++) {
        mt_store *store = open_memory();
        mt_alloc_fail_at(n);
        mt_status st = import_text(store, HEADER "{\"v\":\"A=1\",\"k\":\"ok\",\"ns\":5,\"n\":2,\"s\":[1,2]}\n");
        mt_alloc_fail_at(0);
        ck_assert(st == MT_OK || st == MT_ERR_NO_MEMORY);
        ck_assert_int_eq(rows_in(store), st == MT_OK);
        mt_store_close(store);
    }
}
END_TEST

FIXTURE_MAIN("recording", round_trips, programs_survive, values_survive, export_wants_one_subject, refusals_name_the_line, bad_lines_are_left_out, numbers_behind_a_lost_line, bad_rows_are_left_out, several_subjects_in_a_file, failed_import_leaves_the_rest,
             nul_bytes_are_refused, bad_members_of_line_1, damaged_compression, bombs_are_refused, missing_and_huge_files, out_of_memory)
