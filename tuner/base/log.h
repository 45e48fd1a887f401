/* Lines for people on stderr. A line goes out whole (one write), so that processes do not mix theirs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

void mt_log_warn(const char *format, ...) __attribute__((format(printf, 1, 2))); /* "msda-tune: warning: …"; the same one is said once in a process */
void mt_log_info(const char *format, ...) __attribute__((format(printf, 1, 2))); /* "msda-tune: …" */
void mt_log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether this process said that warning: a line as mt_log_warn prints it, without its end. */
bool mt_log_has_warned(const char *line, size_t length);
/* What was said may be said again, as if by another process. */
void mt_log_forget_warnings(void);
/* Called before a line is printed, so that a progress display can clear itself; NULL = none. */
void mt_log_set_hook(void (*before)(void *context), void *context);
