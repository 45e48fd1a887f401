/* Opening libraries at run time: libcuda, NVRTC, NVML. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/strbuf.h"

/* Opens the file that environment variable `variable` names (NULL = no variable), else the first of names[count] that the loader finds. A
 * name may be a glob pattern when it holds a '/'; later matches (newer versions) come first. Returns the handle or NULL; what was
 * tried is added to *tried (may be NULL) as "name, name (reason)". A file that the variable names and that can't be opened is not replaced by another. */
void *mt_dynlib_open(const char *variable, const char *const *names, size_t count, mt_strbuf *tried);

/* Whether what the loader opens by that name, of a path or of a file in its folders, is a pipe or device, which it would wait for: *which is its path. `handle`: of the library that asks; NULL: this program. */
bool mt_dynlib_is_irregular(void *handle, const char *name, mt_strbuf *which);

/* One symbol of a list: where to put it, and whether its absence is an error. */
typedef struct mt_dynlib_symbol {
    const char *name;
    void **target;
    bool required;
} mt_dynlib_symbol;

/* Fills the targets by dlsym; returns the first required name that is missing, or NULL when all are there. */
const char *mt_dynlib_symbols(void *handle, const mt_dynlib_symbol *symbols, size_t count);
void mt_dynlib_close(void *handle); /* NULL is a no-op */
