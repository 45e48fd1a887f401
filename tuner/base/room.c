#include "tuner/base/room.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DESCRIPTORS = 12, POOL_THREADS = 4, MOST_THREADS = 1024, WORK_MIB = 32 };

static mt_status check_descriptors(mt_error *err)
{
    int fds[DESCRIPTORS], got = 0;
    while (got < DESCRIPTORS && (fds[got] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) got++;
    int code = errno;
    for (int i = 0; i < got; i++) close(fds[i]);
    if (got == DESCRIPTORS) return MT_OK;
    return MT_FAIL(err, MT_ERR_IO, "too few file descriptors: %d of %d can be opened (%s); raise the limit of open files (ulimit -n)", got, DESCRIPTORS, strerror(code));
}

/* As many as libuv will start, each with the stack that libuv gives it: as large as the limit says, 8 MiB where there is none. */
static size_t pool_bytes(void)
{
    static const size_t usual = (size_t)8 << 20;
    struct rlimit stack = {0};
    const char *wish = getenv("UV_THREADPOOL_SIZE");
    long threads = wish ? strtol(wish, NULL, 10) : POOL_THREADS;
    if (threads < 1) threads = 1;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    bool is_limited = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    return (size_t)threads * (is_limited ? (size_t)stack.rlim_cur : usual);
}

static void *do_nothing(void *argument)
{
    return argument;
}

static mt_status check_threads(mt_error *err)
{
    pthread_t thread;
    struct rlimit space = {0};
    size_t bytes = pool_bytes() + ((size_t)WORK_MIB << 20);
    void *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe != MAP_FAILED) munmap(probe, bytes);
    if (getrlimit(RLIMIT_AS, &space) != 0) space.rlim_cur = RLIM_INFINITY;
    if (probe == MAP_FAILED && space.rlim_cur != RLIM_INFINITY)
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "too little address space: %zu MiB more are needed, the limit is %zu MiB in all; raise it (ulimit -v)", bytes >> 20, (size_t)space.rlim_cur >> 20);
    if (probe == MAP_FAILED) return MT_FAIL(err, MT_ERR_NO_MEMORY, "too little memory: %zu MiB more are needed", bytes >> 20);
    int code = pthread_create(&thread, NULL, do_nothing, NULL);
    if (code != 0) return MT_FAIL(err, MT_ERR_NO_MEMORY, "no thread can be started (%s); raise the limit of processes (ulimit -u)", strerror(code));
    pthread_join(thread, NULL);
    return MT_OK;
}

mt_status mt_room_check(mt_error *err)
{
    mt_status st = check_descriptors(err);
    return st == MT_OK ? check_threads(err) : st;
}
