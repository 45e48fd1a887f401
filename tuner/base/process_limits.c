#include "tuner/base/process_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DESCRIPTORS = 12, POOL_THREADS = 4, MOST_THREADS = 1024, WORK_MIB = 32, STACK_KIB = 512 };

static mt_status check_descriptors(mt_error *err)
{
    int fds[DESCRIPTORS], got = 0;
    while (got < DESCRIPTORS && (fds[got] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) got++;
    int code = errno;
    for (int i = 0; i < got; i++) close(fds[i]);
    if (got == DESCRIPTORS) return MT_OK;
    return MT_FAIL(err, MT_ERR_IO, "too few file descriptors: %d of %d can be opened (%s); raise the limit of open files (ulimit -n)", got, DESCRIPTORS, strerror(code));
}

static long pool_threads(void)
{
    const char *wish = getenv("UV_THREADPOOL_SIZE");
    long threads = wish ? strtol(wish, NULL, 10) : POOL_THREADS;
    return threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
}

static bool limit_of(int resource, size_t *limit)
{
    struct rlimit found = {0};
    bool is_limited = getrlimit(resource, &found) == 0 && found.rlim_cur != RLIM_INFINITY;
    *limit = is_limited ? (size_t)found.rlim_cur : 0;
    return is_limited;
}

/* Expressions, JSON and SQLite work on the stack; libuv gives its threads as much as the limit says. */
mt_status mt_process_limits_check_stack(mt_error *err)
{
    size_t limit;
    if (!limit_of(RLIMIT_STACK, &limit) || limit >= (size_t)STACK_KIB << 10) return MT_OK;
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "too small a stack: the limit is %zu KiB, at least %d are needed; raise it (ulimit -s)", limit >> 10, STACK_KIB);
}

/* For the stacks of libuv's threads (8 MiB each where there is no limit) and some work. Writable, since only that counts for the limit of data. */
static mt_status check_memory(mt_error *err)
{
    static const size_t usual = (size_t)8 << 20;
    size_t stack, space, data;
    size_t bytes = (size_t)pool_threads() * (limit_of(RLIMIT_STACK, &stack) ? stack : usual) + ((size_t)WORK_MIB << 20);
    void *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe != MAP_FAILED) return munmap(probe, bytes), MT_OK;
    bool has_space = limit_of(RLIMIT_AS, &space), has_data = limit_of(RLIMIT_DATA, &data);
    if (has_data && (!has_space || data < space))
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "too little memory for data: %zu MiB more are needed, the limit is %zu MiB in all; raise it (ulimit -d)", bytes >> 20, data >> 20);
    if (has_space)
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "too little address space: %zu MiB more are needed, the limit is %zu MiB in all; raise it (ulimit -v)", bytes >> 20, space >> 20);
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "too little memory: %zu MiB more are needed", bytes >> 20);
}

static void *wait_at(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* As many as libuv will start, all at once: it aborts over the first that it does not get. */
static mt_status check_threads(mt_error *err)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[MOST_THREADS];
    long wanted = pool_threads(), got = 0;
    int code = 0;
    pthread_mutex_lock(&gate);
    while (got < wanted && (code = pthread_create(&threads[got], NULL, wait_at, &gate)) == 0) got++;
    pthread_mutex_unlock(&gate);
    for (long i = 0; i < got; i++) pthread_join(threads[i], NULL);
    if (got == wanted) return MT_OK;
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "too few threads: %ld of %ld can be started (%s); raise the limit of processes (ulimit -u)", got, wanted, strerror(code));
}

mt_status mt_process_limits_check(mt_error *err)
{
    mt_status st = MT_OK;
    MT_TRY(mt_process_limits_check_stack(err));
    MT_TRY(check_descriptors(err));
    MT_TRY(check_memory(err));
    MT_TRY(check_threads(err));
done:
    return st;
}
