#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/space/ini/ini.h"

#include <stdio.h>
#include <string.h>

static mt_ini ini;
static mt_error err;

static void parse(const char *text)
{
    memset(&err, 0, sizeof err);
    mt_status st = mt_ini_parse("x.ini", text, strlen(text), &ini, &err);
    ck_assert_msg(st == MT_OK, "%s", err.message);
}

static void check_fails(const char *text, const char *message)
{
    memset(&err, 0, sizeof err);
    mt_status st = mt_ini_parse("x.ini", text, strlen(text), &ini, &err);
    ck_assert_msg(st == MT_ERR_SYNTAX, "status %d for '%s'", (int)st, text);
    ck_assert_str_eq(err.message, message);
    ck_assert_ptr_null(ini.sections);
    ck_assert_ptr_null(ini.path);
}

static const char *value(size_t section, const char *key)
{
    const mt_ini_entry *entry = mt_ini_find(&ini.sections[section], key);
    return entry ? entry->value : NULL;
}

START_TEST(sections_and_keys)
{
    parse("[kernel]\nname = msda\n\n[shape seed48]\n  N=48\nH = 92,46 , 23\n[launch  smem_cluster\t1]\n[empty]");
    ck_assert_str_eq(ini.path, "x.ini");
    ck_assert_uint_eq(ini.section_count, 4);
    ck_assert_str_eq(ini.sections[0].kind, "kernel");
    ck_assert_str_eq(ini.sections[0].name, "");
    ck_assert_str_eq(value(0, "name"), "msda");
    ck_assert_str_eq(ini.sections[1].name, "seed48");
    ck_assert_int_eq(ini.sections[1].line, 4);
    ck_assert_uint_eq(ini.sections[1].entry_count, 2);
    ck_assert_str_eq(value(1, "N"), "48");
    ck_assert_str_eq(value(1, "H"), "92,46 , 23");
    ck_assert_int_eq(mt_ini_find(&ini.sections[1], "H")->line, 6);
    ck_assert_ptr_null(value(1, "h"));
    ck_assert_str_eq(ini.sections[2].name, "smem_cluster 1");
    ck_assert_uint_eq(ini.sections[3].entry_count, 0);
    mt_ini_free(&ini);
    mt_ini_free(&ini);
}
END_TEST

START_TEST(empty_files)
{
    static const char *const texts[] = {"", "\n", "\r\n", "\xEF\xBB\xBF", "; only a comment", "  # \"\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        parse(texts[i]);
        ck_assert_uint_eq(ini.section_count, 0);
        mt_ini_free(&ini);
    }
}
END_TEST

START_TEST(values_keep_what_they_are)
{
    parse("[a]\nexpr = SMEM <= device.smem_optin && A == B\nempty =\nutf8 = µ → ok\nonly\t=\t\ttabs\t\nblank = a   b\nk-1.x = 1\n");
    ck_assert_str_eq(value(0, "expr"), "SMEM <= device.smem_optin && A == B");
    ck_assert_str_eq(value(0, "empty"), "");
    ck_assert_str_eq(value(0, "utf8"), "µ → ok");
    ck_assert_str_eq(value(0, "only"), "tabs");
    ck_assert_str_eq(value(0, "blank"), "a   b");
    ck_assert_str_eq(value(0, "k-1.x"), "1");
    mt_ini_free(&ini);
}
END_TEST

START_TEST(comments_and_quotes)
{
    parse("; top \" lone quote\n[a] ; behind a section\n# full line\nb = 1 ; note\nc = 2 # note; more\nd = x;y#z\ne = \"a ; b # c\" ; gone\nf = -DX=\"1 ; 2\" --y\n"
          "g = \"\"\nh = a\t;tab\n  ; indented \\\ni = 3\n");
    ck_assert_str_eq(value(0, "b"), "1");
    ck_assert_str_eq(value(0, "c"), "2");
    ck_assert_str_eq(value(0, "d"), "x;y#z");
    ck_assert_str_eq(value(0, "e"), "\"a ; b # c\"");
    ck_assert_str_eq(value(0, "f"), "-DX=\"1 ; 2\" --y");
    ck_assert_str_eq(value(0, "g"), "\"\"");
    ck_assert_str_eq(value(0, "h"), "a");
    ck_assert_str_eq(value(0, "i"), "3"); /* a comment is not continued */
    mt_ini_free(&ini);
}
END_TEST

START_TEST(continued_lines)
{
    parse("[a]\nb = one \\\n    two\\\nthree \\ ; note\n four\nc = 1\nd = \\\n\\\n  x\n");
    ck_assert_str_eq(value(0, "b"), "one two three four");
    ck_assert_str_eq(value(0, "c"), "1");
    ck_assert_int_eq(mt_ini_find(&ini.sections[0], "c")->line, 6);
    ck_assert_str_eq(value(0, "d"), "x");
    ck_assert_int_eq(mt_ini_find(&ini.sections[0], "d")->line, 7);
    mt_ini_free(&ini);
    check_fails("[a]\nb = 1 \\\n", "x.ini:2: the file ends after a backslash, expected the line that continues this one");
    check_fails("[a]\nb = 1 \\\n \"x\n", "x.ini:3: the quote in column 2 is not closed on its line");
}
END_TEST

START_TEST(bom_crlf_and_long_lines)
{
    char text[12000], expected[5001];
    memset(expected, 'x', 5000);
    expected[5000] = '\0';
    snprintf(text, sizeof text, "\xEF\xBB\xBF[kernel]\r\nname = msda\r\nlong = %s\r\nsource = \"my kernels/a b.cu\"\r\nwhy = \"no; comment\" ; one\r\nlist = 1,\\\r\n2\r\n", expected);
    parse(text);
    ck_assert_str_eq(ini.sections[0].kind, "kernel");
    ck_assert_str_eq(value(0, "name"), "msda");
    ck_assert_str_eq(value(0, "long"), expected);
    ck_assert_str_eq(value(0, "source"), "\"my kernels/a b.cu\"");
    ck_assert_str_eq(value(0, "why"), "\"no; comment\"");
    ck_assert_str_eq(value(0, "list"), "1, 2");
    mt_ini_free(&ini);
}
END_TEST

START_TEST(duplicates_are_refused)
{
    check_fails("[a]\nb = 1\n\nb = 1\n", "x.ini:4: duplicate key 'b' in [a], first given in line 2");
    check_fails("[s x]\nb = 1\nb = 2\n", "x.ini:3: duplicate key 'b' in [s x], first given in line 2");
    check_fails("[a]\n[b]\n[a]\n", "x.ini:3: duplicate section [a], first given in line 1");
    check_fails("[shape x y]\n[shape x  y]\n", "x.ini:2: duplicate section [shape x y], first given in line 1");
    parse("[a]\nb = 1\n[a x]\nb = 2\n[a y]\nb = 3\n");
    ck_assert_uint_eq(ini.section_count, 3);
    mt_ini_free(&ini);
}
END_TEST

START_TEST(malformed_lines)
{
    check_fails("a = 1\n", "x.ini:1: key 'a' stands outside a section, expected [section] first");
    check_fails("[a]\njust words\n", "x.ini:2: expected 'key = value' or '[section]', found 'just words'");
    check_fails("[a]\n= 1\n", "x.ini:2: '' is not a key, expected a name of letters, digits and _ in front of '='");
    check_fails("[a]\ntwo words = 1\n", "x.ini:2: 'two words' is not a key, expected a name of letters, digits and _ in front of '='");
    check_fails("[a\n", "x.ini:1: expected ']' at the end of the section's name");
    check_fails("[a] b\n", "x.ini:1: unexpected text behind ']', expected the end of the line");
    check_fails("[]\n", "x.ini:1: '[]' is not a section, expected [section] or [section name]");
    check_fails("\n[ 1 ]\n", "x.ini:2: '[ 1 ]' is not a section, expected [section] or [section name]");
    check_fails("[a]\nb = \"open\n", "x.ini:2: the quote in column 5 is not closed on its line");
}
END_TEST

START_TEST(bytes_that_are_not_text)
{
    check_fails("[a]\nb = \xff\n", "x.ini:2: invalid UTF-8 (byte 0xff in column 5); save the file as UTF-8");
    check_fails("[a]\n; \xc0\xaf\n", "x.ini:2: invalid UTF-8 (byte 0xc0 in column 3); save the file as UTF-8");
    check_fails("[a]\nb = \x1b[31m\n", "x.ini:2: control character 0x1b in column 5, expected text");
    check_fails("[a]\nb = 1\rc = 2\n", "x.ini:2: control character 0x0d in column 6, expected text");
    static const char with_nul[] = "[a]\nb = 1\0\n";
    ck_assert_int_eq(mt_ini_parse("x.ini", with_nul, sizeof with_nul - 1, &ini, &err), MT_ERR_SYNTAX);
    ck_assert_str_eq(err.message, "x.ini:2: control character 0x00 in column 6, expected text");
    check_fails("\xff\xfe[\n", "x.ini:1: invalid UTF-8 (byte 0xff in column 1); save the file as UTF-8");
}
END_TEST

START_TEST(too_many_sections)
{
    size_t size = 20 * 10002;
    char *text = malloc(size), *at = text;
    for (int i = 0; i < 10001; i++) at += sprintf(at, "[a %d]\n", i);
    check_fails(text, "x.ini:10001: more than 10000 sections");
    at = text + sprintf(text, "[a]\n");
    for (int i = 0; i < 10001; i++) at += sprintf(at, "k%d=\n", i);
    check_fails(text, "x.ini:10002: more than 10000 keys in a section");
    free(text);
}
END_TEST

START_TEST(unquote)
{
    static const char *const cases[][2] = {{"\"a b\"", "a b"}, {"a", "a"}, {"\"\"", ""}, {"\"", "\""}, {"", ""}, {"\"a\" == \"b\"", "\"a\" == \"b\""}, {"x \"y\"", "x \"y\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = mt_ini_unquote(cases[i][0]);
        ck_assert_str_eq(text, cases[i][1]);
        mt_free(text);
    }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    const char *text = "[kernel]\nname = \"a\" \\\n b\n[shape x]\nN = 1\nM = 2\n";
    size_t n = 1;
    for (;; n++) {
        mt_alloc_fail_at(n);
        mt_status st = mt_ini_parse("x.ini", text, strlen(text), &ini, &err);
        mt_alloc_fail_at(0);
        if (st == MT_OK) break;
        ck_assert_int_eq(st, MT_ERR_NO_MEMORY);
        ck_assert_ptr_null(ini.sections);
    }
    ck_assert_uint_gt(n, 10);
    ck_assert_uint_eq(ini.section_count, 2);
    ck_assert_str_eq(value(0, "name"), "\"a\" b");
    mt_ini_free(&ini);
}
END_TEST

UNIT_MAIN("ini", sections_and_keys, empty_files, values_keep_what_they_are, comments_and_quotes, continued_lines, bom_crlf_and_long_lines, duplicates_are_refused,
          malformed_lines, bytes_that_are_not_text, too_many_sections, unquote, every_allocation_may_fail)
