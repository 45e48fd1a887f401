/* Why a GPU stood idle before a trial: nothing was there yet, nothing was compiled, or the coordinator was late. */
#include <stdio.h>

#include "tuner/base/clock.h"
#include "tuner/base/times.h"
#include "tuner/session/session_run.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void mt_idle_end(const mt_run *run, const mt_run_trial *trial)
{
    char detail[96];
    mt_session_device *device = &run->session->devices[trial->device];
    bool is_first = device->free_ns < run->started_ns; /* what lies before is the last subject's final, or nothing */
    int64_t from = later(device->free_ns, run->started_ns), fed = later(from, trial->ready_ns);
    *(is_first ? &device->idle_setup_ns : &device->idle_no_compiled_ns) += fed - from;
    device->idle_dispatch_ns += trial->started_ns - fed;
    snprintf(detail, sizeof detail, "gpu %zu, trial %llu: %.2f ms without a variant, %.2f ms late", trial->device, (unsigned long long)trial->request.id, (double)(fed - from) / 1e6,
        (double)(trial->started_ns - fed) / 1e6);
    mt_times_note("idle", from, detail);
}

void mt_idle_begin(const mt_run *run, const mt_run_trial *trial)
{
    char detail[64];
    run->session->devices[trial->device].free_ns = mt_clock_now_ns();
    if (trial->state != MT_RUN_RUNNING) return; /* its GPU was lost before */
    snprintf(detail, sizeof detail, "gpu %zu, trial %llu", trial->device, (unsigned long long)trial->request.id);
    mt_times_note("result", trial->started_ns, detail);
}
