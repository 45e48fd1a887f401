#include "db/program.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { SLOTS = 8 };
static const int64_t heights[] = {92, 46, 23, 12}, widths[] = {160, 80, 40, 20}, huge[] = {INT64_MAX, 1};

/* Every program of this file may read these; X is undefined, Y is never bound. */
static const char *const slot_names[SLOTS] = {"A", "B", "H", "W", "S", "X", "HUGE", "device.cc"};
static const mt_value slots[SLOTS] = {
    {.kind = MT_VALUE_INT, .number = 7}, {.kind = MT_VALUE_INT, .number = -2}, {.kind = MT_VALUE_LIST, .list = heights, .length = 4},
    {.kind = MT_VALUE_LIST, .list = widths, .length = 4}, {.kind = MT_VALUE_STRING, .string = "f16"}, {.kind = MT_VALUE_UNDEFINED},
    {.kind = MT_VALUE_LIST, .list = huge, .length = 2}, {.kind = MT_VALUE_INT, .number = 90}};

static _Alignas(8) char memory[1 << 20];

static void bind(mt_program *program)
{
    for (size_t i = 0; i < mt_program_name_count(program); i++)
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            if (strcmp(mt_program_name(program, i), slot_names[slot]) == 0) mt_program_bind(program, i, slot);
}

static mt_program_status run(const char *text, mt_value *result, size_t *token)
{
    mt_program *program;
    mt_program_status st = mt_program_load(text, memory, sizeof memory, &program, NULL);
    if (st != MT_PROGRAM_OK) return st;
    bind(program);
    return mt_program_eval(program, slots, SLOTS, result, token);
}

static void check(const char *text, int64_t expected)
{
    mt_value result = {0};
    mt_program_status st = run(text, &result, NULL);
    ck_assert_msg(st == MT_PROGRAM_OK && result.kind == MT_VALUE_INT && result.number == expected, "%s: %s, %lld", text, mt_program_strerror(st),
                  (long long)result.number);
}

static void check_fails(const char *text, mt_program_status expected, size_t expected_token)
{
    mt_value result = {0};
    size_t token = 999;
    mt_program_status st = run(text, &result, &token);
    ck_assert_msg(st == expected, "%s: %s", text, mt_program_strerror(st));
    ck_assert_msg(token == expected_token, "%s: token %zu", text, token);
}

START_TEST(arithmetic)
{
    check("123", 123);
    check("-5", -5);
    check("$A 2 +", 9);
    check("$A 2 -", 5);
    check("$A $B *", -14);
    check("14 $A /", 2);
    check("$A 3 %", 1);
    check("-7 3 %", -1); /* as in C */
    check("$A neg", -7);
    check("9223372036854775807 -1 *", -INT64_MAX);
    check("-9223372036854775808", INT64_MIN);
    check("-9223372036854775808 -1 %", 0);
    check("$device.cc", 90);
}
END_TEST

START_TEST(comparisons_and_logic)
{
    check("1 2 <", 1);
    check("2 2 <=", 1);
    check("1 2 >", 0);
    check("1 2 >=", 0);
    check("$A 7 ==", 1);
    check("$A 7 !=", 0);
    check("$S \"f16\" ==", 1);
    check("$S \"f32\" !=", 1);
    check("\"a b\" \"a b\" ==", 1); /* a space inside a string */
    check("\"\" $S ==", 0);
    check("1 2 < !", 0);
    check("1 bool", 1);
}
END_TEST

START_TEST(short_circuit)
{
    check("1 2 < jf4 3 4 < bool", 1); /* left true: right decides */
    check("1 2 < jf4 4 3 < bool 0 ==", 1);
    check("2 1 < jf4 1 0 / bool", 0);                  /* right side never runs */
    check("1 2 < jt4 1 0 / bool", 1);
    check("2 1 < jt4 1 2 < bool", 1);
    check("1 2 < sel2 10 jmp1 20", 10);
    check("2 1 < sel2 10 jmp1 20", 20);
    check("2 1 < sel2 $X jmp1 20", 20); /* the branch not taken may be undefined */
    check("0 jf2 $X bool", 0);
}
END_TEST

START_TEST(functions)
{
    check("3 1 2 min3", 1);
    check("3 1 2 max3", 3);
    check("10 3 ceil_div", 4);
    check("9 3 ceil_div", 3);
    check("0 3 ceil_div", 0);
    check("9223372036854775807 1 ceil_div", INT64_MAX);
    check("9223372036854775807 2 ceil_div", INT64_C(4611686018427387904));
    check("10 8 align_up", 16);
    check("16 8 align_up", 16);
    check("1 log2", 0);
    check("4611686018427387904 log2", 62);
    check("$H len", 4);
    check("$H sum1", 173);
    check("$H 2 sum2", 138);
    check("$H 0 sum2", 0);
    check("$H $W dot2", 92 * 160 + 46 * 80 + 23 * 40 + 12 * 20);
    check("$H $W 1 dot3", 92 * 160);
    check("$H 3 at", 12);
}
END_TEST

START_TEST(arithmetic_failures)
{
    check_fails("9223372036854775807 1 +", MT_PROGRAM_OVERFLOW, 2);
    check_fails("-9223372036854775808 1 -", MT_PROGRAM_OVERFLOW, 2);
    check_fails("1 4611686018427387904 2 * +", MT_PROGRAM_OVERFLOW, 3);
    check_fails("-9223372036854775808 neg", MT_PROGRAM_OVERFLOW, 1);
    check_fails("-9223372036854775808 -1 /", MT_PROGRAM_OVERFLOW, 2);
    check_fails("9223372036854775807 8 align_up", MT_PROGRAM_OVERFLOW, 2);
    check_fails("$HUGE sum1", MT_PROGRAM_OVERFLOW, 1);
    check_fails("$HUGE $HUGE dot2", MT_PROGRAM_OVERFLOW, 2);
    check_fails("1 0 /", MT_PROGRAM_DIVIDE_BY_ZERO, 2);
    check_fails("1 0 %", MT_PROGRAM_DIVIDE_BY_ZERO, 2);
    check_fails("1 0 ceil_div", MT_PROGRAM_DIVIDE_BY_ZERO, 2);
    check_fails("1 0 align_up", MT_PROGRAM_DIVIDE_BY_ZERO, 2);
    check_fails("7 2 /", MT_PROGRAM_NOT_INTEGRAL, 2);
    check_fails("12 log2", MT_PROGRAM_NOT_INTEGRAL, 1);
    check_fails("0 log2", MT_PROGRAM_RANGE, 1);
    check_fails("-4 log2", MT_PROGRAM_RANGE, 1);
    check_fails("-4 2 ceil_div", MT_PROGRAM_RANGE, 2);
    check_fails("4 -2 align_up", MT_PROGRAM_RANGE, 2);
    check_fails("$H 4 at", MT_PROGRAM_RANGE, 2);
    check_fails("$H -1 at", MT_PROGRAM_RANGE, 2);
    check_fails("$H 5 sum2", MT_PROGRAM_RANGE, 2);
    check_fails("$H -1 sum2", MT_PROGRAM_RANGE, 2);
    check_fails("$H $HUGE dot2", MT_PROGRAM_RANGE, 2); /* lengths differ */
}
END_TEST

START_TEST(kind_failures)
{
    check_fails("$S 1 +", MT_PROGRAM_TYPE, 2);
    check_fails("1 $H +", MT_PROGRAM_TYPE, 2);
    check_fails("$S 1 ==", MT_PROGRAM_TYPE, 2);
    check_fails("$H $H ==", MT_PROGRAM_TYPE, 2);
    check_fails("$S $S <", MT_PROGRAM_TYPE, 2);
    check_fails("2 !", MT_PROGRAM_TYPE, 1);
    check_fails("2 bool", MT_PROGRAM_TYPE, 1);
    check_fails("$A jf2 1 bool", MT_PROGRAM_TYPE, 1);
    check_fails("$S sel2 1 jmp1 2", MT_PROGRAM_TYPE, 1);
    check_fails("$A len", MT_PROGRAM_TYPE, 1);
    check_fails("$S sum1", MT_PROGRAM_TYPE, 1);
    check_fails("$H $S dot2", MT_PROGRAM_TYPE, 2);
    check_fails("$H $S at", MT_PROGRAM_TYPE, 2);
    check_fails("$H $S sum2", MT_PROGRAM_TYPE, 2);
    check_fails("1 $H min2", MT_PROGRAM_TYPE, 2);
    check_fails("1 $X +", MT_PROGRAM_INACTIVE, 1);
    check_fails("$Y", MT_PROGRAM_UNBOUND, 0);
}
END_TEST

START_TEST(slots_outside_the_array_are_unbound)
{
    mt_program *program;
    mt_value result;
    ck_assert_int_eq(mt_program_load("$A", memory, sizeof memory, &program, NULL), MT_PROGRAM_OK);
    mt_program_bind(program, 0, SLOTS);
    ck_assert_int_eq(mt_program_eval(program, slots, SLOTS, &result, NULL), MT_PROGRAM_UNBOUND);
    ck_assert_uint_eq(mt_program_slot(program, 0), SLOTS);
    mt_program_bind(program, 0, UINT32_MAX);
    ck_assert_int_eq(mt_program_eval(program, slots, SLOTS, &result, NULL), MT_PROGRAM_UNBOUND);
}
END_TEST

START_TEST(results_may_be_strings_and_lists)
{
    mt_value result;
    ck_assert_int_eq(run("$S", &result, NULL), MT_PROGRAM_OK);
    ck_assert_int_eq(result.kind, MT_VALUE_STRING);
    ck_assert_str_eq(result.string, "f16");
    ck_assert_int_eq(run("$H", &result, NULL), MT_PROGRAM_OK);
    ck_assert_int_eq(result.kind, MT_VALUE_LIST);
    ck_assert_uint_eq(result.length, 4);
    ck_assert_int_eq(run("\"x y\"", &result, NULL), MT_PROGRAM_OK);
    ck_assert_str_eq(result.string, "x y");
}
END_TEST

START_TEST(names)
{
    mt_program *program;
    size_t used = 0;
    const char *text = "$A $H[0] $A + $device.sm_count + +";
    ck_assert_int_eq(mt_program_load(text, memory, sizeof memory, &program, &used), MT_PROGRAM_OK);
    ck_assert_uint_eq(mt_program_name_count(program), 3);
    ck_assert_str_eq(mt_program_name(program, 0), "A");
    ck_assert_str_eq(mt_program_name(program, 1), "H[0]");
    ck_assert_str_eq(mt_program_name(program, 2), "device.sm_count");
    ck_assert_uint_eq(mt_program_token_count(program), 7);
    ck_assert_uint_le(used, mt_program_bytes(text));
}
END_TEST

START_TEST(memory_too_small)
{
    mt_program *program;
    const char *text = "$A 1 +";
    size_t needed = mt_program_bytes(text);
    ck_assert_int_eq(mt_program_load(text, memory, needed - 1, &program, NULL), MT_PROGRAM_TOO_SMALL);
    ck_assert_int_eq(mt_program_load(text, memory, 0, &program, NULL), MT_PROGRAM_TOO_SMALL);
    ck_assert_int_eq(mt_program_load(text, memory, needed, &program, NULL), MT_PROGRAM_OK);
}
END_TEST

START_TEST(hostile_text_is_refused)
{
    static const char *const bad[] = {
        "", " ", "1 ", " 1", "1  2 +", "+", "1 +", "1 2", "1 2 3 +", "foo", "$", "$1", "$a-b", "$a b", "1 $", "0x10", "--1", "-", "1.5", "99999999999999999999",
        "9223372036854775808", "\"", "\"abc", "\"a\"b", "\"a\x01\"", "\"\xc3\xa9\"", "jmp1", "jmp0", "1 jmp1", "1 jmp5 2", "1 jf", "1 jf-1 1 bool", "1 jf9 1 bool",
        "jf1 1", "1 jf0 bool", "1 sel9 1 jmp1 2", "1 sel1 2 3", "1 sel2 2 jmp2 3", "1 jmp1 2 3", "1 2 min1", "1 min", "1 2 min0", "1 2 min999999999", "1 2 min99999999999999999999",
        "$a sum0", "$a $a $a sum3", "$a $a dot1", "1 log", "1 log22", "1 bool1", "1 2 ceil_div2", "1 jf4097 bool", "1\n2 +", "\t1", "1 sel2 2 jmp0 3 +"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mt_program *program;
        mt_program_status st = mt_program_load(bad[i], memory, sizeof memory, &program, NULL);
        ck_assert_msg(st == MT_PROGRAM_BAD_TEXT, "'%s' gives %s", bad[i], mt_program_strerror(st));
    }
}
END_TEST

/* count × word, and one operator fewer at the end when there is one */
static void repeat(char *out, const char *word, int count, const char *operator)
{
    char *at = out;
    for (int i = 0; i < count; i++) at += sprintf(at, "%s%s", i ? " " : "", word);
    for (int i = 1; operator&& i < count; i++) at += sprintf(at, " %s", operator);
}

START_TEST(size_limits)
{
    static char text[1 << 16];
    mt_program *program;
    mt_value result;
    repeat(text, "1", 128, "+");
    check(text, 128);
    repeat(text, "1", 129, "+"); /* deeper than the evaluator's stack */
    ck_assert_int_eq(mt_program_load(text, memory, sizeof memory, &program, NULL), MT_PROGRAM_BAD_TEXT);
    repeat(text, "1", 128, NULL);
    strcat(text, " min128");
    check(text, 1);
    strcpy(text, "1");
    for (int i = 0; i < 4095; i++) strcat(text, " neg");
    ck_assert_int_eq(run(text, &result, NULL), MT_PROGRAM_OK);
    strcat(text, " neg"); /* 4,097 tokens */
    ck_assert_int_eq(run(text, &result, NULL), MT_PROGRAM_BAD_TEXT);
}
END_TEST

/* Truncations and single-byte changes of good programs: whatever loads must evaluate without fault (the sanitizers watch). */
START_TEST(mutations_never_crash)
{
    static const char *const good[] = {"$A 8 <= jf5 $B 32 <= bool $S \"f16\" == jf2 1 bool", "1 2 < sel4 $H 1 at jmp3 $H $W dot2", "3 1 2 min3 $A max2 7 %"};
    static const char letters[] = " 0129-+*/%$\"ABHjfselmpbool.[]<>=!x\x7f\xff";
    int loaded = 0;
    for (size_t g = 0; g < sizeof good / sizeof good[0]; g++) {
        size_t length = strlen(good[g]);
        for (size_t at = 0; at <= length; at++) {
            for (size_t l = 0; l < sizeof letters; l++) { /* the last is NUL: truncation */
                char text[128];
                mt_value result;
                strcpy(text, good[g]);
                text[at] = letters[l];
                text[length + 1] = '\0';
                loaded += run(text, &result, NULL) != MT_PROGRAM_BAD_TEXT;
            }
        }
    }
    ck_assert_int_gt(loaded, 100);
}
END_TEST

UNIT_MAIN("program", arithmetic, comparisons_and_logic, short_circuit, functions, arithmetic_failures, kind_failures, slots_outside_the_array_are_unbound,
          results_may_be_strings_and_lists, names, memory_too_small, hostile_text_is_refused, size_limits, mutations_never_crash)
