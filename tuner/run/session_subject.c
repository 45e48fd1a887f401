/* One subject's loop: ask → drop what is known → submit → write ahead → start → store → tell. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/run/event_queue.h"
#include "tuner/run/session_internal.h"

enum { ASK_BATCH = 64, ANCHOR_SAMPLES = 15 };
static const size_t NO_POINT = SIZE_MAX;

/* A trial under way. */
struct trial {
    struct trial *next;
    mt_trial request;
    char *variant;      /* owned text of request.variant */
    bool is_ready;      /* compiled, waits for the device */
    bool is_running;
    bool is_anchor;     /* timed again, not evaluated */
    int64_t worker_pid;
};

struct run {
    mt_session *session;
    const mt_session_target *target;
    size_t number;             /* of the subject */
    mt_subject subject;
    mt_space *space;
    mt_model model;
    mt_history history;
    const mt_strategy *strategy;
    void *state;
    unsigned char *seen;       /* one bit a point: known, told or under way; never evaluated again */
    size_t total;              /* evaluations meant */
    size_t under_way;
    struct trial *trials;      /* in the order they were submitted */
    struct trial *running;
    size_t first[2], first_count; /* the default point, the baseline's: before the strategy's */
    size_t default_index, baseline_index;
    size_t asked[ASK_BATCH], asked_at, asked_count;
    int64_t stored;            /* evaluations of this session */
    int64_t started_ns, deadline_ns;
    bool is_stopping;
    mt_subject_summary *summary;
    double best_ns;            /* of what was seen until now */
    uint32_t best_batch;       /* launches per sample of it; 0 = not known */
    char *best;
    mt_winner_cubin cubin;     /* of the best, when it was measured now */
    mt_anchor anchor;
};

static mt_status no_memory(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
}

static bool is_seen(const struct run *run, size_t index)
{
    return run->seen[index / CHAR_BIT] >> (index % CHAR_BIT) & 1;
}

static void mark_seen(struct run *run, size_t index)
{
    run->seen[index / CHAR_BIT] |= (unsigned char)(1u << (index % CHAR_BIT));
}

/* ---- setting up ---- */

static mt_status choose_strategy(struct run *run, size_t budget, mt_error *err)
{
    mt_session *session = run->session;
    const char *name = session->params->strategy ? session->params->strategy : session->params->spec->strategy;
    int64_t before = mt_clock_now_ns();
    run->strategy = strcmp(name, "auto") == 0 ? mt_strategy_auto(run->space, budget) : mt_strategy_find(name);
    if (!run->strategy) return MT_FAIL(err, MT_ERR_USAGE, "no strategy '%s'", name);
    const mt_search_task task = {.space = run->space, .seed = session->params->seed, .budget = budget};
    mt_status st = run->strategy->create(&task, &run->state, err);
    session->times.search_ns += mt_clock_now_ns() - before;
    return st;
}

/* The points that a person compares with come first, so that an interrupted run has them. */
static void choose_first(struct run *run)
{
    const mt_spec *spec = run->session->params->spec;
    mt_error error;
    run->default_index = run->baseline_index = NO_POINT;
    if (mt_space_default(run->space, &run->default_index, &error) == MT_OK) {
        run->first[run->first_count++] = run->default_index;
    } else {
        run->default_index = NO_POINT;
        mt_log_warn("%s: %s", run->target->shape->name, error.message);
    }
    if (!spec->baseline) return;
    if (mt_space_variant_default(run->space, spec->baseline, &run->baseline_index, &error) == MT_OK)
        run->first[run->first_count++] = run->baseline_index;
    else
        run->baseline_index = NO_POINT;
}

static mt_status make_model(struct run *run, mt_error *err)
{
    mt_scene *scene = NULL;
    mt_status st = mt_scene_create(run->session->params->spec, run->target->shape, &run->session->evaluator->facts, &scene, err);
    if (st == MT_OK) st = mt_scene_model(scene, &run->model, err);
    mt_scene_free(scene);
    return st;
}

/* The constraint that cut most, for a space without a valid point. */
static mt_status empty_space(const struct run *run, mt_error *err)
{
    const char *name = NULL, *why = NULL;
    uint64_t most = 0;
    for (size_t kind = 0; kind < mt_space_pruned_kinds(run->space); kind++) {
        const char *kind_name, *kind_why;
        bool is_exact;
        uint64_t count = mt_space_pruned(run->space, kind, &kind_name, &kind_why, &is_exact);
        if (count <= most) continue;
        most = count;
        name = kind_name;
        why = kind_why;
    }
    if (!name) return MT_FAIL(err, MT_ERR_NOT_FOUND, "no valid variant");
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "no valid variant; '%s' excludes most%s%s", name, why && *why ? ": " : "", why ? why : "");
}

/* Nothing else looks at signals and the clock while a large space is enumerated. */
static mt_status watch_enumeration(void *context, mt_error *err)
{
    const struct run *run = context;
    uv_run(run->session->loop, UV_RUN_NOWAIT);
    if (run->session->interrupts) return MT_FAIL(err, MT_ERR_INTERRUPTED, "interrupted while the points were enumerated");
    if (mt_clock_now_ns() < run->deadline_ns) return MT_OK;
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "the time was up before its points were enumerated: constraints that read fewer knobs prune earlier");
}

static char *variant_text(const struct run *run, size_t index)
{
    mt_point point;
    mt_space_at(run->space, index, &point);
    return mt_point_text(mt_space_spec(run->space), &point);
}

static mt_status store_landmarks(const struct run *run, mt_error *err)
{
    bool has_default = run->default_index != NO_POINT, has_baseline = run->baseline_index != NO_POINT;
    char *standard = has_default ? variant_text(run, run->default_index) : NULL, *baseline = has_baseline ? variant_text(run, run->baseline_index) : NULL;
    bool complete = has_default == !!standard && has_baseline == !!baseline;
    mt_status st = complete ? mt_session_store_landmarks(run->session, &run->subject, standard, baseline, err) : no_memory(err);
    mt_free(standard);
    mt_free(baseline);
    return st;
}

static mt_status set_up(struct run *run, mt_error *err)
{
    mt_session *session = run->session;
    mt_evaluator *evaluator = session->evaluator;
    const mt_space_watch watch = {watch_enumeration, run};
    mt_status st = MT_OK;
    MT_TRY(mt_space_create_watched(session->params->spec, run->target->shape, &evaluator->facts, &watch, &run->space, err));
    size_t count = mt_space_count(run->space);
    if (count == 0) return empty_space(run, err);
    MT_TRY(make_model(run, err));
    evaluator->regime = session->regime;
    MT_TRY(evaluator->ops->begin(evaluator, run->number, run->space, run->target->workload, err));
    MT_TRY(mt_session_subject_rows(session, run->target, &run->subject, err));
    MT_TRY(mt_session_store_pruned(session, &run->subject, run->space, err));
    MT_TRY(mt_history_load(session, &run->subject, run->space, &run->history, err));
    run->seen = mt_alloc(count / CHAR_BIT + 1, 1);
    if (!run->seen) return no_memory(err);
    run->total = session->budget < count ? session->budget : count;
    if (session->params->given) MT_TRY(mt_session_given_points(session, run->target, &run->subject, run->space, err));
    if (session->is_follower) run->total = session->point_count;
    if (session->params->given) run->total += run->history.known_count;
    if (run->total < run->history.known_count) run->total = run->history.known_count;
    choose_first(run);
    MT_TRY(store_landmarks(run, err));
    if (!session->is_follower) MT_TRY(choose_strategy(run, run->total, err));
done:
    return st;
}

/* ---- one evaluation counted ---- */

static mt_status note_best(struct run *run, size_t index, const char *variant, const mt_outcome *outcome, const mt_event *event, mt_error *err)
{
    if (outcome->kind != MT_OUTCOME_OK) return MT_OK;
    double median_ns = outcome->timing.median_ns;
    if (index == run->default_index) run->summary->default_ns = median_ns;
    if (index == run->baseline_index) run->summary->baseline_ns = median_ns;
    if (!(median_ns < run->best_ns)) return MT_OK;
    char *text = mt_strdup(variant), *path = event ? mt_strdup(event->cubin_path) : NULL;
    if (!text || (event && event->cubin_path && !path)) {
        mt_free(text);
        return no_memory(err);
    }
    mt_free(run->best);
    mt_free(run->cubin.path);
    run->best = text;
    run->best_ns = median_ns;
    run->best_batch = outcome->timing.batch;
    run->cubin.path = path;
    if (!event) return MT_OK;
    run->cubin.hash = event->outcome.cubin;
    /* At once: only this process knows the path, and it may be killed before the subject ends. */
    return mt_session_keep_cubin(run->session, &run->cubin, err);
}

/* What a person knows best is the anchor: the default, if it is OK. */
static mt_status note_anchor(struct run *run, size_t index, const char *variant, const mt_outcome *outcome, const mt_event *event, mt_error *err)
{
    mt_anchor *anchor = &run->anchor;
    anchor->since += event != NULL;
    bool is_better = !anchor->is_set || (index == run->default_index && anchor->index != index);
    if (!is_better || outcome->kind != MT_OUTCOME_OK || !run->session->evaluator->can_retime) return MT_OK;
    *anchor = (mt_anchor){.index = index, .is_set = true, .first_ns = NAN};
    return event ? mt_anchor_note(run->session, &run->subject, anchor, variant, outcome, err) : MT_OK;
}

/* What the other regime will measure too. */
static mt_status note_point(const struct run *run, size_t index, const mt_outcome *outcome, mt_error *err)
{
    mt_session *session = run->session;
    if (session->is_follower || !session->params->both_regimes || outcome->kind != MT_OUTCOME_OK) return MT_OK;
    size_t *points = mt_grow(session->points, session->point_count, &session->point_capacity, sizeof *points);
    if (!points) return no_memory(err);
    session->points = points;
    points[session->point_count++] = index;
    return MT_OK;
}

/* Tells everybody about one more point. `event` is NULL for what the database knew. */
static mt_status count_evaluation(struct run *run, size_t index, const char *variant, const mt_outcome *outcome, const mt_event *event, mt_error *err)
{
    mt_session *session = run->session;
    mt_subject_summary *summary = run->summary;
    const mt_progress *progress = session->params->progress;
    bool known = event == NULL, failed = mt_outcome_is_failure(outcome->kind);
    double cost_ns = failed ? INFINITY : outcome->timing.median_ns; /* of one that was given up: too low if anything, and never the best */
    mt_status st = note_best(run, index, variant, outcome, event, err);
    if (st == MT_OK) st = note_point(run, index, outcome, err);
    if (st == MT_OK) st = note_anchor(run, index, variant, outcome, event, err);
    int64_t before = mt_clock_now_ns();
    if (run->strategy) run->strategy->tell(run->state, index, cost_ns);
    session->times.search_ns += mt_clock_now_ns() - before;
    summary->evaluated++;
    *(known ? &summary->known : &summary->measured) += 1;
    *(failed ? &summary->failed : outcome->kind == MT_OUTCOME_OK ? &summary->ok : &summary->censored) += 1;
    session->evaluated++;
    session->known += known;
    session->failed += failed;
    if (progress && progress->evaluated)
        progress->evaluated(progress->context, summary->evaluated, run->total, variant, outcome, known, run->best_ns, run->best);
    return st;
}

static mt_status count_known(struct run *run, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < run->history.known_count && st == MT_OK; i++) {
        const mt_known *known = &run->history.known[i];
        mt_outcome outcome = {.kind = known->kind, .timing.median_ns = known->median_ns};
        char *variant = variant_text(run, known->index);
        if (!variant) return no_memory(err);
        mark_seen(run, known->index);
        st = count_evaluation(run, known->index, variant, &outcome, NULL, err);
        mt_free(variant);
    }
    return st;
}

/* ---- results ---- */

static struct trial *first_ready(const struct run *run)
{
    struct trial *trial = run->trials;
    while (trial && (!trial->is_ready || trial->is_running)) trial = trial->next;
    return trial;
}

static void free_trial(struct run *run, struct trial *gone)
{
    struct trial **at = &run->trials;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
    run->under_way--;
    mt_free(gone->variant);
    mt_free(gone);
}

/* Stores the result (NULL = none) and, in the same transaction, the intent of the trial to start next (NULL = none). */
static mt_status store(struct run *run, const char *variant, const mt_event *event, const struct trial *next, mt_error *err)
{
    mt_session_times *times = &run->session->times;
    mt_result result = {
        .subject = &run->subject,
        .variant = variant,
        .launch_json = event ? event->launch_json : NULL,
        .model_flops = run->model.flops,
        .model_dram_bytes = run->model.dram_bytes,
        .model_floor_ns = run->model.floor_ns,
        .outcome = event ? &event->outcome : NULL,
    };
    if (event) {
        result.evaluation = ++run->stored;
        times->compile_ns += event->outcome.compile_ns;
        times->wait_ns += event->outcome.wait_ns;
        times->validate_ns += event->outcome.validate_ns;
        times->time_ns += event->outcome.time_ns;
    }
    return mt_session_store_step(run->session, &run->subject, event ? &result : NULL, next ? next->request.variant : NULL, next ? next->worker_pid : 0, err);
}

/* The median to race against; 0 = timed to the end. What a person compares with is always measured. */
static double race_limit(const struct run *run, const struct trial *trial)
{
    size_t index = trial->request.index;
    bool is_compared_with = index == run->default_index || index == run->baseline_index;
    return run->session->params->no_race || is_compared_with || !isfinite(run->best_ns) ? 0 : run->best_ns;
}

static mt_status start(struct run *run, struct trial *trial, mt_error *err)
{
    mt_evaluator *evaluator = run->session->evaluator;
    trial->is_running = true;
    run->running = trial;
    evaluator->race_ns = race_limit(run, trial);
    evaluator->energy_ns = 0;
    evaluator->method = trial->is_anchor && trial->request.index == run->anchor.index ? mt_anchor_method(&run->anchor) : run->best_batch > 1 ? MT_TRIAL_GRAPH : MT_TRIAL_BY_LENGTH;
    return evaluator->ops->start(evaluator, trial->request.id, err);
}

/* Its time goes to the anchor's series. When it fails now, though it passed before, that is a result like any other: it has no standing any more. */
static mt_status on_anchor(struct run *run, const struct trial *trial, const mt_event *event, const struct trial *next, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_session *session = run->session;
    bool is_current = trial->request.index == run->anchor.index; /* the default may have taken its place meanwhile */
    if (event->outcome.kind != MT_OUTCOME_OK) {
        run->anchor.is_lost = is_current;
        return store(run, trial->variant, event, next, err);
    }
    mt_intent done = {.subject = &run->subject, .variant = trial->variant, .boot_id = session->boot_id};
    mt_intent intent = {.subject = &run->subject, .variant = next ? next->variant : NULL, .boot_id = session->boot_id, .worker_pid = next ? next->worker_pid : 0};
    MT_TRY(mt_store_next_intent(session->store, session->id, &done, next ? &intent : NULL, err));
    if (is_current) MT_TRY(mt_anchor_note(run->session, &run->subject, &run->anchor, trial->variant, &event->outcome, err));
done:
    return st;
}

static mt_status on_done(struct run *run, mt_event *event, mt_error *err)
{
    struct trial *trial = run->trials;
    while (trial && trial->request.id != event->trial) trial = trial->next;
    if (!trial) return MT_OK; /* dropped */
    bool frees_device = trial->is_running;
    if (frees_device) run->running = NULL;
    struct trial *next = frees_device && !run->is_stopping ? first_ready(run) : NULL;
    mt_status st = MT_OK;
    if (trial->is_anchor) {
        MT_TRY(on_anchor(run, trial, event, next, err));
    } else {
        MT_TRY(store(run, trial->variant, event, next, err));
        MT_TRY(count_evaluation(run, trial->request.index, trial->variant, &event->outcome, event, err));
    }
    free_trial(run, trial);
    if (next) MT_TRY(start(run, next, err));
done:
    return st;
}

static mt_status on_ready(struct run *run, const mt_event *event, mt_error *err)
{
    struct trial *trial = run->trials;
    while (trial && trial->request.id != event->trial) trial = trial->next;
    if (!trial || run->is_stopping) return MT_OK;
    trial->is_ready = true;
    trial->worker_pid = event->worker_pid;
    if (run->running) return MT_OK;
    mt_status st = store(run, NULL, NULL, trial, err);
    return st == MT_OK ? start(run, trial, err) : st;
}

/* ---- the loop ---- */

static bool next_followed(struct run *run, size_t *index)
{
    while (run->asked_at < run->session->point_count) {
        *index = run->session->points[run->asked_at++];
        if (!is_seen(run, *index)) return true;
    }
    return false;
}

/* The next point to evaluate; false when there is none for now. */
static bool next_point(struct run *run, size_t *index)
{
    if (run->session->is_follower) return next_followed(run, index);
    while (run->first_count > 0) {
        *index = run->first[0];
        run->first[0] = run->first[1];
        run->first_count--;
        if (!is_seen(run, *index)) return true;
    }
    for (;;) {
        if (run->asked_at == run->asked_count) {
            size_t left = run->total - run->summary->evaluated - run->under_way;
            int64_t before = mt_clock_now_ns();
            run->asked_at = 0;
            run->asked_count = run->strategy->ask(run->state, run->asked, left < ASK_BATCH ? left : ASK_BATCH);
            run->session->times.search_ns += mt_clock_now_ns() - before;
            if (run->asked_count == 0) return false;
        }
        *index = run->asked[run->asked_at++];
        if (!is_seen(run, *index)) return true;
    }
}

/* Not run again: stored once, and known from then on. */
static mt_status refuse(struct run *run, size_t index, const char *variant, const char *reason, mt_error *err)
{
    mt_event event = {.kind = MT_EVENT_DONE};
    mt_outcome_set(&event.outcome, MT_OUTCOME_QUARANTINED, "%s", reason);
    mt_status st = store(run, variant, &event, NULL, err);
    if (st == MT_OK) st = count_evaluation(run, index, variant, &event.outcome, &event, err);
    mt_event_free(&event);
    return st;
}

/* Takes `variant`. retime: as in mt_trial. */
static mt_status hand_over(struct run *run, size_t index, char *variant, uint32_t retime, mt_error *err)
{
    mt_evaluator *evaluator = run->session->evaluator;
    struct trial *trial = mt_alloc(1, sizeof *trial);
    if (!trial) {
        mt_free(variant);
        return no_memory(err);
    }
    trial->variant = variant;
    trial->is_anchor = retime > 0;
    trial->request = (mt_trial){++run->session->last_trial, run->number, index, variant, retime};
    struct trial **last = &run->trials;
    while (*last && !trial->is_anchor) last = &(*last)->next;
    trial->next = *last;
    *last = trial;
    run->under_way++;
    return evaluator->ops->submit(evaluator, &trial->request, err);
}

static mt_status submit(struct run *run, size_t index, mt_error *err)
{
    char *variant = variant_text(run, index);
    if (!variant) return no_memory(err);
    mark_seen(run, index);
    const char *reason = mt_history_quarantine(&run->history, index);
    if (reason) {
        mt_status st = refuse(run, index, variant, reason, err);
        mt_free(variant);
        return st;
    }
    return hand_over(run, index, variant, 0, err);
}

/* Ahead of what is compiled but not started: its turn comes next. */
static mt_status submit_anchor(struct run *run, mt_error *err)
{
    char *variant = variant_text(run, run->anchor.index);
    if (!variant) return no_memory(err);
    run->anchor.is_under_way = true;
    return hand_over(run, run->anchor.index, variant, ANCHOR_SAMPLES, err);
}

static mt_status fill(struct run *run, mt_error *err)
{
    mt_evaluator *evaluator = run->session->evaluator;
    size_t capacity = evaluator->ops->capacity(evaluator), index;
    if (mt_anchor_is_due(run->session, &run->anchor) && run->summary->evaluated + run->under_way < run->total) {
        mt_status st = submit_anchor(run, err);
        if (st != MT_OK) return st;
    }
    while (run->under_way < capacity && run->summary->evaluated + run->under_way < run->total && next_point(run, &index)) {
        mt_status st = submit(run, index, err);
        if (st != MT_OK) return st;
    }
    return MT_OK;
}

static void check_stop(struct run *run)
{
    mt_evaluator *evaluator = run->session->evaluator;
    if (run->is_stopping) return;
    run->summary->interrupted = run->session->interrupts > 0;
    run->summary->out_of_time = !run->summary->interrupted && run->summary->evaluated < run->total && mt_clock_now_ns() >= run->deadline_ns;
    run->is_stopping = run->summary->interrupted || run->summary->out_of_time;
    if (run->is_stopping) evaluator->ops->cancel(evaluator, false);
}

static mt_status handle(struct run *run, mt_event *event, mt_error *err)
{
    const mt_progress *progress = run->session->params->progress;
    mt_status st = MT_OK;
    if (event->kind == MT_EVENT_DONE)
        st = on_done(run, event, err);
    else if (event->kind == MT_EVENT_READY)
        st = on_ready(run, event, err);
    else if (progress && progress->tick)
        progress->tick(progress->context);
    mt_event_free(event);
    return st;
}

static mt_status loop(struct run *run, mt_error *err)
{
    mt_evaluator *evaluator = run->session->evaluator;
    for (;;) {
        uv_run(run->session->loop, UV_RUN_NOWAIT); /* signals also reach a session whose evaluator never waits */
        check_stop(run);
        mt_status st = run->is_stopping ? MT_OK : fill(run, err);
        if (st != MT_OK) return st;
        if (run->session->interrupts > 1) return MT_OK; /* the running variant was killed with the worker; its intent is no strike */
        if (run->is_stopping ? !run->running : run->under_way == 0) return MT_OK;
        mt_event event;
        st = evaluator->ops->next(evaluator, &event, err);
        if (st == MT_OK) st = handle(run, &event, err);
        if (st != MT_OK) return st;
    }
}

static void free_run(struct run *run)
{
    while (run->trials) free_trial(run, run->trials);
    if (run->strategy) run->strategy->destroy(run->state);
    mt_history_free(&run->history);
    mt_space_free(run->space);
    mt_free(run->seen);
    mt_free(run->best);
    mt_free(run->cubin.path);
}

static mt_status tune(struct run *run, char **best, mt_error *err)
{
    const mt_progress *progress = run->session->params->progress;
    mt_status st = MT_OK;
    if (progress && progress->subject_begin)
        progress->subject_begin(progress->context, run->space, run->target->workload, run->strategy ? run->strategy->name : "the same points", run->total, mt_space_raw_count(run->space));
    MT_TRY(count_known(run, err));
    MT_TRY(loop(run, err));
    if (run->session->interrupts == 0) MT_TRY(mt_session_final(run->session, &run->subject, run->number, run->space, &run->stored, &run->cubin, err));
    MT_TRY(mt_session_store_best(run->session, &run->subject, run->target, &run->cubin, run->summary, best, err));
    run->summary->seconds = (double)(mt_clock_now_ns() - run->started_ns) / 1e9;
    if (progress && progress->subject_end) progress->subject_end(progress->context, run->space, run->target->workload, run->summary);
done:
    return st;
}

mt_status mt_session_subject(mt_session *session, size_t number, const mt_session_target *target, int64_t deadline_ns, mt_subject_summary *summary, bool *is_skipped, mt_error *err)
{
    struct run run = {
        .session = session,
        .target = target,
        .number = number,
        .started_ns = mt_clock_now_ns(),
        .deadline_ns = deadline_ns,
        .summary = summary,
        .best_ns = INFINITY,
    };
    char *best = NULL;
    *summary = (mt_subject_summary){.regime = session->regime, .best_ns = INFINITY, .low_ns = INFINITY, .high_ns = INFINITY, .default_ns = INFINITY, .baseline_ns = INFINITY};
    mt_status st = set_up(&run, err);
    *is_skipped = st == MT_ERR_NOT_FOUND;
    if (st == MT_OK) st = tune(&run, &best, err);
    free_run(&run);
    mt_free(best);
    summary->best = NULL; /* was borrowed by subject_end */
    return st;
}
