/* What the parser (expr.c) and its checks (expr_kinds.c) share. Private to expr.c. */
#pragma once

#include "tuner/space/expr/expr.h"
#include "tuner/space/expr/expr_emit.h"
#include "tuner/space/expr/expr_lex.h"

enum { MT_EXPR_NAME_SIZE = 128 };

typedef struct mt_expr_parser {
    const char *source, *where;
    size_t at;
    mt_token token; /* the one to be looked at next */
    const mt_expr_scope *scope;
    mt_items items;
    int depth;
    mt_error *err;
} mt_expr_parser;

/* What is known of a parsed part. Its items are the newest ones, so a single one can still be turned into something else. */
typedef struct mt_operand {
    mt_type type;
    size_t first; /* index of its first item */
    int column;
    bool is_identifier;     /* one bare word: may yet become a string literal beside == or != */
    bool is_unknown;        /* … and must, because no name is meant */
    bool is_literal;        /* a quoted string */
    int comparison_level;   /* precedence of the comparison it is, 0 for anything else (in parentheses too) */
    mt_expr_name name;      /* of a string-valued name: what it can be */
} mt_operand;

/* "where: column N: …" */
mt_status mt_expr_fail(const mt_expr_parser *p, int column, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "unknown name 'x', did you mean 'y'?"; candidates may be NULL */
mt_status mt_expr_fail_unknown(const mt_expr_parser *p, int column, const char *what, const char *word, const char *const *candidates, size_t count);
const char *mt_type_name(mt_type type); /* "an integer" … */
void mt_item_copy_word(char word[MT_EXPR_NAME_SIZE], const mt_item *item);

/* Every use of an operand goes through one of these, except beside == and !=, where an unknown word may be a string. */
mt_status mt_operand_settle(const mt_expr_parser *p, const mt_operand *o);
mt_status mt_operand_need_integer(const mt_expr_parser *p, const mt_operand *o, const char *user); /* conditions count as 0 and 1 */
mt_status mt_operand_need_condition(const mt_expr_parser *p, const mt_operand *o, const char *user);
mt_status mt_operand_need_list(const mt_expr_parser *p, const mt_operand *o, const char *user);
/* The two sides of == or !=; may turn words into string literals. */
mt_status mt_operand_check_equality(mt_expr_parser *p, const char *symbol, mt_operand *left, mt_operand *right);
