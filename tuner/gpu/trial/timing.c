/* Timing one variant: chunks of samples, each chunk queued behind a hold so that no launch waits for the host.
 *
 *     hold · { restore · flush L2 · clock stamp · start event · launches · stop event · clock stamp } × n · release · wait
 *
 * What a number means is told in docs/measurement.md. The device's events and flush memory are in timer.h, the decisions in timing_rules.h. Restoring inout and zeroing happen before the start event, and in the cold cache state before the flush, so that they
 * are neither timed nor leave anything in the cache. */
#include "tuner/gpu/trial/timing.h"

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/stats.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/trial/batch.h"
#include "tuner/gpu/trial/timing_rules.h"

typedef struct run {
    mt_gpu_trial *trial;
    const mt_timing_options *options;
    mt_batch *batch;     /* NULL: events around single launches */
    mt_sample *samples;  /* max_samples + MT_TIMER_CHUNK */
    size_t count;
    double *kept, *work; /* as long */
    unsigned late;       /* chunks thrown away because the hold ran out */
    uint32_t limited;    /* samples while the clock was held down */
} run;

static CUresult queue_work(const run *self)
{
    if (self->batch) return mt_batch_launch(self->trial->gpu, self->batch);
    return mt_trial_run(self->trial, &self->trial->binding);
}

/* Warm: an untimed run goes first, since the chunk before may have been followed by other work. */
static CUresult queue_chunk(const run *self, size_t count)
{
    CUresult code = CUDA_SUCCESS;
    mt_gpu *gpu = self->trial->gpu;
    bool is_cold = self->options->l2 == MT_L2_COLD;
    MT_CU(mt_timer_hold(gpu));
    if (!is_cold) {
        MT_CU(mt_trial_restore(self->trial));
        MT_CU(queue_work(self));
    }
    for (size_t i = 0; i < count; i++) {
        MT_CU(mt_trial_restore(self->trial));
        if (is_cold) MT_CU(mt_timer_flush(gpu));
        MT_CU(mt_timer_begin(gpu, i));
        MT_CU(queue_work(self));
        MT_CU(mt_timer_end(gpu, i));
    }
done:
    mt_timer_release(gpu); /* also after an error: the stream must not stand */
    return code;
}

/* Takes `count` samples; *ns (MT_TIMER_CHUNK) and *mhz receive them. A chunk whose hold ran out is *late: then they are worthless. */
static mt_status take_chunk(run *self, size_t count, double *ns, double *mhz, bool *late)
{
    mt_status st = MT_OK;
    mt_gpu_trial *trial = self->trial;
    MT_TRIAL_CU(queue_chunk(self, count), "timing");
    MT_TRIAL_CU(mt_timer_collect(trial->gpu, count, ns, mhz), "timing");
    *late = mt_timer_was_late(trial->gpu);
done:
    return st;
}

/* A clock above what the GPU can do comes from a coarse global timer over a short sample: then it is not known. */
static double plausible_mhz(const mt_gpu *gpu, double mhz)
{
    return gpu->facts.clock_mhz > 0 && mhz > 1.2 * (double)gpu->facts.clock_mhz ? 0 : mhz;
}

static mt_status add_chunk(run *self, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    bool late = false;
    double ns[MT_TIMER_CHUNK], mhz[MT_TIMER_CHUNK];
    mt_gpu_trial *trial = self->trial;
    MT_TRIAL_TRY(take_chunk(self, count, ns, mhz, &late));
    if (late) {
        if (++self->late >= 3) st = MT_FAIL(err, MT_ERR_GPU, "the host could not queue %zu samples within the hold's deadline, three times", count);
        goto done;
    }
    bool is_throttled = mt_nvml_throttled(&trial->gpu->nvml);
    if (is_throttled || mt_nvml_limited(&trial->gpu->nvml)) self->limited += (uint32_t)count;
    double units = (self->batch ? mt_batch_size(self->batch) : 1) * (double)trial->plan.per;
    for (size_t i = 0; i < count; i++)
        self->samples[self->count++] = (mt_sample){ns[i] / units, plausible_mhz(trial->gpu, mhz[i]), is_throttled};
done:
    return st;
}

/* Runs that are not samples: the first launch, and as many more as bring clocks and caches to where the samples will find them. The median of those chooses the
 * method; a first launch alone would choose by chance. */
static mt_status warm_up(run *self, double *ns)
{
    mt_status st = MT_OK;
    bool late;
    double times[MT_TIMER_CHUNK] = {0}, mhz[MT_TIMER_CHUNK];
    mt_gpu_trial *trial = self->trial;
    MT_TRIAL_TRY(take_chunk(self, 1, times, mhz, &late));
    *ns = times[0];
    size_t more = mt_timing_warm_up(*ns);
    if (more == 0) goto done;
    MT_TRIAL_TRY(take_chunk(self, more, times, mhz, &late));
    mt_stats_sort(times, more);
    *ns = mt_stats_median(times, more);
done:
    return st;
}

/* Inputs that are restored before each run can't be restored between the launches of a graph without being timed. */
static mt_status choose_method(run *self, double first_ns, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu_trial *trial = self->trial;
    if (!mt_timing_wants_graph(self->options, first_ns) || mt_trial_needs_restore(trial)) return MT_OK;
    mt_batch_plan plan = mt_batch_plan_make(self->options->l2, first_ns, mt_batch_set_bytes(trial), (uint64_t)trial->gpu->facts.l2_bytes);
    MT_TRIAL_TRY(mt_batch_create(trial, plan.sets, plan.launches, &self->batch, err));
    if (self->batch) MT_TRIAL_CU(mt_batch_launch(trial->gpu, self->batch), "timing"); /* untimed, as every first launch */
done:
    return st;
}

/* Statistics of what was taken so far. */
static void summarize(run *self)
{
    mt_timing *timing = &self->trial->outcome->timing;
    size_t kept = mt_samples_keep(self->samples, self->count, self->trial->gpu->timer.reference_mhz, self->kept, self->work);
    mt_timing_summarize(self->kept, kept, timing);
    timing->dropped = (uint32_t)(self->count - kept);
    timing->limited = self->limited;
    timing->sm_mhz = mt_samples_mhz(self->samples, self->count, self->work);
}

static mt_status keep_samples(run *self, mt_error *err)
{
    mt_outcome *outcome = self->trial->outcome;
    mt_timer *timer = &self->trial->gpu->timer;
    size_t kept = mt_samples_keep(self->samples, self->count, timer->reference_mhz, self->kept, self->work); /* in measuring order again */
    outcome->sample_ns = mt_alloc(kept, sizeof *outcome->sample_ns);
    if (!outcome->sample_ns) return MT_FAIL(err, MT_ERR_NO_MEMORY, "samples");
    for (size_t i = 0; i < kept; i++)
        outcome->sample_ns[i] = (float)self->kept[i];
    if (outcome->timing.sm_mhz > timer->reference_mhz) timer->reference_mhz = outcome->timing.sm_mhz;
    outcome->timing.l2 = self->options->l2;
    outcome->timing.batch = self->batch ? mt_batch_size(self->batch) : 1;
    outcome->timing.prepare_ns = self->trial->prepare_ns;
    return MT_OK;
}

static bool is_finished(const run *self, int64_t spent_ns)
{
    const mt_timing *timing = &self->trial->outcome->timing;
    return mt_timing_is_hopeless(self->options, timing) || mt_timing_is_done(self->options, timing, self->count, spent_ns);
}

/* What was seen is kept either way, but one that was stopped early is never called measured; and 0 is no time. */
static void judge(run *self)
{
    mt_outcome *outcome = self->trial->outcome;
    const mt_timing *timing = &outcome->timing;
    if (!(timing->median_ns > 0)) {
        mt_outcome_set(outcome, MT_OUTCOME_LAUNCH_ERROR, "%s takes no time by the driver's events", mt_trial_entry(self->trial));
    } else if (mt_timing_is_hopeless(self->options, timing)) {
        mt_outcome_set(outcome, MT_OUTCOME_CENSORED, "stopped after %u samples: %.2f µs at best, the incumbent %.2f µs", timing->samples, timing->min_ns / 1e3,
            self->options->race_ns / 1e3);
    }
}

static mt_status sample(run *self, double first_ns, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu_trial *trial = self->trial;
    double sample_ns = first_ns * (self->batch ? mt_batch_size(self->batch) : 1);
    int64_t start_ns = mt_clock_now_ns();
    do {
        MT_TRIAL_TRY(add_chunk(self, mt_timing_chunk(self->options, self->count, sample_ns, MT_TIMER_CHUNK), err));
        if (self->count) summarize(self);
    } while (!self->count || !is_finished(self, mt_clock_now_ns() - start_ns));
    MT_TRY(keep_samples(self, err));
    judge(self);
done:
    return st;
}

mt_status mt_trial_time(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    double first_ns = 0;
    run self = {.trial = trial, .options = &trial->request->timing};
    size_t capacity = (size_t)self.options->max_samples + MT_TIMER_CHUNK;
    self.samples = mt_alloc(capacity, sizeof *self.samples);
    self.kept = mt_alloc(capacity, sizeof *self.kept);
    self.work = mt_alloc(capacity, sizeof *self.work);
    if (!self.samples || !self.kept || !self.work) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "samples"));
    MT_TRIAL_TRY(warm_up(&self, &first_ns));
    MT_TRIAL_TRY(choose_method(&self, first_ns, err));
    MT_TRIAL_TRY(sample(&self, first_ns, err));
done:
    mt_batch_free(trial->gpu, self.batch);
    MT_FREE_EACH(self.samples, self.kept, self.work);
    return st;
}
