/* The workers of the real evaluator: started side by side, grouped by model when they have answered. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/base/times.h"
#include "tuner/evaluate/eval_worker_internal.h"
#include "tuner/evaluate/beacon.h"
#include "tuner/worker/visible_gpus.h"

enum { BUSY_PERCENT = 10, JOBS_PER_GPU = 32, MOST_JOBS = 128 };

static mt_status start_pool(eval_worker *self, const eval_worker_callbacks *callbacks, mt_error *err)
{
    return mt_eval_core_start_pool(&self->core, &self->options, self->options.all_devices ? MOST_JOBS : JOBS_PER_GPU * self->gpu_count, callbacks->compiled, err);
}

static mt_status start_gpu(eval_worker *self, int ordinal, const eval_worker_callbacks *callbacks, mt_error *err)
{
    for (size_t i = 0; i < self->gpu_count; i++) {
        if (self->gpus[i]->ordinal == ordinal) return MT_OK; /* named twice */
    }
    if (self->gpu_count == MT_DEVICES_MAX) return MT_FAIL(err, MT_ERR_USAGE, "more than %d GPUs: name the ones to use", MT_DEVICES_MAX);
    eval_gpu *gpu = mt_alloc(1, sizeof *gpu);
    if (!gpu) return MT_FAIL(err, MT_ERR_NO_MEMORY, "evaluator: out of memory");
    *gpu = (eval_gpu){.owner = self, .index = self->gpu_count, .ordinal = ordinal, .beacon = -1};
    const mt_device_worker_options device = {
        .loop = self->core.loop,
        .device = ordinal,
        .bundle_fd = self->core.bundle_fd,
        .env = self->options.env,
        .variant_limit_s = self->options.variant_limit_s,
        .subject_limit_s = self->options.subject_limit_s,
        .reference = mt_spec_place(self->core.spec, self->core.spec->reference_line),
        .done = callbacks->done,
        .foreign = callbacks->foreign,
        .vacuous = callbacks->vacuous,
        .notice = callbacks->notice,
        .failed = callbacks->device_failed,
        .context = gpu,
    };
    mt_status st = mt_device_worker_create(&device, &gpu->worker, err);
    if (st == MT_OK) {
        self->gpus[self->gpu_count++] = gpu; /* every GPU of the list has a worker */
    } else {
        mt_free(gpu);
    }
    return st;
}

/* The loop runs meanwhile, and with it the tick: what is being ended is not in the list any more. */
static void stop_gpu(eval_gpu **at)
{
    eval_gpu *gpu = *at;
    *at = NULL;
    mt_device_worker_destroy(gpu->worker);
    mt_open_file_close(&gpu->cubin);
    if (gpu->beacon >= 0) close(gpu->beacon);
    mt_free(gpu);
}

static bool has_answered(const eval_worker *self)
{
    for (size_t i = 0; i < self->gpu_count; i++) {
        if (!mt_device_worker_hello(self->gpus[i]->worker) && self->gpus[i]->failure.status == MT_OK) return false;
    }
    return mt_pool_greeted(self->core.pool) || self->core.failure.status != MT_OK;
}

/* Both kinds answer or fail. */
static void await_hello(eval_worker *self)
{
    while (!has_answered(self)) uv_run(self->core.loop, UV_RUN_ONCE);
}

/* Where the number of GPUs can't be seen beforehand, the first one tells it. */
static mt_status start_rest(eval_worker *self, const eval_worker_callbacks *callbacks, mt_error *err)
{
    const mt_hello *hello = mt_device_worker_hello(self->gpus[0]->worker);
    int count = hello ? hello->device_count : 0;
    mt_status st = MT_OK;
    if (count > MT_DEVICES_MAX) {
        mt_eval_worker_warn(self, "of %d GPUs the first %d are used", count, MT_DEVICES_MAX);
        count = MT_DEVICES_MAX;
    }
    for (int ordinal = 0; ordinal < count && st == MT_OK; ordinal++) st = start_gpu(self, ordinal, callbacks, err);
    await_hello(self);
    return st;
}

/* GPUs that do not start are left out where all were asked for; a named one, and the last one, is an error. */
static mt_status drop_dead(eval_worker *self, mt_error *err)
{
    size_t kept = 0;
    mt_error last = {0};
    for (size_t i = 0; i < self->gpu_count; i++) {
        eval_gpu *gpu = self->gpus[i];
        if (gpu->failure.status == MT_OK) {
            self->gpus[kept++] = gpu;
            continue;
        }
        last = gpu->failure;
        bool names_it = self->gpu_count == 1 || strncmp(last.message, "GPU ", 4) == 0;
        if (!self->options.all_devices) return names_it ? MT_FAIL(err, last.status, "%s", last.message) : MT_FAIL(err, last.status, "GPU %d: %s", gpu->ordinal, last.message);
        mt_eval_worker_warn(self, "GPU %d is left out: %s", gpu->ordinal, last.message);
        stop_gpu(&self->gpus[i]);
    }
    self->gpu_count = kept;
    return kept ? MT_OK : MT_FAIL(err, last.status, "%s", last.message);
}

static void gpu_key(const eval_gpu *gpu, char key[MT_KEY_GPU_SIZE])
{
    const mt_device_facts *facts = &mt_device_worker_hello(gpu->worker)->facts;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, key, MT_KEY_GPU_SIZE);
}

/* Only GPUs of the first one's model can share its trials: rows belong to a model. */
static void part_with_others(eval_worker *self)
{
    char first[MT_KEY_GPU_SIZE], key[MT_KEY_GPU_SIZE];
    size_t kept = 0;
    gpu_key(self->gpus[0], first);
    for (size_t i = 0; i < self->gpu_count; i++) {
        eval_gpu *gpu = self->gpus[i];
        gpu_key(gpu, key);
        if (strcmp(first, key) == 0) {
            gpu->index = kept;
            self->core.base.devices[kept].ordinal = gpu->ordinal;
            self->gpus[kept++] = gpu;
        } else {
            self->others[self->other_count++] = gpu->ordinal;
            stop_gpu(&self->gpus[i]);
        }
    }
    self->core.base.device_count = self->gpu_count = kept;
}

/* What else runs on the GPU before our first launch. In a container NVML may hide other processes, but not the load that they make. Another tuner has been told by its name, and its
 * processes and its load are what NVML sees: that is not said twice. */
static void note_load(eval_worker *self, eval_gpu *gpu)
{
    const mt_hello *hello = mt_device_worker_hello(gpu->worker);
    if (hello->foreign_processes < 0 && hello->busy_percent < 0) mt_log_info("no NVML: other load on GPU %d and throttling can't be seen", gpu->ordinal);
    gpu->foreign = hello->foreign_processes;
    if (gpu->has_library) return;
    if (hello->foreign_processes > 0)
        mt_eval_worker_warn(self, "%d other process%s on GPU %d, which was %d %% busy before the first launch: times may be disturbed", (int)hello->foreign_processes,
            hello->foreign_processes == 1 ? " is" : "es are", gpu->ordinal, hello->busy_percent < 0 ? 0 : (int)hello->busy_percent);
    else if (hello->busy_percent >= BUSY_PERCENT)
        mt_eval_worker_warn(self, "GPU %d was %d %% busy before the first launch: times may be disturbed", gpu->ordinal, (int)hello->busy_percent);
}

/* Telling comes before looking, so that of two that start together at least one sees the other. */
static void announce(eval_gpu *gpu)
{
    const char *bus_id = mt_device_worker_bus_id(gpu->worker);
    if (bus_id[0]) gpu->beacon = mt_beacon_announce(bus_id);
    mt_eval_worker_look_for_library(gpu);
}

void mt_eval_worker_look_for_library(eval_gpu *gpu)
{
    const char *bus_id = mt_device_worker_bus_id(gpu->worker);
    int64_t pid = gpu->has_library || !bus_id[0] ? 0 : mt_beacon_find_other(bus_id);
    if (!pid) return;
    gpu->has_library = true;
    mt_eval_worker_warn(gpu->owner, "another msda-tune (pid %lld) uses GPU %d: each disturbs the other's times", (long long)pid, gpu->ordinal);
}

static void take_facts(eval_worker *self)
{
    self->core.base.facts = mt_device_worker_hello(self->gpus[0]->worker)->facts;
    self->core.base.energy = mt_device_worker_hello(self->gpus[0]->worker)->energy; /* finals are timed there */
    mt_eval_core_take_facts(&self->core, self->options.arch);
}

mt_status mt_eval_worker_start(eval_worker *self, const eval_worker_callbacks *callbacks, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_worker_options *options = &self->options;
    int64_t start_ns = mt_clock_now_ns();
    size_t visible = options->all_devices ? mt_visible_gpus() : 0;
    MT_TRY(start_gpu(self, options->device, callbacks, err));
    for (size_t i = 1; i < visible && i < MT_DEVICES_MAX; i++) MT_TRY(start_gpu(self, (int)i, callbacks, err));
    for (size_t i = 0; i < options->more_count; i++) MT_TRY(start_gpu(self, options->more_devices[i], callbacks, err));
    MT_TRY(start_pool(self, callbacks, err));
    await_hello(self);
    if (options->all_devices && visible < 2) MT_TRY(start_rest(self, callbacks, err));
    if (visible > MT_DEVICES_MAX) mt_eval_worker_warn(self, "of %zu GPUs the first %d are used", visible, MT_DEVICES_MAX);
    MT_TRY(drop_dead(self, err)); /* a missing GPU is the more telling of two failures */
    MT_TRY(mt_eval_core_failure(&self->core, err));
    part_with_others(self);
    if (!options->jobs) mt_pool_set_jobs(self->core.pool, JOBS_PER_GPU * (self->gpu_count + self->other_count));
    take_facts(self);
    for (size_t i = 0; i < self->gpu_count; i++) {
        announce(self->gpus[i]);
        note_load(self, self->gpus[i]);
    }
    self->is_started = true;
    mt_times_note("start", start_ns, NULL);
done:
    return st;
}

void mt_eval_worker_stop_others(eval_worker *self, size_t kept)
{
    eval_gpu *stays = self->gpus[kept];
    self->gpus[kept] = self->gpus[0];
    self->gpus[0] = stays;
    self->core.base.devices[0] = self->core.base.devices[kept];
    stays->index = 0;
    for (size_t i = 1; i < self->gpu_count; i++) mt_device_worker_stop(self->gpus[i]->worker);
    for (size_t i = 1; i < self->gpu_count; i++) stop_gpu(&self->gpus[i]);
    self->core.base.device_count = self->gpu_count = 1;
}

/* A context takes a tenth of a second and more to be torn down: all of them at once. */
void mt_eval_worker_stop(eval_worker *self)
{
    int64_t start_ns = mt_clock_now_ns();
    for (size_t i = 0; i < self->gpu_count; i++) mt_device_worker_stop(self->gpus[i]->worker);
    if (self->core.pool) mt_pool_stop(self->core.pool);
    for (size_t i = 0; i < self->gpu_count; i++) stop_gpu(&self->gpus[i]);
    self->gpu_count = 0;
    mt_pool_destroy(self->core.pool);
    self->core.pool = NULL;
    mt_times_note("stop", start_ns, NULL);
}
