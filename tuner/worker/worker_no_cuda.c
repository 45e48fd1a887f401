/* The worker process of a build without the CUDA Toolkit's headers: it says so in its HELLO, as a worker says anything else that it lacks. */
#include "tuner/worker/worker_main.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/toolkit.h"
#include "tuner/worker/worker.h"
#include "tuner/worker/worker_channel.h"

int mt_worker_main(int argc, char **argv)
{
    mt_channel channel = {.fd = MT_WORKER_SOCKET_FD};
    mt_error err = {0};
    if (argc < 3 || !mt_channel_enter(strtol(argv[1], NULL, 10), 0)) return 1;
    mt_status status = strcmp(argv[0], "compile") == 0 ? MT_ERR_UNSUPPORTED : MT_ERR_NO_GPU;
    mt_message hello = {.type = MT_MESSAGE_HELLO,
                        .hello = {.pid = (uint32_t)getpid(), .status = status, .error = MT_TOOLKIT_NO_HEADERS, .foreign_processes = -1, .busy_percent = -1}};
    mt_channel_send(&channel, &hello, &err);
    mt_channel_free(&channel);
    return 1;
}
