/* [arg]: tensors, tensor maps and scalars. */
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/spec/spec_scope.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

static const double default_rtol = 1e-3;
static const double default_worst_factor = 20; /* a worst element may be this many times the norm-wise tolerance off */

/* ---- dtype ---- */

/* What C, CUDA and numpy call it. NULL: nothing that is known here. */
static const char *dtype_called(const char *name)
{
    static const char *const names[][2] = {
        {"float", "f32"}, {"double", "f64"}, {"half", "f16"}, {"__half", "f16"}, {"nv_bfloat16", "bf16"}, {"__nv_bfloat16", "bf16"}, {"bfloat16", "bf16"}, {"float16", "f16"}, {"e4m3", "f8e4m3"}, {"e5m2", "f8e5m2"}, {"__nv_fp8_e4m3", "f8e4m3"}, {"__nv_fp8_e5m2", "f8e5m2"}, {"float8_e4m3fn", "f8e4m3"}, {"float8_e5m2", "f8e5m2"},
        {"float32", "f32"}, {"float64", "f64"}, {"char", "i8"}, {"int8", "i8"}, {"uint8", "u8"}, {"short", "i16"}, {"int16", "i16"}, {"uint16", "u16"}, {"int", "i32"}, {"int32", "i32"},
        {"unsigned", "u32"}, {"uint32", "u32"}, {"int64", "i64"}, {"long long", "i64"}, {"size_t", "u64"}, {"uint64", "u64"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0) return names[i][1];
    return NULL;
}

static mt_status unknown_dtype(mt_reader *reader, int line, const char *dtype, const char *where, mt_error *err)
{
    const char *known[MT_DTYPE_COUNT];
    char hint[256];
    if (mt_is_texture(dtype)) return mt_reader_fail(reader, err, line, "%s: %s", dtype, MT_NO_TEXTURES);
    for (size_t i = 0; i < MT_DTYPE_COUNT; i++) known[i] = mt_dtype_name((mt_dtype)i);
    if (strcmp(dtype, "bool") == 0) return mt_reader_fail(reader, err, line, "dtype `%s`%s is of scalars alone: expected u8, in whose bytes tensors of it lie", dtype, where);
    if (dtype_called(dtype)) return mt_reader_fail(reader, err, line, "unknown dtype `%s`%s, did you mean `%s`?", dtype, where, dtype_called(dtype));
    return mt_reader_fail(reader, err, line, "unknown dtype `%s`%s%s", dtype, where, mt_reader_suggest(dtype, known, MT_DTYPE_COUNT, hint,
                                                                                                       sizeof hint));
}

bool mt_strings_of(const mt_spec *spec, const char *name, const char *const **strings, size_t *count)
{
    uint32_t slot = mt_scope_slot(spec, name);
    if (slot == MT_NO_SLOT) return false;
    if (slot < spec->device_slot) {
        *strings = spec->owned->shape_strings[slot];
        *count = spec->owned->shape_string_counts[slot];
        return *count > 0;
    }
    if (slot < spec->param_slot || slot >= spec->let_slot) return false;
    const mt_param *param = &spec->params[slot - spec->param_slot];
    *strings = (const char *const *)param->strings;
    *count = param->value_count;
    return param->is_string;
}

mt_status mt_parse_dtype_text(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object,
                              mt_error *err)
{
    mt_dtype dtype;
    const char *const *strings = NULL;
    size_t count = 0, length = strlen(value);
    char name[128] = "";
    mt_status st = mt_scope_check_text(reader, entry->line, value, err);
    if (st != MT_OK) return st;
    if (length > 3 && length < sizeof name && strncmp(value, "${", 2) == 0 && strchr(value, '}') == value + length - 1) {
        memcpy(name, value + 2, length - 3);
        if (!mt_strings_of(reader->spec, name, &strings, &count)) {
            return mt_reader_fail(reader, err, entry->line,
                                  "dtype = %s: %s is no string; expected a name such as f16 or a value that holds one", value, name);
        }
        for (size_t i = 0; i < count; i++) {
            if (!mt_dtype_from_name(strings[i], &dtype)) return unknown_dtype(reader, entry->line, strings[i],
                                                                              ", one of the values of that name", err);
        }
    } else if (!strstr(value, "${") && !mt_dtype_from_name(value, &dtype)) {
        return unknown_dtype(reader, entry->line, value, "", err);
    }
    return mt_parse_text(reader, rule, entry, value, object, err);
}

/* ---- init ---- */

/* "word(inside)" → word, inside; inside is "" without parentheses. */
static bool cut_call(const char *text, char *word, size_t word_size, char *inside, size_t inside_size)
{
    size_t length = strcspn(text, "( \t");
    const char *open = text + length + strspn(text + length, " \t");
    size_t total = strlen(text);
    inside[0] = '\0';
    if (length == 0 || length >= word_size) return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (!*open) return true;
    if (*open != '(' || text[total - 1] != ')') return false;
    size_t inner = (size_t)(text + total - 1 - (open + 1));
    if (inner >= inside_size) return false;
    memcpy(inside, open + 1, inner);
    inside[inner] = '\0';
    return true;
}

static bool two_numbers(const char *text, double *a, double *b)
{
    char **items = NULL;
    size_t count = 0;
    if (mt_split(text, &items, &count, NULL) != MT_OK) return false;
    bool ok = count == 2 && mt_text_double(items[0], a) && mt_text_double(items[1], b);
    mt_strings_free(items, count);
    return ok;
}

/* uniform(0, N - 1): indices into something whose size the shape says. */
static mt_status parse_bounds(mt_reader *reader, int line, const char *text, mt_expr_list *bounds, bool *are_two, mt_error *err)
{
    char **items = NULL;
    size_t count = 0;
    mt_status st = mt_split(text, &items, &count, err);
    *are_two = st == MT_OK && count == 2;
    if (*are_two) bounds->items = mt_alloc(count, sizeof *bounds->items);
    if (*are_two && !bounds->items) st = mt_reader_no_memory(reader, err);
    for (size_t i = 0; *are_two && st == MT_OK && i < count; i++) {
        bounds->count = i + 1;
        st = mt_scope_expr(reader, line, items[i], MT_TYPE_INT, &bounds->items[i], err);
    }
    mt_strings_free(items, count);
    return st;
}

/* Of an integer dtype. */
static bool fits_dtype(mt_dtype dtype, double value)
{
    bool is_unsigned = mt_dtype_name(dtype)[0] == 'u';
    double end = ldexp(1, 8 * (int)mt_dtype_bytes(dtype) - !is_unsigned);
    return value == floor(value) && value < end && value >= (is_unsigned ? 0 : -end);
}

mt_status mt_parse_init(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_arg *arg = object;
    char word[32], inside[256];
    bool ok = cut_call(value, word, sizeof word, inside, sizeof inside), has_bounds = false;
    if (strncmp(value, "file:", 5) == 0 && value[5]) {
        arg->init = MT_INIT_FILE;
        arg->init_file = mt_reader_resolve(reader, entry->line, value + 5);
        return arg->init_file ? MT_OK : mt_reader_no_memory(reader, err);
    }
    if (ok && strcmp(word, "uniform") == 0 && !two_numbers(inside, &arg->init_a, &arg->init_b)) {
        arg->init = MT_INIT_UNIFORM;
        mt_status st = parse_bounds(reader, entry->line, inside, &arg->init_bounds, &has_bounds, err);
        if (has_bounds || st != MT_OK) return st;
    }
    if (ok && strcmp(word, "zeros") == 0 && !*inside) {
        arg->init = MT_INIT_ZEROS;
    } else if (ok && strcmp(word, "uniform") == 0 && two_numbers(inside, &arg->init_a, &arg->init_b)) {
        arg->init = MT_INIT_UNIFORM;
        if (arg->init_a >= arg->init_b) return mt_reader_fail(reader, err, entry->line, "init = %s: expected the smaller bound first", value);
    } else if (ok && strcmp(word, "normal") == 0 && two_numbers(inside, &arg->init_a, &arg->init_b)) {
        arg->init = MT_INIT_NORMAL;
        if (!(arg->init_b > 0)) return mt_reader_fail(reader, err, entry->line, "init = %s: expected a positive standard deviation", value);
    } else if (ok && strcmp(word, "iota") == 0 && !*inside) {
        arg->init = MT_INIT_RAMP;
        arg->init_b = 1;
    } else if (ok && strcmp(word, "constant") == 0 && mt_text_double(inside, &arg->init_a)) {
        mt_dtype dtype;
        bool is_whole = mt_dtype_from_name(arg->dtype_text, &dtype) && !mt_dtype_is_float(dtype);
        arg->init = MT_INIT_RAMP;
        if (is_whole && !fits_dtype(dtype, arg->init_a)) return mt_reader_fail(reader, err, entry->line, "init = %s: expected a value that %s can hold", value, arg->dtype_text);
    } else if (ok && strcmp(word, "kernel") == 0 && mt_text_is_identifier(inside, strlen(inside))) {
        arg->init = MT_INIT_KERNEL;
        if (!(arg->init_kernel = mt_strdup(inside))) return mt_reader_no_memory(reader, err);
    } else {
        return mt_reader_fail(reader, err, entry->line, "init = %s: expected zeros, iota, constant(VALUE), uniform(LOW, HIGH), normal(MEAN, SD), kernel(NAME) or file:PATH.npy", value);
    }
    return MT_OK;
}

/* ---- tensor maps ---- */

mt_status mt_parse_of(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    const mt_spec *spec = reader->spec;
    const char *known[64];
    char hint[512];
    size_t count = 0;
    for (size_t i = 0; i < spec->arg_count; i++) {
        if (spec->args[i].kind != MT_ARG_TENSOR) continue;
        if (strcmp(spec->args[i].name, value) == 0) {
            ((mt_arg *)object)->of = i;
            return MT_OK;
        }
        if (count < 64) known[count++] = spec->args[i].name;
    }
    return mt_reader_fail(reader, err, entry->line, "of = %s: no such tensor argument%s", value, mt_reader_suggest(value, known, count, hint,
                                                                                                                   sizeof hint));
}

/* "NAME in 0..LAST" → name (owned) and LAST's text. */
static char *cut_for(const char *value, const char **last)
{
    size_t name = 0;
    while (isalnum((unsigned char)value[name]) || value[name] == '_') name++;
    const char *at = value + name;
    size_t space = strspn(at, " \t");
    if (!mt_text_is_identifier(value, name) || space == 0 || strncmp(at + space, "in", 2) != 0) return NULL;
    at += space + 2;
    if (*at != ' ' && *at != '\t') return NULL;
    at += strspn(at, " \t");
    if (strncmp(at, "0..", 3) != 0 || !at[3]) return NULL;
    *last = at + 3 + strspn(at + 3, " \t");
    return mt_strndup(value, name);
}

mt_status mt_parse_for(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = reader->spec;
    mt_arg *arg = object;
    const char *last = NULL;
    mt_strbuf count = { 0 };
    char *name = arg->loop = cut_for(value, &last);
    if (!name) return mt_reader_fail(reader, err, entry->line, "for = %s: expected NAME in 0..LAST, such as l in 0..L-1", value);
    if (mt_scope_slot(spec, name) != MT_NO_SLOT || strcmp(name, "device") == 0) {
        return mt_reader_fail(reader, err, entry->line, "for: `%s` is also a shape value, knob or let; expected another name", name);
    }
    MT_TRY(mt_scope_expr(reader, entry->line, last, MT_TYPE_INT, &arg->count, err)); /* alone first, so that messages show what was written */
    mt_strbuf_addf(&count, "(%s) + 1", last);
    MT_TRY(mt_scope_expr(reader, entry->line, mt_strbuf_text(&count), MT_TYPE_INT, &arg->count, err));
    arg->is_array = true;
    reader->loop_name = name; /* until the argument's keys are read */
done:
    mt_strbuf_free(&count);
    return st;
}

/* A word, or an expression of knobs. */
mt_status mt_parse_swizzle(mt_reader *reader, const mt_key_rule *rule, const mt_ini_entry *entry, const char *value, void *object, mt_error *err)
{
    mt_arg *arg = object;
    int64_t bytes = 0;
    bool is_number = mt_text_int64(value, strlen(value), &bytes);
    if (is_number && !mt_swizzle_exists(bytes)) return mt_reader_fail(reader, err, entry->line, "swizzle = %s: expected none, 32, 64, 128, or an expression of knobs", value);
    arg->swizzle_bytes = (int)bytes;
    return is_number || strcmp(value, "none") == 0 ? MT_OK : mt_scope_expr(reader, entry->line, value, MT_TYPE_INT, &arg->swizzle, err);
}

/* ---- all arguments ---- */

static mt_rule_set rules_of(mt_arg_kind kind)
{
    return kind == MT_ARG_TENSOR ? MT_RULES_TENSOR : kind == MT_ARG_TENSORMAP ? MT_RULES_TENSORMAP : kind == MT_ARG_STRUCT ? MT_RULES_STRUCT : MT_RULES_SCALAR;
}

/* `kind` decides which keys are known, so it is looked at before the rest. */
static mt_status find_kind(mt_reader *reader, const mt_ini_section *section, mt_arg *arg, mt_error *err)
{
    size_t count;
    const mt_key_rule *kind = mt_rules(MT_RULES_TENSOR, &count);
    const mt_ini_entry *entry = mt_ini_find(section, "kind");
    if (!entry) return mt_reader_fail(reader, err, section->line, "[arg %s] has no `kind`: expected kind = tensor, tensormap, scalar or struct",
                                      section->name);
    char *value = mt_ini_unquote(entry->value);
    if (!value) return mt_reader_no_memory(reader, err);
    mt_status st = mt_is_texture(value) ? mt_reader_fail(reader, err, entry->line, "kind = %s: %s", value, MT_NO_TEXTURES) : mt_parse_choice(reader, &kind[0], entry, value, arg, err);
    mt_free(value);
    return st;
}

static void default_tolerances(const mt_ini_section *section, mt_arg *arg)
{
    mt_dtype dtype;
    bool is_exact = mt_dtype_from_name(arg->dtype_text, &dtype) && !mt_dtype_is_float(dtype);
    if (!mt_ini_find(section, "rtol")) arg->rtol = is_exact ? 0 : default_rtol;
    if (!mt_ini_find(section, "worst")) arg->worst = default_worst_factor * arg->rtol;
}

mt_status mt_read_args(mt_reader *reader, mt_error *err)
{
    mt_status st = MT_OK;
    mt_spec *spec = reader->spec;
    size_t count = reader->counts[MT_SECTION_ARG];
    spec->args = mt_alloc(count, sizeof *spec->args);
    if (!spec->args) return mt_reader_no_memory(reader, err);
    for (size_t i = 0; i < count; i++) { /* names and kinds of all, because `of` may point forward */
        const mt_ini_section *section = reader->sections[MT_SECTION_ARG][i];
        mt_arg *arg = &spec->args[i];
        spec->arg_count = i + 1;
        *arg = (mt_arg){ .name = mt_strdup(section->name), .line = section->line };
        if (!arg->name) return mt_reader_no_memory(reader, err);
        MT_TRY(find_kind(reader, section, arg, err));
        MT_TRY(mt_rules_check(reader, section, rules_of(arg->kind), err));
        MT_TRY(mt_rules_apply(reader, section, rules_of(arg->kind), MT_PASS_NAMES, arg, err));
        if (arg->kind == MT_ARG_TENSOR) default_tolerances(section, arg);
    }
    for (size_t i = 0; i < count; i++) {
        mt_arg *arg = &spec->args[i];
        st = mt_rules_apply(reader, reader->sections[MT_SECTION_ARG][i], rules_of(arg->kind), MT_PASS_EXPRESSIONS, arg, err);
        reader->loop_name = NULL;
        if (st != MT_OK) goto done;
    }
done:
    return st;
}

bool mt_arg_is_output(const mt_arg *arg)
{
    return arg->kind == MT_ARG_TENSOR && (arg->role == MT_ROLE_OUT || arg->role == MT_ROLE_INOUT);
}
