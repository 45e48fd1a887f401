/* THE table of keys. docs/search_space_format.md documents each (tests/unit/test_spec.c compares). */
#include "tuner/space/spec/spec_internal.h"

#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"

const char *const mt_section_names[MT_SECTION_COUNT] = { "kernel", "tune", "shape", "workload", "let", "algorithm", "param", "constraint",
                                                         "arg", "prepare", "launch", "finish", "model" };

static const mt_choice origins_of_points[] = { { "all", 0 }, { "recorded", 1 }, { NULL, 0 } };
static const mt_choice compilers[] = { { "nvrtc", 0 }, { "nvcc", 1 }, { NULL, 0 } };
static const mt_choice l2_states[] = { { "cold", MT_L2_COLD }, { "warm", MT_L2_WARM }, { NULL, 0 } };
static const mt_choice objectives[] = { { "time", MT_OBJECTIVE_TIME }, { "energy", MT_OBJECTIVE_ENERGY }, { "edp", MT_OBJECTIVE_EDP }, { NULL, 0 } };
static const mt_choice kinds[] = { { "tensor", MT_ARG_TENSOR }, { "tensormap", MT_ARG_TENSORMAP }, { "scalar", MT_ARG_SCALAR }, { "struct", MT_ARG_STRUCT }, { NULL, 0 } };
static const mt_choice roles[] = { { "in", MT_ROLE_IN }, { "out", MT_ROLE_OUT }, { "inout", MT_ROLE_INOUT }, { "scratch", MT_ROLE_SCRATCH },
                                   { NULL, 0 } };
static const mt_choice orders[] = { { "fixed", 0 }, { "any", 1 }, { NULL, 0 } };
static const mt_choice zeroing[] = { { "never", 0 }, { "before_each", 1 }, { NULL, 0 } };
static const mt_choice fills[] = { { "zero", 0 }, { "nan", 1 }, { NULL, 0 } };
static const mt_choice promotions[] = { { "none", 0 }, { "64", 64 }, { "128", 128 }, { "256", 256 }, { NULL, 0 } };

static const mt_range positive_count = { 1, 1e15, false };
static const mt_range seconds = { 0, 1e9, true };
static const mt_range microseconds = { 1, 1e6, false };
static const mt_range tolerance = { 0, 1e6, false };
static const mt_range share = { 0, 1, true };
static const mt_range above_zero = { 0, 1e6, true };
static const mt_range rank_1_to_8 = { 1, MT_MAX_RANK, false };
static const mt_range rank_1_to_5 = { 1, MT_TENSORMAP_RANK, false };
static const mt_range rank_0_to_4 = { 0, MT_TENSORMAP_RANK - 1, false };
static const mt_range alignment = { 1, 256, false };
static const mt_range up_to_3 = { 1, 3, false };

#define NAMES(type, key, parser, field, detail) { key, parser, offsetof(type, field), MT_PASS_NAMES, false, detail }
#define LATER(type, key, parser, field, detail) { key, parser, offsetof(type, field), MT_PASS_EXPRESSIONS, false, detail }
#define NEEDED(type, key, parser, field, detail) { key, parser, offsetof(type, field), MT_PASS_NAMES, true, detail }
#define NEEDED_LATER(type, key, parser, field, detail) { key, parser, offsetof(type, field), MT_PASS_EXPRESSIONS, true, detail }

static const mt_key_rule kernel_rules[] = {
    NAMES(mt_spec, "name", mt_parse_text, name, NULL),
    NAMES(mt_spec, "points", mt_parse_flag, is_recorded, origins_of_points),
    NAMES(mt_spec, "source", mt_parse_source, source, NULL),
    NAMES(mt_spec, "reference", mt_parse_reference, reference, NULL),
    NAMES(mt_spec, "compiler", mt_parse_flag, is_for_nvcc, compilers),
    NAMES(mt_spec, "options", mt_parse_options, options, NULL),
    NAMES(mt_spec, "macros", mt_parse_macros, macros, NULL),
    NAMES(mt_spec, "include", mt_parse_includes, include_dirs, NULL),
    LATER(mt_spec, "per", mt_parse_int_expr, per, NULL),
    LATER(mt_spec, "reads_knobs", mt_parse_reads_knobs, reference_knobs, NULL),
};
static const mt_key_rule tune_rules[] = {
    NAMES(mt_spec, "strategy", mt_parse_identifier, strategy, NULL),
    NAMES(mt_spec, "budget", mt_parse_int64, budget, &positive_count),
    NAMES(mt_spec, "time", mt_parse_double, time_s, &seconds),
    NAMES(mt_spec, "l2", mt_parse_choice, l2, l2_states),
    NAMES(mt_spec, "graph_below", mt_parse_double, graph_below_us, &microseconds),
    NAMES(mt_spec, "objective", mt_parse_choice, objective, objectives),
    NAMES(mt_spec, "baseline", mt_parse_identifier, baseline, NULL),
    NAMES(mt_spec, "defaults", mt_parse_text, defaults_text, NULL),
};
static const mt_key_rule shape_rules[] = { /* and free names */
    NAMES(mt_shape, "workload", mt_parse_workload_names, workloads, NULL),
    NAMES(mt_shape, "main", mt_parse_bool, is_main, NULL),
};
static const mt_key_rule workload_rules[] = { /* and free names */
    NAMES(mt_workload, "default", mt_parse_bool, is_default, NULL),
};
static const mt_key_rule algorithm_rules[] = {
    NAMES(mt_algorithm, "entry", mt_parse_entry, entry, NULL),
    NAMES(mt_algorithm, "doc", mt_parse_text, doc, NULL),
    NAMES(mt_algorithm, "options", mt_parse_options, options, NULL),
    NAMES(mt_algorithm, "yardstick", mt_parse_bool, is_yardstick, NULL),
    NAMES(mt_algorithm, "bake", mt_parse_bake, bake, NULL),
    LATER(mt_algorithm, "requires", mt_parse_requires, requires_expr, NULL),
};
static const mt_key_rule param_rules[] = {
    NEEDED(mt_param, "values", mt_parse_values, numbers, NULL),
    NAMES(mt_param, "default", mt_parse_default, default_level, NULL),
    NAMES(mt_param, "doc", mt_parse_text, doc, NULL),
    LATER(mt_param, "when", mt_parse_when, when, NULL),
};
static const mt_key_rule constraint_rules[] = {
    NEEDED_LATER(mt_constraint, "expr", mt_parse_bool_expr, expr, NULL),
    LATER(mt_constraint, "why", mt_parse_text, why, NULL),
};
static const mt_key_rule tensor_rules[] = {
    NEEDED(mt_arg, "kind", mt_parse_choice, kind, kinds),
    NEEDED(mt_arg, "role", mt_parse_choice, role, roles),
    NEEDED(mt_arg, "dtype", mt_parse_dtype_text, dtype_text, NULL),
    LATER(mt_arg, "init", mt_parse_init, init, NULL),
    NAMES(mt_arg, "constant", mt_parse_variable, constant, NULL),
    NAMES(mt_arg, "rtol", mt_parse_double, rtol, &tolerance),
    NAMES(mt_arg, "worst", mt_parse_double, worst, &tolerance),
    NAMES(mt_arg, "atol", mt_parse_double, atol, &tolerance),
    NAMES(mt_arg, "may_differ", mt_parse_double, may_differ, &share),
    NAMES(mt_arg, "order", mt_parse_flag, any_order, orders),
    NAMES(mt_arg, "spread", mt_parse_double, spread, &above_zero),
    NAMES(mt_arg, "zero", mt_parse_flag, zero_before_each, zeroing),
    NAMES(mt_arg, "batch", mt_parse_identifier, batch, NULL),
    NAMES(mt_arg, "cycles", mt_parse_bool, cycles, NULL),
    NEEDED_LATER(mt_arg, "shape", mt_parse_expr_list, shape, &rank_1_to_8),
};
static const mt_key_rule tensormap_rules[] = {
    NEEDED(mt_arg, "kind", mt_parse_choice, kind, kinds),
    NAMES(mt_arg, "fill", mt_parse_flag, fill_nan, fills),
    NAMES(mt_arg, "l2", mt_parse_choice, l2_promotion_bytes, promotions),
    NEEDED_LATER(mt_arg, "of", mt_parse_of, of, NULL),
    LATER(mt_arg, "for", mt_parse_for, count, NULL), /* before the keys that may read the loop variable */
    LATER(mt_arg, "offset", mt_parse_int_expr, offset, NULL),
    LATER(mt_arg, "swizzle", mt_parse_swizzle, swizzle, NULL),
    NEEDED_LATER(mt_arg, "dims", mt_parse_expr_list, dims, &rank_1_to_5),
    LATER(mt_arg, "strides", mt_parse_expr_list, strides, &rank_0_to_4),
    NEEDED_LATER(mt_arg, "box", mt_parse_expr_list, box, &rank_1_to_5),
};
static const mt_key_rule scalar_rules[] = {
    NEEDED(mt_arg, "kind", mt_parse_choice, kind, kinds),
    NEEDED(mt_arg, "dtype", mt_parse_scalar_dtype, dtype_text, NULL),
    NEEDED_LATER(mt_arg, "value", mt_parse_scalar_value, value, NULL),
};
static const mt_key_rule struct_rules[] = {
    NEEDED(mt_arg, "kind", mt_parse_choice, kind, kinds),
    NAMES(mt_arg, "align", mt_parse_int64, align, &alignment),
    NEEDED_LATER(mt_arg, "members", mt_parse_members, members, NULL),
};
static const mt_key_rule launch_rules[] = { /* [launch], [prepare] and [finish] */
    NAMES(mt_launch, "entry", mt_parse_entry, entry, NULL),
    NAMES(mt_launch, "cooperative", mt_parse_bool, cooperative, NULL),
    NAMES(mt_launch, "programmatic", mt_parse_bool, programmatic, NULL),
    NAMES(mt_launch, "resident", mt_parse_bool, resident, NULL),
    NEEDED_LATER(mt_launch, "args", mt_parse_launch_args, args, NULL),
    NEEDED_LATER(mt_launch, "grid", mt_parse_expr_list, grid, &up_to_3),
    NEEDED_LATER(mt_launch, "block", mt_parse_expr_list, block, &up_to_3),
    LATER(mt_launch, "cluster", mt_parse_expr_list, cluster, &up_to_3),
    LATER(mt_launch, "smem", mt_parse_int_expr, smem, NULL),
    LATER(mt_launch, "carveout", mt_parse_int_expr, carveout, NULL),
    LATER(mt_launch, "blocks_per_sm", mt_parse_int_expr, blocks_per_sm, NULL),
    LATER(mt_launch, "repeat", mt_parse_int_expr, repeat, NULL),
    LATER(mt_launch, "when", mt_parse_bool_expr, when, NULL),
};
static const mt_key_rule model_rules[] = {
    LATER(mt_spec, "flops", mt_parse_int_expr, model_flops, NULL),
    LATER(mt_spec, "dram_bytes", mt_parse_int_expr, model_dram_bytes, NULL),
    LATER(mt_spec, "moved_bytes", mt_parse_int_expr, model_moved_bytes, NULL),
    LATER(mt_spec, "ops", mt_parse_int_expr, model_ops, NULL),
    LATER(mt_spec, "floor_ns", mt_parse_int_expr, model_floor_ns, NULL),
    LATER(mt_spec, "time_ns", mt_parse_int_expr, model_time_ns, NULL),
    LATER(mt_spec, "correction", mt_parse_path, model_correction_path, NULL),
};

#define SET(title, rules) { title, rules, sizeof rules / sizeof rules[0] }
static const struct {
    const char *title;
    const mt_key_rule *rules;
    size_t count;
} sets[MT_RULES_COUNT] = {
    [MT_RULES_KERNEL] = SET("[kernel]", kernel_rules),
    [MT_RULES_TUNE] = SET("[tune]", tune_rules),
    [MT_RULES_SHAPE] = SET("[shape]", shape_rules),
    [MT_RULES_WORKLOAD] = SET("[workload]", workload_rules),
    [MT_RULES_ALGORITHM] = SET("[algorithm]", algorithm_rules),
    [MT_RULES_PARAM] = SET("[param]", param_rules),
    [MT_RULES_CONSTRAINT] = SET("[constraint]", constraint_rules),
    [MT_RULES_TENSOR] = SET("[arg] of kind tensor", tensor_rules),
    [MT_RULES_TENSORMAP] = SET("[arg] of kind tensormap", tensormap_rules),
    [MT_RULES_SCALAR] = SET("[arg] of kind scalar", scalar_rules),
    [MT_RULES_STRUCT] = SET("[arg] of kind struct", struct_rules),
    [MT_RULES_LAUNCH] = SET("[launch], [prepare] or [finish]", launch_rules),
    [MT_RULES_MODEL] = SET("[model]", model_rules),
};

const mt_key_rule *mt_rules(mt_rule_set set, size_t *count)
{
    *count = sets[set].count;
    return sets[set].rules;
}

static bool set_has(mt_rule_set set, const char *key)
{
    for (size_t i = 0; i < sets[set].count; i++) {
        if (strcmp(sets[set].rules[i].key, key) == 0) return true;
    }
    return false;
}

static const struct { mt_rule_set set; const char *key, *now; } former_keys[] = {
    { MT_RULES_TUNE, "regime", "l2" }, { MT_RULES_SHAPE, "default", "main" }, { MT_RULES_TENSOR, "floor", "atol" },
};

mt_status mt_rules_refuse_former(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, mt_error *err)
{
    for (size_t i = 0; i < sizeof former_keys / sizeof *former_keys; i++) {
        const mt_ini_entry *entry = former_keys[i].set == set ? mt_ini_find(section, former_keys[i].key) : NULL;
        if (entry) return mt_reader_fail(reader, err, entry->line, "%s: the key is called %s", entry->key, former_keys[i].now);
    }
    return MT_OK;
}

static mt_status unknown_key(mt_reader *reader, const mt_ini_entry *entry, mt_rule_set set, mt_error *err)
{
    /* A key of another kind of argument is known, but not here: say that rather than guess. */
    for (mt_rule_set other = MT_RULES_TENSOR; other <= MT_RULES_STRUCT && set >= MT_RULES_TENSOR && set <= MT_RULES_STRUCT; other++) {
        if (other != set && set_has(other, entry->key)) {
            return mt_reader_fail(reader, err, entry->line, "key `%s` belongs in %s, this is %s", entry->key, sets[other].title,
                                  sets[set].title);
        }
    }
    if (set == MT_RULES_CONSTRAINT && strcmp(entry->key, "scope") == 0) return mt_reader_fail(reader, err, entry->line, "%s", MT_NO_SEARCH_SCOPE);
    const char *names[32];
    char hint[512];
    for (size_t i = 0; i < sets[set].count; i++) names[i] = sets[set].rules[i].key;
    return mt_reader_fail(reader, err, entry->line, "unknown key `%s` in %s%s", entry->key, sets[set].title,
                          mt_reader_suggest(entry->key, names, sets[set].count, hint, sizeof hint));
}

mt_status mt_rules_check(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, mt_error *err)
{
    mt_status st = mt_rules_refuse_former(reader, section, set, err);
    if (st != MT_OK) return st;
    for (size_t i = 0; i < section->entry_count; i++) {
        if (!set_has(set, section->entries[i].key)) return unknown_key(reader, &section->entries[i], set, err);
    }
    for (size_t i = 0; i < sets[set].count; i++) {
        const mt_key_rule *rule = &sets[set].rules[i];
        if (rule->required && !mt_ini_find(section, rule->key)) {
            return mt_reader_fail(reader, err, section->line, "[%s%s%s] has no `%s`: expected a line `%s = …`", section->kind,
                                  *section->name ? " " : "", section->name, rule->key, rule->key);
        }
    }
    return MT_OK;
}

mt_status mt_rules_apply(mt_reader *reader, const mt_ini_section *section, mt_rule_set set, mt_rule_pass pass, void *object, mt_error *err)
{
    for (size_t i = 0; i < sets[set].count; i++) {
        const mt_key_rule *rule = &sets[set].rules[i];
        const mt_ini_entry *entry = rule->pass == pass && rule->parse ? mt_ini_find(section, rule->key) : NULL;
        if (!entry) continue;
        char *value = mt_ini_unquote(entry->value);
        if (!value) return mt_reader_no_memory(reader, err);
        mt_status st = rule->parse(reader, rule, entry, value, object, err);
        mt_free(value);
        if (st != MT_OK) return st;
    }
    return MT_OK;
}
