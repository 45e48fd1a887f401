#include "tuner/run/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

mt_status mt_kept_file_open(mt_kept_file *kept, const char *path, mt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return MT_FAIL(err, errno == ENOENT || errno == ENOTDIR ? MT_ERR_NOT_FOUND : MT_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    mt_kept_file_close(kept);
    kept->fd = fd;
    snprintf(kept->path, sizeof kept->path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    if (access(kept->path, R_OK) != 0) snprintf(kept->path, sizeof kept->path, "%s", path); /* no /proc here: the file's own path, which lasts as long as the file */
    return MT_OK;
}

void mt_kept_file_close(mt_kept_file *kept)
{
    if (kept->path[0]) close(kept->fd);
    *kept = (mt_kept_file){0};
}
