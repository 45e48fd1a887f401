#include "tuner/worker/visible_gpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver reads the list up to the first entry that is none. */
static size_t listed(const char *list)
{
    size_t count = 0;
    for (const char *at = list; isalnum((unsigned char)*at); count++) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return count;
}

/* /dev/nvidia0, /dev/nvidia1 …; others are named nvidiactl, nvidia-uvm. */
static size_t device_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/dev");
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder));) count += strncmp(entry->d_name, "nvidia", 6) == 0 && isdigit((unsigned char)entry->d_name[6]);
    closedir(folder);
    return count;
}

size_t mt_visible_gpus(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    return list ? listed(list) : device_files();
}

bool mt_visible_alone(int ordinal, char variable[MT_VISIBLE_SIZE])
{
    size_t count = mt_visible_gpus();
    const char *at = getenv("CUDA_VISIBLE_DEVICES");
    if (count < 2 || ordinal < 0 || (size_t)ordinal >= count) return false;
    if (!at) return snprintf(variable, MT_VISIBLE_SIZE, "CUDA_VISIBLE_DEVICES=%d", ordinal) > 0;
    for (int i = 0; i < ordinal; i++) at += strcspn(at, ",") + 1;
    int length = snprintf(variable, MT_VISIBLE_SIZE, "CUDA_VISIBLE_DEVICES=%.*s", (int)strcspn(at, ","), at);
    return length < MT_VISIBLE_SIZE;
}
