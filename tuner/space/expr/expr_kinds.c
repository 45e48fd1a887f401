/* What operands are: kinds, unknown names, and which words are meant as strings. */
#include <stdarg.h>
#include <string.h>

#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/space/expr/expr_internal.h"

mt_status mt_expr_fail(const mt_expr_parser *p, int column, const char *format, ...)
{
    mt_strbuf message = {0};
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&message, format, args);
    va_end(args);
    if (p->scope->column) column += p->scope->column - 1;
    mt_status st = MT_FAIL(p->err, MT_ERR_SYNTAX, "%s: column %d: %s", p->where, column, mt_strbuf_text(&message));
    mt_strbuf_free(&message);
    return st;
}

const char *mt_type_name(mt_type type)
{
    static const char *const names[] = {[MT_TYPE_INT] = "an integer", [MT_TYPE_BOOL] = "a condition", [MT_TYPE_STRING] = "a string", [MT_TYPE_LIST] = "a list"};
    return names[type];
}

mt_status mt_expr_fail_unknown(const mt_expr_parser *p, int column, const char *what, const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = candidates ? mt_text_nearest(word, candidates, count) : NULL;
    if (nearest) return mt_expr_fail(p, column, "unknown %s '%s', did you mean '%s'?", what, word, nearest);
    return mt_expr_fail(p, column, "unknown %s '%s'", what, word);
}

void mt_item_copy_word(char word[MT_EXPR_NAME_SIZE], const mt_item *item)
{
    size_t length = item->length < MT_EXPR_NAME_SIZE ? item->length : MT_EXPR_NAME_SIZE - 1;
    memcpy(word, item->text, length);
    word[length] = '\0';
}

/* ---- kinds ---- */

mt_status mt_operand_settle(const mt_expr_parser *p, const mt_operand *o)
{
    if (!o->is_unknown || p->items.failed) return MT_OK;
    char word[MT_EXPR_NAME_SIZE];
    mt_item_copy_word(word, &p->items.list[o->first]);
    const char *const *names = NULL;
    size_t count = p->scope->names ? p->scope->names(p->scope->context, &names) : 0;
    return mt_expr_fail_unknown(p, o->column, "name", word, names, count);
}

mt_status mt_operand_need_integer(const mt_expr_parser *p, const mt_operand *o, const char *user)
{
    mt_status st = mt_operand_settle(p, o);
    if (st != MT_OK || o->type == MT_TYPE_INT || o->type == MT_TYPE_BOOL) return st;
    return mt_expr_fail(p, o->column, "'%s' needs an integer, found %s", user, mt_type_name(o->type));
}

mt_status mt_operand_need_condition(const mt_expr_parser *p, const mt_operand *o, const char *user)
{
    mt_status st = mt_operand_settle(p, o);
    if (st != MT_OK || o->type == MT_TYPE_BOOL) return st;
    const char *advice = o->type == MT_TYPE_INT ? " (compare it, for example != 0)" : "";
    return mt_expr_fail(p, o->column, "'%s' needs a condition, found %s%s", user, mt_type_name(o->type), advice);
}

mt_status mt_operand_need_list(const mt_expr_parser *p, const mt_operand *o, const char *user)
{
    mt_status st = mt_operand_settle(p, o);
    if (st != MT_OK || o->type == MT_TYPE_LIST) return st;
    return mt_expr_fail(p, o->column, "'%s' needs a list here, found %s", user, mt_type_name(o->type));
}

/* ---- strings beside == and != ---- */

static bool has_value(const mt_expr_name *name, const mt_item *word)
{
    for (size_t i = 0; i < name->value_count; i++)
        if (strlen(name->values[i]) == word->length && memcmp(name->values[i], word->text, word->length) == 0) return true;
    return false;
}

/* A word that names nothing, or that is one of the other side's values, is meant as a string. */
static bool is_meant_as_string(const mt_expr_parser *p, const mt_operand *word, const mt_operand *other)
{
    if (!word->is_identifier || other->is_unknown || other->is_literal || other->type != MT_TYPE_STRING) return false;
    return word->is_unknown || has_value(&other->name, &p->items.list[word->first]);
}

static mt_status fail_not_a_value(const mt_expr_parser *p, const mt_operand *literal, const mt_operand *other)
{
    char word[MT_EXPR_NAME_SIZE], owner[MT_EXPR_NAME_SIZE];
    mt_item_copy_word(word, &p->items.list[literal->first]);
    mt_item_copy_word(owner, &p->items.list[other->first]);
    const char *nearest = mt_text_nearest(word, other->name.values, other->name.value_count);
    if (nearest) return mt_expr_fail(p, literal->column, "'%s' is not a value of %s, did you mean '%s'?", word, owner, nearest);
    mt_strbuf list = {0};
    for (size_t i = 0; i < other->name.value_count && i < 8; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", other->name.values[i]);
    if (other->name.value_count > 8) mt_strbuf_add(&list, ", …");
    mt_status st = mt_expr_fail(p, literal->column, "'%s' is not a value of %s, expected one of %s", word, owner, mt_strbuf_text(&list));
    mt_strbuf_free(&list);
    return st;
}

/* Turns `side` into a string literal if it is meant as one, and checks literals against what the other side can be. */
static mt_status settle_string(mt_expr_parser *p, mt_operand *side, const mt_operand *other)
{
    if (p->items.failed) return MT_OK;
    if (is_meant_as_string(p, side, other)) {
        p->items.list[side->first].form = MT_ITEM_STRING;
        side->type = MT_TYPE_STRING;
        side->is_unknown = side->is_identifier = false;
        side->is_literal = true;
    }
    if (!side->is_literal || !other->name.values || has_value(&other->name, &p->items.list[side->first])) return MT_OK;
    return fail_not_a_value(p, side, other);
}

mt_status mt_operand_check_equality(mt_expr_parser *p, const char *symbol, mt_operand *left, mt_operand *right)
{
    mt_status st;
    MT_TRY(settle_string(p, left, right));
    MT_TRY(settle_string(p, right, left));
    MT_TRY(mt_operand_settle(p, left));
    MT_TRY(mt_operand_settle(p, right));
    if (left->type == MT_TYPE_STRING && right->type == MT_TYPE_STRING) return MT_OK;
    if (left->type == MT_TYPE_STRING || right->type == MT_TYPE_STRING)
        return mt_expr_fail(p, right->column, "'%s' compares %s with %s", symbol, mt_type_name(left->type), mt_type_name(right->type));
    MT_TRY(mt_operand_need_integer(p, left, symbol));
    MT_TRY(mt_operand_need_integer(p, right, symbol));
done:
    return st;
}
