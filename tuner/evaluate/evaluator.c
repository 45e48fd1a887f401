#include "tuner/evaluate/evaluator.h"

const mt_hash *mt_evaluator_key(const mt_evaluator *evaluator, const mt_hash *own)
{
    return evaluator->kernel_key.hex[0] ? &evaluator->kernel_key : own;
}

int64_t mt_evaluator_restarts(const mt_evaluator *evaluator)
{
    return evaluator->ops->restarts ? evaluator->ops->restarts(evaluator) : 0;
}

mt_status mt_evaluator_space(mt_evaluator *evaluator, const mt_spec *spec, const mt_shape *shape, const mt_workload *workload, mt_l2 l2, const mt_space_watch *watch, mt_space **space,
                             mt_error *err)
{
    if (evaluator->ops->recorded_space) return evaluator->ops->recorded_space(evaluator, shape, workload, l2, space, err);
    if (spec->is_recorded) return MT_FAIL(err, MT_ERR_USAGE, "%s: points = recorded: expected --gpu recorded:NAME", spec->path);
    return mt_space_create_watched(spec, shape, &evaluator->facts, watch, space, err);
}
