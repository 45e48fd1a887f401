/* Python's conditions as expressions of search spaces. Each part is known with the least and the largest value that it can have, which says where both languages agree:
 * Python's // and % round down whatever the signs, its / makes fractions, its integers have no end. */
#include <string.h>

#include "db/exchange/python.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { DEPTH_LIMIT = 60 /* the expression language's */, TEXT_LIMIT = 16384, FACTOR_LIMIT = 16 };
static const int64_t exact_quotient = (int64_t)1 << 50; /* below it a rounded quotient lies on the same side of any integer as the exact one */

/* How tightly an operand binds, as in the expression language. */
enum { CHOICE, OR, AND, EQUALITY, RELATION, SUM, PRODUCT, SIGN, ATOM };

typedef struct operand {
    enum { IS_INT, IS_CONDITION, IS_QUOTIENT, IS_LITERAL /* a text or a fraction */, IS_WORD /* a parameter of texts */ } kind;
    char *text;          /* owned; of a quotient the dividend */
    char *divisor;       /* owned; of a quotient */
    int level, divisor_level;
    bool is_truth;       /* a condition that is true where Python's value is, which need not be 0 or 1 */
    int64_t least, most; /* of a quotient's dividend */
    int64_t divisor_least, divisor_most;
    const mt_python_name *name;       /* of a word */
    const mt_python_node *literal;
} operand;

typedef struct translation {
    const mt_python *python;
    mt_python_scope *scope;
    bool reads_parameters;
    int depth;
    mt_error *err;
} translation;

static mt_status translate(translation *t, int node, operand *out);

static void drop(operand *o)
{
    mt_free(o->text);
    mt_free(o->divisor);
    *o = (operand){0};
}

/* Takes the buffer's text for the operand's. */
static mt_status settle(translation *t, int node, mt_strbuf *text, operand made, operand *out)
{
    bool is_long = text->length > TEXT_LIMIT;
    *out = made;
    out->text = mt_strbuf_take(text);
    if (!out->text) return mt_no_memory("an expression", t->err);
    return is_long ? mt_python_fail(t->python, node, t->err, "expected a shorter expression") : MT_OK;
}

static void add_text(mt_strbuf *text, const char *part, int level, int least_level)
{
    mt_strbuf_addf(text, level < least_level ? "(%s)" : "%s", part);
}

static void add_operand(mt_strbuf *text, const operand *o, int least_level)
{
    add_text(text, o->text, o->level, least_level);
}

/* ---- names and literals ---- */

static mt_status translate_name(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_python_name *name = mt_python_find(t->scope, n->text, n->length);
    mt_strbuf text = {0};
    operand made = {.level = ATOM};
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
    return settle(t, node, &text, made, out);
}

static mt_status number(translation *t, int node, int64_t value, operand *out)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%lld", (long long)value);
    return settle(t, node, &text, (operand){.level = value < 0 ? SIGN : ATOM, .least = value, .most = value}, out);
}

static mt_status condition_word(translation *t, int node, bool value, operand *out)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, value ? "true" : "false");
    return settle(t, node, &text, (operand){.kind = IS_CONDITION, .level = ATOM, .least = value, .most = value}, out);
}

/* ---- what an operand is used as ---- */

static mt_status need_integer(translation *t, int node, const operand *o)
{
    if (o->is_truth) return mt_python_fail(t->python, node, t->err, "'and' or 'or' of integers used as a number, expected conditions");
    if (o->kind == IS_INT || o->kind == IS_CONDITION) return MT_OK; /* a condition counts as 0 or 1 in both languages */
    return mt_python_fail(t->python, node, t->err, o->kind == IS_QUOTIENT ? "'/' makes a fraction, expected // for an integer, or ceil(a / b), or a comparison with an integer" : "a text or a fraction, expected an integer");
}

/* An integer that is true where it is not 0. */
static mt_status need_condition(translation *t, int node, operand *o)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    operand made = {.kind = IS_CONDITION, .level = EQUALITY, .most = 1, .is_truth = true};
    if (o->kind == IS_CONDITION) return MT_OK;
    MT_TRY(need_integer(t, node, o));
    add_operand(&text, o, RELATION);
    mt_strbuf_add(&text, " != 0");
    drop(o);
    st = settle(t, node, &text, made, o);
done:
    return st;
}

/* ---- arithmetic ---- */

static bool bounds(char op, const operand *a, const operand *b, int64_t *least, int64_t *most)
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

static mt_status power(translation *t, int node, const operand *a, const operand *b, operand *out)
{
    operand made = {.level = PRODUCT, .least = 1, .most = 1};
    mt_strbuf text = {0};
    if (b->least != b->most || b->least < 0 || b->least > 62) return mt_python_fail(t->python, node, t->err, "expected ** with a constant of 0 to 62");
    for (int64_t i = 0; i < b->least; i++)
        if (!bounds('*', &made, a, &made.least, &made.most)) return mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    if (made.least == made.most) return number(t, node, made.least, out);
    if (b->least > FACTOR_LIMIT) return mt_python_fail(t->python, node, t->err, "expected an exponent of at most %d", (int)FACTOR_LIMIT);
    for (int64_t i = 0; i < b->least; i++) {
        if (i) mt_strbuf_add(&text, " * ");
        add_operand(&text, a, SIGN);
    }
    return settle(t, node, &text, made, out);
}

/* Python's remainder has the divisor's sign. */
static mt_status remainder_of(translation *t, int node, const operand *a, const operand *b, operand *out)
{
    mt_strbuf text = {0};
    operand made = {.level = PRODUCT, .most = b->most - 1};
    if (b->least < 0 || b->most <= 0 || (a->least < 0 && b->least < 1)) return mt_python_fail(t->python, node, t->err, "expected a divisor that is never negative");
    if (a->least >= 0 && a->most < made.most) made.most = a->most;
    if (a->least < 0 && b->most > INT64_MAX / 2) return mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    if (a->least < 0) mt_strbuf_add_char(&text, '(');
    add_operand(&text, a, PRODUCT);
    mt_strbuf_add(&text, " % ");
    add_operand(&text, b, SIGN);
    if (a->least < 0) {
        mt_strbuf_add(&text, " + ");
        add_operand(&text, b, PRODUCT);
        mt_strbuf_add(&text, ") % ");
        add_operand(&text, b, SIGN);
    }
    return settle(t, node, &text, made, out);
}

/* floor_div and ceil_div take no negative numbers. */
static mt_status quotient(translation *t, int node, const char *function, const operand *a, const operand *b, operand *out)
{
    mt_strbuf text = {0};
    operand made = {.level = ATOM};
    if (a->least < 0 || b->least < 0) return mt_python_fail(t->python, node, t->err, "a division of numbers that may be negative, expected 0 or more");
    made.least = b->most > 0 ? a->least / b->most : 0;
    made.most = b->least > 0 ? a->most / b->least + (a->most % b->least != 0) : a->most;
    mt_strbuf_addf(&text, "%s(%s, %s)", function, a->text, b->text);
    return settle(t, node, &text, made, out);
}

static mt_status take_apart(translation *t, int node, operand *a, operand *b, operand *out)
{
    if (b->least <= 0) return mt_python_fail(t->python, node, t->err, "expected a divisor of '/' that is above 0");
    if (a->most > exact_quotient || a->least < -exact_quotient || b->most > exact_quotient) return mt_python_fail(t->python, node, t->err, "a quotient of numbers above 2^50, which Python rounds");
    *out = *a;
    out->kind = IS_QUOTIENT;
    out->divisor = b->text;
    out->divisor_level = b->level;
    out->divisor_least = b->least;
    out->divisor_most = b->most;
    *a = *b = (operand){0};
    return MT_OK;
}

static mt_status translate_arithmetic(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    operand a = {0}, b = {0}, made = {.level = n->op == '*' ? PRODUCT : SUM};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(t, n->a, &a));
    MT_TRY(translate(t, n->b, &b));
    MT_TRY(need_integer(t, n->a, &a));
    MT_TRY(need_integer(t, n->b, &b));
    if (n->op == 'p') st = power(t, node, &a, &b, out);
    else if (n->op == '%') st = remainder_of(t, node, &a, &b, out);
    else if (n->op == 'q') st = quotient(t, node, "floor_div", &a, &b, out);
    else if (n->op == '/') st = take_apart(t, node, &a, &b, out);
    else if (!bounds(n->op, &a, &b, &made.least, &made.most)) st = mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    else {
        add_operand(&text, &a, made.level);
        mt_strbuf_addf(&text, " %c ", n->op);
        add_operand(&text, &b, made.level + 1);
        st = settle(t, node, &text, made, out);
    }
done:
    drop(&a);
    drop(&b);
    return st;
}

static mt_status translate_negative(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    operand a = {0};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(t, n->a, &a));
    MT_TRY(need_integer(t, n->a, &a));
    if (a.least == INT64_MIN) st = mt_python_fail(t->python, node, t->err, "the value may not fit 64 bits");
    else {
        mt_strbuf_add_char(&text, '-');
        add_operand(&text, &a, ATOM);
        st = settle(t, node, &text, (operand){.level = SIGN, .least = -a.most, .most = -a.least}, out);
    }
done:
    drop(&a);
    return st;
}

/* ---- conditions ---- */

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
static mt_status compare_word(translation *t, int node, char op, const operand *word, const operand *literal, operand *out)
{
    mt_strbuf text = {0};
    if (word->kind != IS_WORD || literal->kind != IS_LITERAL || (op != '=' && op != '!')) return mt_python_fail(t->python, node, t->err, "a text or a fraction here, expected PARAMETER == or != VALUE");
    for (size_t i = 0; i < word->name->count; i++) {
        const mt_python_value *value = &word->name->values[i];
        if (!is_same_value(value, literal->literal)) continue;
        mt_strbuf_addf(&text, "%s %s \"%s\"", word->text, symbol_of(op), value->text);
        return settle(t, node, &text, (operand){.kind = IS_CONDITION, .level = EQUALITY, .most = 1}, out);
    }
    return condition_word(t, node, op == '!', out);
}

/* a / b < c is a < c * b, b being above 0. */
static mt_status clear_quotient(translation *t, int node, operand *one, operand *other)
{
    mt_strbuf text = {0};
    operand made = {.level = PRODUCT};
    const operand divisor = {.least = one->divisor_least, .most = one->divisor_most};
    if (other->kind == IS_QUOTIENT || !bounds('*', other, &divisor, &made.least, &made.most)) return mt_python_fail(t->python, node, t->err, "expected a quotient beside an integer");
    add_operand(&text, other, PRODUCT);
    mt_strbuf_add(&text, " * ");
    add_text(&text, one->divisor, one->divisor_level, SIGN);
    one->kind = IS_INT;
    mt_free(one->divisor);
    one->divisor = NULL;
    drop(other);
    return settle(t, node, &text, made, other);
}

static mt_status compare(translation *t, int node, char op, operand *a, operand *b, operand *out)
{
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    int level = op == '=' || op == '!' ? EQUALITY : RELATION;
    if (a->kind == IS_WORD || b->kind == IS_LITERAL) return compare_word(t, node, op, a, b, out);
    if (b->kind == IS_WORD || a->kind == IS_LITERAL) return compare_word(t, node, op, b, a, out);
    if (a->kind == IS_QUOTIENT) MT_TRY(clear_quotient(t, node, a, b));
    else if (b->kind == IS_QUOTIENT) MT_TRY(clear_quotient(t, node, b, a));
    add_operand(&text, a, level == EQUALITY ? RELATION : SUM);
    mt_strbuf_addf(&text, " %s ", symbol_of(op));
    add_operand(&text, b, level == EQUALITY ? RELATION : SUM);
    st = settle(t, node, &text, (operand){.kind = IS_CONDITION, .level = level, .most = 1}, out);
done:
    return st;
}

static mt_status translate_comparison(translation *t, int node, int left, int right, char op, operand *out)
{
    operand a = {0}, b = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(t, left, &a));
    MT_TRY(translate(t, right, &b));
    st = compare(t, node, op, &a, &b, out);
done:
    drop(&a);
    drop(&b);
    return st;
}

static mt_status translate_in(translation *t, int node, operand *out)
{
    const mt_python_node *nodes = t->python->nodes, *n = &nodes[node];
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    bool is_single = nodes[n->b].a && !nodes[nodes[n->b].a].b;
    if (nodes[n->b].kind != MT_PYTHON_LIST) return mt_python_fail(t->python, n->b, t->err, "expected a list in brackets behind 'in'");
    if (!nodes[n->b].a) return condition_word(t, node, false, out);
    for (int cell = nodes[n->b].a; cell; cell = nodes[cell].b) {
        operand one = {0};
        MT_TRY(translate_comparison(t, node, n->a, nodes[cell].a, '=', &one));
        if (text.length) mt_strbuf_add(&text, " || ");
        add_operand(&text, &one, AND);
        drop(&one);
        if (text.length > TEXT_LIMIT) break;
    }
    st = settle(t, node, &text, (operand){.kind = IS_CONDITION, .level = is_single ? EQUALITY : OR, .most = 1}, out);
done:
    mt_strbuf_free(&text);
    return st;
}

/* As a condition both languages agree; Python's value of 3 or 4, which is 3, is need_integer's to refuse. */
static mt_status translate_joined(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    bool is_and = n->kind == MT_PYTHON_AND;
    operand a = {0}, b = {0};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    int level = is_and ? AND : OR;
    MT_TRY(translate(t, n->a, &a));
    MT_TRY(translate(t, n->b, &b));
    MT_TRY(need_condition(t, n->a, &a));
    MT_TRY(need_condition(t, n->b, &b));
    add_operand(&text, &a, level);
    mt_strbuf_add(&text, is_and ? " && " : " || ");
    add_operand(&text, &b, level + 1);
    st = settle(t, node, &text, (operand){.kind = IS_CONDITION, .level = level, .most = 1, .is_truth = a.is_truth || b.is_truth}, out);
done:
    drop(&a);
    drop(&b);
    return st;
}

static mt_status translate_not(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    operand a = {0};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(t, n->a, &a));
    MT_TRY(need_condition(t, n->a, &a));
    mt_strbuf_add_char(&text, '!');
    add_operand(&text, &a, ATOM);
    st = settle(t, node, &text, (operand){.kind = IS_CONDITION, .level = SIGN, .most = 1}, out);
done:
    drop(&a);
    return st;
}

static mt_status translate_choice(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    operand yes = {0}, no = {0}, condition = {0}, made = {.level = CHOICE};
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(t, n->b, &condition));
    MT_TRY(need_condition(t, n->b, &condition));
    MT_TRY(translate(t, n->a, &yes));
    MT_TRY(translate(t, n->c, &no));
    if (yes.kind != no.kind) {
        MT_TRY(need_condition(t, n->a, &yes));
        MT_TRY(need_condition(t, n->c, &no));
    }
    if (yes.kind != IS_CONDITION) MT_TRY(need_integer(t, n->a, &yes));
    made.kind = yes.kind;
    made.is_truth = yes.is_truth || no.is_truth;
    made.least = yes.least < no.least ? yes.least : no.least;
    made.most = yes.most > no.most ? yes.most : no.most;
    add_operand(&text, &condition, OR);
    mt_strbuf_add(&text, " ? ");
    add_operand(&text, &yes, OR);
    mt_strbuf_add(&text, " : ");
    add_operand(&text, &no, OR);
    st = settle(t, node, &text, made, out);
done:
    drop(&yes);
    drop(&no);
    drop(&condition);
    return st;
}

/* ---- functions ---- */

static mt_status translate_rounded(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    operand a = {0}, divisor = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(t, t->python->nodes[n->b].a, &a));
    if (a.kind == IS_QUOTIENT) {
        divisor = (operand){.text = a.divisor, .least = a.divisor_least, .most = a.divisor_most};
        a.divisor = NULL;
        st = quotient(t, node, mt_python_is(n, "ceil") ? "ceil_div" : "floor_div", &a, &divisor, out);
    } else {
        MT_TRY(need_integer(t, node, &a));
        *out = a;
        out->kind = IS_INT;
        a = (operand){0};
    }
done:
    drop(&a);
    drop(&divisor);
    return st;
}

static mt_status translate_extreme(translation *t, int node, bool is_least, operand *out)
{
    const mt_python_node *nodes = t->python->nodes, *n = &nodes[node];
    mt_strbuf text = {0};
    operand made = {.level = ATOM};
    mt_status st = MT_OK;
    mt_strbuf_add(&text, is_least ? "min(" : "max(");
    for (int cell = n->b; cell; cell = nodes[cell].b) {
        operand one = {0};
        bool is_first = cell == n->b;
        st = translate(t, nodes[cell].a, &one);
        if (st == MT_OK) st = need_integer(t, nodes[cell].a, &one);
        if (st == MT_OK) mt_strbuf_addf(&text, "%s%s", is_first ? "" : ", ", one.text);
        if (is_first || (is_least ? one.least < made.least : one.least > made.least)) made.least = one.least;
        if (is_first || (is_least ? one.most < made.most : one.most > made.most)) made.most = one.most;
        drop(&one);
        if (st != MT_OK || text.length > TEXT_LIMIT) break;
    }
    if (st == MT_OK) {
        mt_strbuf_add_char(&text, ')');
        st = settle(t, node, &text, made, out);
    }
    mt_strbuf_free(&text);
    return st;
}

static mt_status translate_call(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    int count = 0;
    for (int cell = n->b; cell; cell = t->python->nodes[cell].b) count++;
    bool is_least = mt_python_is(n, "min");
    if ((is_least || mt_python_is(n, "max")) && count > 1 && count <= 16) return translate_extreme(t, node, is_least, out);
    if (count == 1 && (mt_python_is(n, "ceil") || mt_python_is(n, "floor") || mt_python_is(n, "int"))) return translate_rounded(t, node, out);
    return mt_python_fail(t->python, node, t->err, "%.*s of %d arguments, expected min or max of 2 to 16, or ceil, floor or int of one", (int)(n->length < 60 ? n->length : 60), n->text, count);
}

static mt_status translate_node(translation *t, int node, operand *out)
{
    const mt_python_node *n = &t->python->nodes[node];
    mt_strbuf text = {0};
    switch (n->kind) {
    case MT_PYTHON_INT: return number(t, node, n->number, out);
    case MT_PYTHON_BOOL: return condition_word(t, node, n->number != 0, out);
    case MT_PYTHON_TEXT: case MT_PYTHON_REAL: return settle(t, node, (mt_strbuf_addf(&text, "%.*s", (int)n->length, n->text), &text), (operand){.kind = IS_LITERAL, .level = ATOM, .literal = n}, out);
    case MT_PYTHON_NAME: return translate_name(t, node, out);
    case MT_PYTHON_NEGATIVE: return translate_negative(t, node, out);
    case MT_PYTHON_NOT: return translate_not(t, node, out);
    case MT_PYTHON_AND: case MT_PYTHON_OR: return translate_joined(t, node, out);
    case MT_PYTHON_ARITHMETIC: return translate_arithmetic(t, node, out);
    case MT_PYTHON_COMPARE: return translate_comparison(t, node, n->a, n->b, n->op, out);
    case MT_PYTHON_IN: return translate_in(t, node, out);
    case MT_PYTHON_CHOICE: return translate_choice(t, node, out);
    case MT_PYTHON_CALL: return translate_call(t, node, out);
    default: return mt_python_fail(t->python, node, t->err, "a list, expected one value");
    }
}

static mt_status translate(translation *t, int node, operand *out)
{
    if (++t->depth > DEPTH_LIMIT) return mt_python_fail(t->python, node, t->err, "nested more than %d deep", (int)DEPTH_LIMIT);
    mt_status st = translate_node(t, node, out);
    t->depth--;
    return st;
}

mt_status mt_python_condition(const mt_python *python, mt_python_scope *scope, mt_strbuf *out, mt_error *err)
{
    translation t = {.python = python, .scope = scope, .err = err};
    operand whole = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(&t, python->root, &whole));
    MT_TRY(need_condition(&t, python->root, &whole));
    mt_strbuf_add(out, whole.text);
done:
    drop(&whole);
    return st;
}

mt_status mt_python_integer(const mt_python *python, mt_python_scope *scope, mt_strbuf *out, bool *reads_parameters, mt_error *err)
{
    translation t = {.python = python, .scope = scope, .err = err};
    operand whole = {0};
    mt_status st = MT_OK;
    MT_TRY(translate(&t, python->root, &whole));
    MT_TRY(need_integer(&t, python->root, &whole));
    mt_strbuf_add(out, whole.text);
    *reads_parameters = t.reads_parameters;
done:
    drop(&whole);
    return st;
}
