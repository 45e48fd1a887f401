/* Problem descriptions of other tuners as search spaces: T1 files (the input of KTT's loader and of BAT), the header of Kernel Tuner's caches, KTT's results. What a file does not tell stands in the
 * search space as a comment that says what to fill in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef struct mt_foreign_about {
    const char *format; /* "T1 file" */
    char *source;       /* as the file names it; NULL = it does not */
    size_t missing;     /* what the comments ask for */
} mt_foreign_about;

/* Adds the search space to *ini. `folder` and a slash stand in front of the source's name there; "" where search space and file are beside each other. Errors name file, member and what was expected. */
mt_status mt_foreign_space(const char *path, const char *folder, mt_strbuf *ini, mt_foreign_about *about, mt_error *err);
/* The same from memory; `name` stands for the path. */
mt_status mt_foreign_space_bytes(const void *bytes, size_t length, const char *name, const char *folder, mt_strbuf *ini, mt_foreign_about *about, mt_error *err);
void mt_foreign_about_free(mt_foreign_about *about);
