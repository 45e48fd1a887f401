/* The facts of a GPU that is there. The coordinator never calls CUDA: a device worker is asked. */
#ifndef MT_CLI_LIVE_DEVICE_H
#define MT_CLI_LIVE_DEVICE_H

#include "tuner/cli/known_device.h"

/* NO_GPU when there is none, or when this build has no GPU part. */
mt_status mt_live_device(int ordinal, mt_device_facts *facts, char arch[MT_ARCH_SIZE], mt_error *err);

#endif
