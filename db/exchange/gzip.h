/* gzip files, in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"

bool mt_gzip_is(const void *bytes, size_t length); /* by the first bytes */
/* Decompresses, at most max_bytes; the text ends with a NUL behind its `size` bytes. mt_free *text. Errors name `name`: damaged, too large, cut short before
 * any text. *is_cut: the data end too early; the text is what comes before. */
mt_status mt_gzip_unpack(const void *bytes, size_t length, size_t max_bytes, const char *name, char **text, size_t *size, bool *is_cut, mt_error *err);
/* Compresses: the same bytes for the same text and zlib. mt_free *packed. */
mt_status mt_gzip_pack(const void *text, size_t length, const char *name, void **packed, size_t *size, mt_error *err);
