#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/space/expr/expr.h"

#include <stdio.h>
#include <string.h>

static const char *const algos[] = {"gather", "smem_cluster", "N"}, *const dtypes[] = {"f16", "f32"};
static const int64_t heights[] = {92, 46, 23, 12}, widths[] = {160, 80, 40, 20};

typedef struct test_name {
    const char *name;
    mt_expr_name type;
    mt_value value;
} test_name;

static const test_name table[] = {
    {"N", {MT_TYPE_INT, NULL, 0}, {.kind = MT_VALUE_INT, .number = 48}},
    {"CLUSTER", {MT_TYPE_INT, NULL, 0}, {.kind = MT_VALUE_INT, .number = 8}},
    {"CPB", {MT_TYPE_INT, NULL, 0}, {.kind = MT_VALUE_UNDEFINED}}, /* an inactive knob */
    {"ALGO", {MT_TYPE_STRING, algos, 3}, {.kind = MT_VALUE_STRING, .string = "smem_cluster"}},
    {"dtype", {MT_TYPE_STRING, dtypes, 2}, {.kind = MT_VALUE_STRING, .string = "f16"}},
    {"other", {MT_TYPE_STRING, NULL, 0}, {.kind = MT_VALUE_STRING, .string = "f16"}},
    {"H", {MT_TYPE_LIST, NULL, 0}, {.kind = MT_VALUE_LIST, .list = heights, .length = 4}},
    {"W", {MT_TYPE_LIST, NULL, 0}, {.kind = MT_VALUE_LIST, .list = widths, .length = 4}},
    {"is_big", {MT_TYPE_BOOL, NULL, 0}, {.kind = MT_VALUE_INT, .number = 1}},
    {"ZERO", {MT_TYPE_INT, NULL, 0}, {.kind = MT_VALUE_INT, .number = 0}},
    {"HUGE", {MT_TYPE_INT, NULL, 0}, {.kind = MT_VALUE_INT, .number = INT64_MAX}},
    {"device.cc", {MT_TYPE_INT, NULL, 0}, {.kind = MT_VALUE_INT, .number = 90}},
};
enum { NAME_COUNT = sizeof table / sizeof table[0] };

static bool lookup(void *context, const char *name, mt_expr_name *out)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(table[i].name, name) != 0) continue;
        *out = table[i].type;
        return true;
    }
    return false;
}

static size_t all_names(void *context, const char *const **names)
{
    static const char *list[NAME_COUNT];
    for (size_t i = 0; i < NAME_COUNT; i++) list[i] = table[i].name;
    *names = list;
    return NAME_COUNT;
}

static const mt_expr_scope scope = {lookup, all_names, NULL, 0};
static mt_error err;
static mt_expr expr;

static void parse(const char *source)
{
    mt_status st = mt_expr_parse("x.ini:12", source, &scope, &expr, &err);
    ck_assert_msg(st == MT_OK, "%s: %s", source, st == MT_OK ? "" : err.message);
    for (size_t i = 0; i < mt_program_name_count(expr.program); i++)
        for (uint32_t slot = 0; slot < NAME_COUNT; slot++)
            if (strcmp(mt_program_name(expr.program, i), table[slot].name) == 0) mt_program_bind(expr.program, i, slot);
}

static mt_program_status eval(mt_value *result, size_t *token)
{
    mt_value slots[NAME_COUNT];
    for (size_t i = 0; i < NAME_COUNT; i++) slots[i] = table[i].value;
    return mt_program_eval(expr.program, slots, NAME_COUNT, result, token);
}

static void check(const char *source, int64_t expected)
{
    mt_value result = {0};
    parse(source);
    mt_program_status st = eval(&result, NULL);
    ck_assert_msg(st == MT_PROGRAM_OK && result.number == expected, "%s: %s, %lld (%s)", source, mt_program_strerror(st), (long long)result.number,
                  expr.program_text);
    mt_expr_free(&expr);
}

static void check_program(const char *source, const char *program)
{
    parse(source);
    ck_assert_str_eq(expr.program_text, program);
    mt_expr_free(&expr);
}

static void check_fails(const char *source, const char *message)
{
    err.message[0] = '\0';
    mt_status st = mt_expr_parse("x.ini:12", source, &scope, &expr, &err);
    char expected[512];
    snprintf(expected, sizeof expected, "x.ini:12: %s", message);
    ck_assert_msg(st == MT_ERR_SYNTAX, "%s: status %d", source, (int)st);
    ck_assert_str_eq(err.message, expected);
    ck_assert_ptr_null(expr.program);
}

START_TEST(precedence_as_in_c)
{
    check("2 + 3 * 4", 14);
    check("(2 + 3) * 4", 20);
    check("10 - 4 - 3", 3);
    check("100 / 5 / 2", 10);
    check("17 % 5 * 2", 4);
    check("2 - -3", 5);
    check("-2 * -3", 6);
    check("- - 5", 5);
    check("-(1 + 2)", -3);
    check("+N", 48);
    check("!(N == 48)", 0);
    check("1 + 1 < 3 && 2 * 2 == 4", 1);
    check("1 < 2 || 1 < 2 && 1 > 2", 1); /* && binds tighter */
    check("(1 < 2 || 1 < 2) && 1 > 2", 0);
    check("1 > 2 ? 1 : 1 > 2 ? 2 : 3", 3);
    check("N == 48 ? N * 2 : N", 96);
    check("1 < 2 == 3 < 4", 1);
    check("\t N\n*\r2 ", 96);
}
END_TEST

START_TEST(one_of_several)
{
    check("N in (1, 48)", 1);
    check("N in (1, 47, 2)", 0);
    check("N in (40 + 8)", 1);
    check("!(N in (1, 48))", 0);
    check("ALGO in (gather, smem_cluster) && dtype in (\"f32\")", 0);
    check("ALGO in (gather) || N in (CLUSTER, N)", 1);
    check("N in (1, 2) ? 5 : 6", 6);
    check_program("N in (1, 2)", "$N 1 == jt4 $N 2 == bool");
}
END_TEST

START_TEST(numbers)
{
    check("0", 0);
    check("0x1F", 31);
    check("-0x10", -16);
    check("9223372036854775807", INT64_MAX);
    check("-9223372036854775808", INT64_MIN);
    check("true", 1);
    check("false || is_big", 1);
    check_fails("9223372036854775808", "column 1: '9223372036854775808' does not fit into 64 bits");
    check_fails("1 + 99999999999999999999999", "column 5: '99999999999999999999999' does not fit into 64 bits");
    check_fails("- 9223372036854775809", "column 3: '9223372036854775809' does not fit into 64 bits");
    check_fails("0xffffffffffffffffff", "column 1: '0xffffffffffffffffff' does not fit into 64 bits");
    check_fails("010", "column 1: '010' has a leading zero (octal numbers are not supported)");
    check_fails("N * 1.5", "column 5: '1.5' only integers can be used here; fractions of a knob are texts, as in F == \"0.5\"");
    check_fails("8u", "column 1: '8u' not a number, expected decimal or 0x… digits");
    check_fails("0x", "column 1: '0x' not a number, expected decimal or 0x… digits");
}
END_TEST

START_TEST(functions_and_lists)
{
    check("min(3, 1, 2)", 1);
    check("max(N, CLUSTER)", 48);
    check("ceil_div(N, 7)", 7);
    check("floor_div(N, 7)", 6);
    check("floor_div(N - 6, 7)", 6);
    check("align_up(N + 1, 16)", 64);
    check("log2(CLUSTER)", 3);
    check("len(H)", 4);
    check("sum(H)", 173);
    check("sum(H, 2)", 138);
    check("dot(H, W)", 92 * 160 + 46 * 80 + 23 * 40 + 12 * 20);
    check("dot(H, W, 1)", 14720);
    check("at(H, 1) + H[len(H) - 1]", 58);
    check("min(1 < 2, 5)", 1); /* a condition counts as 0 or 1 */
    check("(1 < 2) + (3 < 4)", 2);
    check("is_big + 1", 2);
    check("device.cc >= 90", 1);
    check_fails("ceil_div(1)", "column 1: ceil_div takes 2 arguments, found 1");
    check_fails("log2(1, 2)", "column 1: log2 takes 1 argument, found 2");
    check_fails("min(1)", "column 1: min takes 2 to 16 arguments, found 1");
    check_fails("2 + len()", "column 5: len takes 1 argument, found 0");
    check_fails("celi_div(1, 2)", "column 1: unknown function 'celi_div', did you mean 'ceil_div'?");
    check_fails("foo(1)", "column 1: unknown function 'foo'");
    check_fails("len(N)", "column 5: 'len' needs a list here, found an integer");
    check_fails("dot(H, 1)", "column 8: 'dot' needs a list here, found an integer");
    check_fails("min(H, 1)", "column 5: 'min' needs an integer, found a list");
    check_fails("N[0]", "column 1: '[' needs a list here, found an integer");
    check_fails("H[0", "column 4: the expression ends here, expected ']'");
    check_fails("min(1 2)", "column 7: unexpected '2', expected ',' or ')'");
}
END_TEST

START_TEST(strings)
{
    check("ALGO == smem_cluster", 1);
    check("smem_cluster == ALGO", 1);
    check("ALGO != gather && dtype == \"f16\"", 1);
    check("(gather) == ALGO", 0);
    check("ALGO == N", 0); /* N is a value of ALGO, so it is the string here */
    check("dtype == other", 1);
    check("other == anything", 0);
    check("(N > 1 ? dtype : other) == f16", 1);
    check_program("ALGO == smem_cluster", "$ALGO \"smem_cluster\" ==");
    check_fails("ALGO == smem_clutser", "column 9: 'smem_clutser' is not a value of ALGO, did you mean 'smem_cluster'?");
    check_fails("dtype == bf8", "column 10: 'bf8' is not a value of dtype, expected one of f16, f32");
    check_fails("\"x\" == dtype", "column 1: 'x' is not a value of dtype, expected one of f16, f32");
    check_fails("dtype == CLUSTER", "column 10: '==' compares a string with an integer");
    check_fails("N == f16", "column 6: unknown name 'f16'");
    check_fails("foo == bar", "column 1: unknown name 'foo'");
    check_fails("foo == \"bar\"", "column 1: unknown name 'foo'");
    check_fails("ALGO < dtype", "column 1: '<' needs an integer, found a string");
    check_fails("ALGO + 1", "column 1: '+' needs an integer, found a string");
    check_fails("dtype == \"f16", "column 10: '\"' opens a string that is not closed");
    check_fails("dtype == \"é\"", "column 10: '\"' opens a string with characters other than printable ASCII");
}
END_TEST

START_TEST(kinds)
{
    static const struct { const char *source; mt_type type; } cases[] = {
        {"N + 1", MT_TYPE_INT}, {"N < 1", MT_TYPE_BOOL}, {"!is_big", MT_TYPE_BOOL}, {"is_big", MT_TYPE_BOOL}, {"is_big && is_big", MT_TYPE_BOOL},
        {"H", MT_TYPE_LIST}, {"dtype", MT_TYPE_STRING}, {"\"x\"", MT_TYPE_STRING}, {"is_big ? H : W", MT_TYPE_LIST}, {"len(H)", MT_TYPE_INT}, {"-is_big", MT_TYPE_INT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parse(cases[i].source);
        ck_assert_msg(expr.type == cases[i].type, "%s", cases[i].source);
        mt_expr_free(&expr);
    }
    check_fails("N && is_big", "column 1: '&&' needs a condition, found an integer (compare it, for example != 0)");
    check_fails("is_big || 1", "column 11: '||' needs a condition, found an integer (compare it, for example != 0)");
    check_fails("!N", "column 2: '!' needs a condition, found an integer (compare it, for example != 0)");
    check_fails("N ? 1 : 2", "column 1: '?' needs a condition, found an integer (compare it, for example != 0)");
    check_fails("is_big ? 1 : dtype", "column 14: the two sides of '?:' differ: an integer and a string");
    check_fails("is_big ? 1 : 2 < 3", "column 14: the two sides of '?:' differ: an integer and a condition");
    check_fails("-H", "column 2: '-' needs an integer, found a list");
    check_fails("H == W", "column 1: '==' needs an integer, found a list");
    check_fails("1 < 2 < 3", "column 7: comparisons can't be chained, write a < b && b < c, or use parentheses");
    check("(1 < 2) == (2 < 3)", 1);
    check("(1 < 2) < 3", 1);
}
END_TEST

START_TEST(syntax_errors)
{
    check_fails("", "column 1: the expression ends here, expected a value");
    check_fails("   ", "column 4: the expression ends here, expected a value");
    check_fails("1 +", "column 4: the expression ends here, expected a value");
    check_fails("(1", "column 3: the expression ends here, expected ')'");
    check_fails("1)", "column 2: unexpected ')', expected an operator or the end");
    check_fails("1 2", "column 3: unexpected '2', expected an operator or the end");
    check_fails("* 2", "column 1: unexpected '*', expected a value");
    check_fails("is_big ? 1", "column 11: the expression ends here, expected ':'");
    check_fails("N = 1", "column 3: '=' is not supported, use == to compare");
    check_fails("is_big & is_big", "column 8: '&' is not supported, use && for conditions");
    check_fails("1 << 2", "column 3: '<<' is not supported, multiply by a power of two");
    check_fails("N ** 2", "column 3: '**' is not supported, multiply");
    check_fails("N // 2", "column 3: '//' is not supported, use floor_div(a, b)");
    check_fails("N in 3", "column 6: unexpected '3', expected '(' and a list of values, as in BLOCK in (64, 128)");
    check_fails("N in (3", "column 8: the expression ends here, expected ',' or ')'");
    check_fails("N in ()", "column 7: unexpected ')', expected a value");
    check_fails("N + 1 in (3)", "column 7: unexpected 'in', expected an operator or the end");
    check_fails("(N + 1) in (3)", "column 9: 'in' stands behind a name alone: expected one, as in BLOCK in (64, 128); give what you compute a name in [let], or write == and || out");
    check_fails("ALGO in (gahter)", "column 10: 'gahter' is not a value of ALGO, did you mean 'gather'?");
    check_fails("N in (1) == 2 == 3", "column 10: comparisons can't be chained, write a == b && b == c, or use parentheses");
    check_fails("is_big why it is", "column 8: unexpected 'why', expected an operator or the end: a reason stands in quotes, why \"TEXT\"");
    check_fails("not (is_big)", "column 1: 'not' is not supported, write !");
    check_fails("not is_big", "column 1: 'not' is not supported, write !");
    check_fails("is_big and is_big", "column 8: unexpected 'and', expected an operator or the end: write &&");
    check_fails("is_big or is_big", "column 8: unexpected 'or', expected an operator or the end: write ||");
    check_fails("N not in (1, 2)", "column 3: unexpected 'not', expected an operator or the end: write !(NAME in (…))");
    check_fails("N if is_big else 3", "column 3: unexpected 'if', expected an operator or the end: write CONDITION ? A : B");
    check_fails("1 @ 2", "column 3: '@' is not part of the expression language");
    check_fails("1 × 2", "column 3: '×' is not part of the expression language");
    check_fails("1 \xff", "column 3: '\xff' is not part of the expression language");
    check_fails("CLUTSER * 2", "column 1: unknown name 'CLUTSER', did you mean 'CLUSTER'?");
    check_fails("N + device.ccc", "column 5: unknown name 'device.ccc', did you mean 'device.cc'?");
    check_fails("is_big ? foo : 1", "column 10: unknown name 'foo'");
}
END_TEST

/* What can be known without values is refused when the file is read. */
START_TEST(constant_faults_are_found_when_read)
{
    check_fails("1 / 0", "column 3: division by zero");
    check_fails("5 % (2 - 2)", "column 3: division by zero");
    check_fails("ceil_div(1, 0)", "column 1: division by zero");
    check_fails("floor_div(1, 0)", "column 1: division by zero");
    check_fails("floor_div(0 - 1, 2)", "column 1: argument out of range: expected 0 or more in ceil_div, floor_div and align_up, more than 0 in log2, and an element that the list has");
    check_fails("7 / 2", "column 3: result is not an integer; floor_div(a, b) rounds down, ceil_div(a, b) up");
    check_fails("9223372036854775807 + 1", "column 21: integer overflow");
    check_fails("2 * (4611686018427387904 * 2)", "column 26: integer overflow");
    check_fails("-(-9223372036854775807 - 1)", "column 1: integer overflow");
    check_fails("log2(12)", "column 1: result is not an integer");
    check_fails("log2(0)", "column 1: argument out of range: expected 0 or more in ceil_div, floor_div and align_up, more than 0 in log2, and an element that the list has");
    check("false && 1 / 0 == 1", 0); /* never evaluated, as in C */
}
END_TEST

static void check_eval_fails(const char *source, mt_program_status expected, int column)
{
    mt_value result;
    size_t token = 999;
    parse(source);
    mt_program_status st = eval(&result, &token);
    ck_assert_msg(st == expected, "%s: %s", source, mt_program_strerror(st));
    ck_assert_msg(mt_expr_column(&expr, token) == column, "%s: column %d", source, mt_expr_column(&expr, token));
    mt_expr_free(&expr);
}

START_TEST(faults_of_values_have_a_column)
{
    check_eval_fails("N + N / ZERO", MT_PROGRAM_DIVIDE_BY_ZERO, 7);
    check_eval_fails("N % ZERO", MT_PROGRAM_DIVIDE_BY_ZERO, 3);
    check_eval_fails("1 < 2 && HUGE * 2 > 1", MT_PROGRAM_OVERFLOW, 15);
    check_eval_fails("HUGE + N", MT_PROGRAM_OVERFLOW, 6);
    check_eval_fails("N / 5", MT_PROGRAM_NOT_INTEGRAL, 3);
    check_eval_fails("log2(N)", MT_PROGRAM_NOT_INTEGRAL, 1);
    check_eval_fails("N + H[4]", MT_PROGRAM_RANGE, 6);
    check_eval_fails("N * CPB", MT_PROGRAM_INACTIVE, 5);
    check("N > 0 || CPB > 1", 1); /* short circuit: the inactive knob is not read */
    check("ALGO == gather ? CPB : N", 48);
    parse("N");
    ck_assert_int_eq(mt_expr_column(&expr, 0), 1);
    ck_assert_int_eq(mt_expr_column(&expr, 1), 0);
    mt_expr_free(&expr);
    ck_assert_int_eq(mt_expr_column(&expr, 0), 0);
}
END_TEST

START_TEST(programs_as_documented)
{
    check_program("CLUSTER <= 8 && CPB <= 32", "$CLUSTER 8 <= jf4 $CPB 32 <= bool");
    check_program("is_big || N > 1", "$is_big jt4 $N 1 > bool");
    check_program("is_big ? 1 : 2", "$is_big sel2 1 jmp1 2");
    check_program("-N - -5", "$N neg -5 -");
    check_program("min(1, 2, N)", "1 2 $N min3");
    check_program("dot(H, W, 2) + sum(H)", "$H $W 2 dot3 $H sum1 +");
    check_program("device.cc % 10 == 0", "$device.cc 10 % 0 ==");
    check_program("H[1]", "$H 1 at");
}
END_TEST

START_TEST(source_and_line)
{
    parse("N + device.cc * 2");
    ck_assert_str_eq(expr.source, "N + device.cc * 2");
    ck_assert_int_eq(expr.line, 12);
    mt_expr_free(&expr);
    mt_expr_free(&expr);
}
END_TEST

static void wrap(char *out, int depth, const char *open, const char *middle, const char *close)
{
    *out = '\0';
    for (int i = 0; i < depth; i++) strcat(out, open);
    strcat(out, middle);
    for (int i = 0; i < depth; i++) strcat(out, close);
}

START_TEST(nesting_is_limited)
{
    static char text[200000];
    wrap(text, 60, "(", "1", ")");
    check(text, 1);
    wrap(text, 60, "1+(", "1", ")");
    check(text, 61);
    static const char *const nests[][3] = {{"(", "1", ")"}, {"-", "N", ""}, {"!", "is_big", ""}, {"min(1,", "1", ")"}, {"is_big?1:", "2", ""}, {"H[", "0", "]"}};
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        wrap(text, 10000, nests[i][0], nests[i][1], nests[i][2]);
        ck_assert_int_eq(mt_expr_parse("x.ini:12", text, &scope, &expr, &err), MT_ERR_SYNTAX);
        ck_assert_msg(strstr(err.message, ": nested more than 64 deep") != NULL, "%s", err.message);
    }
    wrap(text, 3000, "1+", "1", ""); /* long and flat, yet more than a program holds */
    check_fails(text, "column 1: the expression is too long or too deeply nested");
    wrap(text, 2000, "1+", "1", "");
    check(text, 2001);
    wrap(text, 200, "a", "", "");
    check_fails(text, "column 1: a name of more than 127 characters");
}
END_TEST

START_TEST(without_suggestions)
{
    const mt_expr_scope bare = {lookup, NULL, NULL, 0};
    ck_assert_int_eq(mt_expr_parse("x.ini:12", "CLUTSER", &bare, &expr, NULL), MT_ERR_SYNTAX);
    ck_assert_int_eq(mt_expr_parse("x.ini:12", "CLUTSER", &bare, &expr, &err), MT_ERR_SYNTAX);
    ck_assert_str_eq(err.message, "x.ini:12: column 1: unknown name 'CLUTSER'");
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    const char *text = "ALGO == smem_cluster && min(N, 1, CLUSTER) > 0 ? dot(H, W) : at(H, 1) + N * 0 + 1 - 2 * 3";
    size_t n = 1;
    for (;; n++) {
        mt_alloc_fail_at(n);
        mt_status st = mt_expr_parse("x.ini:12", text, &scope, &expr, &err);
        mt_alloc_fail_at(0);
        if (st == MT_OK) break;
        ck_assert_int_eq(st, MT_ERR_NO_MEMORY);
        ck_assert_ptr_null(expr.source);
    }
    ck_assert_uint_gt(n, 6);
    mt_expr_free(&expr);
}
END_TEST

UNIT_MAIN("expr", precedence_as_in_c, one_of_several, numbers, functions_and_lists, strings, kinds, syntax_errors, constant_faults_are_found_when_read, faults_of_values_have_a_column,
          programs_as_documented, source_and_line, nesting_is_limited, without_suggestions, every_allocation_may_fail)
