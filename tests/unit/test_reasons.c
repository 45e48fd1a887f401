#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "tuner/cli/output/reasons.h"

static mt_reasons reasons;

static char *told(mt_outcome_kind kind)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    mt_reasons_print(&reasons, kind, out);
    fclose(out);
    return text;
}

static void must_tell(mt_outcome_kind kind, const char *expected)
{
    char *text = told(kind);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(each_rule_once_with_the_first_variant)
{
    reasons = (mt_reasons){0};
    mt_reasons_add(&reasons, MT_OUTCOME_ILLEGAL, "ALGO=k;BLOCK=2048", "block.x is 2048: the limit is 1024");
    mt_reasons_add(&reasons, MT_OUTCOME_ILLEGAL, "ALGO=k;BLOCK=40960", "block.x is 40960: the limit is 1024");
    mt_reasons_add(&reasons, MT_OUTCOME_ILLEGAL, "ALGO=k;BLOCK=64", "block.y is 2048: the limit is 1024");
    mt_reasons_add(&reasons, MT_OUTCOME_LOAD_ERROR, "ALGO=k;BLOCK=32", NULL);
    mt_reasons_add(&reasons, MT_OUTCOME_LOAD_ERROR, NULL, "block.x is 2048: the limit is 1024");
    must_tell(MT_OUTCOME_ILLEGAL, "      2 illegal, first: block.x is 2048: the limit is 1024\n              ALGO=k BLOCK=2048\n"
                                  "      1 illegal, first: block.y is 2048: the limit is 1024\n              ALGO=k BLOCK=64\n");
    must_tell(MT_OUTCOME_LOAD_ERROR, "      1 load_error\n              ALGO=k BLOCK=32\n      1 load_error, first: block.x is 2048: the limit is 1024\n");
    must_tell(MT_OUTCOME_TIMEOUT, "");
}
END_TEST

START_TEST(many_reasons_are_counted)
{
    char text[] = "rule ?";
    reasons = (mt_reasons){0};
    for (int kind = 0; kind < 4; kind++)
        for (char c = 'a'; c <= 'j'; c++) {
            text[5] = c;
            mt_reasons_add(&reasons, (mt_outcome_kind)(MT_OUTCOME_COMPILE_ERROR + kind), "V=1", text);
        }
    ck_assert_uint_eq(reasons.count, MT_REASONS);
    char *first = told(MT_OUTCOME_COMPILE_ERROR), *last = told((mt_outcome_kind)(MT_OUTCOME_COMPILE_ERROR + 3));
    ck_assert_ptr_nonnull(strstr(first, "rule d\n"));
    ck_assert_ptr_null(strstr(first, "rule e"));
    ck_assert_ptr_nonnull(strstr(first, "      6 compile_error for other reasons\n"));
    ck_assert_ptr_nonnull(strstr(last, "     10 ")); /* the room went to the others */
    free(first), free(last);
}
END_TEST

/* The first line holds the rule, the number and the limit, and is not cut; of a log behind it a beginning. */
START_TEST(numbers_at_the_end_of_a_line_are_told)
{
    char line[400], text[800];
    reasons = (mt_reasons){0};
    snprintf(line, sizeof line, "%0*d limit 1024", 180, 0);
    snprintf(text, sizeof text, "%s\nand a log", line);
    mt_reasons_add(&reasons, MT_OUTCOME_ILLEGAL, NULL, text);
    line[180] = '\0'; /* lines of the page end at spaces */
    snprintf(text, sizeof text, "      1 illegal, first:\n              %s\n              limit 1024…\n", line);
    must_tell(MT_OUTCOME_ILLEGAL, text);
    reasons = (mt_reasons){0};
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    mt_reasons_add(&reasons, MT_OUTCOME_ILLEGAL, text, text);
    ck_assert_uint_lt(strlen(reasons.items[0].text), MT_REASON_TEXT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reasons");
    TCase *cases = tcase_create("reasons");
    tcase_add_test(cases, each_rule_once_with_the_first_variant);
    tcase_add_test(cases, many_reasons_are_counted);
    tcase_add_test(cases, numbers_at_the_end_of_a_line_are_told);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
