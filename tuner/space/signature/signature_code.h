/* Words of C++ code, one after the other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/strbuf.h"

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

/* The namespaces around a place: "a::b::", where unnamed ones have no name. Give it each word and what stands behind it. */
typedef struct mt_code_path {
    mt_strbuf text;
    size_t lengths[64], depth; /* of the text in front of each open brace; `depth` counts all, also those that are too deep */
    bool is_next;              /* the next brace is a namespace's, whose name the text has already */
    size_t before;
} mt_code_path; /* zero-initialise; mt_strbuf_free(&path.text) */

void mt_code_path_follow(mt_code_path *path, mt_code_word word, const char *behind);

/* `source` without comments and directives, which become blanks, so that places stay; mt_free. */
char *mt_code_bare(const char *source);
/* The same with its directives. */
char *mt_code_uncommented(const char *source);
