#include "tuner/run/candidate.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

static char *launched_by(const mt_plan *plan)
{
    mt_strbuf text = {0};
    for (size_t i = 0; i < plan->launch_count; i++) mt_strbuf_addf(&text, "%s\n", plan->launches[i].entry);
    char *entries = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    return entries;
}

static void add_entry(const mt_plan *plan, const mt_plan_launch *launch, mt_strbuf *text)
{
    mt_strbuf_add(text, launch->entry);
    for (size_t i = 0; i < launch->from->arg_count; i++) mt_strbuf_addf(text, " %llu", (unsigned long long)mt_plan_parameter_bytes(&plan->args[launch->from->args[i]]));
    mt_strbuf_add_char(text, '\n');
}

static char *entries_of(const mt_plan *plan, mt_strbuf *text)
{
    for (size_t i = 0; i < plan->launch_count; i++) add_entry(plan, &plan->launches[i], text);
    for (size_t i = 0; i < plan->prepare_count; i++) add_entry(plan, &plan->prepares[i], text);
    char *entries = mt_strbuf_take(text);
    mt_strbuf_free(text);
    return entries;
}

/* By the rules of mt_constants_fill (tuner/gpu/constants.c). */
static char *variables_of(const mt_spec *spec, const mt_plan *plan, bool is_yardstick)
{
    mt_strbuf text = {0};
    for (size_t i = 0; i < plan->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        bool is_needed = !plan->args[i].used && !is_yardstick;
        if (arg->constant) mt_strbuf_addf(&text, "%s %llu%s%s\n", arg->constant, (unsigned long long)plan->args[i].tensor.bytes, is_needed ? " " : "", is_needed ? arg->name : "");
    }
    char *variables = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    return variables;
}

mt_status mt_candidate_make(mt_scene *scene, const mt_space *space, size_t index, mt_candidate *candidate, mt_error *err)
{
    mt_status st = MT_OK;
    mt_plan plan = {0};
    mt_point point;
    memset(candidate, 0, sizeof *candidate);
    mt_space_at(space, index, &point);
    MT_TRY(mt_scene_set_point(scene, &point, err));
    MT_TRY(mt_plan_make(scene, &plan, &candidate->illegal, err));
    if (!candidate->illegal) candidate->illegal = mt_plan_illegal(scene, &plan);
    if (candidate->illegal) goto done;
    mt_strbuf text = {0};
    candidate->launched = launched_by(&plan);
    candidate->entries = entries_of(&plan, &text);
    candidate->variables = variables_of(mt_scene_spec(scene), &plan, mt_scene_spec(scene)->variants[point.level[0]].is_yardstick);
    if (!candidate->launched || !candidate->entries || !candidate->variables) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "candidate: out of memory");
        goto done;
    }
    MT_TRY(mt_options_variant(scene, &candidate->options, err));
done:
    mt_plan_free(&plan);
    if (st != MT_OK) mt_candidate_free(candidate);
    return st;
}

void mt_candidate_free(mt_candidate *candidate)
{
    mt_free(candidate->illegal);
    mt_free(candidate->launched);
    mt_free(candidate->entries);
    mt_free(candidate->variables);
    mt_options_free(&candidate->options);
    memset(candidate, 0, sizeof *candidate);
}

char *mt_candidate_support_entries(const mt_scene *scene, mt_error *err)
{
    const mt_spec *spec = mt_scene_spec(scene);
    mt_plan plan = {0};
    mt_strbuf text = {0};
    if (spec->reference && mt_plan_reference(scene, &plan, err) != MT_OK) return NULL;
    for (size_t i = 0; i < spec->arg_count; i++)
        if (spec->args[i].kind == MT_ARG_TENSOR && spec->args[i].init == MT_INIT_KERNEL) mt_strbuf_addf(&text, "%s 8 8 8\n", spec->args[i].init_kernel);
    char *entries = entries_of(&plan, &text);
    mt_plan_free(&plan);
    if (!entries) MT_FAIL(err, MT_ERR_NO_MEMORY, "candidate: out of memory");
    return entries;
}

bool mt_candidate_needs_support(const mt_spec *spec)
{
    if (spec->reference) return true;
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind == MT_ARG_TENSOR && spec->args[i].init == MT_INIT_KERNEL) return true;
    }
    return false;
}
