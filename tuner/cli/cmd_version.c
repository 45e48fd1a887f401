/* msda-tune version */
#include <stdio.h>

#include "tuner/cli/command.h"
#include "tuner/run/session.h"

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    (void)arguments;
    (void)err;
    printf("msda-tune %s (%s, libuv %s)\n", MT_VERSION, MT_WITH_CUDA ? "with GPU tuning" : "recorded GPUs only: built without CUDA headers", uv_version_string());
    return MT_OK;
}

const mt_command mt_cmd_version = {
    .name = "version",
    .summary = "print the version and what was built in",
    .help = "Prints the version of the tool and what it was built with.",
    .run = run,
};
