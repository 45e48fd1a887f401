#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/output/show_json.h"

#include <math.h>
#include <string.h>

START_TEST(times)
{
    char out[2 * MT_PRINT_TIME_SIZE];
    ck_assert_str_eq(mt_print_us(387240, out, sizeof out), "387.24 µs");
    ck_assert_str_eq(mt_print_us(1234, out, sizeof out), "1.234 µs");
    ck_assert_str_eq(mt_print_us(1234567, out, sizeof out), "1234.6 µs");
    ck_assert_str_eq(mt_print_us(123456789, out, sizeof out), "123457 µs");
    ck_assert_str_eq(mt_print_us(INFINITY, out, sizeof out), "-");
    ck_assert_str_eq(mt_print_interval(387240, 387000, 387740, out, sizeof out), "387.24 µs ± 0.50 µs");
    ck_assert_str_eq(mt_print_interval(387240, NAN, NAN, out, sizeof out), "387.24 µs");
    ck_assert_str_eq(mt_print_seconds(0.84, out, sizeof out), "0.8 s");
    ck_assert_str_eq(mt_print_seconds(42.7, out, sizeof out), "43 s");
    ck_assert_str_eq(mt_print_seconds(200, out, sizeof out), "3 min 20 s");
    ck_assert_str_eq(mt_print_left(15, 20, 10, 20, out), "10 s"); /* five of the fifteen were known, and cost nothing */
    ck_assert_str_eq(mt_print_left(20, 20, 10, 20, out), "");
    ck_assert_str_eq(mt_print_left(5, 20, 0, 20, out), "");
    ck_assert_str_eq(mt_print_seconds(7500, out, sizeof out), "2 h 05 min");
    ck_assert_str_eq(mt_print_seconds(INFINITY, out, sizeof out), "-");
}
END_TEST

static void cleaned(const char *text, size_t most, const char *expected)
{
    mt_strbuf buf = {0};
    mt_print_clean(&buf, text, most);
    ck_assert_str_eq(mt_strbuf_text(&buf), expected);
    mt_strbuf_free(&buf);
}

START_TEST(text_cannot_steer_the_terminal)
{
    cleaned("plain", 0, "plain");
    cleaned("\033[2J\a", 0, "?[2J?");
    cleaned("two\nlines\tand\rmore", 0, "two lines and more");
    cleaned("caf\xc3\xa9 \xff", 0, "café ?");
    cleaned("\xc2\x9b" "31m", 0, "?31m"); /* CSI as one C1 character */
    cleaned("a \xe2\x80\xae b \xe2\x81\xa6 \x85", 0, "a ? b ? ?"); /* directions of writing; a raw C1 byte */
    cleaned("a log\n \n", 0, "a log");
    cleaned("abcdef", 3, "abc…");
    cleaned("abc", 3, "abc");
    cleaned("µµµµ", 3, "µµµ…");
    cleaned(NULL, 0, "");
}
END_TEST

START_TEST(knobs)
{
    mt_strbuf buf = {0};
    mt_print_knobs(&buf, "ALGO=direct;E=;T=unsigned int;X=a=b");
    ck_assert_str_eq(mt_strbuf_text(&buf), "ALGO=direct E=\"\" T=\"unsigned int\" X=a=b");
    static const char *const same[] = {"ALGO=direct E=\"\" T=\"unsigned int\" X=a=b", "ALGO=direct;E=;T=unsigned int;X=a=b", " ALGO=direct;  E=;T=unsigned int;X=a=b;", "  ALGO=direct   E= T=\"unsigned int\" X=a=b "};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char *stored = mt_print_unlisted(same[i]);
        ck_assert_str_eq(stored, "ALGO=direct;E=;T=unsigned int;X=a=b");
        mt_free(stored);
    }
    mt_strbuf_clear(&buf);
    mt_print_knobs(&buf, "ALGO=direct;CPB=8");
    ck_assert_str_eq(mt_strbuf_text(&buf), "ALGO=direct CPB=8");
    mt_strbuf_free(&buf);
}
END_TEST

START_TEST(tables_align)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    mt_table table = {.columns = 3, .right = "lrl"};
    static const char *const cells[] = {"name", "µs", "last", "a", "12.5", "x", "longer", "3", ""};
    for (size_t i = 0; i < 9; i++) mt_table_cell(&table, cells[i]);
    mt_table_print(&table, out, "> ");
    fclose(out);
    ck_assert_str_eq(text, "> name      µs  last\n> a       12.5  x\n> longer     3  \n");
    mt_table_free(&table);
    free(text);
}
END_TEST

START_TEST(a_row_as_json)
{
    mt_measurement_row row = {.gpu_key = "h100", .gpu_name = "a \"name\"\n", .kernel = "k", .kernel_key = "0123", .shape = "s", .shape_key = "N=1",
                              .workload = "w", .workload_key = "", .variant = "ALGO=direct;CPB=8;E=;Q=\"", .origin = MT_ORIGIN_RECORDED, .model_floor_ns = NAN};
    row.outcome.kind = MT_OUTCOME_OK;
    row.outcome.timing.median_ns = 387240;
    mt_strbuf out = {0};
    mt_show_json_row(&out, &row, &(mt_kernel_terms){0}, NULL);
    const char *text = mt_strbuf_text(&out);
    ck_assert_ptr_nonnull(strstr(text, "\"gpu_name\":\"a \\\"name\\\"\\n\""));
    ck_assert_ptr_nonnull(strstr(text, "\"median_us\":387.24"));
    ck_assert_ptr_nonnull(strstr(text, "\"knobs\":{\"ALGO\":\"direct\",\"CPB\":8,\"E\":\"\",\"Q\":\"\\\"\"}"));
    ck_assert_ptr_nonnull(strstr(text, "\"model_floor_us\":null"));
    ck_assert_ptr_nonnull(strstr(text, "\"validated\":null"));
    ck_assert_ptr_nonnull(strstr(text, "\"origin\":\"recorded\""));
    ck_assert_ptr_nonnull(strstr(text, "\"launch\":null}"));
    mt_strbuf_free(&out);
}
END_TEST

START_TEST(energies)
{
    char text[MT_PRINT_ENERGY_SIZE];
    ck_assert_str_eq(mt_print_energy(250.5, 1.5, text, sizeof text), "250.50 µJ ± 1.5 µJ");
    ck_assert_str_eq(mt_print_energy(12345, 20, text, sizeof text), "12.35 mJ ± 0.02 mJ");
    ck_assert_str_eq(mt_print_energy(3.5e6, 1e4, text, sizeof text), "3.500 J ± 0.01 J");
    ck_assert_str_eq(mt_print_energy(NAN, 1, text, sizeof text), "-");
}
END_TEST

UNIT_MAIN("print", energies, times, text_cannot_steer_the_terminal, knobs, tables_align, a_row_as_json)
