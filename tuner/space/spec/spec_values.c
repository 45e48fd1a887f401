/* Parsers of single values, shared by the rows of the key table. */
#include "tuner/space/spec/spec_internal.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

#define TARGET(type) ((type *)(void *)((char *)object + rule->offset))

mt_status mt_parse_text(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    char **target = TARGET(char *);
    mt_free(*target);
    *target = mt_strdup(value);
    return *target ? MT_OK : mt_reader_no_memory(reader, err);
}

/* Whose quotes hold words together, also where they stand around all of it. */
mt_status mt_parse_options(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    return mt_parse_text(reader, rule, entry, entry->value, object, err);
}

mt_status mt_parse_identifier(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                              mt_error *err)
{
    if (!mt_text_is_identifier(value, strlen(value))) {
        return mt_reader_fail(reader, err, entry->line, "%s = %s: expected a name made of letters, digits and _", entry->key, value);
    }
    return mt_parse_text(reader, rule, entry, value, object, err);
}

/* A C or C++ name: words with :: between them, arguments of a template, and for overloads parameters; ${NAME} anywhere. Whatever else C++ has to say of it, the compiler says. */
static bool is_kernel_name(const char *text)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_${}";
    int angle = 0, round = 0;
    if (strncmp(text, "::", 2) == 0) text += 2;
    const char *at = text + strspn(text, word);
    bool is_good = at > text && !(*text >= '0' && *text <= '9') && (!*at || strchr(":<(", *at)) && !strpbrk(text, "\"'\t;");
    for (; *at && is_good; at++) {
        if (round == 0) angle += (*at == '<') - (*at == '>');
        round += (*at == '(') - (*at == ')');
        is_good = angle >= 0 && round >= 0;
    }
    return is_good && !angle && !round;
}

mt_status mt_parse_kernel_name(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, const char *expected, mt_error *err)
{
    static const char blanks[] = " \t";
    size_t head = strcspn(value, "<(");
    mt_strbuf name = {0};
    for (size_t i = 0; i < head; i++) {
        size_t next = i + strspn(value + i, blanks);
        bool is_beside = next >= head || value[next] == ':' || (name.length && name.text[name.length - 1] == ':');
        if (next == i || !is_beside) mt_strbuf_add_char(&name, value[i]);
    }
    mt_strbuf_add(&name, value + head);
    mt_status st = name.failed                            ? mt_reader_no_memory(reader, err)
                   : is_kernel_name(mt_strbuf_text(&name)) ? mt_parse_text(reader, rule, entry, mt_strbuf_text(&name), object, err)
                                                           : mt_reader_fail(reader, err, entry->line, "%s = %s: expected %s", entry->key, value, expected);
    mt_strbuf_free(&name);
    return st;
}

mt_status mt_parse_entry(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    return mt_parse_kernel_name(reader, rule, entry, value, object, "a kernel's name, such as scale, ns::scale, scale<float, ${TILE}>, or of overloads scale(float *, int); without quotes, and < or > outside of brackets within <>", err);
}

/* Its name in compiled code is found by its C++ name there. */
mt_status mt_parse_variable(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    const char *at = value += strncmp(value, "::", 2) == 0 ? 2 : 0; /* compiled code has no name for what is outside */
    for (size_t length = strcspn(at, ":"); mt_text_is_identifier(at, length); at += length + 2, length = strcspn(at, ":")) {
        if (!at[length]) return mt_parse_text(reader, rule, entry, value, object, err);
        if (at[length + 1] != ':') break;
    }
    return mt_reader_fail(reader, err, entry->line, "%s = %s: expected the name of a variable, such as filter or ns::filter", entry->key, value);
}

mt_status mt_parse_path(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    if (!*value) return mt_reader_fail(reader, err, entry->line, "%s is empty: expected a path relative to this file", entry->key);
    char **target = TARGET(char *);
    mt_free(*target);
    *target = mt_reader_resolve(reader, entry->line, value);
    return *target ? MT_OK : mt_reader_no_memory(reader, err);
}

mt_status mt_parse_bool(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    if (!mt_text_bool(value, TARGET(bool))) {
        return mt_reader_fail(reader, err, entry->line, "%s = %s: expected yes or no", entry->key, value);
    }
    return MT_OK;
}

static mt_status choose(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, int *chosen, mt_error *err)
{
    const mt_choice *choices = rule->detail;
    const char *names[16];
    size_t count = 0;
    for (; choices[count].name; count++) {
        names[count] = choices[count].name;
        if (strcmp(names[count], value) == 0) {
            *chosen = choices[count].value;
            return MT_OK;
        }
    }
    char hint[256];
    return mt_reader_fail(reader, err, entry->line, "%s = %s is not known%s", entry->key, value,
                          mt_reader_suggest(value, names, count, hint, sizeof hint));
}

mt_status mt_parse_choice(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                          mt_error *err)
{
    int chosen = 0;
    mt_status st = choose(reader, rule, entry, value, &chosen, err);
    if (st == MT_OK) memcpy(TARGET(char), &chosen, sizeof chosen); /* enum or int: both have int's size here */
    return st;
}

mt_status mt_parse_flag(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    int chosen = 0;
    mt_status st = choose(reader, rule, entry, value, &chosen, err);
    if (st == MT_OK) *TARGET(bool) = chosen != 0;
    return st;
}

static mt_status out_of_range(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *what, const char *value,
                              mt_error *err)
{
    const mt_range *range = rule->detail;
    if (isinf(range->high)) {
        return mt_reader_fail(reader, err, entry->line, "%s = %s: expected %s %s %g", entry->key, value, what,
                              range->low_open ? "above" : "of at least", range->low);
    }
    return mt_reader_fail(reader, err, entry->line, "%s = %s: expected %s %s %g and at most %.15g", entry->key, value, what,
                          range->low_open ? "above" : "of at least", range->low, range->high);
}

static bool in_range(const mt_range *range, double number)
{
    return (range->low_open ? number > range->low : number >= range->low) && number <= range->high;
}

mt_status mt_parse_int64(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                         mt_error *err)
{
    int64_t number;
    if (!mt_text_int64(value, strlen(value), &number) || !in_range(rule->detail, (double)number)) {
        return out_of_range(reader, rule, entry, "an integer", value, err);
    }
    *TARGET(int64_t) = number;
    return MT_OK;
}

mt_status mt_parse_double(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                          mt_error *err)
{
    double number;
    if (!mt_text_double(value, &number) || !in_range(rule->detail, number)) {
        return out_of_range(reader, rule, entry, "a number", value, err);
    }
    *TARGET(double) = number;
    return MT_OK;
}

mt_status mt_parse_int_expr(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                            mt_error *err)
{
    return mt_scope_expr(reader, entry->line, value, MT_TYPE_INT, TARGET(mt_expr), err);
}

mt_status mt_parse_bool_expr(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                             mt_error *err)
{
    return mt_scope_expr(reader, entry->line, value, MT_TYPE_BOOL, TARGET(mt_expr), err);
}

mt_status mt_parse_expr_list(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                             mt_error *err)
{
    mt_status st = MT_OK;
    mt_expr_list *list = TARGET(mt_expr_list);
    const mt_range *range = rule->detail; /* of the number of expressions */
    char **items = NULL;
    size_t count = 0;
    MT_TRY(mt_split(value, &items, &count, err));
    if (!in_range(range, (double)count)) {
        st = mt_reader_fail(reader, err, entry->line, "%s has %zu expressions: expected %g to %g, separated by commas", entry->key, count,
                            range->low, range->high);
        goto done;
    }
    list->items = mt_alloc(count, sizeof *list->items);
    if (!list->items) MT_LEAVE(mt_reader_no_memory(reader, err));
    for (size_t i = 0; i < count; i++) {
        list->count = i + 1; /* so that a failure below is cleaned up with the rest */
        MT_TRY(mt_scope_expr(reader, entry->line, items[i], MT_TYPE_INT, &list->items[i], err));
    }
done:
    mt_strings_free(items, count);
    return st;
}

void mt_expr_list_free(mt_expr_list *list)
{
    for (size_t i = 0; i < list->count; i++) mt_expr_free(&list->items[i]);
    mt_free(list->items);
    list->items = NULL;
    list->count = 0;
}
