/* A program of somebody else's, such as a compiler, run to its end: in a process group of its own, which is killed as a whole when the time is up, and when this process ends, however that happens.
 * No shell: what the arguments hold reaches the program as it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"

typedef struct mt_child {
    const char *const *argv;  /* argv[0]: its path; NULL at the end */
    const char *const *env;   /* all of its environment; NULL at the end */
    const char *folder;       /* where it runs; NULL = here */
    double limit_s;           /* 0 = none */
    size_t most_output;       /* of what it prints more is dropped */
    uint64_t memory_bytes;    /* address space of each of its processes; 0 = as here */
    int stop;                 /* a descriptor: once it can be read, the program is ended, which is MT_ERR_INTERRUPTED; 0 = none */
} mt_child;

typedef struct mt_child_end {
    bool is_timeout, is_cut;
    int exit_code, signal;    /* signal 0: it ended by itself */
    char *output;             /* what it printed, to both streams; owned */
} mt_child_end;

/* MT_OK whatever becomes of the program; an error where it can't be started, or `stop` says so. */
mt_status mt_child_run(const mt_child *child, mt_child_end *end, mt_error *err);
void mt_child_end_free(mt_child_end *end); /* zeroed struct is fine */
/* How it ended, for a person: "exit code 1", "SIGSEGV", "no end within 10 s". */
void mt_child_describe(const mt_child *child, const mt_child_end *end, char text[64]);
