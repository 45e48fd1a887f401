/* Evaluating a kernel's expressions for one shape, variant and device. Used by finders: no allocation, no lock.
 *
 * An expression that reads an inactive knob (or a let that reads one) does not apply. One that can't be computed is another matter: a let that failed is given a kind
 * that no operation takes, so that what reads it fails too. */
#include "db/lookup/lookup.h"

#include <stdio.h>
#include <string.h>

enum { FAILED_LET = 99 }; /* no mt_value_kind */

static void fill_shape(mt_lookup_env *env, const int64_t *values)
{
    const mt_lookup_model *model = &env->answers->model;
    for (uint32_t i = 0; i < model->name_count; i++) {
        const mt_lookup_model_name *name = &model->names[i];
        mt_value *slot = &env->slots[i];
        *slot = (mt_value){ 0 };
        switch (name->kind) {
        case MT_LOOKUP_NAME_INT: *slot = (mt_value){ .kind = MT_VALUE_INT, .number = values[name->offset] }; break;
        case MT_LOOKUP_NAME_LIST: *slot = (mt_value){ .kind = MT_VALUE_LIST, .list = values + name->offset, .length = name->length }; break;
        case MT_LOOKUP_NAME_STRING: *slot = (mt_value){ .kind = MT_VALUE_STRING, .string = name->string }; break;
        }
    }
}

void mt_lookup_env_begin(mt_lookup_env *env, const mt_lookup_answers *answers, const int64_t *values)
{
    const mt_lookup_model *model = &answers->model;
    env->answers = answers;
    env->has_fixed_places = false;
    fill_shape(env, values);
    for (uint32_t i = 0; i < MT_LOOKUP_FACTS; i++) env->slots[model->device_slot + i] = (mt_value){ .kind = MT_VALUE_INT, .number = model->facts[i] };
    env->slots[model->loop_slot] = (mt_value){ 0 };
}

void mt_lookup_env_set_variant(mt_lookup_env *env, const mt_lookup_variant *variant)
{
    const mt_lookup_model *model = &env->answers->model;
    env->variant = variant;
    if (model->param_count) memcpy(&env->slots[model->param_slot], variant->knobs, model->param_count * sizeof *variant->knobs);
}

void mt_lookup_env_compute(mt_lookup_env *env, uint32_t let)
{
    const mt_lookup_model *model = &env->answers->model;
    mt_value value = { 0 };
    mt_program_status status = mt_program_eval(model->lets[let].value, env->slots, model->let_slot + let, &value, NULL);
    if (status == MT_PROGRAM_INACTIVE) value = (mt_value){ 0 };
    else if (status != MT_PROGRAM_OK) value = (mt_value){ .kind = (mt_value_kind)FAILED_LET, .number = status };
    env->slots[model->let_slot + let] = value;
}

void mt_lookup_env_fill(mt_lookup_env *env, const mt_lookup_answers *answers, const mt_lookup_variant *variant, const int64_t *values)
{
    mt_lookup_env_begin(env, answers, values);
    mt_lookup_env_set_variant(env, variant);
    for (uint32_t i = 0; i < answers->model.model_let; i++) mt_lookup_env_compute(env, i);
}

mt_program_status mt_lookup_env_number(const mt_lookup_env *env, const mt_program *program, int64_t *value)
{
    mt_value result = { 0 };
    *value = 0;
    mt_program_status status = mt_program_eval(program, env->slots, env->answers->model.slot_count, &result, NULL);
    if (status != MT_PROGRAM_OK) return status;
    if (result.kind != MT_VALUE_INT) return MT_PROGRAM_TYPE;
    *value = result.number;
    return MT_PROGRAM_OK;
}

/* What went wrong in words: the failed let or the missing device fact that the program reads says more than the status. */
static const char *trouble_of(const mt_lookup_env *env, const mt_program *program, mt_program_status status, char *out, size_t size)
{
    const mt_lookup_model *model = &env->answers->model;
    snprintf(out, size, "%s", mt_program_strerror(status));
    for (size_t i = 0; i < mt_program_name_count(program); i++) {
        const char *name = mt_program_name(program, i);
        uint32_t slot = mt_lookup_model_slot(model, name);
        if (slot == MT_LOOKUP_NO_SLOT) {
            if (strncmp(name, "device.", 7) == 0) snprintf(out, size, "needs %s, which the caller did not give", name);
        } else if (slot >= model->let_slot && slot < model->loop_slot && (int)env->slots[slot].kind == FAILED_LET) {
            snprintf(out, size, "%s: %s", name, mt_program_strerror((mt_program_status)env->slots[slot].number));
        }
    }
    return out;
}

/* ---- may it run? ---- */

/* Writes why not and returns it; NULL when the condition holds or does not apply. */
static const char *refuse(const mt_lookup_env *env, const mt_program *condition, const char *what, const char *name, const char *why, char *out, size_t size)
{
    char trouble[128];
    int64_t holds;
    mt_program_status status = mt_lookup_env_number(env, condition, &holds);
    if (status == MT_PROGRAM_INACTIVE || (status == MT_PROGRAM_OK && holds)) return NULL;
    if (!out) return "";
    if (status == MT_PROGRAM_OK) snprintf(out, size, "breaks %s %s here%s%s", what, name, *why ? ": " : "", why);
    else snprintf(out, size, "%s %s can't be decided here: %s", what, name, trouble_of(env, condition, status, trouble, sizeof trouble));
    return out;
}

/* Rules that change with nothing but the plan count as the shape's. */
static bool is_wanted(uint8_t changes, uint8_t with)
{
    return changes == MT_LOOKUP_WITH_ANY || changes == (with ? with : MT_LOOKUP_WITH_SHAPES);
}

/* Which knobs are active depends on the shape: the variant must have exactly those. */
static const char *refuse_knobs(const mt_lookup_env *env, uint8_t changes, char *out, size_t size)
{
    const mt_lookup_model *model = &env->answers->model;
    for (uint32_t i = 0; i < model->param_count; i++) {
        int64_t active = 1;
        if (!is_wanted(changes, model->params[i].changes_with | MT_LOOKUP_WITH_KNOBS)) continue;
        if (model->params[i].when && mt_lookup_env_number(env, model->params[i].when, &active) != MT_PROGRAM_OK) active = 0;
        if (!active == (env->variant->knobs[i].kind == MT_VALUE_UNDEFINED)) continue;
        if (!out) return "";
        snprintf(out, size, "%s %s, which is %s here", active ? "has no" : "has", model->params[i].name, active ? "active" : "inactive");
        return out;
    }
    return NULL;
}

const char *mt_lookup_env_refusal_of(const mt_lookup_env *env, uint8_t changes, char *out, size_t size)
{
    const mt_lookup_model *model = &env->answers->model;
    const char *refusal = NULL;
    if (changes != MT_LOOKUP_WITH_SHAPES) {
        const mt_lookup_model_variant *algorithm = &model->variants[env->variant->algo];
        refusal = refuse_knobs(env, changes, out, size);
        if (!refusal && algorithm->requires_program && is_wanted(changes, algorithm->changes_with | MT_LOOKUP_WITH_KNOBS)) refusal = refuse(env, algorithm->requires_program, "the requirement of", algorithm->name, "", out, size);
    }
    for (uint32_t i = 0; i < model->constraint_count && !refusal; i++) {
        const mt_lookup_model_constraint *constraint = &model->constraints[i];
        if (is_wanted(changes, constraint->changes_with)) refusal = refuse(env, constraint->holds, "constraint", constraint->name, constraint->why, out, size);
    }
    return refusal;
}

const char *mt_lookup_env_refusal(const mt_lookup_env *env, char *out, size_t size)
{
    return env->variant->problem ? env->variant->problem : mt_lookup_env_refusal_of(env, MT_LOOKUP_WITH_ANY, out, size);
}

/* ---- ${NAME} ---- */

static int value_text(const mt_value *value, char *out, size_t size)
{
    if (value->kind == MT_VALUE_STRING) return snprintf(out, size, "%s", value->string);
    if (value->kind == MT_VALUE_INT) return snprintf(out, size, "%lld", (long long)value->number);
    return -1; /* lists have no place in a dtype */
}

bool mt_lookup_env_expand(const mt_lookup_env *env, const char *text, char *out, size_t size)
{
    char name[128];
    size_t used = 0;
    for (const char *at = text; *at;) {
        const char *open = strstr(at, "${");
        size_t plain = open ? (size_t)(open - at) : strlen(at);
        if (used + plain >= size) return false;
        memcpy(out + used, at, plain);
        used += plain;
        if (!open) break;
        size_t length = strcspn(open + 2, "}");
        if (!open[2 + length] || length >= sizeof name) return false;
        memcpy(name, open + 2, length);
        name[length] = '\0';
        uint32_t slot = mt_lookup_model_slot(&env->answers->model, name);
        int added = slot == MT_LOOKUP_NO_SLOT ? -1 : value_text(&env->slots[slot], out + used, size - used);
        if (added < 0 || (size_t)added >= size - used) return false;
        used += (size_t)added;
        at = open + 2 + length + 1;
    }
    out[used] = '\0';
    return true;
}
