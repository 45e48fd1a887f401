/* msda-tune worker: what the coordinator execs. Not for people; speaks the protocol of tuner/worker/proto.h over an inherited descriptor. */
#include "tuner/cli/command.h"
#include "tuner/worker/worker_main.h"

const mt_command mt_cmd_worker = {.name = "worker", .raw = mt_worker_main};
