#include "tuner/evaluate/open_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/file.h"

/* There may be no /proc, or another one: of a PID namespace in which this number is somebody else's. */
static bool leads_to(const char *path, int fd)
{
    struct stat there, own;
    return access(path, R_OK) == 0 && stat(path, &there) == 0 && fstat(fd, &own) == 0 && there.st_dev == own.st_dev && there.st_ino == own.st_ino;
}

mt_status mt_open_file_open(mt_open_file *kept, const char *path, mt_error *err)
{
    int fd;
    mt_status st = mt_file_open_regular(path, &fd, err);
    if (st != MT_OK) return st;
    mt_open_file_close(kept);
    kept->fd = fd;
    snprintf(kept->path, sizeof kept->path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    if (!leads_to(kept->path, fd)) snprintf(kept->path, sizeof kept->path, "%s", path); /* which lasts as long as the file */
    return MT_OK;
}

void mt_open_file_close(mt_open_file *kept)
{
    if (kept->path[0]) close(kept->fd);
    *kept = (mt_open_file){0};
}
