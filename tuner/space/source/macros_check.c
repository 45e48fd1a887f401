/* One name, one value: of two definitions of a macro the compiler takes the later one and says nothing. */
#include <stdlib.h>
#include <string.h>

#include "tuner/base/strbuf.h"
#include "tuner/space/source/macros_internal.h"
#include "tuner/space/source/option_words.h"

/* What is behind `prefix` and `name` in the macro; NULL: another macro. */
static const char *behind(const char *macro, const char *prefix, const char *name)
{
    size_t first = strlen(prefix), second = strlen(name);
    return strncmp(macro, prefix, first) == 0 && strncmp(macro + first, name, second) == 0 ? macro + first + second : NULL;
}

static void add_owner(mt_strbuf *owners, const char *what, const char *of, const char *name)
{
    mt_strbuf_addf(owners, "%s%s%s%s", owners->length ? " and " : "", what, of, name);
}

static void add_knobs(const mt_spec *spec, const char *macro, mt_strbuf *owners)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        const mt_param *param = &spec->params[i];
        const char *rest = behind(macro, "", param->macro);
        if (rest && !*rest) add_owner(owners, "knob", " ", param->name);
        if (!rest || *rest++ != '_' || !param->is_string) continue;
        if (param->is_verbatim && strcmp(rest, "INDEX") == 0) add_owner(owners, "the number of a value of knob", " ", param->name);
        for (size_t k = 0; k < param->value_count && !param->is_verbatim; k++)
            if (strcmp(rest, param->strings[k]) == 0) add_owner(owners, rest, ", a value of knob ", param->name);
    }
}

static void add_settings(const char *prefix, const char *kind, const mt_setting *settings, size_t count, const char *macro, mt_strbuf *owners)
{
    for (size_t i = 0; i < count; i++) {
        const mt_value *value = &settings[i].value;
        const char *rest = behind(macro, prefix, settings[i].name);
        if (rest && !*rest) add_owner(owners, kind, " ", settings[i].name);
        if (!rest || *rest++ != '_') continue;
        char *end;
        bool is_element = value->kind == MT_VALUE_LIST && (strcmp(rest, "LEN") == 0 || (strtoull(rest, &end, 10) < value->length && end != rest && !*end));
        if (is_element) add_owner(owners, rest, ", a part of the list ", settings[i].name);
        if (value->kind == MT_VALUE_STRING && strcmp(rest, value->string) == 0) add_owner(owners, rest, ", the value of ", settings[i].name);
    }
}

/* Of the options that are written, kernel's and algorithm's; the tool's own macros are told by what they are made of. */
static void add_written(const char *algorithm, const mt_options *options, size_t which, mt_strbuf *owners)
{
    mt_strbuf section = {0};
    if (which < options->macro_count) return;
    if (which >= options->kernel_count) mt_strbuf_addf(&section, "[algorithm %s] options", algorithm);
    add_owner(owners, options->items[which], " of ", section.length ? mt_strbuf_text(&section) : "[kernel] options");
    mt_strbuf_free(&section);
}

/* `one` and `other`: which of the options. */
static mt_status refuse(const mt_env *env, const mt_workload *workload, const mt_options *options, const char *macro, size_t one, size_t other, mt_error *err)
{
    const mt_spec *spec = mt_env_spec(env);
    const mt_shape *shape = mt_env_shape(env);
    mt_strbuf owners = {0};
    add_knobs(spec, macro, &owners);
    add_settings("SHAPE_", "shape value", shape->settings, shape->setting_count, macro, &owners);
    if (workload) add_settings("WORKLOAD_", "workload value", workload->settings, workload->setting_count, macro, &owners);
    const char *algorithm = spec->algorithms[mt_env_level(env, 0)].name;
    add_written(algorithm, options, one, &owners);
    add_written(algorithm, options, other, &owners);
    mt_status st = MT_FAIL(err, MT_ERR_SPEC, "%s: macro %s has two values, %s and %s: %s; expected different names", spec->path, macro, options->items[one], options->items[other], mt_strbuf_text(&owners));
    mt_strbuf_free(&owners);
    return st;
}

/* -DX and -DX=1 are one. */
static bool same_value(const char *one, const char *other)
{
    if (!one || !other) return one == other;
    return strcmp(*one ? one : "1", *other ? other : "1") == 0;
}

static mt_status compare(const mt_env *env, const mt_workload *workload, const mt_options *options, size_t one, size_t other, mt_error *err)
{
    size_t length, other_length;
    const char *value, *other_value, *name = mt_word_macro(options->items[one], &length, &value), *other_name = mt_word_macro(options->items[other], &other_length, &other_value);
    if (!name || !other_name || length != other_length || strncmp(name, other_name, length) != 0 || same_value(value, other_value)) return MT_OK;
    mt_strbuf macro = {0};
    mt_strbuf_add_bytes(&macro, name, length);
    mt_status st = refuse(env, workload, options, mt_strbuf_text(&macro), one, other, err);
    mt_strbuf_free(&macro);
    return st;
}

mt_status mt_macros_check(const mt_env *env, const mt_workload *workload, const mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 1; i < options->macro_count; i++) MT_TRY(compare(env, workload, options, i - 1, i, err)); /* sorted */
    for (size_t i = options->macro_count; i < options->count; i++) {
        size_t length;
        const char *value;
        bool is_macro = mt_word_macro(options->items[i], &length, &value);
        for (size_t k = 0; is_macro && k < i; k++) MT_TRY(compare(env, workload, options, k, i, err));
    }
done:
    return st;
}
