/* One subject's loop: ask → answer what is known (session_replay.c) → submit, while trials end. */
#include "tuner/base/clock.h"
#include "tuner/session/session_run.h"

/* The next point to evaluate; false when there is none for now. */
static bool next_followed(mt_run *run, size_t *index)
{
    while (run->followed < run->job->points->count) {
        *index = run->job->points->items[run->followed++];
        if (!mt_run_has_seen(run, *index)) return true;
    }
    return false;
}

static mt_status next_point(mt_run *run, size_t *index, const char **by, bool *found, mt_error *err)
{
    if (run->job->from == MT_POINTS_SEARCHED) return mt_run_next_searched(run, index, by, found, err);
    *found = next_followed(run, index);
    *by = run->job->from == MT_POINTS_FIXED ? "given" : "other cache state";
    return MT_OK;
}

static bool has_budget(const mt_run *run)
{
    return !run->summary->is_flat && run->summary->evaluated + run->under_way < run->total;
}

/* What the strategy said when it was asked last. */
static void check_flat(mt_run *run)
{
    if (!run->session->params->until_flat || !run->search || !has_budget(run)) return;
    run->summary->expected_gain = mt_search_outlook(run->search);
    run->summary->is_flat = run->summary->expected_gain < MT_FLAT_BELOW; /* of NAN: false */
}

static mt_status fill(mt_run *run, mt_error *err)
{
    mt_status st = MT_OK;
    mt_evaluator *evaluator = run->session->evaluator;
    size_t capacity = evaluator->ops->capacity(evaluator), index;
    const char *by = NULL;
    bool found = true;
    for (size_t device = 0; device < mt_run_device_count(run) && has_budget(run); device++) {
        if (mt_drift_is_due(run->session, &run->drift_references[device])) MT_TRY(mt_run_submit_drift_reference(run, device, err));
    }
    while (found && run->under_way < capacity && has_budget(run)) {
        MT_TRY(next_point(run, &index, &by, &found, err));
        if (found) MT_TRY(mt_run_submit(run, index, by, err));
    }
done:
    return st;
}

static void check_stop(mt_run *run)
{
    mt_evaluator *evaluator = run->session->evaluator;
    if (run->phase != MT_RUN_SEARCHING) return;
    if (run->session->stop) run->summary->end = MT_SUBJECT_INTERRUPTED;
    else if (run->summary->evaluated < run->total && mt_clock_now_ns() >= run->job->deadline_ns) run->summary->end = MT_SUBJECT_OUT_OF_TIME;
    if (run->summary->end == MT_SUBJECT_COMPLETE) return;
    mt_run_enter(run, MT_RUN_STOPPING);
    evaluator->ops->cancel(evaluator, false);
    mt_space_draw_until(run->space, mt_clock_now_ns()); /* a strategy that is looking for rare points is waited for */
}

/* Nothing runs, and nothing will. */
static bool is_over(const mt_run *run)
{
    if (run->session->stop == MT_STOP_NOW) return true; /* the running variant was killed with the worker; its intent is no strike */
    if (run->phase == MT_RUN_STOPPING) return !mt_run_is_running(run);
    return run->under_way == 0 && !(has_budget(run) && run->search && mt_search_is_busy(run->search));
}

mt_status mt_run_loop(mt_run *run, mt_error *err)
{
    mt_status st = MT_OK;
    mt_evaluator *evaluator = run->session->evaluator;
    mt_run_enter(run, MT_RUN_SEARCHING);
    for (;;) {
        uv_run(run->session->loop, UV_RUN_NOWAIT); /* signals also reach a session whose evaluator never waits */
        check_stop(run);
        if (run->phase == MT_RUN_SEARCHING) check_flat(run);
        if (run->phase == MT_RUN_SEARCHING) MT_TRY(fill(run, err));
        if (is_over(run)) break;
        if (run->under_way == 0) { /* the strategy is thinking, and nothing else is going on */
            uv_run(run->session->loop, UV_RUN_ONCE);
            continue;
        }
        mt_event event;
        MT_TRY(evaluator->ops->next(evaluator, &event, err));
        MT_TRY(mt_run_handle(run, &event, err));
    }
    mt_run_enter(run, MT_RUN_FINAL);
done:
    return st;
}
