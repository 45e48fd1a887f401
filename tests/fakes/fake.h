/* The inside of the fake driver. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#define FAKE_EXPORT __attribute__((visibility("default")))
#define FAKE_MAGIC "FAKE-CUBIN 1\n"

enum { FAKE_MAX_PARAMETERS = 16, FAKE_SM_COUNT = 132, FAKE_CLOCK_MHZ = 1980 };

typedef struct fake_module {
    char *text; /* the "cubin" */
    unsigned char variable[256]; /* the one of its source: `__constant__ float NAME[…]` */
    unsigned launches; /* of the family's kernel: what a __device__ counter would say */
} fake_module;

/* A launch as a kernel's C function sees it. */
typedef struct fake_launch {
    const fake_module *module;
    uint32_t grid[3], block[3];
    void **parameters;
} fake_launch;

/* Runs the whole grid; what goes wrong is returned by the launch. */
typedef CUresult (*fake_body)(const fake_launch *launch);

typedef struct fake_kernel {
    const char *name;
    fake_body body;
    int parameter_count;
    unsigned short parameter_bytes[FAKE_MAX_PARAMETERS];
} fake_kernel;

const fake_kernel *fake_find_tool_kernel(const char *name);   /* fake_kernels.c: support.cu's */
const fake_kernel *fake_find_family_kernel(const char *name); /* fake_family.c */

/* fake_cuda.c: simulated time, and errors that stay. */
uint64_t fake_now_ns(void);
void fake_spend_ns(uint64_t ns);
CUresult fake_state(void);             /* the sticky error, or CUDA_SUCCESS */
void fake_break(CUresult code);        /* from now on every call returns it */
int fake_gpu(void);                    /* the one in use; −1 = there is only one */
const char *fake_lost_file(void);      /* this GPU is lost once the file is there; NULL = it stays */

/* fake_module.c */
const char *fake_option(const fake_module *module, const char *name, char *value, size_t size); /* of -DNAME=VALUE; NULL = not given */
long long fake_number(const fake_module *module, const char *name, long long otherwise);
void fake_log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));              /* to $MSDA_TUNE_FAKE_LOG */
CUresult fake_run(CUfunction function, const CUlaunchConfig *config, void **parameters);        /* now */
const fake_kernel *fake_kernel_of(CUfunction function);                                         /* NULL = no C function for it */

/* fake_graph.c */
bool fake_is_capturing(void);
CUresult fake_capture(CUfunction function, const CUlaunchConfig *config, void **parameters);

/* fake_values.c: element types as double, numbered as in support.h. */
double fake_load(const void *data, uint64_t index, uint32_t dtype);
void fake_store(void *data, uint64_t index, uint32_t dtype, double value);
size_t fake_bytes(uint32_t dtype);
bool fake_is_float(uint32_t dtype);
