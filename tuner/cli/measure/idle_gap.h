/* Whether a GPU that serves has time: by how much of it kernels run, and by a file that the server touches. Whoever waits looks now and then; a look waits for nothing. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "tuner/worker/gpu_watch.h"

typedef struct mt_idle_gap {
    mt_gpu_watch *watch;     /* borrowed */
    const char *busy_file;   /* NULL = none */
    int below_percent;       /* the GPU is idle */
    double idle_s;           /* it must have been idle so long before the gap is one */
    struct stat touched;     /* the file when it was last touched; zeroed = it was not there */
    int64_t idle_since_ns;   /* 0 = busy, or nobody has looked */
} mt_idle_gap;

/* Whether the GPU is busy now. `is_tuning`: with a tuner of ours on it, so that others' kernels count alone; where NVML can't tell them apart, the file alone. */
bool mt_idle_gap_is_busy(mt_idle_gap *gap, bool is_tuning);
/* Whether it has been idle long enough, as far as it was looked at. */
bool mt_idle_gap_is_open(const mt_idle_gap *gap);
