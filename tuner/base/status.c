#include "tuner/base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
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

mt_status mt_error_set(mt_error *err, mt_status status, const char *format, ...)
{
    if (!err) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
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
    char front[sizeof err->message]; /* apart, because it may be made from the old message */
    va_list args;
    va_start(args, format);
    vsnprintf(front, sizeof front - 2, format, args);
    va_end(args);
    strcat(front, ": ");
    size_t length = strlen(front), kept = strnlen(err->message, sizeof err->message - 1 - length);
    memmove(err->message + length, err->message, kept);
    memcpy(err->message, front, length);
    err->message[length + kept] = '\0';
    err->status = status;
    return status;
}
