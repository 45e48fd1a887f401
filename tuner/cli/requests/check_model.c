#include "tuner/cli/requests/check_model.h"

#include "tuner/base/alloc.h"
#include "tuner/space/env.h"

static mt_status tell(const mt_spec *spec, const mt_point *point, const mt_error *why, mt_error *err)
{
    char *text = mt_point_text(spec, point);
    mt_status st = MT_FAIL(err, MT_ERR_SPEC, "%s: not at %s", why->message, text ? text : "a point");
    mt_free(text);
    return st;
}

mt_status mt_check_model(const mt_space *space, const mt_device_facts *facts, const size_t *points, size_t count, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(space);
    mt_env *env = NULL;
    if (!spec->model_time_ns.program) return MT_OK;
    mt_status st = mt_env_create(spec, mt_space_shape(space), facts, &env, err);
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        mt_point point;
        mt_error why;
        double ns;
        mt_space_at(space, points[i], &point);
        st = mt_env_set_point(env, &point, err);
        if (st == MT_OK && mt_env_time_ns(env, &ns, &why) != MT_OK) st = tell(spec, &point, &why, err);
    }
    mt_env_free(env);
    return st;
}
