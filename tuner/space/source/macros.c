/* -D macros. They are sorted, so that moving sections of the file changes no command line and no compile cache key. */
#include "tuner/space/source/macros.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/macros_internal.h"
#include "tuner/space/source/nvcc_words.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/base/text.h"

/* ---- the list ---- */

static mt_status take(mt_options *options, char *owned, mt_error *err)
{
    char **grown = owned ? mt_realloc(options->items, options->count + 1, sizeof *grown) : NULL;
    if (!grown) {
        mt_free(owned);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    }
    options->items = grown;
    grown[options->count++] = owned;
    return MT_OK;
}

mt_status mt_options_add(mt_options *options, const char *option, mt_error *err)
{
    return take(options, mt_strdup(option), err);
}

void mt_options_free(mt_options *options)
{
    for (size_t i = 0; i < options->count; i++) mt_free(options->items[i]);
    mt_free(options->items);
    *options = (mt_options){ 0 };
}

static mt_status add_formatted(mt_options *options, mt_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

static mt_status add_formatted(mt_options *options, mt_error *err, const char *format, ...)
{
    mt_strbuf text = { 0 };
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&text, format, args);
    va_end(args);
    return take(options, mt_strbuf_take(&text), err);
}

mt_status mt_options_add_name(mt_options *options, const char *name, mt_error *err)
{
    if (mt_text_is_identifier(name, strlen(name))) return MT_OK;
    for (size_t i = 0; i < options->count; i++)
        if (strncmp(options->items[i], MT_NAME_OPTION, sizeof MT_NAME_OPTION - 1) == 0 && strcmp(options->items[i] + sizeof MT_NAME_OPTION - 1, name) == 0) return MT_OK;
    return add_formatted(options, err, MT_NAME_OPTION "%s", name);
}

static void sort_macros(mt_options *options)
{
    if (options->count) qsort(options->items, options->count, sizeof *options->items, mt_text_order);
    options->macro_count = options->count;
}

/* ---- knobs ---- */

/* K=8, or for names K=K_v with every K_* numbered, so that #if K == K_v works for values that are not chosen too. Texts stand for themselves, K=float4, and K_INDEX=2 is what #if can tell. */
static mt_status add_knob(const mt_param *param, size_t level, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    if (!param->is_string) return add_formatted(options, err, "-D%s=%" PRId64, param->macro, param->numbers[level]);
    if (param->is_verbatim) {
        MT_TRY(add_formatted(options, err, "-D%s=%s", param->macro, param->strings[level]));
        return add_formatted(options, err, "-D%s_INDEX=%zu", param->macro, level + 1);
    }
    MT_TRY(add_formatted(options, err, "-D%s=%s_%s", param->macro, param->macro, param->strings[level]));
    for (size_t i = 0; i < param->value_count; i++) MT_TRY(add_formatted(options, err, "-D%s_%s=%zu", param->macro, param->strings[i], i + 1));
done:
    return st;
}

static mt_status add_knobs(const mt_env *env, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = mt_env_spec(env);
    for (size_t i = 0; i < spec->param_count; i++) {
        int level = mt_env_level(env, i);
        if (level != MT_INACTIVE) MT_TRY(add_knob(&spec->params[i], (size_t)level, options, err));
    }
done:
    return st;
}

/* ---- settings ---- */

static mt_status add_list(const char *prefix, const mt_setting *setting, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_value *value = &setting->value;
    mt_strbuf text = { 0 };
    mt_strbuf_addf(&text, "-D%s%s=", prefix, setting->name);
    for (size_t i = 0; i < value->length; i++) mt_strbuf_addf(&text, "%s%" PRId64, i ? "," : "", value->list[i]);
    MT_TRY(take(options, mt_strbuf_take(&text), err));
    MT_TRY(add_formatted(options, err, "-D%s%s_LEN=%zu", prefix, setting->name, value->length));
    for (size_t i = 0; i < value->length; i++) {
        MT_TRY(add_formatted(options, err, "-D%s%s_%zu=%" PRId64, prefix, setting->name, i, value->list[i]));
    }
done:
    return st;
}

/* SHAPE_N=48; SHAPE_dtype=SHAPE_dtype_f16 with SHAPE_dtype_f16=1 (all others are undefined, which #if takes for 0). */
static mt_status add_setting(const char *prefix, const mt_setting *setting, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    const char *name = setting->name;
    switch (setting->value.kind) {
    case MT_VALUE_STRING:
        MT_TRY(add_formatted(options, err, "-D%s%s=%s%s_%s", prefix, name, prefix, name, setting->value.string));
        MT_TRY(add_formatted(options, err, "-D%s%s_%s=1", prefix, name, setting->value.string));
        break;
    case MT_VALUE_LIST:
        MT_TRY(add_list(prefix, setting, options, err));
        break;
    default: /* integers, and the fractions that workloads may have */
        MT_TRY(add_formatted(options, err, "-D%s%s=%s", prefix, name, setting->text));
    }
done:
    return st;
}

static bool is_baked(const mt_algorithm *variant, const char *name)
{
    for (size_t i = 0; i < variant->bake_count; i++) {
        if (strcmp(variant->bake[i], name) == 0) return true;
    }
    return variant->bake_all;
}

/* ---- options as written ---- */

/* What ${NAME} made of a word may be another kind of word. */
static mt_status check_expanded(const mt_env *env, const char *expanded, mt_error *err)
{
    mt_word word;
    const char *at = expanded;
    mt_status st = mt_word_next(&at, &word, err);
    const char *refusal = mt_word_refusal(word.kind);
    if (st == MT_OK && word.kind != MT_WORD_END && word.kind != MT_WORD_PLAIN)
        st = MT_FAIL(err, MT_ERR_SPEC, "%s: options: %s, which a knob makes: %s", mt_env_spec(env)->path, expanded, refusal ? refusal : "a folder or header that a knob names is not in the kernel's key; expected it written out");
    const char *nvcc = st == MT_OK && word.kind == MT_WORD_PLAIN && mt_env_spec(env)->is_for_nvcc ? mt_nvcc_word_refusal(word.text) : NULL;
    if (nvcc) st = MT_FAIL(err, MT_ERR_SPEC, "%s: options: %s, which a knob makes: %s", mt_env_spec(env)->path, expanded, nvcc);
    if (st == MT_OK && strcasestr(expanded, "has_include"))
        st = MT_FAIL(err, MT_ERR_SPEC, "%s: options: %s, which a knob makes: the tool can't see which file this asks for; expected it in the source", mt_env_spec(env)->path, expanded);
    mt_free(word.text);
    return st;
}

/* Adds the words of an options text. A word that names an inactive knob is left out, as the knob's macro is. */
static mt_status add_words(const mt_env *env, const char *text, mt_options *options, mt_error *err)
{
    mt_word word;
    mt_status st;
    while ((st = mt_word_next(&text, &word, err)) == MT_OK && word.kind != MT_WORD_END) {
        char *expanded = NULL;
        if (word.kind == MT_WORD_PLAIN) st = mt_env_expand(env, word.text, &expanded, err);
        if (expanded && st == MT_OK) st = check_expanded(env, expanded, err);
        bool is_taken = word.kind == MT_WORD_PLAIN && st == MT_OK && *expanded; /* a knob's empty text: an option that is off */
        if (!is_taken) mt_free(expanded);
        mt_free(word.text);
        if (is_taken) st = take(options, expanded, err);
        if (st != MT_OK && st != MT_ERR_NOT_FOUND) return st;
    }
    return st;
}

mt_status mt_options_variant(const mt_env *env, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = mt_env_spec(env);
    const mt_shape *shape = mt_env_shape(env);
    const mt_algorithm *variant = &spec->algorithms[mt_env_level(env, 0)];
    *options = (mt_options){ 0 };
    MT_TRY(add_knobs(env, options, err));
    for (size_t i = 0; i < shape->setting_count; i++) {
        if (is_baked(variant, shape->settings[i].name)) MT_TRY(add_setting("SHAPE_", &shape->settings[i], options, err));
    }
    sort_macros(options);
    MT_TRY(add_words(env, spec->options, options, err));
    options->kernel_count = options->count;
    MT_TRY(add_words(env, variant->options, options, err));
    MT_TRY(mt_macros_check(env, NULL, options, err));
done:
    if (st != MT_OK) mt_options_free(options);
    return st;
}

static mt_status set_knobs(mt_env *env, const mt_spec *spec, size_t combination, mt_error *err)
{
    mt_point read;
    if (spec->reference_is_default) return mt_env_set_default(env, err);
    mt_reference_point(spec, combination, &read);
    for (size_t i = 0; i < spec->param_count; i++) mt_env_set_knob(env, i, read.level[i] != MT_INACTIVE ? read.level[i] : i == 0 ? 0 : (int)spec->params[i].default_level);
    return MT_OK;
}

mt_status mt_options_support(const mt_env *env, const mt_workload *workload, size_t combination, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = mt_env_spec(env);
    const mt_shape *shape = mt_env_shape(env);
    mt_env *defaults = NULL; /* of its own: the caller's point stays */
    *options = (mt_options){ 0 };
    MT_TRY(mt_env_create(spec, shape, mt_env_facts(env), &defaults, err));
    MT_TRY(set_knobs(defaults, spec, combination, err));
    MT_TRY(add_knobs(defaults, options, err));
    for (size_t i = 0; i < shape->setting_count; i++) MT_TRY(add_setting("SHAPE_", &shape->settings[i], options, err));
    for (size_t i = 0; i < workload->setting_count; i++) MT_TRY(add_setting("WORKLOAD_", &workload->settings[i], options, err));
    MT_TRY(mt_options_add(options, "-DMT_SUPPORT=1", err));
    sort_macros(options);
    MT_TRY(add_words(defaults, spec->options, options, err));
    options->kernel_count = options->count;
    if (spec->reference_is_default) MT_TRY(add_words(defaults, spec->algorithms[0].options, options, err));
    MT_TRY(mt_macros_check(defaults, workload, options, err));
done:
    mt_env_free(defaults);
    if (st != MT_OK) mt_options_free(options);
    return st;
}
