/* [launch], [prepare] and [finish], and the reference's launch when the file gives none. */
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/spec/spec_scope.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

enum { LAUNCH_NUMBER_LIMIT = 1000 };
static const char *const reference_name = "reference";
const char *const mt_launch_phase_names[MT_LAUNCH_PHASES] = { "prepare", "launch", "finish" };

/* ---- args ---- */

static mt_status unknown_arg(mt_reader *reader, const mt_ini_entry *entry, const char *name, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const char *known[64];
    char hint[1024];
    size_t count = 0;
    for (; count < spec->arg_count && count < 64; count++) known[count] = spec->args[count].name;
    size_t behind = strcspn(name, "(");
    if (name[behind] && mt_text_is_identifier(name, behind)) return mt_reader_fail(reader, err, entry->line, "%s: %.*s of %s is no dtype; expected one of f16, bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64, f8e4m3, f8e5m2, bool", entry->key, (int)behind, name, name);
    if (!*name) return mt_reader_fail(reader, err, entry->line, "%s has an empty name between commas", entry->key);
    return mt_reader_fail(reader, err, entry->line, "%s: no [arg %s]%s", entry->key, name, mt_reader_suggest(name, known, count, hint, sizeof hint));
}

mt_status mt_read_arg_list(mt_reader *reader, const mt_ini_entry *entry, const char *value, size_t **args, size_t *arg_count, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    char **items = NULL;
    size_t count = 0;
    MT_TRY(mt_split(value, &items, &count, err));
    *args = mt_alloc(count, sizeof **args);
    if (!*args) st = mt_reader_no_memory(reader, err);
    for (size_t i = 0; st == MT_OK && i < count; i++) {
        size_t arg = 0;
        while (arg < spec->arg_count && strcmp(spec->args[arg].name, items[i]) != 0) arg++;
        if (arg == spec->arg_count) st = unknown_arg(reader, entry, items[i], err);
        (*args)[(*arg_count)++] = arg;
    }
done:
    mt_strings_free(items, count);
    return st;
}

mt_status mt_parse_launch_args(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                               mt_error *err)
{
    mt_launch *launch = object;
    mt_status st = mt_read_arg_list(reader, entry, value, &launch->args, &launch->arg_count, err);
    return st == MT_OK ? mt_launch_reach(reader, launch, err) : st;
}

/* ---- the section's own name ---- */

static bool parse_number(const char *text, int *number)
{
    int64_t value;
    if (!mt_text_int64(text, strlen(text), &value) || value < 1 || value > LAUNCH_NUMBER_LIMIT) return false;
    *number = (int)value;
    return true;
}

static mt_status check_algorithm(mt_reader *reader, const mt_ini_section *section, const char *algorithm, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const char *known[64];
    char hint[1024];
    size_t count = 0;
    if (strcmp(section->kind, mt_launch_phase_names[MT_LAUNCH_TIMED]) == 0) known[count++] = reference_name;
    for (size_t i = 0; i < spec->algorithm_count && count < 64; i++) known[count++] = spec->algorithms[i].name;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i], algorithm) == 0) return MT_OK;
    }
    return mt_reader_fail(reader, err, section->line, "[%s %s]: no [algorithm %s]%s", section->kind, section->name, algorithm,
                          mt_reader_suggest(algorithm, known, count, hint, sizeof hint));
}

/* "ALGORITHM N" or "N". */
static mt_status read_name(mt_reader *reader, const mt_ini_section *section, mt_launch *launch, mt_error *err)
{
    size_t length = strcspn(section->name, " ");
    if (!section->name[length]) {
        if (parse_number(section->name, &launch->number)) return MT_OK;
    } else if (parse_number(section->name + length + 1, &launch->number)) {
        launch->algorithm = mt_strndup(section->name, length);
        if (!launch->algorithm) return mt_reader_no_memory(reader, err);
        return check_algorithm(reader, section, launch->algorithm, err);
    }
    return mt_reader_fail(reader, err, section->line, "[%s%s%s]: expected [%s N] or [%s ALGORITHM N] with N from 1 to %d, such as [%s 1]",
                          section->kind,
                          *section->name ? " " : "", section->name, section->kind, section->kind, LAUNCH_NUMBER_LIMIT, section->kind);
}

static mt_status read_launch(mt_reader *reader, const mt_ini_section *section, mt_launch_phase phase, mt_launch *launch, mt_error *err)
{
    mt_status st = MT_OK;
    launch->phase = phase;
    launch->line = section->line;
    launch->args_line = mt_ini_line_of(section, "args");
    launch->entry_line = mt_ini_line_of(section, "entry");
    MT_TRY(read_name(reader, section, launch, err));
    if (phase != MT_LAUNCH_TIMED && !mt_ini_find(section, "entry"))
        MT_LEAVE(mt_reader_fail(reader, err, section->line, "[%s %s] has no `entry`: expected the kernel that it runs, also where that is the algorithm's own", section->kind, section->name));
    MT_TRY(mt_rules_check(reader, section, MT_RULES_LAUNCH, err));
    MT_TRY(mt_rules_apply(reader, section, MT_RULES_LAUNCH, MT_PASS_NAMES, launch, err));
    MT_TRY(mt_rules_apply(reader, section, MT_RULES_LAUNCH, MT_PASS_EXPRESSIONS, launch, err));
done:
    return st;
}

/* By phase, general ones first, then by variant and number: the order in the file means nothing, the numbers do. */
static int by_phase_algorithm_and_number(const void *a, const void *b)
{
    const mt_launch *left = a, *right = b;
    if (left->phase != right->phase) return (int)left->phase - (int)right->phase;
    if (!left->algorithm != !right->algorithm) return left->algorithm ? 1 : -1;
    int order = left->algorithm ? strcmp(left->algorithm, right->algorithm) : 0;
    return order ? order : left->number - right->number;
}

/* With room for the reference's. */
static mt_status read_sections(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    const size_t count = reader->counts[MT_SECTION_PREPARE] + reader->counts[MT_SECTION_LAUNCH] + reader->counts[MT_SECTION_FINISH];
    spec->launches = mt_alloc(count + 1, sizeof *spec->launches);
    if (!spec->launches) return mt_reader_no_memory(reader, err);
    for (mt_launch_phase phase = 0; phase < MT_LAUNCH_PHASES; phase++) {
        for (size_t i = 0; i < reader->counts[MT_SECTION_PREPARE + phase]; i++) {
            mt_status st = read_launch(reader, reader->sections[MT_SECTION_PREPARE + phase][i], phase, &spec->launches[spec->launch_count++], err);
            if (st != MT_OK) return st;
        }
    }
    return MT_OK;
}

/* ---- the reference's default launch ---- */

static const mt_arg *first_output(const mt_spec *spec)
{
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind == MT_ARG_TENSOR && spec->args[i].role == MT_ROLE_OUT) return &spec->args[i];
    }
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind == MT_ARG_TENSOR && spec->args[i].role == MT_ROLE_INOUT) return &spec->args[i];
    }
    return NULL;
}

/* What a reference takes: logical arguments, and those in structs with their structs. What depends on knobs is a variant's own. */
static bool reference_takes(const mt_spec *spec, const mt_arg *arg)
{
    if (mt_is_member(spec, arg)) return false;
    if (arg->kind == MT_ARG_TENSOR) return arg->role != MT_ROLE_SCRATCH;
    return arg->kind != MT_ARG_TENSORMAP && !mt_is_literal_arg(arg->name) && mt_scope_knobs_of_arg(spec, arg) == 0;
}

static mt_status one_expr_list(mt_reader *reader, int line, const char *text, mt_expr_list *list, mt_error *err)
{
    list->items = mt_alloc(1, sizeof *list->items);
    if (!list->items) return mt_reader_no_memory(reader, err);
    list->count = 1;
    return mt_scope_expr(reader, line, text, MT_TYPE_INT, &list->items[0], err);
}

static mt_status make_reference_launch(mt_reader *reader, const mt_arg *output, mt_launch *launch, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    mt_strbuf grid = { 0 };
    launch->phase = MT_LAUNCH_TIMED;
    launch->line = output->line;
    launch->args_line = launch->entry_line = spec->reference_line;
    launch->number = 1;
    launch->algorithm = mt_strdup(reference_name);
    launch->args = mt_alloc(spec->arg_count, sizeof *launch->args);
    mt_strbuf_add(&grid, "ceil_div(");
    for (size_t i = 0; i < output->shape.count; i++) mt_strbuf_addf(&grid, "%s(%s)", i ? " * " : "", output->shape.items[i].source);
    mt_strbuf_add(&grid, ", 256)");
    if (!launch->algorithm || !launch->args || grid.failed) MT_LEAVE(mt_reader_no_memory(reader, err));
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (reference_takes(spec, &spec->args[i])) launch->args[launch->arg_count++] = i;
    }
    MT_TRY(mt_launch_reach(reader, launch, err));
    MT_TRY(one_expr_list(reader, output->line, mt_strbuf_text(&grid), &launch->grid, err));
    MT_TRY(one_expr_list(reader, output->line, "256", &launch->block, err));
done:
    mt_strbuf_free(&grid);
    return st;
}

mt_status mt_read_launches(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    bool has_reference = false;
    MT_TRY(read_sections(reader, err));
    for (size_t i = 0; i < spec->launch_count; i++) {
        has_reference = has_reference || (spec->launches[i].algorithm && strcmp(spec->launches[i].algorithm, reference_name) == 0);
    }
    const mt_arg *output = first_output(spec);
    if (!has_reference && spec->reference && output) {
        spec->launch_count++;
        MT_TRY(make_reference_launch(reader, output, &spec->launches[spec->launch_count - 1], err));
    }
    if (spec->launch_count) qsort(spec->launches, spec->launch_count, sizeof *spec->launches, by_phase_algorithm_and_number);
done:
    return st;
}
