/* Python's expressions evaluated: lists of values, and conditions at one point. Integers of 64 bits; what Python would make a fraction or a longer number is refused. */
#include <math.h>
#include <string.h>

#include "db/exchange/foreign/python.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { VALUE_LIMIT = 4096 /* a knob's */, DEPTH_LIMIT = 400, STEP_LIMIT = 2000000 };

typedef struct evaluation {
    const mt_python *python;
    const mt_python_scope *scope;
    const size_t *chosen;          /* NULL: only constants can be read */
    const mt_python_node *each;    /* whose name stands for each_value; NULL = none */
    int64_t each_value;
    int depth;
    int64_t steps;
    mt_error *err;
} evaluation;

/* A text is not terminated and not owned. */
typedef struct value {
    int kind; /* of mt_python_value */
    int64_t number;
    const char *text;
    size_t length;
} value;

/* ---- names ---- */

mt_python_name *mt_python_find(const mt_python_scope *scope, const char *text, size_t length)
{
    for (size_t i = 0; i < scope->count; i++)
        if (strlen(scope->names[i].name) == length && memcmp(scope->names[i].name, text, length) == 0) return &scope->names[i];
    return NULL;
}

mt_status mt_python_add_value(mt_python_name *name, const mt_python_value *added, mt_error *err)
{
    for (size_t i = 0; i < name->count; i++) {
        const mt_python_value *other = &name->values[i];
        if (other->kind == added->kind && (added->kind == MT_PYTHON_IS_INT ? other->number == added->number : strcmp(other->text, added->text) == 0)) return MT_OK;
    }
    if (name->count == VALUE_LIMIT) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s has more than %d values", name->name, (int)VALUE_LIMIT);
    char *text = mt_strdup(added->text);
    mt_python_value *place = added->text && !text ? NULL : MT_APPEND(name->values, name->count, name->capacity);
    if (!place) {
        mt_free(text);
        return mt_no_memory(name->name, err);
    }
    *place = (mt_python_value){added->kind, added->number, text};
    name->is_text = name->is_text || added->kind != MT_PYTHON_IS_INT;
    return MT_OK;
}

void mt_python_scope_free(mt_python_scope *scope)
{
    for (size_t i = 0; i < scope->count; i++) {
        for (size_t k = 0; k < scope->names[i].count; k++) mt_free(scope->names[i].values[k].text);
        mt_free(scope->names[i].values);
        mt_free(scope->names[i].name);
    }
    mt_free(scope->names);
    *scope = (mt_python_scope){0};
}

/* ---- values ---- */

static mt_status evaluate(evaluation *e, int node, value *out);

static mt_status evaluate_int(evaluation *e, int node, int64_t *out)
{
    value result;
    mt_status st = evaluate(e, node, &result);
    if (st == MT_OK && result.kind != MT_PYTHON_IS_INT) return mt_python_fail(e->python, node, e->err, "a text or a fraction, expected an integer");
    *out = st == MT_OK ? result.number : 0;
    return st;
}

static mt_status evaluate_name(evaluation *e, int node, value *out)
{
    const mt_python_node *n = &e->python->nodes[node];
    if (e->each && n->length == e->each->length && memcmp(n->text, e->each->text, n->length) == 0) {
        *out = (value){.kind = MT_PYTHON_IS_INT, .number = e->each_value};
        return MT_OK;
    }
    const mt_python_name *name = mt_python_find(e->scope, n->text, n->length);
    if (!name || (name->is_parameter && !e->chosen)) return mt_python_fail(e->python, node, e->err, "%.*s is no constant of the file", (int)(n->length < 60 ? n->length : 60), n->text);
    const mt_python_value *is = &name->values[e->chosen ? e->chosen[name - e->scope->names] : 0];
    *out = (value){.kind = (int)is->kind, .number = is->number, .text = is->text, .length = is->text ? strlen(is->text) : 0};
    return MT_OK;
}

static bool power(int64_t base, int64_t exponent, int64_t *out)
{
    *out = 1;
    if (base == 0 || base == 1 || base == -1) exponent = exponent > 1 ? 2 - exponent % 2 : exponent;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(*out, base, out)) return false;
    return true;
}

static mt_status evaluate_arithmetic(evaluation *e, int node, int64_t *out)
{
    const mt_python_node *n = &e->python->nodes[node];
    mt_status st = MT_OK;
    int64_t a, b, rest;
    bool is_wide = false;
    MT_TRY(evaluate_int(e, n->a, &a));
    MT_TRY(evaluate_int(e, n->b, &b));
    if (strchr("q%/", n->op) && (b == 0 || (b == -1 && a == INT64_MIN))) return mt_python_fail(e->python, node, e->err, "a division by zero, or one that does not fit 64 bits");
    if (n->op == '/') return mt_python_fail(e->python, node, e->err, "'/' makes a fraction, expected // for an integer");
    if (n->op == 'p' && b < 0) return mt_python_fail(e->python, node, e->err, "a negative exponent makes a fraction, expected 0 or more");
    switch (n->op) {
    case '+': is_wide = __builtin_add_overflow(a, b, out); break;
    case '-': is_wide = __builtin_sub_overflow(a, b, out); break;
    case '*': is_wide = __builtin_mul_overflow(a, b, out); break;
    case 'p': is_wide = !power(a, b, out); break;
    default:
        rest = a % b;
        if (rest != 0 && (rest < 0) != (b < 0)) rest += b; /* Python rounds down, whatever the signs */
        *out = n->op == '%' ? rest : (a - rest) / b;
    }
    if (is_wide) st = mt_python_fail(e->python, node, e->err, "the value does not fit 64 bits");
done:
    return st;
}

static mt_status evaluate_comparison(evaluation *e, int node, char op, int left, int right, bool *out)
{
    mt_status st = MT_OK;
    value a, b;
    double x, y;
    MT_TRY(evaluate(e, left, &a));
    MT_TRY(evaluate(e, right, &b));
    int order = 0;
    if (a.kind == MT_PYTHON_IS_INT && b.kind == MT_PYTHON_IS_INT) order = (a.number > b.number) - (a.number < b.number);
    else if (a.kind != b.kind || (op != '=' && op != '!')) return mt_python_fail(e->python, node, e->err, "texts and fractions can be compared by == and != alone, with their kind");
    else if (a.kind == MT_PYTHON_IS_TEXT) order = a.length != b.length || memcmp(a.text, b.text, a.length) != 0;
    else {
        char left_text[64] = "", right_text[64] = "";
        memcpy(left_text, a.text, a.length < 63 ? a.length : 63);
        memcpy(right_text, b.text, b.length < 63 ? b.length : 63);
        order = !mt_text_double(left_text, &x) || !mt_text_double(right_text, &y) || x < y || x > y;
    }
    *out = op == '<' ? order < 0 : op == '>' ? order > 0 : op == 'l' ? order <= 0 : op == 'g' ? order >= 0 : op == '=' ? order == 0 : order != 0;
done:
    return st;
}

static mt_status evaluate_in(evaluation *e, int node, bool *out)
{
    const mt_python_node *n = &e->python->nodes[node], *list = &e->python->nodes[n->b];
    mt_status st = MT_OK;
    *out = false;
    if (list->kind != MT_PYTHON_LIST) return mt_python_fail(e->python, n->b, e->err, "expected a list in brackets behind 'in'");
    for (int cell = list->a; cell && !*out; cell = e->python->nodes[cell].b) MT_TRY(evaluate_comparison(e, node, '=', n->a, e->python->nodes[cell].a, out));
done:
    return st;
}

static mt_status evaluate_call(evaluation *e, int node, int64_t *out)
{
    const mt_python_node *nodes = e->python->nodes, *n = &nodes[node];
    mt_status st = MT_OK;
    int count = 0;
    bool is_least = mt_python_is(n, "min"), is_most = mt_python_is(n, "max"), is_round = mt_python_is(n, "ceil") || mt_python_is(n, "floor") || mt_python_is(n, "int");
    const mt_python_node *inner = n->b ? &nodes[nodes[n->b].a] : NULL;
    if (is_round && inner && inner->kind == MT_PYTHON_ARITHMETIC && inner->op == '/') {
        int64_t a, b;
        MT_TRY(evaluate_int(e, inner->a, &a));
        MT_TRY(evaluate_int(e, inner->b, &b));
        if (a < 0 || b <= 0) return mt_python_fail(e->python, node, e->err, "a quotient of negative numbers or by zero");
        *out = a / b + (mt_python_is(n, "ceil") && a % b);
        return MT_OK;
    }
    for (int cell = n->b; cell; cell = nodes[cell].b, count++) {
        int64_t one;
        MT_TRY(evaluate_int(e, nodes[cell].a, &one));
        if (!count || (is_least && one < *out) || (is_most && one > *out)) *out = one;
    }
    if (mt_python_is(n, "abs") && count == 1 && *out > INT64_MIN) {
        *out = *out < 0 ? -*out : *out;
        return MT_OK;
    }
    if (((is_least || is_most) && count > 1) || (is_round && count == 1)) return MT_OK;
    st = mt_python_fail(e->python, node, e->err, "%.*s of %d arguments is not understood, expected min, max, abs, ceil, floor or int", (int)(n->length < 60 ? n->length : 60), n->text, count);
done:
    return st;
}

static bool is_true(const value *v)
{
    double real;
    if (v->kind == MT_PYTHON_IS_INT) return v->number != 0;
    return v->length && (v->kind == MT_PYTHON_IS_TEXT || !mt_text_double(v->text, &real) || fabs(real) > 0);
}

static mt_status evaluate_node(evaluation *e, int node, value *out)
{
    const mt_python_node *n = &e->python->nodes[node];
    mt_status st = MT_OK;
    bool holds = false;
    value side;
    *out = (value){.kind = MT_PYTHON_IS_INT, .number = n->number};
    switch (n->kind) {
    case MT_PYTHON_INT: case MT_PYTHON_BOOL: break;
    case MT_PYTHON_TEXT: *out = (value){MT_PYTHON_IS_TEXT, 0, n->text, n->length}; break;
    case MT_PYTHON_REAL: *out = (value){MT_PYTHON_IS_REAL, 0, n->text, n->length}; break;
    case MT_PYTHON_NAME: st = evaluate_name(e, node, out); break;
    case MT_PYTHON_ARITHMETIC: st = evaluate_arithmetic(e, node, &out->number); break;
    case MT_PYTHON_CALL: st = evaluate_call(e, node, &out->number); break;
    case MT_PYTHON_NEGATIVE:
        MT_TRY(evaluate_int(e, n->a, &out->number));
        if (__builtin_sub_overflow((int64_t)0, out->number, &out->number)) st = mt_python_fail(e->python, node, e->err, "the value does not fit 64 bits");
        break;
    case MT_PYTHON_NOT:
        MT_TRY(evaluate(e, n->a, &side));
        out->number = !is_true(&side);
        break;
    case MT_PYTHON_AND: case MT_PYTHON_OR: /* Python's are one of their sides */
        MT_TRY(evaluate(e, n->a, out));
        if (is_true(out) == (n->kind == MT_PYTHON_AND)) st = evaluate(e, n->b, out);
        break;
    case MT_PYTHON_CHOICE:
        MT_TRY(evaluate(e, n->b, &side));
        st = evaluate(e, is_true(&side) ? n->a : n->c, out);
        break;
    case MT_PYTHON_COMPARE:
        st = evaluate_comparison(e, node, n->op, n->a, n->b, &holds);
        out->number = holds;
        break;
    case MT_PYTHON_IN:
        st = evaluate_in(e, node, &holds);
        out->number = holds;
        break;
    default: st = mt_python_fail(e->python, node, e->err, "a list, expected one value");
    }
done:
    return st;
}

static mt_status evaluate(evaluation *e, int node, value *out)
{
    if (++e->depth > DEPTH_LIMIT || ++e->steps > STEP_LIMIT) return mt_python_fail(e->python, node, e->err, "expected a shorter expression, or one nested less deep");
    mt_status st = evaluate_node(e, node, out);
    e->depth--;
    return st;
}

mt_status mt_python_holds(const mt_python *python, const mt_python_scope *scope, const size_t *chosen, bool *holds, mt_error *err)
{
    evaluation e = {.python = python, .scope = scope, .chosen = chosen, .err = err};
    value result;
    mt_status st = evaluate(&e, python->root, &result);
    *holds = st == MT_OK && is_true(&result);
    return st;
}

/* ---- lists ---- */

/* What each element is handed to: the values of a name, or the loop of a list made of another one. */
typedef struct sink {
    mt_python_name *name;
    const mt_python_node *each;
    struct sink *outer;
} sink;

static mt_status list(evaluation *e, int node, sink *to);

static mt_status hand_on(evaluation *e, const value *v, sink *to)
{
    mt_status st = MT_OK;
    value one;
    bool is_kept = true;
    if (!to->each) {
        char *text = v->kind == MT_PYTHON_IS_INT ? NULL : mt_strndup(v->text, v->length);
        if (v->kind != MT_PYTHON_IS_INT && !text) return mt_no_memory("a value", e->err);
        const mt_python_value copy = {v->kind, v->number, text};
        st = mt_python_add_value(to->name, &copy, e->err);
        mt_free(text);
        return st;
    }
    const mt_python_node *outer = e->each;
    if (v->kind != MT_PYTHON_IS_INT) return MT_FAIL(e->err, MT_ERR_UNSUPPORTED, "'%.300s': 'for' over texts or fractions, expected integers", e->python->source);
    e->each = to->each;
    e->each_value = v->number;
    if (to->each->c) {
        MT_TRY(evaluate(e, to->each->c, &one));
        is_kept = is_true(&one);
    }
    if (is_kept) {
        MT_TRY(evaluate(e, to->each->a, &one));
        st = hand_on(e, &one, to->outer);
    }
done:
    e->each = outer;
    return st;
}

static mt_status range(evaluation *e, int node, sink *to)
{
    const mt_python_node *nodes = e->python->nodes;
    int64_t part[3] = {0, 0, 1};
    int count = 0;
    mt_status st = MT_OK;
    for (int cell = nodes[node].b; cell && count < 3; cell = nodes[cell].b) MT_TRY(evaluate_int(e, nodes[cell].a, &part[count++]));
    if (count == 1) {
        part[1] = part[0];
        part[0] = 0;
    }
    if (!count || part[2] == 0) return mt_python_fail(e->python, node, e->err, "expected range(END), range(BEGIN, END) or range(BEGIN, END, STEP), STEP not 0");
    for (int64_t i = part[0]; part[2] > 0 ? i < part[1] : i > part[1];) {
        const value one = {.kind = MT_PYTHON_IS_INT, .number = i};
        if (++e->steps > STEP_LIMIT) return mt_python_fail(e->python, node, e->err, "more than %d numbers", (int)STEP_LIMIT);
        MT_TRY(hand_on(e, &one, to));
        if (__builtin_add_overflow(i, part[2], &i)) break;
    }
done:
    return st;
}

static mt_status list_node(evaluation *e, int node, sink *to)
{
    const mt_python_node *nodes = e->python->nodes, *n = &nodes[node];
    mt_status st = MT_OK;
    if (n->kind == MT_PYTHON_ARITHMETIC && n->op == '+') {
        MT_TRY(list(e, n->a, to));
        st = list(e, n->b, to);
    } else if (n->kind == MT_PYTHON_CALL && mt_python_is(n, "range")) {
        st = range(e, node, to);
    } else if (n->kind == MT_PYTHON_CALL && (mt_python_is(n, "list") || mt_python_is(n, "tuple")) && n->b && !nodes[n->b].b) {
        st = list(e, nodes[n->b].a, to);
    } else if (n->kind == MT_PYTHON_EACH) {
        sink inner = {.each = n, .outer = to};
        st = list(e, n->b, &inner);
    } else if (n->kind == MT_PYTHON_LIST) {
        for (int cell = n->a; cell; cell = nodes[cell].b) {
            value one;
            const mt_python_node *item = &nodes[nodes[cell].a];
            bool is_real = item->kind == MT_PYTHON_NEGATIVE && nodes[item->a].kind == MT_PYTHON_REAL && nodes[item->a].text > e->python->source;
            if (is_real && nodes[item->a].text[-1] == '-') one = (value){MT_PYTHON_IS_REAL, 0, nodes[item->a].text - 1, nodes[item->a].length + 1};
            else MT_TRY(evaluate(e, nodes[cell].a, &one));
            MT_TRY(hand_on(e, &one, to));
        }
    } else {
        st = mt_python_fail(e->python, node, e->err, "expected a list: [1, 2], range(…), list(range(…)), [… for NAME in …], or several with +");
    }
done:
    return st;
}

static mt_status list(evaluation *e, int node, sink *to)
{
    if (++e->depth > DEPTH_LIMIT) return mt_python_fail(e->python, node, e->err, "expected a list nested less deep");
    mt_status st = list_node(e, node, to);
    e->depth--;
    return st;
}

mt_status mt_python_values(const mt_python *python, const mt_python_scope *scope, mt_python_name *name, mt_error *err)
{
    evaluation e = {.python = python, .scope = scope, .err = err};
    sink to = {.name = name};
    mt_status st = list(&e, python->root, &to);
    if (st == MT_OK && !name->count) return MT_FAIL(err, MT_ERR_SPEC, "'%.300s' has no value, expected one at least", python->source);
    return st;
}
