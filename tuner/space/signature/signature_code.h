/* Words of C++ code, one after the other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct mt_code_word {
    const char *at; /* length 0: the end */
    size_t length;
} mt_code_word;

/* A name or number, a literal with its quotes, or one sign. Moves *at behind it. */
mt_code_word mt_code_next(const char **at);
bool mt_code_is(mt_code_word word, const char *text);
bool mt_code_is_name(mt_code_word word);
/* *at stands behind an opening bracket: moves it behind the closing one, or to the end. Returns where that stands. */
const char *mt_code_skip(const char **at, char open, char close);

/* `source` without comments and directives, which become blanks, so that places stay; mt_free. */
char *mt_code_bare(const char *source);
/* The same with its directives. */
char *mt_code_uncommented(const char *source);
