/* A whole command: which subjects, how long each, Ctrl-C, the session row. */
#include "tuner/session/session.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/stop_signals.h"
#include "tuner/base/text.h"
#include "tuner/session/session_internal.h"

struct signals {
    uv_signal_t handles[MT_STOP_SIGNALS_MAX];
    size_t count, open;
    mt_session *session;
    int64_t first_ns; /* clock */
};

/* A batch system tells both the process group and the script, which passes it on; of a terminal that is closed the kernel and the shell tell: one end, told twice. */
#define MT_SAME_SIGNAL_NS 500000000

/* First: the running variant ends, and everything is kept. Second: it is killed. */
static void on_signal(uv_signal_t *handle, int number)
{
    struct signals *signals = handle->data;
    mt_session *session = signals->session;
    if (number != SIGINT && session->stop && mt_clock_now_ns() - signals->first_ns < MT_SAME_SIGNAL_NS) return;
    if (!session->stop) signals->first_ns = mt_clock_now_ns();
    session->stop = session->stop ? MT_STOP_NOW : MT_STOP_AFTER_RUNNING;
    session->result->interrupted = true;
    session->evaluator->ops->cancel(session->evaluator, session->stop == MT_STOP_NOW);
}

static void catch_signals(struct signals *signals, mt_session *session)
{
    int numbers[MT_STOP_SIGNALS_MAX];
    signals->session = session;
    signals->count = mt_stop_signals(numbers);
    for (size_t i = 0; i < signals->count; i++) {
        uv_signal_init(session->loop, &signals->handles[i]);
        signals->handles[i].data = signals;
        signals->open++;
        uv_signal_start(&signals->handles[i], on_signal, numbers[i]);
    }
}

static void on_signal_closed(uv_handle_t *handle)
{
    ((struct signals *)handle->data)->open--;
}

static void release_signals(struct signals *signals)
{
    for (size_t i = 0; i < signals->count; i++) uv_close((uv_handle_t *)&signals->handles[i], on_signal_closed);
    while (signals->open) uv_run(signals->session->loop, UV_RUN_ONCE);
}

mt_status mt_session_check_strategy(const char *name, mt_error *err)
{
    if (strcmp(name, "auto") == 0 || mt_strategy_find(name)) return MT_OK;
    const char *names[64] = {"auto"};
    size_t count = 1;
    for (size_t i = 0; i < mt_strategy_count() && count < 64; i++) names[count++] = mt_strategy_at(i)->name;
    const char *near = mt_text_nearest(name, names, count);
    return near ? MT_FAIL(err, MT_ERR_USAGE, "no strategy '%s', did you mean '%s'?", name, near) : MT_FAIL(err, MT_ERR_USAGE, "no strategy '%s'", name);
}

/* What picks are for; `why`: where that is not what was asked for. */
static mt_objective choose_objective(const mt_session_params *params, const mt_evaluator *evaluator, const char **why)
{
    bool is_possible = params->objective == MT_OBJECTIVE_TIME || (evaluator->can_retime && evaluator->energy != MT_ENERGY_NONE);
    *why = evaluator->is_recorded ? "a recording holds no energy" : "NVML tells neither energy nor power of this GPU";
    return is_possible ? params->objective : MT_OBJECTIVE_TIME;
}

static mt_status check_objective(mt_session *session, const char *why, mt_error *err)
{
    const mt_session_params *params = session->params;
    if (session->objective == params->objective) return MT_OK;
    if (params->objective_given) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "objective %s: %s", mt_objective_name(params->objective), why);
    mt_session_warn(session, "objective %s: %s; picked by time", mt_objective_name(params->objective), why);
    return MT_OK;
}

static const char *strategy_of(const mt_session_params *params)
{
    return params->strategy ? params->strategy : params->spec->strategy;
}

/* `exhaustive` asked for by name means the whole space: the file's limits are meant for searches. */
static bool has_no_limits(const mt_session_params *params)
{
    return strcmp(strategy_of(params), "exhaustive") == 0;
}

static size_t choose_budget(const mt_session_params *params)
{
    bool is_exhaustive = has_no_limits(params);
    if (params->is_quick) return MT_QUICK_EVALUATIONS;
    int64_t budget = params->budget_given || !is_exhaustive ? params->budget : 0;
    if (budget <= 0 && !is_exhaustive) budget = params->spec->budget;
    return budget > 0 ? (size_t)budget : SIZE_MAX;
}

static int64_t choose_deadline(const mt_session_params *params, const mt_evaluator *evaluator, int64_t started_ns)
{
    bool is_exhaustive = has_no_limits(params);
    double time_s = params->time_given || !is_exhaustive ? params->time_s : 0;
    if (time_s <= 0 && !is_exhaustive) time_s = params->spec->time_s;
    return time_s > 0 && time_s < 1e9 && !evaluator->is_recorded ? started_ns + (int64_t)(time_s * 1e9) : INT64_MAX;
}

/* Each subject may take an equal part of the time that is left, so that the first does not starve the others; what it leaves goes to them. */
static int64_t subject_deadline(const mt_session *session, size_t subjects_left)
{
    if (session->deadline_ns == INT64_MAX) return INT64_MAX;
    int64_t now = mt_clock_now_ns(), left = session->deadline_ns - now;
    return left <= 0 ? now : now + left / (int64_t)subjects_left;
}

static void skip(mt_session *session, const mt_session_target *target, const char *reason)
{
    const mt_progress *progress = session->params->progress;
    session->result->skipped++;
    if (progress && progress->skipped) progress->skipped(progress->context, target->shape->name, target->workload->name, reason);
}

/* `job` without a deadline: its own is a part of the session's. */
static mt_status run_subject(mt_session *session, mt_subject_job job, size_t subjects_left, mt_error *err)
{
    mt_subject_summary summary;
    bool is_skipped = false;
    if (mt_clock_now_ns() >= session->deadline_ns) {
        skip(session, job.target, "the time is up");
        return MT_OK;
    }
    job.deadline_ns = subject_deadline(session, subjects_left);
    mt_status st = mt_session_subject(session, &job, &summary, &is_skipped, err);
    if (is_skipped) {
        skip(session, job.target, err->message);
        return MT_OK;
    }
    if (st == MT_ERR_INTERRUPTED) return MT_OK; /* before its first variant; result->interrupted says so */
    if (st != MT_OK) return st;
    session->result->subjects++;
    session->result->with_winner += isfinite(summary.best_ns);
    session->result->known_elsewhere += !isfinite(summary.best_ns) && isfinite(summary.shared_ns);
    return MT_OK;
}

static mt_l2 other_l2(mt_l2 l2)
{
    return l2 == MT_L2_COLD ? MT_L2_WARM : MT_L2_COLD;
}

/* The other cache state of a subject comes right after it: the same points, so that the rows stand side by side. */
static mt_status run_targets(mt_session *session, const mt_session_target *targets, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_session_params *params = session->params;
    size_t each = params->both_l2 ? 2 : 1;
    mt_point_list points = {0};
    for (size_t i = 0; i < count && !session->stop; i++) {
        if (params->takes && !params->takes(params->takes_context, i)) continue;
        points.count = 0;
        mt_subject_job job = {.number = each * i, .target = &targets[i], .l2 = params->l2, .from = params->fixed ? MT_POINTS_FIXED : MT_POINTS_SEARCHED, .points = &points};
        MT_TRY(run_subject(session, job, each * (count - i), err));
        if (!params->both_l2 || session->stop || points.count == 0) continue;
        job.number++;
        job.l2 = other_l2(params->l2);
        if (!params->fixed) job.from = MT_POINTS_FOLLOWED;
        MT_TRY(run_subject(session, job, each * (count - i) - 1, err));
    }
done:
    mt_free(points.items);
    return st;
}

/* Fixed points are a few of many subjects: what untuned shapes are answered with is chosen when all have been measured, since the GPUs wait for it. Also after an error: what is stored counts. */
static void renew_predictors(mt_session *session)
{
    const mt_session_params *params = session->params;
    mt_error err;
    mt_status st = mt_session_renew_predictor(session, params->l2, &err);
    if (st == MT_OK && params->both_l2) st = mt_session_renew_predictor(session, other_l2(params->l2), &err);
    if (st != MT_OK) mt_session_warn(session, "what untuned shapes are answered with was not chosen anew: %s", err.message);
}

static mt_status judge(const mt_session *session, mt_error *err)
{
    const mt_session_result *result = session->result;
    bool is_part = session->params->shard.count > 1 && result->subjects > 0; /* that nothing of a part passes, or that it is empty, says nothing of the whole */
    if (result->with_winner || result->known_elsewhere || result->interrupted || is_part || session->params->takes) return MT_OK;
    if (result->subjects == 0) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "nothing was tuned: every shape was skipped");
    const mt_limit *limit = session->params->error_limit;
    const char *others = limit && limit->is_given ? ", the others have larger errors than --max-error, or were yardsticks or stopped as too slow" : ", the others were yardsticks or stopped as too slow";
    return MT_FAIL(err, MT_ERR_NOTHING_VALID, "no variant of %s passed: %lld of %lld failed%s", session->params->spec->name, (long long)session->failed, (long long)session->evaluated,
                   session->failed < session->evaluated ? others : "");
}

static void tell_how_to_resume(const mt_session *session, mt_status status, mt_error *err)
{
    const mt_evaluator *evaluator = session->evaluator;
    bool is_lost = false;
    for (size_t i = 0; i < evaluator->device_count; i++) is_lost |= evaluator->devices[i].is_lost;
    if (status == MT_OK || !is_lost) return;
    mt_error told = *err;
    mt_error_set(err, status, "%s\nwhat was measured is kept: with the GPU back, the same command goes on from there", told.message);
}

/* Between opening and closing the session row. */
static mt_status run_session(mt_session *session, const mt_session_target *targets, size_t count, mt_error *err)
{
    struct signals signals = {0};
    mt_status st = mt_session_open_rows(session, err);
    if (st != MT_OK) return st;
    catch_signals(&signals, session);
    st = run_targets(session, targets, count, err);
    if (session->params->fixed) renew_predictors(session);
    release_signals(&signals);
    if (st == MT_OK) st = judge(session, err); /* its row says so too */
    tell_how_to_resume(session, st, err);
    mt_error close_error;
    mt_status closed = mt_session_close_rows(session, st != MT_OK, st == MT_OK ? err : &close_error);
    session->result->worker_restarts = mt_evaluator_restarts(session->evaluator);
    return st != MT_OK ? st : closed;
}

mt_status mt_session_run(uv_loop_t *loop, const mt_session_params *params, mt_evaluator *evaluator, mt_store *store, mt_session_result *result, mt_error *err)
{
    mt_error own_error;
    const char *why;
    const int64_t started_ns = mt_clock_now_ns();
    mt_session session = {
        .loop = loop,
        .params = params,
        .kernel_key = *mt_evaluator_key(evaluator, &params->kernel_key),
        .evaluator = evaluator,
        .store = store,
        .origin = evaluator->is_recorded ? MT_ORIGIN_RECORDED : MT_ORIGIN_MEASURED,
        .started_ns = started_ns,
        .started_cpu_ns = mt_clock_thread_cpu_ns(),
        .deadline_ns = choose_deadline(params, evaluator, started_ns),
        .budget = choose_budget(params),
        .objective = choose_objective(params, evaluator, &why),
        .result = result,
        .drift = NAN,
    };
    mt_session_target *targets = NULL;
    size_t count = 0;
    mt_status st = MT_OK;
    for (size_t i = 0; i < MT_DEVICES_MAX; i++) session.devices[i].ratio = NAN;
    if (!err) err = &own_error; /* skipped subjects report by it */
    memset(result, 0, sizeof *result);
    if (!params->own_strategy) MT_TRY(mt_session_check_strategy(strategy_of(params), err));
    MT_TRY(check_objective(&session, why, err));
    MT_TRY(mt_session_plan(params, &targets, &count, err));
    if (params->progress && params->progress->planned) params->progress->planned(params->progress->context, params->both_l2 ? 2 * count : count);
    st = run_session(&session, targets, count, err);
done:
    mt_free(targets);
    mt_space_free(session.space);
    mt_strbuf_free(&session.notes);
    mt_strbuf_free(&session.flat);
    mt_strbuf_free(&session.cut);
    return st;
}
