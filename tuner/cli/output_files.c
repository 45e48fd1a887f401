#include "tuner/cli/output_files.h"

#include <string.h>
#include <sys/stat.h>

#include "db/store/store.h"
#include "db/trust.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/share.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/source/source.h"

/* One output, while it is compared with what the command reads. */
typedef struct output {
    const char *command;
    const mt_option *options;
    const mt_option *option;
    const char *path;
    mt_error *err;
} output;

static const char *text_of(const mt_option *option, const void *values)
{
    return *(const char *const *)((const unsigned char *)values + option->offset);
}

static const mt_texts *words_of(const mt_option *option, const void *values)
{
    return (const mt_texts *)((const unsigned char *)values + option->offset);
}

static bool is_output(mt_option_kind kind)
{
    return kind == MT_OPTION_OUTPUT || kind == MT_OPTION_PAGE || kind == MT_OPTION_FOLDER;
}

/* ---- whether two names mean one file ---- */

static bool is_same_inode(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A file that is not there yet is told by its folder and its name. */
static bool is_same_file(const char *a, const char *b)
{
    if (mt_file_exists(a) || mt_file_exists(b)) return is_same_inode(a, b);
    char *folder_a = mt_path_folder(a), *folder_b = mt_path_folder(b);
    bool is_same = folder_a && folder_b && strcmp(last_part(a), last_part(b)) == 0 && is_same_inode(folder_a, folder_b);
    mt_free(folder_a);
    mt_free(folder_b);
    return is_same;
}

/* `what`, and `of` unless NULL: which input it is, in words. */
static mt_status differs(const output *out, const char *input, const char *what, const char *of)
{
    if (!is_same_file(out->path, input)) return MT_OK;
    return MT_FAIL(out->err, MT_ERR_USAGE, "%s: --%s %s: is also %s%s; expected another file", out->command, out->option->name, out->path, what, of ? of : "");
}

/* ---- what the command reads ---- */

/* The .cu, its headers, and the data of `file:…`. Who can't be read is the command's to tell. */
static mt_status differs_from_source(const output *out, const char *space)
{
    mt_spec *spec = NULL;
    mt_source source = {0};
    mt_error ignored;
    mt_status st = MT_OK;
    if (mt_spec_load(space, &spec, &ignored) == MT_OK) {
        for (size_t i = 0; spec->reference_file && i < mt_reference_count(spec) && st == MT_OK; i++) {
            char *path;
            if (mt_reference_file(spec, i, &path, &ignored) == MT_OK) st = differs(out, path, "the reference of ", space);
            mt_free(path);
        }
        for (size_t i = 0; i < spec->arg_count && st == MT_OK; i++)
            if (spec->args[i].init_file) st = differs(out, spec->args[i].init_file, "an input of ", space);
        if (st == MT_OK && !spec->is_recorded && mt_source_load(spec, &source, &ignored) == MT_OK)
            for (size_t i = 0; i < source.file_count && st == MT_OK; i++) st = differs(out, source.files[i].path, "the source of ", space);
    }
    mt_source_free(&source);
    mt_spec_free(spec);
    return st;
}

static mt_status differs_from_space(const output *out, const char *given)
{
    char *path = NULL;
    mt_error ignored;
    if (mt_share_space(given, &path, &ignored) != MT_OK) return MT_OK;
    mt_status st = differs(out, path, "the search space", NULL);
    if (st == MT_OK && mt_file_exists(out->path)) st = differs_from_source(out, path);
    mt_free(path);
    return st;
}

static mt_status differs_from_default_database(const output *out)
{
    char *path = NULL;
    mt_error ignored;
    if (mt_store_default_path(NULL, &path, &ignored) != MT_OK) return MT_OK;
    mt_status st = differs(out, path, "the database", NULL);
    mt_free(path);
    return st;
}

static mt_status differs_from_inputs(const output *out, const mt_option *option, const mt_texts *words)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < words->count && st == MT_OK; i++) {
        const char *equals = strchr(words->items[i], '=');
        if (equals) st = differs(out, equals + 1, "the file of --", option->name);
    }
    return st;
}

static mt_status differs_from_option(const output *out, const mt_option *option, const void *values)
{
    if (option->kind == MT_OPTION_INPUTS) return differs_from_inputs(out, option, words_of(option, values));
    if (option->kind != MT_OPTION_INPUT && option->kind != MT_OPTION_DATABASE && option->kind != MT_OPTION_SPACE && !is_output(option->kind)) return MT_OK;
    const char *path = text_of(option, values);
    if (!path) return strcmp(option->name, "db") == 0 ? differs_from_default_database(out) : MT_OK;
    return option->kind == MT_OPTION_SPACE ? differs_from_space(out, path) : differs(out, path, "the file of --", option->name);
}

/* ---- an output ---- */

static mt_status check_place(const output *out)
{
    struct stat info;
    mt_trust trust = {0};
    bool is_folder = out->option->kind == MT_OPTION_FOLDER;
    mt_status st = is_folder ? mt_path_check_writable(out->path, out->err) : mt_file_check_output(out->path, out->err);
    if (st == MT_OK && out->option->kind == MT_OPTION_PAGE && stat(out->path, &info) == 0 && !S_ISREG(info.st_mode))
        st = MT_FAIL(out->err, MT_ERR_USAGE, "%s: is no regular file; expected a new file, or one to replace", out->path);
    if (st == MT_OK && mt_trust_check_links(out->path, &trust) == MT_TRUST_REFUSED) st = MT_FAIL(out->err, MT_ERR_USAGE, "%s", trust.why);
    return st == MT_OK ? MT_OK : mt_error_prefix(out->err, st, "%s: --%s", out->command, out->option->name);
}

static mt_status check_output(const output *out, const void *values, const mt_parsed *parsed)
{
    mt_status st = MT_OK;
    for (const mt_option *o = out->options; o->name && st == MT_OK; o++)
        if (o != out->option) st = differs_from_option(out, o, values);
    for (size_t i = 0; i < parsed->operand_count && st == MT_OK; i++) st = differs(out, parsed->operands[i], "an input", NULL);
    return st == MT_OK ? check_place(out) : st;
}

/* A database that is filled is an output too, though not one that must be new. */
static mt_status check_database(const output *out, const void *values)
{
    mt_status st = MT_OK;
    for (const mt_option *o = out->options; o->name && st == MT_OK; o++)
        if (o->kind == MT_OPTION_INPUT || o->kind == MT_OPTION_INPUTS) st = differs_from_option(out, o, values);
    return st;
}

static mt_status check_databases(const char *command, const mt_option *options, const mt_option *option, const void *values, mt_error *err)
{
    mt_error ignored;
    char *standard = NULL;
    const char *path = text_of(option, values);
    if (!path && strcmp(option->name, "db") == 0 && mt_store_default_path(NULL, &standard, &ignored) == MT_OK) path = standard;
    mt_status st = path ? check_database(&(const output){command, options, option, path, err}, values) : MT_OK;
    mt_free(standard);
    return st;
}

mt_status mt_output_files_check(const char *command, const mt_option *options, const void *values, const mt_parsed *parsed, mt_error *err)
{
    mt_status st = MT_OK;
    for (const mt_option *o = options; o && o->name && st == MT_OK; o++) {
        if (o->kind == MT_OPTION_DATABASE) st = check_databases(command, options, o, values, err);
        const char *path = st == MT_OK && is_output(o->kind) ? text_of(o, values) : NULL;
        if (!path || (o->kind != MT_OPTION_FOLDER && strcmp(path, "-") == 0)) continue;
        st = check_output(&(const output){command, options, o, path, err}, values, parsed);
    }
    return st;
}
