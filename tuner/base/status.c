#include "tuner/base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mt_status_exit_code(mt_status status)
{
    static const int codes[] = {
#define MT_STATUS_CODE(name, exit_code) exit_code,
        MT_STATUS_MAP(MT_STATUS_CODE)
#undef MT_STATUS_CODE
    };
    size_t index = (size_t)status;
    return index < sizeof codes / sizeof codes[0] ? codes[index] : 1;
}

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80; /* UTF-8 */
}

/* A message that is too long loses its middle: names stand in front, the reason at the end. */
static void keep_both_ends(mt_error *err, const char *text, size_t length)
{
    static const char gap[] = " … ";
    size_t room = sizeof err->message - 1, head = room / 3, tail;
    if (length <= room) {
        memcpy(err->message, text, length + 1);
        return;
    }
    tail = length - (room - head - (sizeof gap - 1));
    while (head && is_inside_character(text[head])) head--;
    while (tail < length && is_inside_character(text[tail])) tail++;
    memcpy(err->message, text, head);
    memcpy(err->message + head, gap, sizeof gap - 1);
    memcpy(err->message + head + sizeof gap - 1, text + tail, length - tail + 1);
}

/* What the format gives, and the tail, which may not be the old message itself; where memory is short, the beginning of the former. */
static void set_message(mt_error *err, const char *tail, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int front = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t length = front < 0 ? 0 : (size_t)front, all = length + strlen(tail);
    char *text = malloc(all + 1); /* not mt_alloc: an error is told while tests make that fail */
    if (!text) {
        vsnprintf(err->message, sizeof err->message, format, args);
        return;
    }
    vsnprintf(text, length + 1, format, args);
    memcpy(text + length, tail, all - length + 1);
    keep_both_ends(err, text, all);
    free(text);
}

mt_status mt_error_set(mt_error *err, mt_status status, const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    set_message(err, "", format, args);
    va_end(args);
    return status;
}

mt_status mt_no_memory(const char *what, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", what);
}

mt_status mt_error_prefix(mt_error *err, mt_status status, const char *format, ...)
{
    if (!err) return status;
    char old[sizeof err->message + 2] = ": ";
    strcat(old, err->message);
    va_list args;
    va_start(args, format);
    set_message(err, old, format, args);
    va_end(args);
    err->status = status;
    return status;
}
