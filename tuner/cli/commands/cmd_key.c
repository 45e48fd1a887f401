/* msda-tune key: a C header with the key of a kernel's source, so that a program asks for exactly what it was built with. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/share.h"
#include "tuner/space/source/source.h"
#include "tuner/space/spec/spec_json.h"

typedef struct key_values {
    const char *space, *kernel, *output;
    bool expressions;
} key_values;

#define FIELD(name) offsetof(key_values, name)
static const mt_option options[] = {
    {"space", 0, MT_OPTION_SPACE, FIELD(space), "FILE", "search space: a file, or the name of a shipped one"},
    {"kernel", 0, MT_OPTION_TEXT, FIELD(kernel), "NAME", "the shipped search space whose kernel has this name"},
    {"output", 'o', MT_OPTION_OUTPUT, FIELD(output), "FILE", "the header; without it or with -, on stdout"},
    {"expressions", 0, MT_OPTION_FLAG, FIELD(expressions), NULL, "instead of the header, what the database keeps of the search space for\nlibtunelookup: its expressions, as JSON"},
    {0},
};

/* The shipped space whose [kernel] name is `kernel`. */
static mt_status find_kernel(const char *kernel, mt_spec **spec, mt_error *err)
{
    mt_texts spaces = {0};
    const char *near;
    char *path = NULL, *names[64];
    size_t count = 0;
    mt_status st = MT_OK;
    MT_TRY(mt_share_spaces(&spaces, err));
    for (size_t i = 0; i < spaces.count && count < 64; i++) {
        MT_TRY(mt_share_space(spaces.items[i], &path, err));
        MT_TRY(mt_spec_load(path, spec, err));
        mt_free(path);
        path = NULL;
        if (strcmp((*spec)->name, kernel) == 0) goto done;
        names[count] = mt_strdup((*spec)->name);
        count += names[count] != NULL;
        mt_spec_free(*spec);
        *spec = NULL;
    }
    near = mt_text_nearest(kernel, (const char *const *)names, count);
    if (near) st = MT_FAIL(err, MT_ERR_USAGE, "key: no shipped kernel '%s', did you mean '%s'?", kernel, near);
    else st = MT_FAIL(err, MT_ERR_USAGE, "key: no shipped kernel '%s'; give its search space with --space", kernel);
done:
    for (size_t i = 0; i < count; i++) mt_free(names[i]);
    mt_free(path);
    mt_texts_free(&spaces);
    return st;
}

static mt_status load(const key_values *values, mt_spec **spec, mt_error *err)
{
    char *path = NULL;
    if (!values->space == !values->kernel) return MT_FAIL(err, MT_ERR_USAGE, "key: expected --space FILE or --kernel NAME");
    if (values->kernel) return find_kernel(values->kernel, spec, err);
    mt_status st = mt_share_space(values->space, &path, err);
    if (st == MT_OK) st = mt_spec_load(path, spec, err);
    mt_free(path);
    return st;
}

/* "my-kernel" → MY_KERNEL */
static void add_macro(mt_strbuf *text, const char *name)
{
    for (; *name; name++) mt_strbuf_add_char(text, isalnum((unsigned char)*name) ? (char)toupper((unsigned char)*name) : '_');
}

static void write_header(mt_strbuf *text, const char *name, const char *key)
{
    mt_strbuf_addf(text, "/* Written by msda-tune key: the state of kernel %s that this program is built with.\n * tunelookup_prepare(db, &device, MSDA_TUNE_KEY_", name);
    add_macro(text, name);
    mt_strbuf_add(text, ", …) then answers for this source only. */\n#ifndef MSDA_TUNE_KEY_");
    add_macro(text, name);
    mt_strbuf_add(text, "\n#define MSDA_TUNE_KEY_");
    add_macro(text, name);
    mt_strbuf_addf(text, " \"%s@%s\"\n#endif\n", name, key);
}

static mt_status write_key(mt_strbuf *text, const mt_spec *spec, mt_error *err)
{
    mt_source source = {0};
    mt_hash key;
    mt_status st = MT_OK;
    MT_TRY(mt_source_load(spec, &source, err));
    MT_TRY(mt_source_key(spec, &source, &key, err));
    write_header(text, spec->name, key.hex);
done:
    mt_source_free(&source);
    return st;
}

static void write_expressions(mt_strbuf *text, const mt_spec *spec)
{
    char *json = mt_spec_json(spec);
    mt_strbuf_addf(text, "%s\n", json ? json : "");
    if (!json) text->failed = true;
    mt_free(json);
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const key_values *values = arguments->values;
    mt_spec *spec = NULL;
    mt_strbuf text = {0};
    mt_status st = MT_OK;
    MT_TRY(load(values, &spec, err));
    if (values->expressions) write_expressions(&text, spec);
    else MT_TRY(write_key(&text, spec, err));
    if (text.failed) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "key: out of memory");
    } else if (values->output && strcmp(values->output, "-") != 0) {
        st = mt_file_write_atomic(values->output, text.text, text.length, err);
        if (st == MT_OK) mt_tell("%s\n", values->output);
    } else {
        fputs(mt_strbuf_text(&text), stdout);
    }
done:
    mt_strbuf_free(&text);
    mt_spec_free(spec);
    return st;
}

const mt_command mt_cmd_key = {
    .name = "key",
    .summary = "write a C header with the key of a kernel's source",
    .help = "The header defines MSDA_TUNE_KEY_<NAME> as \"NAME@KEY\", which tunelookup_prepare takes in the place\n"
            "of the name: the program then gets answers for exactly the source that it was built with.\n\n"
            "  msda-tune key --space FILE.ini -o kernel_key.h",
    .options = options,
    .values_size = sizeof(key_values),
    .run = run,
};
