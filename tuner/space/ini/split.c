#include "tuner/space/ini/split.h"

#include <stdbool.h>

#include "tuner/base/alloc.h"

static char *trimmed(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t')) from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
    return mt_strndup(from, (size_t)(to - from));
}

static const char *piece_end(const char *at)
{
    int depth = 0;
    bool quoted = false;
    for (; *at; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted) continue;
        if (*at == '(' || *at == '[') depth++;
        if (*at == ')' || *at == ']') depth--;
        if (*at == ',' && depth <= 0) break;
    }
    return at;
}

mt_status mt_split(const char *text, char ***items, size_t *count, mt_error *err)
{
    size_t capacity = 0;
    *items = NULL;
    *count = 0;
    if (!*text) return MT_OK;
    for (const char *at = text;; at++) {
        const char *end = piece_end(at);
        char **grown = mt_grow(*items, *count, &capacity, sizeof **items);
        if (!grown) break;
        *items = grown;
        if (!(grown[*count] = trimmed(at, end))) break;
        (*count)++;
        if (!*end) return MT_OK;
        at = end;
    }
    mt_strings_free(*items, *count);
    *items = NULL;
    *count = 0;
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}

void mt_strings_free(char **items, size_t count)
{
    if (!items) return;
    for (size_t i = 0; i < count; i++) mt_free(items[i]);
    mt_free(items);
}
