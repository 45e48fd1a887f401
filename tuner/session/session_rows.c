#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/job.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/times.h"
#include "tuner/evaluate/facts_json.h"
#include "tuner/predictor/table.h"
#include "tuner/session/session_internal.h"
#include "tuner/space/spec/spec_json.h"

static void read_boot_id(mt_session *session)
{
    char *text = NULL;
    size_t length;
    mt_error ignored;
    if (mt_file_read("/proc/sys/kernel/random/boot_id", 4096, &text, &length, &ignored) != MT_OK) return; /* no /proc: strikes for the host can't be told */
    text[strcspn(text, "\n")] = '\0';
    snprintf(session->boot_id, sizeof session->boot_id, "%s", text);
    mt_free(text);
}

static mt_status open_device(mt_session *session, mt_error *err)
{
    const mt_device_facts *facts = &session->evaluator->facts;
    mt_key_gpu(facts->name, facts->cc, facts->sm_count, facts->mem_bytes, facts->clock_mhz, session->gpu_key, sizeof session->gpu_key);
    char *json = mt_facts_to_json(facts);
    if (!json) return MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
    mt_device_row row = {session->gpu_key, facts->name, json};
    mt_status st = mt_store_device(session->store, &row, &session->device, err);
    mt_free(json);
    return st;
}

static mt_status begin_session_row(mt_session *session, mt_error *err)
{
    const mt_session_params *params = session->params;
    char host[256] = "", job[MT_JOB_SIZE];
    mt_job_text(job);
    gethostname(host, sizeof host - 1);
    mt_session_row row = {
        .command = params->command ? params->command : "",
        .host = host,
        .boot_id = session->boot_id,
        .tool_version = MT_VERSION,
        .strategy = params->strategy ? params->strategy : params->spec->strategy,
        .space_path = params->spec->path,
        .job = *job ? job : NULL,
        .plan = params->plan,
        .headers = session->evaluator->headers,
        .seed = (int64_t)params->seed,
        .origin = session->origin,
    };
    mt_status st = session->evaluator->is_recorded ? mt_store_relax(session->store, err) : MT_OK;
    return st == MT_OK ? mt_store_session_begin(session->store, &row, &session->id, err) : st;
}

mt_status mt_session_open_rows(mt_session *session, mt_error *err)
{
    const mt_session_params *params = session->params;
    const mt_evaluator *evaluator = session->evaluator;
    int64_t before = mt_clock_now_ns(), left_behind = 0;
    char *programs = mt_spec_json(params->spec); /* what the lookup library evaluates */
    mt_kernel_row kernel = {.name = params->spec->name, .key = session->kernel_key.hex, .spec_json = evaluator->programs ? evaluator->programs : programs};
    mt_toolchain_row toolchain = {evaluator->facts.nvrtc_version, evaluator->facts.driver_version, evaluator->arch};
    mt_status st = programs ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
    if (st != MT_OK) return st;
    read_boot_id(session);
    MT_TRY(open_device(session, err));
    MT_TRY(mt_store_kernel(session->store, &kernel, &session->kernel, err));
    MT_TRY(mt_store_toolchain(session->store, &toolchain, &session->toolchain, err));
    MT_TRY(mt_store_settle_intents(session->store, session->device, session->origin, session->boot_id, &left_behind, err));
    MT_TRY(begin_session_row(session, err));
done:
    mt_free(programs);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

/* The last word on times: what the session summed up, and what others counted. */
static void complete_times(mt_session *session)
{
    const mt_evaluator *evaluator = session->evaluator;
    mt_session_times *times = &session->times;
    times->device_count = evaluator->device_count ? evaluator->device_count : 1;
    times->device_ns = 0;
    times->idle_setup_ns = times->idle_no_compiled_ns = times->idle_dispatch_ns = 0;
    for (size_t i = 0; i < times->device_count; i++) {
        const mt_session_device *device = &session->devices[i];
        times->device_ns += device->busy_ns;
        times->idle_setup_ns += device->idle_setup_ns;
        times->idle_no_compiled_ns += device->idle_no_compiled_ns;
        times->idle_dispatch_ns += device->idle_dispatch_ns;
    }
    times->total_ns = mt_clock_now_ns() - session->started_ns;
    times->coordinator_cpu_ns = mt_clock_thread_cpu_ns() - session->started_cpu_ns;
    if (evaluator->ops->count) evaluator->ops->count(evaluator, &times->compiles);
    session->result->times = *times;
}

static void describe_devices(const mt_session *session, mt_strbuf *json)
{
    const mt_evaluator *evaluator = session->evaluator;
    for (size_t i = 0; i < evaluator->device_count; i++) {
        const mt_session_device *device = &session->devices[i];
        mt_strbuf_addf(json, "%s{\"gpu\":%d,\"started\":%lld,\"busy_ns\":%lld", i ? "," : "", evaluator->devices[i].ordinal, (long long)device->started, (long long)device->busy_ns);
        mt_strbuf_addf(json, ",\"idle_setup_ns\":%lld,\"idle_no_compiled_ns\":%lld,\"idle_dispatch_ns\":%lld", (long long)device->idle_setup_ns, (long long)device->idle_no_compiled_ns, (long long)device->idle_dispatch_ns);
        if (isfinite(device->ratio)) mt_strbuf_addf(json, ",\"drift_reference_ratio\":%.5f", device->ratio);
        mt_strbuf_addf(json, "%s}", device->is_lost ? ",\"lost\":true" : "");
    }
}

static void describe_times(const mt_session *session, mt_strbuf *json)
{
    const mt_session_times *times = &session->times;
    mt_strbuf_addf(json, "{\"compile_ns\":%lld,\"wait_ns\":%lld,\"validate_ns\":%lld,\"time_ns\":%lld,\"device_ns\":%lld,", (long long)times->compile_ns, (long long)times->wait_ns,
        (long long)times->validate_ns, (long long)times->time_ns, (long long)times->device_ns);
    mt_strbuf_addf(json, "\"database_ns\":%lld,\"search_ns\":%lld,\"total_ns\":%lld,\"gpus\":%zu,", (long long)times->database_ns, (long long)times->search_ns,
        (long long)times->total_ns, times->device_count);
    mt_strbuf_addf(json, "\"coordinator_cpu_ns\":%lld,", (long long)times->coordinator_cpu_ns);
    mt_strbuf_addf(json, "\"compiled\":%zu,\"cached\":%zu,\"shared\":%zu,\"devices\":[", times->compiles.compiled, times->compiles.cached, times->compiles.shared);
    describe_devices(session, json);
    mt_strbuf_add(json, "]");
    if (session->flat.length) mt_strbuf_addf(json, ",\"flat\":[%s]", mt_strbuf_text(&session->flat));
    mt_strbuf_add(json, "}");
}

mt_status mt_session_note_flat(mt_session *session, const mt_session_target *target, const mt_subject_summary *summary, mt_error *err)
{
    mt_strbuf *flat = &session->flat;
    if (!summary->is_flat) return MT_OK;
    mt_strbuf_addf(flat, "%s{\"shape\":", flat->length ? "," : "");
    mt_strbuf_add_json(flat, target->shape->name);
    mt_strbuf_add(flat, ",\"workload\":");
    mt_strbuf_add_json(flat, target->workload->name);
    mt_strbuf_addf(flat, ",\"evaluated\":%zu,\"of\":%zu,\"expected_gain\":%.6f}", summary->evaluated, summary->meant, summary->expected_gain);
    return flat->failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory") : MT_OK;
}

mt_status mt_session_note_cut(mt_session *session, const mt_session_target *target, const mt_subject_summary *summary, size_t total, mt_error *err)
{
    mt_strbuf *cut = &session->cut;
    bool is_interrupted = summary->end == MT_SUBJECT_INTERRUPTED;
    if (summary->end == MT_SUBJECT_COMPLETE) return MT_OK;
    session->result->cut++;
    mt_strbuf_addf(cut, "%s%s", cut->length ? "\n" : "", target->shape->name);
    if (target->workload->key[0]) mt_strbuf_addf(cut, ", %s", target->workload->name);
    mt_strbuf_addf(cut, ": truncated after %zu of %zu evaluations (%s); the same command %scompletes it", summary->evaluated, total, is_interrupted ? "interrupted" : "the time was up",
        is_interrupted ? "" : "with a larger --time ");
    return cut->failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory") : MT_OK;
}

void mt_session_warn(mt_session *session, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mt_log_warn("%s", text);
    mt_strbuf_addf(&session->notes, "%s%s", session->notes.length ? "\n" : "", text);
}

static void add_lines(mt_strbuf *warnings, const mt_strbuf *lines)
{
    if (lines->length) mt_strbuf_addf(warnings, "%s%s", warnings->length ? "\n" : "", lines->text);
}

/* Rows of all GPUs are ranked together; what the finalists' comparison on one of them can't see is left. */
static void warn_of_unequal(const mt_session *session, mt_strbuf *warnings)
{
    static const double limit = 0.02;
    const mt_evaluator *evaluator = session->evaluator;
    for (size_t i = 1; i < evaluator->device_count; i++) {
        char text[160];
        double ratio = session->devices[i].ratio;
        if (!(fabs(ratio - 1) > limit)) continue;
        snprintf(text, sizeof text, "GPU %d is %.1f %% %s than GPU %d: times of the two are ranked together", evaluator->devices[i].ordinal, 100 * fabs(ratio - 1),
            ratio > 1 ? "slower" : "faster", evaluator->devices[0].ordinal);
        mt_log_warn("%s", text);
        mt_strbuf_addf(warnings, "%s%s", warnings->length ? "\n" : "", text);
    }
}

/* Within it variants that were timed at different moments can still be told apart by as much; the finalists are timed in turns anyway. */
static void warn_of_drift(const mt_session *session, mt_strbuf *warnings)
{
    static const double limit = 0.02;
    char text[160];
    if (!(session->drift > limit)) return;
    snprintf(text, sizeof text, "the same variant's time moved by %.1f %% during the session: clocks, heat or other load", 100 * session->drift);
    mt_log_warn("%s", text);
    mt_strbuf_addf(warnings, "%s%s", warnings->length ? "\n" : "", text);
}

mt_status mt_session_close_rows(mt_session *session, bool failed, mt_error *err)
{
    mt_strbuf times = {0};
    complete_times(session);
    describe_times(session, &times);
    mt_strbuf warnings = {0};
    mt_strbuf_add(&warnings, session->evaluator->warning);
    warn_of_drift(session, &warnings);
    warn_of_unequal(session, &warnings);
    add_lines(&warnings, &session->notes);
    add_lines(&warnings, &session->cut);
    mt_session_end_row row = {
        .state = failed ? "failed" : session->stop ? "interrupted" : "done",
        .worker_restarts = mt_evaluator_restarts(session->evaluator),
        .evaluated = session->evaluated,
        .known = session->known,
        .failed = session->failed,
        .is_truncated = session->cut.length > 0,
        .times_json = times.failed ? NULL : mt_strbuf_text(&times),
        .warnings = warnings.length ? mt_strbuf_text(&warnings) : NULL,
        .drift = session->drift,
    };
    mt_status st = mt_store_session_end(session->store, session->id, &row, err);
    mt_strbuf_free(&times);
    mt_strbuf_free(&warnings);
    return st;
}

/* Inputs from files are another distribution than the one that the workload generates: they make a workload of their own. */
static mt_status workload_row(const mt_session *session, const mt_session_target *target, mt_strbuf *name, mt_strbuf *key, mt_error *err)
{
    const mt_hash *inputs = session->params->inputs;
    mt_strbuf_add(name, target->workload->name);
    mt_strbuf_add(key, target->workload->key);
    if (inputs) {
        mt_strbuf_addf(name, "+inputs-%.8s", inputs->hex);
        mt_strbuf_addf(key, "%sinputs=%s", key->length ? ";" : "", inputs->hex);
    }
    return name->failed || key->failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory") : MT_OK;
}

mt_status mt_session_subject_rows(mt_session *session, const mt_subject_job *job, mt_subject *subject, mt_limit *limit, mt_error *err)
{
    const mt_session_target *target = job->target;
    int64_t before = mt_clock_now_ns();
    mt_strbuf name = {0}, key = {0};
    mt_shape_row shape = {target->shape->name, target->shape->key};
    *subject = (mt_subject){
        .device = session->device,
        .kernel = session->kernel,
        .toolchain = session->toolchain,
        .headers = session->evaluator->headers,
        .l2 = job->l2,
        .origin = session->origin,
    };
    mt_status st = workload_row(session, target, &name, &key, err);
    mt_shape_row workload = {mt_strbuf_text(&name), mt_strbuf_text(&key)};
    if (st == MT_OK) st = mt_store_shape(session->store, session->kernel, &shape, &subject->shape, err);
    if (st == MT_OK) st = mt_store_workload(session->store, session->kernel, &workload, &subject->workload, err);
    if (st == MT_OK && session->params->error_limit) st = mt_store_set_error_limit(session->store, subject, session->params->error_limit, err);
    if (st == MT_OK) st = mt_store_error_limit(session->store, subject, limit, err);
    mt_strbuf_free(&name);
    mt_strbuf_free(&key);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

mt_status mt_session_store_pruned(mt_session *session, const mt_subject *subject, const mt_space *space, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_status st = mt_store_begin(session->store, err);
    if (st != MT_OK) return st;
    for (size_t kind = 0; kind < mt_space_pruned_kinds(space) && st == MT_OK; kind++) {
        const char *name = NULL, *why = NULL;
        bool is_exact;
        uint64_t count = mt_space_pruned(space, kind, &name, &why, &is_exact);
        if (count == 0) continue;
        st = mt_store_pruned(session->store, session->id, subject, name, why, count > INT64_MAX ? INT64_MAX : (int64_t)count, err);
    }
    if (st == MT_OK) st = mt_store_commit(session->store, err);
    else mt_store_rollback(session->store);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

mt_status mt_session_store_comparison_points(mt_session *session, const mt_subject *subject, const char *default_variant, const char *baseline_variant, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_status st = mt_store_comparison_point(session->store, subject, "default", default_variant, err);
    if (st == MT_OK) st = mt_store_comparison_point(session->store, subject, "baseline", baseline_variant, err);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

/* What an outcome means for the variant's next run. A recording runs nothing, so that nothing can strike. */
static const char *strike_cause(const mt_session *session, const mt_result *result)
{
    if (session->origin != MT_ORIGIN_MEASURED || !result) return NULL;
    switch (result->outcome->kind) {
    case MT_OUTCOME_CRASHED: return "crashed";
    case MT_OUTCOME_TIMEOUT: return "timeout";
    case MT_OUTCOME_GPU_FAULT: return result->outcome->guilt == MT_GUILT_SHOWN ? "fault" : "fault_once";
    default: return NULL;
    }
}

mt_status mt_session_store_step(mt_session *session, const mt_subject *subject, const mt_result *result, const char *next_variant, int64_t worker_pid, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_intent intent = {.subject = subject, .variant = next_variant, .boot_id = session->boot_id, .worker_pid = worker_pid};
    const char *cause = strike_cause(session, result);
    mt_status st = cause ? mt_store_begin(session->store, err) : MT_OK;
    if (st != MT_OK) return st;
    st = mt_store_step(session->store, session->id, result, next_variant ? &intent : NULL, err);
    if (cause && st == MT_OK) st = mt_store_strike(session->store, subject, result->variant, cause, err);
    if (cause && st == MT_OK) st = mt_store_commit(session->store, err);
    else if (cause) mt_store_rollback(session->store);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

/* A cubin that has gone from the cache costs the lookup a compile, nothing else. */
mt_status mt_session_keep_cubin(mt_session *session, const mt_winner_cubin *winner, mt_error *err)
{
    const mt_hash *cubin = &winner->hash;
    const char *path = winner->path;
    if (!path || session->origin != MT_ORIGIN_MEASURED) return MT_OK;
    char *bytes = NULL;
    size_t count;
    mt_error error;
    if (mt_file_read(path, 0, &bytes, &count, &error) != MT_OK) {
        mt_log_warn("the winner's cubin is not kept: %s", error.message);
        return MT_OK;
    }
    mt_hash found = mt_hash_bytes(bytes, count);
    mt_status st = strcmp(found.hex, cubin->hex) == 0 ? mt_store_cubin(session->store, cubin, bytes, count, err) : MT_OK;
    mt_free(bytes);
    return st;
}

struct winner {
    const mt_space *space;
    mt_subject_summary *summary;
    bool is_elsewhere; /* a faster variant is known, which this space does not have */
    char *text;
};

/* A row of a point that the file no longer describes, with values or constraints of now, is none of this search's. */
static bool has_variant(const mt_space *space, const char *variant)
{
    mt_point point;
    mt_error ignored;
    size_t index;
    return mt_point_parse(mt_space_spec(space), variant, &point, &ignored) == MT_OK && mt_space_find(space, &point, &index);
}

static mt_status on_best(void *context, const mt_measurement_row *row, mt_error *err)
{
    struct winner *winner = context;
    if (winner->text) return MT_OK;
    if (!has_variant(winner->space, row->variant)) {
        winner->is_elsewhere = true;
        return MT_OK;
    }
    winner->text = mt_strdup(row->variant);
    if (!winner->text) return MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
    winner->summary->best_ns = row->outcome.timing.median_ns;
    winner->summary->low_ns = mt_timing_low_ns(&row->outcome.timing);
    winner->summary->high_ns = mt_timing_high_ns(&row->outcome.timing);
    winner->summary->objective = row->objective;
    winner->summary->energy = row->outcome.energy;
    winner->summary->is_programmatic = row->is_programmatic;
    winner->summary->library = row->library;
    if (row->library.plugin[0]) winner->summary->is_limited = row->library.is_limited;
    winner->summary->tied = row->tied_count > 1 ? (size_t)row->tied_count - 1 : 0;
    return MT_OK;
}

/* Counts no time: whoever calls it counts, so that nothing is counted twice. */
static mt_status renew_predictor(mt_session *session, mt_l2 l2, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    const mt_portfolio_group group = {session->kernel, session->device, l2, session->origin};
    mt_status st = mt_predictor_refresh(session->store, &group, NULL, err);
    mt_times_note("predictor", before, NULL);
    return st;
}

mt_status mt_session_renew_predictor(mt_session *session, mt_l2 l2, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    mt_status st = renew_predictor(session, l2, err);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

mt_status mt_session_store_best(mt_session *session, const mt_subject *subject, const mt_session_target *target, const mt_space *space, const mt_winner_cubin *cubin, mt_subject_summary *summary,
    char **best, mt_error *err)
{
    int64_t before = mt_clock_now_ns();
    struct winner winner = {.space = space, .summary = summary};
    mt_strbuf name = {0}, key = {0};
    mt_status st = MT_OK;
    MT_TRY(workload_row(session, target, &name, &key, err));
    mt_filter filter = {
        .gpu = session->gpu_key,
        .kernel = session->params->spec->name,
        .kernel_key = session->kernel_key.hex,
        .shape_key = target->shape->key,
        .workload_key = mt_strbuf_text(&key),
        .origin = &session->origin,
        .l2 = &subject->l2,
    };
    MT_TRY(mt_session_keep_cubin(session, cubin, err));
    MT_TRY(mt_store_refresh_best(session->store, subject, err));
    if (!session->params->fixed) MT_TRY(renew_predictor(session, subject->l2, err));
    summary->best_ns = summary->low_ns = summary->high_ns = INFINITY;
    MT_TRY(mt_query_best(session->store, &filter, on_best, &winner, err));
    if (winner.is_elsewhere) {
        mt_session_warn(session, "%s: the winner that the database knows is no point of the search space as it is now; the summary tells the fastest that is one", target->shape->name);
        MT_TRY(mt_query_fastest(session->store, &filter, INT64_MAX, on_best, &winner, err));
    }
    *best = winner.text;
    winner.text = NULL;
    summary->best = *best;
done:
    mt_strbuf_free(&name);
    mt_strbuf_free(&key);
    mt_free(winner.text);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}
