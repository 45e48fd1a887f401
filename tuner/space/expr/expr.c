/* Precedence climbing over the tokens of expr_lex.c, with kinds checked on the way and the program emitted in postfix order. */
#include "tuner/space/expr/expr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/expr/expr_internal.h"

enum { DEPTH_LIMIT = 64, ARGUMENT_LIMIT = 16 };

static mt_status parse_conditional(mt_expr_parser *p, mt_operand *out);

/* ---- tokens ---- */

static bool is_word(const mt_token *t, const char *word)
{
    return t->kind == MT_TOKEN_NAME && t->length == strlen(word) && memcmp(t->text, word, t->length) == 0;
}

/* Python's words for operators, and the word behind a condition whose text has no quotes. */
static const char *operator_meant(const mt_token *t)
{
    static const struct { const char *word, *advice; } words[] = {
        {"and", ": write &&"}, {"or", ": write ||"}, {"why", ": a reason stands in quotes, why \"TEXT\""},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is_word(t, words[i].word)) return words[i].advice;
    return "";
}

/* "expected X" at the token that stands there instead. */
static mt_status fail_expected(const mt_expr_parser *p, const char *expected)
{
    const mt_token *t = &p->token;
    int length = (int)(t->length < 60 ? t->length : 60);
    if (t->kind == MT_TOKEN_BAD) return mt_expr_fail(p, t->column, "'%.*s' %s", length, t->text, t->problem);
    if (t->kind == MT_TOKEN_END) return mt_expr_fail(p, t->column, "the expression ends here, expected %s", expected);
    return mt_expr_fail(p, t->column, "unexpected '%.*s', expected %s%s", length, t->text, expected, operator_meant(t));
}

static void advance(mt_expr_parser *p)
{
    p->token = mt_token_next(p->source, &p->at);
}

static bool is_symbol(const mt_expr_parser *p, const char *symbol)
{
    return p->token.kind == MT_TOKEN_SYMBOL && strlen(symbol) == p->token.length && memcmp(p->token.text, symbol, p->token.length) == 0;
}

static bool take_symbol(mt_expr_parser *p, const char *symbol)
{
    if (!is_symbol(p, symbol)) return false;
    advance(p);
    return true;
}

/* Limits recursion, and with it the C stack, on nested input. */
static mt_status enter(mt_expr_parser *p)
{
    if (++p->depth > DEPTH_LIMIT) return mt_expr_fail(p, p->token.column, "nested more than %d deep", (int)DEPTH_LIMIT);
    return MT_OK;
}

/* ---- functions ---- */

typedef struct function {
    const char *name;
    size_t least, most;
    size_t lists;    /* how many of the first arguments are lists */
    bool is_counted; /* the program's word carries the number of arguments */
} function;

static const function functions[] = {
    {"min", 2, ARGUMENT_LIMIT, 0, true}, {"max", 2, ARGUMENT_LIMIT, 0, true}, {"ceil_div", 2, 2, 0, false}, {"floor_div", 2, 2, 0, false}, {"align_up", 2, 2, 0, false},
    {"log2", 1, 1, 0, false}, {"len", 1, 1, 1, false}, {"sum", 1, 2, 1, true}, {"dot", 2, 3, 2, true}, {"at", 2, 2, 1, false},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

static const function *find_function(const char *name)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

static mt_status fail_unknown_function(const mt_expr_parser *p, int column, const char *name)
{
    const char *names[FUNCTION_COUNT];
    for (size_t i = 0; i < FUNCTION_COUNT; i++) names[i] = functions[i].name;
    return mt_expr_fail_unknown(p, column, "function", name, names, FUNCTION_COUNT);
}

static mt_status fail_argument_count(const mt_expr_parser *p, const function *f, int column, size_t count)
{
    if (f->least == f->most) return mt_expr_fail(p, column, "%s takes %zu argument%s, found %zu", f->name, f->least, f->least == 1 ? "" : "s", count);
    return mt_expr_fail(p, column, "%s takes %zu to %zu arguments, found %zu", f->name, f->least, f->most, count);
}

/* Behind "name(". */
static mt_status parse_call(mt_expr_parser *p, const char *name, int column, mt_operand *out)
{
    mt_status st = MT_OK;
    const function *f = find_function(name);
    if (!f) return fail_unknown_function(p, column, name);
    size_t first = p->items.count, count = 0;
    if (is_symbol(p, ")")) return fail_argument_count(p, f, column, 0);
    do {
        mt_operand argument;
        MT_TRY(parse_conditional(p, &argument));
        MT_TRY(count < f->lists ? mt_operand_need_list(p, &argument, f->name) : mt_operand_need_integer(p, &argument, f->name));
        count++;
    } while (take_symbol(p, ","));
    if (!take_symbol(p, ")")) return fail_expected(p, "',' or ')'");
    if (count < f->least || count > f->most) return fail_argument_count(p, f, column, count);
    if (f->is_counted) mt_items_add_counted(&p->items, f->name, (int64_t)count, column);
    else mt_items_add_word(&p->items, f->name, column);
    *out = (mt_operand){.type = MT_TYPE_INT, .first = first, .column = column};
done:
    return st;
}

/* ---- operands ---- */

static mt_status parse_number(mt_expr_parser *p, bool is_negative, int column, mt_operand *out)
{
    uint64_t magnitude = p->token.number;
    if (magnitude > INT64_MAX && !is_negative) return mt_expr_fail(p, p->token.column, "'%.*s' does not fit into 64 bits", (int)p->token.length, p->token.text);
    *out = (mt_operand){.type = MT_TYPE_INT, .first = p->items.count, .column = column};
    int64_t number = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    mt_items_add(&p->items, (mt_item){.form = MT_ITEM_NUMBER, .number = number, .column = column});
    advance(p);
    return MT_OK;
}

static void parse_string(mt_expr_parser *p, mt_operand *out)
{
    *out = (mt_operand){.type = MT_TYPE_STRING, .first = p->items.count, .column = p->token.column, .is_literal = true};
    mt_items_add(&p->items, (mt_item){.form = MT_ITEM_STRING, .text = p->token.text, .length = p->token.length, .column = p->token.column});
    advance(p);
}

/* list[index], the C way to write at(list, index) */
static mt_status parse_index(mt_expr_parser *p, mt_operand *list)
{
    mt_status st = MT_OK;
    int column = p->token.column;
    MT_TRY(mt_operand_need_list(p, list, "["));
    advance(p);
    mt_operand index;
    MT_TRY(parse_conditional(p, &index));
    MT_TRY(mt_operand_need_integer(p, &index, "["));
    if (!take_symbol(p, "]")) return fail_expected(p, "']'");
    mt_items_add_word(&p->items, "at", column);
    *list = (mt_operand){.type = MT_TYPE_INT, .first = list->first, .column = list->column};
done:
    return st;
}

static mt_status parse_word(mt_expr_parser *p, mt_operand *out)
{
    mt_token token = p->token;
    if (token.length >= MT_EXPR_NAME_SIZE) return mt_expr_fail(p, token.column, "a name of more than %d characters", MT_EXPR_NAME_SIZE - 1);
    mt_item item = {.form = MT_ITEM_NAME, .text = token.text, .length = token.length, .column = token.column};
    char name[MT_EXPR_NAME_SIZE];
    mt_item_copy_word(name, &item);
    advance(p);
    bool is_in_front = is_symbol(p, "(") || p->token.kind == MT_TOKEN_NAME;
    if (is_in_front && is_word(&token, "not")) return mt_expr_fail(p, token.column, "'not' is not supported, write !");
    if (take_symbol(p, "(")) return parse_call(p, name, token.column, out);
    *out = (mt_operand){.type = MT_TYPE_INT, .first = p->items.count, .column = token.column, .is_identifier = true};
    bool is_true = strcmp(name, "true") == 0;
    if (p->scope->lookup(p->scope->context, name, &out->name)) out->type = out->name.type;
    else if (is_true || strcmp(name, "false") == 0) {
        out->type = MT_TYPE_BOOL;
        item.form = MT_ITEM_NUMBER;
        item.number = is_true;
    } else out->is_unknown = true;
    if (out->type != MT_TYPE_STRING) out->name.values = NULL;
    if (!out->name.values) out->name.value_count = 0;
    mt_items_add(&p->items, item);
    return is_symbol(p, "[") ? parse_index(p, out) : MT_OK;
}

static mt_status parse_primary(mt_expr_parser *p, mt_operand *out)
{
    int column = p->token.column;
    switch (p->token.kind) {
    case MT_TOKEN_NUMBER: return parse_number(p, false, column, out);
    case MT_TOKEN_STRING: parse_string(p, out); return MT_OK;
    case MT_TOKEN_NAME: return parse_word(p, out);
    default: break;
    }
    if (!take_symbol(p, "(")) return fail_expected(p, "a value");
    mt_status st = parse_conditional(p, out);
    if (st != MT_OK) return st;
    out->comparison_level = 0;
    return take_symbol(p, ")") ? MT_OK : fail_expected(p, "')'");
}

static mt_status parse_unary(mt_expr_parser *p, mt_operand *out)
{
    mt_status st = MT_OK;
    int column = p->token.column;
    bool is_not = is_symbol(p, "!"), is_minus = is_symbol(p, "-");
    if (!is_not && !is_minus && !is_symbol(p, "+")) return parse_primary(p, out);
    MT_TRY(enter(p));
    advance(p);
    if (is_minus && p->token.kind == MT_TOKEN_NUMBER) MT_TRY(parse_number(p, true, column, out));
    else {
        MT_TRY(parse_unary(p, out));
        MT_TRY(is_not ? mt_operand_need_condition(p, out, "!") : mt_operand_need_integer(p, out, is_minus ? "-" : "+"));
        if (is_not) mt_items_add_word(&p->items, "!", column);
        if (is_minus) mt_items_add_word(&p->items, "neg", column);
        *out = (mt_operand){.type = is_not ? MT_TYPE_BOOL : MT_TYPE_INT, .first = out->first, .column = column};
    }
    p->depth--;
done:
    return st;
}

/* ---- operators ---- */

typedef enum operator_class { ARITHMETIC, RELATION, EQUALITY, LOGIC } operator_class;

typedef struct binary_operator {
    const char *symbol;
    int level; /* binds tighter when higher */
    operator_class class;
    const char *jump; /* LOGIC: what skips the right side */
} binary_operator;

enum { EQUALITY_LEVEL = 3 };
static const binary_operator operators[] = {
    {"||", 1, LOGIC, "jt"}, {"&&", 2, LOGIC, "jf"}, {"==", EQUALITY_LEVEL, EQUALITY, NULL}, {"!=", EQUALITY_LEVEL, EQUALITY, NULL},
    {"<=", 4, RELATION, NULL}, {">=", 4, RELATION, NULL}, {"<", 4, RELATION, NULL}, {">", 4, RELATION, NULL},
    {"+", 5, ARITHMETIC, NULL}, {"-", 5, ARITHMETIC, NULL}, {"*", 6, ARITHMETIC, NULL}, {"/", 6, ARITHMETIC, NULL}, {"%", 6, ARITHMETIC, NULL},
};

static const binary_operator *find_operator(const mt_expr_parser *p)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (is_symbol(p, operators[i].symbol)) return &operators[i];
    return NULL;
}

static mt_status parse_binary(mt_expr_parser *p, int least_level, mt_operand *out);

static mt_status parse_right_side(mt_expr_parser *p, const binary_operator *op, mt_operand *left)
{
    mt_status st = MT_OK;
    mt_operand right;
    size_t jump = 0;
    int column = p->token.column;
    if (left->comparison_level == op->level)
        return mt_expr_fail(p, column, "comparisons can't be chained, write a %s b && b %s c, or use parentheses", op->symbol, op->symbol);
    advance(p);
    if (op->class == LOGIC) {
        MT_TRY(mt_operand_need_condition(p, left, op->symbol));
        jump = mt_items_add_counted(&p->items, op->jump, 0, column);
    }
    MT_TRY(parse_binary(p, op->level + 1, &right));
    if (op->class == LOGIC) {
        MT_TRY(mt_operand_need_condition(p, &right, op->symbol));
        mt_items_add_word(&p->items, "bool", column);
        mt_items_land(&p->items, jump);
    } else {
        if (op->class == EQUALITY) MT_TRY(mt_operand_check_equality(p, op->symbol, left, &right));
        else {
            MT_TRY(mt_operand_need_integer(p, left, op->symbol));
            MT_TRY(mt_operand_need_integer(p, &right, op->symbol));
        }
        mt_items_add_word(&p->items, op->symbol, column);
    }
    bool compares = op->class == RELATION || op->class == EQUALITY;
    mt_type type = op->class == ARITHMETIC ? MT_TYPE_INT : MT_TYPE_BOOL;
    *left = (mt_operand){.type = type, .first = left->first, .column = left->column, .comparison_level = compares ? op->level : 0};
done:
    return st;
}

/* name in (a, b, …): name == a || name == b … */
static mt_status parse_membership(mt_expr_parser *p, mt_operand *left)
{
    mt_status st = MT_OK;
    int column = p->token.column;
    const mt_operand named = *left;
    if (p->items.failed) return MT_OK; /* told at the end */
    const mt_item name = p->items.list[left->first];
    if (!left->is_identifier) return mt_expr_fail(p, column, "'in' stands behind a name alone: expected one, as in BLOCK in (64, 128); give what you compute a name in [let], or write == and || out");
    advance(p);
    if (!take_symbol(p, "(")) return fail_expected(p, "'(' and a list of values, as in BLOCK in (64, 128)");
    size_t jump = 0;
    bool is_first = true;
    do {
        mt_operand one = named, other;
        if (!is_first) {
            jump = mt_items_add_counted(&p->items, "jt", 0, column);
            one.first = p->items.count;
            mt_items_add(&p->items, name);
        }
        MT_TRY(parse_conditional(p, &other));
        MT_TRY(mt_operand_check_equality(p, "==", &one, &other));
        mt_items_add_word(&p->items, "==", column);
        if (!is_first) {
            mt_items_add_word(&p->items, "bool", column);
            mt_items_land(&p->items, jump);
        }
        is_first = false;
    } while (take_symbol(p, ","));
    if (!take_symbol(p, ")")) return fail_expected(p, "',' or ')'");
    *left = (mt_operand){.type = MT_TYPE_BOOL, .first = named.first, .column = named.column, .comparison_level = EQUALITY_LEVEL};
done:
    return st;
}

static mt_status parse_binary(mt_expr_parser *p, int least_level, mt_operand *out)
{
    mt_status st = parse_unary(p, out);
    const binary_operator *op;
    if (st == MT_OK && least_level <= EQUALITY_LEVEL && is_word(&p->token, "in")) st = parse_membership(p, out);
    while (st == MT_OK && (op = find_operator(p)) != NULL && op->level >= least_level) st = parse_right_side(p, op, out);
    return st;
}

/* Behind the ? of condition ? a : b */
static mt_status parse_branches(mt_expr_parser *p, mt_operand *condition, int column)
{
    mt_status st = MT_OK;
    mt_operand yes, no;
    MT_TRY(mt_operand_need_condition(p, condition, "?"));
    size_t to_no = mt_items_add_counted(&p->items, "sel", 0, column);
    MT_TRY(parse_conditional(p, &yes));
    MT_TRY(mt_operand_settle(p, &yes));
    if (!is_symbol(p, ":")) return fail_expected(p, "':'");
    size_t to_end = mt_items_add_counted(&p->items, "jmp", 0, p->token.column);
    advance(p);
    mt_items_land(&p->items, to_no);
    MT_TRY(parse_conditional(p, &no));
    MT_TRY(mt_operand_settle(p, &no));
    mt_items_land(&p->items, to_end);
    if (yes.type != no.type) return mt_expr_fail(p, no.column, "the two sides of '?:' differ: %s and %s", mt_type_name(yes.type), mt_type_name(no.type));
    *condition = (mt_operand){.type = yes.type, .first = condition->first, .column = condition->column};
done:
    return st;
}

static mt_status parse_conditional(mt_expr_parser *p, mt_operand *out)
{
    mt_status st = MT_OK;
    MT_TRY(enter(p));
    MT_TRY(parse_binary(p, 0, out));
    int column = p->token.column;
    if (take_symbol(p, "?")) MT_TRY(parse_branches(p, out, column));
    p->depth--;
done:
    return st;
}

/* ---- whole expressions ---- */

static int line_of(const char *where)
{
    const char *colon = strrchr(where, ':');
    return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

static mt_status load_program(const mt_expr_parser *p, mt_expr *expr)
{
    size_t bytes = mt_program_bytes(expr->program_text);
    void *memory = mt_alloc(bytes, 1);
    if (!memory) return MT_FAIL(p->err, MT_ERR_NO_MEMORY, "%s: out of memory", p->where);
    if (mt_program_load(expr->program_text, memory, bytes, &expr->program, NULL) == MT_PROGRAM_OK) return MT_OK; /* starts at `memory` */
    mt_free(memory);
    expr->program = NULL;
    return mt_expr_fail(p, 1, "the expression is too long or too deeply nested");
}

/* Nothing but numbers: its faults are known now. */
static mt_status try_constant(const mt_expr_parser *p, const mt_expr *expr)
{
    mt_value value;
    size_t token = 0;
    if (mt_program_name_count(expr->program) > 0) return MT_OK;
    mt_program_status status = mt_program_eval(expr->program, NULL, 0, &value, &token);
    return status == MT_PROGRAM_OK ? MT_OK : mt_expr_fail(p, mt_expr_column(expr, token), "%s%s", mt_program_strerror(status), mt_expr_advice(expr, token, status));
}

mt_status mt_expr_parse(const char *where, const char *source, const mt_expr_scope *scope, mt_expr *out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_expr_parser p = {.source = source, .where = where, .scope = scope, .err = err};
    mt_operand whole = {0};
    *out = (mt_expr){.line = line_of(where)};
    advance(&p);
    MT_TRY(parse_conditional(&p, &whole));
    MT_TRY(mt_operand_settle(&p, &whole));
    if (p.token.kind != MT_TOKEN_END) MT_LEAVE(fail_expected(&p, "an operator or the end"));
    out->type = whole.type;
    out->source = mt_strdup(source);
    out->program_text = mt_items_text(&p.items);
    out->columns = mt_items_columns(&p.items);
    if (!out->source || !out->program_text || !out->columns) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", where));
    MT_TRY(load_program(&p, out));
    MT_TRY(try_constant(&p, out));
done:
    if (p.items.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", where); /* whatever was found amiss after that is no news */
    mt_items_free(&p.items);
    if (st != MT_OK) mt_expr_free(out);
    return st;
}

void mt_expr_free(mt_expr *expr)
{
    MT_FREE_EACH(expr->source, expr->program_text, expr->program, expr->columns);
    *expr = (mt_expr){0};
}

int mt_expr_column(const mt_expr *expr, size_t token)
{
    if (!expr->program || !expr->columns || token >= mt_program_token_count(expr->program)) return 0;
    return expr->columns[token];
}

const char *mt_expr_advice(const mt_expr *expr, size_t token, mt_program_status status)
{
    int column = mt_expr_column(expr, token);
    bool is_quotient = status == MT_PROGRAM_NOT_INTEGRAL && column > 0 && (size_t)column <= strlen(expr->source) && expr->source[column - 1] == '/';
    return is_quotient ? "; floor_div(a, b) rounds down, ceil_div(a, b) up" : "";
}
