/* The caller's names ("N", "H[0]", "dtype=f16", "workload=local15") against the kernel's shape values; and stored shapes against both. */
#include "db/key.h"
#include "db/lookup/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a list element is in the caller's order, while names are read. */
typedef struct element { const mt_lookup_model_name *name; int64_t index; } element;

static mt_lookup_model_name *find_name(const mt_lookup_model *model, const char *text, size_t length)
{
    for (uint32_t i = 0; i < model->name_count; i++) {
        if (strncmp(model->names[i].name, text, length) == 0 && model->names[i].name[length] == '\0') return &model->names[i];
    }
    return NULL;
}

static tunelookup_status bad_name(const mt_lookup_answers *answers, const char *name, const char *what)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_NAMES, "kernel %s: %s: %s", answers->kernel, name, what);
}

/* Adds how the caller would give the name: "N", "H[0] …", "dtype=…". */
static void add_form(char *out, size_t size, const mt_lookup_model_name *name)
{
    static const char *const forms[] = { [MT_LOOKUP_NAME_INT] = "", [MT_LOOKUP_NAME_LIST] = "[0] …", [MT_LOOKUP_NAME_STRING] = "=…" };
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s%s", used ? ", " : "", name->name, forms[name->kind]);
}

static tunelookup_status no_such(const mt_lookup_answers *answers, const char *text)
{
    char all[600] = "";
    for (uint32_t i = 0; i < answers->model.name_count; i++) add_form(all, sizeof all, &answers->model.names[i]);
    return mt_lookup_fail(TUNELOOKUP_ERR_NAMES, "kernel %s: %s: the kernel has no such shape value; it has: %s", answers->kernel, text, all);
}

/* Every value that is missing at once. */
static tunelookup_status check_all_bound(const mt_lookup_answers *answers)
{
    char missing[600] = "";
    for (uint32_t i = 0; i < answers->model.name_count; i++) {
        if (!answers->model.names[i].is_bound) add_form(missing, sizeof missing, &answers->model.names[i]);
    }
    return *missing ? mt_lookup_fail(TUNELOOKUP_ERR_NAMES, "kernel %s: shape values are missing: %s", answers->kernel, missing) : TUNELOOKUP_OK;
}

/* "dtype=f16", "workload=local15", "class=ALGO=…" */
static tunelookup_status bind_setting(mt_lookup_answers *answers, const char *text, const char *equals)
{
    mt_lookup_model_name *name = find_name(&answers->model, text, (size_t)(equals - text));
    const char *value = mt_lookup_arena_text(&answers->arena, equals + 1, strlen(equals + 1));
    if (!value) return mt_lookup_no_memory();
    if (!name && strncmp(text, "workload=", 9) == 0) {
        if (answers->workload) return bad_name(answers, text, "the workload is given twice");
        answers->workload = value;
        return TUNELOOKUP_OK;
    }
    if (!name && strncmp(text, "class=", 6) == 0) {
        const mt_lookup_variant *member = mt_lookup_variant_make(answers, 0, value);
        if (answers->member) return bad_name(answers, text, "the class is given twice");
        if (!member) return mt_lookup_no_memory();
        if (member->problem) return bad_name(answers, text, member->problem);
        answers->member = value;
        return TUNELOOKUP_OK;
    }
    if (!name) return no_such(answers, text);
    if (name->kind != MT_LOOKUP_NAME_STRING) return bad_name(answers, text, "is no string; give its name here and its number to find");
    if (name->is_bound) return bad_name(answers, text, "is given twice");
    name->is_bound = true;
    name->string = value;
    return TUNELOOKUP_OK;
}

/* "N", "H[3]" → element */
static tunelookup_status read_element(mt_lookup_answers *answers, const char *text, element *out)
{
    const char *bracket = strchr(text, '[');
    mt_lookup_model_name *name = find_name(&answers->model, text, bracket ? (size_t)(bracket - text) : strlen(text));
    if (!name) return no_such(answers, text);
    if (name->kind == MT_LOOKUP_NAME_STRING) return bad_name(answers, text, "is a string; bind it as NAME=VALUE");
    if ((name->kind == MT_LOOKUP_NAME_LIST) != (bracket != NULL)) return bad_name(answers, text, bracket ? "is no list" : "is a list; give its elements NAME[0], NAME[1] …");
    *out = (element){ name, 0 };
    if (!bracket) {
        if (name->is_bound) return bad_name(answers, text, "is given twice");
        name->is_bound = true;
        name->length = 1;
        return TUNELOOKUP_OK;
    }
    char *end;
    bool is_digit = bracket[1] >= '0' && bracket[1] <= '9';
    out->index = is_digit ? strtol(bracket + 1, &end, 10) : -1;
    if (out->index < 0 || out->index >= TUNELOOKUP_MAX_VALUES || strcmp(end, "]") != 0) return bad_name(answers, text, "expected NAME[k] with k = 0, 1 …");
    name->is_bound = true;
    name->length++;
    return TUNELOOKUP_OK;
}

/* Every shape value once, lists without holes; gives each its place. */
static tunelookup_status lay_out(mt_lookup_answers *answers, const element *elements, uint32_t count)
{
    uint32_t next = 0;
    bool taken[TUNELOOKUP_MAX_VALUES] = { false };
    tunelookup_status st = check_all_bound(answers);
    if (st != TUNELOOKUP_OK) return st;
    for (uint32_t i = 0; i < answers->model.name_count; i++) {
        mt_lookup_model_name *name = &answers->model.names[i];
        name->offset = next;
        next += name->length;
    }
    for (uint32_t i = 0; i < count; i++) {
        const mt_lookup_model_name *name = elements[i].name;
        if (elements[i].index >= name->length) return bad_name(answers, name->name, "elements are missing between those given");
        uint32_t place = name->offset + (uint32_t)elements[i].index;
        if (taken[place]) return bad_name(answers, name->name, "an element is given twice");
        taken[place] = true;
        answers->order[i] = place;
    }
    answers->value_count = next;
    return TUNELOOKUP_OK;
}

tunelookup_status mt_lookup_bind_names(mt_lookup_answers *answers, const char *const *names, size_t count)
{
    element elements[TUNELOOKUP_MAX_VALUES];
    uint32_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(names[i], '=');
        tunelookup_status st;
        if (equals) {
            st = bind_setting(answers, names[i], equals);
        } else if (used == TUNELOOKUP_MAX_VALUES) {
            st = mt_lookup_fail(TUNELOOKUP_ERR_LIMIT, "kernel %s: more than %d shape values", answers->kernel, TUNELOOKUP_MAX_VALUES);
        } else {
            st = read_element(answers, names[i], &elements[used++]);
        }
        if (st != TUNELOOKUP_OK) return st;
    }
    return lay_out(answers, elements, used);
}

/* ---- stored shapes ---- */

static bool read_list(const char **at, uint32_t length, int64_t *values)
{
    for (uint32_t i = 0; i < length; i++) {
        if (i > 0 && *(*at)++ != ',') return false;
        if (!(*at = mt_key_int(*at, &values[i]))) return false;
    }
    return true;
}

/* A list of one element is written "7,", which tells it from the integer 7. */
static bool read_value(const char **at, const mt_lookup_model_name *name, int64_t *values)
{
    if (!read_list(at, name->length, values)) return false;
    return name->kind == MT_LOOKUP_NAME_INT || name->length != 1 || *(*at)++ == ',';
}

/* Key and model have the names in the same order, so one walk over both suffices. */
bool mt_lookup_parse_shape(const mt_lookup_model *model, const char *key, int64_t *values)
{
    const char *at = key;
    for (uint32_t i = 0; i < model->name_count; i++) {
        const mt_lookup_model_name *name = &model->names[i];
        size_t length = strlen(name->name);
        if (i > 0 && *at++ != ';') return false;
        if (strncmp(at, name->name, length) != 0 || at[length] != '=') return false;
        at += length + 1;
        if (name->kind == MT_LOOKUP_NAME_STRING) {
            length = strlen(name->string);
            if (strncmp(at, name->string, length) != 0) return false;
            at += length;
        } else if (!read_value(&at, name, values + name->offset)) {
            return false;
        }
    }
    return *at == '\0';
}
