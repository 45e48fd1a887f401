#include "tuner/base/clock.h"

#include <time.h>

int64_t mt_clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t mt_clock_thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t mt_clock_unix_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t unix_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return unix_ms < 0 ? 0 : unix_ms < MT_CLOCK_LIMIT_MS ? unix_ms : MT_CLOCK_LIMIT_MS - 1;
}
