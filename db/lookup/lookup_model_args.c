/* Arguments and launches of the stored expressions. */
#include "db/lookup/lookup.h"

#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static bool role_of(const char *text, tunelookup_role *role)
{
    static const char *const names[] = { "in", "out", "inout", "scratch" };
    for (int i = 0; i < 4; i++) {
        if (text && strcmp(text, names[i]) == 0) {
            *role = (tunelookup_role)i;
            return true;
        }
    }
    return false;
}

static tunelookup_status load_tensor(mt_lookup_model_reader *reader, const mt_lookup_json *from, mt_lookup_model_arg *arg)
{
    arg->kind = TUNELOOKUP_ARG_TENSOR;
    arg->dtype = mt_lookup_json_text(from, "dtype");
    arg->zero_before_each = mt_lookup_json_bool(from, "zero");
    if (!arg->dtype || !role_of(mt_lookup_json_text(from, "role"), &arg->role)) return mt_lookup_model_bad(reader, "a tensor has no dtype or role");
    return mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "shape"), MT_LOOKUP_RANK, &arg->shape);
}

static tunelookup_status load_tensormap(mt_lookup_model_reader *reader, const mt_lookup_json *from, mt_lookup_model_arg *arg)
{
    tunelookup_status st;
    arg->kind = TUNELOOKUP_ARG_TENSORMAP;
    arg->tensor = (int32_t)mt_lookup_json_int(from, "tensor", -1);
    arg->swizzle_bytes = (int32_t)mt_lookup_json_int(from, "swizzle", -1);
    bool has_number = arg->swizzle_bytes >= 0;
    if (!has_number) arg->swizzle_bytes = 0;
    arg->l2_promotion_bytes = (int32_t)mt_lookup_json_int(from, "l2", 0);
    arg->fill_nan = mt_lookup_json_bool(from, "fill_nan");
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "count", &arg->count));
    arg->loop = reader->loop = mt_lookup_json_text(from, "loop"); /* the count stands outside of the loop */
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "offset", &arg->offset));
    if (!has_number) LOOKUP_TRY(mt_lookup_model_program(reader, from, "swizzle", &arg->swizzle));
    LOOKUP_TRY(mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "dims"), MT_LOOKUP_MAP_RANK, &arg->dims));
    LOOKUP_TRY(mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "strides"), MT_LOOKUP_MAP_RANK - 1, &arg->strides));
    LOOKUP_TRY(mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "box"), MT_LOOKUP_MAP_RANK, &arg->box));
    if (arg->dims.count < 1 || arg->strides.count != arg->dims.count - 1 || arg->box.count != arg->dims.count || !arg->loop != !arg->count) {
        st = mt_lookup_model_bad(reader, "a tensor map's dims, strides and box do not fit each other");
    }
done:
    reader->loop = NULL;
    return st;
}

static tunelookup_status load_scalar(mt_lookup_model_reader *reader, const mt_lookup_json *from, mt_lookup_model_arg *arg)
{
    const mt_lookup_json *literal = mt_lookup_json_member(from, "literal");
    arg->kind = TUNELOOKUP_ARG_SCALAR;
    arg->dtype = mt_lookup_json_text(from, "dtype");
    if (!arg->dtype) return mt_lookup_model_bad(reader, "a scalar has no dtype");
    if (literal) arg->literal = literal->real;
    return mt_lookup_model_program(reader, from, "value", &arg->value);
}

static tunelookup_status load_struct(mt_lookup_model_reader *reader, const mt_lookup_json *from, mt_lookup_model_arg *arg)
{
    const mt_lookup_json *array = mt_lookup_json_member(from, "members");
    int64_t align = mt_lookup_json_int(from, "align", 1);
    arg->kind = TUNELOOKUP_ARG_STRUCT;
    if (align < 1 || align > 256 || (align & (align - 1))) return mt_lookup_model_bad(reader, "a struct's alignment is no power of two up to 256");
    arg->members.align = (uint32_t)align;
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY || !array->count || array->count > MT_LOOKUP_ALL_ARGS) return mt_lookup_model_bad(reader, "a struct has no or too many members");
    if (!(arg->members.items = mt_lookup_arena_take(reader->arena, array->count, sizeof *arg->members.items))) return mt_lookup_no_memory();
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        if (at->kind != MT_LOOKUP_JSON_INTEGER || at->number < 0) return mt_lookup_model_bad(reader, "a struct has a member that there is not");
        arg->members.items[arg->members.count++] = (int32_t)(at->number < MT_LOOKUP_ALL_ARGS ? at->number : MT_LOOKUP_ALL_ARGS);
    }
    return TUNELOOKUP_OK;
}

static tunelookup_status load_arg(mt_lookup_model_reader *reader, const mt_lookup_json *from, mt_lookup_model_arg *arg)
{
    const char *kind = mt_lookup_json_text(from, "kind");
    arg->name = mt_lookup_json_text(from, "name");
    arg->tensor = -1;
    if (!arg->name || !kind) return mt_lookup_model_bad(reader, "an argument has no name or kind");
    if (strcmp(kind, "tensor") == 0) return load_tensor(reader, from, arg);
    if (strcmp(kind, "tensormap") == 0) return load_tensormap(reader, from, arg);
    if (strcmp(kind, "scalar") == 0) return load_scalar(reader, from, arg);
    if (strcmp(kind, "struct") == 0) return load_struct(reader, from, arg);
    return mt_lookup_model_bad(reader, "an argument is neither tensor, tensormap, scalar nor struct");
}

tunelookup_status mt_lookup_model_args(mt_lookup_model_reader *reader, const mt_lookup_json *array)
{
    mt_lookup_model *model = reader->model;
    tunelookup_status st = TUNELOOKUP_OK;
    if (array && array->count > MT_LOOKUP_ALL_ARGS) return mt_lookup_model_bad(reader, "more arguments than this library supports");
    model->args = mt_lookup_arena_take(reader->arena, array ? array->count : 0, sizeof *model->args);
    if (!model->args) return mt_lookup_no_memory();
    for (const mt_lookup_json *at = array ? array->first : NULL; at && st == TUNELOOKUP_OK; at = at->next) st = load_arg(reader, at, &model->args[model->arg_count++]);
    for (uint32_t i = 0; i < model->arg_count && st == TUNELOOKUP_OK; i++) {
        const mt_lookup_model_arg *arg = &model->args[i];
        for (uint32_t k = 0; k < arg->members.count && st == TUNELOOKUP_OK; k++) {
            uint32_t member = (uint32_t)arg->members.items[k];
            bool is_known = member < model->arg_count && (model->args[member].kind != TUNELOOKUP_ARG_STRUCT || member < i);
            if (!is_known) st = mt_lookup_model_bad(reader, "a struct has a member that there is not, or that stands below it");
        }
        if (arg->kind != TUNELOOKUP_ARG_TENSORMAP) continue;
        bool is_fine = arg->tensor >= 0 && (uint32_t)arg->tensor < model->arg_count && model->args[arg->tensor].kind == TUNELOOKUP_ARG_TENSOR;
        if (!is_fine) st = mt_lookup_model_bad(reader, "a tensor map is of no tensor");
    }
    return st;
}

/* ---- launches ---- */

static tunelookup_status load_launch_args(mt_lookup_model_reader *reader, const mt_lookup_json *array, mt_lookup_model_launch *launch)
{
    if (!array || array->kind != MT_LOOKUP_JSON_ARRAY || array->count > MT_LOOKUP_ARGS) return mt_lookup_model_bad(reader, "a launch has no or too many arguments");
    for (const mt_lookup_json *at = array->first; at; at = at->next) {
        if (at->kind != MT_LOOKUP_JSON_INTEGER || at->number < 0 || at->number >= reader->model->arg_count) {
            return mt_lookup_model_bad(reader, "a launch takes an argument that there is not");
        }
        launch->args[launch->arg_count++] = (int32_t)at->number;
    }
    return TUNELOOKUP_OK;
}

static tunelookup_status load_launch_variant(mt_lookup_model_reader *reader, const mt_lookup_json *from, mt_lookup_model_launch *launch)
{
    const char *name = mt_lookup_json_text(from, "variant");
    launch->variant = -1;
    if (!name) return TUNELOOKUP_OK;
    for (uint32_t i = 0; i < reader->model->variant_count; i++) {
        if (strcmp(reader->model->variants[i].name, name) == 0) launch->variant = (int32_t)i;
    }
    return launch->variant < 0 ? mt_lookup_model_bad(reader, "a launch is of an unknown variant") : TUNELOOKUP_OK;
}

static tunelookup_status load_launch(mt_lookup_model_reader *reader, const mt_lookup_json *from, int phase, mt_lookup_model_launch *launch)
{
    tunelookup_status st;
    launch->phase = phase;
    launch->number = mt_lookup_json_int(from, "number", 0);
    launch->entry = mt_lookup_json_text(from, "entry");
    launch->cooperative = mt_lookup_json_bool(from, "cooperative");
    launch->programmatic = mt_lookup_json_bool(from, "programmatic");
    launch->is_resident = mt_lookup_json_bool(from, "resident");
    LOOKUP_TRY(load_launch_variant(reader, from, launch));
    LOOKUP_TRY(load_launch_args(reader, mt_lookup_json_member(from, "args"), launch));
    LOOKUP_TRY(mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "grid"), 3, &launch->grid));
    LOOKUP_TRY(mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "block"), 3, &launch->block));
    LOOKUP_TRY(mt_lookup_model_list_load(reader, mt_lookup_json_member(from, "cluster"), 3, &launch->cluster));
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "smem", &launch->smem));
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "carveout", &launch->carveout));
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "blocks_per_sm", &launch->blocks_per_sm));
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "when", &launch->when));
    LOOKUP_TRY(mt_lookup_model_program(reader, from, "repeat", &launch->repeat));
    if (launch->grid.count < 1 || launch->block.count < 1) st = mt_lookup_model_bad(reader, "a launch has no grid or block");
done:
    return st;
}

static int by_number(const void *a, const void *b)
{
    const mt_lookup_model_launch *left = a, *right = b;
    if (left->phase != right->phase) return left->phase - right->phase;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (left->variant > right->variant) - (left->variant < right->variant); /* −1, all variants, comes before a variant's own */
}

tunelookup_status mt_lookup_model_launches(mt_lookup_model_reader *reader, const mt_lookup_json *root)
{
    static const char *const keys[] = {[MT_LOOKUP_PREPARE] = "prepares", [MT_LOOKUP_TIMED] = "launches", [MT_LOOKUP_FINISH] = "finishes"};
    const mt_lookup_json *lists[MT_LOOKUP_PHASES];
    mt_lookup_model *model = reader->model;
    size_t total = 0;
    for (int phase = 0; phase < MT_LOOKUP_PHASES; phase++) {
        lists[phase] = mt_lookup_json_member(root, keys[phase]);
        if (lists[phase] && lists[phase]->kind != MT_LOOKUP_JSON_ARRAY) return mt_lookup_model_bad(reader, "its launches are no list");
        total += lists[phase] ? lists[phase]->count : 0;
    }
    if (total > 4096) return mt_lookup_model_bad(reader, "more launches than this library supports");
    model->launches = mt_lookup_arena_take(reader->arena, total, sizeof *model->launches);
    if (!model->launches) return mt_lookup_no_memory();
    for (int phase = 0; phase < MT_LOOKUP_PHASES; phase++) {
        for (const mt_lookup_json *at = lists[phase] ? lists[phase]->first : NULL; at; at = at->next) {
            tunelookup_status st = load_launch(reader, at, phase, &model->launches[model->launch_count++]);
            if (st != TUNELOOKUP_OK) return st;
        }
    }
    if (model->launch_count) qsort(model->launches, model->launch_count, sizeof *model->launches, by_number);
    return TUNELOOKUP_OK;
}
