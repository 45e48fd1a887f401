/*
 * Baselines: what a search space's winners are compared with beside its own variants, such as a vendor's library.
 *
 * A plugin is a shared object `baseline_NAME.so` that exports msda_baseline_get. The tuner's device worker opens it where the .ini says
 * `[tune] baseline = NAME`, and times each of its algorithms as it times a variant: the same inputs, stream, graphs and checks. All calls come from one
 * thread, with the worker's CUDA context current. Nothing of a plugin may end the process; a fault on the GPU costs the worker, as a variant's would.
 */
#ifndef MSDA_BASELINE_H
#define MSDA_BASELINE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MSDA_BASELINE_ABI 1

/* A value of the shape: an integer (text = NULL) or a string. Lists are not told. */
typedef struct msda_baseline_value {
    const char *name, *text;
    long long number;
} msda_baseline_value;

/* An argument of the .ini that the compared variants take: a tensor's device address, or a scalar of a floating type. */
typedef struct msda_baseline_arg {
    const char *name;
    unsigned long long address; /* 0 = a scalar */
    double number;
} msda_baseline_arg;

typedef struct msda_baseline_problem {
    const msda_baseline_value *values;
    size_t value_count;
    unsigned long long workspace; /* device memory that belongs to the plugin until `close` */
    size_t workspace_bytes;
} msda_baseline_problem;

typedef struct msda_baseline {
    unsigned abi; /* MSDA_BASELINE_ABI */
    /* Prepares the problem. NULL: it can't be done here, and `why` (size bytes) says why: no library, a problem that it does not know. */
    void *(*open)(const msda_baseline_problem *problem, char *why, size_t size);
    size_t (*count)(const void *self); /* algorithms: at least one; the first is what a caller who does not choose gets */
    void (*describe)(const void *self, size_t algorithm, char *text, size_t size);
    /* Queues the algorithm on the stream (a CUstream), which may be capturing. 0, or an error of the plugin's own. */
    int (*run)(void *self, size_t algorithm, const msda_baseline_arg *args, size_t arg_count, void *stream);
    void (*close)(void *self);
} msda_baseline;

/* The one exported symbol. */
const msda_baseline *msda_baseline_get(void);

#ifdef __cplusplus
}
#endif
#endif
