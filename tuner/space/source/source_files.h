/* The texts that a kernel is made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct mt_source_file {
    char *name; /* as NVRTC knows it: the text between the quotes where it was first included; the main file's base name for files[0] */
    char *path; /* where it was found */
    char *text; /* without a byte-order mark; every include that says another name than the file's is rewritten to it */
} mt_source_file;

typedef struct mt_source {
    mt_source_file *files; /* files[0] is the .cu */
    size_t file_count;
    bool is_for_nvcc; /* NVRTC compiles it otherwise */
} mt_source;
