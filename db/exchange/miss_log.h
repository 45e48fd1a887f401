/* A log of misses that programs go on writing into: what was added is read, whoever truncates it, renames it or puts another file in its place. */
#pragma once

#include <sys/types.h>

#include "db/exchange/misses.h"

typedef struct mt_miss_log {
    const char *path;          /* borrowed */
    mt_misses_skipped_callback skipped;
    mt_misses misses;          /* all that was read, of earlier files too; they move when more is read */
    mt_misses_reader *reader;
    int fd;                    /* −1: not open yet, or gone */
    off_t offset;
} mt_miss_log;

/* The file need not be there yet. mt_miss_log_close in every case; *log must not be copied. */
mt_status mt_miss_log_open(const char *path, mt_misses_skipped_callback skipped, mt_miss_log *log, mt_error *err);
/* Reads some of what is new. *is_at_end: there is no more now. An IO error where the place holds what is no file, or one that can't be read: it may be called again. */
mt_status mt_miss_log_read(mt_miss_log *log, bool *is_at_end, mt_error *err);
void mt_miss_log_close(mt_miss_log *log); /* {.fd = -1} is fine */
