/* Between the files python_arithmetic.c and python_expr.c: a part of an expression in both languages. */
#pragma once

#include "db/exchange/foreign/python.h"

enum { MT_PYTHON_TEXT_LIMIT = 16384 };

/* How tightly an operand binds, as in the expression language. */
enum { CHOICE, OR, AND, EQUALITY, RELATION, SUM, PRODUCT, SIGN, ATOM };

typedef struct mt_python_operand {
    enum { IS_INT, IS_CONDITION, IS_QUOTIENT, IS_LITERAL /* a text or a fraction */, IS_WORD /* a parameter of texts */ } kind;
    char *text;          /* owned; of a quotient the dividend */
    char *divisor;       /* owned; of a quotient */
    int level, divisor_level;
    bool is_truth;       /* a condition that is true where Python's value is, which need not be 0 or 1 */
    int64_t least, most; /* of a quotient's dividend */
    int64_t divisor_least, divisor_most;
    const mt_python_name *name;       /* of a word */
    const mt_python_node *literal;
} mt_python_operand;

typedef struct mt_python_translation {
    const mt_python *python;
    mt_python_scope *scope;
    bool reads_parameters;
    int depth;
    mt_error *err;
} mt_python_translation;

/* python_expr.c */
mt_status mt_python_translate(mt_python_translation *t, int node, mt_python_operand *out);

/* python_arithmetic.c */
mt_status mt_python_translate_name(mt_python_translation *t, int node, mt_python_operand *out);
mt_status mt_python_translate_arithmetic(mt_python_translation *t, int node, mt_python_operand *out);
mt_status mt_python_translate_negative(mt_python_translation *t, int node, mt_python_operand *out);
mt_status mt_python_number(mt_python_translation *t, int node, int64_t value, mt_python_operand *out);
/* floor_div or ceil_div, which take no negative numbers. */
mt_status mt_python_quotient(mt_python_translation *t, int node, const char *function, const mt_python_operand *a, const mt_python_operand *b, mt_python_operand *out);
void mt_python_drop(mt_python_operand *o);
/* Takes the buffer's text for the operand's. */
mt_status mt_python_settle(mt_python_translation *t, int node, mt_strbuf *text, mt_python_operand made, mt_python_operand *out);
void mt_python_add_text(mt_strbuf *text, const char *part, int level, int least_level); /* in parentheses where it binds less tightly */
void mt_python_add_operand(mt_strbuf *text, const mt_python_operand *o, int least_level);
mt_status mt_python_need_integer(mt_python_translation *t, int node, const mt_python_operand *o);
/* The least and the largest value of a op b, op one of + - *; false: they may not fit 64 bits. */
bool mt_python_bounds(char op, const mt_python_operand *a, const mt_python_operand *b, int64_t *least, int64_t *most);
