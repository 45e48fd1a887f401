/* Reading what libtunelookup's tunelookup_flush_misses wrote: the shapes that production asked for in vain. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"

/* One shape of one kernel on one GPU, with what all its lines add up to. Texts are owned. */
typedef struct mt_miss {
    char *kernel, *gpu;      /* its name; the GPU's key, with zeros for facts that the program did not give */
    char *shape_key;         /* canonical: "D=32;H=92,46;dtype=f16" */
    char *workloads;         /* "local2, uniform": those that were bound, 64 at most; "" = none */
    bool wants_default;      /* some program bound no workload */
    int64_t count;           /* at least 1; saturates */
    int64_t newest_unix_ms;
    int64_t line;            /* the first one */
    int64_t settled;         /* the count up to which it was worked off; 0 at first, and the reader leaves it */
} mt_miss;

enum { MT_MISSES_MOST = 100000 }; /* shapes that are told apart */

typedef struct mt_misses {
    mt_miss *items;          /* most asked for first, then by kernel and shape */
    size_t count, capacity;
    int64_t lines, skipped;  /* with something in them; of those, not usable */
    int64_t dropped;         /* misses that the programs' tables had no place for, or of more shapes than MT_MISSES_MOST */
} mt_misses;

/* Called for the first twenty lines that are no use, "FILE:3: what is wrong", and once for how many more there are. */
typedef void (*mt_misses_skipped_callback)(void *context, const char *message);
/* Reads the whole file (256 MiB at most), line by line: memory is for its shapes. A line that is no miss is told and left out, whatever is in it; only a file that can't be read is an error.
 * mt_misses_free in every case. */
mt_status mt_misses_read(const char *path, mt_misses_skipped_callback skipped, void *context, mt_misses *misses, mt_error *err);
void mt_misses_free(mt_misses *misses);

/* The same of bytes as they come: lines, cut wherever, of a log that grows. The misses are in the order of their first lines then. `path` is for messages; it and *misses are borrowed. */
typedef struct mt_misses_reader mt_misses_reader;
mt_status mt_misses_open(const char *path, mt_misses_skipped_callback skipped, void *context, mt_misses *misses, mt_misses_reader **reader, mt_error *err);
mt_status mt_misses_take(mt_misses_reader *reader, const char *bytes, size_t count, mt_error *err);
/* A file is over: its last line may lack an end. What comes next is another file's first line. */
mt_status mt_misses_end(mt_misses_reader *reader, mt_error *err);
void mt_misses_close(mt_misses_reader *reader); /* leaves the misses; NULL is a no-op */

/* Whether a GPU's key, in which facts may be unknown ("sm0", "0g"), can be that of the GPU with key `known`. */
bool mt_miss_fits_gpu(const char *gpu, const char *known);
