/* The coordinator's handle of a watching worker: a process that tells what a GPU is and how busy it is, and has no context there. Lives on a libuv loop; nothing here waits but the end. */
#pragma once

#include <uv.h>

#include "tuner/worker/proto.h"

typedef struct mt_gpu_watch mt_gpu_watch;

mt_status mt_gpu_watch_start(uv_loop_t *loop, int ordinal, mt_gpu_watch **watch, mt_error *err);
/* The facts of the GPU; NULL as long as it has not answered. */
const mt_device_facts *mt_gpu_watch_facts(const mt_gpu_watch *watch);
/* MT_OK: it lives. Else why it does not: there is no such GPU, or what it died of. */
mt_status mt_gpu_watch_check(const mt_gpu_watch *watch, mt_error *err);
/* What it said last, −1 before it said anything, and asks anew, unless it still has a question to answer. */
mt_load mt_gpu_watch_load(mt_gpu_watch *watch);
void mt_gpu_watch_destroy(mt_gpu_watch *watch); /* runs the loop until the process is gone; NULL is a no-op */
