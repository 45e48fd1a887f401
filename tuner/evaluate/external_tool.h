/* Programs of others (compute-sanitizer, ncu), run on the coordinator's loop with a time limit. What they print on either stream comes back as text. */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "tuner/base/status.h"

typedef struct mt_external_tool mt_external_tool;

typedef struct mt_external_tool_end {
    int exit_code;
    int signal;          /* it died of; 0 = it exited */
    bool is_timeout;
    const char *text;    /* what it printed, at most 4 MiB of it; control characters replaced */
} mt_external_tool_end;

/* Where NAME lies: PATH, $CUDA_HOME/bin, $CUDA_PATH/bin, /usr/local/cuda/bin. NULL = nowhere (or no memory). mt_free. */
char *mt_external_tool_find(const char *name);

/* argv[0] is a path; NULL-terminated. `done` comes once, from the loop; the handle is invalid afterwards. */
mt_status mt_external_tool_start(uv_loop_t *loop, const char *const *argv, double limit_s, void (*done)(void *context, const mt_external_tool_end *end), void *context, mt_external_tool **out,
                           mt_error *err);
void mt_external_tool_kill(mt_external_tool *outside); /* SIGKILL; done follows */
