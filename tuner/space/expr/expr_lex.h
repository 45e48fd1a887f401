/* Tokens of expressions. Private to expr.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum mt_token_kind {
    MT_TOKEN_END,
    MT_TOKEN_NUMBER,
    MT_TOKEN_STRING, /* text without its quotes */
    MT_TOKEN_NAME,   /* identifiers joined by dots */
    MT_TOKEN_SYMBOL, /* an operator or ( ) [ ] , ? : */
    MT_TOKEN_BAD     /* problem says what is wrong */
} mt_token_kind;

typedef struct mt_token {
    mt_token_kind kind;
    const char *text; /* into the source */
    size_t length;
    int column;      /* 1-based, of the first byte */
    uint64_t number; /* NUMBER: at most 2^63, which only a minus in front makes valid */
    const char *problem;
} mt_token;

/* The token at source[*at…]; moves *at behind it. A BAD token's text is what it complains about. */
mt_token mt_token_next(const char *source, size_t *at);
