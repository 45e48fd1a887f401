/* A second tuner beside this one, for other GPUs: the same command with another --gpu, over the same database. Its lines come out of ours, marked with its GPUs. `tune` has one for GPUs of
 * another model: it finds out by itself whether those are of one model, and starts a third one if not. `portfolio` has one for each further GPU, which reads what there is to do from its stdin.
 * `follow` has one for each shape, and takes the GPU's memory back with it. */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "tuner/base/status.h"

typedef struct mt_sibling mt_sibling;

typedef struct mt_sibling_options {
    const char *command;                  /* its name; */
    int argc; char **argv;                /* the words behind it */
    const int *ordinals; size_t count;    /* its GPUs */
    size_t jobs;                          /* its compile workers */
    int input;                            /* descriptor that it has as stdin; 0 = nothing */
    bool drops_output;                    /* of its lines only those of stderr come out of ours */
    void (*before_line)(void *context);   /* called before one of its lines is printed; may be NULL */
    void *context;
} mt_sibling_options;

/* To be called first by a tuner that may be a sibling: true if it is, and then it ends when the one that started it is gone. */
bool mt_sibling_enter(void);
/* It gets the signals that stop a session from us. */
mt_status mt_sibling_start(uv_loop_t *loop, const mt_sibling_options *options, mt_sibling **sibling, mt_error *err);
/* Gives it a signal of ours; one that ends it is no error of its own (mt_sibling_join). */
void mt_sibling_signal(mt_sibling *sibling, int number);
/* Runs the loop until its end. An error names its GPUs and its exit code; 130 is MT_ERR_INTERRUPTED, and so is that it died of a signal that it got from us. Invalid afterwards; NULL is MT_OK. */
mt_status mt_sibling_join(mt_sibling *sibling, mt_error *err);
