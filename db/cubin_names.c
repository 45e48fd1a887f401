#include "db/cubin_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names, which end with a NUL each; NULL = none. */
static const char *names_of(const char *cubin, size_t bytes, size_t *length)
{
    char footer[MT_CUBIN_NAMES_FOOTER + 1], expected[MT_CUBIN_NAMES_FOOTER + 1];
    if (bytes < MT_CUBIN_NAMES_FOOTER) return NULL;
    memcpy(footer, cubin + bytes - MT_CUBIN_NAMES_FOOTER, MT_CUBIN_NAMES_FOOTER);
    footer[MT_CUBIN_NAMES_FOOTER] = '\0';
    *length = strtoul(footer, NULL, 16);
    snprintf(expected, sizeof expected, MT_CUBIN_NAMES_FORMAT, *length);
    if (strcmp(footer, expected) != 0 || *length == 0 || *length > bytes - MT_CUBIN_NAMES_FOOTER) return NULL;
    const char *names = cubin + bytes - MT_CUBIN_NAMES_FOOTER - *length;
    return names[*length - 1] == '\0' ? names : NULL;
}

const char *mt_cubin_symbol(const void *cubin, size_t bytes, const char *name)
{
    size_t length = 0;
    const char *at = names_of(cubin, bytes, &length), *end = at ? at + length : NULL;
    while (at && at < end) {
        const char *symbol = at + strlen(at) + 1;
        if (symbol >= end) break;
        if (strcmp(at, name) == 0) return symbol;
        at = symbol + strlen(symbol) + 1;
    }
    return name;
}
