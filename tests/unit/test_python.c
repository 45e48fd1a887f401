/* Expressions of Python: what they become, what they mean, and what is refused. */
#include "db/exchange/foreign/python.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"

#include <string.h>

/* A, B: 1, 2, 3, 8; S: -3 … 3; W: float, float4; F: 0.5, 2.0; constant N = 12 */
static mt_python_scope scope_of(void)
{
    static const struct { const char *name, *values; } names[] = {{"A", "[1, 2, 3, 8]"}, {"B", "[1, 2, 3, 8]"}, {"S", "range(-3, 4)"}, {"W", "['float', 'float4']"}, {"F", "[0.5, 2.0]"}, {"N", "[12]"}};
    mt_python_scope scope = {0};
    mt_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mt_python python;
        mt_python_name *name = MT_APPEND(scope.names, scope.count, scope.capacity);
        *name = (mt_python_name){.name = mt_strdup(names[i].name), .is_parameter = i < 5};
        ck_assert_msg(mt_python_parse(names[i].values, &python, &err) == MT_OK && mt_python_values(&python, &scope, name, &err) == MT_OK, "%s", err.message);
        mt_python_free(&python);
    }
    return scope;
}

static const struct { const char *python, *expected; } conditions[] = {
    {"A < B", "A < B"}, {"1 <= A < B", "1 <= A && A < B"}, {"A", "A != 0"}, {"not A", "!(A != 0)"}, {"A == 1 and B or S", "A == 1 && B != 0 || S != 0"}, {"(A or B) and S", "(A != 0 || B != 0) && S != 0"},
    {"A // B == 2", "floor_div(A, B) == 2"}, {"A / B < 2", "A < 2 * B"}, {"2 > A / (B + 1)", "2 * (B + 1) > A"}, {"ceil(A / B) > 1", "ceil_div(A, B) > 1"}, {"math.floor(A / B) > 1", "floor_div(A, B) > 1"}, {"int(A / B) > 1", "floor_div(A, B) > 1"},
    {"A % B == 0", "A % B == 0"}, {"S % A == 0", "(S % A + A) % A == 0"}, {"A ** 2 < 9", "A * A < 9"}, {"2 ** 10 > A", "1024 > A"}, {"A ** 0 == 1", "1 == 1"}, {"(3 % (A - 1)) ** 2 > 0", "(3 % (A - 1)) * (3 % (A - 1)) > 0"}, {"-A - -B < 0", "-A - -B < 0"}, {"A - (B - S) > 0", "A - (B - S) > 0"}, {"A * (B + 1) > 0", "A * (B + 1) > 0"},
    {"A in [1, 8]", "A == 1 || A == 8"}, {"A not in (1,)", "!(A == 1)"}, {"W == 'float'", "W == \"float\""}, {"W == \"int\"", "false"}, {"'int' != W", "true"}, {"F == .5", "F == \"0.5\""}, {"F == 0.25", "false"}, {"W in ['float', 'int']", "W == \"float\" || false"},
    {"(A if B > 1 else S) > 0", "(B > 1 ? A : S) > 0"}, {"min(A, B, 4) > max(1, A)", "min(A, B, 4) > max(1, A)"}, {"True", "true"}, {"A * N <= 50", "A * N <= 50"}, {"(A > 1) + (B > 1) == 1", "(A > 1) + (B > 1) == 1"}, {"(A > 1) == (B > 1)", "A > 1 == B > 1"},
    {"1_0 > A", "10 > A"}, {"0x10 > A", "16 > A"}, {"A == True", "A == true"},
};

START_TEST(conditions_mean_the_same)
{
    mt_python_scope scope = scope_of();
    mt_python python;
    mt_error err = {0};
    mt_strbuf text = {0};
    ck_assert_msg(mt_python_parse(conditions[_i].python, &python, &err) == MT_OK && mt_python_condition(&python, &scope, &text, &err) == MT_OK, "%s", err.message);
    ck_assert_str_eq(mt_strbuf_text(&text), conditions[_i].expected);
    mt_strbuf_free(&text);
    mt_python_free(&python);
    mt_python_scope_free(&scope);
}
END_TEST

static const struct { const char *python, *message; } refused[] = {
    {"", "the expression ends, expected a value"}, {"A <", "expected a value"}, {"(A", "')'"}, {"A && B", "'&&', expected an operator, or the end"}, {"A ^ 2", "'^'"}, {"A is 1", "'is'"}, {"A = 1", "'='"}, {"'a", "a text that ends with its quote"},
    {"X > 1", "X is none of the parameters"}, {"S // A > 0", "may be negative"}, {"A % S == 0", "a divisor that is never negative"}, {"A / S > 1", "a divisor of '/' that is above 0"}, {"A / B / 2 > 1", "'/' makes a fraction"}, {"A / B", "'/' makes a fraction"}, {"A / B < A / 2", "a quotient beside an integer"},
    {"(A and B) + 1 > 1", "'and' or 'or' of integers used as a number"}, {"(A or B) == 3", "'and' or 'or' of integers used as a number"}, {"min((A and B), 2) > 1", "'and' or 'or' of integers"}, {"A ** B > 1", "** with a constant"}, {"A ** 40 > 1", "may not fit 64 bits"}, {"A * 9223372036854775807 > 1", "may not fit 64 bits"},
    {"A > 0.5", "expected PARAMETER == or != VALUE"}, {"W > 'a'", "expected PARAMETER"}, {"W", "expected an integer"}, {"round(A) > 1", "round of 1 arguments"}, {"open('x')", "open of 1 arguments"}, {"A in B", "expected a list"}, {"A in []", "a list of one value at least"}, {"(A % B) ** 0 == 1", "an exponent above 0"}, {"99999999999999999999 > A", "a number of at most 64 bits"}, {"[A]", "a list, expected one value"},
    {"010 > A", "a number of at most 64 bits"}, {"not (A if B else 'x')", "expected an integer"}, {"lambda: 1", "'lambda', expected a value"}, {"A == 'x'", "expected PARAMETER"},
};

START_TEST(refusals_say_where_and_what)
{
    mt_python_scope scope = scope_of();
    mt_python python;
    mt_error err = {0};
    mt_strbuf text = {0};
    bool is_refused = mt_python_parse(refused[_i].python, &python, &err) != MT_OK || mt_python_condition(&python, &scope, &text, &err) != MT_OK;
    ck_assert_msg(is_refused && strstr(err.message, refused[_i].message) && strncmp(err.message, "column ", 7) == 0, "%s: %s%s", refused[_i].python, err.message, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    mt_python_free(&python);
    mt_python_scope_free(&scope);
}
END_TEST

static const struct { const char *python, *expected; } lists[] = {
    {"[1, 2]", "1 2"}, {"range(3)", "0 1 2"}, {"list(range(32, 129, 32))", "32 64 96 128"}, {"range(3, 0, -1)", "3 2 1"}, {"[2**i for i in range(4)]", "1 2 4 8"}, {"[0] + [i for i in range(1, N + 1) if N % i == 0]", "0 1 2 3 4 6 12"}, {"[1, 1, 2]", "1 2"},
    {"[True, False]", "1 0"}, {"[-7 // 2, -7 % 2, 7 // -2, 7 % -2]", "-4 1 -1"}, {"['a b', \"c\"]", "a b c"}, {"[0.5, -1.5]", "0.5 -1.5"}, {"(4, 2)", "4 2"}, {"[i * j for i in range(2)]", "!"}, {"[]", "!"}, {"[1/2]", "!"}, {"5", "!"}, {"range(1, 2, 0)", "!"},
    {"[A]", "!"}, {"range(10**12)", "!"}, {"[2**64]", "!"}, {"[9223372036854775807 + 1]", "!"}, {"[-9223372036854775807 - 1]", "-9223372036854775808"}, {"[(1 if i else 5) for i in range(2)]", "5 1"}, {"[ceil(7 / 2), int(7 / 2), abs(-3), 2 and 5, 0 or 6]", "4 3 5 6"}, {"[i for i in range(9223372036854775806, 9223372036854775807)]", "9223372036854775806"},
    {"[(-1) ** 9223372036854775807]", "-1"},
};

START_TEST(lists_are_evaluated)
{
    mt_python_scope scope = scope_of();
    mt_python_scope made = {0};
    mt_python_name *name = MT_APPEND(made.names, made.count, made.capacity);
    *name = (mt_python_name){.name = mt_strdup("made")};
    mt_python python;
    mt_error err = {0};
    mt_strbuf text = {0};
    bool is_read = mt_python_parse(lists[_i].python, &python, &err) == MT_OK && mt_python_values(&python, &scope, name, &err) == MT_OK;
    for (size_t i = 0; is_read && i < name->count; i++) {
        if (i) mt_strbuf_add_char(&text, ' ');
        if (name->values[i].kind == MT_PYTHON_IS_INT) mt_strbuf_addf(&text, "%lld", (long long)name->values[i].number);
        else mt_strbuf_add(&text, name->values[i].text);
    }
    ck_assert_msg(is_read || err.message[0], "%s", lists[_i].python);
    ck_assert_str_eq(is_read ? mt_strbuf_text(&text) : "!", lists[_i].expected);
    mt_strbuf_free(&text);
    mt_python_free(&python);
    mt_python_scope_free(&made);
    mt_python_scope_free(&scope);
}
END_TEST

int main(void)
{
    TCase *group = tcase_create("python");
    tcase_add_loop_test(group, conditions_mean_the_same, 0, (int)(sizeof conditions / sizeof conditions[0]));
    tcase_add_loop_test(group, refusals_say_where_and_what, 0, (int)(sizeof refused / sizeof refused[0]));
    tcase_add_loop_test(group, lists_are_evaluated, 0, (int)(sizeof lists / sizeof lists[0]));
    return unit_run_group("python", group, NULL, 0);
}
