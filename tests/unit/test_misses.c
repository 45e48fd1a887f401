/* Reading misses: sums, order, lines that are none, GPUs whose facts are not all known. What is read was written by the library (test_tunelookup_misses.c). */
#include "db/exchange/misses.h"

#include "tests/unit/lookup_fixture.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"

static char misses_path[160];

static void write_file(const char *text)
{
    snprintf(misses_path, sizeof misses_path, "%s/misses.jsonl", fixture_folder);
    FILE *file = fopen(misses_path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void count_skipped(void *context, const char *message)
{
    ck_assert_ptr_nonnull(strstr(message, "misses.jsonl:"));
    ++*(int *)context;
}

#define START "{\"kernel\":\"toy\",\"gpu\":\"g|cc90|sm1|1g\","

START_TEST(sums)
{
    mt_misses misses;
    int skipped = 0;
    write_file(START "\"shape\":{\"N\":1,\"H\":[3]},\"count\":2,\"unix_ms\":10}\n"
               START "\"shape\":{\"N\":2,\"H\":[3,4]},\"count\":4,\"unix_ms\":11}\r\n\n"
               START "\"workload\":\"a\",\"shape\":{\"H\":[3],\"N\":1},\"count\":9223372036854775806,\"unix_ms\":7}\n"
               START "\"workload\":\"a\",\"shape\":{\"H\":[3],\"N\":1},\"count\":1}\n"
               START "\"workload\":\"b\",\"shape\":{\"H\":[3],\"N\":1},\"count\":1,\"more\":{\"deep\":[]}}");
    ck_ok(mt_misses_read(misses_path, count_skipped, &skipped, &misses, &fixture_err));
    ck_assert_int_eq(skipped, 0);
    ck_assert_uint_eq(misses.count, 2);
    const mt_miss *first = &misses.items[0];
    ck_assert_str_eq(first->shape_key, "H=3,;N=1");
    ck_assert_int_eq(first->count, INT64_MAX);
    ck_assert_int_eq(first->newest_unix_ms, 10);
    ck_assert_int_eq(first->line, 1);
    ck_assert(first->wants_default);
    ck_assert_str_eq(first->workloads, "a, b");
    ck_assert_str_eq(misses.items[1].shape_key, "H=3,4;N=2");
    mt_misses_free(&misses);
}
END_TEST

START_TEST(hostile_lines)
{
    static const char *const lines[] = {
        "[]", "1", "nonsense", "{", "{\"kernel\":\"toy\"}", START "\"count\":1}", START "\"shape\":[1],\"count\":1}", START "\"shape\":{},\"count\":1}",
        START "\"shape\":{\"N\":1.5},\"count\":1}", START "\"shape\":{\"N\":null},\"count\":1}", START "\"shape\":{\"N\":{\"M\":1}},\"count\":1}",
        START "\"shape\":{\"N\":[1,\"x\"]},\"count\":1}", START "\"shape\":{\"N\":[]},\"count\":1}", START "\"shape\":{\"N\":[[1]]},\"count\":1}",
        START "\"shape\":{\"N;M\":1},\"count\":1}", START "\"shape\":{\"N\":\"a b\"},\"count\":1}", START "\"shape\":{\"N\":1},\"count\":-3}",
        START "\"shape\":{\"N\":1},\"count\":\"many\"}", START "\"shape\":{\"N\":1},\"count\":1e30}", START "\"shape\":{\"N\":1,\"N\":2},\"count\":1}",
        START "\"workload\":\"x\\ny\",\"shape\":{\"N\":1},\"count\":1}", "{\"kernel\":\"\\u001b[31m\",\"gpu\":\"g\",\"shape\":{\"N\":1},\"count\":1}",
        "{\"kernel\":3,\"gpu\":\"g\",\"shape\":{\"N\":1},\"count\":1}", "{\"kernel\":\"toy\",\"gpu\":null,\"shape\":{\"N\":1},\"count\":1}", "\xff\xfe",
    };
    enum { COUNT = sizeof lines / sizeof *lines };
    mt_misses misses;
    mt_strbuf text = {0};
    int skipped = 0;
    for (int i = 0; i < COUNT; i++) mt_strbuf_addf(&text, "%s\n", lines[i]);
    for (int i = 0; i < 70000; i++) mt_strbuf_add_char(&text, '[');
    mt_strbuf_add(&text, "\n" START "\"shape\":{\"N\":1},\"count\":1}\n");
    write_file(mt_strbuf_text(&text));
    ck_ok(mt_misses_read(misses_path, count_skipped, &skipped, &misses, &fixture_err));
    ck_assert_int_eq(skipped, 20 + 1); /* the first ones, and how many more there are */
    ck_assert_int_eq(misses.skipped, COUNT + 1);
    ck_assert_uint_eq(misses.count, 1);
    mt_misses_free(&misses);
    mt_strbuf_free(&text);
}
END_TEST

/* What the library writes is what is read. */
START_TEST(as_the_library_writes)
{
    tunelookup_db *db;
    tunelookup_plan *plan;
    tunelookup_result r;
    mt_misses misses;
    int skipped = 0;
    lookup_one_row();
    write_file("");
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_COUNT_MISSES, &db));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
    for (int64_t i = 0; i < 3000; i++) ck_lookup(tunelookup_find(plan, (const int64_t[]){ 100000 + (i < 5 ? 0 : i), 3, 5 }, &r));
    ck_lookup(tunelookup_flush_misses(db, misses_path));
    tunelookup_close(db);
    ck_ok(mt_misses_read(misses_path, count_skipped, &skipped, &misses, &fixture_err));
    ck_assert_int_eq(skipped, 0);
    ck_assert_int_gt(misses.dropped, 0);
    ck_assert_str_eq(misses.items[0].shape_key, "H=3,5;N=100000;dtype=f16");
    ck_assert_int_eq(misses.items[0].count, 5);
    ck_assert_str_eq(misses.items[0].kernel, "toy");
    ck_assert(mt_miss_fits_gpu(misses.items[0].gpu, lookup_gpu_key));
    mt_misses_free(&misses);
}
END_TEST

START_TEST(gpus)
{
    static const struct { const char *gpu; bool fits; } cases[] = {
        {"h100-sxm|cc90|sm132|80g", true}, {"h100-sxm|cc90|sm0|0g", true}, {"h100-sxm|cc90|sm132|0g", true}, {"h100-sxm|cc90|sm114|80g", false},
        {"h100-sxm|cc90|sm0|94g", false}, {"h100|cc90|sm132|80g", false}, {"h100-sxm|cc90", false}, {"h100-sxm|cc90|sm132|80g|max-q", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) ck_assert_msg(mt_miss_fits_gpu(cases[i].gpu, "h100-sxm|cc90|sm132|80g") == cases[i].fits, "%s", cases[i].gpu);
}
END_TEST

START_TEST(files)
{
    mt_misses misses;
    char path[160];
    snprintf(path, sizeof path, "%s/nowhere", fixture_folder);
    ck_fails(mt_misses_read(path, NULL, NULL, &misses, &fixture_err), MT_ERR_NOT_FOUND, path);
    ck_fails(mt_misses_read(fixture_folder, NULL, NULL, &misses, &fixture_err), MT_ERR_IO, fixture_folder);
}
END_TEST

/* One shape of many workloads, each told twice: some are named, all are counted, and ten times the lines take about ten times as long. */
static int64_t cpu_ns_of(int workloads)
{
    mt_misses misses;
    mt_strbuf text = {0};
    int skipped = 0;
    for (int i = 0; i < 2 * workloads; i++) mt_strbuf_addf(&text, START "\"workload\":\"w%d\",\"shape\":{\"N\":1},\"count\":1}\n", i % workloads);
    write_file(mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    int64_t start = mt_clock_thread_cpu_ns();
    ck_ok(mt_misses_read(misses_path, count_skipped, &skipped, &misses, &fixture_err));
    int64_t ns = mt_clock_thread_cpu_ns() - start;
    ck_assert_uint_eq(misses.count, 1);
    ck_assert_int_eq(misses.items[0].count, 2 * workloads);
    ck_assert_int_eq(strncmp(misses.items[0].workloads, "w0, w1, w2, ", 12), 0);
    size_t told = 1;
    for (const char *at = misses.items[0].workloads; *at; at++) told += *at == ',';
    ck_assert_uint_eq(told, 64);
    mt_misses_free(&misses);
    return ns;
}

START_TEST(many_workloads_take_linear_time)
{
    int64_t few = cpu_ns_of(2000), many = cpu_ns_of(20000);
    ck_assert_msg(many < 40 * few, "%lld ns for 2000 workloads, %lld ns for 20000", (long long)few, (long long)many);
}
END_TEST

FIXTURE_MAIN("misses", many_workloads_take_linear_time, sums, hostile_lines, as_the_library_writes, gpus, files)
