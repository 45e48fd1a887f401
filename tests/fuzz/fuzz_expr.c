/* The expression parser on any text: no fault; what it accepts is a loadable program whose value has the kind the parser said. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuner/base/alloc.h"
#include "tuner/space/expr/expr.h"

static void require(int holds)
{
    if (!holds) abort();
}

static const char *const algos[] = {"gather", "smem"};
static const int64_t heights[] = {92, 46, 23, 12};

/* Names by their first letter: a, n, … integers; S strings; H lists; b conditions; x inactive; u unknown. */
static bool lookup(void *context, const char *name, mt_expr_name *out)
{
    (void)context;
    *out = (mt_expr_name){.type = MT_TYPE_INT};
    switch (name[0]) {
    case 'u': case 'g': case 's': case 't': case 'f': return false;
    case 'S': *out = (mt_expr_name){MT_TYPE_STRING, algos, 2}; break;
    case 'H': out->type = MT_TYPE_LIST; break;
    case 'b': out->type = MT_TYPE_BOOL; break;
    default: break;
    }
    return true;
}

static mt_value value_of(const char *name)
{
    switch (name[0]) {
    case 'S': return (mt_value){.kind = MT_VALUE_STRING, .string = "smem"};
    case 'H': return (mt_value){.kind = MT_VALUE_LIST, .list = heights, .length = 4};
    case 'b': return (mt_value){.kind = MT_VALUE_INT, .number = 1};
    case 'x': return (mt_value){.kind = MT_VALUE_UNDEFINED};
    default: return (mt_value){.kind = MT_VALUE_INT, .number = name[0] == 'z' ? 0 : (int64_t)strlen(name)};
    }
}

static mt_value_kind kind_of(mt_type type)
{
    return type == MT_TYPE_STRING ? MT_VALUE_STRING : type == MT_TYPE_LIST ? MT_VALUE_LIST : MT_VALUE_INT;
}

static void check_program(mt_expr *expr)
{
    enum { SLOTS = 64 };
    mt_value slots[SLOTS], result;
    size_t token = 0, count = mt_program_name_count(expr->program);
    if (count > SLOTS) return;
    for (size_t i = 0; i < count; i++) {
        slots[i] = value_of(mt_program_name(expr->program, i));
        mt_program_bind(expr->program, i, (uint32_t)i);
    }
    mt_program_status st = mt_program_eval(expr->program, slots, count, &result, &token);
    require(st != MT_PROGRAM_TYPE && st != MT_PROGRAM_BAD_TEXT && st != MT_PROGRAM_UNBOUND); /* ruled out by the parser's kinds */
    if (st != MT_PROGRAM_OK) {
        int column = mt_expr_column(expr, token);
        require(column >= 1 && (size_t)column <= strlen(expr->source));
        return;
    }
    require(result.kind == kind_of(expr->type));
    require(expr->type != MT_TYPE_BOOL || result.number == 0 || result.number == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mt_expr_scope scope = {lookup, NULL, NULL, 0};
    mt_expr expr;
    mt_error err = {0};
    char *source = malloc(size + 1);
    if (!source) return 0;
    memcpy(source, data, size);
    source[size] = '\0';
    if (mt_expr_parse("fuzz.ini:1", source, &scope, &expr, &err) == MT_OK) {
        check_program(&expr);
        mt_expr_free(&expr);
    } else
        require(strncmp(err.message, "fuzz.ini:1: column ", 19) == 0 && expr.program == NULL);
    free(source);
    return 0;
}
