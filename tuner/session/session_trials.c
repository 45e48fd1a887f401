/* Trials: handed to the evaluator, started on a free GPU with their names written ahead, stored and told when they end. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/times.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/session/rates.h"
#include "tuner/session/session_run.h"

enum { DRIFT_SAMPLES = 15 };

static mt_status mark_seen(mt_run *run, size_t index, mt_error *err)
{
    return mt_index_map_put(&run->seen, index, 0) ? MT_OK : mt_no_memory("session", err);
}

/* ---- one evaluation counted ---- */

/* The fastest of each yardstick is what the best is held against. */
static void note_yardstick(mt_run *run, size_t index, const mt_outcome *outcome)
{
    mt_subject_summary *summary = run->summary;
    mt_point point;
    size_t i = 0;
    if (outcome->kind != MT_OUTCOME_YARDSTICK) return;
    mt_space_at(run->space, index, &point);
    const char *name = mt_space_spec(run->space)->algorithms[point.level[0]].name;
    while (i < summary->yardstick_count && strcmp(summary->yardsticks[i].name, name) != 0) i++;
    if (i == MT_YARDSTICKS_MAX) return;
    if (i == summary->yardstick_count) summary->yardsticks[summary->yardstick_count++] = (mt_yardstick){name, INFINITY};
    summary->yardsticks[i].median_ns = fmin(summary->yardsticks[i].median_ns, outcome->timing.median_ns);
}

double mt_run_cost(const mt_run *run, mt_outcome_kind kind, double median_ns, double norm_error)
{
    const mt_limit *limit = &run->summary->error_limit;
    bool is_unknown = kind == MT_OUTCOME_CENSORED && isnan(norm_error); /* it was stopped early, and its row may be without figures */
    return mt_outcome_may_win(kind) && (is_unknown || mt_limit_admits(limit, norm_error)) ? median_ns : INFINITY;
}

static double error_of(const mt_outcome *outcome)
{
    return outcome->accuracy.output[0] ? outcome->accuracy.norm_error : NAN;
}

static mt_status note_best(mt_run *run, size_t index, const char *variant, const mt_outcome *outcome, const mt_event *event, mt_error *err)
{
    if (outcome->kind != MT_OUTCOME_OK) return MT_OK;
    double median_ns = outcome->timing.median_ns;
    if (index == run->default_index) run->summary->default_ns = median_ns;
    if (index == run->baseline_index) run->summary->baseline_ns = median_ns;
    if (!(median_ns < run->best_ns) || !mt_limit_admits(&run->summary->error_limit, error_of(outcome))) return MT_OK;
    char *text = mt_strdup(variant), *path = event ? mt_strdup(event->cubin_path) : NULL;
    if (!text || (event && event->cubin_path && !path)) {
        mt_free(text);
        return mt_no_memory("session", err);
    }
    mt_free(run->best);
    mt_free(run->cubin.path);
    run->best = text;
    run->best_ns = median_ns;
    if (event) run->best_batch = outcome->timing.batch; /* the stored best came with its own */
    run->best_sm_mhz = outcome->timing.sm_mhz;
    run->best_cycles = outcome->cycles;
    run->cubin.path = path;
    if (!event) return MT_OK;
    run->cubin.hash = event->outcome.cubin;
    /* At once: only this process knows the path, and it may be killed before the subject ends. */
    return mt_session_keep_cubin(run->session, &run->cubin, err);
}

/* What a person knows best is the drift reference: the default, if it is OK. It is the same on every GPU. */
static mt_status note_drift(mt_run *run, size_t index, const char *variant, const mt_outcome *outcome, const mt_event *event, mt_error *err)
{
    size_t device = event ? event->device : 0;
    const mt_drift_reference *now = &run->drift_references[0];
    run->drift_references[device].since += event != NULL;
    bool is_better = now->index == MT_NO_POINT || (index == run->default_index && now->index != index);
    if (!is_better || outcome->kind != MT_OUTCOME_OK || !run->session->evaluator->can_retime) return MT_OK;
    for (size_t i = 0; i < mt_run_device_count(run); i++)
        run->drift_references[i] = (mt_drift_reference){.index = index, .state = run->session->devices[i].is_lost ? MT_DRIFT_LOST : MT_DRIFT_RESTS, .first_ns = NAN, .since = run->drift_references[i].since};
    run->drift_references[device].since = 0;
    return event ? mt_drift_note(run->session, &run->subject, &run->drift_references[device], variant, outcome, err) : MT_OK;
}

/* What the other cache state will measure too. */
static mt_status note_point(const mt_run *run, size_t index, const mt_outcome *outcome, mt_error *err)
{
    bool is_noted = run->job->from == MT_POINTS_SEARCHED && run->session->params->both_l2 && outcome->kind == MT_OUTCOME_OK;
    return is_noted ? mt_point_list_add(run->job->points, index, err) : MT_OK;
}

/* Tells everybody about one more point. `event` is NULL for what the database knew: the strategy learns that later (session_replay.c). */
static mt_status count_evaluation(mt_run *run, size_t index, const char *variant, const mt_outcome *outcome, const mt_event *event, mt_error *err)
{
    mt_session *session = run->session;
    mt_subject_summary *summary = run->summary;
    const mt_progress *progress = session->params->progress;
    bool known = event == NULL, is_run = mt_outcome_is_run(outcome->kind), failed = mt_outcome_is_failure(outcome->kind);
    double time_ns = mt_run_cost(run, outcome->kind, outcome->timing.median_ns, error_of(outcome)); /* of one that was stopped early: too low if anything, and never the best */
    mt_status st = note_best(run, index, variant, outcome, event, err);
    note_yardstick(run, index, outcome);
    if (st == MT_OK) st = note_point(run, index, outcome, err);
    if (st == MT_OK) st = note_drift(run, index, variant, outcome, event, err);
    if (st == MT_OK && run->search && !known) st = mt_search_tell(run->search, index, time_ns, err);
    summary->evaluated++;
    *(known ? &summary->known : &summary->measured) += 1;
    *(!is_run ? &summary->not_run : failed ? &summary->failed : outcome->kind == MT_OUTCOME_OK ? &summary->ok : outcome->kind == MT_OUTCOME_YARDSTICK ? &summary->yardstick : &summary->censored) += 1;
    session->evaluated += is_run;
    session->known += known;
    session->failed += failed;
    if (progress && progress->evaluated)
        progress->evaluated(progress->context, summary->evaluated, run->total, variant, outcome, known, run->best_ns, run->best);
    return st;
}

/* The best of a subject is one of its own rows: what another file has is told beside it. Takes `variant`. */
static void note_shared(mt_run *run, const mt_known *known, char *variant)
{
    mt_subject_summary *summary = run->summary;
    summary->shared++;
    summary->shared_path = mt_store_path(run->session->params->shared);
    if (known->kind != MT_OUTCOME_OK || !(mt_run_cost(run, known->kind, known->median_ns, known->norm_error) < summary->shared_ns)) {
        mt_free(variant);
        return;
    }
    mt_free(run->shared_best);
    run->shared_best = variant;
    summary->shared_best = variant;
    summary->shared_ns = known->median_ns;
}

mt_status mt_run_count_known(mt_run *run, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < run->history.known_count && st == MT_OK; i++) {
        const mt_known *known = &run->history.known[i];
        mt_outcome outcome = {.kind = known->kind, .text = known->text, .timing.median_ns = known->median_ns};
        outcome.accuracy.norm_error = known->norm_error;
        if (!isnan(known->norm_error)) outcome.accuracy.output[0] = '?'; /* which one is not asked for */
        char *variant = mt_run_variant_text(run, known->index);
        if (!variant) return mt_no_memory("session", err);
        st = mt_run_note_known(run, i, err);
        if (st == MT_OK) st = count_evaluation(run, known->index, variant, &outcome, NULL, err);
        if (st == MT_OK && i >= run->history.own_count) note_shared(run, known, variant);
        else mt_free(variant);
    }
    return st;
}

/* ---- trials on GPUs ---- */

bool mt_run_is_running(const mt_run *run)
{
    for (size_t i = 0; i < mt_run_device_count(run); i++) {
        if (run->running[i]) return true;
    }
    return false;
}

static bool is_free(const mt_run *run, size_t device)
{
    return run->phase == MT_RUN_SEARCHING && !run->running[device] && !run->session->evaluator->devices[device].is_lost;
}

/* What is to run next on a GPU; NULL = nothing is ready. */
static mt_run_trial *first_ready(const mt_run *run, size_t device)
{
    mt_run_trial *trial = run->trials;
    while (trial && (trial->state != MT_RUN_READY || (trial->is_drift_reference && trial->device != device))) trial = trial->next;
    return trial;
}

static mt_run_trial *find_trial(const mt_run *run, uint64_t id)
{
    mt_run_trial *trial = run->trials;
    while (trial && trial->request.id != id) trial = trial->next;
    return trial;
}

static void free_trial(mt_run *run, mt_run_trial *gone)
{
    mt_run_trial **at = &run->trials;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    run->under_way--;
    mt_free(gone->variant);
    mt_free(gone);
}

void mt_run_free_trials(mt_run *run)
{
    while (run->trials) free_trial(run, run->trials);
}

static int64_t worker_pid(const mt_run *run, size_t device)
{
    const mt_evaluator *evaluator = run->session->evaluator;
    return evaluator->ops->worker_pid ? evaluator->ops->worker_pid(evaluator, device) : 0;
}

/* What was spent on it. */
static void sum_up(mt_session *session, const mt_outcome *outcome)
{
    mt_session_times *times = &session->times;
    times->compile_ns += outcome->compile_ns;
    times->wait_ns += outcome->wait_ns;
    times->validate_ns += outcome->validate_ns;
    times->time_ns += outcome->time_ns;
}

/* Stores the result (NULL = none) and, in the same transaction, the intent of the trial to start next on `device` (NULL = none). */
static mt_status store(mt_run *run, const char *variant, const mt_event *event, const mt_run_trial *next, size_t device, mt_error *err)
{
    mt_result result = {
        .subject = &run->subject,
        .variant = variant,
        .launch_json = event ? event->launch_json : NULL,
        .measured_unix_ms = event ? event->measured_unix_ms : 0,
        .model_flops = run->model.flops,
        .model_dram_bytes = run->model.dram_bytes,
        .model_floor_ns = run->model.floor_ns,
        .outcome = event ? &event->outcome : NULL,
    };
    mt_metric rates[MT_RATES_MAX];
    if (event) {
        result.metrics = rates;
        result.metric_count = mt_rates_metrics(&run->model, &event->outcome.timing, run->session->evaluator->facts.sm_count, rates);
        result.evaluation = ++run->stored;
        sum_up(run->session, &event->outcome);
    }
    return mt_session_store_step(run->session, &run->subject, event ? &result : NULL, next ? next->request.variant : NULL, next ? worker_pid(run, device) : 0, err);
}

/* The median to race against; 0 = timed to the end. What a person compares with is always measured. */
static double race_limit(const mt_run *run, const mt_run_trial *trial)
{
    size_t index = trial->request.index;
    mt_point point;
    mt_space_at(run->space, index, &point);
    bool is_compared_with = index == run->default_index || index == run->baseline_index || mt_space_spec(run->space)->algorithms[point.level[0]].is_yardstick;
    return run->session->params->no_race || is_compared_with || !isfinite(run->best_ns) ? 0 : run->best_ns;
}

/* What is compared is timed by one method: a drift reference by that of its first time, the others by the best's once that is by graph. */
static mt_method method_of(const mt_run *run, const mt_run_trial *trial)
{
    const mt_drift_reference *reference = &run->drift_references[trial->device];
    if (trial->is_drift_reference && trial->request.index == reference->index) return mt_drift_method(reference);
    return run->best_batch > 1 ? MT_METHOD_GRAPH : MT_METHOD_BY_LENGTH;
}

/* Its intent was written: it is started as soon as that is committed. */
static void announce(mt_run *run, mt_run_trial *trial, size_t device)
{
    trial->state = MT_RUN_ANNOUNCED;
    trial->device = device;
    run->running[device] = trial;
}

static mt_status start_announced(mt_run *run, mt_error *err)
{
    mt_status st = MT_OK;
    mt_evaluator *evaluator = run->session->evaluator;
    for (size_t device = 0; device < mt_run_device_count(run) && st == MT_OK; device++) {
        mt_run_trial *trial = run->running[device];
        if (!trial || trial->state != MT_RUN_ANNOUNCED) continue;
        trial->state = MT_RUN_RUNNING;
        trial->started_ns = mt_clock_now_ns();
        mt_idle_end(run, trial);
        const mt_trial_start how = {.device = device, .race_ns = race_limit(run, trial), .best_ns = isfinite(run->best_ns) ? run->best_ns : 0, .method = method_of(run, trial)};
        st = evaluator->ops->start(evaluator, trial->request.id, &how, err);
    }
    return st;
}

/* Every free GPU gets what is ready. */
static mt_status occupy_idle(mt_run *run, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t device = 0; device < mt_run_device_count(run) && st == MT_OK; device++) {
        mt_run_trial *trial = is_free(run, device) ? first_ready(run, device) : NULL;
        if (!trial) continue;
        st = store(run, NULL, NULL, trial, device, err);
        if (st == MT_OK) announce(run, trial, device);
    }
    return st;
}

/* Leaves no row: the intent of what ran goes, that of what runs next (NULL = none) comes. */
static mt_status move_intent(mt_run *run, const mt_run_trial *trial, const mt_run_trial *next, size_t device, mt_error *err)
{
    const mt_session *session = run->session;
    mt_intent done = {.subject = &run->subject, .variant = trial->variant, .boot_id = session->boot_id};
    mt_intent intent = {.subject = &run->subject, .variant = next ? next->variant : NULL, .boot_id = session->boot_id, .worker_pid = next ? worker_pid(run, device) : 0};
    return mt_store_next_intent(session->store, session->id, &done, next ? &intent : NULL, err);
}

/* Its time goes to the drift reference's series. When it fails now, though it passed before, that is a result like any other: it no longer counts. */
static mt_status on_drift(mt_run *run, const mt_run_trial *trial, const mt_event *event, const mt_run_trial *next, mt_error *err)
{
    mt_drift_reference *reference = &run->drift_references[trial->device];
    bool is_current = trial->request.index == reference->index; /* the default may have taken its place meanwhile */
    if (event->outcome.kind != MT_OUTCOME_OK) {
        if (is_current) reference->state = MT_DRIFT_LOST;
        return store(run, trial->variant, event, next, trial->device, err);
    }
    mt_status st = move_intent(run, trial, next, trial->device, err);
    sum_up(run->session, &event->outcome);
    if (st == MT_OK && is_current) st = mt_drift_note(run->session, &run->subject, reference, trial->variant, &event->outcome, err);
    return st;
}

/* The GPU is free again: the trial ENDED, or is READY for another. */
static void leave_device(mt_run *run, mt_run_trial *trial, mt_run_trial_state state)
{
    mt_session_device *device = &run->session->devices[trial->device];
    run->running[trial->device] = NULL;
    mt_idle_begin(run, trial);
    if (trial->state == MT_RUN_RUNNING) {
        device->busy_ns += device->free_ns - trial->started_ns;
        device->started++;
    }
    trial->state = state;
}

/* Of this session: a recording's row says who asked for it there. */
static void note_proposer(mt_event *event, const char *by)
{
    snprintf(event->outcome.proposed_by, sizeof event->outcome.proposed_by, "%s", by);
}

static mt_status on_done(mt_run *run, mt_event *event, mt_error *err)
{
    mt_run_trial *trial = find_trial(run, event->trial), *next = NULL;
    mt_status st = MT_OK;
    if (!trial) return MT_OK; /* dropped */
    size_t device = event->device = trial->device;
    if (run->running[device] == trial) {
        leave_device(run, trial, MT_RUN_ENDED);
        next = is_free(run, device) ? first_ready(run, device) : NULL;
    }
    if (trial->is_drift_reference) {
        MT_TRY(on_drift(run, trial, event, next, err));
    } else {
        note_proposer(event, trial->by);
        MT_TRY(store(run, trial->variant, event, next, device, err));
        MT_TRY(count_evaluation(run, trial->request.index, trial->variant, &event->outcome, event, err));
    }
    free_trial(run, trial);
    if (next) announce(run, next, device);
done:
    return st;
}

static mt_status on_ready(mt_run *run, const mt_event *event, mt_error *err)
{
    mt_run_trial *trial = find_trial(run, event->trial);
    if (!trial || run->phase != MT_RUN_SEARCHING) return MT_OK;
    trial->state = MT_RUN_READY;
    trial->ready_ns = mt_clock_now_ns();
    return occupy_idle(run, err);
}

/* What ran there has no end, and goes to another GPU; its drift reference can't. */
static mt_status on_lost(mt_run *run, const mt_event *event, mt_error *err)
{
    mt_status st = MT_OK;
    mt_run_trial *running = run->running[event->device], *next;
    run->session->devices[event->device].is_lost = true;
    run->drift_references[event->device].state = MT_DRIFT_LOST;
    if (running) {
        leave_device(run, running, MT_RUN_READY);
        MT_TRY(move_intent(run, running, NULL, 0, err));
    }
    for (mt_run_trial *trial = run->trials; trial; trial = next) {
        next = trial->next;
        if (trial->is_drift_reference && trial->device == event->device) free_trial(run, trial);
    }
    MT_TRY(occupy_idle(run, err));
done:
    return st;
}

static mt_status handle(mt_run *run, mt_event *event, mt_error *err)
{
    const mt_progress *progress = run->session->params->progress;
    mt_status st = MT_OK;
    switch (event->kind) {
    case MT_EVENT_DONE: st = on_done(run, event, err); break;
    case MT_EVENT_READY: st = on_ready(run, event, err); break;
    case MT_EVENT_LOST: st = on_lost(run, event, err); break;
    case MT_EVENT_TICK:
        if (progress && progress->tick) progress->tick(progress->context);
    }
    mt_event_free(event);
    return st;
}

/* What came while the last transaction was written to disk shares the next one: several GPUs would else wait for one another's. */
static mt_status handle_together(mt_run *run, mt_event *event, mt_error *err)
{
    mt_evaluator *evaluator = run->session->evaluator;
    mt_error own;
    mt_status st = mt_store_begin(run->session->store, err);
    if (st != MT_OK) {
        mt_event_free(event);
        return st;
    }
    st = handle(run, event, err);
    while (st == MT_OK && evaluator->ops->has_event(evaluator)) {
        st = evaluator->ops->next(evaluator, event, err);
        if (st == MT_OK) st = handle(run, event, err);
    }
    int64_t before = mt_clock_now_ns();
    mt_status committed = mt_store_commit(run->session->store, st == MT_OK ? err : &own); /* what was stored before an error stays */
    run->session->times.database_ns += mt_clock_now_ns() - before;
    mt_times_note("commit", before, NULL);
    return st == MT_OK ? committed : st;
}

mt_status mt_run_handle(mt_run *run, mt_event *event, mt_error *err)
{
    const mt_evaluator *evaluator = run->session->evaluator;
    bool has_queue = evaluator->ops->has_event != NULL;
    bool is_together = has_queue && (event->kind == MT_EVENT_DONE || evaluator->ops->has_event(evaluator)); /* also a result's row, its cubin and its drift reference */
    mt_status st = is_together ? handle_together(run, event, err) : handle(run, event, err);
    return st == MT_OK ? start_announced(run, err) : st;
}

/* ---- handing over ---- */

/* Not run again: stored once, and known from then on. */
static mt_status refuse(mt_run *run, size_t index, const char *variant, const char *by, const char *reason, mt_error *err)
{
    mt_event event = {.kind = MT_EVENT_DONE};
    mt_outcome_set(&event.outcome, MT_OUTCOME_QUARANTINED, "%s", reason);
    note_proposer(&event, by);
    mt_status st = store(run, variant, &event, NULL, 0, err);
    if (st == MT_OK) st = count_evaluation(run, index, variant, &event.outcome, &event, err);
    mt_event_free(&event);
    return st;
}

/* Takes `variant`. retime: as in mt_trial; it is then a drift reference's, for `device`. */
static mt_status hand_over(mt_run *run, size_t index, char *variant, const char *by, uint32_t retime, size_t device, mt_error *err)
{
    mt_evaluator *evaluator = run->session->evaluator;
    mt_run_trial *trial = mt_alloc(1, sizeof *trial);
    if (!trial) {
        mt_free(variant);
        return mt_no_memory("session", err);
    }
    trial->variant = variant;
    trial->by = by;
    trial->is_drift_reference = retime > 0;
    trial->device = device;
    trial->request = (mt_trial){.id = ++run->session->last_trial, .subject = run->job->number, .index = index, .variant = variant, .retime = retime};
    mt_run_trial **last = &run->trials;
    while (*last && !trial->is_drift_reference) last = &(*last)->next;
    trial->next = *last;
    *last = trial;
    run->under_way++;
    return evaluator->ops->submit(evaluator, &trial->request, err);
}

mt_status mt_run_submit(mt_run *run, size_t index, const char *by, mt_error *err)
{
    char *variant = mt_run_variant_text(run, index);
    if (!variant) return mt_no_memory("session", err);
    mt_status st = mark_seen(run, index, err);
    const char *reason = mt_history_quarantine(&run->history, index);
    if (st == MT_OK && !reason) return hand_over(run, index, variant, by, 0, 0, err);
    if (st == MT_OK) st = refuse(run, index, variant, by, reason, err);
    mt_free(variant);
    return st;
}

mt_status mt_run_submit_drift_reference(mt_run *run, size_t device, mt_error *err)
{
    mt_drift_reference *reference = &run->drift_references[device];
    char *variant = mt_run_variant_text(run, reference->index);
    if (!variant) return mt_no_memory("session", err);
    reference->state = MT_DRIFT_UNDER_WAY;
    return hand_over(run, reference->index, variant, "drift reference", DRIFT_SAMPLES, device, err);
}
