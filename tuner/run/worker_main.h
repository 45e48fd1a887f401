/* The worker process. Only in builds with the CUDA Toolkit (MT_WITH_CUDA). */
#ifndef MT_RUN_WORKER_MAIN_H
#define MT_RUN_WORKER_MAIN_H

/* argv[0] = "compile" or "device", argv[1] = the parent's pid, argv[2] = the device's ordinal; descriptors as worker.h says. Returns the exit code. */
int mt_worker_main(int argc, char **argv);

#endif
