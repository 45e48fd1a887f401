/* A second tuner beside this one, for GPUs of another model: the same command with another --gpu, over the same database. It finds out by itself whether those
 * are of one model, and starts a third one if not. Its lines come out of ours, marked with its GPUs. */
#ifndef MT_CLI_SIBLING_H
#define MT_CLI_SIBLING_H

#include <uv.h>

#include "tuner/base/status.h"

typedef struct mt_sibling mt_sibling;

/* To be called first by a tuner that may be a sibling: it then ends when the one that started it is gone. */
void mt_sibling_enter(void);
/* argv[0..argc): the words behind the command's name; `jobs`: its compile workers. `before_line`: called before one of its lines is printed. It gets the signals that stop a session from us. */
mt_status mt_sibling_start(uv_loop_t *loop, int argc, char **argv, const int *ordinals, size_t count, size_t jobs, void (*before_line)(void *context), void *context, mt_sibling **sibling,
    mt_error *err);
/* Waits for its end. An error names its GPUs and its exit code; 130 is MT_ERR_INTERRUPTED. Invalid afterwards; NULL is MT_OK. */
mt_status mt_sibling_join(mt_sibling *sibling, mt_error *err);

#endif
