/* The space as the lookup sees it. Read by db/lookup/lookup_model.c; the two change together, with "format". */
#include "tuner/space/spec/spec_json.h"

#include <inttypes.h>
#include <string.h>

#include "tuner/base/strbuf.h"

/* ---- members ---- */

static void add_key(mt_strbuf *out, const char *key)
{
    mt_strbuf_addf(out, "%s\"%s\":", out->length && strchr("{[", out->text[out->length - 1]) ? "" : ",", key);
}

static void add_text(mt_strbuf *out, const char *key, const char *text)
{
    if (!text) return;
    add_key(out, key);
    mt_strbuf_add_json(out, text);
}

static void add_int(mt_strbuf *out, const char *key, int64_t value)
{
    add_key(out, key);
    mt_strbuf_addf(out, "%" PRId64, value);
}

static void add_flag(mt_strbuf *out, const char *key, bool is_set)
{
    if (!is_set) return;
    add_key(out, key);
    mt_strbuf_add(out, "true");
}

/* Absent expressions are left out. */
static void add_expr(mt_strbuf *out, const char *key, const mt_expr *expr)
{
    if (expr->program) add_text(out, key, expr->program_text);
}

static void add_exprs(mt_strbuf *out, const char *key, const mt_expr_list *list)
{
    add_key(out, key);
    mt_strbuf_add(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        if (i) mt_strbuf_add(out, ",");
        mt_strbuf_add_json(out, list->items[i].program_text);
    }
    mt_strbuf_add(out, "]");
}

static void begin_list(mt_strbuf *out, const char *key)
{
    add_key(out, key);
    mt_strbuf_add(out, "[");
}

/* The next object of the list that `begin_list` began. */
static void begin_object(mt_strbuf *out)
{
    mt_strbuf_add(out, out->length && out->text[out->length - 1] == '}' ? ",{" : "{");
}

static void end_object(mt_strbuf *out)
{
    mt_strbuf_add(out, "}");
}

static void end_list(mt_strbuf *out)
{
    mt_strbuf_add(out, "]");
}

/* ---- sections ---- */

/* In the order of a shape's key, so that the lookup can walk both at once. */
static void add_shape(mt_strbuf *out, const mt_spec *spec)
{
    static const char *const kinds[] = { [MT_VALUE_UNDEFINED] = "int", [MT_VALUE_INT] = "int", [MT_VALUE_STRING] = "string", [MT_VALUE_LIST] = "list" };
    const mt_shape *shape = &spec->shapes[0];
    const char *last = "";
    begin_list(out, "shape");
    for (size_t n = 0; spec->shape_count && n < shape->setting_count; n++) {
        const mt_setting *next = NULL;
        for (size_t i = 0; i < shape->setting_count; i++) {
            const mt_setting *setting = &shape->settings[i];
            if (strcmp(setting->name, last) > 0 && (!next || strcmp(setting->name, next->name) < 0)) next = setting;
        }
        if (!next) break;
        begin_object(out);
        add_text(out, "name", next->name);
        add_text(out, "kind", kinds[next->value.kind]);
        end_object(out);
        last = next->name;
    }
    end_list(out);
}

static void add_params(mt_strbuf *out, const mt_spec *spec)
{
    begin_list(out, "params");
    for (size_t i = 0; i < spec->param_count; i++) {
        const mt_param *param = &spec->params[i];
        begin_object(out);
        add_text(out, "name", param->name);
        add_flag(out, "string", param->is_string);
        begin_list(out, "values");
        for (size_t k = 0; k < param->value_count; k++) {
            if (k) mt_strbuf_add(out, ",");
            if (param->is_string) mt_strbuf_add_json(out, param->strings[k]);
            else mt_strbuf_addf(out, "%" PRId64, param->numbers[k]);
        }
        end_list(out);
        add_int(out, "default", (int64_t)param->default_level);
        if (!mt_spec_has_default(spec, param)) add_flag(out, "no_default", true);
        if (param->has_when) add_expr(out, "when", &param->when);
        end_object(out);
    }
    end_list(out);
}

static void add_lets(mt_strbuf *out, const mt_spec *spec, size_t first, size_t end)
{
    begin_list(out, "lets");
    for (size_t i = first; i < end; i++) {
        begin_object(out);
        add_text(out, "name", spec->lets[i].name);
        add_expr(out, "value", &spec->lets[i].expr);
        end_object(out);
    }
    end_list(out);
}

/* What a point is believed to take, where the space has an idea. */
static void add_model(mt_strbuf *out, const mt_spec *spec)
{
    if (!spec->model_time_ns.program) return;
    add_key(out, "model");
    mt_strbuf_add(out, "{");
    add_lets(out, spec, spec->model_let, spec->let_count);
    add_expr(out, "time_ns", &spec->model_time_ns);
    if (spec->model_correction) {
        add_key(out, "correction");
        mt_strbuf_add(out, spec->model_correction);
    }
    mt_strbuf_add(out, "}");
}

static const mt_setting *shape_value(const mt_spec *spec, const char *name, size_t length)
{
    const mt_shape *shape = &spec->shapes[0];
    for (size_t i = 0; spec->shape_count && i < shape->setting_count; i++) {
        const char *own = shape->settings[i].name;
        if (strncmp(own, name, length) == 0 && !own[length]) return &shape->settings[i];
    }
    return NULL;
}

static bool is_knob(const mt_spec *spec, const char *name, size_t length)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        if (strncmp(spec->params[i].name, name, length) == 0 && !spec->params[i].name[length]) return true;
    }
    return false;
}

/* Whether a text of the compiler's reads nothing but knobs. */
static bool reads_knobs_alone(const mt_spec *spec, const char *text)
{
    for (const char *at = text ? strstr(text, "${") : NULL; at; at = strstr(at + 2, "${")) {
        if (!is_knob(spec, at + 2, strcspn(at + 2, "}"))) return false;
    }
    return true;
}

static bool entries_read_knobs_alone(const mt_spec *spec, const mt_algorithm *algorithm)
{
    for (size_t i = 0; i < spec->launch_count; i++)
        if (!reads_knobs_alone(spec, spec->launches[i].entry)) return false;
    return reads_knobs_alone(spec, algorithm->entry);
}

/* The shape's values that the variant's code depends on, where that is not all of them: a cubin serves every shape that has the same. */
static void add_baked(mt_strbuf *out, const mt_spec *spec, const mt_algorithm *variant)
{
    if (variant->bake_all || !reads_knobs_alone(spec, spec->options) || !reads_knobs_alone(spec, variant->options) || !entries_read_knobs_alone(spec, variant)) return;
    begin_list(out, "bakes");
    for (size_t i = 0, count = 0; i < variant->bake_count; i++) {
        if (!shape_value(spec, variant->bake[i], strlen(variant->bake[i]))) continue;
        if (count++) mt_strbuf_add(out, ",");
        mt_strbuf_add_json(out, variant->bake[i]);
    }
    end_list(out);
}

static void add_conditions(mt_strbuf *out, const mt_spec *spec)
{
    begin_list(out, "variants");
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        const mt_algorithm *algorithm = &spec->algorithms[i];
        begin_object(out);
        add_text(out, "name", algorithm->name);
        add_text(out, "entry", algorithm->entry);
        if (algorithm->has_requires) add_expr(out, "requires", &algorithm->requires_expr);
        add_baked(out, spec, algorithm);
        end_object(out);
    }
    end_list(out);
    begin_list(out, "constraints");
    for (size_t i = 0; i < spec->constraint_count; i++) {
        begin_object(out);
        add_text(out, "name", spec->constraints[i].name);
        add_text(out, "why", spec->constraints[i].why);
        add_expr(out, "holds", &spec->constraints[i].expr);
        end_object(out);
    }
    end_list(out);
}

/* Left out where the first variant is the only one. */
static void add_defaults(mt_strbuf *out, const mt_spec *spec)
{
    if (spec->default_count < 2) return;
    begin_list(out, "defaults");
    for (size_t i = 0; i < spec->default_count; i++) {
        if (i) mt_strbuf_add(out, ",");
        mt_strbuf_add_json(out, spec->defaults[i]);
    }
    end_list(out);
}

static void add_tensor(mt_strbuf *out, const mt_arg *arg)
{
    static const char *const roles[] = { [MT_ROLE_IN] = "in", [MT_ROLE_OUT] = "out", [MT_ROLE_INOUT] = "inout", [MT_ROLE_SCRATCH] = "scratch" };
    add_text(out, "kind", "tensor");
    add_text(out, "role", roles[arg->role]);
    add_text(out, "dtype", arg->dtype_text);
    add_exprs(out, "shape", &arg->shape);
    add_flag(out, "zero", arg->zero_before_each);
    add_text(out, "constant", arg->constant);
}

static void add_tensormap(mt_strbuf *out, const mt_arg *arg)
{
    add_text(out, "kind", "tensormap");
    add_int(out, "tensor", (int64_t)arg->of);
    if (arg->is_array) {
        add_text(out, "loop", arg->loop);
        add_expr(out, "count", &arg->count);
    }
    add_expr(out, "offset", &arg->offset);
    add_exprs(out, "dims", &arg->dims);
    add_exprs(out, "strides", &arg->strides);
    add_exprs(out, "box", &arg->box);
    if (arg->swizzle.program) add_expr(out, "swizzle", &arg->swizzle);
    else add_int(out, "swizzle", arg->swizzle_bytes);
    add_flag(out, "fill_nan", arg->fill_nan);
    add_int(out, "l2", arg->l2_promotion_bytes);
}

static void add_scalar(mt_strbuf *out, const mt_arg *arg)
{
    add_text(out, "kind", "scalar");
    add_text(out, "dtype", arg->dtype_text);
    add_expr(out, "value", &arg->value);
    if (arg->value.program) return;
    add_key(out, "literal");
    mt_strbuf_addf(out, "%.17g", arg->literal); /* the tool never leaves the C locale */
}

static void add_struct(mt_strbuf *out, const mt_arg *arg)
{
    add_text(out, "kind", "struct");
    if (arg->align) add_int(out, "align", arg->align);
    begin_list(out, "members");
    for (size_t i = 0; i < arg->member_count; i++) mt_strbuf_addf(out, "%s%zu", i ? "," : "", arg->members[i]);
    end_list(out);
}

static void add_args(mt_strbuf *out, const mt_spec *spec)
{
    begin_list(out, "args");
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        begin_object(out);
        add_text(out, "name", arg->name);
        if (arg->kind == MT_ARG_TENSOR) add_tensor(out, arg);
        else if (arg->kind == MT_ARG_TENSORMAP) add_tensormap(out, arg);
        else if (arg->kind == MT_ARG_STRUCT) add_struct(out, arg);
        else add_scalar(out, arg);
        end_object(out);
    }
    end_list(out);
}

static void add_launches(mt_strbuf *out, const char *key, const mt_spec *spec, mt_launch_phase phase)
{
    begin_list(out, key);
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        if (launch->phase != phase || (launch->algorithm && strcmp(launch->algorithm, "reference") == 0)) continue;
        begin_object(out);
        add_text(out, "variant", launch->algorithm);
        add_int(out, "number", launch->number);
        add_text(out, "entry", launch->entry);
        begin_list(out, "args");
        for (size_t k = 0; k < launch->arg_count; k++) mt_strbuf_addf(out, "%s%zu", k ? "," : "", launch->args[k]);
        end_list(out);
        add_exprs(out, "grid", &launch->grid);
        add_exprs(out, "block", &launch->block);
        add_exprs(out, "cluster", &launch->cluster);
        add_expr(out, "smem", &launch->smem);
        add_expr(out, "carveout", &launch->carveout);
        add_expr(out, "blocks_per_sm", &launch->blocks_per_sm);
        add_expr(out, "when", &launch->when);
        add_expr(out, "repeat", &launch->repeat);
        add_flag(out, "cooperative", launch->cooperative);
        add_flag(out, "resident", launch->resident);
        add_flag(out, "programmatic", launch->programmatic);
        end_object(out);
    }
    end_list(out);
}

static bool has_finish(const mt_spec *spec)
{
    return spec->launch_count && spec->launches[spec->launch_count - 1].phase == MT_LAUNCH_FINISH; /* they are the last */
}

char *mt_spec_json(const mt_spec *spec)
{
    mt_strbuf out = { 0 };
    mt_strbuf_add(&out, "{");
    add_int(&out, "format", 1);
    add_text(&out, "regime", mt_l2_name(spec->l2));
    if (spec->reference_is_default) add_text(&out, "reference", "default"); /* other references go without saying */
    if (spec->per.program) add_text(&out, "per", spec->per.source);
    add_shape(&out, spec);
    add_params(&out, spec);
    add_lets(&out, spec, 0, spec->model_let);
    add_conditions(&out, spec);
    add_defaults(&out, spec);
    add_args(&out, spec);
    add_launches(&out, "launches", spec, MT_LAUNCH_TIMED);
    add_launches(&out, "prepares", spec, MT_LAUNCH_PREPARE);
    if (has_finish(spec)) add_launches(&out, "finishes", spec, MT_LAUNCH_FINISH); /* younger than the others: what is stored without stays as it is */
    add_model(&out, spec);
    mt_strbuf_add(&out, "}");
    char *text = mt_strbuf_take(&out);
    mt_strbuf_free(&out);
    return text;
}
