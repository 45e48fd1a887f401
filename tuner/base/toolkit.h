/* What compiling needs of the CUDA Toolkit, in the words of every message that says it is not there. */
#pragma once

#include <stdbool.h>

#include "tuner/base/strbuf.h"

/* The packages are those of NVIDIA's repositories for Debian and Ubuntu, the wheels those of CUDA 13 (before: nvidia-cuda-runtime-cu12, nvidia-cuda-nvrtc-cu12). */
#define MT_TOOLKIT_PARTS                                                                                            \
    "packages cuda-cudart-dev-13-0, cuda-crt-13-0, cuda-cccl-13-0 and cuda-nvrtc-13-0 (or of another CUDA 12 or 13), or the Python wheels " \
    "nvidia-cuda-runtime, nvidia-cuda-crt, nvidia-cuda-cccl and nvidia-cuda-nvrtc with CUDA_HOME set to their folder nvidia/cu13"
#define MT_TOOLKIT_NO_HEADERS "built without the CUDA Toolkit's headers, so nothing can be compiled or measured here. Install " MT_TOOLKIT_PARTS ", then build again"

#define MT_TOOLKIT_BUILD_AGAIN "built without the CUDA Toolkit's headers, which are here now: build again, and kernels can be compiled"

/* Whether they lie in CUDA_HOME, CUDA_PATH or /usr/local/cuda. Of an NVRTC that works the worker that has opened it knows more. */
bool mt_toolkit_has_headers(void);
bool mt_toolkit_has_nvrtc(void);
/* Adds what CUDA_HOME and CUDA_PATH name in vain, as a phrase: "CUDA_HOME=/x is ignored: there is no such folder". Nothing where each is unset, or holds headers or NVRTC. */
void mt_toolkit_ignored(mt_strbuf *text);
/* The same as a warning, once in a process. For the thread that starts compile workers. */
void mt_toolkit_warn_ignored(void);
