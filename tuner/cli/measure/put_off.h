/* Shapes that could not be tuned, in a file beside the database (DATABASE-follow): they are not tried again for a while, also by a later process. Its lines are those of a log of misses, each a try that failed. Who has the
 * file open has it locked, so that one process works a log off into a database. */
#pragma once

#include "db/exchange/misses.h"

typedef struct mt_put_off {
    char *path;
    int fd;                   /* locked; −1 = not open */
    mt_misses failed;
    mt_misses_reader *reader;
} mt_put_off;

/* An IO error where another process has it, which is named. mt_put_off_close in every case; *put_off must not be copied. */
mt_status mt_put_off_open(const char *db, mt_put_off *put_off, mt_error *err);
/* When the shape may be tried again (Unix time, ms); 0 = it has not failed. `gpu`: the key of the GPU that is here. */
int64_t mt_put_off_until(const mt_put_off *put_off, const mt_miss *miss, const char *gpu);
mt_status mt_put_off_add(mt_put_off *put_off, const mt_miss *miss, const char *gpu, mt_error *err);
void mt_put_off_close(mt_put_off *put_off); /* {.fd = -1} is fine */
