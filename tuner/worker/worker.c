#include "tuner/worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"

/* What the one timer stands for. */
enum phase {
    WORKING, /* the deadline of the order: then SIGKILL */
    CLOSING, /* it closed its socket: a second to exit by itself, then SIGKILL */
    KILLED,  /* MT_WORKER_REAP_S to be reaped: then it is lost */
    EXITED   /* a second for what it had sent: then gone (the socket's end normally comes first) */
};

struct mt_worker {
    uv_process_t process;
    uv_pipe_t pipe;
    uv_timer_t timer;
    enum phase phase;
    mt_worker_launch launch;
    int log_fd;
    int64_t pid;
    unsigned char *in;
    size_t in_count, in_capacity;
    size_t open;           /* of our three handles */
    double left_s;         /* until the deadline, from the beginning of this slice; 0 = none */
    int64_t slice_ns;      /* when the slice began */
    bool had_grace;        /* of this deadline, or of this phase */
    bool is_timeout, is_drained, is_gone;
    bool is_ours;          /* the kill: its deadline, its words, its closed socket, or the end of everything */
    int64_t exit_code;
    int signal;
    char complaint[256];   /* how it broke the protocol */
};

typedef struct outgoing {
    uv_write_t request;
    char *bytes;
} outgoing;

static void on_closed(uv_handle_t *handle)
{
    mt_worker *worker = handle->data;
    --*worker->launch.open_handles;
    if (--worker->open > 0) return;
    if (worker->log_fd >= 0) close(worker->log_fd);
    mt_free(worker->in);
    mt_free(worker);
}

static void close_handles(mt_worker *worker)
{
    uv_close((uv_handle_t *)&worker->process, on_closed);
    uv_close((uv_handle_t *)&worker->pipe, on_closed);
    uv_close((uv_handle_t *)&worker->timer, on_closed);
}

/* The last bytes that the worker printed, as text: control characters would steer the terminal of whoever reads the outcome. */
static void read_log_tail(const mt_worker *worker, char tail[MT_WORKER_LOG_TAIL + 1])
{
    off_t size = lseek(worker->log_fd, 0, SEEK_END);
    off_t from = size > MT_WORKER_LOG_TAIL ? size - MT_WORKER_LOG_TAIL : 0;
    ssize_t count = size > 0 ? pread(worker->log_fd, tail, MT_WORKER_LOG_TAIL, from) : 0;
    if (count < 0) count = 0;
    tail[count] = '\0';
    mt_text_defuse(tail, (size_t)count);
    while (count > 0 && (tail[count - 1] == '\n' || tail[count - 1] == ' ')) tail[--count] = '\0';
}

static void describe_end(const mt_worker *worker, char *how, size_t size)
{
    const char *name = worker->signal ? sigabbrev_np(worker->signal) : NULL;
    if (worker->complaint[0]) snprintf(how, size, "it broke the protocol: %s", worker->complaint);
    else if (worker->phase != EXITED) snprintf(how, size, "it could not be killed within %d s", MT_WORKER_REAP_S);
    else if (name) snprintf(how, size, "SIG%s", name);
    else if (worker->signal) snprintf(how, size, "signal %d", worker->signal);
    else snprintf(how, size, "exit code %d", (int)worker->exit_code);
}

static void report_gone(mt_worker *worker)
{
    if (worker->is_gone) return;
    worker->is_gone = true;
    char tail[MT_WORKER_LOG_TAIL + 1], how[320];
    read_log_tail(worker, tail);
    describe_end(worker, how, sizeof how);
    mt_worker_death death = {
        .is_timeout = worker->is_timeout,
        .is_lost = worker->phase != EXITED,
        .signal = worker->signal,
        .is_killed = worker->signal == SIGKILL && !worker->is_ours,
        .how = how,
        .log_tail = tail,
    };
    worker->launch.gone(worker->launch.context, &death);
    close_handles(worker);
}

/* The coordinator itself may have been late (stopped by Ctrl-Z, held up by a slow disk): then the answer is already in the socket, or the worker's end is known, and libuv
 * serves timers before either. */
static bool has_unread(const mt_worker *worker)
{
    int fd = -1;
    if (uv_fileno((const uv_handle_t *)&worker->pipe, &fd) != 0) return false;
    struct pollfd unread = {.fd = fd, .events = POLLIN};
    return poll(&unread, 1, 0) == 1;
}

/* A deadline is waited for in slices. A slice that took much longer than it should was none of the worker's: whoever stopped us (Ctrl-Z, a batch system that suspends its jobs) stopped
 * it too, or else its answer lies in the socket. */
static const double SLICE_S = 0.25, MOST_LATE_S = 0.25;

static double slice_of(const mt_worker *worker)
{
    return worker->left_s < SLICE_S ? worker->left_s : SLICE_S;
}

static double left_now(const mt_worker *worker)
{
    double since_s = (double)(mt_clock_now_ns() - worker->slice_ns) / 1e9, most_s = slice_of(worker) + MOST_LATE_S;
    return worker->left_s - (since_s < most_s ? since_s : most_s);
}

static void start_timer(mt_worker *worker, double seconds);

static void start_slice(mt_worker *worker, double left_s)
{
    worker->left_s = left_s;
    worker->slice_ns = mt_clock_now_ns();
    start_timer(worker, slice_of(worker));
}

/* Once: a look at what has come before time is up. */
static bool takes_grace(mt_worker *worker)
{
    if (worker->had_grace) return false;
    worker->had_grace = true;
    start_timer(worker, 0.1);
    return true;
}

static void on_timer(uv_timer_t *timer)
{
    mt_worker *worker = timer->data;
    if (worker->phase == KILLED || worker->phase == EXITED) {
        if (!takes_grace(worker)) report_gone(worker);
        return;
    }
    double left_s = worker->phase == WORKING && worker->left_s > 0 ? left_now(worker) : 0;
    if (left_s > 0.001) {
        start_slice(worker, left_s);
        return;
    }
    worker->left_s = 0;
    if (has_unread(worker) && takes_grace(worker)) return;
    worker->is_timeout = worker->phase == WORKING;
    mt_worker_kill(worker);
    if (worker->is_timeout && worker->launch.doomed) worker->launch.doomed(worker->launch.context);
}

static void start_timer(mt_worker *worker, double seconds)
{
    uv_update_time(worker->timer.loop); /* the loop's clock may be as old as the last long callback */
    uv_timer_start(&worker->timer, on_timer, (uint64_t)(seconds * 1000) + 1, 0);
}

static void on_exit_status(uv_process_t *process, int64_t exit_code, int signal)
{
    mt_worker *worker = process->data;
    worker->phase = EXITED;
    worker->had_grace = false;
    worker->exit_code = exit_code;
    worker->signal = signal;
    if (worker->is_drained) report_gone(worker);
    else if (!worker->is_gone) start_timer(worker, 1.0);
}

static void break_off(mt_worker *worker, const char *why)
{
    snprintf(worker->complaint, sizeof worker->complaint, "%.*s", (int)sizeof worker->complaint - 1, why);
    mt_worker_kill(worker);
}

/* Delivers the whole frames that have arrived. After a kill nothing counts any more: the outcome is decided. */
static void deliver(mt_worker *worker)
{
    size_t at = 0;
    while (worker->phase != KILLED) {
        mt_message message;
        mt_error error;
        size_t used = 0;
        if (mt_proto_decode(worker->in + at, worker->in_count - at, &message, &used, &error) != MT_OK) {
            break_off(worker, error.message);
            break;
        }
        if (used == 0) break;
        at += used;
        worker->launch.message(worker->launch.context, &message);
        mt_message_free(&message);
    }
    if (worker->phase == KILLED) at = worker->in_count;
    worker->in_count -= at;
    memmove(worker->in, worker->in + at, worker->in_count);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    mt_worker *worker = handle->data;
    (void)suggested;
    if (worker->in_capacity - worker->in_count < 4096) {
        size_t capacity = worker->in_capacity ? 2 * worker->in_capacity : 16384;
        unsigned char *grown = mt_realloc(worker->in, capacity, 1);
        if (grown) {
            worker->in = grown;
            worker->in_capacity = capacity;
        }
    }
    *buffer = uv_buf_init((char *)worker->in + worker->in_count, (unsigned)(worker->in_capacity - worker->in_count));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    mt_worker *worker = stream->data;
    (void)buffer;
    if (count >= 0) {
        worker->in_count += (size_t)count;
        deliver(worker);
        return;
    }
    worker->is_drained = true;
    uv_read_stop(stream);
    if (count == UV_ENOBUFS) break_off(worker, "out of memory while reading from it");
    if (worker->phase == EXITED) {
        report_gone(worker);
    } else if (worker->phase == WORKING) {
        worker->phase = CLOSING;
        worker->had_grace = false;
        start_timer(worker, 1.0);
    }
}

/* A compiler's heap in huge pages, where the system offers them (madvise): NVRTC wanders over a hundred megabytes, and a compile takes about 5 % less. Older glibcs do not know the word. */
static char huge_pages[] = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";

/* Our environment, less what is replaced, and the extra names. */
static char **make_environment(const char *role, const char *const *extra)
{
    extern char **environ;
    size_t ours = 0, extras = 0;
    while (environ[ours]) ours++;
    while (extra && extra[extras]) extras++;
    char **all = mt_alloc(ours + extras + 3, sizeof *all);
    if (!all) return NULL;
    size_t count = 0;
    for (size_t i = 0; i < ours; i++) {
        const char *equals = strchr(environ[i], '=');
        size_t name = equals ? (size_t)(equals - environ[i]) + 1 : strlen(environ[i]);
        bool replaced = strncmp(environ[i], "CUDA_MODULE_LOADING=", name) == 0;
        for (size_t j = 0; j < extras; j++) replaced |= strncmp(environ[i], extra[j], name) == 0;
        if (!replaced) all[count++] = environ[i];
    }
    all[count++] = "CUDA_MODULE_LOADING=EAGER";
    if (strcmp(role, "compile") == 0 && !getenv("GLIBC_TUNABLES")) all[count++] = huge_pages;
    for (size_t j = 0; j < extras; j++) all[count++] = (char *)extra[j];
    return all;
}

/* Few descriptors are a machine's setting, not a mystery. */
static const char *descriptor_hint(int error)
{
    return error == EMFILE ? "; raise the limit of open files (ulimit -n), or use fewer --jobs" : "";
}

/* Both ends close on exec: a worker that held another's socket would hide that one's death. */
static mt_status make_channels(mt_worker *worker, int sockets[2], mt_error *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        sockets[0] = sockets[1] = -1;
        return MT_FAIL(err, MT_ERR_WORKER, "worker: cannot make a socket pair: %s%s", strerror(errno), descriptor_hint(errno));
    }
    worker->log_fd = memfd_create("msda-tune-worker-log", MFD_CLOEXEC);
    if (worker->log_fd < 0) return MT_FAIL(err, MT_ERR_WORKER, "worker: cannot make a memory file: %s%s", strerror(errno), descriptor_hint(errno));
    fcntl(worker->log_fd, F_SETFL, O_APPEND); /* so that truncating it starts it over */
    return MT_OK;
}

static int spawn_process(uv_loop_t *loop, mt_worker *worker, char *self, int socket, char **environment)
{
    char parent[24], device[24];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(device, sizeof device, "%d", worker->launch.device);
    char *args[] = {self, "worker", (char *)worker->launch.role, parent, device, NULL};
    uv_stdio_container_t stdio[MT_WORKER_BUNDLE_FD + 1] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = worker->log_fd},
        {.flags = UV_INHERIT_FD, .data.fd = worker->log_fd},
        {.flags = UV_INHERIT_FD, .data.fd = socket},
        {.flags = UV_INHERIT_FD, .data.fd = worker->launch.bundle_fd},
    };
    uv_process_options_t options = {
        .exit_cb = on_exit_status,
        .file = self,
        .args = args,
        .env = environment,
        .stdio_count = worker->launch.bundle_fd < 0 ? MT_WORKER_BUNDLE_FD : MT_WORKER_BUNDLE_FD + 1,
        .stdio = stdio,
    };
    return uv_spawn(loop, &worker->process, &options);
}

static void init_handles(uv_loop_t *loop, mt_worker *worker)
{
    uv_pipe_init(loop, &worker->pipe, 0);
    uv_timer_init(loop, &worker->timer);
    worker->process.data = worker->pipe.data = worker->timer.data = worker;
    worker->open = 3;
    *worker->launch.open_handles += 3;
}

/* A worker that dies while we write to it must not take us along. */
static void ignore_sigpipe(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

mt_status mt_worker_spawn(uv_loop_t *loop, const mt_worker_launch *launch, mt_worker **out, mt_error *err)
{
    mt_status st = MT_OK;
    int sockets[2] = {-1, -1};
    char *self = mt_path_self();
    char **environment = make_environment(launch->role, launch->env);
    mt_worker *worker = mt_alloc(1, sizeof *worker);
    if (!worker || !self || !environment) {
        mt_free(worker);
        worker = NULL;
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "worker: out of memory");
        goto done;
    }
    worker->launch = *launch;
    worker->log_fd = -1;
    ignore_sigpipe();
    st = make_channels(worker, sockets, err);
    if (st != MT_OK) {
        if (worker->log_fd >= 0) close(worker->log_fd);
        mt_free(worker);
        goto done;
    }
    int code = spawn_process(loop, worker, self, sockets[1], environment);
    init_handles(loop, worker);
    if (code == 0) code = uv_pipe_open(&worker->pipe, sockets[0]);
    if (code == 0) {
        sockets[0] = -1; /* the pipe's */
        code = uv_read_start((uv_stream_t *)&worker->pipe, on_alloc, on_read);
    }
    if (code != 0) {
        st = MT_FAIL(err, MT_ERR_WORKER, "cannot start a worker (%s): %s%s", self, uv_strerror(code), descriptor_hint(-code));
        if (uv_is_active((uv_handle_t *)&worker->process)) uv_process_kill(&worker->process, SIGKILL);
        close_handles(worker);
        goto done;
    }
    worker->pid = uv_process_get_pid(&worker->process);
    mt_worker_deadline(worker, MT_WORKER_HELLO_S);
    *out = worker;
done:
    if (sockets[0] >= 0) close(sockets[0]);
    if (sockets[1] >= 0) close(sockets[1]);
    mt_free(environment);
    mt_free(self);
    return st;
}

static void on_written(uv_write_t *request, int status)
{
    outgoing *out = (outgoing *)request;
    (void)status; /* a worker that can't be written to is dying */
    mt_free(out->bytes);
    mt_free(out);
}

mt_status mt_worker_send(mt_worker *worker, const mt_strbuf *frame, mt_error *err)
{
    outgoing *out = mt_alloc(1, sizeof *out);
    if (out) out->bytes = mt_alloc(frame->length, 1);
    if (!out || !out->bytes) {
        mt_free(out);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "worker message: out of memory");
    }
    memcpy(out->bytes, frame->text, frame->length);
    uv_buf_t buffer = uv_buf_init(out->bytes, (unsigned)frame->length);
    if (uv_write(&out->request, (uv_stream_t *)&worker->pipe, &buffer, 1, on_written) != 0) {
        mt_free(out->bytes);
        mt_free(out);
    }
    return MT_OK;
}

void mt_worker_deadline(mt_worker *worker, double seconds)
{
    if (worker->phase != WORKING) return; /* the timer serves the end now */
    worker->had_grace = false;
    worker->left_s = 0;
    if (seconds > 0) start_slice(worker, seconds);
    else uv_timer_stop(&worker->timer);
}

double mt_worker_deadline_left(const mt_worker *worker)
{
    double left_s = worker->left_s > 0 ? left_now(worker) : 0;
    return left_s > 0 ? left_s : 0;
}

static bool pretend_unkillable;

void mt_worker_pretend_unkillable(bool unkillable)
{
    pretend_unkillable = unkillable;
}

void mt_worker_kill(mt_worker *worker)
{
    if (worker->phase == KILLED || worker->phase == EXITED) return;
    worker->is_ours = true;
    if (!pretend_unkillable) uv_process_kill(&worker->process, SIGKILL);
    worker->phase = KILLED;
    worker->had_grace = false;
    start_timer(worker, MT_WORKER_REAP_S);
}

void mt_worker_forget_log(mt_worker *worker)
{
    if (ftruncate(worker->log_fd, 0) != 0) return; /* then the tail tells a little more */
}

int64_t mt_worker_pid(const mt_worker *worker)
{
    return worker->pid;
}

bool mt_worker_is_stopped(const mt_worker *worker)
{
    char path[40], line[512];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)worker->pid);
    FILE *file = worker->phase == WORKING ? fopen(path, "re") : NULL;
    if (!file) return false;
    const char *name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return name_end && strncmp(name_end, ") T", 3) == 0;
}
