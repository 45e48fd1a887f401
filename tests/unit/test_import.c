/* Kernel Tuner caches and T4 files: the same rows from both, every refusal with file, line and entry. */
#include "tests/unit/store_fixture.h"

#include "db/exchange/gzip.h"
#include "db/exchange/recording/import.h"
#include "db/exchange/recording/recording.h"
#include "db/exchange/recording/t4.h"
#include "tuner/base/file.h"

#define DATA TEST_DATA_DIR "/kernel_tuner/"
#define KNOBS "\"tune_params_keys\":[\"a\",\"b\"],\"tune_params\":{\"a\":[1,2],\"b\":[1,2]},"
#define ENTRY "\"1,2\":{\"a\":1,\"b\":2,\"time\":1.5}"
#define T4_RESULT(configuration, more) "{\"configuration\":" configuration ",\"times\":{\"runtimes\":[1,2,3]}," more "\"correctness\":1}"

static mt_import *import;
static mt_strbuf lines, space;

static void clear(void)
{
    mt_import_close(import);
    import = NULL;
    mt_strbuf_free(&lines);
    mt_strbuf_free(&space);
}

static mt_status open_text(const char *text)
{
    clear();
    return mt_import_open_bytes(text, strlen(text), "x.json", &import, &fixture_err);
}

/* Opens and makes both texts. */
static void convert(const char *text)
{
    ck_ok(open_text(text));
    ck_ok(mt_import_lines(import, "k", &lines, &fixture_err));
    ck_ok(mt_import_space(import, "k", mt_import_describe(import)->problem, &space, &fixture_err));
}

static void convert_file(const char *name)
{
    char path[256];
    clear();
    snprintf(path, sizeof path, DATA "%s", name);
    ck_ok(mt_import_open(path, &import, &fixture_err));
    ck_ok(mt_import_lines(import, "convolution", &lines, &fixture_err));
    ck_ok(mt_import_space(import, "convolution", "4096, 4096", &space, &fixture_err));
}

#define has_line(part) ck_assert_msg(strstr(mt_strbuf_text(&lines), part) != NULL, "no %s in: %.600s", part, mt_strbuf_text(&lines))
#define has_space(part) ck_assert_msg(strstr(mt_strbuf_text(&space), part) != NULL, "no %s in: %s", part, mt_strbuf_text(&space))

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) count++;
    return count;
}

/* ---- the public data ---- */

/* T4 has no place for the time spent on benchmarking. */
static void drop_benchmark_times(char *text)
{
    char *to = text;
    for (const char *from = text; *from; *to++ = *from++) {
        if (strncmp(from, ",\"tt\":", 6) == 0) from += 6 + strspn(from + 6, "0123456789");
    }
    *to = '\0';
}

START_TEST(a_cache_and_its_t4_give_the_same_rows)
{
    convert_file("convolution_milo_A100.json.gz");
    const mt_import_about *about = mt_import_describe(import);
    ck_assert_str_eq(about->format, "Kernel Tuner cache");
    ck_assert_str_eq(about->gpu, "NVIDIA A100-PCIE-40GB");
    ck_assert_str_eq(about->kernel, "convolution_kernel");
    ck_assert_str_eq(about->problem, "4096, 4096");
    ck_assert_uint_eq(about->results, 4362);
    ck_assert(!about->is_recording && !about->is_unfinished);
    char *of_cache = mt_strbuf_take(&lines), *space_of_cache = mt_strbuf_take(&space);
    convert_file("convolution_milo_A100_T4.json.gz");
    ck_assert_str_eq(mt_import_describe(import)->format, "T4 file");
    ck_assert_ptr_null(mt_import_describe(import)->gpu);
    ck_assert_str_eq(space_of_cache, mt_strbuf_text(&space));
    drop_benchmark_times(of_cache);
    ck_assert(strcmp(of_cache, mt_strbuf_text(&lines)) == 0);
    ck_assert_uint_eq(count_of(of_cache, "\"k\":\"ok\""), 4201);
    ck_assert_uint_eq(count_of(of_cache, "\"k\":\"launch_error\",\"t\":\"RuntimeFailedConfig\""), 155);
    ck_assert_uint_eq(count_of(of_cache, "\"k\":\"compile_error\",\"t\":\"CompilationFailedConfig\""), 6);
    ck_assert_uint_eq(count_of(of_cache, "\"n\":32"), 4201);
    mt_free(of_cache);
    mt_free(space_of_cache);
    clear();
}
END_TEST

START_TEST(dedispersion)
{
    convert_file("dedispersion_milo_A100.json.gz");
    ck_assert_uint_eq(count_of(mt_strbuf_text(&lines), "\"k\":\"ok\""), 11130);
    ck_assert_str_eq(mt_import_describe(import)->problem, "25000, 2048, 1");
    has_space("[param block_size_x]\nvalues  = 1, 2, 4, 8, 16, 32\n");
    clear();
}
END_TEST

/* ---- what is read ---- */

START_TEST(times_outcomes_and_clock)
{
    convert("{\"device_name\":\"A\",\"problem_size\":100," KNOBS "\"cache\":{"
            "\"1,1\":{\"a\":1,\"b\":1,\"time\":2,\"times\":[1,2,3],\"compile_time\":5,\"verification_time\":6,\"benchmark_time\":7,\"timestamp\":\"2023-12-22 09:54:05.502007+00:00\"},"
            "\"1,2\":{\"a\":1,\"b\":2,\"time\":\"InvalidConfig\"},\"2,1\":{\"a\":2,\"b\":1,\"time\":NaN},\"2,2\":{\"a\":2,\"b\":2,\"time\":\"Strange\"}}}");
    has_line("{\"v\":\"ALGO=k;a=1;b=1\",\"k\":\"ok\",\"ns\":2000000,\"lo\":1000000,\"hi\":3000000,\"min\":1000000,\"mean\":2000000,\"sd\":1000000,\"n\":3,\"batch\":1,"
             "\"tc\":5000000,\"tv\":6000000,\"tt\":7000000,\"e\":1,\"at\":1703238845502,\"s\":[1000000,2000000,3000000]}\n");
    has_line("{\"v\":\"ALGO=k;a=1;b=2\",\"k\":\"excluded\",\"t\":\"InvalidConfig\",\"e\":2}\n");
    has_line("{\"v\":\"ALGO=k;a=2;b=1\",\"k\":\"launch_error\",\"t\":\"no time\",\"e\":3}\n");
    has_line("{\"v\":\"ALGO=k;a=2;b=2\",\"k\":\"launch_error\",\"t\":\"Strange\",\"e\":4}\n");
    ck_assert_int_eq(mt_import_describe(import)->newest_unix_ms, 0); /* the others have no date, and get none of that one's */
    has_space("[shape 100]\nproblem_size = 100,\n");
    clear();
}
END_TEST

START_TEST(values_of_every_kind)
{
    convert("{\"tune_params_keys\":[\"i\",\"f\",\"t\",\"y\",\"m\"],\"cache\":{"
            "\"a\":{\"i\":2.0,\"f\":1.5,\"t\":\"float4\",\"y\":true,\"m\":\"auto\",\"time\":\"InvalidConfig\"},"
            "\"b\":{\"i\":1,\"f\":-0.25,\"t\":\"a, b\",\"y\":false,\"m\":4,\"time\":1}}}");
    has_line("{\"v\":\"ALGO=k;f=-0.25;i=1;m=4;t=a, b;y=false\",\"k\":\"ok\",\"ns\":1000000,\"lo\":1000000,\"hi\":1000000,\"min\":1000000,\"mean\":1000000,\"batch\":1,\"e\":2}\n");
    has_line("ALGO=k;f=1.5;i=2;m=auto;t=float4;y=true");
    has_space("[param i]\nvalues  = 1, 2\n"); /* without a list in the file: in order */
    has_space("[param f]\nvalues  = \"-0.25\", \"1.5\"\n");
    has_space("[param t]\nvalues  = float4, \"a, b\"\n");
    has_space("[param y]\nvalues  = true, false\n");
    has_space("[param m]\nvalues  = auto, \"4\"\n");
    clear();
}
END_TEST

START_TEST(the_last_of_equal_configurations_counts)
{
    convert("{\"results\":[" T4_RESULT("{\"a\":1}", "\"invalidity\":\"correct\",") ",\n" T4_RESULT("{\"a\":1}", "\"invalidity\":\"timeout\",") "]}");
    ck_assert_uint_eq(count_of(mt_strbuf_text(&lines), "\n"), 1);
    has_line("\"k\":\"timeout\"");
    clear();
}
END_TEST

START_TEST(t4_units_and_measurements)
{
    convert("{\"metadata\":{\"timeunit\":\"seconds\"},\"results\":["
            "{\"configuration\":{\"a\":1},\"times\":{\"compilation_time\":2,\"runtimes\":[0.5]},\"invalidity\":\"correct\",\"correctness\":1,\"objectives\":[\"speed\"],"
            "\"measurements\":[{\"name\":\"speed\",\"value\":9},{\"name\":\"time\",\"value\":7,\"unit\":\"us\"}]},"
            "{\"configuration\":{\"a\":2},\"times\":{\"runtimes\":[1,3]},\"invalidity\":\"correct\",\"correctness\":1}]}");
    has_line("\"ns\":500000000,\"lo\":500000000,\"hi\":500000000,\"min\":500000000,\"mean\":7000,\"n\":1,\"batch\":1,\"tc\":2000000000,");
    has_line("\"ns\":2e+09,\"lo\":1e+09,\"hi\":3e+09,\"min\":1e+09,\"mean\":2e+09,");
    clear();
}
END_TEST

START_TEST(a_cache_that_was_not_closed)
{
    static const char *const ends[] = {"", ",", ",\n", "\n", ",\n\"1", ",\n\"1\"", ",\n\"1,3\":{\"a\":1,\"b\":3,\"time\":12"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char text[512];
        snprintf(text, sizeof text, "{" KNOBS "\"cache\":{" ENTRY "%s", ends[i]);
        convert(text);
        ck_assert(mt_import_describe(import)->is_unfinished);
        ck_assert_uint_eq(mt_import_describe(import)->results, 1);
    }
    clear();
}
END_TEST

START_TEST(recordings_pass_through)
{
    size_t length, size;
    void *packed;
    static const char text[] = "{\"format\":\"msda-tune recording\",\"version\":1}\n{\"v\":\"A\"}\n";
    ck_ok(open_text(text));
    ck_assert(mt_import_describe(import)->is_recording);
    ck_assert_ptr_eq(mt_import_recording(import, &length), text);
    ck_assert_uint_eq(length, sizeof text - 1);
    clear();
    ck_ok(mt_gzip_pack(text, sizeof text - 1, "x", &packed, &size, &fixture_err));
    ck_ok(mt_import_open_bytes(packed, size, "x", &import, &fixture_err));
    ck_assert_str_eq(mt_import_recording(import, &length), text);
    clear();
    mt_free(packed);
    static const char *const others[] = {"junk", "{\"v\":1}\n{\"format\":\"msda-tune recording\"}", "{\n\"format\": \"msda-tune recording\"\n}"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_ok(open_text(others[i]));
        ck_assert(mt_import_describe(import)->is_recording); /* whose reader says what is wrong */
    }
    clear();
}
END_TEST

/* ---- refusals ---- */

START_TEST(refusals_name_file_line_and_entry)
{
    static const struct { const char *text, *part; } cases[] = {
        {"{}", "x.json:1: is a JSON object of nothing; expected a recording of msda-tune"},
        {"\n[1]", "x.json:2: begins a JSON array; expected"},
        {"{\n\"meta\":\n{\"a\":1},\n\"benchmarks\":[]\n}\n", "x.json:2: is a JSON object of \"meta\", \"benchmarks\"; expected a recording of msda-tune (JSON lines, the first with \"format\"), a Kernel Tuner cache (a JSON object with \"cache\") or"},
        {"{\n\"meta\":1,\n\"benchmarks\":[1,\n", "x.json:3: is cut short inside the value that begins here; the JSON object has \"meta\", \"benchmarks\" before that, expected a rec"},
        {"{\n\"meta\":1\n\"b\":2}", "x.json:3: '\"', expected ',' or '}'; the JSON object has \"meta\" before that"},
        {"{\"me", "x.json:1: is cut short, expected the end of a member's name; the JSON object has nothing before that"},
        {"{\"format\":\"other\"}", "x.json:1: is a JSON object of \"format\"; expected"},
        {"{\"cache\":{}}", "x.json: a Kernel Tuner cache without \"tune_params_keys\""},
        {"{" KNOBS "\"cache\":{}}", "holds no result"},
        {"{" KNOBS "\"cache\":[]}", "x.json:1: '[', expected the entries of \"cache\", an object {…}"},
        {"{" KNOBS "\"cache\":{\n\"1,2\":{\"a\":1,\"b\":2,\"ti", "x.json:2: is cut short inside the value that begins here"},
        {"{" KNOBS "\"cache\":{\n\"1", "x.json:2: is cut short, expected the end of a member's name"},
        {"{" KNOBS "\"cache\":{\n\"1\"", "x.json:2: is cut short, expected ':'"},
        {"{" KNOBS "\"cache\":{" ENTRY " x", "x.json:1: 'x', expected ',' or '}'"},
        {"{" KNOBS "\"cache\":{" ENTRY "\x01", "byte 0x01"},
        {"{" KNOBS "\"cache\":{\n\n\"1,2\":{\"a\":1,\"b\":2}}}", "x.json:3: \"1,2\": has neither \"time\" nor \"times\", expected milliseconds"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"time\":1}}}", "\"1,2\": has no value of b"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":[2],\"time\":1}}}", "\"1,2\": the value of b is of type array, expected a number"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":null,\"time\":1}}}", "of type null"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":0}}}", "\"1,2\": \"time\" is 0 ms, expected more than 0 and less than 1e+10 ms"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":-1.0}}}", "\"1,2\": \"time\" is -1.0 ms, expected more than 0"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":-Infinity}}}", "\"time\" is -Infinity ms, expected more than 0"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":1,\"times\":[2,-1.50]}}}", "\"1,2\": number 2 of \"times\" is -1.50 ms, expected 0 or more and less than 1e+10 ms"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":1,\"times\":[2,1e11]}}}", "number 2 of \"times\" is 1e11 ms, expected"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":1,\"times\":[-Infinity]}}}", "number 1 of \"times\" is -Infinity, expected"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,\"b\":2,\"time\":1,\"times\":[1,\"x\"]}}}", "\"1,2\": number 2 of \"times\" is \"x\", expected 0 or more and less than 1e+10 ms"},
        {"{" KNOBS "\"cache\":{\"1,2\":[1]}}", "\"1,2\": expected a JSON object"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":1,,}}}", "\"1,2\": expected a JSON object"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":\"\xff\"}}}", "not UTF-8"},
        {"{" KNOBS "\"cache\":{\"1,2\":{\"a\":\"x\\u0000\"}}}", "NUL"},
        {"{\n\"tune_params_keys\":[\"a\"],\"cache\":{\n\"1\":{\"a\":1,\"time\":1},\n\"1\":{\"a\":1,\"time\":2}}}", ":4: \"1\" is there twice in an object"},
        {"{\"tune_params_keys\":[\"a\",\"a\"],\"cache\":{}}", "\"a\" is no name, or there twice"},
        {"{\"tune_params_keys\":5,\"cache\":{}}", "x.json:1: expected a JSON array"},
        {"{\"results\":[]}", "the T4 file holds no result"},
        {"{\"results\":{}}", "expected the \"results\" of a T4 file, an array"},
        {"{\"results\":[\n5]}", "x.json:2: expected a JSON object"},
        {"{\"results\":[\n{}]}", "x.json:2: the result has no \"configuration\""},
        {"{\"results\":[{\"configuration\":{\"a\":1}}]}", "\"invalidity\" is \"\", expected correct"},
        {"{\"results\":[" T4_RESULT("{\"a\":1}", "\"invalidity\":\"fine\",") "]}", "\"invalidity\" is \"fine\""},
        {"{\"results\":[{\"configuration\":{\"a\":1},\"invalidity\":\"correct\"}]}", "x.json:1: the result has no time"},
        {"{\"results\":[\n{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"measurements\":[{},{\"name\":\"time\",\"value\":-7.0,\"unit\":\"us\"}]}]}", "x.json:2: \"time\" is -7.0 us, expected more than 0 and less than 1e+13 us"},
        {"{\"metadata\":{\"timeunit\":\"seconds\"},\"results\":[\n{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"times\":{\"runtimes\":[-3]}}]}", "x.json:2: number 1 of \"runtimes\" is -3 s, expected 0 or more"},
        {"{\"results\":[" T4_RESULT("{\"a\":1}", "\"invalidity\":\"correct\",") "\n," T4_RESULT("{\"b\":1}", "\"invalidity\":\"correct\",") "]}", "x.json:2: the configuration has a knob b"},
        {"{\"results\":[" T4_RESULT("{\"a\":1,\"b\":1}", "\"invalidity\":\"correct\",") "\n," T4_RESULT("{\"b\":1}", "\"invalidity\":\"correct\",") "]}", "x.json:2: has no value of a"},
        {"{\"results\":[" T4_RESULT("{\"a\":1}", "\"invalidity\":\"correct\","), "is cut short, expected ',' or ']'"},
        {"{\"results\":[\n{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"measurements\":[{\"name\":\"time\",\"value\":7,\"unit\":\"weeks\"}]}]}",
         "x.json:2: the measurement \"time\" has the \"unit\" \"weeks\", expected s, ms, us or ns"},
        {"{\"results\":[\n{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"objectives\":[\"kernel_time\"],\"measurements\":[{\"name\":\"kernel_time\",\"value\":7,\"unit\":\"cycles\"}]}]}",
         "x.json:2: the measurement \"kernel_time\" has the \"unit\" \"cycles\", expected s, ms, us or ns"},
        {"{\"metadata\":{\"timeunit\":\"weeks\"},\"results\":[]}", "\"timeunit\" is \"weeks\", expected seconds"},
        {"{\"metadata\":{\"msda-tune\":{\"subjects\":[]}},\"results\":[{}]}", "has no \"msda-tune\" with \"subject\""},
        {"{\"metadata\":{\"msda-tune\":{\"subjects\":[]}},\"results\":[{\"configuration\":{\"a\":1},\"msda-tune\":{\"subject\":1,\"k\":\"ok\"}}]}", "is of subject 1, expected 0 to -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_fails(open_text(cases[i].text), MT_ERR_SYNTAX, cases[i].part);
        ck_assert_msg(strncmp(fixture_err.message, "x.json:", 7) == 0, "%s", fixture_err.message);
        ck_assert_ptr_null(import);
    }
}
END_TEST

#define CACHE(entries) "{\"tune_params_keys\":[\"a\"],\"cache\":{" entries "}}"

/* What older and other files write: failures as 1e20, objectives that are no time, lists of pairs. */
START_TEST(times_of_other_kinds)
{
    ck_ok(open_text(CACHE("\"1\":{\"a\":1,\"time\":1e20},\"2\":{\"a\":2,\"energy\":\"CompilationFailedConfig\"},\"3\":{\"a\":3,\"time\":1.5,\"times\":[[0,1],[0,2]]},"
                          "\"4\":{\"a\":4,\"time\":1.5,\"times\":[0,3]},\"5\":{\"a\":5,\"energy\":7.5,\"times\":[1,2]}")));
    ck_ok(mt_import_lines(import, "k", &lines, &fixture_err));
    static const char *const expected[] = {"\"ALGO=k;a=1\",\"k\":\"launch_error\",\"t\":\"time 1e20, which stands for a failure\"", "\"ALGO=k;a=2\",\"k\":\"compile_error\"",
        "\"s\":[1000000,2000000]", "\"ns\":3000000", "\"ALGO=k;a=5\",\"k\":\"ok\",\"ns\":1500000"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) ck_assert_msg(strstr(mt_strbuf_text(&lines), expected[i]) != NULL, "no %s in %s", expected[i], mt_strbuf_text(&lines));
    clear();
    convert(CACHE("\"1\":{\"a\":1,\"time\":1.5,\"times\":[[0,1],[0,2],[0,1.5]]},\"2\":{\"a\":2,\"time\":2.5,\"times\":[[0,0]]}"));
    has_line("\"v\":\"ALGO=k;a=1\",\"k\":\"ok\",\"ns\":1500000,\"lo\":1000000,\"hi\":2000000,\"min\":1000000,\"mean\":1500000,");
    has_line("{\"v\":\"ALGO=k;a=2\",\"k\":\"ok\",\"ns\":2500000,"); /* a time and no run that was timed: the time counts */
    ck_assert_msg(!strstr(mt_strbuf_text(&lines), "\"s\":[]"), "%s", mt_strbuf_text(&lines));
    clear();
    ck_ok(open_text("{\"results\":[{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"times\":{\"runtimes\":[2]},\"objectives\":[\"energy\"],"
                    "\"measurements\":[{\"name\":\"energy\",\"value\":9,\"unit\":\"J\"}]}]}"));
    ck_ok(mt_import_lines(import, "k", &lines, &fixture_err));
    ck_assert_msg(strstr(mt_strbuf_text(&lines), "\"ns\":2000000") != NULL, "%s", mt_strbuf_text(&lines));
    clear();
    ck_fails(open_text(CACHE("\n\"1\":{\"a\":1,\"time\":1e12}")), MT_ERR_SYNTAX, "x.json:2: \"1\": \"time\" is 1e12 ms, expected more than 0 and less than 1e+10 ms");
    ck_fails(open_text(CACHE("\n\"1\":{\"a\":1,\"energy\":2}")), MT_ERR_SYNTAX, "x.json:2: \"1\": has neither \"time\" nor \"times\"");
    ck_fails(open_text("{\"results\":[\n{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"objectives\":[\"energy\"],\"measurements\":[{\"name\":\"energy\",\"value\":9,\"unit\":\"J\"}]}]}"),
             MT_ERR_SYNTAX, "x.json:2: the result has no time: expected a measurement \"time\"");
}
END_TEST

#define T4_ENERGY(a) "{\"configuration\":{\"a\":" a "},\"invalidity\":\"correct\",\"objectives\":[\"energy\"],\"measurements\":[{\"name\":\"energy\",\"value\":9,\"unit\":\"J\"}]}"

/* A result that worked and has no time is left out and named; a file of such results alone is refused. */
START_TEST(results_without_a_time)
{
    static const struct { const char *text, *why; size_t timeless; } cases[] = {
        {CACHE("\n\"1\":{\"a\":1,\"energy\":2},\n\"2\":{\"a\":2,\"time\":1.5},\n\"3\":{\"a\":3,\"energy\":2}"), "x.json:2: \"1\": has neither \"time\" nor \"times\"", 2},
        {"{\"results\":[\n" T4_ENERGY("1") ",\n{\"configuration\":{\"a\":2},\"invalidity\":\"correct\",\"times\":{\"runtimes\":[1.5]}}\n]}", "x.json:2: the result has no time", 1},
        {CACHE("\n\"2\":{\"a\":2,\"time\":1.5}"), NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        convert(cases[i].text);
        const mt_import_about *about = mt_import_describe(import);
        ck_assert_uint_eq(about->timeless, cases[i].timeless);
        ck_assert_uint_eq(about->results, 1);
        ck_assert_msg(!about->why_timeless == !cases[i].why && (!cases[i].why || strstr(about->why_timeless, cases[i].why)), "%s", about->why_timeless);
        ck_assert_uint_eq(count_of(mt_strbuf_text(&lines), "\n"), 1);
        has_line("\"ALGO=k;a=2\",\"k\":\"ok\",\"ns\":1500000");
    }
    clear();
    ck_fails(open_text("{\"results\":[\n" T4_ENERGY("1") ",\n" T4_ENERGY("2") "]}"), MT_ERR_SYNTAX, "or \"runtimes\"; none of the 2 results has one");
}
END_TEST

/* 1e20 and Infinity stand for a failure, of a configuration or of one of its runs. */
START_TEST(marks_of_failures)
{
    convert(CACHE("\"1\":{\"a\":1,\"time\":1.5,\"times\":[1e20]},\"2\":{\"a\":2,\"time\":1.5,\"times\":[1,1e20,2]},\"3\":{\"a\":3,\"times\":[1e+20,Infinity,NaN]},\"4\":{\"a\":4,\"times\":[3,1e20]},"
                  "\"5\":{\"a\":5,\"time\":Infinity},\"6\":{\"a\":6,\"time\":1e+20},\"7\":{\"a\":7,\"time\":\"InvalidConfig\",\"times\":[1e20]}"));
    has_line("{\"v\":\"ALGO=k;a=1\",\"k\":\"launch_error\",\"t\":\"time 1e20 in all of its \\\"times\\\", which stands for a failure\"");
    has_line("\"v\":\"ALGO=k;a=2\",\"k\":\"ok\",\"ns\":1500000,\"lo\":1000000,\"hi\":2000000,\"min\":1000000,\"mean\":1500000,");
    has_line("\"s\":[1000000,2000000]");
    has_line("{\"v\":\"ALGO=k;a=3\",\"k\":\"launch_error\"");
    has_line("{\"v\":\"ALGO=k;a=4\",\"k\":\"ok\",\"ns\":3000000,");
    has_line("{\"v\":\"ALGO=k;a=5\",\"k\":\"launch_error\",\"t\":\"time Infinity, which stands for a failure\"");
    has_line("{\"v\":\"ALGO=k;a=6\",\"k\":\"launch_error\",\"t\":\"time 1e+20, which stands for a failure\"");
    has_line("{\"v\":\"ALGO=k;a=7\",\"k\":\"excluded\",\"t\":\"InvalidConfig\"");
    convert("{\"results\":[{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"times\":{\"runtimes\":[1,1e20]}},{\"configuration\":{\"a\":2},\"invalidity\":\"correct\",\"times\":{\"runtimes\":[1e20]}},"
            "{\"configuration\":{\"a\":3},\"invalidity\":\"correct\",\"measurements\":[{\"name\":\"time\",\"value\":1e20}]}]}");
    has_line("{\"v\":\"ALGO=k;a=1\",\"k\":\"ok\",\"ns\":1000000,");
    has_line("{\"v\":\"ALGO=k;a=2\",\"k\":\"launch_error\",\"t\":\"time 1e20 in all of its \\\"runtimes\\\"");
    has_line("{\"v\":\"ALGO=k;a=3\",\"k\":\"launch_error\",\"t\":\"time 1e20, which");
    clear();
}
END_TEST

/* Named where it is not what ranks here. */
START_TEST(the_objective_of_the_file)
{
#define T4_OBJECTIVE(name, measurements) "{\"results\":[{\"configuration\":{\"a\":1},\"invalidity\":\"correct\",\"times\":{\"runtimes\":[2]},\"objectives\":[\"" name "\"],\"measurements\":[" measurements "]}]}"
#define T4_VALUE(name, unit) "{\"name\":\"" name "\",\"value\":9,\"unit\":\"" unit "\"}"
    static const struct { const char *text, *objective; } cases[] = {
        {"{\"objective\":\"nvml_energy\",\"tune_params_keys\":[\"a\"],\"cache\":{\"1\":{\"a\":1,\"time\":1,\"nvml_energy\":3}}}", "nvml_energy"},
        {"{\"objective\":\"time\",\"tune_params_keys\":[\"a\"],\"cache\":{\"1\":{\"a\":1,\"time\":1}}}", NULL},
        {CACHE("\"1\":{\"a\":1,\"time\":1}"), NULL},
        {T4_OBJECTIVE("energy", T4_VALUE("energy", "J")), "energy"},
        {T4_OBJECTIVE("energy", T4_VALUE("energy", "J") "," T4_VALUE("time", "ms")), "energy"},
        {T4_OBJECTIVE("GFLOP/s", ""), "GFLOP/s"},
        {T4_OBJECTIVE("kernel_time", T4_VALUE("kernel_time", "ms")), NULL},
        {T4_OBJECTIVE("time", T4_VALUE("time", "ms")), NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_ok(open_text(cases[i].text));
        ck_assert_pstr_eq(mt_import_describe(import)->objective, cases[i].objective);
    }
    clear();
}
END_TEST

START_TEST(values_that_no_space_can_hold)
{
    static const char *const values[] = {"a;b", "a\\\"b", "a\\\\b", " a", "", "a\\nb"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"tune_params_keys\":[\"a\"],\"cache\":{\"x\":{\"a\":\"%s\",\"time\":1}}}", values[i]);
        ck_ok(open_text(text));
        ck_fails(mt_import_space(import, "k", NULL, &space, &fixture_err), MT_ERR_UNSUPPORTED, "of knob a: expected a text without");
    }
    clear();
}
END_TEST

START_TEST(names_that_would_write_lines)
{
    static const struct { const char *kernel, *part; } cases[] = {{"k\n[tune]", "kernel name 'k"}, {"../k", "kernel name '../k': expected letters"}, {"", "kernel name ''"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_ok(open_text("{\"tune_params_keys\":[\"a\"],\"cache\":{\"x\":{\"a\":1,\"time\":1}}}"));
        ck_fails(mt_import_space(import, cases[i].kernel, NULL, &space, &fixture_err), MT_ERR_UNSUPPORTED, cases[i].part);
        ck_assert_uint_eq(space.length, 0);
    }
    convert("{\"tune_params_keys\":[\"ALGO\",\"a\"],\"cache\":{\"x\":{\"ALGO\":\"one\",\"a\":1,\"time\":\"InvalidConfig\"},\"y\":{\"ALGO\":\"two\",\"a\":1,\"time\":1}}}");
    has_space("\n[algorithm two]\n\n[algorithm one]\n"); /* that of the first valid result is first */
    has_line("{\"v\":\"ALGO=two;a=1\",\"k\":\"ok\"");
    convert("{\"tune_params_keys\":[\"ALGO\"],\"cache\":{\"x\":{\"ALGO\":0,\"time\":1},\"y\":{\"ALGO\":1,\"time\":2}}}"); /* another tool's parameter, and no algorithm */
    has_space("[param ALGO_]\nvalues  = 0, 1");
    has_line("ALGO=k;ALGO_=0");
    convert("{\"tune_params_keys\":[\"a]\\n[kernel\",\"true_\",\"true\"],\"cache\":{\"x\":{\"a]\\n[kernel\":1,\"true\":3,\"true_\":2,\"time\":1}}}");
    has_line("ALGO=k;a___kernel_=1;true_=2;true__=3"); /* names of their own */
    clear();
}
END_TEST

START_TEST(out_of_memory)
{
    static const char text[] = "{\"device_name\":\"A\",\"problem_size\":[1]," KNOBS "\"cache\":{" ENTRY "}}";
    bool succeeded = false;
    for (size_t n = 1; n < 400 && !succeeded; n++) {
        clear();
        mt_alloc_fail_at(n);
        mt_status st = mt_import_open_bytes(text, sizeof text - 1, "x", &import, &fixture_err);
        if (st == MT_OK) st = mt_import_lines(import, "k", &lines, &fixture_err);
        if (st == MT_OK) st = mt_import_space(import, "k", "1", &space, &fixture_err);
        mt_alloc_fail_at(0);
        succeeded = n > 30 && st == MT_OK;
        ck_assert_msg(st == MT_OK || st == MT_ERR_NO_MEMORY, "%zu: %s", n, fixture_err.message);
    }
    ck_assert(succeeded);
    clear();
}
END_TEST

/* ---- T4 there and back ---- */

static char *export_text(mt_store *store, const mt_filter *filter, const char *name)
{
    char path[192], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    ck_ok(mt_recording_export_all(store, filter, false, path, &fixture_err));
    ck_ok(mt_file_read(path, 0, &text, &length, &fixture_err));
    return text;
}

static mt_store *import_recording(const void *bytes, size_t length)
{
    mt_store *store = NULL;
    ck_ok(mt_store_open(":memory:", MT_STORE_READ_WRITE, &store, &fixture_err));
    ck_ok(mt_recording_import_bytes(store, bytes, length, "x", MT_ORIGIN_RECORDED, NULL, &fixture_err));
    return store;
}

/* Every outcome on two GPUs. */
static mt_store *make_store(void)
{
    mt_store *store = fixture_open();
    mt_subject first = fixture_subject(store), second = fixture_subject_of(store, "b200|cc100|sm148|192g", "NVIDIA B200", "ff", "N=1", 12080, MT_ORIGIN_IMPORTED);
    int64_t session = fixture_session(store);
    float samples[3] = {1.0f / 3, 16777217.0f, 3e-12f};
    char words[] = "why \"so\" € \x01";
    for (int kind = 0; kind < MT_OUTCOME_KIND_COUNT; kind++) {
        char variant[64];
        if (mt_outcome_is_untried((mt_outcome_kind)kind)) continue; /* T4 has no word for these */
        snprintf(variant, sizeof variant, "ALGO=direct;K=%d;P=00%d;T=a b", kind, kind);
        mt_outcome o = fixture_outcome((mt_outcome_kind)kind, 1e9 / (kind + 3.0));
        o.sample_ns = samples;
        o.text = kind % 2 ? words : NULL;
        if (kind == MT_OUTCOME_EXCLUDED) strcpy(o.spec_digest, "0123abcd");
        strcpy(o.bits, kind % 3 ? "" : "0123456789abcdef"), strcpy(o.row_bits, kind % 3 ? "" : "0123456789abcdeffedcba9876543210"), strcpy(o.proposed_by, kind % 2 ? "second start" : "forest");
        fixture_put(store, session, kind % 3 ? &first : &second, variant, &o);
    }
    return store;
}

START_TEST(t4_there_and_back)
{
    char path[192];
    mt_filter with_samples = {.with_samples = true};
    size_t untried;
    mt_store *store = make_store();
    char *before = export_text(store, &with_samples, "before.jsonl");
    snprintf(path, sizeof path, "%s/x.json.gz", fixture_folder);
    ck_ok(mt_t4_export(store, NULL, path, &untried, &fixture_err));
    ck_assert_uint_eq(untried, 0);
    mt_store_close(store);
    ck_ok(mt_import_open(path, &import, &fixture_err));
    ck_assert(mt_import_describe(import)->is_recording);
    size_t length;
    const void *bytes = mt_import_recording(import, &length);
    mt_store *back = import_recording(bytes, length);
    char *after = export_text(back, &with_samples, "after.jsonl");
    ck_assert_str_eq(before, after);
    ck_assert_uint_eq(count_of(after, "{\"format\":\"msda-tune"), 2);
    ck_assert_uint_eq(count_of(after, "\"k\":"), MT_OUTCOME_KIND_COUNT - 2);
    mt_store_close(back);
    clear();
    mt_free(before);
    mt_free(after);
}
END_TEST

/* Another tool reads what T4 has words for. */
START_TEST(t4_for_other_tools)
{
    char path[192], *text;
    size_t length, untried;
    mt_store *store = fixture_open();
    mt_subject subject = fixture_subject(store);
    int64_t session = fixture_session(store);
    static const mt_outcome_kind not_run[] = {MT_OUTCOME_EXCLUDED, MT_OUTCOME_NOT_RECORDED, MT_OUTCOME_COMPILER_KILLED};
    fixture_put_ok(store, session, &subject, "ALGO=direct;K=8", 2e6);
    for (int i = 0; i < 3; i++) {
        char variant[32];
        snprintf(variant, sizeof variant, "ALGO=not_run;K=%d", i);
        fixture_put(store, session, &subject, variant, &(mt_outcome){.kind = not_run[i]});
    }
    mt_outcome bad = fixture_outcome(MT_OUTCOME_OUT_OF_BOUNDS, NAN);
    fixture_put(store, session, &subject, "ALGO=direct;K=9", &bad);
    snprintf(path, sizeof path, "%s/x.json", fixture_folder);
    ck_ok(mt_t4_export(store, NULL, path, &untried, &fixture_err));
    ck_assert_uint_eq(untried, 2); /* T4 has a word for the one that a constraint excludes alone */
    mt_store_close(store);
    ck_ok(mt_file_read(path, 0, &text, &length, &fixture_err));
    ck_assert_ptr_nonnull(strstr(text, "\"schema_version\":\"1.0.0\""));
    ck_assert_ptr_nonnull(strstr(text, "\"configuration\":{\"ALGO\":\"direct\",\"K\":8},\"times\":{\"compilation_time\":190,"));
    ck_assert_ptr_nonnull(strstr(text, "\"invalidity\":\"correct\",\"correctness\":1,\"objectives\":[\"time\"],\"measurements\":[{\"name\":\"time\",\"value\":2,\"unit\":\"ms\"}]"));
    ck_assert_ptr_nonnull(strstr(text, "\"invalidity\":\"correctness\",\"correctness\":0,\"objectives\":[\"time\"],\"measurements\":[{\"name\":\"time\",\"value\":\"out_of_bounds\""));
    ck_assert_uint_eq(count_of(text, "\"invalidity\":\"constraints\""), 1);
    ck_assert_ptr_nonnull(strstr(text, "\"ALGO\":\"not_run\",\"K\":0}"));
    ck_assert_ptr_null(strstr(text, "\"ALGO\":\"not_run\",\"K\":1}"));
    mt_free(text);
}
END_TEST

static void export_t4(mt_store *store, const char *name, char path[192])
{
    size_t untried;
    snprintf(path, 192, "%s/%s", fixture_folder, name);
    ck_ok(mt_t4_export(store, NULL, path, &untried, &fixture_err));
}

/* Knobs that only some variants have, shape, cache state and yardsticks: all of it comes back under the new name. */
START_TEST(t4_under_another_name)
{
    static const char *const variants[] = {"ALGO=copy;K=8", "ALGO=direct;K=8", "ALGO=tiled;K=16;TILE=4"};
    char path[192];
    mt_filter with_samples = {.with_samples = true};
    mt_store *store = fixture_open();
    mt_subject subject = fixture_subject(store);
    int64_t session = fixture_session(store);
    for (size_t i = 0; i < 3; i++) {
        mt_outcome o = fixture_outcome(i ? MT_OUTCOME_OK : MT_OUTCOME_YARDSTICK, 2e6 + (double)i);
        fixture_put(store, session, &subject, variants[i], &o);
    }
    ck_ok(mt_store_comparison_point(store, &subject, "default", "ALGO=tiled;K=16;TILE=4", &fixture_err));
    char *before = export_text(store, &with_samples, "before.jsonl");
    export_t4(store, "x.json", path);
    mt_store_close(store);
    clear();
    ck_ok(mt_import_open_results(path, &import, &fixture_err));
    ck_assert(mt_import_describe(import)->has_line1 && !mt_import_describe(import)->is_recording);
    ck_assert_uint_eq(mt_import_describe(import)->results, 3);
    ck_ok(mt_import_space(import, "new", NULL, &space, &fixture_err));
    has_space("\n[tune]\nl2 = cold\n");
    has_space("[algorithm tiled]\n\n[algorithm copy]\nyardstick = yes\n\n[algorithm direct]\n");
    has_space("[param K]\nvalues  = 8, 16\ndefault = 16\n");
    has_space("[param TILE]\nvalues  = 4\ndefault = 4\n");
    ck_ok(mt_import_own_line1(import, &(mt_import_names){.kernel = "\"new\""}, &lines, &fixture_err));
    ck_ok(mt_import_lines(import, "new", &lines, &fixture_err));
    char *name = strstr(before, "\"kernel\":{\"name\":\"");
    ck_assert_ptr_nonnull(name);
    name += strlen("\"kernel\":{\"name\":");
    mt_strbuf expected = {0};
    mt_strbuf_add_bytes(&expected, before, (size_t)(name - before));
    mt_strbuf_add(&expected, "\"new\"");
    mt_strbuf_add(&expected, strchr(name + 1, '"') + 1);
    ck_assert_str_eq(mt_strbuf_text(&lines), mt_strbuf_text(&expected));
    mt_strbuf_free(&expected);
    mt_free(before);
    clear();
}
END_TEST

/* What would write lines of its own into the search space. */
START_TEST(t4_with_names_that_would_write_lines)
{
#define OWN(shape, key, l2) "{\"metadata\":{\"msda-tune\":{\"subjects\":[{\"format\":\"msda-tune recording\",\"shape\":{\"name\":\"" shape "\",\"key\":\"" key "\"},\"workload\":{\"name\":\"default\",\"key\":\"\"}," \
    "\"regime\":\"" l2 "\"}]}},\"results\":[{\"configuration\":{\"ALGO\":\"a\"},\"msda-tune\":{\"subject\":0,\"k\":\"ok\"}}]}"
    static const struct { const char *text, *part; } cases[] = {
        {OWN("s]\\n[kernel", "N=1", "cold"), "shape 's]\n[kernel': expected a text without"},
        {OWN("s", "N=1\\n[tune]", "cold"), "shape's key 'N=1"}, {OWN("s", "N=1", "cold\\nbudget = 1"), "cache state 'cold"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[192];
        clear();
        snprintf(path, sizeof path, "%s/own.json", fixture_folder);
        ck_ok(mt_file_write_atomic(path, cases[i].text, strlen(cases[i].text), &fixture_err));
        ck_ok(mt_import_open_results(path, &import, &fixture_err));
        ck_fails(mt_import_space(import, "k", NULL, &space, &fixture_err), MT_ERR_SYNTAX, cases[i].part);
        ck_assert_uint_eq(space.length, 0);
    }
    clear();
}
END_TEST

START_TEST(an_empty_choice_is_said)
{
    mt_store *store = make_store();
    mt_filter none = {.kernel = "nope"};
    size_t untried;
    ck_fails(mt_t4_export(store, &none, "/nowhere/x", &untried, &fixture_err), MT_ERR_NOTHING_VALID, "nothing matches this choice; there is:\n  ");
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("import", a_cache_and_its_t4_give_the_same_rows, dedispersion, times_outcomes_and_clock, values_of_every_kind, the_last_of_equal_configurations_counts, t4_units_and_measurements,
             a_cache_that_was_not_closed, recordings_pass_through, refusals_name_file_line_and_entry, times_of_other_kinds, results_without_a_time, values_that_no_space_can_hold, names_that_would_write_lines, out_of_memory, t4_there_and_back,
             t4_for_other_tools, t4_under_another_name, t4_with_names_that_would_write_lines, marks_of_failures, the_objective_of_the_file, an_empty_choice_is_said)
