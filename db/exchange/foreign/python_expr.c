/* Python's conditions as expressions of search spaces: comparisons, what joins them, functions. */
#include <string.h>

#include "db/exchange/foreign/python_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { DEPTH_LIMIT = 60 /* the expression language's */ };

/* ---- conditions ---- */

static mt_status condition_word(mt_python_translation *t, int node, bool value, mt_python_operand *out)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, value ? "true" : "false");
    return mt_python_settle(t, node, &text, (mt_python_operand){.kind = IS_CONDITION, .level = ATOM, .least = value, .most = value}, out);
}

/* An integer that is true where it is not 0. */
static mt_status need_condition(mt_python_translation *t, int node, mt_python_operand *o)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    mt_python_operand made = {.kind = IS_CONDITION, .level = EQUALITY, .most = 1, .is_truth = true};
    if (o->kind == IS_CONDITION) return MT_OK;
    MT_TRY(mt_python_need_integer(t, node, o));
    mt_python_add_operand(&text, o, RELATION);
    mt_strbuf_add(&text, " != 0");
    mt_python_drop(o);
    st = mt_python_settle(t, node, &text, made, o);
done:
    return st;
}

static const char *symbol_of(char op)
{
    return op == 'l' ? "<=" : op == 'g' ? ">=" : op == '=' ? "==" : op == '!' ? "!=" : op == '<' ? "<" : ">";
}

static bool is_same_value(const mt_python_value *value, const mt_python_node *literal)
{
    double x, y;
    if (literal->kind == MT_PYTHON_TEXT) return value->kind == MT_PYTHON_IS_TEXT && mt_python_is(literal, value->text);
    char text[64] = "";
    if (value->kind != MT_PYTHON_IS_REAL || literal->length >= sizeof text) return false;
    memcpy(text, literal->text, literal->length);
    return mt_text_double(text, &x) && mt_text_double(value->text, &y) && !(x < y) && !(x > y);
}

/* A parameter of texts beside a literal, which need not be one of its values. */
static mt_status compare_word(mt_python_translation *t, int node, char op, const mt_python_operand *word, const mt_python_operand *literal, mt_python_operand *out)
{
    mt_strbuf text = {0};
    if (word->kind != IS_WORD || literal->kind != IS_LITERAL || (op != '=' && op != '!')) return mt_python_fail(t->python, node, t->err, "a text or a fraction here, expected PARAMETER == or != VALUE");
    for (size_t i = 0; i < word->name->count; i++) {
        const mt_python_value *value = &word->name->values[i];
        if (!is_same_value(value, literal->literal)) continue;
        mt_strbuf_addf(&text, "%s %s \"%s\"", word->text, symbol_of(op), value->text);
        return mt_python_settle(t, node, &text, (mt_python_operand){.kind = IS_CONDITION, .level = EQUALITY, .most = 1}, out);
    }
    return condition_word(t, node, op == '!', out);
}

/* a / b < c is a < c * b, b being above 0. */
static mt_status clear_quotient(mt_python_translation *t, int node, mt_python_operand *one, mt_python_operand *other)
{
    mt_strbuf text = {0};
    mt_python_operand made = {.level = PRODUCT};
    const mt_python_operand divisor = {.least = one->divisor_least, .most = one->divisor_most};
    if (other->kind == IS_QUOTIENT || !mt_python_bounds('*', other, &divisor, &made.least, &made.most)) return mt_python_fail(t->python, node, t->err, "expected a quotient beside an integer");
    mt_python_add_operand(&text, other, PRODUCT);
    mt_strbuf_add(&text, " * ");
    mt_python_add_text(&text, one->divisor, one->divisor_level, SIGN);
    one->kind = IS_INT;
    mt_free(one->divisor);
    one->divisor = NULL;
    mt_python_drop(other);
    return mt_python_settle(t, node, &text, made, other);
}

static mt_status compare(mt_python_translation *t, int node, char op, mt_python_operand *a, mt_python_operand *b, mt_python_operand *out)
{
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    int level = op == '=' || op == '!' ? EQUALITY : RELATION;
    if (a->kind == IS_WORD || b->kind == IS_LITERAL) return compare_word(t, node, op, a, b, out);
    if (b->kind == IS_WORD || a->kind == IS_LITERAL) return compare_word(t, node, op, b, a, out);
    if (a->kind != IS_QUOTIENT) MT_TRY(mt_python_need_integer(t, node, a));
    if (b->kind != IS_QUOTIENT) MT_TRY(mt_python_need_integer(t, node, b));
    if (a->kind == IS_QUOTIENT) MT_TRY(clear_quotient(t, node, a, b));
    else if (b->kind == IS_QUOTIENT) MT_TRY(clear_quotient(t, node, b, a));
    mt_python_add_operand(&text, a, level == EQUALITY ? RELATION : SUM);
    mt_strbuf_addf(&text, " %s ", symbol_of(op));
    mt_python_add_operand(&text, b, level == EQUALITY ? RELATION : SUM);
    st = mt_python_settle(t, node, &text, (mt_python_operand){.kind = IS_CONDITION, .level = level, .most = 1}, out);
done:
    return st;
}

static mt_status translate_comparison(mt_python_translation *t, int node, int left, int right, char op, mt_python_operand *out)
{
    mt_python_operand a = {0}, b = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(t, left, &a));
    MT_TRY(mt_python_translate(t, right, &b));
    st = compare(t, node, op, &a, &b, out);
done:
    mt_python_drop(&a);
    mt_python_drop(&b);
    return st;
}

static mt_status translate_in(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *nodes = t->python->nodes, *n = &nodes[node];
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    bool is_single = nodes[n->b].a && !nodes[nodes[n->b].a].b;
    if (nodes[n->b].kind != MT_PYTHON_LIST || !nodes[n->b].a) return mt_python_fail(t->python, n->b, t->err, "expected a list of one value at least, in brackets, behind 'in'");
    for (int cell = nodes[n->b].a; cell; cell = nodes[cell].b) {
        mt_python_operand one = {0};
        MT_TRY(translate_comparison(t, node, n->a, nodes[cell].a, '=', &one));
        if (text.length) mt_strbuf_add(&text, " || ");
        mt_python_add_operand(&text, &one, AND);
        mt_python_drop(&one);
        if (text.length > MT_PYTHON_TEXT_LIMIT) break;
    }
    st = mt_python_settle(t, node, &text, (mt_python_operand){.kind = IS_CONDITION, .level = is_single ? EQUALITY : OR, .most = 1}, out);
done:
    mt_strbuf_free(&text);
    return st;
}

/* As a condition both languages agree; Python's value of 3 or 4, which is 3, is need_integer's to refuse. */
static mt_status translate_joined(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    bool is_and = n->kind == MT_PYTHON_AND;
    mt_python_operand a = {0}, b = {0};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    int level = is_and ? AND : OR;
    MT_TRY(mt_python_translate(t, n->a, &a));
    MT_TRY(mt_python_translate(t, n->b, &b));
    MT_TRY(need_condition(t, n->a, &a));
    MT_TRY(need_condition(t, n->b, &b));
    mt_python_add_operand(&text, &a, level);
    mt_strbuf_add(&text, is_and ? " && " : " || ");
    mt_python_add_operand(&text, &b, level + 1);
    st = mt_python_settle(t, node, &text, (mt_python_operand){.kind = IS_CONDITION, .level = level, .most = 1, .is_truth = a.is_truth || b.is_truth}, out);
done:
    mt_python_drop(&a);
    mt_python_drop(&b);
    return st;
}

static mt_status translate_not(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_operand a = {0};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(t, n->a, &a));
    MT_TRY(need_condition(t, n->a, &a));
    mt_strbuf_add_char(&text, '!');
    mt_python_add_operand(&text, &a, ATOM);
    st = mt_python_settle(t, node, &text, (mt_python_operand){.kind = IS_CONDITION, .level = SIGN, .most = 1}, out);
done:
    mt_python_drop(&a);
    return st;
}

static mt_status translate_choice(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_operand yes = {0}, no = {0}, condition = {0}, made = {.level = CHOICE};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(t, n->b, &condition));
    MT_TRY(need_condition(t, n->b, &condition));
    MT_TRY(mt_python_translate(t, n->a, &yes));
    MT_TRY(mt_python_translate(t, n->c, &no));
    if (yes.kind != no.kind) {
        MT_TRY(need_condition(t, n->a, &yes));
        MT_TRY(need_condition(t, n->c, &no));
    }
    if (yes.kind != IS_CONDITION) MT_TRY(mt_python_need_integer(t, n->a, &yes));
    made.kind = yes.kind;
    made.is_truth = yes.is_truth || no.is_truth;
    made.least = yes.least < no.least ? yes.least : no.least;
    made.most = yes.most > no.most ? yes.most : no.most;
    mt_python_add_operand(&text, &condition, OR);
    mt_strbuf_add(&text, " ? ");
    mt_python_add_operand(&text, &yes, OR);
    mt_strbuf_add(&text, " : ");
    mt_python_add_operand(&text, &no, OR);
    st = mt_python_settle(t, node, &text, made, out);
done:
    mt_python_drop(&yes);
    mt_python_drop(&no);
    mt_python_drop(&condition);
    return st;
}

/* ---- functions ---- */

static mt_status translate_rounded(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_operand a = {0}, divisor = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(t, t->python->nodes[n->b].a, &a));
    if (a.kind == IS_QUOTIENT) {
        divisor = (mt_python_operand){.text = a.divisor, .least = a.divisor_least, .most = a.divisor_most};
        a.divisor = NULL;
        st = mt_python_quotient(t, node, mt_python_is(n, "ceil") ? "ceil_div" : "floor_div", &a, &divisor, out);
    } else {
        MT_TRY(mt_python_need_integer(t, node, &a));
        *out = a;
        out->kind = IS_INT;
        a = (mt_python_operand){0};
    }
done:
    mt_python_drop(&a);
    mt_python_drop(&divisor);
    return st;
}

static mt_status translate_extreme(mt_python_translation *t, int node, bool is_least, mt_python_operand *out)
{
    const mt_python_node *nodes = t->python->nodes, *n = &nodes[node];
    mt_strbuf text = {0};
    mt_python_operand made = {.level = ATOM};
    mt_status st = MT_OK;
    mt_strbuf_add(&text, is_least ? "min(" : "max(");
    for (int cell = n->b; cell; cell = nodes[cell].b) {
        mt_python_operand one = {0};
        bool is_first = cell == n->b;
        st = mt_python_translate(t, nodes[cell].a, &one);
        if (st == MT_OK) st = mt_python_need_integer(t, nodes[cell].a, &one);
        if (st == MT_OK) mt_strbuf_addf(&text, "%s%s", is_first ? "" : ", ", one.text);
        if (is_first || (is_least ? one.least < made.least : one.least > made.least)) made.least = one.least;
        if (is_first || (is_least ? one.most < made.most : one.most > made.most)) made.most = one.most;
        mt_python_drop(&one);
        if (st != MT_OK || text.length > MT_PYTHON_TEXT_LIMIT) break;
    }
    if (st == MT_OK) {
        mt_strbuf_add_char(&text, ')');
        st = mt_python_settle(t, node, &text, made, out);
    }
    mt_strbuf_free(&text);
    return st;
}

static mt_status translate_call(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    int count = 0;
    for (int cell = n->b; cell; cell = t->python->nodes[cell].b) count++;
    bool is_least = mt_python_is(n, "min");
    if ((is_least || mt_python_is(n, "max")) && count > 1 && count <= 16) return translate_extreme(t, node, is_least, out);
    if (count == 1 && (mt_python_is(n, "ceil") || mt_python_is(n, "floor") || mt_python_is(n, "int"))) return translate_rounded(t, node, out);
    return mt_python_fail(t->python, node, t->err, "%.*s of %d arguments, expected min or max of 2 to 16, or ceil, floor or int of one", (int)(n->length < 60 ? n->length : 60), n->text, count);
}

static mt_status translate_node(mt_python_translation *t, int node, mt_python_operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_strbuf text = {0};
    switch (n->kind) {
    case MT_PYTHON_INT: return mt_python_number(t, node, n->number, out);
    case MT_PYTHON_BOOL: return condition_word(t, node, n->number != 0, out);
    case MT_PYTHON_TEXT: case MT_PYTHON_REAL: return mt_python_settle(t, node, (mt_strbuf_addf(&text, "%.*s", (int)n->length, n->text), &text), (mt_python_operand){.kind = IS_LITERAL, .level = ATOM, .literal = n}, out);
    case MT_PYTHON_NAME: return mt_python_translate_name(t, node, out);
    case MT_PYTHON_NEGATIVE: return mt_python_translate_negative(t, node, out);
    case MT_PYTHON_NOT: return translate_not(t, node, out);
    case MT_PYTHON_AND: case MT_PYTHON_OR: return translate_joined(t, node, out);
    case MT_PYTHON_ARITHMETIC: return mt_python_translate_arithmetic(t, node, out);
    case MT_PYTHON_COMPARE: return translate_comparison(t, node, n->a, n->b, n->op, out);
    case MT_PYTHON_IN: return translate_in(t, node, out);
    case MT_PYTHON_CHOICE: return translate_choice(t, node, out);
    case MT_PYTHON_CALL: return translate_call(t, node, out);
    default: return mt_python_fail(t->python, node, t->err, "a list, expected one value");
    }
}

mt_status mt_python_translate(mt_python_translation *t, int node, mt_python_operand *out)
{
    if (++t->depth > DEPTH_LIMIT) return mt_python_fail(t->python, node, t->err, "nested more than %d deep", (int)DEPTH_LIMIT);
    mt_status st = translate_node(t, node, out);
    t->depth--;
    return st;
}

mt_status mt_python_condition(const mt_python *python, mt_python_scope *scope, mt_strbuf *out, mt_error *err)
{
    mt_python_translation t = {.python = python, .scope = scope, .err = err};
    mt_python_operand whole = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(&t, python->root, &whole));
    MT_TRY(need_condition(&t, python->root, &whole));
    mt_strbuf_add(out, whole.text);
done:
    mt_python_drop(&whole);
    return st;
}

mt_status mt_python_integer(const mt_python *python, mt_python_scope *scope, mt_strbuf *out, bool *reads_parameters, mt_error *err)
{
    mt_python_translation t = {.python = python, .scope = scope, .err = err};
    mt_python_operand whole = {0};
    mt_status st = MT_OK;
    MT_TRY(mt_python_translate(&t, python->root, &whole));
    MT_TRY(mt_python_need_integer(&t, python->root, &whole));
    mt_strbuf_add(out, whole.text);
    *reads_parameters = t.reads_parameters;
done:
    mt_python_drop(&whole);
    return st;
}
