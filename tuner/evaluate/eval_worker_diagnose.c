/* --diagnose: a fault's event waits until compute-sanitizer has seen the variant. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/evaluate/eval_worker_internal.h"

static const double DIAGNOSE_S = 120; /* compute-sanitizer is slow */

static void on_diagnosed(void *context, const char *text)
{
    eval_gpu *gpu = context;
    mt_outcome *outcome = &gpu->undiagnosed.outcome;
    char *before = outcome->text;
    gpu->diagnosis = NULL;
    outcome->text = NULL;
    mt_outcome_set(outcome, outcome->kind, "%s\n%s", before ? before : "", text);
    mt_free(before);
    mt_event_queue_push(&gpu->owner->core.events, &gpu->undiagnosed);
    memset(&gpu->undiagnosed, 0, sizeof gpu->undiagnosed);
}

bool mt_eval_worker_diagnose(eval_gpu *gpu, const mt_event *event)
{
    mt_error error;
    const eval_worker *self = gpu->owner;
    if (!self->options.diagnose || event->outcome.kind != MT_OUTCOME_GPU_FAULT || event->outcome.guilt != MT_GUILT_SHOWN) return false;
    mt_diagnose_request request = {self->core.loop, self->options.diagnose, gpu->ordinal, self->core.bundle_fd, mt_device_worker_frame(gpu->worker), DIAGNOSE_S, on_diagnosed, gpu};
    gpu->undiagnosed = *event;
    if (mt_diagnose_start(&request, &gpu->diagnosis, &error) == MT_OK) return true;
    mt_log_warn("not diagnosed: %s", error.message);
    memset(&gpu->undiagnosed, 0, sizeof gpu->undiagnosed);
    return false;
}
