/* Names that expressions may use, their slots, and which knobs an expression depends on. */
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/spec/spec_scope.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/facts.h"

/* ---- slots ---- */

mt_status mt_scope_build(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    const mt_shape *shape = &spec->shapes[0];
    size_t total = shape->setting_count + mt_facts_count() + spec->param_count + spec->let_count + 1, next = 0;
    spec->slot_names = mt_alloc(total, sizeof *spec->slot_names);
    if (!spec->slot_names) return mt_reader_no_memory(reader, err);
    spec->slot_count = total;
    spec->shape_slot = next;
    for (size_t i = 0; i < shape->setting_count; i++) spec->slot_names[next++] = mt_strdup(shape->settings[i].name);
    spec->device_slot = next;
    for (size_t i = 0; i < mt_facts_count(); i++) {
        mt_strbuf name = { 0 };
        mt_strbuf_addf(&name, "device.%s", mt_facts_name(i));
        spec->slot_names[next++] = mt_strbuf_take(&name);
    }
    spec->param_slot = next;
    for (size_t i = 0; i < spec->param_count; i++) spec->slot_names[next++] = mt_strdup(spec->params[i].name);
    spec->let_slot = next;
    for (size_t i = 0; i < spec->let_count; i++) spec->slot_names[next++] = mt_strdup(spec->lets[i].name);
    spec->loop_slot = next;
    spec->slot_names[next++] = mt_strdup(""); /* the variable's name belongs to the argument */
    for (size_t i = 0; i < total; i++) {
        if (!spec->slot_names[i]) return mt_reader_no_memory(reader, err);
    }
    return MT_OK;
}

uint32_t mt_scope_slot(const mt_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->loop_slot; i++) {
        if (strcmp(spec->slot_names[i], name) == 0) return (uint32_t)i;
    }
    return MT_NO_SLOT;
}

static mt_type type_of_value(const mt_value *value)
{
    return value->kind == MT_VALUE_STRING ? MT_TYPE_STRING : value->kind == MT_VALUE_LIST ? MT_TYPE_LIST : MT_TYPE_INT;
}

static bool lookup(void *context, const char *name, mt_expr_name *out)
{
    const mt_reader *reader = context;
    const mt_spec *spec = reader->spec;
    *out = (mt_expr_name){ .type = MT_TYPE_INT };
    if (reader->loop_name && strcmp(reader->loop_name, name) == 0) return true;
    uint32_t slot = mt_scope_slot(spec, name);
    if (slot == MT_NO_SLOT) return false;
    if (slot >= spec->let_slot) {
        size_t let = slot - spec->let_slot;
        if (let >= reader->let_limit) return false;
        out->type = spec->lets[let].expr.type;
    } else if (slot >= spec->param_slot) {
        const mt_param *param = &spec->params[slot - spec->param_slot];
        if (param->is_string) {
            *out = (mt_expr_name){ MT_TYPE_STRING, (const char *const *)param->strings, param->value_count };
        }
    } else if (slot < spec->device_slot) {
        out->type = type_of_value(&spec->shapes[0].settings[slot].value);
        out->values = spec->owned->shape_strings[slot];
        out->value_count = spec->owned->shape_string_counts[slot];
    }
    return true;
}

static size_t names(void *context, const char *const **out)
{
    const mt_reader *reader = context;
    *out = (const char *const *)reader->spec->slot_names;
    return reader->spec->let_slot + reader->let_limit;
}

/* ---- expressions ---- */

static mt_status bind(mt_reader *reader, int line, mt_expr *expr, mt_error *err)
{
    for (size_t i = 0; i < mt_program_name_count(expr->program); i++) {
        const char *name = mt_program_name(expr->program, i);
        uint32_t slot = reader->loop_name && strcmp(reader->loop_name, name) == 0 ? (uint32_t)reader->spec->loop_slot
                                                                                 : mt_scope_slot(reader->spec, name);
        if (slot == MT_NO_SLOT) return mt_reader_fail(reader, err, line, "%s: unknown name %s", expr->source, name);
        mt_program_bind(expr->program, i, slot);
    }
    return MT_OK;
}

static const char *type_name(mt_type type)
{
    static const char *const text[] = { "an integer", "a condition", "a string", "a list" };
    return text[type];
}

mt_status mt_reader_parse(const mt_reader *reader, int line, const char *text, mt_expr_scope *scope, mt_expr *out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf where = { 0 };
    for (int tries = 0; tries < 2; tries++) { /* the place in the line is looked for only where it is told */
        mt_place place = mt_ini_place(reader->ini, line);
        mt_strbuf_clear(&where);
        mt_strbuf_addf(&where, "%s:%d", place.path, place.line);
        st = mt_expr_parse(mt_strbuf_text(&where), text, scope, out, err);
        if (st != MT_ERR_SYNTAX || tries || !(scope->column = mt_ini_column(reader->ini, &line, text))) break;
    }
    mt_strbuf_free(&where);
    return st;
}

mt_status mt_scope_expr(mt_reader *reader, int line, const char *text, mt_type want, mt_expr *out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_expr_scope scope = { lookup, names, reader, 0 };
    mt_expr expr = { 0 };
    if (!*text) MT_LEAVE(mt_reader_fail(reader, err, line, "an expression is missing: expected %s", want == MT_TYPE_LIST ? "one" : type_name(want)));
    MT_TRY(mt_reader_parse(reader, line, text, &scope, &expr, err));
    expr.line = line;
    if (want == MT_TYPE_BOOL && expr.type != MT_TYPE_BOOL) {
        st = mt_reader_fail(reader, err, line, "%s is %s: expected a condition (a comparison, or comparisons joined by && and ||)", text,
                            type_name(expr.type));
        goto done;
    }
    if (want == MT_TYPE_INT && expr.type != MT_TYPE_INT && expr.type != MT_TYPE_BOOL) MT_LEAVE(mt_reader_fail(reader, err, line, "%s is %s: expected an integer", text, type_name(expr.type)));
    MT_TRY(bind(reader, line, &expr, err));
    mt_expr_free(out);
    *out = expr;
    memset(&expr, 0, sizeof expr);
done:
    mt_expr_free(&expr);
    return st;
}

/* ---- dependence on knobs ---- */

static uint64_t knobs_of_slot(const mt_spec *spec, uint32_t slot)
{
    if (slot == MT_NO_SLOT || slot < spec->param_slot) return 0;
    if (slot < spec->let_slot) return UINT64_C(1) << (slot - spec->param_slot);
    return spec->let_knobs ? spec->let_knobs[slot - spec->let_slot] : 0;
}

uint64_t mt_scope_knobs(const mt_spec *spec, const mt_expr *expr)
{
    uint64_t knobs = 0;
    for (size_t i = 0; expr->program && i < mt_program_name_count(expr->program); i++) {
        knobs |= knobs_of_slot(spec, mt_scope_slot(spec, mt_program_name(expr->program, i)));
    }
    return knobs;
}

/* Cuts the next ${NAME} off *at. Returns false at the end; *name is NULL when the brace is not closed. */
static bool next_reference(const char **at, char *name, size_t size, bool *malformed)
{
    const char *open = strstr(*at, "${");
    *malformed = false;
    if (!open) return false;
    size_t length = strcspn(open + 2, "}");
    *malformed = open[2 + length] != '}' || length + 1 > size;
    if (*malformed) return true;
    memcpy(name, open + 2, length);
    name[length] = '\0';
    *at = open + 2 + length + 1;
    return true;
}

uint64_t mt_scope_knobs_of_text(const mt_spec *spec, const char *text)
{
    uint64_t knobs = 0;
    char name[256];
    bool malformed;
    while (text && next_reference(&text, name, sizeof name, &malformed) && !malformed) knobs |= knobs_of_slot(spec, mt_scope_slot(spec, name));
    return knobs;
}

mt_status mt_scope_check_text(const mt_reader *reader, int line, const char *text, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    char name[256], hint[512];
    bool malformed;
    while (text && next_reference(&text, name, sizeof name, &malformed)) {
        if (malformed) return mt_reader_fail(reader, err, line, "`${` without `}`: expected ${NAME} in %s", text);
        uint32_t slot = mt_scope_slot(spec, name);
        if (slot == MT_NO_SLOT || (slot >= spec->device_slot && slot < spec->param_slot) || slot >= spec->let_slot + spec->model_let) {
            return mt_reader_fail(reader, err, line, "${%s}: expected a shape value, a knob or a let%s", name,
                                  mt_reader_suggest(name, (const char *const *)spec->slot_names, spec->let_slot + spec->model_let, hint, sizeof hint));
        }
    }
    return MT_OK;
}

const char *mt_scope_knob_list(const mt_spec *spec, uint64_t knobs, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < spec->param_count && used < size; i++) {
        if (knobs >> i & 1) used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", spec->params[i].name);
    }
    return out;
}
