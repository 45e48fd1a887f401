/* A growing list of texts that it owns. */
#pragma once

#include <stddef.h>

#include "tuner/base/status.h"

typedef struct mt_texts {
    char **items;
    size_t count, capacity;
} mt_texts; /* zero-initialise */

mt_status mt_texts_add(mt_texts *texts, const char *text, mt_error *err); /* a copy of it, at the end; NO_MEMORY */
mt_status mt_texts_take(mt_texts *texts, char *text, mt_error *err);      /* the text itself, also on failure; NULL is NO_MEMORY */
mt_status mt_texts_add_once(mt_texts *texts, const char *text, mt_error *err); /* unless it is there */
void mt_texts_free(mt_texts *texts);
