#include "tuner/base/times.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tuner/base/clock.h"

void mt_times_note(const char *what, int64_t since_ns, const char *detail)
{
    const char *path = getenv("MSDA_TUNE_TIMES");
    if (!path || !path[0]) return;
    char line[256];
    int64_t now = mt_clock_now_ns();
    int length = snprintf(line, sizeof line, "%ld %.1f %s %.1f %.150s\n", (long)getpid(), (double)now / 1e6, what, (double)(now - since_ns) / 1e6, detail ? detail : "-");
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0) return;
    ssize_t written = write(fd, line, (size_t)length); /* a lost line is no harm */
    (void)written;
    close(fd);
}
