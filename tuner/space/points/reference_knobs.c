#include "tuner/space/points/reference_knobs.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"

static bool is_read(const mt_spec *spec, size_t param)
{
    return spec->reference_knobs >> param & 1;
}

size_t mt_reference_count(const mt_spec *spec)
{
    size_t count = 1;
    for (size_t i = 0; i < spec->param_count; i++)
        if (is_read(spec, i)) count *= spec->params[i].value_count;
    return count;
}

size_t mt_reference_of(const mt_spec *spec, const mt_point *point)
{
    size_t combination = 0;
    for (size_t i = 0; i < spec->param_count; i++) {
        if (!is_read(spec, i)) continue;
        bool is_active = point && point->level[i] != MT_INACTIVE;
        combination = combination * spec->params[i].value_count + (is_active ? (size_t)point->level[i] : spec->params[i].default_level);
    }
    return combination;
}

void mt_reference_point(const mt_spec *spec, size_t combination, mt_point *point)
{
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    for (size_t i = spec->param_count; i-- > 0;) {
        if (!is_read(spec, i)) continue;
        point->level[i] = (int16_t)(combination % spec->params[i].value_count);
        combination /= spec->params[i].value_count;
    }
}

static char *text_of(const mt_spec *spec, size_t combination)
{
    mt_point point;
    mt_reference_point(spec, combination, &point);
    return mt_point_text(spec, &point);
}

const char *mt_reference_name(const mt_spec *spec, size_t combination, char *out, size_t size)
{
    char *text = text_of(spec, combination);
    snprintf(out, size, "%s", text ? text : "");
    mt_free(text);
    return out;
}

mt_status mt_reference_file(const mt_spec *spec, size_t combination, char **path, mt_error *err)
{
    mt_env *env = NULL;
    mt_point point;
    mt_status st = MT_OK;
    const mt_device_facts none = {0};
    mt_reference_point(spec, combination, &point);
    *path = NULL;
    MT_TRY(mt_env_create(spec, &spec->shapes[0], &none, &env, err));
    for (size_t i = 0; i < spec->param_count; i++) mt_env_set_knob(env, i, point.level[i]);
    st = mt_env_expand(env, spec->reference_file, path, err);
done:
    mt_env_free(env);
    return st;
}
