#include "tuner/evaluate/candidate.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

static char *launched_by(const mt_plan *plan)
{
    mt_strbuf text = {0};
    for (size_t i = 0; i < plan->launch_count; i++)
        if (plan->launches[i].from->phase == MT_LAUNCH_TIMED) mt_strbuf_addf(&text, "%s\n", plan->launches[i].entry);
    char *entries = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    return entries;
}

/* The C++ names among them, which NVRTC is asked for. */
static mt_status add_names(const mt_needs *needs, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; st == MT_OK && i < needs->kernel_count; i++) st = mt_options_add_name(options, needs->kernels[i].entry, err);
    return st;
}

mt_status mt_candidate_make(mt_env *env, const mt_space *space, size_t index, mt_candidate *candidate, mt_error *err)
{
    mt_status st = MT_OK;
    mt_plan plan = {0};
    mt_point point;
    const mt_spec *spec = mt_env_spec(env);
    memset(candidate, 0, sizeof *candidate);
    mt_space_at(space, index, &point);
    MT_TRY(mt_env_set_point(env, &point, err));
    MT_TRY(mt_plan_make(env, &plan, &candidate->illegal, err));
    if (!candidate->illegal) candidate->illegal = mt_plan_illegal(env, &plan);
    if (candidate->illegal) goto done;
    candidate->per = plan.per;
    candidate->launched = launched_by(&plan);
    if (!candidate->launched) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "candidate: out of memory"));
    MT_TRY(mt_needs_of_variant(spec, &plan, &spec->algorithms[point.level[0]], &candidate->needs, err));
    MT_TRY(mt_options_variant(env, &candidate->options, err));
    MT_TRY(add_names(&candidate->needs, &candidate->options, err));
done:
    mt_plan_free(&plan);
    if (st != MT_OK) mt_candidate_free(candidate);
    return st;
}

void mt_candidate_free(mt_candidate *candidate)
{
    mt_free(candidate->illegal);
    mt_free(candidate->launched);
    mt_needs_free(&candidate->needs);
    mt_options_free(&candidate->options);
    memset(candidate, 0, sizeof *candidate);
}

mt_status mt_candidate_support_needs(const mt_env *env, mt_needs *needs, mt_error *err)
{
    const mt_spec *spec = mt_env_spec(env);
    mt_plan plan = {0};
    mt_status st = MT_OK;
    if (spec->reference || spec->reference_is_default) MT_TRY(mt_plan_reference(env, &plan, err));
    st = mt_needs_of_support(spec, &plan, needs, err);
done:
    mt_plan_free(&plan);
    return st;
}

mt_status mt_candidate_support_options(const mt_env *env, const mt_workload *workload, mt_options *options, mt_error *err)
{
    mt_needs needs = {0};
    mt_status st = mt_options_support(env, workload, options, err);
    if (st == MT_OK) st = mt_candidate_support_needs(env, &needs, err);
    if (st == MT_OK) st = add_names(&needs, options, err);
    mt_needs_free(&needs);
    return st;
}

bool mt_candidate_needs_support(const mt_spec *spec)
{
    if (spec->reference || spec->reference_is_default) return true;
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind == MT_ARG_TENSOR && spec->args[i].init == MT_INIT_KERNEL) return true;
    }
    return false;
}
