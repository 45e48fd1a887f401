/* msda-tune worker: what the coordinator execs. Not for people; speaks the protocol of tuner/run/ over an inherited descriptor. */
#include <stdio.h>

#include "tuner/cli/command.h"
#include "tuner/run/session.h"
#if MT_WITH_CUDA
#include "tuner/run/worker_main.h"
#endif

static int run_worker(int argc, char **argv)
{
#if MT_WITH_CUDA
    return mt_worker_main(argc, argv);
#else
    (void)argc;
    (void)argv;
    fprintf(stderr, "msda-tune: worker: built without CUDA headers\n");
    return 1;
#endif
}

const mt_command mt_cmd_worker = {.name = "worker", .raw = run_worker};
