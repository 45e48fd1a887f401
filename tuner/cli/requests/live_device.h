/* The facts of a GPU that is there. The coordinator never calls CUDA: a device worker is asked. */
#pragma once

#include "tuner/cli/requests/known_device.h"

/* NO_GPU when there is none, or when this build has no CUDA headers. */
mt_status mt_live_device(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err);

/* What is found here and now. */
typedef struct mt_live_toolkit {
    int64_t nvrtc_version; /* 1000 · major + 10 · minor; 0 = no NVRTC was found */
    bool has_headers;      /* the toolkit's, as the worker found them that has opened NVRTC: without NVRTC none */
} mt_live_toolkit;
/* Compiles a small kernel that includes a header of the toolkit: whether kernels can be compiled here and now. *toolkit is set after an error too. UNSUPPORTED when this build has no CUDA headers, COMPILE with the reason when there is no NVRTC or it compiles nothing (without its builtins, without headers). */
mt_status mt_live_compiler(mt_live_toolkit *toolkit, mt_error *err);
