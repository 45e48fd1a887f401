/* The facts of a GPU that is there. The coordinator never calls CUDA: a device worker is asked. */
#ifndef MT_CLI_LIVE_DEVICE_H
#define MT_CLI_LIVE_DEVICE_H

#include "tuner/cli/requests/known_device.h"

/* NO_GPU when there is none, or when this build has no CUDA headers. */
mt_status mt_live_device(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err);

/* NVRTC's version as 1000 · major + 10 · minor, as a compile worker finds it. UNSUPPORTED when this build has no CUDA headers, COMPILE when there is no NVRTC. */
mt_status mt_live_compiler(int64_t *nvrtc_version, mt_error *err);

#endif
