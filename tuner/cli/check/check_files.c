/* Whether the files of `reference = file:…` and `init = file:…` hold what a shape needs. */
#include "tuner/cli/check/check.h"

#include "tuner/base/alloc.h"
#include "tuner/space/launch/plan.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/spec/npy.h"

/* The first output's; NULL: there is none. */
static const mt_plan_tensor *first_output(const mt_spec *spec, const mt_plan *plan)
{
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        if (mt_arg_is_output(arg)) return &plan->args[i].tensor;
    }
    return NULL;
}

/* The contents of an input (is_expected: of an output) from a file. */
static mt_status compare(const mt_spec *spec, const char *path, const mt_plan_tensor *tensor, bool is_expected, mt_error *err)
{
    mt_npy_file file = {0};
    mt_status st = mt_npy_open(path, &file, err);
    if (st == MT_OK) st = (is_expected ? mt_npy_expect_output : mt_npy_expect)(&file.npy, path, spec->args[tensor->arg].name, tensor->dtype, tensor->dims, tensor->rank, err);
    mt_npy_close(&file);
    return st;
}

static mt_status compare_reference(const mt_spec *spec, const mt_plan *plan, const char *shape, mt_error *err)
{
    const mt_plan_tensor *tensor = first_output(spec, plan);
    mt_place place = mt_spec_place(spec, spec->reference_line);
    if (!spec->reference_file) return MT_OK;
    mt_status st = tensor ? MT_OK : MT_FAIL(err, MT_ERR_SPEC, "%s: no output to compare it with", spec->reference_file);
    for (size_t i = 0; st == MT_OK && i < mt_reference_count(spec); i++) {
        char *path;
        st = mt_reference_file(spec, i, &path, err);
        if (st == MT_OK) st = compare(spec, path, tensor, true, err);
        mt_free(path);
    }
    return st == MT_OK ? st : mt_error_prefix(err, st, "%s:%d: [kernel] reference: shape %s", place.path, place.line, shape);
}

static mt_status compare_inputs(const mt_spec *spec, const mt_plan *plan, const char *shape, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < spec->arg_count && st == MT_OK; i++) {
        const mt_arg *arg = &spec->args[i];
        mt_place place = mt_spec_place(spec, arg->line);
        if (!arg->init_file) continue;
        st = compare(spec, arg->init_file, &plan->args[i].tensor, false, err);
        if (st != MT_OK) mt_error_prefix(err, st, "%s:%d: [arg %s] init: shape %s", place.path, place.line, arg->name, shape);
    }
    return st;
}

mt_status mt_check_files(const mt_space *space, const mt_device_facts *facts, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(space);
    const char *shape = mt_space_shape(space)->name;
    mt_env *env = NULL;
    mt_plan plan = {0};
    mt_status st = MT_OK;
    bool has_files = spec->reference_file != NULL;
    for (size_t i = 0; i < spec->arg_count; i++) has_files = has_files || spec->args[i].init_file;
    if (!has_files) return MT_OK;
    MT_TRY(mt_env_create(spec, mt_space_shape(space), facts, &env, err));
    st = mt_plan_reference(env, mt_reference_of(spec, NULL), &plan, err);
    if (st == MT_ERR_SPEC && spec->reference_is_default) st = MT_OK; /* a default variant that can't run is told elsewhere */
    else if (st == MT_OK && (st = compare_reference(spec, &plan, shape, err)) == MT_OK) st = compare_inputs(spec, &plan, shape, err);
done:
    mt_plan_free(&plan);
    mt_env_free(env);
    return st;
}
