#include "tuner/evaluate/beacon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void make_prefix(const char *bus_id, char *prefix, size_t size)
{
    snprintf(prefix, size, "msda-tune/%s/", bus_id);
}

int mt_beacon_announce(const char *bus_id)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *name = address.sun_path + 1; /* a first byte of 0: no file */
    size_t size = sizeof address.sun_path - 1;
    make_prefix(bus_id, name, size);
    size_t used = strlen(name);
    int length = snprintf(name + used, size - used, "%lld", (long long)getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + used + (size_t)length);
    if (fd < 0 || (size_t)length >= size - used || bind(fd, (struct sockaddr *)&address, bytes) != 0) {
        if (fd >= 0) close(fd);
        return -1;
    }
    return fd;
}

int64_t mt_beacon_find_other(const char *bus_id)
{
    char prefix[96], line[512];
    int64_t found = 0;
    FILE *list = fopen("/proc/net/unix", "re");
    if (!list) return 0;
    make_prefix(bus_id, prefix, sizeof prefix);
    while (!found && fgets(line, sizeof line, list)) {
        const char *name = strchr(line, '@');
        if (!name || strncmp(name + 1, prefix, strlen(prefix)) != 0) continue;
        int64_t pid = strtoll(name + 1 + strlen(prefix), NULL, 10);
        if (pid > 0 && pid != getpid()) found = pid;
    }
    fclose(list);
    return found;
}
