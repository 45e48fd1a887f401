#include "tuner/cli/requests/check_expected.h"

#include "tuner/space/spec/npy.h"
#include "tuner/space/launch/plan.h"

/* The first output's; NULL: there is none. */
static const mt_plan_tensor *first_output(const mt_spec *spec, const mt_plan *plan)
{
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        if (mt_arg_is_output(arg)) return &plan->args[i].tensor;
    }
    return NULL;
}

static mt_status compare(const mt_spec *spec, const mt_plan_tensor *tensor, mt_error *err)
{
    mt_npy_file file = {0};
    mt_status st = mt_npy_open(spec->reference_file, &file, err);
    if (st == MT_OK) st = mt_npy_expect_output(&file.npy, spec->reference_file, spec->args[tensor->arg].name, tensor->dtype, tensor->dims, tensor->rank, err);
    mt_npy_close(&file);
    return st;
}

mt_status mt_check_expected(const mt_space *space, const mt_device_facts *facts, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(space);
    mt_env *env = NULL;
    mt_plan plan = {0};
    mt_status st = MT_OK;
    if (!spec->reference_file) return MT_OK;
    mt_place place = mt_spec_place(spec, spec->reference_line);
    MT_TRY(mt_env_create(spec, mt_space_shape(space), facts, &env, err));
    MT_TRY(mt_plan_reference(env, &plan, err));
    const mt_plan_tensor *tensor = first_output(spec, &plan);
    st = tensor ? compare(spec, tensor, err) : MT_FAIL(err, MT_ERR_SPEC, "%s: no output to compare it with", spec->reference_file);
    if (st != MT_OK) st = mt_error_prefix(err, st, "%s:%d: [kernel] reference: shape %s", place.path, place.line, mt_space_shape(space)->name);
done:
    mt_plan_free(&plan);
    mt_env_free(env);
    return st;
}
