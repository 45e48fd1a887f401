/* What a log of misses may hold: any bytes. Misses or lines that are none, no crash; what is read can be summed and compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/exchange/misses.h"
#include "tests/fuzz/fuzz_target.h"

static char path[] = "/tmp/fuzz_misses.XXXXXX";
static int fd = -1;

static void remove_file(void)
{
    unlink(path);
}

static void skipped(void *context, const char *message)
{
    ++*(size_t *)context;
    if (!strstr(message, "no miss")) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mt_misses misses;
    mt_error err;
    size_t told = 0;
    if (fd < 0) {
        if ((fd = mkstemp(path)) < 0) abort();
        atexit(remove_file);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) abort();
    if (mt_misses_read(path, skipped, &told, &misses, &err) == MT_OK) {
        for (size_t i = 0; i < misses.count; i++)
            if (misses.items[i].count < 1 || !*misses.items[i].shape_key || !*misses.items[i].kernel) abort();
        if ((misses.skipped > 0) != (told > 0)) abort();
    }
    mt_misses_free(&misses);
    return 0;
}
