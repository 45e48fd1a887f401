/* The worker process. In a build without the CUDA Toolkit's headers (worker_no_cuda.c) it only says that it can do nothing. */
#pragma once

/* argv[0] = "compile" or "device", argv[1] = the parent's pid, argv[2] = the device's ordinal; descriptors as worker.h says. Returns the exit code. */
int mt_worker_main(int argc, char **argv);
