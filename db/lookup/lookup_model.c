/* A kernel's stored expressions (kernel.spec_json, written by tuner/space/spec/spec_json.c) → programs bound to slots.
 *
 * Slots: shape values, device facts, knobs, lets, one loop variable. A fact that the caller did not give has no slot, so that an expression that reads it fails, and
 * is not taken for one that does not apply. Everything that comes from the file is checked here; evaluation relies on it. */
#include "db/lookup/lookup_cost.h"

#include <stdio.h>
#include <string.h>

const char *const mt_lookup_fact_names[MT_LOOKUP_FACTS] = { "cc", "sm_count", "smem_optin", "smem_per_sm", "smem_reserved", "regs_per_sm",
                                                            "threads_per_sm", "blocks_per_sm", "max_cluster", "l2_bytes", "mem_bytes", "clock_mhz" };

static void facts_of(const tunelookup_device *device, int64_t facts[MT_LOOKUP_FACTS])
{
    const int64_t given[MT_LOOKUP_FACTS] = { device->cc, device->sm_count, device->smem_optin, device->smem_per_sm, device->smem_reserved, device->regs_per_sm,
                                             device->threads_per_sm, device->blocks_per_sm, device->max_cluster, device->l2_bytes, device->mem_bytes,
                                             device->clock_mhz };
    memcpy(facts, given, sizeof given);
}

tunelookup_status mt_lookup_model_bad(const mt_lookup_model_reader *reader, const char *what)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: %s", reader->where, what);
}

/* ---- names and programs ---- */

static uint32_t slot_of_fact(const mt_lookup_model *model, const char *name)
{
    for (uint32_t i = 0; i < MT_LOOKUP_FACTS; i++) {
        if (strcmp(mt_lookup_fact_names[i], name) == 0) return model->facts[i] > 0 ? model->device_slot + i : MT_LOOKUP_NO_SLOT;
    }
    return MT_LOOKUP_NO_SLOT;
}

/* Thousands of names are compared while a kernel is read; most differ at once. */
static bool is_name(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

uint32_t mt_lookup_model_slot(const mt_lookup_model *model, const char *name)
{
    if (strncmp(name, "device.", 7) == 0) return slot_of_fact(model, name + 7);
    for (uint32_t i = 0; i < model->name_count; i++) {
        if (is_name(model->names[i].name, name)) return i;
    }
    for (uint32_t i = 0; i < model->param_count; i++) {
        if (is_name(model->params[i].name, name)) return model->param_slot + i;
    }
    for (uint32_t i = 0; i < model->let_count; i++) {
        if (is_name(model->lets[i].name, name)) return model->let_slot + i;
    }
    return MT_LOOKUP_NO_SLOT;
}

/* Keeps in mind that an expression reads a fact which the caller did not give, so that explain can name all of them at once. */
static void note_missing(mt_lookup_model *model, const char *name)
{
    if (strncmp(name, "device.", 7) != 0) return;
    for (uint32_t i = 0; i < MT_LOOKUP_FACTS; i++) {
        if (strcmp(mt_lookup_fact_names[i], name + 7) == 0 && model->facts[i] <= 0) model->missing_facts |= UINT32_C(1) << i;
    }
}

static tunelookup_status load_program(const mt_lookup_model_reader *reader, const char *text, const mt_program **out)
{
    mt_program *program = NULL;
    *out = NULL;
    size_t bytes = mt_program_bytes(text);
    void *memory = mt_lookup_arena_take(reader->arena, bytes, 1);
    if (!memory) return mt_lookup_no_memory();
    if (mt_program_load(text, memory, bytes, &program, NULL) != MT_PROGRAM_OK) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: an expression's program is damaged: \"%.40s\"", reader->where, text);
    for (size_t i = 0; i < mt_program_name_count(program); i++) {
        const char *name = mt_program_name(program, i);
        bool is_loop = reader->loop && strcmp(reader->loop, name) == 0;
        note_missing(reader->model, name);
        mt_program_bind(program, i, is_loop ? reader->model->loop_slot : mt_lookup_model_slot(reader->model, name));
    }
    *out = program;
    return TUNELOOKUP_OK;
}

/* What is there and no text is no expression that may be passed over. */
tunelookup_status mt_lookup_model_program(const mt_lookup_model_reader *reader, const mt_lookup_json *object, const char *key, const mt_program **out)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    *out = NULL;
    if (!member || member->kind == MT_LOOKUP_JSON_NULL) return TUNELOOKUP_OK;
    return member->text ? load_program(reader, member->text, out) : mt_lookup_model_bad(reader, "an expression is no text");
}

tunelookup_status mt_lookup_model_list_load(const mt_lookup_model_reader *reader, const mt_lookup_json *array, uint32_t limit, mt_lookup_model_list *list)
{
    *list = (mt_lookup_model_list){ 0 };
    if (!array) return TUNELOOKUP_OK;
    if (array->kind != MT_LOOKUP_JSON_ARRAY || array->count > limit) return mt_lookup_model_bad(reader, "a list of expressions is no list or too long");
    list->items = mt_lookup_arena_take(reader->arena, array->count, sizeof *list->items);
    if (!list->items) return mt_lookup_no_memory();
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        if (!at->text) return mt_lookup_model_bad(reader, "an expression is no text");
        tunelookup_status st = load_program(reader, at->text, &list->items[list->count++]);
        if (st != TUNELOOKUP_OK) return st;
    }
    return TUNELOOKUP_OK;
}

/* Room for the objects of member `key`; NULL array = none. */
static tunelookup_status room(const mt_lookup_model_reader *reader, const mt_lookup_json *array, size_t size, uint32_t limit, void *items, uint32_t *count)
{
    if (array && (array->kind != MT_LOOKUP_JSON_ARRAY || array->count > limit)) return mt_lookup_model_bad(reader, "a list is no list or too long");
    uint32_t wanted = array ? array->count : 0;
    void *memory = mt_lookup_arena_take(reader->arena, wanted, size);
    if (!memory) return mt_lookup_no_memory();
    memcpy(items, &memory, sizeof memory);
    *count = wanted;
    return TUNELOOKUP_OK;
}

/* ---- sections ---- */

static tunelookup_status load_names(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    tunelookup_status st = room(reader, array, sizeof *model->names, TUNELOOKUP_MAX_VALUES, &model->names, &model->name_count);
    if (st != TUNELOOKUP_OK) return st;
    mt_lookup_model_name *name = model->names;
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next, name++) {
        const char *kind = mt_lookup_json_text(at, "kind");
        name->name = mt_lookup_json_text(at, "name");
        if (!name->name || !kind) return mt_lookup_model_bad(reader, "a shape value has no name or kind");
        name->kind = strcmp(kind, "list") == 0 ? MT_LOOKUP_NAME_LIST : strcmp(kind, "string") == 0 ? MT_LOOKUP_NAME_STRING : MT_LOOKUP_NAME_INT;
        if (name > model->names && strcmp(name[-1].name, name->name) >= 0) return mt_lookup_model_bad(reader, "shape values are not in order");
    }
    return TUNELOOKUP_OK;
}

/* The knob's default; a knob without one (of an older file) is no error: the kernel then has no default variant. False = no memory. */
static bool read_standard(const mt_lookup_model_reader *reader, const mt_lookup_json *object, mt_lookup_model_param *param)
{
    const mt_lookup_json *values = mt_lookup_json_member(object, "values"), *value = values ? values->first : NULL;
    char text[512];
    for (int64_t i = mt_lookup_json_int(object, "default", -1); i > 0 && value; i--) value = value->next;
    bool fits = value && value->kind == (param->is_string ? MT_LOOKUP_JSON_TEXT : MT_LOOKUP_JSON_INTEGER) && mt_lookup_json_int(object, "default", -1) >= 0;
    if (!fits) return true;
    int length = param->is_string ? snprintf(text, sizeof text, "%s=%s", param->name, value->text) : snprintf(text, sizeof text, "%s=%lld", param->name, (long long)value->number);
    if (length < 0 || (size_t)length >= sizeof text) return true;
    param->standard = param->is_string ? (mt_value){ .kind = MT_VALUE_STRING, .string = value->text } : (mt_value){ .kind = MT_VALUE_INT, .number = value->number };
    param->standard_text = mt_lookup_arena_text(reader->arena, text, (size_t)length);
    param->has_standard = param->standard_text != NULL;
    return param->has_standard;
}

static bool sort_params(const mt_lookup_model_reader *reader)
{
    mt_lookup_model *model = reader->model;
    uint32_t *order = mt_lookup_arena_take(reader->arena, model->param_count, sizeof *order);
    for (uint32_t i = 0; order && i < model->param_count; i++) {
        uint32_t at = i;
        for (; at > 0 && strcmp(model->params[order[at - 1]].name, model->params[i].name) > 0; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    model->params_by_name = order;
    return order != NULL;
}

static tunelookup_status load_param_names(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    tunelookup_status st = room(reader, array, sizeof *model->params, MT_LOOKUP_PARAMS, &model->params, &model->param_count);
    if (st != TUNELOOKUP_OK) return st;
    mt_lookup_model_param *param = model->params;
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next, param++) {
        param->name = mt_lookup_json_text(at, "name");
        param->is_string = mt_lookup_json_bool(at, "string");
        if (!param->name) return mt_lookup_model_bad(reader, "a knob has no name");
        if (!read_standard(reader, at, param)) return mt_lookup_no_memory();
    }
    return sort_params(reader) ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

static tunelookup_status add_let_names(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next) {
        mt_lookup_model_let *let = &model->lets[model->let_count++];
        if (!(let->name = mt_lookup_json_text(at, "name"))) return mt_lookup_model_bad(reader, "a let has no name");
    }
    return TUNELOOKUP_OK;
}

static bool is_list(const mt_lookup_json *array)
{
    return !array || (array->kind == MT_LOOKUP_JSON_ARRAY && array->count <= MT_LOOKUP_SLOTS);
}

/* Those of the cost model stand behind the others. */
static tunelookup_status load_let_names(mt_lookup_model_reader *reader, const mt_lookup_json *lets, const mt_lookup_json *helpers)
{
    mt_lookup_model *model = reader->model;
    if (!is_list(lets) || !is_list(helpers)) return mt_lookup_model_bad(reader, "a list is no list or too long");
    model->lets = mt_lookup_arena_take(reader->arena, (lets ? lets->count : 0) + (helpers ? helpers->count : 0), sizeof *model->lets);
    if (!model->lets) return mt_lookup_no_memory();
    tunelookup_status st = add_let_names(reader, lets);
    model->model_let = model->let_count;
    return st == TUNELOOKUP_OK ? add_let_names(reader, helpers) : st;
}

static tunelookup_status lay_out_slots(mt_lookup_model_reader *reader)
{
    mt_lookup_model *model = reader->model;
    model->device_slot = model->name_count;
    model->param_slot = model->device_slot + MT_LOOKUP_FACTS;
    model->let_slot = model->param_slot + model->param_count;
    model->loop_slot = model->let_slot + model->let_count;
    model->slot_count = model->loop_slot + 1;
    if (model->slot_count > MT_LOOKUP_SLOTS) return mt_lookup_fail(TUNELOOKUP_ERR_LIMIT, "%s: more than %d names", reader->where, MT_LOOKUP_SLOTS);
    return TUNELOOKUP_OK;
}

static tunelookup_status load_let_programs(const mt_lookup_model_reader *reader, const mt_lookup_json *array, mt_lookup_model_let *let)
{
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next, let++) {
        tunelookup_status st = mt_lookup_model_program(reader, at, "value", &let->value);
        if (st != TUNELOOKUP_OK) return st;
        if (!let->value) return mt_lookup_model_bad(reader, "a let has no value");
    }
    return TUNELOOKUP_OK;
}

/* Programs of params and lets, once all names have slots. */
static tunelookup_status load_name_programs(mt_lookup_model_reader *reader, const mt_lookup_json *params, const mt_lookup_json *lets)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_model_param *param = reader->model->params;
    for (const mt_lookup_json *at = params ? params->first : NULL; at; at = at->next, param++) {
        LOOKUP_TRY(mt_lookup_model_program(reader, at, "when", &param->when));
    }
    st = load_let_programs(reader, lets, reader->model->lets);
done:
    return st;
}

static uint32_t add_digest(uint32_t digest, const char *text)
{
    for (; *text; text++) digest = (digest ^ (unsigned char)*text) * 16777619u;
    return digest * 16777619u;
}

/* What a point is believed to take. Costs that a tuner stored hold for the expressions that it had. */
static tunelookup_status load_time(mt_lookup_model_reader *reader, const mt_lookup_json *object)
{
    mt_lookup_model *model = reader->model;
    const mt_lookup_json *lets = mt_lookup_json_member(object, "lets");
    const char *text = mt_lookup_json_text(object, "time_ns");
    uint32_t digest = 2166136261u;
    tunelookup_status st = load_let_programs(reader, lets, model->lets + model->model_let);
    if (st == TUNELOOKUP_OK) st = mt_lookup_model_program(reader, object, "time_ns", &model->time_ns);
    if (st != TUNELOOKUP_OK || !text) return st;
    for (const mt_lookup_json *at = lets ? lets->first : NULL; at; at = at->next) digest = add_digest(add_digest(digest, mt_lookup_json_text(at, "name")), mt_lookup_json_text(at, "value"));
    digest = add_digest(digest, text);
    const mt_lookup_json *correction = mt_lookup_json_member(object, "correction"), *trees = mt_lookup_json_member(correction, "trees");
    if (!mt_lookup_trees_read(reader, correction)) return mt_lookup_model_bad(reader, "the correction of its cost model is damaged");
    for (const mt_lookup_json *at = model->correction ? trees->first : NULL; at; at = at->next) digest = add_digest(digest, at->text);
    model->time_digest = digest ? digest : 1;
    return TUNELOOKUP_OK;
}

/* Which shape values the code depends on; a file that does not say: all. */
static uint64_t read_baked(const mt_lookup_model *model, const mt_lookup_json *array)
{
    uint64_t baked = 0;
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY) return UINT64_MAX;
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        uint32_t i = 0;
        while (i < model->name_count && (!at->text || strcmp(model->names[i].name, at->text) != 0)) i++;
        if (i == model->name_count) return UINT64_MAX;
        baked |= UINT64_C(1) << i;
    }
    return baked;
}

static tunelookup_status load_variants(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    tunelookup_status st;
    LOOKUP_TRY(room(reader, array, sizeof *model->variants, 1024, &model->variants, &model->variant_count));
    mt_lookup_model_variant *variant = model->variants;
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next, variant++) {
        variant->name = mt_lookup_json_text(at, "name");
        variant->entry = mt_lookup_json_text(at, "entry");
        if (!variant->name || !variant->entry) return mt_lookup_model_bad(reader, "a variant has no name or entry");
        variant->baked = read_baked(model, mt_lookup_json_member(at, "bakes"));
        LOOKUP_TRY(mt_lookup_model_program(reader, at, "requires", &variant->requires_program));
    }
done:
    return st;
}

/* ["direct","baseline"]; a file that does not say has one, the first variant. */
static tunelookup_status load_defaults(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    model->default_count = model->variant_count ? 1 : 0;
    if (!array) return TUNELOOKUP_OK;
    if (array->kind != MT_LOOKUP_JSON_ARRAY || array->count > MT_LOOKUP_CHOICES) return mt_lookup_model_bad(reader, "its defaults are no list or too many");
    model->default_count = 0;
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        uint32_t i = 0;
        while (i < model->variant_count && (!at->text || strcmp(model->variants[i].name, at->text) != 0)) i++;
        if (i == model->variant_count) return mt_lookup_model_bad(reader, "a default is no variant");
        model->defaults[model->default_count++] = i;
    }
    return TUNELOOKUP_OK;
}

static tunelookup_status load_constraints(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    tunelookup_status st;
    LOOKUP_TRY(room(reader, array, sizeof *model->constraints, 4096, &model->constraints, &model->constraint_count));
    mt_lookup_model_constraint *constraint = model->constraints;
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next, constraint++) {
        const char *why = mt_lookup_json_text(at, "why");
        constraint->name = mt_lookup_json_text(at, "name");
        constraint->why = why ? why : "";
        LOOKUP_TRY(mt_lookup_model_program(reader, at, "holds", &constraint->holds));
        if (!constraint->name || !constraint->holds) return mt_lookup_model_bad(reader, "a constraint has no name or expression");
    }
done:
    return st;
}

tunelookup_status mt_lookup_model_load(const mt_lookup_json *root, const tunelookup_device *device, const char *where, mt_lookup_arena *arena,
                                       mt_lookup_model *model)
{
    tunelookup_status st;
    mt_lookup_model_reader reader = { .arena = arena, .model = model, .where = where };
    const mt_lookup_json *params = mt_lookup_json_member(root, "params"), *lets = mt_lookup_json_member(root, "lets"), *time = mt_lookup_json_member(root, "model");
    *model = (mt_lookup_model){ 0 };
    if (!root || root->kind != MT_LOOKUP_JSON_OBJECT) return mt_lookup_model_bad(&reader, "its expressions are no JSON object");
    if (time && time->kind != MT_LOOKUP_JSON_OBJECT) return mt_lookup_model_bad(&reader, "its cost model is no object");
    if (mt_lookup_json_int(root, "format", 0) != 1) return mt_lookup_model_bad(&reader, "its expressions have a format that this library does not know");
    const char *l2 = mt_lookup_json_text(root, "regime"), *reference = mt_lookup_json_text(root, "reference");
    model->is_by_default = reference && strcmp(reference, "default") == 0;
    model->l2 = l2 ? l2 : "cold";
    model->per = mt_lookup_json_text(root, "per");
    facts_of(device, model->facts);
    LOOKUP_TRY(load_names(&reader, mt_lookup_json_member(root, "shape")));
    LOOKUP_TRY(load_param_names(&reader, params));
    LOOKUP_TRY(load_let_names(&reader, lets, mt_lookup_json_member(time, "lets")));
    LOOKUP_TRY(lay_out_slots(&reader));
    LOOKUP_TRY(load_name_programs(&reader, params, lets));
    LOOKUP_TRY(load_time(&reader, time));
    LOOKUP_TRY(load_variants(&reader, mt_lookup_json_member(root, "variants")));
    LOOKUP_TRY(load_defaults(&reader, mt_lookup_json_member(root, "defaults")));
    LOOKUP_TRY(load_constraints(&reader, mt_lookup_json_member(root, "constraints")));
    LOOKUP_TRY(mt_lookup_model_args(&reader, mt_lookup_json_member(root, "args")));
    LOOKUP_TRY(mt_lookup_model_launches(&reader, root));
    mt_lookup_changes_find(model);
done:
    return st;
}
