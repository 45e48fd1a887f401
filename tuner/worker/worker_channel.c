#include "tuner/worker/worker_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tuner/base/file.h"

enum { MAX_FILE_BYTES = 256 << 20 }; /* far above any cubin */

bool mt_channel_enter(long parent_pid, int nice)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)parent_pid) return false; /* it died before the line above took effect */
    /* The coordinator decides when a worker ends: by the socket, by SIGKILL, or by dying itself. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) signal(ignored[i], SIG_IGN);
    struct rlimit none = {0, 0}, file = {MAX_FILE_BYTES, MAX_FILE_BYTES};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &file); /* a kernel that printf's for ever would fill the log, which is memory */
    if (nice > 0) setpriority(PRIO_PROCESS, 0, nice);
    for (int fd = 3; fd <= 4; fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
    return true;
}

mt_status mt_channel_send(mt_channel *channel, const mt_message *message, mt_error *err)
{
    mt_strbuf frame = {0};
    mt_status st = mt_proto_encode(message, &frame, err);
    if (st == MT_OK && mt_fd_write_all(channel->fd, frame.text, frame.length) != 0) st = MT_FAIL(err, MT_ERR_WORKER, "worker: cannot write to the coordinator: %s", strerror(errno));
    mt_strbuf_free(&frame);
    return st;
}

/* Decodes the first message that is in the buffer, if there is a whole one. */
static mt_status take_message(mt_channel *channel, mt_message *message, bool *taken, mt_error *err)
{
    size_t used = 0;
    *taken = false;
    if (channel->in.length == 0) return MT_OK;
    mt_status st = mt_proto_decode(channel->in.text, channel->in.length, message, &used, err);
    if (st != MT_OK || used == 0) return st;
    channel->in.length -= used;
    memmove(channel->in.text, channel->in.text + used, channel->in.length);
    *taken = true;
    return MT_OK;
}

mt_status mt_channel_receive(mt_channel *channel, mt_message *message, bool *closed, mt_error *err)
{
    *closed = false;
    for (;;) {
        bool taken = false;
        mt_status st = take_message(channel, message, &taken, err);
        if (st != MT_OK || taken) return st;
        char bytes[16384];
        ssize_t count = read(channel->fd, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            *closed = true;
            return MT_OK;
        }
        mt_strbuf_add_bytes(&channel->in, bytes, (size_t)count);
        if (channel->in.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "worker: out of memory");
    }
}

void mt_channel_free(mt_channel *channel)
{
    mt_strbuf_free(&channel->in);
}
