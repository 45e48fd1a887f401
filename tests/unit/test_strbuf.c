#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

#include <string.h>

START_TEST(adds_and_takes)
{
    mt_strbuf buf = {0};
    ck_assert_str_eq(mt_strbuf_text(&buf), "");
    mt_strbuf_add(&buf, "a");
    mt_strbuf_add_char(&buf, 'b');
    mt_strbuf_addf(&buf, "%d-%s", 12, "x");
    mt_strbuf_add_bytes(&buf, "\0z", 2);
    ck_assert_uint_eq(buf.length, 8);
    ck_assert_mem_eq(buf.text, "ab12-x\0z", 9);
    mt_strbuf_clear(&buf);
    ck_assert_str_eq(mt_strbuf_text(&buf), "");
    mt_strbuf_add(&buf, "again");
    char *text = mt_strbuf_take(&buf);
    ck_assert_str_eq(text, "again");
    ck_assert_ptr_null(buf.text);
    mt_free(text);
    text = mt_strbuf_take(&buf); /* empty: "" and not NULL */
    ck_assert_str_eq(text, "");
    mt_free(text);
}
END_TEST

START_TEST(grows_far)
{
    mt_strbuf buf = {0};
    for (int i = 0; i < 20000; i++) mt_strbuf_addf(&buf, "%05d", i);
    ck_assert_uint_eq(buf.length, 100000);
    ck_assert_int_eq(strncmp(buf.text + 5 * 12345, "12345", 5), 0);
    mt_strbuf_free(&buf);
    mt_strbuf_free(&buf);
}
END_TEST

START_TEST(failure_stays)
{
    mt_strbuf buf = {0};
    mt_strbuf_add(&buf, "kept");
    mt_alloc_fail_at(1);
    char long_text[200];
    memset(long_text, 'x', sizeof long_text);
    mt_strbuf_add_bytes(&buf, long_text, sizeof long_text);
    ck_assert(buf.failed);
    mt_strbuf_add(&buf, "more");
    ck_assert_str_eq(mt_strbuf_text(&buf), "");
    ck_assert_ptr_null(mt_strbuf_take(&buf));
    ck_assert(!buf.failed); /* taken: empty and usable again */
    mt_strbuf_add(&buf, "new");
    ck_assert_str_eq(mt_strbuf_text(&buf), "new");
    mt_strbuf_free(&buf);
}
END_TEST

static void check_json(const char *text, const char *expected)
{
    mt_strbuf buf = {0};
    mt_strbuf_add_json(&buf, text);
    ck_assert_str_eq(mt_strbuf_text(&buf), expected);
    mt_strbuf_free(&buf);
}

START_TEST(json_strings)
{
    check_json("", "\"\"");
    check_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    check_json("\n\t\r\b\f\x01\x1f", "\"\\n\\t\\r\\b\\f\\u0001\\u001f\"");
    check_json("µ→😀", "\"µ→😀\"");
    check_json("a\xff\xc0\xaf" "b", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" "b\"");
    check_json("\xe2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""); /* cut short */
}
END_TEST

/* As a file holds it: nothing that steers a terminal or turns the direction of writing gets through, and what is read of it is the same. */
START_TEST(json_values)
{
    mt_strbuf buf = {0};
    mt_strbuf_add_json_value(&buf, "{\n\t\"a\xe2\x80\xae" "b\": [1, \"\xe2\x81\xa6\x7f\xc2\x9b\x1bµ\\n\xff\"]}");
    ck_assert_str_eq(mt_strbuf_text(&buf), "{\n\t\"a\\u202eb\": [1, \"\\u2066\\u007f\\u009b\\u001bµ\\n\xEF\xBF\xBD\"]}");
    mt_strbuf_free(&buf);
}
END_TEST

UNIT_MAIN("strbuf", adds_and_takes, grows_far, failure_stays, json_strings, json_values)
