/* Sessions that measure fixed points instead of searching: `msda-tune portfolio --measure`. */
#include <math.h>

#include "db/store/portfolio_rows.h"
#include "tuner/base/alloc.h"
#include "tuner/session/session_internal.h"

mt_status mt_session_fixed_plan(const mt_session_params *params, mt_session_target **targets, size_t *count, mt_error *err)
{
    *targets = mt_alloc(params->fixed_count + 1, sizeof **targets);
    if (!*targets) return MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
    for (size_t i = 0; i < params->fixed_count; i++) (*targets)[i] = (mt_session_target){params->fixed[i].shape, params->fixed[i].workload};
    *count = params->fixed_count;
    return MT_OK;
}

mt_status mt_point_list_add(mt_point_list *list, size_t index, mt_error *err)
{
    size_t *added = MT_APPEND(list->items, list->count, list->capacity);
    if (!added) return MT_FAIL(err, MT_ERR_NO_MEMORY, "session: out of memory");
    *added = index;
    return MT_OK;
}

/* What a GPU would answer changes with the file's expressions, so the row names them; what a recording answers does not. */
static mt_status set_excluded(mt_session *session, const mt_space *space, const mt_point *point, mt_outcome *outcome, mt_error *err)
{
    const char *name, *why;
    if (!session->evaluator->is_recorded) {
        outcome->kind = MT_OUTCOME_EXCLUDED;
        return mt_query_spec_digest(session->store, session->kernel, outcome->spec_digest, err);
    }
    if (point && mt_space_excluded_by(space, point, &name, &why)) mt_outcome_set(outcome, MT_OUTCOME_EXCLUDED, "'%s' excludes it: %s", name, why);
    else outcome->kind = MT_OUTCOME_NOT_RECORDED;
    return MT_OK;
}

/* `point`: NULL = the file has no such point. */
static mt_status store_excluded(mt_session *session, const mt_subject *subject, const mt_space *space, const mt_point *point, const char *variant, mt_error *err)
{
    mt_outcome outcome = {0};
    mt_status st = set_excluded(session, space, point, &outcome, err);
    if (st != MT_OK) return st;
    mt_result result = {.subject = subject, .variant = variant, .model_flops = NAN, .model_dram_bytes = NAN, .model_floor_ns = NAN, .outcome = &outcome};
    st = mt_store_step(session->store, session->id, &result, NULL, err);
    mt_outcome_free(&outcome);
    return st;
}

mt_status mt_session_fixed_points(mt_session *session, const mt_subject_job *job, const mt_subject *subject, const mt_space *space, mt_error *err)
{
    mt_status st = MT_OK;
    job->points->count = 0;
    for (size_t i = 0; i < session->params->fixed_count; i++) {
        const mt_session_fixed *fixed = &session->params->fixed[i];
        if (fixed->shape != job->target->shape || fixed->workload != job->target->workload) continue;
        for (size_t v = 0; v < fixed->variant_count && st == MT_OK; v++) {
            mt_point point;
            mt_error ignored;
            size_t index;
            bool is_point = mt_point_parse(mt_space_spec(space), fixed->variants[v], &point, &ignored) == MT_OK;
            bool exists = is_point && mt_space_find(space, &point, &index);
            st = exists ? mt_point_list_add(job->points, index, err) : store_excluded(session, subject, space, is_point ? &point : NULL, fixed->variants[v], err);
        }
    }
    return st;
}
