/* Energy of one variant: a loop of graphs, long enough for NVML's slow counter, while the host watches it. */
#include "tuner/gpu/trial/energy.h"

#include <time.h>

#include "tuner/base/clock.h"
#include "tuner/gpu/device/device_internal.h"
#include "tuner/gpu/trial/batch.h"
#include "tuner/gpu/trial/energy_rules.h"

static const int64_t chunk_ns = 5000000; /* queued at once; the wait for its end costs the GPU some 20 µs */
static const long poll_every_ns = 100000;
/* Until clocks and power are where such a load brings them; NVML's power is a mean over a second on newer GPUs. */
static const int64_t settle_ns[] = {[MT_ENERGY_COUNTER] = 100000000, [MT_ENERGY_POWER] = 1000000000};

typedef struct loop {
    mt_gpu_trial *trial;
    mt_batch *batch;
    uint64_t graphs;        /* launched */
    uint64_t graphs_a_chunk;
} loop;

/* While the chunk that was queued runs: `meter` NULL waits only. */
static void watch(const mt_nvml *nvml, mt_energy_meter *meter, int64_t until_ns)
{
    const struct timespec pause = {.tv_nsec = poll_every_ns};
    double reading;
    while (meter) {
        int64_t asked_ns = mt_clock_now_ns();
        if (mt_nvml_energy(nvml, meter->source, &reading)) mt_energy_meter_poll(meter, asked_ns, mt_clock_now_ns(), reading);
        if (mt_clock_now_ns() >= until_ns) return;
        nanosleep(&pause, NULL);
    }
}

static mt_status run_chunk(loop *self, mt_energy_meter *meter)
{
    mt_status st = MT_OK;
    mt_gpu_trial *trial = self->trial;
    int64_t start_ns = mt_clock_now_ns();
    for (uint64_t i = 0; i < self->graphs_a_chunk; i++) MT_TRIAL_CU(mt_batch_launch(trial->gpu, self->batch), "energy");
    watch(&trial->gpu->nvml, meter, start_ns + chunk_ns * 9 / 10);
    MT_TRIAL_CU(trial->gpu->cuda.cuStreamSynchronize(trial->gpu->stream), "energy");
    self->graphs += self->graphs_a_chunk;
done:
    return st;
}

/* *energy stays without a source when what is watched does not move, or is not told. */
static mt_status measure(loop *self, mt_energy_source source, int64_t least_ns, mt_energy *energy)
{
    mt_status st = MT_OK;
    mt_gpu_trial *trial = self->trial;
    mt_energy_meter meter;
    double reading;
    if (!mt_nvml_energy(&trial->gpu->nvml, source, &reading)) return MT_OK;
    int64_t start_ns = mt_clock_now_ns();
    do MT_TRIAL_TRY(run_chunk(self, NULL));
    while (mt_clock_now_ns() - start_ns < settle_ns[source]);
    mt_energy_meter_begin(&meter, source);
    uint64_t before = self->graphs;
    start_ns = mt_clock_now_ns();
    do MT_TRIAL_TRY(run_chunk(self, &meter));
    while (!mt_energy_meter_is_done(&meter, least_ns) && !mt_energy_meter_is_stuck(&meter, least_ns));
    int64_t loop_ns = mt_clock_now_ns() - start_ns;
    if (mt_energy_meter_is_done(&meter, least_ns)) *energy = mt_energy_meter_result(&meter, (self->graphs - before) * mt_batch_size(self->batch) * (uint64_t)trial->plan.per, loop_ns);
done:
    return st;
}

static mt_status make_loop(loop *self, mt_error *err)
{
    mt_status st = MT_OK;
    mt_gpu_trial *trial = self->trial;
    double run_ns = trial->outcome->timing.median_ns * (double)trial->plan.per;
    mt_energy_plan plan = mt_energy_plan_make(trial->request->timing.l2, run_ns, mt_batch_set_bytes(trial), (uint64_t)trial->gpu->facts.l2_bytes);
    MT_TRIAL_TRY(mt_batch_create(trial, plan.sets, plan.runs, &self->batch, err));
    double graphs = run_ns > 0 ? (double)chunk_ns / (run_ns * plan.runs) : 1;
    self->graphs_a_chunk = graphs < 1 ? 1 : graphs > 64 ? 64 : (uint64_t)graphs;
done:
    return st;
}

mt_status mt_trial_energy(mt_gpu_trial *trial, mt_error *err)
{
    mt_status st = MT_OK;
    loop self = {.trial = trial};
    mt_outcome *outcome = trial->outcome;
    mt_energy *energy = &outcome->energy;
    int64_t least_ns = trial->request->energy_ns;
    if (mt_trial_needs_restore(trial)) {
        mt_outcome_set(outcome, MT_OUTCOME_OK, "energy: not measured: arguments that are restored before each run would be counted");
        goto done;
    }
    MT_TRIAL_TRY(make_loop(&self, err));
    if (!self.batch) {
        mt_outcome_set(outcome, MT_OUTCOME_OK, "energy: not measured: the launches can't be put into one graph, or there is no room for copies of the buffers");
        goto done;
    }
    MT_TRIAL_TRY(measure(&self, MT_ENERGY_COUNTER, least_ns, energy));
    if (energy->source == MT_ENERGY_NONE) MT_TRIAL_TRY(measure(&self, MT_ENERGY_POWER, least_ns, energy));
    if (energy->source == MT_ENERGY_NONE) mt_outcome_set(outcome, MT_OUTCOME_OK, "energy: not measured: NVML's counter does not move, and it tells no power");
done:
    mt_batch_free(trial->gpu, self.batch);
    return st;
}
