/* The worker's end of the socket: blocking, one message at a time. */
#pragma once

#include "tuner/worker/proto.h"

typedef struct mt_channel {
    int fd;
    mt_strbuf in; /* received and not yet decoded */
} mt_channel;

/* Makes this process a good worker: dies with its parent (SIGKILL), ignores the terminal's and the group's signals, dumps no core, can't fill the memory
 * with output, and yields the CPU when `nice` is above 0. False when the parent is already gone. */
bool mt_channel_enter(long parent_pid, int nice);
mt_status mt_channel_send(mt_channel *channel, const mt_message *message, mt_error *err);
/* Waits. *closed: the coordinator is gone or has closed: exit. */
mt_status mt_channel_receive(mt_channel *channel, mt_message *message, bool *closed, mt_error *err);
void mt_channel_free(mt_channel *channel);
