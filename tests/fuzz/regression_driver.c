/* Runs every file of the folders given through the fuzz target, so that found inputs stay fixed in ordinary test runs.
 * Each input is also run cut short, at every length up to 512 under AddressSanitizer, which sees reads past the end; plain builds see crashes only, for which fewer lengths do. */
#include <dirent.h>
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

static int run_folder(const char *folder)
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
        free(data);
        count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int count = run_folder(argv[i]);
        if (count == 0) {
            fprintf(stderr, "%s: no inputs\n", argv[i]);
            return 1;
        }
        printf("%s: %d inputs\n", argv[i], count);
    }
    return argc > 1 ? 0 : 2;
}
