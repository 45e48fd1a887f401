/* Runs every file of the folders given through the fuzz target, so that found inputs stay fixed in ordinary test runs.
 * Each input is also run cut short, at every length up to 512 under AddressSanitizer, which sees reads past the end; plain builds see crashes only, for which fewer lengths do; and with random bytes
 * changed, left out and put in, always the same ones. "--mutations=N" says how many times, for a longer walk. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"

#ifdef __SANITIZE_ADDRESS__
enum { CUT_STEP = 1 };
#else
enum { CUT_STEP = 13 };
#endif

static unsigned char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    unsigned char *data = malloc(1 << 20);
    *size = data ? fread(data, 1, 1 << 20, file) : 0;
    fclose(file);
    return data;
}

/* A block of exactly `size` bytes, so that a sanitizer sees a read of one more. */
static void run_exact(const unsigned char *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint64_t state;

/* Below `limit`: xorshift. */
static size_t any(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % limit);
}

/* One change of data[*size], which has room for 16 bytes more. */
static void change(unsigned char *data, size_t *size)
{
    static const char *const pieces[] = {"-", "e999", "1e-320", "null", "\"", "\xe2\x80\xae", "99999999999999999999", "[", "{}", "-1", "\n", ";", "="};
    static const unsigned char bytes[] = {0, 0xff, 0x7f, 0x80, '"', '\\', '-', '9', '{', '['};
    size_t at = any(*size), count;
    const char *piece = pieces[any(sizeof pieces / sizeof *pieces)];
    switch (any(4)) {
    case 0: data[at] ^= (unsigned char)(1u << any(8)); break;
    case 1: data[at] = bytes[any(sizeof bytes)]; break;
    case 2:
        count = 1 + any(*size - at < 64 ? *size - at : 64);
        memmove(data + at, data + at + count, *size - at - count);
        *size -= count;
        break;
    default:
        count = strnlen(piece, 16);
        memmove(data + at + count, data + at, *size - at);
        memcpy(data + at, piece, count);
        *size += count;
    }
}

static void run_changed(const unsigned char *data, size_t size, size_t times)
{
    enum { CHANGES = 8, ROOM = CHANGES * 16 };
    unsigned char *copy = malloc(size + ROOM);
    if (!copy) abort();
    for (size_t i = 0; i < times && size; i++) {
        size_t length = size;
        memcpy(copy, data, size);
        for (size_t left = 1 + any(CHANGES); left && length; left--) change(copy, &length);
        run_exact(copy, length);
    }
    free(copy);
}

static int run_folder(const char *folder, size_t mutations)
{
    DIR *dir = opendir(folder);
    int count = 0;
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[4096];
        size_t size;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unsigned char *data = read_whole(path, &size);
        if (!data) continue;
        fprintf(stderr, "%s\n", path); /* the last line names the culprit of a crash */
        run_exact(data, size);
        for (size_t length = 0; length < size && length < 512; length += CUT_STEP) run_exact(data, length);
        run_changed(data, size, mutations);
        free(data);
        count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    size_t mutations = 20;
    state = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 1; i < argc; i++) {
        if (sscanf(argv[i], "--mutations=%zu", &mutations) == 1) continue;
        int count = run_folder(argv[i], mutations);
        if (count == 0) {
            fprintf(stderr, "%s: no inputs\n", argv[i]);
            return 1;
        }
        printf("%s: %d inputs, each %zu times with changes\n", argv[i], count, mutations);
    }
    return argc > 1 ? 0 : 2;
}
