/* Lines for people on stderr. A line goes out whole (one write), so that processes do not mix theirs. */
#ifndef MT_BASE_LOG_H
#define MT_BASE_LOG_H

void mt_log_warn(const char *format, ...) __attribute__((format(printf, 1, 2))); /* "msda-tune: warning: …" */
void mt_log_info(const char *format, ...) __attribute__((format(printf, 1, 2))); /* "msda-tune: …" */
void mt_log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Called before a line is printed, so that a progress display can clear itself; NULL = none. */
void mt_log_set_hook(void (*before)(void *context), void *context);

#endif
