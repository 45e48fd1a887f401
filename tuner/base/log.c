#include "tuner/base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "tuner/base/file.h"
#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

static void (*hook)(void *context);
static void *hook_context;

void mt_log_set_hook(void (*before)(void *context), void *context)
{
    hook = before;
    hook_context = context;
}

/* ---- warnings that were said ---- */

enum { MOST_SAID = 256 }; /* beyond, they are said again */

static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t said[MOST_SAID];
static size_t said_count;

static bool was_said(uint64_t line, bool is_new)
{
    pthread_mutex_lock(&said_lock);
    size_t i = 0;
    while (i < said_count && said[i] != line) i++;
    bool is_known = i < said_count;
    if (!is_known && is_new && said_count < MOST_SAID) said[said_count++] = line;
    pthread_mutex_unlock(&said_lock);
    return is_known;
}

bool mt_log_has_warned(const char *line, size_t length)
{
    return was_said(mt_hash_u64(line, length, 0), false);
}

void mt_log_forget_warnings(void)
{
    pthread_mutex_lock(&said_lock);
    said_count = 0;
    pthread_mutex_unlock(&said_lock);
}

/* ---- lines ---- */

static const char warning[] = "warning: ";

static void print_line(const char *severity, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

static void print_line(const char *severity, const char *format, va_list args)
{
    mt_strbuf line = {0};
    mt_strbuf_add(&line, "msda-tune: ");
    mt_strbuf_add(&line, severity);
    mt_strbuf_addv(&line, format, args);
    mt_strbuf_add_char(&line, '\n');
    if (line.failed) {
        mt_strbuf_free(&line);
        static const char poor[] = "msda-tune: out of memory while printing a message\n";
        mt_fd_write_all(STDERR_FILENO, poor, sizeof poor - 1);
        return;
    }
    mt_text_defuse(line.text, line.length); /* names and messages may come from files and drivers */
    bool is_again = severity == warning && was_said(mt_hash_u64(line.text, line.length - 1, 0), true);
    if (hook && !is_again) hook(hook_context);
    if (!is_again) mt_fd_write_all(STDERR_FILENO, line.text, line.length);
    mt_strbuf_free(&line);
}

#define PRINT(severity, format)             \
    do {                                    \
        va_list args;                       \
        va_start(args, format);             \
        print_line(severity, format, args); \
        va_end(args);                       \
    } while (0)

void mt_log_warn(const char *format, ...)
{
    PRINT(warning, format);
}

void mt_log_info(const char *format, ...)
{
    PRINT("", format);
}

void mt_log_error(const char *format, ...)
{
    PRINT("error: ", format);
}
