/* msda-tune new: a first search space of a kernel that comes as a .cu file alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/command.h"
#include "tuner/cli/output/print.h"
#include "tuner/cli/requests/new_space.h"

typedef struct new_values {
    const char *kernel, *output;
} new_values;

#define FIELD(name) offsetof(new_values, name)
static const mt_option options[] = {
    {"kernel", 0, MT_OPTION_TEXT, FIELD(kernel), "NAME", "which __global__ function, where the source has several; of overloads\n'scale(float *, int)'"},
    {"output", 'o', MT_OPTION_OUTPUT, FIELD(output), "FILE", "the search space; default the source's name with .ini, where no such\nfile is; - is standard output"},
    {0},
};

/* But for blanks. */
static bool is_same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static mt_status choose(const mt_signatures *signatures, const char *path, const char *name, const mt_signature **chosen, mt_error *err)
{
    mt_strbuf names = {0};
    size_t count = 0; /* of unlike names: under conditions there may be several of one */
    for (size_t i = 0; i < signatures->count; i++) {
        const mt_signature *kernel = &signatures->items[i];
        bool is_again = false;
        mt_strbuf entry = {0};
        mt_strbuf_add(&entry, kernel->entry);
        if (kernel->is_overload) mt_signature_add_parameters(kernel, false, &entry);
        for (size_t k = 0; k < i; k++) is_again = is_again || (strcmp(signatures->items[k].entry, kernel->entry) == 0 && !kernel->is_overload);
        if (!is_again) mt_strbuf_addf(&names, "%s%s", count++ ? ", " : "", mt_strbuf_text(&entry));
        if (!*chosen && (!name || strcmp(kernel->name, name) == 0 || strcmp(kernel->entry, name) == 0 || is_same_text(mt_strbuf_text(&entry), name))) *chosen = kernel;
        mt_strbuf_free(&entry);
    }
    mt_status st = MT_OK;
    if (signatures->count == 0) st = MT_FAIL(err, MT_ERR_SPEC, "%s: no __global__ function with a body (one that a macro declares is not seen): expected a CUDA source with the kernel", path);
    else if (!*chosen) st = MT_FAIL(err, MT_ERR_SPEC, "%s: no __global__ function %s: expected one of %s", path, name, mt_strbuf_text(&names));
    else if (!name && count > 1) st = MT_FAIL(err, MT_ERR_SPEC, "%s: several __global__ functions: choose one of %s with --kernel", path, mt_strbuf_text(&names));
    mt_strbuf_free(&names);
    return st;
}

/* "folder/scale.cu" → "folder/scale.ini". */
static mt_status default_output(const char *path, char **output, mt_error *err)
{
    char *folder = mt_path_folder(path), *stem = mt_path_stem(path);
    mt_strbuf name = {0};
    mt_strbuf_addf(&name, "%s.ini", stem ? stem : "");
    if (folder && stem) *output = strcmp(folder, ".") == 0 ? mt_strbuf_take(&name) : mt_path_join(folder, mt_strbuf_text(&name));
    mt_strbuf_free(&name);
    mt_free(folder);
    mt_free(stem);
    return *output ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}

/* A file that is there may hold somebody's work; pipes and devices hold nothing. */
static mt_status check_is_new(const char *output, mt_error *err)
{
    struct stat info;
    bool is_there = strcmp(output, "-") != 0 && stat(output, &info) == 0 && S_ISREG(info.st_mode);
    return is_there ? MT_FAIL(err, MT_ERR_USAGE, "%s is there already: expected another name, -o FILE", output) : MT_OK;
}

/* How the search space names its source, which it does from its own folder. */
static mt_status source_from(const char *output, const char *path, char **source, mt_error *err)
{
    char *here = mt_path_folder(output), *there = mt_path_folder(path);
    const char *slash = strrchr(path, '/');
    bool is_beside = here && there && strcmp(here, there) == 0;
    *source = is_beside ? mt_strdup(slash ? slash + 1 : path) : realpath(path, NULL);
    mt_free(here);
    mt_free(there);
    return *source ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}

/* The files beside the source that it includes, and what those include. One that is not there may be a library's. */
static void read_others(const char *path, const char *text, int depth, mt_strbuf *others)
{
    enum { DEEPEST = 8, MOST_BYTES = 1 << 20 };
    for (const char *at = text; depth < DEEPEST && (at = strstr(at, "include")); at++) {
        const char *quote = at + strlen("include"), *name;
        quote += strspn(quote, " \t");
        if (*quote != '"' || others->length > MOST_BYTES) continue;
        size_t length = strcspn(name = quote + 1, "\"\n");
        char *folder = mt_path_folder(path), *word = mt_strndup(name, length), *file = folder && word ? mt_path_join(folder, word) : NULL, *content = NULL;
        size_t bytes;
        if (file && mt_file_read(file, MOST_BYTES, &content, &bytes, NULL) == MT_OK) {
            mt_strbuf_addf(others, "%s\n", content);
            read_others(file, content, depth + 1, others);
        }
        MT_FREE_EACH(content, file, word, folder);
    }
}

static mt_status write_space(const new_values *values, const char *path, const char *text, const mt_signature *kernel, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf out = {0}, others = {0};
    char *output = NULL, *source = NULL;
    if (values->output) output = mt_strdup(values->output);
    else MT_TRY(default_output(path, &output, err));
    if (!output) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    MT_TRY(check_is_new(output, err));
    MT_TRY(source_from(strcmp(output, "-") == 0 ? "." : output, path, &source, err));
    read_others(path, text, 0, &others);
    MT_TRY(mt_new_space(text, mt_strbuf_text(&others), source, kernel, &out, err));
    fflush(stdout);
    MT_TRY(mt_file_write_output(output, out.text, out.length, err));
    if (strcmp(output, "-") != 0) mt_tell("%s written. Next:\n  msda-tune check --space %s --sample    # without a GPU: --gpu h100\n  msda-tune --gpu auto --space %s\n", output, output, output);
done:
    mt_strbuf_free(&out);
    mt_strbuf_free(&others);
    mt_free(source);
    mt_free(output);
    return st;
}

static mt_status run(const mt_arguments *arguments, mt_error *err)
{
    const new_values *values = arguments->values;
    const mt_signature *kernel = NULL;
    mt_signatures signatures = {0};
    char *text = NULL;
    size_t length;
    mt_status st = MT_OK;
    if (arguments->operand_count != 1) return MT_FAIL(err, MT_ERR_USAGE, "new: expected one CUDA source, KERNEL.cu");
    const char *path = arguments->operands[0];
    MT_TRY(mt_file_read(path, 16 << 20, &text, &length, err));
    MT_TRY(mt_signatures_read(text, &signatures, err));
    MT_TRY(choose(&signatures, path, values->kernel, &kernel, err));
    st = write_space(values, path, text, kernel, err);
done:
    mt_signatures_free(&signatures);
    mt_free(text);
    return st;
}

const mt_command mt_cmd_new = {
    .name = "new",
    .summary = "write a first search space for a kernel",
    .help = "Reads the kernel's declaration and body, and writes a search space: arguments, sizes, a launch, and\n"
            "knobs of the macros that the source gives a default (#ifndef TILE, #define TILE 16) or reads and\n"
            "does not define. What can't be told is guessed, and says so. The kernel itself is its reference,\n"
            "until you name another.\n\n"
            "  msda-tune new scale.cu && msda-tune check --space scale.ini --sample",
    .operands = "KERNEL.cu",
    .options = options,
    .values_size = sizeof(new_values),
    .run = run,
};
