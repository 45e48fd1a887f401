#include "tuner/worker/compile_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/file_trust.h"
#include "tuner/base/leftover.h"
#include "tuner/base/log.h"
#include "tuner/base/toolkit.h"
#include "tuner/worker/worker.h"

enum { PLACES = 2 /* for a cache of our own: temporary files, memory */, MAX_JOBS = 256, DEFAULT_JOBS = 32, MAX_FALSE_STARTS = 3, MOST_STARTING = 8, FIRST_WORKERS = 3 /* the tool's own kernels, the reference, the first variant: all GPUs wait for these */ };

struct job {
    struct job *next;
    uint64_t id;
    mt_compile_kind kind;
    mt_hash code;         /* of everything that the compiler reads */
    mt_hash key;          /* and of what is told of its result */
    mt_strbuf frame;
    uint64_t *tags;
    size_t tag_count, tag_capacity;
    int attempts;
    const char *cache_dir; /* borrowed; what the frame says */
};

struct slot {
    mt_compile_pool *pool;
    mt_worker *worker; /* NULL = none */
    bool is_greeted;
    struct job *job;
};

struct mt_compile_pool {
    mt_pool_options options;
    struct slot slots[MAX_JOBS];
    struct job *queue;          /* SUPPORT and TOOL first */
    uint64_t last_id;
    mt_visible *visible; /* once a worker has greeted */
    mt_temporary own_caches[PLACES]; /* temporary folders, when no cache was given or it can't be written */
    size_t own_cache_count;
    int64_t nvrtc_version, restarts;
    size_t open_handles;
    int false_starts;           /* workers in a row that died before they said HELLO */
    bool is_greeted, is_failed, is_closing;
};

static void pump(mt_compile_pool *pool);

static void free_job(struct job *job)
{
    if (!job) return;
    mt_strbuf_free(&job->frame);
    mt_free(job->tags);
    mt_free(job);
}

static void fail_pool(mt_compile_pool *pool, const mt_error *error)
{
    if (pool->is_failed || pool->is_closing) return;
    pool->is_failed = true;
    pool->options.failed(pool->options.context, error);
}

static void enqueue(mt_compile_pool *pool, struct job *job)
{
    struct job **at = &pool->queue;
    while (*at && (job->kind == MT_COMPILE_VARIANT || (*at)->kind != MT_COMPILE_VARIANT)) at = &(*at)->next;
    job->next = *at;
    *at = job;
}

/* Takes the job's end to all who wait for it. It was compiled once, however many they are. */
static void finish(mt_compile_pool *pool, struct job *job, const mt_pool_result *result)
{
    mt_compiled again = result->compiled ? *result->compiled : (mt_compiled){0};
    mt_pool_result shared = *result;
    shared.is_shared = true;
    again.compile_ns = 0;
    again.is_cached = true;
    if (result->compiled) shared.compiled = &again;
    for (size_t i = 0; i < job->tag_count; i++) pool->options.done(pool->options.context, job->kind, job->tags[i], i ? &shared : result);
    free_job(job);
}

static void on_hello(struct slot *slot, const mt_hello *hello)
{
    mt_compile_pool *pool = slot->pool;
    mt_error error;
    if (hello->status != MT_OK) {
        mt_error_set(&error, hello->status, "%s", hello->error ? hello->error : "the compile worker cannot work");
        fail_pool(pool, &error);
        return;
    }
    if (!pool->is_greeted && mt_visible_create(pool->options.source, hello->header_folders, MT_PROTO_FOLDERS, hello->compiler, &pool->visible, &error) != MT_OK) {
        fail_pool(pool, &error);
        return;
    }
    slot->is_greeted = pool->is_greeted = true;
    pool->false_starts = 0;
    pool->nvrtc_version = hello->nvrtc_version;
    mt_worker_deadline(slot->worker, 0);
}

/* Cubins travel as files, so that without a cache they need a place for as long as the pool lives. What lies in an earlier place stays there till then. */
static mt_status make_own_cache(mt_compile_pool *pool, mt_error *err)
{
    const char *wished = secure_getenv("TMPDIR");
    const char *places[PLACES] = {wished && wished[0] == '/' ? wished : "/tmp", "/dev/shm"};
    mt_status st = MT_FAIL(err, MT_ERR_IO, "no temporary folder is left to try");
    while (st != MT_OK && pool->own_cache_count < PLACES) {
        size_t next = pool->own_cache_count++;
        st = mt_temporary_make(places[next], &pool->own_caches[next], err);
        if (st == MT_OK) pool->options.cache_dir = pool->own_caches[next].path;
    }
    return st;
}

/* The same order, for the cache as it is now. */
static mt_status readdress(mt_compile_pool *pool, struct job *job, mt_error *err)
{
    mt_message message = {0};
    size_t used;
    mt_status st = mt_proto_decode(job->frame.text, job->frame.length, &message, &used, err);
    if (st != MT_OK) return st;
    mt_message order = message;
    order.compile.cache_dir = job->cache_dir = pool->options.cache_dir;
    mt_strbuf_clear(&job->frame);
    st = mt_proto_encode(&order, &job->frame, err);
    mt_message_free(&message);
    return st;
}

/* A disk that is full, or gone, in the middle: as if the cache could not be written from the start. False: there is no other place. */
static bool leave_cache(mt_compile_pool *pool, struct job *failed, const char *reason)
{
    mt_error error;
    mt_status st = MT_OK;
    if (failed->cache_dir == pool->options.cache_dir) { /* else: another order has found it out */
        if (make_own_cache(pool, &error) != MT_OK) return false;
        mt_log_warn("compiled kernels are not kept from here on: %s", reason);
        for (struct job *job = pool->queue; job && st == MT_OK; job = job->next) st = readdress(pool, job, &error);
    }
    if (st == MT_OK) st = readdress(pool, failed, &error);
    if (st != MT_OK) return false;
    failed->attempts--; /* it was not the order's fault */
    enqueue(pool, failed);
    return true;
}

static void on_compiled(struct slot *slot, const mt_compiled *compiled)
{
    struct job *job = slot->job;
    if (!job || compiled->id != job->id) return; /* an answer nobody asked for */
    slot->job = NULL;
    mt_worker_deadline(slot->worker, 0);
    if (compiled->status != MT_OK) {
        mt_error error;
        bool is_of_the_cache = compiled->status == MT_ERR_IO || compiled->status == MT_ERR_NOT_FOUND;
        if (is_of_the_cache && leave_cache(slot->pool, job, compiled->error ? compiled->error : "")) return;
        mt_error_set(&error, compiled->status, "%s", compiled->error ? compiled->error : "the compiler could not be run");
        free_job(job);
        fail_pool(slot->pool, &error);
        return;
    }
    mt_pool_result result = {.compiled = compiled};
    finish(slot->pool, job, &result);
}

static void on_message(void *context, mt_message *message)
{
    struct slot *slot = context;
    if (message->type == MT_MESSAGE_HELLO) on_hello(slot, &message->hello);
    else if (message->type == MT_MESSAGE_COMPILED) on_compiled(slot, &message->compiled);
    pump(slot->pool);
}

/* The worker died with a job in its hands, or had to be killed. */
static void lose_job(mt_compile_pool *pool, struct job *job, const mt_worker_death *death)
{
    pool->restarts++;
    if (pool->is_closing) {
        free_job(job);
        return;
    }
    if (job->attempts < MT_WORKER_ATTEMPTS) {
        enqueue(pool, job);
        return;
    }
    mt_strbuf text = {0};
    if (death->is_timeout) mt_strbuf_addf(&text, "compiling took longer than %g s", pool->options.limit_s);
    else
        mt_strbuf_addf(&text, "the compiler died: %s%s", death->how, death->is_killed ? " from outside, most often for lack of memory (fewer at once: -j)" : "");
    if (death->log_tail[0]) mt_strbuf_addf(&text, "\n%s", death->log_tail);
    mt_pool_result result = {.is_timeout = death->is_timeout, .is_killed = death->is_killed, .text = mt_strbuf_text(&text)};
    finish(pool, job, &result);
    mt_strbuf_free(&text);
}

static void on_gone(void *context, const mt_worker_death *death);

static mt_status spawn(mt_compile_pool *pool, struct slot *slot, mt_error *err)
{
    mt_worker_launch launch = {
        .role = "compile",
        .bundle_fd = pool->options.bundle_fd,
        .env = pool->options.env,
        .message = on_message,
        .gone = on_gone,
        .context = slot,
        .open_handles = &pool->open_handles,
    };
    slot->is_greeted = false;
    return mt_worker_spawn(pool->options.loop, &launch, &slot->worker, err);
}

/* It died before it said HELLO. One may have been killed from outside (the out-of-memory killer, when many start); several in a row, or one that does not answer, tell of a compiler that can't
 * be used. */
static void restart(mt_compile_pool *pool, struct slot *slot, const mt_worker_death *death)
{
    mt_error error;
    if (death->is_timeout || ++pool->false_starts > MAX_FALSE_STARTS)
        mt_error_set(&error, MT_ERR_WORKER, "a compile worker did not start: %s%s%s", death->is_timeout ? "no answer" : death->how, death->log_tail[0] ? "\n" : "", death->log_tail);
    else if (spawn(pool, slot, &error) == MT_OK) return;
    fail_pool(pool, &error);
}

static void on_gone(void *context, const mt_worker_death *death)
{
    struct slot *slot = context;
    mt_compile_pool *pool = slot->pool;
    struct job *lost = slot->job;
    bool was_greeted = slot->is_greeted;
    slot->worker = NULL;
    slot->job = NULL;
    slot->is_greeted = false;
    if (!was_greeted && !pool->is_closing && !pool->is_failed) restart(pool, slot, death);
    if (lost) lose_job(pool, lost, death);
    pump(pool);
}

static struct slot *idle_slot(mt_compile_pool *pool)
{
    for (size_t i = 0; i < pool->options.jobs; i++) {
        if (pool->slots[i].worker && pool->slots[i].is_greeted && !pool->slots[i].job) return &pool->slots[i];
    }
    return NULL;
}

static bool is_under_way(const mt_compile_pool *pool, const mt_hash *code)
{
    for (size_t i = 0; i < pool->options.jobs; i++) {
        if (pool->slots[i].job && strcmp(pool->slots[i].job->code.hex, code->hex) == 0) return true;
    }
    return false;
}

/* The first that is not held. One whose code is being compiled for another (the default, where it is the reference too) is, and then finds it in the cache. */
static struct job **next_job(mt_compile_pool *pool)
{
    struct job **at = &pool->queue;
    while (*at && is_under_way(pool, &(*at)->code)) at = &(*at)->next;
    return *at ? at : NULL;
}

/* Gives queued jobs to idle workers. */
static void hand_out(mt_compile_pool *pool)
{
    struct slot *slot;
    struct job **at;
    while ((at = next_job(pool)) && (slot = idle_slot(pool))) {
        struct job *job = *at;
        mt_error error;
        mt_worker_forget_log(slot->worker);
        if (mt_worker_send(slot->worker, &job->frame, &error) != MT_OK) {
            fail_pool(pool, &error);
            return;
        }
        *at = job->next;
        job->next = NULL;
        job->attempts++;
        slot->job = job;
        mt_worker_deadline(slot->worker, pool->options.limit_s);
    }
}

static size_t count_starting(const mt_compile_pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->options.jobs; i++) count += pool->slots[i].worker && !pool->slots[i].is_greeted;
    return count;
}

/* Starts a worker for each queued job that is not held and that no starting worker is going to take, as far as there are slots. A few at a time: to start a process holds the loop up, and a
 * hundred that load the compiler at once keep the first from the kernels that all GPUs wait for. */
static void ensure_workers(mt_compile_pool *pool)
{
    size_t wanted = 0, starting = count_starting(pool);
    for (struct job *job = pool->queue; job && wanted < MAX_JOBS; job = job->next) wanted += !is_under_way(pool, &job->code);
    wanted = wanted > starting ? wanted - starting : 0;
    size_t most = starting < MOST_STARTING ? MOST_STARTING - starting : 0;
    if (wanted > most) wanted = most;
    for (size_t i = 0; i < pool->options.jobs && wanted; i++) {
        if (pool->slots[i].worker) continue;
        mt_error error;
        if (spawn(pool, &pool->slots[i], &error) != MT_OK) {
            fail_pool(pool, &error);
            return;
        }
        wanted--;
    }
}

static void pump(mt_compile_pool *pool)
{
    if (pool->is_closing || pool->is_failed) return;
    hand_out(pool);
    ensure_workers(pool);
}

size_t mt_pool_choose_jobs(size_t jobs, size_t default_jobs)
{
    size_t cores = uv_available_parallelism(), most = default_jobs ? default_jobs : DEFAULT_JOBS;
    if (!jobs) jobs = cores < most ? cores : most;
    return jobs > MAX_JOBS ? MAX_JOBS : jobs;
}

/* A cache is a convenience: where it can't be written (a home that is read-only or missing) compiling goes on without. */
static mt_status make_cache(mt_compile_pool *pool, mt_error *err)
{
    mt_error reason;
    const char *wanted = pool->options.cache_dir;
    if (!wanted) return make_own_cache(pool, err);
    mt_status st = mt_dir_make_all(wanted, &reason);
    if (st == MT_OK && access(wanted, W_OK | X_OK) != 0) st = MT_FAIL(&reason, MT_ERR_IO, "%s: %s", wanted, strerror(errno));
    if (st == MT_OK) st = mt_trust_folder(wanted, &reason);
    if (st == MT_OK) {
        mt_leftover_sweep_cache(wanted);
        return MT_OK;
    }
    mt_log_warn("compiled kernels are not kept: %s", reason.message);
    return make_own_cache(pool, err);
}

mt_status mt_pool_create(const mt_pool_options *options, mt_compile_pool **out, mt_error *err)
{
    mt_compile_pool *pool = mt_alloc(1, sizeof *pool);
    if (!pool) return MT_FAIL(err, MT_ERR_NO_MEMORY, "compile workers: out of memory");
    mt_toolkit_warn_ignored();
    pool->options = *options;
    pool->options.jobs = mt_pool_choose_jobs(options->jobs, options->default_jobs);
    for (size_t i = 0; i < MAX_JOBS; i++) pool->slots[i].pool = pool;
    mt_status st = make_cache(pool, err);
    for (size_t i = 0; i < FIRST_WORKERS && i < pool->options.jobs && st == MT_OK; i++) st = spawn(pool, &pool->slots[i], err);
    if (st != MT_OK) {
        mt_pool_destroy(pool);
        return st;
    }
    *out = pool;
    return MT_OK;
}

bool mt_pool_greeted(const mt_compile_pool *pool)
{
    return pool->is_greeted;
}

const char *mt_pool_headers(const mt_compile_pool *pool)
{
    return pool->visible ? mt_visible_headers(pool->visible)->hex : "";
}

int64_t mt_pool_nvrtc_version(const mt_compile_pool *pool)
{
    return pool->nvrtc_version;
}

size_t mt_pool_jobs(const mt_compile_pool *pool)
{
    return pool->options.jobs;
}

void mt_pool_set_jobs(mt_compile_pool *pool, size_t jobs)
{
    if (jobs < pool->options.jobs) pool->options.jobs = jobs ? jobs : 1;
}

int64_t mt_pool_restarts(const mt_compile_pool *pool)
{
    return pool->restarts;
}

/* Hashes of source, arch and options, and of kind and entries with them, each with its end marked. */
static mt_status hash_order(const mt_pool_order *order, mt_hash *code, mt_hash *key, mt_error *err)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%d\n%s\n", order->kind == MT_COMPILE_TOOL, order->arch);
    for (size_t i = 0; i < order->options->count; i++) mt_strbuf_addf(&text, "%zu:%s\n", strlen(order->options->items[i]), order->options->items[i]);
    *code = mt_hash_text(mt_strbuf_text(&text));
    mt_strbuf_addf(&text, "%d\n%s\n", (int)order->kind, order->entries ? order->entries : "");
    mt_status st = text.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "compile order: out of memory") : MT_OK;
    *key = mt_hash_text(mt_strbuf_text(&text));
    mt_strbuf_free(&text);
    return st;
}

static struct job *find_twin(mt_compile_pool *pool, const mt_hash *key)
{
    for (struct job *job = pool->queue; job; job = job->next) {
        if (strcmp(job->key.hex, key->hex) == 0) return job;
    }
    for (size_t i = 0; i < pool->options.jobs; i++) {
        struct job *job = pool->slots[i].job;
        if (job && strcmp(job->key.hex, key->hex) == 0) return job;
    }
    return NULL;
}

static mt_status add_tag(struct job *job, uint64_t tag, mt_error *err)
{
    uint64_t *added = MT_APPEND(job->tags, job->tag_count, job->tag_capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "compile order: out of memory");
    *added = tag;
    return MT_OK;
}

static mt_status make_job(mt_compile_pool *pool, const mt_pool_order *order, const mt_hash *code, const mt_hash *key, struct job **out, mt_error *err)
{
    struct job *made = mt_alloc(1, sizeof *made);
    if (!made) return MT_FAIL(err, MT_ERR_NO_MEMORY, "compile order: out of memory");
    made->id = ++pool->last_id;
    made->kind = order->kind;
    made->cache_dir = pool->options.cache_dir;
    made->code = *code;
    made->key = *key;
    mt_message message = {
        .type = MT_MESSAGE_COMPILE,
        .compile = {
            .id = made->id,
            .kind = order->kind,
            .arch = order->arch,
            .cache_dir = made->cache_dir,
            .entries = order->entries,
            .options = (const char *const *)order->options->items,
            .option_count = (uint32_t)order->options->count,
            .macro_count = (uint32_t)order->options->macro_count,
        },
    };
    mt_status st = mt_proto_encode(&message, &made->frame, err);
    if (st == MT_OK) st = add_tag(made, order->tag, err);
    if (st != MT_OK) {
        free_job(made);
        return st;
    }
    *out = made;
    return MT_OK;
}

mt_status mt_pool_submit(mt_compile_pool *pool, const mt_pool_order *order, mt_error *err)
{
    mt_hash code, key;
    struct job *made = NULL;
    if (order->kind != MT_COMPILE_TOOL && pool->visible) mt_visible_filter(pool->visible, order->options); /* else: nothing is submitted before the HELLO */
    mt_status st = hash_order(order, &code, &key, err);
    if (st != MT_OK) return st;
    struct job *twin = find_twin(pool, &key);
    if (twin) return add_tag(twin, order->tag, err);
    st = make_job(pool, order, &code, &key, &made, err);
    if (st != MT_OK) return st;
    enqueue(pool, made);
    pump(pool);
    return MT_OK;
}

void mt_pool_cancel(mt_compile_pool *pool)
{
    struct job **at = &pool->queue;
    while (*at) {
        struct job *job = *at;
        if (job->kind != MT_COMPILE_VARIANT) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        free_job(job);
    }
    for (size_t i = 0; i < pool->options.jobs; i++) {
        struct job *job = pool->slots[i].job;
        if (job && job->kind == MT_COMPILE_VARIANT) job->tag_count = 0;
    }
}

void mt_pool_stop(mt_compile_pool *pool)
{
    if (pool->is_closing) return;
    pool->is_closing = true;
    for (size_t i = 0; i < MAX_JOBS; i++) {
        if (pool->slots[i].worker) mt_worker_kill(pool->slots[i].worker);
    }
}

void mt_pool_destroy(mt_compile_pool *pool)
{
    if (!pool) return;
    mt_pool_stop(pool);
    while (pool->open_handles) uv_run(pool->options.loop, UV_RUN_ONCE);
    while (pool->queue) {
        struct job *next = pool->queue->next;
        free_job(pool->queue);
        pool->queue = next;
    }
    mt_visible_free(pool->visible);
    for (size_t i = 0; i < pool->own_cache_count; i++) mt_temporary_remove(&pool->own_caches[i]);
    mt_free(pool);
}
