/* Rules that span sections: names are unique, outputs do not depend on knobs, launches exist and take what exists. */
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/spec/spec_scope.h"

#include <stdio.h>
#include <string.h>

#include "db/key.h"
#include "tuner/base/alloc.h"

/* ---- names ---- */

static mt_status check_name(mt_reader *reader, int line, const char *name, mt_error *err)
{
    const char *taken = mt_key_taken_by(name);
    if (!taken) return MT_OK;
    if (taken[strlen(taken) - 1] == '_') return mt_reader_fail(reader, err, line, "names that start with %s are the tool's macros: expected another than `%s`", taken, name);
    return mt_reader_fail(reader, err, line, "`%s` is a word of the expression language: expected another name", name);
}

typedef struct named { const char *name, *what; int line; } named;

/* Shape values, knobs and lets share one namespace: expressions and macros know no sections. */
static size_t collect_names(const mt_reader *reader, named *out)
{
    const mt_spec *spec = reader->spec;
    const mt_ini_section *shape = reader->sections[MT_SECTION_SHAPE][0];
    size_t count = 0;
    for (size_t i = 0; i < spec->shapes[0].setting_count; i++) {
        const mt_ini_entry *entry = mt_ini_find(shape, spec->shapes[0].settings[i].name);
        out[count++] = (named){ spec->shapes[0].settings[i].name, "a shape value", entry ? entry->line : shape->line };
    }
    for (size_t i = 0; i < spec->param_count; i++) {
        int line = i == 0 ? reader->sections[MT_SECTION_ALGORITHM][0]->line : reader->sections[MT_SECTION_PARAM][i - 1]->line;
        out[count++] = (named){ spec->params[i].name, i == 0 ? "the implicit knob of the algorithms" : "a knob", line };
    }
    for (size_t i = 0; i < spec->let_count; i++) {
        out[count++] = (named){ spec->lets[i].name, i < spec->model_let ? "a let" : "a line of [model]", reader->lets[i]->line };
    }
    return count;
}

/* The macro K_v of a string knob's value must not be another knob's name. */
static mt_status check_value_macros(mt_reader *reader, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    for (size_t k = 0; k < spec->param_count; k++) {
        const mt_param *param = &spec->params[k];
        for (size_t other = 1; param->is_string && !param->is_verbatim && other < spec->param_count; other++) {
            size_t length = strlen(param->name);
            const char *name = spec->params[other].name;
            if (strncmp(name, param->name, length) != 0 || name[length] != '_') continue;
            for (size_t v = 0; v < param->value_count; v++) {
                if (strcmp(name + length + 1, param->strings[v]) == 0) {
                    return mt_reader_fail(reader, err, reader->sections[MT_SECTION_PARAM][other - 1]->line,
                                          "knob %s has the name of the macro for %s = %s: expected another",
                                          name, param->name, param->strings[v]);
                }
            }
        }
    }
    return MT_OK;
}

mt_status mt_check_names(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    enum { LIMIT = 4096 };
    named names[LIMIT];
    if (spec->shapes[0].setting_count + spec->param_count + spec->let_count > LIMIT) {
        return mt_reader_fail(reader, err, 1, "more than %d names", LIMIT);
    }
    size_t count = collect_names(reader, names);
    for (size_t i = 0; i < count; i++) {
        MT_TRY(check_name(reader, names[i].line, names[i].name, err));
        for (size_t k = 0; k < i; k++) {
            if (strcmp(names[i].name, names[k].name) != 0) continue;
            return mt_reader_fail(reader, err, names[i].line, "`%s` is %s and %s (line %d): expected different names", names[i].name,
                                  names[i].what, names[k].what,
                                  names[k].line);
        }
    }
    MT_TRY(check_value_macros(reader, err));
done:
    return st;
}

/* ---- knobs where there are none ---- */

static mt_status refuse_knobs(mt_reader *reader, int line, const char *what, uint64_t knobs, const char *why, mt_error *err)
{
    char list[512];
    if (!knobs) return MT_OK;
    return mt_reader_fail(reader, err, line, "%s reads %s: %s", what, mt_scope_knob_list(reader->spec, knobs, list, sizeof list), why);
}

static uint64_t knobs_of_list(const mt_spec *spec, const mt_expr_list *list)
{
    uint64_t knobs = 0;
    for (size_t i = 0; i < list->count; i++) knobs |= mt_scope_knobs(spec, &list->items[i]);
    return knobs;
}

uint64_t mt_scope_knobs_of_arg(const mt_spec *spec, const mt_arg *arg)
{
    uint64_t of_members = 0;
    for (size_t i = 0; i < arg->member_count; i++) of_members |= mt_scope_knobs_of_arg(spec, &spec->args[arg->members[i]]);
    return of_members | knobs_of_list(spec, &arg->shape) | knobs_of_list(spec, &arg->dims) | knobs_of_list(spec, &arg->strides) | knobs_of_list(spec,
                                                                                                                                   &arg->box) |
           mt_scope_knobs(spec, &arg->count) | mt_scope_knobs(spec, &arg->offset) | mt_scope_knobs(spec, &arg->swizzle) | mt_scope_knobs(spec, &arg->value) |
           mt_scope_knobs_of_text(spec, arg->dtype_text);
}

uint64_t mt_scope_knobs_of_launch(const mt_spec *spec, const mt_launch *launch)
{
    return knobs_of_list(spec, &launch->grid) | knobs_of_list(spec, &launch->block) | knobs_of_list(spec, &launch->cluster) |
           mt_scope_knobs(spec, &launch->smem) | mt_scope_knobs(spec, &launch->carveout) | mt_scope_knobs(spec, &launch->blocks_per_sm) | mt_scope_knobs(spec, &launch->when) | mt_scope_knobs(spec, &launch->repeat) |
           mt_scope_knobs_of_text(spec, launch->entry);
}

/* ---- arguments ---- */

static int key_line(const mt_reader *reader, size_t arg, const char *key)
{
    return mt_ini_line_of(reader->sections[MT_SECTION_ARG][arg], key);
}

static bool has_key(const mt_reader *reader, size_t arg, const char *key)
{
    return mt_ini_find(reader->sections[MT_SECTION_ARG][arg], key) != NULL;
}

static mt_status check_keys_fit_role(mt_reader *reader, size_t index, mt_error *err)
{
    static const struct { const char *key; unsigned roles; const char *belongs; } rules[] = {
        { "init", 1u << MT_ROLE_IN | 1u << MT_ROLE_INOUT, "in or inout" },
        { "constant", 1u << MT_ROLE_IN, "in" },
        { "rtol", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "worst", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "atol", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "may_differ", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "order", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "spread", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "batch", 1u << MT_ROLE_OUT | 1u << MT_ROLE_INOUT, "out or inout" },
        { "zero", 1u << MT_ROLE_OUT | 1u << MT_ROLE_SCRATCH, "out or scratch" },
        { "cycles", 1u << MT_ROLE_SCRATCH, "scratch" },
    };
    const mt_arg *arg = &reader->spec->args[index];
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (has_key(reader, index, rules[i].key) && !(rules[i].roles >> arg->role & 1)) {
            return mt_reader_fail(reader, err, key_line(reader, index, rules[i].key), "`%s` of [arg %s]: expected only with role %s",
                                  rules[i].key, arg->name, rules[i].belongs);
        }
    }
    if (has_key(reader, index, "spread") && !arg->any_order)
        return mt_reader_fail(reader, err, key_line(reader, index, "spread"), "`spread` of [arg %s]: expected only with order = any: with order = fixed two runs must give the same bits", arg->name);
    if (arg->batch && arg->any_order)
        return mt_reader_fail(reader, err, key_line(reader, index, "batch"), "`batch` of [arg %s] beside order = any: its bits may differ in each run; expected one of the two", arg->name);
    mt_dtype dtype;
    if (arg->may_differ > 0 && (!mt_dtype_from_name(arg->dtype_text, &dtype) || mt_dtype_is_float(dtype)))
        return mt_reader_fail(reader, err, key_line(reader, index, "may_differ"), "`may_differ` of [arg %s], whose dtype is %s: expected only of integers; of others rtol, worst and atol say what may differ", arg->name, arg->dtype_text);
    if (has_key(reader, index, "may_differ") && (has_key(reader, index, "rtol") || has_key(reader, index, "worst") || has_key(reader, index, "atol")))
        return mt_reader_fail(reader, err, key_line(reader, index, "may_differ"), "`may_differ` of [arg %s] beside rtol, worst or atol: expected one of the two ways", arg->name);
    if (arg->cycles && strcmp(arg->dtype_text, "u64") != 0)
        return mt_reader_fail(reader, err, key_line(reader, index, "cycles"), "`cycles` of [arg %s]: expected dtype = u64, one counter per block", arg->name);
    if ((arg->role == MT_ROLE_IN || arg->role == MT_ROLE_INOUT) && !has_key(reader, index, "init")) {
        return mt_reader_fail(reader, err, arg->line,
                              "[arg %s] is read by kernels but has no `init`: expected zeros, iota, constant(VALUE), uniform(LOW, HIGH), normal(MEAN, SD) or kernel(NAME)", arg->name);
    }
    return MT_OK;
}

/* A variable holds one argument's contents. */
static mt_status check_constant(mt_reader *reader, size_t index, mt_error *err)
{
    const mt_arg *args = reader->spec->args, *arg = &args[index];
    for (size_t i = 0; i < index && arg->constant; i++) {
        if (!args[i].constant || strcmp(args[i].constant, arg->constant) != 0) continue;
        return mt_reader_fail(reader, err, key_line(reader, index, "constant"), "`constant` of [arg %s]: the variable %s is [arg %s]'s", arg->name, arg->constant, args[i].name);
    }
    return MT_OK;
}

/* Rows of fingerprints say which batch they are of, so there is one for all outputs. */
static mt_status check_batch(mt_reader *reader, size_t index, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const mt_arg *arg = &spec->args[index];
    if (!arg->batch) return MT_OK;
    if (mt_scope_slot(spec, arg->batch) >= spec->device_slot || strcmp(arg->shape.items[0].source, arg->batch) != 0)
        return mt_reader_fail(reader, err, key_line(reader, index, "batch"), "`batch = %s` of [arg %s], whose first dimension is %s: expected the shape value that is the first dimension", arg->batch, arg->name, arg->shape.items[0].source);
    for (size_t i = 0; i < index; i++) {
        const char *other = spec->args[i].batch;
        if (!other || strcmp(other, arg->batch) == 0) continue;
        return mt_reader_fail(reader, err, key_line(reader, index, "batch"), "`batch = %s` of [arg %s]: [arg %s] has `batch = %s`; expected one for all", arg->batch, arg->name, spec->args[i].name, other);
    }
    return MT_OK;
}

static mt_status check_tensor(mt_reader *reader, size_t index, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    const mt_arg *arg = &spec->args[index];
    static const char *const why = "only scratch may depend on knobs, inputs and outputs are the same for all variants";
    MT_TRY(check_keys_fit_role(reader, index, err));
    MT_TRY(check_constant(reader, index, err));
    MT_TRY(check_batch(reader, index, err));
    if (arg->role == MT_ROLE_SCRATCH) goto done;
    MT_TRY(refuse_knobs(reader, key_line(reader, index, "shape"), "shape", knobs_of_list(spec, &arg->shape), why, err));
    MT_TRY(refuse_knobs(reader, key_line(reader, index, "init"), "init", knobs_of_list(spec, &arg->init_bounds), why, err));
    MT_TRY(refuse_knobs(reader, key_line(reader, index, "dtype"), "dtype", mt_scope_knobs_of_text(spec, arg->dtype_text), why, err));
done:
    return st;
}

static mt_status check_tensormap(mt_reader *reader, size_t index, mt_error *err)
{
    const mt_arg *arg = &reader->spec->args[index];
    if (arg->box.count != arg->dims.count) {
        return mt_reader_fail(reader, err, key_line(reader, index, "box"), "box has %zu lengths but dims has %zu: expected as many",
                              arg->box.count, arg->dims.count);
    }
    if (arg->strides.count + 1 != arg->dims.count) {
        return mt_reader_fail(reader, err, key_line(reader, index, "strides"),
                              "[arg %s] has %zu strides but %zu dims: expected one stride for each dimension but the innermost, in elements", arg->name,
                              arg->strides.count, arg->dims.count);
    }
    return MT_OK;
}

static mt_status check_args(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    bool has_output = false;
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        if (arg->kind == MT_ARG_TENSOR) MT_TRY(check_tensor(reader, i, err));
        if (arg->kind == MT_ARG_TENSORMAP) MT_TRY(check_tensormap(reader, i, err));
        has_output = has_output || mt_arg_is_output(arg);
    }
    if (!has_output) st = mt_reader_fail(reader, err, spec->args[0].line,
                                         "no argument has role out or inout: expected at least one, or nothing can be verified");
done:
    return st;
}

/* ---- launches ---- */

static const char *const without_a_variant = "the reference runs without a variant, unless `reads_knobs` of [kernel] names these knobs";

static mt_status check_reference_launch(mt_reader *reader, const mt_launch *launch, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    if (spec->reference_is_default) {
        return mt_reader_fail(reader, err, launch->line, "[launch reference %d] beside reference = default: expected none, the default variant runs by its own launches", launch->number);
    }
    mt_status st = refuse_knobs(reader, launch->line, "[launch reference]", mt_scope_knobs_of_launch(spec, launch) & ~spec->reference_knobs, without_a_variant, err);
    for (size_t i = 0; st == MT_OK && i < launch->arg_count; i++) {
        const mt_arg *arg = &spec->args[launch->args[i]];
        char what[160];
        snprintf(what, sizeof what, "[arg %s] of [launch reference]", arg->name);
        st = refuse_knobs(reader, launch->line, what, mt_scope_knobs_of_arg(spec, arg) & ~spec->reference_knobs, without_a_variant, err);
    }
    return st;
}

static bool takes_output(const mt_spec *spec, const mt_launch *launch)
{
    for (size_t i = 0; i < launch->reached_count; i++)
        if (mt_arg_is_output(&spec->args[launch->reached[i]])) return true;
    return false;
}

/* What computes nothing would be the fastest: only a yardstick may. */
static mt_status check_algorithm_launches(mt_reader *reader, size_t algorithm, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const mt_algorithm *what = &spec->algorithms[algorithm];
    int line = reader->sections[MT_SECTION_ALGORITHM][algorithm]->line;
    bool has_launch = false, has_output = false;
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        if (launch->phase == MT_LAUNCH_PREPARE || (launch->algorithm && strcmp(launch->algorithm, what->name) != 0)) continue;
        has_launch = has_launch || launch->phase == MT_LAUNCH_TIMED;
        has_output = has_output || takes_output(spec, launch);
    }
    if (!has_launch) return mt_reader_fail(reader, err, line, "[algorithm %s] has no launch: expected [launch %s 1] or [launch 1]", what->name, what->name);
    if (!has_output && !what->is_yardstick)
        return mt_reader_fail(reader, err, line, "no launch of [algorithm %s] takes an output, so that nothing can be verified: expected an argument of role out or inout, or `yardstick = yes`", what->name);
    return MT_OK;
}

/* Yardsticks are never validated: production must not fall back to one. */
static mt_status check_yardsticks(mt_reader *reader, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    size_t count = 0;
    if (spec->algorithms[0].is_yardstick)
        return mt_reader_fail(reader, err, reader->sections[MT_SECTION_ALGORITHM][0]->line, "[algorithm %s] is the default and a yardstick: expected one that computes the outputs first", spec->algorithms[0].name);
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        const mt_algorithm *algorithm = &spec->algorithms[i];
        if (!algorithm->is_yardstick) continue;
        if (++count > MT_YARDSTICKS_MAX)
            return mt_reader_fail(reader, err, reader->sections[MT_SECTION_ALGORITHM][i]->line, "more than %d yardsticks", MT_YARDSTICKS_MAX);
        if (spec->baseline && strcmp(spec->baseline, algorithm->name) == 0)
            return mt_reader_fail(reader, err, mt_ini_find(reader->sections[MT_SECTION_TUNE][0], "baseline")->line,
                                  "baseline = %s: that is a yardstick, which is shown anyway; expected an algorithm that computes the outputs", algorithm->name);
    }
    return MT_OK;
}

/* An output that the reference does not write would be compared with nothing. NULL: there is none. */
static const mt_arg *find_unwritten(const mt_spec *spec)
{
    for (size_t i = 0; i < spec->arg_count; i++) {
        bool is_taken = !mt_arg_is_output(&spec->args[i]);
        for (size_t k = 0; k < spec->launch_count && !is_taken; k++) {
            const mt_launch *launch = &spec->launches[k];
            for (size_t a = 0; launch->algorithm && strcmp(launch->algorithm, "reference") == 0 && a < launch->reached_count; a++) is_taken = is_taken || launch->reached[a] == i;
        }
        if (!is_taken) return &spec->args[i];
    }
    return NULL;
}

static mt_status check_launches(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        if (launch->algorithm && strcmp(launch->algorithm, "reference") == 0) MT_TRY(check_reference_launch(reader, launch, err));
    }
    for (size_t i = 0; i < spec->algorithm_count; i++) MT_TRY(check_algorithm_launches(reader, i, err));
    const mt_arg *unwritten = spec->reference ? find_unwritten(spec) : NULL;
    if (unwritten) st = mt_reader_fail(reader, err, spec->reference_line, "no launch of the reference takes the output %s, so that it can't be compared: expected it in the args of [launch reference N], or role = scratch of it", unwritten->name);
done:
    return st;
}

/* ---- texts with ${…} and names of algorithms ---- */

static mt_status check_texts(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    const mt_ini_section *kernel = reader->sections[MT_SECTION_KERNEL][0];
    const mt_ini_entry *options = mt_ini_find(kernel, "options");
    MT_TRY(mt_scope_check_text(reader, options ? options->line : kernel->line, spec->options, err));
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        const mt_ini_section *section = reader->sections[MT_SECTION_ALGORITHM][i];
        options = mt_ini_find(section, "options");
        MT_TRY(mt_scope_check_text(reader, options ? options->line : section->line, spec->algorithms[i].options, err));
        MT_TRY(mt_scope_check_text(reader, spec->algorithms[i].entry_line, spec->algorithms[i].entry, err));
    }
    for (size_t i = 0; i < spec->launch_count; i++) MT_TRY(mt_scope_check_text(reader, spec->launches[i].entry_line, spec->launches[i].entry, err));
    const char *reference = spec->reference ? spec->reference : spec->reference_file;
    MT_TRY(mt_scope_check_text(reader, spec->reference_line, reference, err));
    for (const char *at = spec->reference_file; at && (at = strstr(at, "${")) != NULL; at += 2) {
        uint64_t knob = mt_scope_knobs_of_text(spec, at);
        if (!knob) return mt_reader_fail(reader, err, spec->reference_line, "reference = file:%s: expected ${NAME} of knobs alone, which reads_knobs names", spec->reference_file);
    }
    st = refuse_knobs(reader, spec->reference_line, "reference", mt_scope_knobs_of_text(spec, reference) & ~spec->reference_knobs, without_a_variant, err);
done:
    return st;
}

/* ---- the baseline ---- */

static const char *const plugins[] = {
#define MT_BASELINE(name) #name,
#include "tuner/space/spec/baselines.def"
#undef MT_BASELINE
};
enum { PLUGIN_COUNT = sizeof plugins / sizeof plugins[0] };

static bool names_plugin(const char *name)
{
    for (size_t i = 0; i < PLUGIN_COUNT; i++)
        if (strcmp(plugins[i], name) == 0) return true;
    return false;
}

/* The file's algorithms and the plugins, for the message. */
static mt_status refuse_baseline(mt_reader *reader, int line, mt_error *err)
{
    const mt_param *algo = &reader->spec->params[0];
    char hint[1024];
    const char **known = mt_alloc(algo->value_count + PLUGIN_COUNT, sizeof *known);
    if (!known) return MT_FAIL(err, MT_ERR_NO_MEMORY, "baseline");
    for (size_t i = 0; i < algo->value_count; i++) known[i] = algo->strings[i];
    for (size_t i = 0; i < PLUGIN_COUNT; i++) known[algo->value_count + i] = plugins[i];
    mt_status st = mt_reader_fail(reader, err, line, "baseline = %s: no such algorithm or plugin%s", reader->spec->baseline,
                                  mt_reader_suggest(reader->spec->baseline, known, algo->value_count + PLUGIN_COUNT, hint, sizeof hint));
    mt_free(known);
    return st;
}

/* An algorithm; else a plugin. */
static mt_status check_baseline(mt_reader *reader, mt_error *err)
{
    mt_spec *spec = reader->spec;
    const mt_param *algo = &spec->params[0];
    if (!spec->baseline) return MT_OK;
    for (size_t i = 0; i < algo->value_count; i++) {
        if (strcmp(algo->strings[i], spec->baseline) == 0) return MT_OK;
    }
    if (names_plugin(spec->baseline)) {
        spec->library = spec->baseline;
        spec->baseline = NULL;
        return MT_OK;
    }
    return refuse_baseline(reader, mt_ini_find(reader->sections[MT_SECTION_TUNE][0], "baseline")->line, err);
}

/* ---- the defaults ---- */

static mt_status check_default(mt_reader *reader, int line, size_t index, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const mt_param *algo = &spec->params[0];
    const char *name = spec->defaults[index];
    char hint[1024];
    size_t variant = 0;
    while (variant < spec->algorithm_count && strcmp(spec->algorithms[variant].name, name) != 0) variant++;
    if (!*name) return mt_reader_fail(reader, err, line, "defaults: a name is empty; expected names of algorithms with commas between them");
    if (variant == spec->algorithm_count)
        return mt_reader_fail(reader, err, line, "defaults: no algorithm %s%s", name, mt_reader_suggest(name, (const char *const *)algo->strings, algo->value_count, hint, sizeof hint));
    if (index == 0 && variant != 0) return mt_reader_fail(reader, err, line, "defaults begins with %s: expected the first [algorithm], %s", name, spec->algorithms[0].name);
    if (spec->algorithms[variant].is_yardstick) return mt_reader_fail(reader, err, line, "defaults: %s is a yardstick; expected algorithms that compute the outputs", name);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(spec->defaults[i], name) == 0) return mt_reader_fail(reader, err, line, "defaults names %s twice", name);
    }
    return MT_OK;
}

static mt_status check_defaults(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    if (!spec->defaults_text || spec->is_recorded) return MT_OK;
    int line = mt_ini_find(reader->sections[MT_SECTION_TUNE][0], "defaults")->line;
    MT_TRY(mt_split(spec->defaults_text, &spec->defaults, &spec->default_count, err));
    if (spec->default_count == 0 || spec->default_count > MT_DEFAULTS_MAX) return mt_reader_fail(reader, err, line, "defaults: expected 1 to %d algorithms", MT_DEFAULTS_MAX);
    for (size_t i = 0; i < spec->default_count; i++) MT_TRY(check_default(reader, line, i, err));
done:
    return st;
}

mt_status mt_check_spec(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    if (!reader->spec->is_recorded) MT_TRY(check_args(reader, err));
    if (!reader->spec->is_recorded) MT_TRY(check_launches(reader, err));
    MT_TRY(check_yardsticks(reader, err));
    MT_TRY(check_texts(reader, err));
    MT_TRY(check_baseline(reader, err));
    MT_TRY(check_defaults(reader, err));
done:
    return st;
}
