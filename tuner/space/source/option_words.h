/* The words of an `options` text: quotes hold blanks together, and what names a folder or a header is told from what goes to NVRTC as it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"

typedef enum mt_word_kind {
    MT_WORD_END,
    MT_WORD_PLAIN,  /* NVRTC's */
    MT_WORD_FOLDER, /* of -I: the text is the path */
    MT_WORD_HEADER, /* of -include: the text is the path */
    MT_WORD_FILE,   /* names a file that the tool can't follow: @file, precompiled headers, what is handed on unseen */
    MT_WORD_OUTPUT, /* makes the compiler write a file */
    MT_WORD_TARGET, /* says what is compiled for, or that nothing is */
    MT_WORD_LINKED  /* asks for code that only a linker makes whole */
} mt_word_kind;

typedef struct mt_word {
    mt_word_kind kind;
    char *text; /* owned; NULL at the end */
} mt_word;

/* Takes the next word at *at and moves *at behind it. Double and single quotes keep blanks together; they stay in the word, except around all of it and around a path. `-I`, `-include`, `-D`, `-U`
 * and what hands an option on (`-Xptxas`) may stand alone in front of what they mean. */
mt_status mt_word_next(const char **at, mt_word *word, mt_error *err);
/* Why no `options` may hold a word of that kind, and what was expected; NULL: they may. */
const char *mt_word_refusal(mt_word_kind kind);
/* The text without what names folders and headers: the very same text where it names none, so that keys stay. NULL = no memory; owned. */
char *mt_words_without_files(const char *text);
/* The macro that the option defines or undefines: its name, *length letters long, and where its value stands (NULL: undefined; "": -DX is 1). NULL: another option. */
const char *mt_word_macro(const char *option, size_t *length, const char **value);
