/* The coordinator's handle of one worker process: spawn, messages, deadline, kill, bounded reap. Lives on a libuv loop.
 *
 * The process is this executable again (`worker ROLE PARENT-PID DEVICE`), exec'ed, with one end of a socket pair as descriptor 3 and the bundle as 4. Its
 * stdout and stderr go into a memory file, never to ours: kernels may printf, and the tail explains a death.
 *
 * Life: spawn → message* → gone. `gone` comes exactly once, last, when the process was reaped and everything it had sent was delivered,
 * or when a killed process could not be reaped within MT_WORKER_REAP_S. The handle is invalid afterwards. */
#pragma once

#include <uv.h>

#include "tuner/worker/proto.h"

enum { MT_WORKER_SOCKET_FD = 3, MT_WORKER_BUNDLE_FD = 4, MT_WORKER_LOG_TAIL = 4096, MT_WORKER_REAP_S = 5, MT_WORKER_HELLO_S = 30 };
/* Workers that may be lost over one order. One may have been killed from outside (the out-of-memory killer), or held up; where it is the order's doing, it loses the second too. */
enum { MT_WORKER_ATTEMPTS = 2 };

typedef struct mt_worker mt_worker;

typedef struct mt_worker_death {
    bool is_timeout;       /* killed because its deadline passed */
    bool is_lost;          /* killed, but not gone: the process hangs in the kernel */
    int signal;            /* it died of; 0 = it exited */
    bool is_killed;        /* by somebody else's SIGKILL: the out-of-memory killer's, most often */
    const char *how;       /* "SIGSEGV", "exit code 3", "it broke the protocol: …" */
    const char *log_tail;  /* what it printed last, never NULL */
} mt_worker_death;

typedef struct mt_worker_launch {
    const char *role;      /* "compile", "device", "reserve", "watch" */
    int device;            /* ordinal */
    int bundle_fd;         /* −1: it needs none */
    const char *const *env; /* extra NAME=value, NULL-terminated; may be NULL */
    void (*message)(void *context, mt_message *message); /* freed by the caller of the callback */
    void (*gone)(void *context, const mt_worker_death *death);
    void (*doomed)(void *context); /* its deadline passed and it is being killed, which may take long; `gone` follows. May be NULL */
    void *context;
    size_t *open_handles;  /* how many handles libuv still holds: an owner runs the loop until this is 0 before it goes away */
} mt_worker_launch;

/* Copies nothing of `launch` but its fields. The deadline for HELLO starts to run. */
mt_status mt_worker_spawn(uv_loop_t *loop, const mt_worker_launch *launch, mt_worker **worker, mt_error *err);
/* Queues a frame made by mt_proto_encode. A worker that is dying is MT_OK: `gone` tells. */
mt_status mt_worker_send(mt_worker *worker, const mt_strbuf *frame, mt_error *err);
/* From now; ≤ 0 = none. Time in which the coordinator itself did not run (it was stopped, and the worker with it) does not count, but for a fraction of a second. */
void mt_worker_deadline(mt_worker *worker, double seconds);
double mt_worker_deadline_left(const mt_worker *worker);    /* seconds; 0 = it has passed, or there is none */
void mt_worker_kill(mt_worker *worker);                     /* SIGKILL; gone follows */
void mt_worker_forget_log(mt_worker *worker);               /* before an order, so that the tail tells of it only */
bool mt_worker_is_stopped(const mt_worker *worker);          /* by SIGSTOP and the like; false where /proc does not tell */
int64_t mt_worker_pid(const mt_worker *worker);
/* For tests: workers started from now on survive SIGKILL, as a process does that hangs inside the driver. */
void mt_worker_pretend_unkillable(bool unkillable);
