/* One subject: its space, rows, strategy and first points; then the loop (session_loop.c), the final, and the winner. */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/base/times.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/session/session_run.h"
#include "tuner/space/launch/plan.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/spec/spec_json.h"

size_t mt_run_device_count(const mt_run *run)
{
    size_t count = run->session->evaluator->device_count;
    return count ? count : 1;
}

void mt_run_enter(mt_run *run, mt_run_phase phase)
{
    static const unsigned steps[MT_RUN_PHASE_COUNT] = {
        [MT_RUN_SETTING_UP] = 1u << MT_RUN_SEARCHING,
        [MT_RUN_SEARCHING] = 1u << MT_RUN_STOPPING | 1u << MT_RUN_FINAL,
        [MT_RUN_STOPPING] = 1u << MT_RUN_FINAL,
    };
    assert(steps[run->phase] & 1u << phase);
    run->phase = phase;
}

bool mt_run_has_seen(const mt_run *run, size_t index)
{
    return mt_index_map_get(&run->seen, index, NULL);
}

char *mt_run_variant_text(const mt_run *run, size_t index)
{
    mt_point point;
    mt_space_at(run->space, index, &point);
    return mt_point_text(mt_space_spec(run->space), &point);
}

/* ---- setting up ---- */

static void on_thought(void *context)
{
    mt_evaluator *evaluator = ((mt_run *)context)->session->evaluator;
    if (evaluator->ops->wake) evaluator->ops->wake(evaluator);
}

/* "auto" must be the same for all shards, or parts of the space would be nobody's: it goes by the largest one. */
static const mt_strategy *choose_auto(const mt_run *run)
{
    const mt_shard first = {0, run->session->params->shard.count};
    size_t budget = run->session->budget;
    return mt_strategy_auto(run->space, budget >= mt_shard_size(&first, run->space) ? SIZE_MAX : budget);
}

static mt_status choose_strategy(mt_run *run, mt_error *err)
{
    const mt_session_params *params = run->session->params;
    const char *name = params->strategy ? params->strategy : params->spec->strategy;
    run->strategy = params->own_strategy ? params->own_strategy : strcmp(name, "auto") == 0 ? choose_auto(run) : mt_strategy_find(name);
    if (!run->strategy) return MT_FAIL(err, MT_ERR_USAGE, "no strategy '%s'", name);
    if (run->strategy->splits) run->shard = params->shard;
    return MT_OK;
}

/* The fixed points that are not known, beside those that are; one that is named twice is one. */
static mt_status count_fixed(const mt_run *run, size_t *total, mt_error *err)
{
    const mt_history *history = &run->history;
    const mt_point_list *points = run->job->points;
    mt_index_map counted = {0};
    bool has_room = true;
    *total = history->known_count;
    for (size_t i = 0; i < history->known_count && has_room; i++) has_room = mt_index_map_put(&counted, history->known[i].index, 0);
    for (size_t i = 0; i < points->count && has_room; i++) {
        if (mt_index_map_get(&counted, points->items[i], NULL)) continue;
        has_room = mt_index_map_put(&counted, points->items[i], 0);
        ++*total;
    }
    mt_index_map_free(&counted);
    return has_room ? MT_OK : mt_no_memory("session", err);
}

/* How many evaluations are meant, the known ones included. */
static size_t count_total(const mt_run *run)
{
    const mt_session *session = run->session;
    const mt_history *history = &run->history;
    bool is_exact = mt_space_is_enumerated(run->space); /* an estimate must not cut a budget short */
    size_t count = mt_shard_size(&run->shard, run->space), shared = history->known_count - history->own_count;
    size_t total = session->budget < count || (!is_exact && session->budget != SIZE_MAX) ? session->budget : count;
    if (run->job->from != MT_POINTS_SEARCHED) total = run->job->points->count;
    if (run->shard.count <= 1 && session->budget < SIZE_MAX - shared) total += shared;
    if (is_exact && total > count && run->job->from == MT_POINTS_SEARCHED) total = count;
    return total < history->known_count ? history->known_count : total;
}

static bool has_model(const mt_run *run)
{
    return run->session->params->spec->model_time_ns.program != NULL;
}

/* What the space's author believes a point takes; NAN where the model has no time, which is no candidate for a first point. */
static double believe(const void *context, size_t index)
{
    mt_env *env = ((const mt_run *)context)->believed;
    mt_point point;
    mt_error ignored;
    double ns;
    mt_space_at(((const mt_run *)context)->space, index, &point);
    return mt_env_set_point(env, &point, &ignored) == MT_OK && mt_env_time_ns(env, &ns, &ignored) == MT_OK ? ns : NAN;
}

static mt_status correct(mt_run *run, mt_error *err)
{
    mt_session *session = run->session;
    char *expressions = mt_spec_json(session->params->spec), *facts = mt_facts_to_json(&session->evaluator->facts);
    mt_status st = expressions && facts ? mt_predictor_times_make(expressions, facts, &run->correction, err) : mt_no_memory("session", err);
    const mt_trees *trees = st == MT_OK && run->correction ? mt_predictor_times_correction(run->correction) : NULL;
    if (trees) st = mt_env_correct(run->believed, trees, err);
    mt_free(expressions);
    mt_free(facts);
    return st;
}

static mt_status start_believing(mt_run *run, mt_error *err)
{
    const mt_spec *spec = run->session->params->spec;
    mt_status st = mt_env_create(spec, run->job->target->shape, &run->session->evaluator->facts, &run->believed, err);
    return st == MT_OK && spec->model_correction ? correct(run, err) : st;
}

static mt_status start_search(mt_run *run, mt_error *err)
{
    mt_session *session = run->session;
    size_t hints[MT_HINTS_MAX], hint_count = 0;
    mt_status st = MT_OK;
    if (!session->params->is_quick) st = mt_session_hints(session, &run->subject, run->job->target, run->space, hints, &hint_count, err); /* the answers are of near shapes too */
    if (st == MT_OK && has_model(run)) st = start_believing(run, err);
    if (st != MT_OK) return st;
    const mt_search_setup setup = {.space = run->space, .seed = run->strategy->splits ? session->params->seed : mt_shard_seed(&session->params->shard, session->params->seed),
                                 .budget = run->total, .hints = hints, .hint_count = hint_count, .prior = has_model(run) ? believe : NULL, .prior_context = run, .shard = run->shard};
    return mt_search_create(session->loop, run->strategy, &setup, on_thought, run, &run->search, err);
}

/* What other tools measured has no default point, unless somebody wrote one into the search space: nothing is faster than what nobody named. */
static bool has_default(const mt_spec *spec)
{
    bool is_said = !spec->is_recorded;
    for (size_t i = 1; i < spec->param_count; i++) is_said = is_said || spec->params[i].has_default;
    return is_said;
}

/* Where the lookup's answer is another point than these: a search may not end with something slower. What is no point of this space (an older one's, say) is no start. */
static void add_answers(mt_run *run, size_t most)
{
    const mt_answers *answers = run->session->params->answers;
    const char *variants[MT_ANSWERS_MAX];
    size_t count = answers ? answers->find(answers->context, run->job->target->shape, run->job->target->workload, variants) : 0;
    for (size_t i = 0; i < count; i++) {
        mt_point point;
        mt_error ignored;
        size_t index, known = 0;
        if (mt_point_parse(mt_space_spec(run->space), variants[i], &point, &ignored) != MT_OK || !mt_space_find(run->space, &point, &index)) continue;
        while (known < run->first_count && run->first[known] != index) known++;
        if (known == run->first_count && run->first_count < most) run->first[run->first_count++] = index;
    }
}

enum { ANSWERS_OF_A_SEARCH = 4 };

static void add_first(mt_run *run, size_t index)
{
    for (size_t i = 0; i < run->first_count; i++)
        if (run->first[i] == index) return;
    run->first[run->first_count++] = index;
}

/* The points that a person compares with come first, so that an interrupted run has them. */
static void choose_first(mt_run *run)
{
    const mt_spec *spec = run->session->params->spec;
    mt_error error;
    bool is_quick = run->session->params->is_quick;
    run->default_index = run->baseline_index = MT_NO_POINT;
    if (is_quick) add_answers(run, has_model(run) ? MT_QUICK_ANSWERS_BESIDE_MODEL : MT_QUICK_EVALUATIONS - 1);
    if (!has_default(spec)) {
        run->default_index = MT_NO_POINT;
    } else if (mt_space_default(run->space, &run->default_index, &error) == MT_OK) {
        add_first(run, run->default_index);
    } else {
        run->default_index = MT_NO_POINT;
        mt_log_warn("%s: %s", run->job->target->shape->name, error.message);
    }
    if (spec->baseline && mt_space_variant_default(run->space, spec->baseline, &run->baseline_index, &error) == MT_OK) {
        add_first(run, run->baseline_index);
    } else if (spec->baseline) {
        run->baseline_index = MT_NO_POINT;
        mt_log_warn("%s: not compared with the baseline: %s", run->job->target->shape->name, error.message);
    }
    if (!is_quick) add_answers(run, run->first_count + ANSWERS_OF_A_SEARCH);
    if (spec->library && run->session->evaluator->is_recorded) snprintf(run->summary->library_why, sizeof run->summary->library_why, "%s: a recorded GPU runs no plugin", spec->library);
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        size_t index;
        if (spec->algorithms[i].is_yardstick && mt_space_variant_default(run->space, spec->algorithms[i].name, &index, &error) == MT_OK) add_first(run, index);
    }
}

static void keep_to_shard(mt_run *run)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->first_count; i++)
        if (mt_shard_has(&run->shard, run->space, run->first[i])) run->first[kept++] = run->first[i];
    run->first_count = kept;
}

/* Inputs and outputs that do not fit in the GPU's memory are this shape's end, not the session's. */
static mt_status check_memory(const mt_run *run, const mt_env *env, mt_error *err)
{
    mt_plan plan = {0};
    const mt_evaluator *evaluator = run->session->evaluator;
    double bytes = 0, most = (double)evaluator->facts.mem_bytes;
    mt_status st = mt_plan_reference(env, mt_reference_of(run->session->params->spec, NULL), &plan, err);
    for (size_t i = 0; i < plan.arg_count; i++)
        if (plan.args[i].kind == MT_ARG_TENSOR && plan.args[i].used) bytes += (double)plan.args[i].tensor.bytes;
    if (st == MT_OK && most > 0 && bytes > most) st = MT_FAIL(err, MT_ERR_NOT_FOUND, "its inputs and outputs take %.1f GB, the GPU's memory has %.1f GB", bytes / 1e9, most / 1e9);
    mt_plan_free(&plan);
    return st;
}

static mt_status make_model(mt_run *run, mt_error *err)
{
    mt_env *env = NULL;
    mt_status st = mt_env_create(run->session->params->spec, run->job->target->shape, &run->session->evaluator->facts, &env, err);
    if (st == MT_OK) st = mt_env_model(env, &run->model, err);
    if (st == MT_OK && !run->session->evaluator->is_recorded) st = check_memory(run, env, err);
    mt_env_free(env);
    return st;
}

static mt_status empty_space(const mt_run *run, mt_error *err)
{
    mt_strbuf rules = {0};
    mt_space_tell_pruned(run->space, &rules);
    mt_status st = MT_FAIL(err, MT_ERR_NOT_FOUND, "no valid variant%s%s", rules.length ? "; " : "", mt_strbuf_text(&rules));
    mt_strbuf_free(&rules);
    return st;
}

/* Nothing else looks at signals and the clock while a large space is enumerated. */
static mt_status watch_enumeration(void *context, mt_error *err)
{
    const mt_run *run = context;
    uv_run(run->session->loop, UV_RUN_NOWAIT);
    if (run->session->stop) return MT_FAIL(err, MT_ERR_INTERRUPTED, "interrupted while the points were enumerated");
    if (mt_clock_now_ns() < run->job->deadline_ns) return MT_OK;
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "the time was up before its points were enumerated: constraints that read fewer knobs prune earlier");
}

static mt_status store_comparison_points(const mt_run *run, mt_error *err)
{
    bool has_default = run->default_index != MT_NO_POINT, has_baseline = run->baseline_index != MT_NO_POINT;
    char *standard = has_default ? mt_run_variant_text(run, run->default_index) : NULL, *baseline = has_baseline ? mt_run_variant_text(run, run->baseline_index) : NULL;
    bool complete = has_default == !!standard && has_baseline == !!baseline;
    mt_status st = complete ? mt_session_store_comparison_points(run->session, &run->subject, standard, baseline, err) : mt_no_memory("session", err);
    mt_free(standard);
    mt_free(baseline);
    return st;
}

/* Workloads of a shape, and its cache states, have the same points, unless they come from a recording. */
static mt_status find_space(mt_run *run, mt_error *err)
{
    mt_session *session = run->session;
    mt_evaluator *evaluator = session->evaluator;
    const mt_space_watch watch = {watch_enumeration, run};
    bool is_same = session->space && !evaluator->ops->recorded_space && mt_space_shape(session->space) == run->job->target->shape;
    mt_status st = MT_OK;
    if (!is_same) {
        int64_t start_ns = mt_clock_now_ns();
        mt_space_free(session->space);
        session->space = NULL;
        st = mt_evaluator_space(evaluator, session->params->spec, run->job->target->shape, run->job->target->workload, run->job->l2, &watch, &session->space, err);
        mt_times_note("space", start_ns, run->job->target->shape->name);
    }
    run->space = session->space;
    if (st == MT_OK) mt_space_draw_until(run->space, run->job->deadline_ns == INT64_MAX ? 0 : run->job->deadline_ns);
    return st;
}

static mt_status set_up(mt_run *run, mt_error *err)
{
    mt_session *session = run->session;
    mt_evaluator *evaluator = session->evaluator;
    mt_status st = MT_OK;
    MT_TRY(find_space(run, err));
    if (mt_space_count(run->space) == 0) return empty_space(run, err);
    MT_TRY(make_model(run, err));
    MT_TRY(evaluator->ops->begin(evaluator, run->job->number, run->space, run->job->target->workload, run->job->l2, err));
    MT_TRY(mt_session_subject_rows(session, run->job, &run->subject, &run->summary->error_limit, err));
    MT_TRY(mt_session_store_pruned(session, &run->subject, run->space, err));
    if (run->job->from == MT_POINTS_SEARCHED) MT_TRY(choose_strategy(run, err));
    MT_TRY(mt_history_load(session, &run->subject, run->space, run->shard.count > 1 ? &run->shard : NULL, &run->history, err));
    MT_TRY(mt_store_best_batch(session->store, &run->subject, &run->best_batch, err));
    if (run->job->from == MT_POINTS_FIXED) MT_TRY(mt_session_fixed_points(session, run->job, &run->subject, run->space, err));
    if (run->job->from == MT_POINTS_FIXED) MT_TRY(count_fixed(run, &run->total, err));
    else run->total = count_total(run);
    choose_first(run);
    keep_to_shard(run);
    MT_TRY(store_comparison_points(run, err));
    if (run->job->from == MT_POINTS_SEARCHED) MT_TRY(start_search(run, err));
done:
    return st;
}

static void free_run(mt_run *run)
{
    mt_run_free_trials(run);
    if (run->search) run->session->times.search_ns += mt_search_spent_ns(run->search);
    mt_search_destroy(run->search);
    mt_env_free(run->believed);
    mt_predictor_times_free(run->correction);
    mt_history_free(&run->history);
    mt_index_map_free(&run->seen);
    MT_FREE_EACH(run->best, run->shared_best, run->cubin.path);
}

/* How the GPUs compare by the one variant that all of them were given. */
static void note_devices(mt_run *run)
{
    double first_ns = run->drift_references[0].first_ns;
    for (size_t i = 1; i < mt_run_device_count(run); i++) {
        mt_session_device *device = &run->session->devices[i];
        double ratio = run->drift_references[i].first_ns / first_ns;
        if (isfinite(ratio) && !(fabs(ratio - 1) <= fabs(device->ratio - 1))) device->ratio = ratio;
    }
}

static mt_status tune(mt_run *run, char **best, mt_error *err)
{
    const mt_progress *progress = run->session->params->progress;
    mt_status st = MT_OK;
    if (progress && progress->subject_begin)
        progress->subject_begin(progress->context, run->space, run->job->target->workload, run->strategy ? run->strategy->name : run->job->from == MT_POINTS_FIXED ? "none, fixed points" : "the same points", run->total, mt_space_raw_count(run->space));
    MT_TRY(mt_run_count_known(run, err));
    MT_TRY(mt_run_loop(run, err));
    note_devices(run);
    if (!mt_final_is_cut(run->session)) MT_TRY(mt_session_final(run->session, &run->subject, run->job->number, run->space, &run->stored, &run->cubin, run->summary, err));
    MT_TRY(mt_session_store_best(run->session, &run->subject, run->job->target, run->space, &run->cubin, run->summary, best, err));
    if (*best && run->best && strcmp(*best, run->best) == 0) {
        run->summary->best_sm_mhz = run->best_sm_mhz;
        run->summary->best_cycles = run->best_cycles;
    }
    run->summary->seconds = (double)(mt_clock_now_ns() - run->started_ns) / 1e9;
    run->summary->meant = run->total;
    MT_TRY(mt_session_note_flat(run->session, run->job->target, run->summary, err));
    MT_TRY(mt_session_note_cut(run->session, run->job->target, run->summary, run->total, err));
    if (progress && progress->subject_end) progress->subject_end(progress->context, run->space, run->job->target->workload, run->summary);
done:
    return st;
}

mt_status mt_session_subject(mt_session *session, const mt_subject_job *job, mt_subject_summary *summary, bool *is_skipped, mt_error *err)
{
    mt_run run = {
        .session = session,
        .job = job,
        .started_ns = mt_clock_now_ns(),
        .summary = summary,
        .best_ns = INFINITY,
    };
    char *best = NULL;
    for (size_t i = 0; i < MT_DEVICES_MAX; i++) run.drift_references[i] = (mt_drift_reference){.index = MT_NO_POINT, .first_ns = NAN};
    *summary = (mt_subject_summary){.l2 = job->l2, .wanted = session->params->objective, .best_ns = INFINITY, .low_ns = INFINITY, .high_ns = INFINITY, .shared_ns = INFINITY, .default_ns = INFINITY, .baseline_ns = INFINITY};
    mt_status st = set_up(&run, err);
    /* One of several shapes that can't be (a size of 0 that production asked for, say) does not keep the others waiting. */
    *is_skipped = st == MT_ERR_NOT_FOUND || (st == MT_ERR_SPEC && session->params->shape_count > 1);
    if (st == MT_OK) st = tune(&run, &best, err);
    free_run(&run);
    mt_free(best);
    summary->best = summary->shared_best = NULL; /* were borrowed by subject_end */
    return st;
}
