#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/session/session_internal.h"

struct plan {
    mt_session_target *targets;
    size_t count, capacity;
};

static mt_status unknown_name(const mt_spec *spec, bool is_shape, const char *name, mt_error *err)
{
    const char *kind = is_shape ? "shape" : "workload", **names;
    size_t count = is_shape ? spec->shape_count : spec->workload_count;
    mt_strbuf list = {0};
    if (!(names = mt_alloc(count, sizeof *names))) return mt_no_memory("session", err);
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", names[i] = is_shape ? spec->shapes[i].name : spec->workloads[i].name);
    const char *near = mt_text_nearest(name, names, count);
    mt_status st = near ? MT_FAIL(err, MT_ERR_USAGE, "%s: no %s '%s', did you mean '%s'?", spec->path, kind, name, near)
                        : MT_FAIL(err, MT_ERR_USAGE, "%s: no %s '%s'; there are: %s", spec->path, kind, name, mt_strbuf_text(&list));
    mt_strbuf_free(&list);
    mt_free(names);
    return st;
}

static mt_status add(struct plan *plan, const mt_shape *shape, const mt_workload *workload, mt_error *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->targets[i].shape == shape && plan->targets[i].workload == workload) return MT_OK; /* asked for twice */
    }
    mt_session_target *added = MT_APPEND(plan->targets, plan->count, plan->capacity);
    if (!added) return mt_no_memory("session", err);
    *added = (mt_session_target){shape, workload};
    return MT_OK;
}

static mt_status add_named(struct plan *plan, const mt_spec *spec, const mt_shape *shape, const char *const *names, size_t count, mt_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const mt_workload *workload = mt_spec_workload(spec, names[i]);
        if (!workload) return unknown_name(spec, false, names[i], err);
        mt_status st = add(plan, shape, workload, err);
        if (st != MT_OK) return st;
    }
    return MT_OK;
}

/* The shape's own workloads; else those marked default; else the first. */
static mt_status add_defaults(struct plan *plan, const mt_spec *spec, const mt_shape *shape, mt_error *err)
{
    size_t before = plan->count;
    if (shape->workload_count) return add_named(plan, spec, shape, (const char *const *)shape->workloads, shape->workload_count, err);
    for (size_t i = 0; i < spec->workload_count; i++) {
        if (!spec->workloads[i].is_default) continue;
        mt_status st = add(plan, shape, &spec->workloads[i], err);
        if (st != MT_OK) return st;
    }
    return plan->count > before ? MT_OK : add(plan, shape, &spec->workloads[0], err);
}

static mt_status add_shape(struct plan *plan, const mt_session_params *params, const mt_shape *shape, mt_error *err)
{
    if (params->workload_count == 0) return add_defaults(plan, params->spec, shape, err);
    return add_named(plan, params->spec, shape, params->workloads, params->workload_count, err);
}

mt_status mt_session_plan_key(const mt_spec *spec, const mt_session_target *targets, size_t count, mt_hash *key, mt_error *err)
{
    mt_strbuf all = {0};
    mt_strbuf_add(&all, spec->rules_key.hex);
    for (size_t i = 0; i < count; i++)
        mt_strbuf_addf(&all, "\x1f%s\x1f%s\x1f%s", targets[i].shape->key, targets[i].workload->name, targets[i].workload->key);
    *key = mt_hash_text(mt_strbuf_text(&all));
    mt_status st = all.failed ? MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", spec->path) : MT_OK;
    mt_strbuf_free(&all);
    return st;
}

mt_status mt_session_plan(const mt_session_params *params, mt_session_target **targets, size_t *count, mt_error *err)
{
    const mt_spec *spec = params->spec;
    struct plan plan = {0};
    mt_status st = MT_OK;
    if (params->fixed) return mt_session_fixed_plan(params, targets, count, err);
    for (size_t i = 0; i < params->shape_count; i++) {
        const mt_shape *shape = mt_spec_shape(spec, params->shapes[i]);
        MT_TRY(shape ? add_shape(&plan, params, shape, err) : unknown_name(spec, true, params->shapes[i], err));
    }
    for (size_t i = 0; params->shape_count == 0 && i < spec->shape_count; i++) {
        if (spec->shapes[i].is_main) MT_TRY(add_shape(&plan, params, &spec->shapes[i], err));
    }
    *targets = plan.targets;
    *count = plan.count;
    plan.targets = NULL;
done:
    mt_free(plan.targets);
    return st;
}
