#include "tests/unit/unit.h"
#include "tuner/base/status.h"

#include <string.h>

START_TEST(codes)
{
    ck_assert_int_eq(MT_OK, 0);
    ck_assert_int_eq(mt_status_exit_code(MT_OK), 0);
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_IO), 1);
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_USAGE), 2);
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_NO_GPU), 3);
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_NOTHING_VALID), 4);
    ck_assert_int_eq(mt_status_exit_code(MT_ERR_INTERRUPTED), 130);
    ck_assert_int_eq(mt_status_exit_code((mt_status)999), 1);
    ck_assert_int_eq(mt_status_exit_code((mt_status)-1), 1);
}
END_TEST

START_TEST(set_fills_and_returns)
{
    mt_error err = {0};
    ck_assert_int_eq(MT_FAIL(&err, MT_ERR_SYNTAX, "%s:%d", "x.ini", 12), MT_ERR_SYNTAX);
    ck_assert_int_eq(err.status, MT_ERR_SYNTAX);
    ck_assert_str_eq(err.message, "x.ini:12");
    ck_assert_int_eq(MT_FAIL(NULL, MT_ERR_IO, "nobody listens"), MT_ERR_IO);
}
END_TEST

START_TEST(long_messages_are_cut)
{
    mt_error err;
    char text[3000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    MT_FAIL(&err, MT_ERR_IO, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
    mt_error_prefix(&err, MT_ERR_DB, "%s", "front");
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
    ck_assert_int_eq(strncmp(err.message, "front: aaa", 10), 0);
    mt_error_prefix(&err, MT_ERR_DB, "%s", text);
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
}
END_TEST

/* A path may be longer than the buffer: what is wrong stands behind it. */
START_TEST(long_names_leave_the_reason)
{
    mt_error err;
    char path[5000];
    for (size_t i = 0; i + 1 < sizeof path; i += 2) memcpy(path + i, "ü", 2);
    path[sizeof path - 2] = '\0';
    for (int i = 0; i < 3; i++) { /* wherever the cut falls in a character of two bytes */
        MT_FAIL(&err, MT_ERR_SYNTAX, "%.*s%s:7: expected a number", i, "abc", path);
        ck_assert_uint_ge(strlen(err.message), sizeof err.message - 4);
        ck_assert_str_eq(strstr(err.message, ":7:"), ":7: expected a number");
        ck_assert_ptr_nonnull(strstr(err.message, "ü … ü"));
        mt_error_prefix(&err, MT_ERR_SYNTAX, "%s", path);
        ck_assert_str_eq(strstr(err.message, ":7:"), ":7: expected a number");
    }
}
END_TEST

START_TEST(prefix_keeps_the_message)
{
    mt_error err;
    MT_FAIL(&err, MT_ERR_IO, "no such file");
    ck_assert_int_eq(mt_error_prefix(&err, MT_ERR_DB, "%s %d", "row", 7), MT_ERR_DB);
    ck_assert_str_eq(err.message, "row 7: no such file");
    ck_assert_int_eq(err.status, MT_ERR_DB);
    mt_error_prefix(&err, MT_ERR_DB, "(%s)", err.message); /* made from the old text */
    ck_assert_str_eq(err.message, "(row 7: no such file): row 7: no such file");
    ck_assert_int_eq(mt_error_prefix(NULL, MT_ERR_DB, "x"), MT_ERR_DB);
}
END_TEST

UNIT_MAIN("status", codes, set_fills_and_returns, long_messages_are_cut, long_names_leave_the_reason, prefix_keeps_the_message)
