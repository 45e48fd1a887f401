#include "tests/unit/unit.h"
#include "tuner/base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool parse(const char *text, int64_t *value)
{
    return mt_text_int64(text, strlen(text), value);
}

START_TEST(integers)
{
    static const struct { const char *text; int64_t value; } good[] = {
        {"0", 0}, {"-0", 0}, {"+7", 7}, {"007", 7}, {"0x10", 16}, {"-0xFf", -255}, {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN}, {"0x7fffffffffffffff", INT64_MAX}, {"-0x8000000000000000", INT64_MIN}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 99;
        ck_assert_msg(parse(good[i].text, &value), "%s", good[i].text);
        ck_assert_int_eq(value, good[i].value);
    }
    static const char *const bad[] = {"", "-", "+", "0x", "12a", " 1", "1 ", "1.0", "--1", "0xg", "9223372036854775808", "-9223372036854775809",
                                      "99999999999999999999999", "0x8000000000000000", "a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = 99;
        ck_assert_msg(!parse(bad[i], &value), "%s", bad[i]);
        ck_assert_int_eq(value, 99);
    }
    int64_t value;
    ck_assert(mt_text_int64("12345", 2, &value)); /* only the length given counts */
    ck_assert_int_eq(value, 12);
}
END_TEST

START_TEST(decimals)
{
    static const struct { const char *text; double value; } good[] = {{"1", 1}, {"-1.5", -1.5}, {".5", 0.5}, {"2.", 2}, {"1e-3", 1e-3}, {"+1E+2", 100}};
    static const char *const bad[] = {"", ".", "1,5", "0x1p3", "inf", "nan", "1e999", "1e", "1 ", " 1", "1f", "1.2.3", "e5"};
    bool has_comma_locale = setlocale(LC_ALL, "de_DE.UTF-8") != NULL; /* where installed, '.' must still be the point */
    (void)has_comma_locale;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value;
        ck_assert_msg(mt_text_double(good[i].text, &value), "%s", good[i].text);
        ck_assert_double_eq(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value;
        ck_assert_msg(!mt_text_double(bad[i], &value), "%s", bad[i]);
    }
}
END_TEST

START_TEST(booleans_and_identifiers)
{
    bool value = false;
    ck_assert(mt_text_bool("Yes", &value) && value);
    ck_assert(mt_text_bool("off", &value) && !value);
    ck_assert(mt_text_bool("1", &value) && value);
    ck_assert(mt_text_bool("false", &value) && !value);
    ck_assert(!mt_text_bool("y", &value) && !mt_text_bool("", &value) && !mt_text_bool("2", &value));
    ck_assert(mt_text_is_identifier("_a1", 3) && mt_text_is_identifier("Z9!", 2));
    ck_assert(!mt_text_is_identifier("1a", 2) && !mt_text_is_identifier("", 0) && !mt_text_is_identifier("a-b", 3) && !mt_text_is_identifier("é", 2));
}
END_TEST

START_TEST(utf8)
{
    ck_assert_uint_eq(mt_text_utf8("a", 1), 1);
    ck_assert_uint_eq(mt_text_utf8("é", 2), 2);
    ck_assert_uint_eq(mt_text_utf8("→", 3), 3);
    ck_assert_uint_eq(mt_text_utf8("😀", 4), 4);
    ck_assert_uint_eq(mt_text_utf8("", 0), 0);
    static const char *const bad[] = {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3(", "\xe2\x82"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) ck_assert_msg(mt_text_utf8(bad[i], strlen(bad[i])) == 0, "case %zu", i);
    ck_assert_uint_eq(mt_text_utf8("→", 2), 0); /* cut by the length */
}
END_TEST

static bool shown(const char *text)
{
    size_t length = 0;
    return mt_text_is_shown(text, strlen(text), &length) && length == strlen(text);
}

START_TEST(what_is_shown)
{
    ck_assert(shown("a") && shown(" ") && shown("é") && shown("→") && shown("😀") && shown("\xc2\xa0") && shown("\xe2\x80\xa9" /* U+2029 */));
    static const char *const hidden[] = {"\x1b", "\n", "\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f", "\x9b", "\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) ck_assert_msg(!shown(hidden[i]), "case %zu", i);
    char text[] = "a\tb\n\033[31m \xc2\x9b \x9b \xe2\x80\xae caf\xc3\xa9 \xe2\x81";
    mt_text_defuse(text, strlen(text));
    ck_assert_str_eq(text, "a\tb\n?[31m ?? ? ??? café ??");
}
END_TEST

START_TEST(nearest)
{
    static const char *const names[] = {"CLUSTER", "CPB", "values", "default", "N"};
    ck_assert_str_eq(mt_text_nearest("CLUTSER", names, 5), "CLUSTER"); /* neighbours swapped */
    ck_assert_str_eq(mt_text_nearest("cluster", names, 5), "CLUSTER");
    ck_assert_str_eq(mt_text_nearest("value", names, 5), "values");
    ck_assert_str_eq(mt_text_nearest("CPD", names, 5), "CPB");
    ck_assert_str_eq(mt_text_nearest("n", names, 5), "N");
    ck_assert_str_eq(mt_text_nearest("h1oo", (const char *const[]){"h200", "h100"}, 2), "h100"); /* letters for digits */
    ck_assert_ptr_null(mt_text_nearest("M", names, 5)); /* one letter for another */
    ck_assert_ptr_null(mt_text_nearest("grid", names, 5));
    ck_assert_ptr_null(mt_text_nearest("", names, 0));
    char long_word[200];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    const char *const long_names[] = {long_word};
    ck_assert_ptr_null(mt_text_nearest(long_word, long_names, 1));
    ck_assert_ptr_null(mt_text_nearest("a", long_names, 1));
}
END_TEST

START_TEST(words)
{
    ck_assert(mt_text_has_word("#if VEC == 4", "VEC"));
    ck_assert(mt_text_has_word("VEC", "VEC"));
    ck_assert(mt_text_has_word("VEC_W, VEC", "VEC"));
    ck_assert(!mt_text_has_word("VEC_W, AVEC, VEC2, vec", "VEC"));
    ck_assert(!mt_text_has_word("", "VEC"));
}
END_TEST

START_TEST(numbers_in_texts_count_as_numbers)
{
    static const char *const ordered[] = {"", "a", "a2", "a02b", "a2b10", "a2b011", "a10", "b1x4096x64", "b1x4096x128", "b16x64x64", "b16x99999999999999999999999", "b16x100000000000000000000000", "é1"};
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
        for (size_t k = 0; k < sizeof ordered / sizeof *ordered; k++) {
            int order = mt_text_natural(ordered[i], strlen(ordered[i]), ordered[k], strlen(ordered[k]));
            ck_assert_msg((order > 0) - (order < 0) == (i > k) - (i < k), "%s and %s: %d", ordered[i], ordered[k], order);
        }
    ck_assert_int_eq(mt_text_natural("a1", 1, "a", 1), 0); /* lengths count, not what stands behind */
    ck_assert_int_lt(mt_text_natural("01", 2, "1", 1) * mt_text_natural("1", 1, "01", 2), 0);
}
END_TEST

UNIT_MAIN("text", numbers_in_texts_count_as_numbers, words, integers, decimals, booleans_and_identifiers, utf8, what_is_shown, nearest)
