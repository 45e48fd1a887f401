/* Numbers of Python's conditions as integers of search spaces: names, arithmetic. Each part is known with the least and the largest value that it can have, which says where both languages agree:
 * Python's // and % round down whatever the signs, its / makes fractions, its integers have no end. */
#include <string.h>

#include "db/exchange/foreign/python_internal.h"
#include "tuner/base/alloc.h"

enum { FACTOR_LIMIT = 16 };
static const int64_t exact_quotient = (int64_t)1 << 50; /* below it a rounded quotient lies on the same side of any integer as the exact one */

void mt_python_drop(mt_python_operand *o)
{
    mt_free(o->text);
    mt_free(o->divisor);
    *o = (mt_python_operand){0};
}

/* Takes the buffer's text for the operand's. */
mt_status mt_python_settle(mt_python_translation *t, int node, mt_strbuf *text, mt_python_operand made, mt_python_operand *out)
{
    bool is_long = text->length > MT_PYTHON_TEXT_LIMIT;
    *out = made;
    out->text = mt_strbuf_take(text);
    if (!out->text) return mt_no_memory("an expression", t->err);
    return is_long ? mt_python_fail(t->python, node, t->err, "expected a shorter expression") : MT_OK;
}

void mt_python_add_text(mt_strbuf *text, const char *part, int level, int least_level)
{
    mt_strbuf_addf(text, level < least_level ? "(%s)" : "%s", part);
}

void mt_python_add_operand(mt_strbuf *text, const mt_python_operand *o, int least_level)
{
    mt_python_add_text(text, o->text, o->level, least_level);
}

/* ---- names and literals ---- */

mt_status mt_python_translate_name(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_name *name = mt_python_find(t->scope, n->text, n->length);
    mt_strbuf text = {0};
    mt_python_operand made = {.level = ATOM};
    if (!name) return mt_python_fail(t->python, node, t->err, "%.*s is none of the parameters and constants of the file", (int)(n->length < 60 ? n->length : 60), n->text);
    name->is_used = true;
    t->reads_parameters = t->reads_parameters || name->is_parameter;
    if (name->is_text) {
        made.kind = IS_WORD;
        made.name = name;
    } else {
        made.least = made.most = name->values[0].number;
        for (size_t i = 1; i < name->count; i++) {
            if (name->values[i].number < made.least) made.least = name->values[i].number;
            if (name->values[i].number > made.most) made.most = name->values[i].number;
        }
    }
    mt_strbuf_add(&text, name->name);
    return mt_python_settle(t, node, &text, made, out);
}

mt_status mt_python_number(mt_python_translation *t, int node, int64_t value, mt_python_operand *out)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%lld", (long long)value);
    return mt_python_settle(t, node, &text, (mt_python_operand){.level = value < 0 ? SIGN : ATOM, .least = value, .most = value}, out);
}

/* ---- what an operand is used as ---- */

mt_status mt_python_need_integer(mt_python_translation *t, int node, const mt_python_operand *o)
{
    if (o->is_truth) return mt_python_fail(t->python, node, t->err, "'and' or 'or' of integers used as a number, expected conditions");
    if (o->kind == IS_INT || o->kind == IS_CONDITION) return MT_OK; /* a condition counts as 0 or 1 in both languages */
    return mt_python_fail(t->python, node, t->err, o->kind == IS_QUOTIENT ? "'/' makes a fraction, expected // for an integer, or ceil(a / b), or a comparison with an integer" : "a text or a fraction, expected an integer");
}

/* ---- arithmetic ---- */

bool mt_python_bounds(char op, const mt_python_operand *a, const mt_python_operand *b, int64_t *least, int64_t *most)
{
    int64_t ends[4];
    bool is_wide = false;
    if (op == '+') return !__builtin_add_overflow(a->least, b->least, least) && !__builtin_add_overflow(a->most, b->most, most);
    if (op == '-') return !__builtin_sub_overflow(a->least, b->most, least) && !__builtin_sub_overflow(a->most, b->least, most);
    for (int i = 0; i < 4; i++) is_wide = __builtin_mul_overflow(i & 1 ? a->most : a->least, i & 2 ? b->most : b->least, &ends[i]) || is_wide;
    *least = *most = ends[0];
    for (int i = 1; i < 4; i++) {
        if (ends[i] < *least) *least = ends[i];
        if (ends[i] > *most) *most = ends[i];
    }
    return !is_wide;
}

static mt_status power(mt_python_translation *t, int node, const mt_python_operand *a, const mt_python_operand *b, mt_python_operand *out)
{
    mt_python_operand made = {.level = PRODUCT, .least = 1, .most = 1};
    mt_strbuf text = {0};
    if (b->least != b->most || b->least < 0 || b->least > 62) return mt_python_fail(t->python, node, t->err, "expected ** with a constant of 0 to 62");
    for (int64_t i = 0; i < b->least; i++)
        if (!mt_python_bounds('*', &made, a, &made.least, &made.most)) return mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    bool is_plain = !strpbrk(a->text, " ("); /* else its own division by zero would be lost */
    if (b->least == 0 && !is_plain) return mt_python_fail(t->python, node, t->err, "expected an exponent above 0 of an expression");
    if (made.least == made.most && is_plain) return mt_python_number(t, node, made.least, out);
    if (b->least > FACTOR_LIMIT) return mt_python_fail(t->python, node, t->err, "expected an exponent of at most %d", (int)FACTOR_LIMIT);
    for (int64_t i = 0; i < b->least; i++) {
        if (i) mt_strbuf_add(&text, " * ");
        mt_python_add_operand(&text, a, SIGN);
    }
    return mt_python_settle(t, node, &text, made, out);
}

/* Python's remainder has the divisor's sign. */
static mt_status remainder_of(mt_python_translation *t, int node, const mt_python_operand *a, const mt_python_operand *b, mt_python_operand *out)
{
    mt_strbuf text = {0};
    mt_python_operand made = {.level = PRODUCT, .most = b->most - 1};
    if (b->least < 0 || b->most <= 0 || (a->least < 0 && b->least < 1)) return mt_python_fail(t->python, node, t->err, "expected a divisor that is never negative");
    if (a->least >= 0 && a->most < made.most) made.most = a->most;
    if (a->least < 0 && b->most > INT64_MAX / 2) return mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    if (a->least < 0) mt_strbuf_add_char(&text, '(');
    mt_python_add_operand(&text, a, PRODUCT);
    mt_strbuf_add(&text, " % ");
    mt_python_add_operand(&text, b, SIGN);
    if (a->least < 0) {
        mt_strbuf_add(&text, " + ");
        mt_python_add_operand(&text, b, PRODUCT);
        mt_strbuf_add(&text, ") % ");
        mt_python_add_operand(&text, b, SIGN);
    }
    return mt_python_settle(t, node, &text, made, out);
}

/* floor_div and ceil_div take no negative numbers. */
mt_status mt_python_quotient(mt_python_translation *t, int node, const char *function, const mt_python_operand *a, const mt_python_operand *b, mt_python_operand *out)
{
    mt_strbuf text = {0};
    mt_python_operand made = {.level = ATOM};
    if (a->least < 0 || b->least < 0) return mt_python_fail(t->python, node, t->err, "a division of numbers that may be negative, expected 0 or more");
    made.least = b->most > 0 ? a->least / b->most : 0;
    made.most = b->least > 0 ? a->most / b->least + (a->most % b->least != 0) : a->most;
    mt_strbuf_addf(&text, "%s(%s, %s)", function, a->text, b->text);
    return mt_python_settle(t, node, &text, made, out);
}

static mt_status take_apart(mt_python_translation *t, int node, mt_python_operand *a, mt_python_operand *b, mt_python_operand *out)
{
    if (b->least <= 0) return mt_python_fail(t->python, node, t->err, "expected a divisor of '/' that is above 0");
    if (a->most > exact_quotient || a->least < -exact_quotient || b->most > exact_quotient) return mt_python_fail(t->python, node, t->err, "a quotient of numbers above 2^50, which Python rounds");
    *out = *a;
    out->kind = IS_QUOTIENT;
    out->divisor = b->text;
    out->divisor_level = b->level;
    out->divisor_least = b->least;
    out->divisor_most = b->most;
    *a = *b = (mt_python_operand){0};
    return MT_OK;
}

mt_status mt_python_translate_arithmetic(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_operand a = {0}, b = {0}, made = {.level = n->op == '*' ? PRODUCT : SUM};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(t, n->a, &a));
    MT_TRY(mt_python_translate(t, n->b, &b));
    MT_TRY(mt_python_need_integer(t, n->a, &a));
    MT_TRY(mt_python_need_integer(t, n->b, &b));
    if (n->op == 'p') st = power(t, node, &a, &b, out);
    else if (n->op == '%') st = remainder_of(t, node, &a, &b, out);
    else if (n->op == 'q') st = mt_python_quotient(t, node, "floor_div", &a, &b, out);
    else if (n->op == '/') st = take_apart(t, node, &a, &b, out);
    else if (!mt_python_bounds(n->op, &a, &b, &made.least, &made.most)) st = mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    else {
        mt_python_add_operand(&text, &a, made.level);
        mt_strbuf_addf(&text, " %c ", n->op);
        mt_python_add_operand(&text, &b, made.level + 1);
        st = mt_python_settle(t, node, &text, made, out);
    }
done:
    mt_python_drop(&a);
    mt_python_drop(&b);
    return st;
}

mt_status mt_python_translate_negative(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_operand a = {0};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(t, n->a, &a));
    MT_TRY(mt_python_need_integer(t, n->a, &a));
    if (a.least == INT64_MIN) st = mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    else {
        mt_strbuf_add_char(&text, '-');
        mt_python_add_operand(&text, &a, ATOM);
        st = mt_python_settle(t, node, &text, (mt_python_operand){.level = SIGN, .least = -a.most, .most = -a.least}, out);
    }
done:
    mt_python_drop(&a);
    return st;
}
