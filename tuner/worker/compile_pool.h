/* Compile workers behind a queue. Identical orders that are under way at the same time run once, and of those that differ only in what is told of the result one compiles at a time; macros that the source can't see make no difference.
 *
 * Each worker has one order at a time. An order that passes its limit costs its worker (SIGKILL, a new one when there is work). An order whose worker dies
 * or is killed is tried once more in another process, then ends with is_timeout, or with the death as its text. */
#pragma once

#include <uv.h>

#include "tuner/space/source/visible.h"
#include "tuner/worker/proto.h"

typedef struct mt_compile_pool mt_compile_pool;

typedef struct mt_pool_result {
    const mt_compiled *compiled; /* NULL when the worker died or was killed */
    bool is_timeout;
    bool is_killed;              /* from outside, the last time: says nothing of the source */
    bool is_shared;              /* another tag had the same order, and was told its time */
    const char *text;            /* without `compiled`: what happened */
} mt_pool_result;

typedef struct mt_pool_options {
    uv_loop_t *loop;
    size_t jobs;             /* 0 = the host's cores, at most default_jobs; never more than 256 */
    size_t default_jobs;     /* 0 = 32 */
    int bundle_fd;
    const mt_source *source; /* what the bundle holds; must outlive the pool */
    const char *const *env;
    double limit_s;          /* per order */
    const char *cache_dir;   /* borrowed; NULL = a temporary folder for as long as the pool lives; so too, with a warning, where it can't be written, or can't any more (a full disk) */
    /* Once for each order that was not cancelled; several tags may share one order, whose time is told to the first of them only. */
    void (*done)(void *context, mt_compile_kind kind, uint64_t tag, const mt_pool_result *result);
    /* The pool can't go on: the compiler is missing, workers do not start, memory ran out. At most once. */
    void (*failed)(void *context, const mt_error *error);
    void *context;
} mt_pool_options;

/* Starts one worker, so that a missing compiler shows at once. */
mt_status mt_pool_create(const mt_pool_options *options, mt_compile_pool **pool, mt_error *err);
bool mt_pool_greeted(const mt_compile_pool *pool);           /* a worker has said HELLO: the version is known */
const char *mt_pool_headers(const mt_compile_pool *pool);       /* digest of the toolkit's headers that the source may include; "" = none, and before the first HELLO */
int64_t mt_pool_nvrtc_version(const mt_compile_pool *pool);
size_t mt_pool_choose_jobs(size_t jobs, size_t default_jobs); /* how many a pool with these options has */
size_t mt_pool_jobs(const mt_compile_pool *pool);
void mt_pool_set_jobs(mt_compile_pool *pool, size_t jobs);   /* before the first VARIANT order; at least 1, and not more than before */
int64_t mt_pool_restarts(const mt_compile_pool *pool);       /* workers lost while they had an order */

typedef struct mt_pool_order {
    mt_compile_kind kind;
    const char *arch, *entries; /* copied */
    mt_options *options;        /* copied; loses the macros that the source can't see */
    uint64_t tag;
} mt_pool_order;
/* SUPPORT and TOOL orders go before all VARIANT orders: everything else waits for them. */
mt_status mt_pool_submit(mt_compile_pool *pool, const mt_pool_order *order, mt_error *err);
void mt_pool_cancel(mt_compile_pool *pool);  /* VARIANT orders: queued ones are dropped, running ones end without a report */
void mt_pool_stop(mt_compile_pool *pool);    /* kills its workers, and nothing else may come but `destroy` */
void mt_pool_destroy(mt_compile_pool *pool); /* kills the workers and waits for their end; NULL is a no-op */
