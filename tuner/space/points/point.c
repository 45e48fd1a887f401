#include "tuner/space/points/point.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { NUMBER_SIZE = 24 };

char *mt_point_text(const mt_spec *spec, const mt_point *point)
{
    const char *names[MT_MAX_PARAMS], *values[MT_MAX_PARAMS];
    char numbers[MT_MAX_PARAMS][NUMBER_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < spec->param_count; i++) {
        const mt_param *param = &spec->params[i];
        int level = point->level[i];
        if (level == MT_INACTIVE) continue;
        assert(level >= 0 && (size_t)level < param->value_count);
        if (!param->is_string) snprintf(numbers[count], NUMBER_SIZE, "%" PRId64, param->numbers[level]);
        names[count] = param->name;
        values[count] = param->is_string ? param->strings[level] : numbers[count];
        count++;
    }
    size_t length = mt_key_pairs(names, values, count, NULL, 0);
    char *text = mt_alloc(length + 1, 1);
    if (text) mt_key_pairs(names, values, count, text, length + 1);
    return text;
}

char *mt_point_usual(const mt_spec *spec)
{
    mt_point point;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point.level[i] = i < spec->param_count && mt_spec_has_default(spec, &spec->params[i]) ? (int16_t)spec->params[i].default_level : MT_INACTIVE;
    return mt_point_text(spec, &point);
}

static mt_status unknown_knob(const mt_spec *spec, const char *name, mt_error *err)
{
    const char *names[MT_MAX_PARAMS];
    for (size_t i = 0; i < spec->param_count; i++) names[i] = spec->params[i].name;
    const char *near = mt_text_nearest(name, names, spec->param_count);
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s has no knob `%s`%s%s%s", spec->name, name, near ? ", did you mean `" : "", near ? near : "",
                   near ? "`?" : "");
}

static mt_status parse_value(const mt_spec *spec, const mt_param *param, const char *value, int16_t *level, mt_error *err)
{
    int64_t number;
    bool is_number = mt_text_int64(value, strlen(value), &number);
    for (size_t i = 0; i < param->value_count; i++) {
        if (param->is_string ? strcmp(param->strings[i], value) == 0 : is_number && param->numbers[i] == number) {
            *level = (int16_t)i;
            return MT_OK;
        }
    }
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: `%s` is not among the values of %s", spec->name, value, param->name);
}

static mt_status parse_pair(const mt_spec *spec, char *pair, mt_point *point, mt_error *err)
{
    char *equals = strchr(pair, '=');
    if (!equals) return MT_FAIL(err, MT_ERR_SYNTAX, "`%s`: expected KNOB=VALUE pairs joined by `;`", pair);
    *equals = '\0';
    size_t i = 0;
    while (i < spec->param_count && strcmp(spec->params[i].name, pair) != 0) i++;
    if (i == spec->param_count) return unknown_knob(spec, pair, err);
    if (point->level[i] != MT_INACTIVE) return MT_FAIL(err, MT_ERR_SYNTAX, "knob %s is given twice", pair);
    return parse_value(spec, &spec->params[i], equals + 1, &point->level[i], err);
}

mt_status mt_point_parse(const mt_spec *spec, const char *text, mt_point *point, mt_error *err)
{
    mt_status st = MT_OK;
    char *copy = mt_strdup(text), *rest = copy;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    if (!copy) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    while (st == MT_OK && rest && *rest) {
        char *pair = strsep(&rest, ";");
        st = parse_pair(spec, pair, point, err);
    }
    if (st == MT_OK && point->level[0] == MT_INACTIVE) st = MT_FAIL(err, MT_ERR_SYNTAX, "`%s` does not say which ALGO", text);
    mt_free(copy);
    return st;
}
