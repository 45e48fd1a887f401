/* msda-tune follow: tunes, beside a server, what that asked for in vain. It waits for gaps in which the GPU is idle, and tunes in processes that it starts: while it waits, nothing of it is on the GPU. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <uv.h>

#include "db/exchange/miss_log.h"
#include "db/key.h"
#include "db/store/store.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/process_limits.h"
#include "tuner/base/stop_signals.h"
#include "tuner/cli/command.h"
#include "tuner/cli/commands/follow_shape.h"
#include "tuner/cli/measure/idle_gap.h"
#include "tuner/cli/measure/put_off.h"
#include "tuner/cli/measure/sibling.h"
#include "tuner/cli/output/print.h"

/* While a tuner works: how often the GPU's load is looked at, and when it gets a second signal and its end after the first, so that all is over within half a second. */
enum { TICK_MS = 50, LOOK_TICKS = 4, SECOND_SIGNAL_MS = 150, KILL_MS = 350 };
enum { MOST_PERIOD_MS = 1000, LEAST_PERIOD_MS = 20, MOST_CHUNKS = 8, MOST_TOLD = 100 };

typedef struct follow_values {
    const char *misses, *space, *db, *busy_file;
    int64_t gpu, jobs, idle_below;
    double idle_for_s;
    bool once;
} follow_values;

#define FIELD(name) offsetof(follow_values, name)
static const mt_option options[] = {
    {"misses", 0, MT_OPTION_INPUT, FIELD(misses), "FILE", "the log that programs write (tunelookup_flush_misses); it need not be\nthere yet, and may be truncated or replaced at any time"},
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space: a file, or the name of a shipped one (default: the shipped\none of each kernel); other kernels are left out"},
    {"gpu", 0, MT_OPTION_SEED, FIELD(gpu), "N", "device number (default 0)"},
    {"idle-below", 0, MT_OPTION_COUNT, FIELD(idle_below), "PERCENT", "the GPU is idle where kernels run for less of the time (default 10)"},
    {"idle-for", 0, MT_OPTION_SECONDS, FIELD(idle_for_s), "S", "so long it must have been idle before a shape is begun (default 2)"},
    {"busy-file", 0, MT_OPTION_INPUT, FIELD(busy_file), "FILE", "a file that the server touches while it works: a gap begins when it was\nnot touched for --idle-for, and a tune stops when it is"},
    {"db", 0, MT_OPTION_DATABASE, FIELD(db), "FILE", "database; default $MSDA_TUNE_DB, else in the user's data folder"},
    {"jobs", 'j', MT_OPTION_COUNT, FIELD(jobs), "N", "compile workers of a tune (default 2)"},
    {"once", 0, MT_OPTION_FLAG, FIELD(once), NULL, "end when the log has been worked off"},
    {0},
};

/* Zero-initialised but for descriptors; closed in one place. */
typedef struct following {
    const follow_values *values;
    uv_loop_t loop;
    bool loop_open;
    uv_signal_t signals[MT_STOP_SIGNALS_MAX];
    uv_timer_t timer;
    size_t signal_count, open;  /* open: handles */
    bool is_over;               /* the timer of a pause */
    int64_t stopped_ns;         /* clock; 0 = nobody asked it to end */
    mt_gpu_watch *watch;
    mt_idle_gap gap;
    mt_miss_log log;
    mt_put_off put_off;
    mt_follow_spaces spaces;
    char *db;
    char gpu[MT_KEY_GPU_SIZE];
    struct {
        mt_sibling *process;
        const mt_miss *miss;
        int ticks, signals;     /* signals: sent since it is to end */
        bool is_cut;            /* told to stop, because the GPU is busy */
    } tuner;
    size_t tuned, failed, left_out;
} following;

/* ---- waiting ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    following *self = handle->data;
    (void)number;
    if (!self->stopped_ns) self->stopped_ns = mt_clock_now_ns();
}

static void on_closed(uv_handle_t *handle)
{
    ((following *)handle->data)->open--;
}

static void open_handles(following *self)
{
    int numbers[MT_STOP_SIGNALS_MAX];
    self->signal_count = mt_stop_signals(numbers);
    for (size_t i = 0; i < self->signal_count; i++) {
        uv_signal_init(&self->loop, &self->signals[i]);
        self->signals[i].data = self;
        uv_signal_start(&self->signals[i], on_signal, numbers[i]);
    }
    uv_timer_init(&self->loop, &self->timer);
    self->timer.data = self;
    self->open = self->signal_count + 1;
}

static void on_pause_over(uv_timer_t *timer)
{
    ((following *)timer->data)->is_over = true;
}

static void pause_for(following *self, uint64_t ms)
{
    self->is_over = false;
    uv_update_time(&self->loop);
    uv_timer_start(&self->timer, on_pause_over, ms, 0);
    while (!self->is_over && !self->stopped_ns) uv_run(&self->loop, UV_RUN_ONCE);
    uv_timer_stop(&self->timer);
}

/* Between two looks, at the log and at the GPU: two of them at least are idle before a gap is one. */
static uint64_t period_ms(const following *self)
{
    double ms = self->gap.idle_s * 500;
    return ms > MOST_PERIOD_MS ? MOST_PERIOD_MS : ms < LEAST_PERIOD_MS ? LEAST_PERIOD_MS : (uint64_t)ms;
}

/* ---- the log ---- */

static void warn(void *context, const char *text)
{
    (void)context;
    mt_log_warn("%s", text);
}

/* What lies there may be no file for a while: that is said once. */
static mt_status read_log(following *self, bool *is_at_end, mt_error *err)
{
    mt_status st = MT_OK;
    *is_at_end = false;
    for (int i = 0; i < MOST_CHUNKS && !*is_at_end && st == MT_OK; i++) st = mt_miss_log_read(&self->log, is_at_end, err);
    if (st == MT_ERR_IO && !self->values->once) {
        mt_log_warn("%s", err->message);
        *is_at_end = true;
        st = MT_OK;
    }
    if (st == MT_OK && *is_at_end && self->values->once && self->log.fd < 0) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: does not exist", self->values->misses);
    return st;
}

/* Of those that nobody looked at since they were asked for the one that was asked for most; NULL: all are settled. */
static mt_miss *next_miss(following *self)
{
    mt_miss *next = NULL;
    for (size_t i = 0; i < self->log.misses.count; i++) {
        mt_miss *miss = &self->log.misses.items[i];
        if (miss->count > miss->settled && (!next || miss->count > next->count)) next = miss;
    }
    return next;
}

/* For good. `why` empty: it was told. */
static void leave_out(following *self, mt_miss *miss, const char *why)
{
    miss->settled = INT64_MAX;
    self->left_out++;
    if (*why && self->left_out <= MOST_TOLD) mt_log_warn("%s: left out: %s", self->values->misses, why);
    if (self->left_out == MOST_TOLD) mt_log_warn("%s: what is left out from here on is counted only", self->values->misses);
}

/* "vector_add N=1000" */
static void tell(const mt_miss *miss, const char *what, const char *more)
{
    mt_strbuf line = {0};
    mt_print_clean(&line, miss->kernel, 60);
    mt_strbuf_add(&line, " ");
    mt_print_clean(&line, miss->shape_key, 200);
    mt_tell("%s: %s%s\n", mt_strbuf_text(&line), what, more);
    fflush(stdout);
    mt_strbuf_free(&line);
}

/* ---- one shape ---- */

static void stop_tuner(following *self)
{
    int64_t since_ms = (mt_clock_now_ns() - self->stopped_ns) / 1000000;
    if (self->tuner.signals == 0 && since_ms >= SECOND_SIGNAL_MS) { /* the first it got with us: the running variant need not end */
        self->tuner.signals = 1;
        mt_sibling_signal(self->tuner.process, SIGINT);
    } else if (self->tuner.signals == 1 && since_ms >= KILL_MS) { /* what was measured is stored; a variant whose end was not awaited has no strike for it */
        self->tuner.signals = 2;
        mt_sibling_signal(self->tuner.process, SIGKILL);
    }
}

static void on_tick(uv_timer_t *timer)
{
    following *self = timer->data;
    if (self->stopped_ns) {
        stop_tuner(self);
    } else if (++self->tuner.ticks % LOOK_TICKS == 0 && mt_idle_gap_is_busy(&self->gap, true) && !self->tuner.is_cut) {
        self->tuner.is_cut = true;
        tell(self->tuner.miss, "stops after the running variant, because the GPU is busy", "");
        mt_sibling_signal(self->tuner.process, SIGINT);
    }
}

/* A process for each shape: with its end the GPU's memory is the server's again. *ended: by itself; else somebody stopped it. */
static mt_status run_tuner(following *self, const mt_miss *miss, const mt_follow_shape *shape, bool *ended, mt_error *err)
{
    enum { FIXED = 8 };
    const int ordinal = (int)self->values->gpu;
    char **words = mt_alloc(FIXED + 2 * shape->workloads.count, sizeof *words);
    if (!words) return mt_no_memory("follow", err);
    const char *const fixed[FIXED] = {"--quick", "--quiet", "--space", shape->space, "--shape", miss->shape_key, "--db", self->db};
    size_t count = FIXED;
    memcpy(words, fixed, sizeof fixed);
    for (size_t i = 0; i < shape->workloads.count; i++) {
        words[count++] = (char *)"--workload";
        words[count++] = shape->workloads.items[i];
    }
    const mt_sibling_options tuner = {.command = "tune", .argc = (int)count, .argv = words, .ordinals = &ordinal, .count = 1, .jobs = self->values->jobs ? (size_t)self->values->jobs : 2, .drops_output = true};
    memset(&self->tuner, 0, sizeof self->tuner);
    self->tuner.miss = miss;
    mt_status st = mt_sibling_start(&self->loop, &tuner, &self->tuner.process, err);
    if (st == MT_OK) {
        mt_error how;
        uv_timer_start(&self->timer, on_tick, TICK_MS, TICK_MS);
        *ended = mt_sibling_join(self->tuner.process, &how) != MT_ERR_INTERRUPTED;
        uv_timer_stop(&self->timer);
    }
    mt_free(words);
    return st;
}

/* That it did not become exact counts as its failure, whatever the reason: its tuner's words stand above. */
static mt_status put_off(following *self, mt_miss *miss, mt_error *err)
{
    char text[MT_PRINT_TIME_SIZE];
    self->failed++;
    mt_status st = mt_put_off_add(&self->put_off, miss, self->gpu, err);
    double left_s = (double)(mt_put_off_until(&self->put_off, miss, self->gpu) - mt_clock_unix_ms()) / 1e3;
    tell(miss, "could not be tuned; not tried again for ", mt_print_seconds(left_s, text, sizeof text));
    return st;
}

static mt_status tune(following *self, mt_miss *miss, const mt_follow_shape *shape, mt_error *err)
{
    const mt_device_facts *facts = mt_gpu_watch_facts(self->watch);
    bool ended = false, is_cut = false;
    char text[MT_PRINT_TIME_SIZE];
    int64_t start_ns = mt_clock_now_ns();
    mt_status st;
    tell(miss, "is tuned", "");
    MT_TRY(run_tuner(self, miss, shape, &ended, err));
    if (!ended) MT_TRY(mt_follow_shape_is_cut(shape, self->db, facts, &is_cut, err));
    bool is_exact = !is_cut && mt_follow_shape_is_exact(shape, self->db, facts);
    if (!ended && !is_exact) { /* goes on from there */
        tell(miss, "has stopped", self->stopped_ns ? "" : ", and goes on in the next gap");
        goto done;
    }
    miss->settled = miss->count;
    if (is_exact) tell(miss, "is exact after ", mt_print_seconds((double)(mt_clock_now_ns() - start_ns) / 1e9, text, sizeof text));
    else st = put_off(self, miss, err);
    self->tuned += is_exact;
done:
    return st;
}

/* Tunes it, or finds out that there is nothing to do. In a gap, since that may read files. */
static mt_status work_off(following *self, mt_miss *miss, mt_error *err)
{
    const mt_device_facts *facts = mt_gpu_watch_facts(self->watch);
    mt_follow_shape shape = {0};
    bool is_cut = false;
    mt_status st = MT_OK;
    if (!mt_miss_fits_gpu(miss->gpu, self->gpu)) MT_LEAVE(MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s %.200s was asked for on %s, and this is %s", miss->kernel, miss->shape_key, miss->gpu, self->gpu));
    if (mt_put_off_until(&self->put_off, miss, self->gpu) > mt_clock_unix_ms()) {
        tell(miss, "failed before, and is not tried again yet", "");
        miss->settled = miss->count;
        goto done;
    }
    MT_TRY(mt_follow_shape_find(&self->spaces, miss, &shape, err));
    MT_TRY(mt_follow_shape_is_cut(&shape, self->db, facts, &is_cut, err));
    if (is_cut || !mt_follow_shape_is_exact(&shape, self->db, facts)) MT_TRY(tune(self, miss, &shape, err));
    else miss->settled = miss->count;
done:
    mt_follow_shape_free(&shape);
    if (st != MT_ERR_NOTHING_VALID) return st;
    leave_out(self, miss, err->message);
    return MT_OK;
}

static mt_status work(following *self, mt_error *err)
{
    mt_status st = MT_OK;
    while (!self->stopped_ns) {
        bool is_at_end;
        uv_run(&self->loop, UV_RUN_NOWAIT);
        MT_TRY(mt_gpu_watch_check(self->watch, err));
        MT_TRY(read_log(self, &is_at_end, err));
        mt_miss *miss = next_miss(self);
        if (!is_at_end) continue;
        if (!miss && self->values->once) break;
        if (miss) mt_idle_gap_is_busy(&self->gap, false);
        if (miss && mt_idle_gap_is_open(&self->gap)) MT_TRY(work_off(self, miss, err));
        else pause_for(self, period_ms(self));
    }
done:
    return st;
}

/* ---- begin and end ---- */

/* A file that is not there yet means idle: one that can never be there would mean it for ever. */
static mt_status check_busy_file(const char *path, mt_error *err)
{
    struct stat info;
    bool is_there = stat(path, &info) == 0, is_hidden = !is_there && errno != ENOENT;
    if (is_hidden) return MT_FAIL(err, MT_ERR_USAGE, "follow: --busy-file %s: %s", path, strerror(errno));
    if (is_there && S_ISDIR(info.st_mode)) return MT_FAIL(err, MT_ERR_USAGE, "follow: --busy-file %s: is a folder, expected a file that the server touches", path);
    char *folder = mt_path_folder(path);
    mt_status st = is_there || (folder && mt_dir_exists(folder)) ? MT_OK : MT_FAIL(err, MT_ERR_USAGE, "follow: --busy-file %s: its folder does not exist, expected a file that the server touches", path);
    mt_free(folder);
    return st;
}

static mt_status check(const follow_values *v, mt_error *err)
{
    if (!v->misses) return MT_FAIL(err, MT_ERR_USAGE, "follow: --misses FILE is missing: the log that programs write by tunelookup_flush_misses");
    if (v->gpu > 1023) return MT_FAIL(err, MT_ERR_USAGE, "follow: --gpu is %" PRId64 ", expected a device number", v->gpu);
    if (v->idle_below > 100) return MT_FAIL(err, MT_ERR_USAGE, "follow: --idle-below is %" PRId64 ", expected per cent, 1 to 100", v->idle_below);
    if (v->db && strcmp(v->db, ":memory:") == 0) return MT_FAIL(err, MT_ERR_USAGE, "follow: --db :memory: is seen by no server; expected a file");
    return v->busy_file ? check_busy_file(v->busy_file, err) : MT_OK;
}

/* As each tune will open it: what is wrong with it is said once and now, and not by every shape in turn. */
static mt_status check_database(const char *path, mt_error *err)
{
    mt_store *store = NULL;
    mt_status st = mt_store_open(path, MT_STORE_READ_WRITE, &store, err);
    mt_store_close_unused(store);
    return st;
}

static mt_status open_watch(following *self, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_gpu_watch_start(&self->loop, (int)self->values->gpu, &self->watch, err));
    while (!mt_gpu_watch_facts(self->watch) && !self->stopped_ns) {
        MT_TRY(mt_gpu_watch_check(self->watch, err));
        uv_run(&self->loop, UV_RUN_ONCE);
    }
    const mt_device_facts *facts = mt_gpu_watch_facts(self->watch);
    if (!facts) goto done;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, self->gpu, sizeof self->gpu);
    if (!self->values->busy_file && mt_gpu_watch_load(self->watch).all_percent < 0)
        st = MT_FAIL(err, MT_ERR_UNSUPPORTED, "follow: NVML does not say how busy GPU %" PRId64 " is (no libnvidia-ml.so.1, or a MIG slice); expected --busy-file FILE, which the server touches", self->values->gpu);
done:
    return st;
}

static mt_status open_all(following *self, mt_error *err)
{
    const follow_values *v = self->values;
    mt_status st;
    MT_TRY(check(v, err));
    MT_TRY(mt_process_limits_check(err));
    if (v->space) MT_TRY(mt_follow_spaces_check(v->space, err));
    MT_TRY(mt_store_writable_path(v->db, &self->db, err));
    MT_TRY(check_database(self->db, err));
    MT_TRY(mt_put_off_open(self->db, &self->put_off, err));
    MT_TRY(mt_miss_log_open(v->misses, warn, &self->log, err));
    if (uv_loop_init(&self->loop) != 0) MT_LEAVE(MT_FAIL(err, MT_ERR_IO, "follow: no event loop"));
    self->loop_open = true;
    open_handles(self);
    MT_TRY(open_watch(self, err));
    self->spaces.given = v->space;
    self->gap = (mt_idle_gap){.watch = self->watch, .busy_file = v->busy_file, .below_percent = v->idle_below ? (int)v->idle_below : 10, .idle_s = v->idle_for_s > 0 ? v->idle_for_s : 2};
done:
    return st;
}

static void close_all(following *self)
{
    if (self->loop_open) {
        mt_gpu_watch_destroy(self->watch);
        for (size_t i = 0; i < self->signal_count; i++) uv_close((uv_handle_t *)&self->signals[i], on_closed);
        uv_close((uv_handle_t *)&self->timer, on_closed);
        while (self->open) uv_run(&self->loop, UV_RUN_ONCE);
        uv_loop_close(&self->loop);
    }
    mt_miss_log_close(&self->log);
    mt_put_off_close(&self->put_off);
    mt_follow_spaces_free(&self->spaces);
    mt_free(self->db);
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    following self = {.values = arguments->values, .log = {.fd = -1}, .put_off = {.fd = -1}};
    mt_status st = open_all(&self, err);
    if (st == MT_OK && !self.stopped_ns) {
        mt_tell("%s is followed on %s, into %s\n", self.values->misses, self.gpu, self.db);
        fflush(stdout);
        st = work(&self, err);
        if (st == MT_OK) mt_tell("%s: %zu made exact, %zu failed, %zu left out\n", self.stopped_ns ? "Stopped" : "Worked off", self.tuned, self.failed, self.left_out);
    }
    close_all(&self);
    return st;
}

const mt_command mt_cmd_follow = {
    .name = "follow",
    .summary = "tune beside a server what it asked for in vain, while the GPU is idle",
    .help = "Reads the log of misses, waits until the GPU has been idle for a while, and gives each shape the\n"
            "eight evaluations of 'tune --quick'; servers have the exact answer with their next refresh. When the\n"
            "GPU becomes busy, the tune stops after the running variant and goes on in the next gap. Ends by\n"
            "SIGTERM or Ctrl-C within half a second, with exit code 0; everything measured is kept. What fails is\n"
            "not tried again for an hour, then two, then four, a week at most.\n\n"
            "  msda-tune follow --misses misses.jsonl --space FILE.ini\n"
            "  msda-tune follow --misses misses.jsonl --busy-file /run/app/busy --once",
    .options = options,
    .values_size = sizeof(follow_values),
    .run = run,
};
