/* Values of all names. Lets are evaluated when something reads them: one that can't be computed at a point (an inexact division in
 * a shape that the variant refuses anyway) harms only the expressions that need it. */
#include "tuner/space/points/env.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/env_internal.h"
#include "tuner/space/spec/spec_scope.h"

typedef enum let_state { LET_UNKNOWN, LET_KNOWN, LET_FAILED } let_state;

struct mt_env {
    const mt_spec *spec;
    const mt_shape *shape;
    mt_device_facts facts;
    mt_value *slots;                  /* slot_count of the spec */
    unsigned char *let_states;        /* let_state per let */
    mt_program_status *let_failures;  /* per let, of LET_FAILED */
    mt_expr_fault *let_faults;             /* per let, of LET_FAILED: itself or a let below it */
    int16_t levels[MT_MAX_PARAMS];
};

mt_status mt_env_create(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, mt_env **out, mt_error *err)
{
    mt_env *env = mt_alloc(1, sizeof *env);
    *out = NULL;
    if (!env) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    env->spec = spec;
    env->shape = shape;
    env->facts = *facts;
    env->slots = mt_alloc(spec->slot_count, sizeof *env->slots);
    env->let_states = mt_alloc(spec->let_count, 1);
    env->let_failures = mt_alloc(spec->let_count, sizeof *env->let_failures);
    env->let_faults = mt_alloc(spec->let_count, sizeof *env->let_faults);
    if (!env->slots || !env->let_states || !env->let_failures || !env->let_faults) {
        mt_env_free(env);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < shape->setting_count; i++) env->slots[spec->shape_slot + i] = shape->settings[i].value;
    for (size_t i = 0; i < mt_facts_count(); i++) {
        env->slots[spec->device_slot + i] = (mt_value){ .kind = MT_VALUE_INT, .number = mt_facts_value(facts, i) };
    }
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) env->levels[i] = MT_INACTIVE;
    *out = env;
    return MT_OK;
}

void mt_env_free(mt_env *env)
{
    if (!env) return;
    MT_FREE_EACH(env->slots, env->let_states, env->let_failures, env->let_faults, env);
}

const mt_spec *mt_env_spec(const mt_env *env)
{
    return env->spec;
}

const mt_shape *mt_env_shape(const mt_env *env)
{
    return env->shape;
}

const mt_device_facts *mt_env_facts(const mt_env *env)
{
    return &env->facts;
}

int mt_env_level(const mt_env *env, size_t param)
{
    return env->levels[param];
}

/* ---- setting ---- */

static void put_knob(mt_env *env, size_t param, int level)
{
    const mt_param *knob = &env->spec->params[param];
    mt_value *slot = &env->slots[env->spec->param_slot + param];
    assert(param < env->spec->param_count && level >= MT_INACTIVE && level < (int)knob->value_count);
    env->levels[param] = (int16_t)level;
    *slot = (mt_value){ .kind = MT_VALUE_UNDEFINED };
    if (level == MT_INACTIVE) return;
    if (knob->is_string) {
        *slot = (mt_value){ .kind = MT_VALUE_STRING, .string = knob->strings[level] };
    } else {
        *slot = (mt_value){ .kind = MT_VALUE_INT, .number = knob->numbers[level] };
    }
}

static void forget_let(mt_env *env, size_t let)
{
    env->let_states[let] = LET_UNKNOWN;
    env->slots[env->spec->let_slot + let].kind = MT_VALUE_UNDEFINED;
}

void mt_env_set_knob(mt_env *env, size_t param, int level)
{
    const mt_spec *spec = env->spec;
    put_knob(env, param, level);
    for (size_t i = 0; i < spec->let_count; i++) {
        if (spec->let_knobs[i] >> param & 1) forget_let(env, i);
    }
}

mt_status mt_env_set_point(mt_env *env, const mt_point *point, mt_error *err)
{
    for (size_t i = 0; i < env->spec->param_count; i++) put_knob(env, i, point->level[i]);
    for (size_t i = 0; i < env->spec->let_count; i++) forget_let(env, i);
    return MT_OK;
}

/* A knob's condition reads earlier knobs alone, also through lets. */
mt_status mt_env_set_default(mt_env *env, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = env->spec;
    mt_point point;
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point.level[i] = MT_INACTIVE;
    for (size_t i = 0; i < spec->param_count; i++) {
        int64_t holds = 1;
        bool inactive = false;
        if (spec->params[i].has_when) MT_TRY(mt_env_int(env, &spec->params[i].when, &holds, &inactive, err));
        if (holds && !inactive) point.level[i] = (int16_t)spec->params[i].default_level;
        MT_TRY(mt_env_set_point(env, &point, err));
    }
done:
    return st;
}

void mt_env_put_loop(const mt_env *env, int64_t value)
{
    env->slots[env->spec->loop_slot] = (mt_value){ .kind = MT_VALUE_INT, .number = value };
}

/* ---- evaluating ---- */

void mt_env_touch_let(const mt_env *env, size_t let)
{
    const mt_spec *spec = env->spec;
    if (env->let_states[let] != LET_UNKNOWN) return;
    mt_expr_fault fault = { 0 };
    mt_value value = { 0 };
    mt_program_status status = mt_env_run(env, &spec->lets[let].expr, &value, &fault);
    bool is_fine = status == MT_PROGRAM_OK || status == MT_PROGRAM_INACTIVE;
    env->let_states[let] = is_fine ? LET_KNOWN : LET_FAILED;
    env->let_failures[let] = status;
    env->let_faults[let] = fault;
    env->slots[spec->let_slot + let] = status == MT_PROGRAM_OK ? value : (mt_value){ .kind = MT_VALUE_UNDEFINED };
}

/* Evaluates the lets that the program names and nobody asked for since the knobs changed. */
static bool touch_lets_of(const mt_env *env, const mt_expr *expr)
{
    bool any = false;
    for (size_t i = 0; i < mt_program_name_count(expr->program); i++) {
        uint32_t slot = mt_program_slot(expr->program, i);
        if (slot < env->spec->let_slot || slot >= env->spec->loop_slot) continue;
        size_t let = slot - env->spec->let_slot;
        any = any || env->let_states[let] == LET_UNKNOWN;
        mt_env_touch_let(env, let);
    }
    return any;
}

/* The name that token number `token` of the program reads, when it is a let that failed; else spec's let_count. */
static size_t failed_let_at(const mt_env *env, const mt_expr *expr, size_t token)
{
    const mt_spec *spec = env->spec;
    const char *at = expr->program_text;
    for (; token > 0 && *at; token--) { /* tokens are separated by one space; strings may hold some */
        if (*at == '"') at += 1 + strcspn(at + 1, "\"");
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    if (*at != '$') return spec->let_count;
    size_t length = strcspn(++at, " ");
    for (size_t i = 0; i < spec->let_count; i++) {
        if (env->let_states[i] == LET_FAILED && strlen(spec->lets[i].name) == length && memcmp(spec->lets[i].name, at, length) == 0) return i;
    }
    return spec->let_count;
}

/* A let that failed is undefined in its slot; whoever reads it gets the let's failure instead of "inactive". */
static mt_program_status pass_fault(const mt_env *env, mt_expr_fault *fault)
{
    size_t let_count = env->spec->let_count;
    if (!memchr(env->let_states, LET_FAILED, let_count)) return MT_PROGRAM_INACTIVE;
    size_t let = failed_let_at(env, fault->expr, fault->token);
    if (let == let_count) return MT_PROGRAM_INACTIVE;
    *fault = env->let_faults[let];
    return env->let_failures[let];
}

mt_program_status mt_env_run_ready(const mt_env *env, const mt_expr *expr, mt_value *value, mt_expr_fault *fault)
{
    *fault = (mt_expr_fault){ .expr = expr };
    mt_program_status status = mt_program_eval(expr->program, env->slots, env->spec->slot_count, value, &fault->token);
    return status == MT_PROGRAM_INACTIVE ? pass_fault(env, fault) : status;
}

mt_program_status mt_env_run(const mt_env *env, const mt_expr *expr, mt_value *value, mt_expr_fault *fault)
{
    *fault = (mt_expr_fault){ .expr = expr };
    mt_program_status status = mt_program_eval(expr->program, env->slots, env->spec->slot_count, value, &fault->token);
    if (status != MT_PROGRAM_INACTIVE) return status;
    if (!touch_lets_of(env, expr)) return pass_fault(env, fault);
    return mt_env_run_ready(env, expr, value, fault);
}

/* ", at ALGO=…"; nothing where no knob is set. */
static void add_point(const mt_env *env, const mt_point *at, mt_strbuf *where)
{
    mt_point set = {{0}};
    memcpy(set.level, env->levels, sizeof set.level);
    char *text = mt_point_text(env->spec, at ? at : &set);
    if (text && *text) mt_strbuf_addf(where, ", at %s", text);
    mt_free(text);
}

mt_status mt_env_fail(const mt_env *env, const mt_expr_fault *fault, mt_program_status status, const mt_point *at, mt_error *err)
{
    int line = fault->expr->line, first = mt_spec_column(env->spec, &line, fault->expr->source), column = mt_expr_column(fault->expr, fault->token);
    mt_place place = mt_spec_place(env->spec, line);
    mt_strbuf where = {0};
    add_point(env, at, &where);
    mt_status st = MT_FAIL(err, MT_ERR_SPEC, "%s:%d: column %d: %s: %s (shape %s%s)%s", place.path, place.line, first && column ? first + column - 1 : column,
                           fault->expr->source, mt_program_strerror(status), env->shape->name, mt_strbuf_text(&where), mt_expr_advice(fault->expr, fault->token, status));
    mt_strbuf_free(&where);
    return st;
}

mt_status mt_env_int(const mt_env *env, const mt_expr *expr, int64_t *value, bool *inactive, mt_error *err)
{
    mt_expr_fault fault = { 0 };
    mt_value result = { 0 };
    mt_program_status status = mt_env_run(env, expr, &result, &fault);
    *value = 0;
    if (inactive) *inactive = false;
    if (status == MT_PROGRAM_OK && result.kind == MT_VALUE_INT) {
        *value = result.number;
        return MT_OK;
    }
    if (status == MT_PROGRAM_INACTIVE && inactive) {
        *inactive = true;
        return MT_OK;
    }
    return mt_env_fail(env, &fault, status == MT_PROGRAM_OK ? MT_PROGRAM_TYPE : status, NULL, err);
}

/* ---- ${NAME} ---- */

static void add_value(mt_strbuf *out, const mt_value *value)
{
    if (value->kind == MT_VALUE_STRING) mt_strbuf_add(out, value->string);
    if (value->kind == MT_VALUE_INT) mt_strbuf_addf(out, "%" PRId64, value->number);
    if (value->kind == MT_VALUE_LIST) {
        for (size_t i = 0; i < value->length; i++) mt_strbuf_addf(out, "%s%" PRId64, i ? "," : "", value->list[i]);
    }
}

static mt_status expand_name(const mt_env *env, const char *text, const char *name, mt_strbuf *out, mt_error *err)
{
    const mt_spec *spec = env->spec;
    uint32_t slot = mt_scope_slot(spec, name);
    if (slot == MT_NO_SLOT) return MT_FAIL(err, MT_ERR_SPEC, "%s: ${%s} in `%s`: no such name", spec->path, name, text);
    if (slot >= spec->let_slot) {
        size_t let = slot - spec->let_slot;
        mt_env_touch_let(env, let);
        if (env->let_states[let] == LET_FAILED) return mt_env_fail(env, &env->let_faults[let], env->let_failures[let], NULL, err);
    }
    if (env->slots[slot].kind == MT_VALUE_UNDEFINED) {
        return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: ${%s} in `%s` is inactive at this point", spec->path, name, text);
    }
    add_value(out, &env->slots[slot]);
    return MT_OK;
}

mt_status mt_env_expand(const mt_env *env, const char *text, char **expanded, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf out = { 0 };
    char name[256];
    *expanded = NULL;
    mt_strbuf_add(&out, "");
    for (const char *at = text; *at;) {
        const char *open = strstr(at, "${");
        size_t plain = open ? (size_t)(open - at) : strlen(at);
        mt_strbuf_add_bytes(&out, at, plain);
        if (!open) break;
        size_t length = strcspn(open + 2, "}");
        if (!open[2 + length] || length >= sizeof name) MT_LEAVE(MT_FAIL(err, MT_ERR_SPEC, "%s: `${` without `}` in `%s`", env->spec->path, text));
        memcpy(name, open + 2, length);
        name[length] = '\0';
        MT_TRY(expand_name(env, text, name, &out, err));
        at = open + 2 + length + 1;
    }
    *expanded = mt_strbuf_take(&out);
    if (!*expanded) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
done:
    mt_strbuf_free(&out);
    return st;
}

/* ---- model ---- */

static mt_status figure(const mt_env *env, const mt_expr *expr, double *value, mt_error *err)
{
    int64_t number;
    *value = NAN;
    if (!expr->program) return MT_OK;
    mt_status st = mt_env_int(env, expr, &number, NULL, err);
    if (st == MT_OK) *value = (double)number;
    return st;
}

mt_status mt_env_model(const mt_env *env, mt_model *model, mt_error *err)
{
    mt_status st = MT_OK;
    *model = (mt_model){ NAN, NAN, NAN, NAN, NAN };
    MT_TRY(figure(env, &env->spec->model_flops, &model->flops, err));
    MT_TRY(figure(env, &env->spec->model_dram_bytes, &model->dram_bytes, err));
    MT_TRY(figure(env, &env->spec->model_moved_bytes, &model->moved_bytes, err));
    MT_TRY(figure(env, &env->spec->model_ops, &model->ops, err));
    MT_TRY(figure(env, &env->spec->model_floor_ns, &model->floor_ns, err));
done:
    return st;
}

static mt_status no_time(const mt_env *env, const char *what, mt_error *err)
{
    mt_place place = mt_spec_place(env->spec, env->spec->model_time_ns.line);
    mt_strbuf where = {0};
    add_point(env, NULL, &where);
    mt_status st = MT_FAIL(err, MT_ERR_SPEC, "%s:%d: time_ns %s (shape %s%s): expected a time of at least 1 at every point", place.path, place.line, what, env->shape->name, mt_strbuf_text(&where));
    mt_strbuf_free(&where);
    return st;
}

mt_status mt_env_time_ns(const mt_env *env, double *ns, mt_error *err)
{
    const mt_expr *expr = &env->spec->model_time_ns;
    int64_t value;
    bool is_inactive;
    *ns = NAN;
    if (!expr->program) return MT_OK;
    mt_status st = mt_env_int(env, expr, &value, &is_inactive, err);
    if (st != MT_OK) return st;
    if (is_inactive) return no_time(env, "reads a knob that is inactive", err);
    if (value < 1) {
        char what[64];
        snprintf(what, sizeof what, "is %" PRId64, value);
        return no_time(env, what, err);
    }
    *ns = (double)value;
    return MT_OK;
}
