/* `msda-tune check`: what the space's cost model says of its points. */
#include "tuner/cli/check/check.h"

#include "tuner/space/points/env.h"

mt_status mt_check_model(const mt_space *space, const mt_device_facts *facts, const size_t *points, size_t count, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(space);
    mt_env *env = NULL;
    if (!spec->model_time_ns.program) return MT_OK;
    mt_status st = mt_env_create(spec, mt_space_shape(space), facts, &env, err);
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        mt_point point;
        double ns;
        mt_space_at(space, points[i], &point);
        st = mt_env_set_point(env, &point, err);
        if (st == MT_OK) st = mt_env_time_ns(env, &ns, err);
    }
    mt_env_free(env);
    return st;
}
