/* A file that other processes are to read by its path, also after somebody has removed it: the path they are told leads to a descriptor of ours. */
#pragma once

#include <limits.h>

#include "tuner/base/status.h"

typedef struct mt_open_file {
    int fd;
    char path[PATH_MAX]; /* "" = none; good for as long as this process lives and the file is kept */
} mt_open_file;

/* In the place of what was kept before. NOT_FOUND when it is gone already. */
mt_status mt_open_file_open(mt_open_file *kept, const char *path, mt_error *err);
void mt_open_file_close(mt_open_file *kept); /* none is a no-op */
