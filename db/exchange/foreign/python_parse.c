/* Python's expressions: precedence by one function a level. */
#include "db/exchange/foreign/python.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { DEPTH_LIMIT = 64, NODE_LIMIT = 20000 };

typedef struct parser {
    mt_python *python;
    const char *at;      /* behind the token */
    const char *token;
    size_t length;       /* of the token; 0 = the end */
    int depth;
    mt_error *err;
} parser;

static mt_status parse_expression(parser *p, int *out);
static mt_status parse_unary(parser *p, int *out);

mt_status mt_python_fail(const mt_python *python, int node, mt_error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return MT_FAIL(err, MT_ERR_UNSUPPORTED, "column %d of '%.300s': %s", node ? python->nodes[node].column : 1, python->source, text);
}

bool mt_python_is(const mt_python_node *node, const char *word)
{
    return node->length == strlen(word) && memcmp(node->text, word, node->length) == 0;
}

void mt_python_free(mt_python *python)
{
    mt_free(python->nodes);
    *python = (mt_python){0};
}

/* ---- tokens ---- */

static size_t token_length(const char *at)
{
    static const char *const signs[] = {"**", "//", "<=", ">=", "==", "!=", "<<", ">>", "&&", "||"};
    size_t length = 0;
    if (*at == '\'' || *at == '"') {
        const char *end = strchr(at + 1, *at);
        return end ? (size_t)(end - at) + 1 : strlen(at);
    }
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        while (isalnum((unsigned char)at[length]) || at[length] == '.' || at[length] == '_' || ((at[length] == '+' || at[length] == '-') && (at[length - 1] == 'e' || at[length - 1] == 'E'))) length++;
        return length;
    }
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    if (length) return length;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strncmp(at, signs[i], 2) == 0) return 2;
    return *at ? 1 : 0;
}

static void advance(parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
    p->token = p->at;
    p->length = token_length(p->at);
    p->at += p->length;
}

static bool is(const parser *p, const char *text)
{
    return p->length == strlen(text) && memcmp(p->token, text, p->length) == 0;
}

static bool take(parser *p, const char *text)
{
    if (!is(p, text)) return false;
    advance(p);
    return true;
}

static mt_status fail(const parser *p, const char *expected)
{
    int column = (int)(p->token - p->python->source) + 1;
    if (!p->length) return MT_FAIL(p->err, MT_ERR_SYNTAX, "column %d of '%.300s': the expression ends, expected %s", column, p->python->source, expected);
    return MT_FAIL(p->err, MT_ERR_SYNTAX, "column %d of '%.300s': '%.*s', expected %s", column, p->python->source, (int)(p->length < 40 ? p->length : 40), p->token, expected);
}

/* ---- nodes ---- */

static mt_status add(parser *p, mt_python_node node, int *out)
{
    mt_python *python = p->python;
    if (python->count == NODE_LIMIT) return MT_FAIL(p->err, MT_ERR_UNSUPPORTED, "column %d of '%.300s': more than %d parts in one expression", node.column, python->source, (int)NODE_LIMIT);
    mt_python_node *place = MT_APPEND(python->nodes, python->count, python->capacity);
    if (!place) return mt_no_memory("an expression", p->err);
    *place = node;
    *out = (int)python->count - 1;
    return MT_OK;
}

static mt_status add_pair(parser *p, mt_python_kind kind, char op, int column, int a, int b, int *out)
{
    return add(p, (mt_python_node){.kind = kind, .op = op, .column = column, .a = a, .b = b}, out);
}

static int column_of(const parser *p)
{
    return (int)(p->token - p->python->source) + 1;
}

/* ---- atoms ---- */

static mt_status parse_number(parser *p, int *out)
{
    mt_python_node node = {.kind = MT_PYTHON_INT, .column = column_of(p), .text = p->token, .length = p->length};
    double real;
    char digits[48] = "";
    size_t count = 0;
    for (size_t i = 0; i < p->length && count < sizeof digits - 1; i++)
        if (p->token[i] != '_') digits[count++] = p->token[i];
    bool is_octal = digits[0] == '0' && isdigit((unsigned char)digits[1]); /* Python has no such numbers */
    if (p->length >= sizeof digits || is_octal || !mt_text_int64(digits, count, &node.number)) {
        node.kind = MT_PYTHON_REAL;
        if (is_octal || count != p->length || count >= sizeof digits - 1 || !strpbrk(digits, ".eE") || !mt_text_double(digits, &real)) return fail(p, "a number of at most 64 bits");
    }
    advance(p);
    return add(p, node, out);
}

static mt_status parse_text(parser *p, int *out)
{
    const mt_python_node node = {.kind = MT_PYTHON_TEXT, .column = column_of(p), .text = p->token + 1, .length = p->length - 2};
    if (p->length < 2 || p->token[p->length - 1] != p->token[0] || memchr(p->token, '\\', p->length)) return fail(p, "a text that ends with its quote, without \\");
    advance(p);
    return add(p, node, out);
}

/* Items up to `close`, as cells. */
static mt_status parse_cells(parser *p, const char *close, int first, int *out)
{
    mt_status st = MT_OK;
    int last = first, item = 0;
    *out = first;
    while (!is(p, close)) {
        int cell = 0, column = column_of(p);
        MT_TRY(parse_expression(p, &item));
        MT_TRY(add_pair(p, MT_PYTHON_CELL, 0, column, item, 0, &cell));
        if (last) p->python->nodes[last].b = cell;
        else *out = cell;
        last = cell;
        if (!is(p, close) && !take(p, ",")) return fail(p, "',' or the closing bracket");
    }
    advance(p);
done:
    return st;
}

static mt_status parse_each(parser *p, int column, int item, const char *close, int *out)
{
    mt_status st = MT_OK;
    mt_python_node node = {.kind = MT_PYTHON_EACH, .column = column, .a = item, .text = p->token, .length = p->length};
    if (!mt_text_is_identifier(p->token, p->length)) return fail(p, "a name behind 'for'");
    advance(p);
    if (!take(p, "in")) return fail(p, "'in'");
    p->depth++; /* no choice here: its 'if' is ours */
    MT_TRY(parse_unary(p, &node.b));
    p->depth--;
    if (take(p, "if")) MT_TRY(parse_expression(p, &node.c));
    if (!take(p, close)) return fail(p, "the closing bracket; one 'for' and one 'if' are understood");
    st = add(p, node, out);
done:
    return st;
}

static mt_status parse_list(parser *p, const char *close, int *out)
{
    mt_status st = MT_OK;
    int column = column_of(p), item = 0, cell = 0;
    if (!is(p, close)) {
        MT_TRY(parse_expression(p, &item));
        if (take(p, "for")) return parse_each(p, column, item, close, out);
        if (is(p, close) && *close == ')') { /* no tuple, but parentheses */
            advance(p);
            *out = item;
            return MT_OK;
        }
        if (!is(p, close) && !take(p, ",")) return fail(p, *close == ')' ? "')' or an operator" : "',' or ']'");
        MT_TRY(add_pair(p, MT_PYTHON_CELL, 0, column, item, 0, &cell));
    }
    MT_TRY(parse_cells(p, close, cell, &cell));
    st = add_pair(p, MT_PYTHON_LIST, 0, column, cell, 0, out);
done:
    return st;
}

static mt_status parse_name(parser *p, int *out)
{
    mt_status st = MT_OK;
    static const char *const words[] = {"and", "or", "not", "in", "is", "if", "else", "for", "lambda"};
    mt_python_node node = {.kind = MT_PYTHON_NAME, .column = column_of(p), .text = p->token, .length = p->length};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (is(p, words[i])) return fail(p, "a value");
    bool is_true = is(p, "True"), is_module = is(p, "math") || is(p, "np") || is(p, "numpy");
    if (is_true || is(p, "False")) node = (mt_python_node){.kind = MT_PYTHON_BOOL, .column = node.column, .number = is_true};
    advance(p);
    if (is_module && take(p, ".")) {
        if (!mt_text_is_identifier(p->token, p->length)) return fail(p, "the name of a function");
        node.text = p->token;
        node.length = p->length;
        advance(p);
    }
    if (node.kind == MT_PYTHON_NAME && take(p, "(")) {
        node.kind = MT_PYTHON_CALL;
        MT_TRY(parse_cells(p, ")", 0, &node.b));
    }
    st = add(p, node, out);
done:
    return st;
}

static mt_status parse_atom(parser *p, int *out)
{
    if (take(p, "(")) return parse_list(p, ")", out);
    if (take(p, "[")) return parse_list(p, "]", out);
    if (!p->length) return fail(p, "a value");
    if (*p->token == '\'' || *p->token == '"') return parse_text(p, out);
    if (isdigit((unsigned char)*p->token) || (*p->token == '.' && p->length > 1)) return parse_number(p, out);
    if (mt_text_is_identifier(p->token, p->length)) return parse_name(p, out);
    return fail(p, "a value");
}

/* ---- operators, tightest first ---- */

static mt_status parse_power(parser *p, int *out)
{
    mt_status st = MT_OK;
    int column, exponent;
    MT_TRY(parse_atom(p, out));
    column = column_of(p);
    if (!take(p, "**")) return MT_OK;
    MT_TRY(parse_unary(p, &exponent));
    st = add_pair(p, MT_PYTHON_ARITHMETIC, 'p', column, *out, exponent, out);
done:
    return st;
}

static mt_status parse_unary(parser *p, int *out)
{
    mt_status st = MT_OK;
    int column = column_of(p);
    if (++p->depth > DEPTH_LIMIT) return fail(p, "an expression nested less deep");
    if (take(p, "+")) MT_TRY(parse_unary(p, out));
    else if (take(p, "-")) {
        MT_TRY(parse_unary(p, out));
        MT_TRY(add_pair(p, MT_PYTHON_NEGATIVE, 0, column, *out, 0, out));
    } else MT_TRY(parse_power(p, out));
    p->depth--;
done:
    return st;
}

/* Operands of `next` with operators of one level between them, from left to right: a table that ends with a NULL sign. */
typedef struct operator { const char *sign; mt_python_kind kind; char op; } operator;

static mt_status parse_level(parser *p, mt_status (*next)(parser *, int *), const operator *level, int *out)
{
    mt_status st = MT_OK;
    MT_TRY(next(p, out));
    for (const operator *at = level; at->sign; at++) {
        int column = column_of(p), right;
        if (!take(p, at->sign)) continue;
        MT_TRY(next(p, &right));
        MT_TRY(add_pair(p, at->kind, at->op, column, *out, right, out));
        at = level - 1; /* all of them may follow */
    }
done:
    return st;
}

static mt_status parse_product(parser *p, int *out)
{
    static const operator level[] = {{"*", MT_PYTHON_ARITHMETIC, '*'}, {"/", MT_PYTHON_ARITHMETIC, '/'}, {"%", MT_PYTHON_ARITHMETIC, '%'}, {"//", MT_PYTHON_ARITHMETIC, 'q'}, {0}};
    return parse_level(p, parse_unary, level, out);
}

static mt_status parse_sum(parser *p, int *out)
{
    static const operator level[] = {{"+", MT_PYTHON_ARITHMETIC, '+'}, {"-", MT_PYTHON_ARITHMETIC, '-'}, {0}};
    return parse_level(p, parse_product, level, out);
}

/* The comparison at hand as node's op; 0 = none. i: in, n: not in. */
static char take_comparison(parser *p)
{
    static const struct { const char *text; char op; } all[] = {{"<", '<'}, {">", '>'}, {"<=", 'l'}, {">=", 'g'}, {"==", '='}, {"!=", '!'}, {"in", 'i'}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (take(p, all[i].text)) return all[i].op;
    return is(p, "not") && (advance(p), take(p, "in")) ? 'n' : '\0';
}

/* a < b < c is a < b and b < c. */
static mt_status parse_comparison(parser *p, int *out)
{
    mt_status st = MT_OK;
    int left, right, one = 0, all = 0, column;
    char op;
    MT_TRY(parse_sum(p, &left));
    for (column = column_of(p); (op = take_comparison(p)); column = column_of(p)) {
        bool is_in = op == 'i' || op == 'n';
        MT_TRY(parse_sum(p, &right));
        MT_TRY(add_pair(p, is_in ? MT_PYTHON_IN : MT_PYTHON_COMPARE, op, column, left, right, &one));
        if (op == 'n') MT_TRY(add_pair(p, MT_PYTHON_NOT, 0, column, one, 0, &one));
        if (all) MT_TRY(add_pair(p, MT_PYTHON_AND, 0, column, all, one, &all));
        else all = one;
        left = right;
    }
    *out = all ? all : left;
done:
    return st;
}

static mt_status parse_not(parser *p, int *out)
{
    mt_status st = MT_OK;
    int column = column_of(p);
    if (!take(p, "not")) return parse_comparison(p, out);
    if (++p->depth > DEPTH_LIMIT) return fail(p, "an expression nested less deep");
    MT_TRY(parse_not(p, out));
    p->depth--;
    st = add_pair(p, MT_PYTHON_NOT, 0, column, *out, 0, out);
done:
    return st;
}

static mt_status parse_and(parser *p, int *out)
{
    static const operator level[] = {{"and", MT_PYTHON_AND, 0}, {0}};
    return parse_level(p, parse_not, level, out);
}

static mt_status parse_or(parser *p, int *out)
{
    static const operator level[] = {{"or", MT_PYTHON_OR, 0}, {0}};
    return parse_level(p, parse_and, level, out);
}

static mt_status parse_expression(parser *p, int *out)
{
    mt_status st = MT_OK;
    mt_python_node choice = {.kind = MT_PYTHON_CHOICE};
    if (++p->depth > DEPTH_LIMIT) return fail(p, "an expression nested less deep");
    MT_TRY(parse_or(p, out));
    choice.column = column_of(p);
    choice.a = *out;
    if (take(p, "if")) {
        MT_TRY(parse_or(p, &choice.b));
        if (!take(p, "else")) return fail(p, "'else'");
        MT_TRY(parse_expression(p, &choice.c));
        MT_TRY(add(p, choice, out));
    }
    p->depth--;
done:
    return st;
}

mt_status mt_python_parse(const char *source, mt_python *python, mt_error *err)
{
    mt_status st = MT_OK;
    int none;
    *python = (mt_python){.source = source};
    parser p = {.python = python, .at = source, .err = err};
    if (strlen(source) > 100000) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "an expression of more than 100,000 characters");
    MT_TRY(add(&p, (mt_python_node){.kind = MT_PYTHON_BOOL}, &none)); /* node 0 is none */
    advance(&p);
    MT_TRY(parse_expression(&p, &python->root));
    if (p.length) st = fail(&p, "an operator, or the end");
done:
    return st;
}
