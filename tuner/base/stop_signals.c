#include "tuner/base/stop_signals.h"

#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

size_t mt_stop_signals(int numbers[MT_STOP_SIGNALS_MAX])
{
    static const int all[MT_STOP_SIGNALS_MAX] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    memcpy(numbers, all, sizeof all);
    bool is_ignored = sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
    return is_ignored ? MT_STOP_SIGNALS_MAX - 1 : MT_STOP_SIGNALS_MAX;
}

int mt_stop_signals_hold(sigset_t *before)
{
    int numbers[MT_STOP_SIGNALS_MAX];
    size_t count = mt_stop_signals(numbers);
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < count; i++) sigaddset(&held, numbers[i]);
    int fd = signalfd(-1, &held, SFD_CLOEXEC);
    if (fd >= 0) sigprocmask(SIG_BLOCK, &held, before);
    return fd;
}

void mt_stop_signals_let_go(int fd, const sigset_t *before)
{
    if (fd < 0) return;
    close(fd);
    sigprocmask(SIG_SETMASK, before, NULL);
}
