#include "tuner/cli/output/space_json.h"

#include <math.h>

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static const char *true_or_false(bool is)
{
    return is ? "true" : "false";
}

/* A whole number, a list of them, a text; of workloads a fraction too. */
static void add_value(mt_strbuf *out, const mt_setting *setting)
{
    const mt_value *value = &setting->value;
    mt_strbuf_add_json(out, setting->name);
    mt_strbuf_add_char(out, ':');
    if (value->kind == MT_VALUE_STRING) {
        mt_strbuf_add_json(out, value->string);
    } else if (value->kind == MT_VALUE_LIST) {
        for (size_t i = 0; i < value->length; i++) mt_strbuf_addf(out, "%s%lld", i ? "," : "[", (long long)value->list[i]);
        mt_strbuf_add(out, value->length ? "]" : "[]");
    } else if (value->kind == MT_VALUE_INT) {
        mt_strbuf_addf(out, "%lld", (long long)value->number);
    } else {
        mt_strbuf_addf(out, "%.17g", isfinite(setting->number) ? setting->number : 0);
    }
}

static void add_values(mt_strbuf *out, const mt_setting *settings, size_t count)
{
    mt_strbuf_add(out, ",\"values\":{");
    for (size_t i = 0; i < count; i++) {
        if (i) mt_strbuf_add_char(out, ',');
        add_value(out, &settings[i]);
    }
    mt_strbuf_add_char(out, '}');
}

static void add_level(mt_strbuf *out, const mt_param *param, size_t level)
{
    if (param->is_string) mt_strbuf_add_json(out, param->strings[level]);
    else mt_strbuf_addf(out, "%lld", (long long)param->numbers[level]);
}

static void add_knob(mt_strbuf *out, const mt_param *param)
{
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, param->name);
    mt_strbuf_add(out, ",\"values\":[");
    for (size_t i = 0; i < param->value_count; i++) {
        if (i) mt_strbuf_add_char(out, ',');
        add_level(out, param, i);
    }
    mt_strbuf_add(out, "],\"default\":");
    add_level(out, param, param->default_level);
    mt_strbuf_add_member(out, "when", param->has_when ? param->when.source : NULL);
    mt_strbuf_add_member(out, "doc", or_null(param->doc));
    mt_strbuf_add_char(out, '}');
}

static void add_variant(mt_strbuf *out, const mt_algorithm *variant)
{
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, variant->name);
    mt_strbuf_add_member(out, "requires", variant->has_requires ? variant->requires_expr.source : NULL);
    mt_strbuf_addf(out, ",\"yardstick\":%s", true_or_false(variant->is_yardstick));
    mt_strbuf_add_member(out, "doc", or_null(variant->doc));
    mt_strbuf_add_char(out, '}');
}

static void add_constraint(mt_strbuf *out, const mt_constraint *constraint)
{
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, constraint->name);
    mt_strbuf_add_member(out, "expr", constraint->expr.source);
    mt_strbuf_add_member(out, "why", or_null(constraint->why));
    mt_strbuf_add_char(out, '}');
}

static void add_workload(mt_strbuf *out, const mt_workload *workload)
{
    mt_strbuf_add(out, "{\"name\":");
    mt_strbuf_add_json(out, workload->name);
    add_values(out, workload->settings, workload->setting_count);
    mt_strbuf_addf(out, ",\"default\":%s}", true_or_false(workload->is_default));
}

void mt_space_json_shape(mt_strbuf *out, const mt_shape *shape)
{
    mt_strbuf_add(out, "\"name\":");
    mt_strbuf_add_json(out, shape->name);
    add_values(out, shape->settings, shape->setting_count);
    mt_strbuf_add(out, ",\"workloads\":[");
    for (size_t i = 0; i < shape->workload_count; i++) {
        if (i) mt_strbuf_add_char(out, ',');
        mt_strbuf_add_json(out, shape->workloads[i]);
    }
    mt_strbuf_addf(out, "],\"main\":%s", true_or_false(shape->is_main));
}

#define ADD_EACH(name, add, items, count)                \
    do {                                                 \
        mt_strbuf_add(out, ",\"" name "\":[");           \
        for (size_t i = 0; i < (count); i++) {           \
            if (i) mt_strbuf_add_char(out, ',');         \
            add(out, &(items)[i]);                       \
        }                                                \
        mt_strbuf_add_char(out, ']');                    \
    } while (0)

void mt_space_json_facts(mt_strbuf *out, const mt_spec *spec)
{
    mt_strbuf_add(out, "\"kernel\":");
    mt_strbuf_add_json(out, spec->name);
    mt_strbuf_add_member(out, "source", spec->source);
    ADD_EACH("algorithms", add_variant, spec->algorithms, spec->algorithm_count);
    ADD_EACH("knobs", add_knob, spec->params + 1, spec->param_count - 1); /* the first is ALGO: the variants */
    ADD_EACH("constraints", add_constraint, spec->constraints, spec->constraint_count);
    ADD_EACH("workloads", add_workload, spec->workloads, spec->workload_count);
}
