#include "tuner/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"

/* Pipes: what the program prints, how it ended, and one that nobody writes into: its end is the end of this process, or of its patience. */
enum { OUTPUT, ENDED, LIFE, PIPES, MOST_DESCRIPTORS = 4096 };

typedef struct ending {
    int error;  /* it could not be started: errno */
    int status; /* of waitpid */
} ending;

static void close_others(const int *kept, size_t count)
{
    long most = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < (most > 0 && most < MOST_DESCRIPTORS ? most : MOST_DESCRIPTORS); fd++) {
        bool is_kept = false;
        for (size_t i = 0; i < count; i++) is_kept |= kept[i] == fd;
        if (!is_kept) close(fd);
    }
}

/* ---- the program's process ---- */

static void limit(int resource, uint64_t bytes)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0 || bytes >= now.rlim_cur) return;
    now.rlim_cur = bytes;
    setrlimit((__rlimit_resource_t)resource, &now);
}

static void become(const mt_child *child, int output, int ended)
{
    int nothing = open("/dev/null", O_RDONLY);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL); /* a worker ignores some, which a program would inherit */
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close_others(&ended, 1); /* which exec closes */
    limit(RLIMIT_CORE, 0);
    if (child->memory_bytes) limit(RLIMIT_AS, child->memory_bytes);
    if (!child->folder || chdir(child->folder) == 0) execve(child->argv[0], (char *const *)child->argv, (char *const *)child->env);
    ending told = {.error = errno};
    if (write(ended, &told, sizeof told) < 0) _exit(126);
    _exit(127);
}

/* ---- the process between: leads the group, and ends it ---- */

/* Whatever the program leaves behind goes with the group, this process included. */
static _Noreturn void end_group(void)
{
    kill(0, SIGKILL);
    _exit(1);
}

static _Noreturn void watch_over(const mt_child *child, int pipes[PIPES][2])
{
    const int kept[] = {pipes[OUTPUT][1], pipes[ENDED][1], pipes[LIFE][0]};
    sigset_t children;
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* the program's orphans stay in sight */
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    close_others(kept, 3);
    int signals = signalfd(-1, &children, SFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) become(child, pipes[OUTPUT][1], pipes[ENDED][1]);
    ending told = {.error = pid < 0 ? errno : 0};
    close(pipes[OUTPUT][1]);
    struct pollfd waited[] = {{.fd = signals, .events = POLLIN}, {.fd = pipes[LIFE][0], .events = POLLIN}};
    while (pid > 0) {
        struct signalfd_siginfo info;
        if (poll(waited, 2, -1) < 0 && errno != EINTR) break;
        if (waited[1].revents) end_group();
        if (waited[0].revents && read(signals, &info, sizeof info) < 0) break;
        if (waitpid(pid, &told.status, WNOHANG) == pid) break;
    }
    if (write(pipes[ENDED][1], &told, sizeof told) < 0) end_group();
    end_group();
}

/* ---- this process ---- */

/* False: nothing more will come. */
static bool take_output(int fd, size_t most, mt_strbuf *text, bool *is_cut)
{
    char bytes[16384];
    ssize_t count = read(fd, bytes, sizeof bytes);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    size_t room = most > text->length ? most - text->length : 0;
    *is_cut |= (size_t)count > room;
    mt_strbuf_add_bytes(text, bytes, (size_t)count < room ? (size_t)count : room);
    return count > 0;
}

static int left_ms(const mt_child *child, int64_t start_ns)
{
    double left_s = child->limit_s - (double)(mt_clock_now_ns() - start_ns) / 1e9;
    return child->limit_s <= 0 ? -1 : left_s <= 0 ? 0 : (int)(left_s * 1e3) + 1;
}

/* Until its end is told, its time is up, or it is to stop. */
static bool listen_to(const mt_child *child, int output, int ended, mt_strbuf *text, mt_child_end *end, ending *told, bool *is_stopped)
{
    int64_t start_ns = mt_clock_now_ns();
    struct pollfd waited[] = {{.fd = output, .events = POLLIN}, {.fd = ended, .events = POLLIN}, {.fd = child->stop ? child->stop : -1, .events = POLLIN}};
    for (;;) {
        int left = left_ms(child, start_ns), count = poll(waited, 3, left);
        if (count < 0 && errno != EINTR) return false;
        end->is_timeout = left >= 0 && left_ms(child, start_ns) == 0;
        if (end->is_timeout) return false;
        if (count <= 0) continue;
        *is_stopped = waited[2].revents != 0;
        if (*is_stopped) return false;
        if (waited[0].revents && !take_output(output, child->most_output, text, &end->is_cut)) waited[0].fd = -1;
        if (waited[1].revents) return read(ended, told, sizeof *told) == sizeof *told;
    }
}

static void close_pipes(int pipes[PIPES][2])
{
    for (int i = 0; i < PIPES * 2; i++)
        if (pipes[i / 2][i % 2] >= 0) close(pipes[i / 2][i % 2]);
}

static void close_end(int pipes[PIPES][2], int which, int side)
{
    close(pipes[which][side]);
    pipes[which][side] = -1;
}

mt_status mt_child_run(const mt_child *child, mt_child_end *end, mt_error *err)
{
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    ending told = {0};
    pid_t pid = -1;
    *end = (mt_child_end){0};
    for (int i = 0; i < PIPES && st == MT_OK; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0) st = MT_FAIL(err, MT_ERR_IO, "%s: cannot make a pipe: %s", child->argv[0], strerror(errno));
    if (st == MT_OK) pid = fork();
    if (pid == 0) watch_over(child, pipes);
    if (st == MT_OK && pid < 0) st = MT_FAIL(err, MT_ERR_IO, "%s: cannot start a process: %s", child->argv[0], strerror(errno));
    if (st != MT_OK) goto done;
    close_end(pipes, OUTPUT, 1);
    close_end(pipes, ENDED, 1);
    close_end(pipes, LIFE, 0);
    bool is_stopped = false, is_told = listen_to(child, pipes[OUTPUT][0], pipes[ENDED][0], &text, end, &told, &is_stopped);
    close_end(pipes, LIFE, 1); /* the group ends, if it has not */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
    fcntl(pipes[OUTPUT][0], F_SETFL, O_NONBLOCK);
    while (is_told && take_output(pipes[OUTPUT][0], child->most_output, &text, &end->is_cut) && errno != EAGAIN) {}
    if (is_stopped) st = MT_FAIL(err, MT_ERR_INTERRUPTED, "%s: interrupted", child->argv[0]);
    else if (is_told && told.error) st = MT_FAIL(err, MT_ERR_IO, "%s: cannot be started: %s", child->argv[0], strerror(told.error));
    else if (!is_told && !end->is_timeout) end->signal = SIGKILL; /* with its whole group, from outside */
    else if (is_told && WIFSIGNALED(told.status)) end->signal = WTERMSIG(told.status);
    else if (is_told) end->exit_code = WEXITSTATUS(told.status);
    mt_strbuf_add(&text, "");
    end->output = mt_strbuf_take(&text);
    if (st == MT_OK && !end->output) st = mt_no_memory(child->argv[0], err);
done:
    close_pipes(pipes);
    mt_strbuf_free(&text);
    if (st != MT_OK) mt_child_end_free(end);
    return st;
}

void mt_child_end_free(mt_child_end *end)
{
    mt_free(end->output);
    *end = (mt_child_end){0};
}

void mt_child_describe(const mt_child *child, const mt_child_end *end, char text[64])
{
    const char *name = end->signal ? sigabbrev_np(end->signal) : NULL;
    if (end->is_timeout) snprintf(text, 64, "no end within %g s", child->limit_s);
    else if (end->signal) snprintf(text, 64, "SIG%s", name ? name : "?");
    else snprintf(text, 64, "exit code %d", end->exit_code);
}
