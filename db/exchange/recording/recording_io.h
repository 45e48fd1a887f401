/* Lines of a file that may be zstd-compressed. Bounded memory whatever the file claims: 1 GiB of text, 16 MiB a line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef struct mt_lines mt_lines;

/* Reads bytes[length], which must live as long. Compressed data are told by their first bytes. `name` is for messages. */
mt_status mt_lines_open(const void *bytes, size_t length, const char *name, mt_lines **lines, mt_error *err);
void mt_lines_close(mt_lines *lines); /* NULL is a no-op */
/* The next line that is not empty, without its end; *line is NULL at the end of the file and valid until the next call. Refuses NULs and what
 * is not UTF-8: SYNTAX with a *line, of which nothing but its beginning may be believed; the lines behind it can be read. */
mt_status mt_lines_next(mt_lines *lines, const char **line, mt_error *err);
/* At the end: compressed data ended too early, so that lines are missing. Where not even the first one came that is a SYNTAX error. */
bool mt_lines_are_cut(const mt_lines *lines);
int64_t mt_lines_number(const mt_lines *lines); /* of the line at hand, from 1 */

/* Tests only: another limit than 1 GiB of text. */
void mt_lines_pretend_limit(size_t bytes);

/* Compresses a whole text, the same bytes for the same text and zstd version. mt_free *packed. */
mt_status mt_lines_pack(const char *text, size_t length, void **packed, size_t *size, const char *name, mt_error *err);
