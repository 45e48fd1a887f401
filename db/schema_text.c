#include "db/schema_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { TEXT_LIMIT = 16 << 10 };

typedef struct word { const char *text; size_t length; } word; /* a part of the schema's text; without length "" */

static bool is_word(const word *w, const char *keyword)
{
    return (*w->text | 0x20) == (*keyword | 0x20) && strncasecmp(w->text, keyword, w->length) == 0 && !keyword[w->length];
}

static bool is_one_of(const word *w, const char *const *words)
{
    for (; *words; words++) {
        if (is_word(w, *words)) return true;
    }
    return false;
}

static bool is_word_char(char c)
{
    char low = (char)(c | 0x20);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Behind a text, a quoted name or a comment; `at` itself where none begins; NULL where it has no end. */
static const char *skip_quoted(const char *at)
{
    const char *end;
    switch (*at) {
    case '-': return at[1] == '-' ? at + strcspn(at, "\n") : at;
    case '/': return at[1] != '*' ? at : (end = strstr(at + 2, "*/")) ? end + 2 : NULL;
    case '[': return (end = strchr(at, ']')) ? end + 1 : NULL;
    case '\'': case '"': case '`': return (end = strchr(at + 1, *at)) ? end + 1 : NULL;
    default: return at;
    }
}

/* Which names and keywords stand before a '(': columns of a key, a list of values, the columns of the table itself. Anything else is a function. */
static bool opens_a_list(const word *last, const word *before, int opened)
{
    static const char *const lists[] = { "KEY", "UNIQUE", "CHECK", "IN", "AND", "OR", "NOT", "", NULL };
    return opened == 0 || is_one_of(last, lists) || is_word(before, "REFERENCES");
}

const char *mt_schema_text_problem(const char *sql)
{
    static const char *const computed[] = { "AS", "GENERATED", NULL }, *const matching[] = { "LIKE", "GLOB", "REGEXP", "MATCH", NULL };
    const word none = { "", 0 }, name = { "?", 1 };
    word last = none, before = none;
    int opened = 0; /* brackets so far */
    if (!sql) return NULL;
    if (strnlen(sql, TEXT_LIMIT) == TEXT_LIMIT) return "a definition that is too long";
    while (*sql) {
        const char *behind = skip_quoted(sql);
        if (!behind) return "a text without an end";
        if (behind != sql) {
            bool is_name = strchr("\"`[", *sql) != NULL;
            if (is_name) before = last, last = name;
            sql = behind;
        } else if (is_word_char(*sql)) {
            size_t length = 0;
            while (is_word_char(sql[length])) length++;
            before = last;
            last = (word){ sql, length };
            if (is_one_of(&last, computed)) return "a generated column";
            if (is_one_of(&last, matching)) return "an expression that matches texts";
            sql += length;
        } else {
            if (*sql == '(' && !opens_a_list(&last, &before, opened++)) return "a function in an expression";
            if (!isspace((unsigned char)*sql)) before = last, last = none;
            sql++;
        }
    }
    return NULL;
}
