#include "tuner/cli/commands/lookup_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/text.h"
#include "tuner/cli/requests/database.h"
#include "tuner/cli/share.h"
#include "tuner/space/spec.h"

static mt_status no_memory(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "lookup: out of memory");
}

/* "no shape 'sed48', did you mean 'seed48'?" or what there is. */
static mt_status unknown(const char *what, const char *name, const mt_names *known, mt_error *err)
{
    mt_strbuf list = {0};
    const char *near = name ? mt_text_nearest(name, (const char *const *)known->items, known->count) : NULL;
    for (size_t i = 0; i < known->count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", known->items[i]);
    if (!name)
        MT_FAIL(err, MT_ERR_USAGE, "lookup: --%s is missing; there are: %s", what, mt_strbuf_text(&list));
    else if (near)
        MT_FAIL(err, MT_ERR_USAGE, "lookup: no %s '%s', did you mean '%s'?", what, name, near);
    else
        MT_FAIL(err, MT_ERR_USAGE, "lookup: no %s '%s'; there are: %s", what, name, known->count ? mt_strbuf_text(&list) : "none");
    mt_strbuf_free(&list);
    return MT_ERR_USAGE;
}

static mt_status add_name(mt_names *names, const char *name, mt_error *err)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return MT_OK;
    char **items = mt_grow(names->items, names->count, &names->capacity, sizeof *items);
    if (!items) return no_memory(err);
    names->items = items;
    names->items[names->count] = mt_strdup(name);
    return names->items[names->count] ? names->count++, MT_OK : no_memory(err);
}

/* ---- which files ---- */

static mt_status add_file(mt_lookup_query_files *files, char *path)
{
    if (mt_file_exists(path))
        files->paths[files->count++] = path;
    else
        mt_free(path);
    return MT_OK;
}

/* A user's file of an older schema, which the library may still read, keeps nobody from asking: only its names can't be had. */
static void leave_out_unreadable(mt_lookup_query_files *files)
{
    mt_error why = {0};
    mt_store *store = NULL;
    if (files->count > 1 && mt_store_open(files->paths[0], MT_STORE_READ_ONLY, &store, &why) != MT_OK) {
        mt_log_warn("lookup: left out, names of shapes and GPUs come from the shipped files only: %s", why.message);
        mt_free(files->paths[0]);
        files->count--;
        memmove(files->paths, files->paths + 1, files->count * sizeof files->paths[0]);
    }
    mt_store_close(store);
}

/* *path: the user's file or --db, owned; NULL where there is no place for one. */
static mt_status own_file(const char *db, char **path, mt_error *err)
{
    mt_status st = mt_store_default_path(db, path, err);
    return st == MT_ERR_NOT_FOUND && !db ? MT_OK : st;
}

static mt_status find_files(const char *db, mt_lookup_query_files *files, mt_error *err)
{
    mt_status st = MT_OK;
    char *path = NULL;
    MT_TRY(own_file(db, &path, err));
    if (db && !mt_file_exists(path)) {
        st = mt_database_missing(path, err);
        mt_free(path);
        goto done;
    }
    if (path) MT_TRY(add_file(files, path));
    if (db) goto done;
    bool has_own = files->count > 0;
    MT_TRY(mt_share_file("recordings.sqlite", &path, err));
    MT_TRY(add_file(files, path));
    MT_TRY(mt_share_file("tuned.sqlite", &path, err));
    MT_TRY(add_file(files, path));
    if (has_own) leave_out_unreadable(files);
done:
    return st;
}

/* ---- values ---- */

static mt_lookup_query_value *find_value(mt_lookup_query *asked, const char *name, size_t length)
{
    for (size_t i = 0; i < asked->value_count; i++)
        if (strncmp(asked->values[i].name, name, length) == 0 && !asked->values[i].name[length]) return &asked->values[i];
    return NULL;
}

static mt_status add_value(mt_lookup_query *asked, const char *name, size_t name_length, const char *text, size_t length, mt_lookup_query_kind kind, mt_error *err)
{
    if (asked->value_count == TUNELOOKUP_MAX_VALUES) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "lookup: a shape of more than %d values", TUNELOOKUP_MAX_VALUES);
    mt_lookup_query_value *value = &asked->values[asked->value_count++];
    *value = (mt_lookup_query_value){mt_strndup(name, name_length), mt_strndup(text, length), kind};
    return value->name && value->text ? MT_OK : no_memory(err);
}

static void clear_values(mt_lookup_query *asked)
{
    for (size_t i = 0; i < asked->value_count; i++) {
        mt_free(asked->values[i].name);
        mt_free(asked->values[i].text);
    }
    asked->value_count = 0;
}

/* "D=32;H=92,46;dtype=f16" with "int,list,string". */
static mt_status take_key(mt_lookup_query *asked, const char *key, const char *kinds, mt_error *err)
{
    mt_status st = MT_OK;
    clear_values(asked);
    while (*key && st == MT_OK) {
        size_t length = strcspn(key, ";"), name_length = strcspn(key, "=");
        if (name_length >= length) return MT_FAIL(err, MT_ERR_DB, "lookup: the shape's key '%s' is damaged", key);
        mt_lookup_query_kind kind = strncmp(kinds, "list", 4) == 0 ? MT_ASKED_LIST : strncmp(kinds, "string", 6) == 0 ? MT_ASKED_STRING : MT_ASKED_INT;
        st = add_value(asked, key, name_length, key + name_length + 1, length - name_length - 1, kind, err);
        key += length + (key[length] == ';');
        kinds += strcspn(kinds, ",");
        kinds += *kinds == ',';
    }
    return st;
}

static mt_status take_shape(mt_lookup_query *asked, const mt_shape *shape, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < shape->setting_count && st == MT_OK; i++) {
        const mt_setting *setting = &shape->settings[i];
        mt_lookup_query_kind kind = setting->value.kind == MT_VALUE_LIST ? MT_ASKED_LIST : setting->value.kind == MT_VALUE_STRING ? MT_ASKED_STRING : MT_ASKED_INT;
        st = add_value(asked, setting->name, strlen(setting->name), setting->text, strlen(setting->text), kind, err);
    }
    return st;
}

/* ---- from a search space ---- */

static mt_status from_space(const mt_lookup_query_options *options, mt_lookup_query *asked, mt_error *err)
{
    mt_status st = MT_OK;
    char *path = NULL;
    mt_spec *spec = NULL;
    mt_names known = {0};
    MT_TRY(mt_share_space(options->space, &path, err));
    MT_TRY(mt_spec_load(path, &spec, err));
    const mt_shape *shape = options->shape ? mt_spec_shape(spec, options->shape) : NULL;
    for (size_t i = 0; i < spec->shape_count; i++) MT_TRY(add_name(&known, spec->shapes[i].name, err));
    if (!shape) {
        st = unknown("shape", options->shape, &known, err);
        goto done;
    }
    asked->kernel = mt_strdup(options->kernel ? options->kernel : spec->name);
    st = asked->kernel ? take_shape(asked, shape, err) : no_memory(err);
done:
    mt_names_free(&known);
    mt_spec_free(spec);
    mt_free(path);
    return st;
}

/* ---- from a database ---- */

typedef struct naming {
    const mt_lookup_query_options *options;
    mt_lookup_query *asked;
    mt_names kernels, shapes; /* for messages */
    bool found, lacks_programs;
} naming;

static bool is_kernel(const char *wanted, const mt_shape_info *row)
{
    size_t length = strcspn(wanted, "@");
    if (strncmp(row->kernel, wanted, length) != 0 || row->kernel[length]) return false;
    return !wanted[length] || strcasecmp(wanted + length + 1, row->kernel_key) == 0;
}

/* The first file that has the shape answers; within it the row stored last, since names may change their meaning. */
static mt_status on_shape(void *context, const mt_shape_info *row, mt_error *err)
{
    naming *n = context;
    mt_status st = MT_OK;
    MT_TRY(add_name(&n->kernels, row->kernel, err));
    if (n->options->kernel && !is_kernel(n->options->kernel, row)) goto done;
    MT_TRY(add_name(&n->shapes, row->name, err));
    if (!n->options->shape || strcmp(row->name, n->options->shape) != 0) goto done;
    n->lacks_programs = !row->kinds;
    if (!row->kinds) goto done;
    mt_free(n->asked->kernel);
    n->asked->kernel = mt_strdup(n->options->kernel ? n->options->kernel : row->kernel);
    if (!n->asked->kernel) return no_memory(err);
    MT_TRY(take_key(n->asked, row->key, row->kinds, err));
    n->found = true;
done:
    return st;
}

static mt_status name_problem(naming *n, mt_error *err)
{
    const char *kernel = n->options->kernel, *at = kernel ? strchr(kernel, '@') : NULL;
    if (n->kernels.count == 0) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "lookup: nothing is tuned yet; msda-tune --gpu auto --space FILE does");
    if (!kernel && n->kernels.count > 1) return unknown("kernel", NULL, &n->kernels, err);
    if (kernel && n->shapes.count == 0 && !at) return unknown("kernel", kernel, &n->kernels, err);
    if (kernel && n->shapes.count == 0) return MT_FAIL(err, MT_ERR_USAGE, "lookup: no kernel '%s': nothing was tuned with that source", kernel);
    if (!n->lacks_programs) return unknown("shape", n->options->shape, &n->shapes, err);
    return MT_FAIL(err, MT_ERR_NOTHING_VALID, "lookup: of this kernel only imported or recorded rows are stored, without its expressions; tuning the kernel, or replaying it with the source that was recorded, adds them");
}

/* Otherwise all files are read, so that the message names what any of them has. */
static bool is_settled(const naming *n)
{
    return n->found && (n->options->kernel || n->kernels.count == 1);
}

static mt_status from_database(const mt_lookup_query_options *options, const mt_lookup_query_files *files, mt_lookup_query *asked, mt_error *err)
{
    naming n = {.options = options, .asked = asked};
    mt_status st = MT_OK;
    for (size_t i = 0; i < files->count && st == MT_OK && !is_settled(&n); i++) {
        mt_store *store = NULL;
        st = mt_store_open(files->paths[i], MT_STORE_READ_ONLY, &store, err);
        if (st == MT_OK) st = mt_query_shapes(store, on_shape, &n, err);
        mt_store_close(store);
    }
    if (st == MT_OK && !is_settled(&n)) st = name_problem(&n, err);
    mt_names_free(&n.kernels);
    mt_names_free(&n.shapes);
    return st;
}

/* ---- --workload ---- */

static mt_status on_tuned(void *context, const mt_tuned_info *row, mt_error *err)
{
    return add_name(context, row->workload, err);
}

/* The library takes any name; a person who mistypes one wants to know. */
static mt_status check_workload(const char *workload, const mt_lookup_query_files *files, const char *kernel, mt_error *err)
{
    mt_names known = {0};
    char *name = mt_strndup(kernel, strcspn(kernel, "@"));
    const mt_filter filter = {.kernel = name};
    mt_status st = name ? MT_OK : no_memory(err);
    for (size_t i = 0; i < files->count && st == MT_OK; i++) {
        mt_store *store = NULL;
        st = mt_store_open(files->paths[i], MT_STORE_READ_ONLY, &store, err);
        if (st == MT_OK) st = mt_query_tuned(store, &filter, on_tuned, &known, err);
        mt_store_close(store);
    }
    bool found = false;
    for (size_t i = 0; i < known.count; i++) found = found || strcmp(known.items[i], workload) == 0;
    if (st == MT_OK && !found) st = unknown("workload", workload, &known, err);
    mt_names_free(&known);
    mt_free(name);
    return st;
}

/* ---- --set ---- */

static mt_status set_value(mt_lookup_query *asked, const char *pair, mt_error *err)
{
    mt_status st = MT_OK;
    size_t length = strcspn(pair, "=");
    if (!pair[length] || !length) return MT_FAIL(err, MT_ERR_USAGE, "lookup: --set %s: expected NAME=VALUE", pair);
    mt_lookup_query_value *value = find_value(asked, pair, length);
    if (value) {
        mt_free(value->text);
        value->text = mt_strdup(pair + length + 1);
        return value->text ? MT_OK : no_memory(err);
    }
    mt_names known = {0};
    char *name = mt_strndup(pair, length);
    if (!name) return no_memory(err);
    for (size_t i = 0; i < asked->value_count; i++) MT_TRY(add_name(&known, asked->values[i].name, err));
    st = unknown("value of the shape named", name, &known, err);
done:
    mt_names_free(&known);
    mt_free(name);
    return st;
}

/* ---- for the library ---- */

static mt_status push(mt_lookup_query *asked, const char *name, mt_error *err)
{
    if (asked->name_count == TUNELOOKUP_MAX_VALUES) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "lookup: a shape of more than %d values", TUNELOOKUP_MAX_VALUES);
    asked->names[asked->name_count] = mt_strdup(name);
    return asked->names[asked->name_count] ? asked->name_count++, MT_OK : no_memory(err);
}

/* Digits, however many. */
static bool is_whole_number(const char *text, size_t length)
{
    size_t sign = length && (*text == '-' || *text == '+');
    return length > sign && strspn(text + sign, "0123456789") >= length - sign;
}

/* An integer, or one of a list: "H[1]". */
static mt_status push_number(mt_lookup_query *asked, const mt_lookup_query_value *value, const char *text, size_t length, size_t index, mt_error *err)
{
    mt_strbuf name = {0};
    int64_t number;
    if (!mt_text_int64(text, length, &number)) {
        if (is_whole_number(text, length))
            return MT_FAIL(err, MT_ERR_USAGE, "lookup: %s is '%s', which is out of range: expected %" PRId64 " to %" PRId64, value->name, value->text, INT64_MIN, INT64_MAX);
        const char *wanted = value->kind == MT_ASKED_LIST ? "whole numbers with commas between them" : "a whole number";
        return MT_FAIL(err, MT_ERR_USAGE, "lookup: %s is '%s', expected %s", value->name, value->text, wanted);
    }
    mt_strbuf_add(&name, value->name);
    if (value->kind == MT_ASKED_LIST) mt_strbuf_addf(&name, "[%zu]", index);
    mt_status st = push(asked, mt_strbuf_text(&name), err);
    mt_strbuf_free(&name);
    if (st == MT_OK) asked->numbers[asked->number_count++] = number;
    return st;
}

static mt_status push_value(mt_lookup_query *asked, const mt_lookup_query_value *value, mt_error *err)
{
    mt_status st = MT_OK;
    if (value->kind == MT_ASKED_STRING) {
        mt_strbuf name = {0};
        mt_strbuf_addf(&name, "%s=%s", value->name, value->text);
        st = push(asked, mt_strbuf_text(&name), err);
        mt_strbuf_free(&name);
        return st;
    }
    const char *at = value->text;
    for (size_t index = 0; st == MT_OK; index++) {
        size_t length = value->kind == MT_ASKED_LIST ? strcspn(at, ",") : strlen(at);
        st = push_number(asked, value, at, length, index, err);
        if (!at[length]) break;
        at += length + 1;
        if (!*at) break; /* "7,": a list of one, as the .ini writes it */
    }
    return st;
}

static mt_status bind_workload(mt_lookup_query *asked, const char *workload, mt_error *err)
{
    mt_strbuf name = {0};
    if (!workload) return MT_OK;
    mt_strbuf_addf(&name, "workload=%s", workload);
    asked->names[asked->name_count] = mt_strbuf_take(&name);
    return asked->names[asked->name_count] ? asked->name_count++, MT_OK : no_memory(err);
}

mt_status mt_lookup_query_make(const mt_lookup_query_options *options, mt_lookup_query *asked, mt_error *err)
{
    mt_status st = MT_OK;
    mt_lookup_query_files files = {0};
    MT_TRY(find_files(options->db, &files, err));
    asked->space = options->space;
    MT_TRY(options->space ? from_space(options, asked, err) : from_database(options, &files, asked, err));
    for (size_t i = 0; i < options->set->count; i++) MT_TRY(set_value(asked, options->set->items[i], err));
    for (size_t i = 0; i < asked->value_count; i++) MT_TRY(push_value(asked, &asked->values[i], err));
    if (options->workload) MT_TRY(check_workload(options->workload, &files, asked->kernel, err));
    MT_TRY(bind_workload(asked, options->workload, err));
    MT_TRY(mt_lookup_query_device(options->gpu, &files, asked, err));
done:
    for (size_t i = 0; i < files.count; i++) mt_free(files.paths[i]);
    return st;
}

void mt_lookup_query_free(mt_lookup_query *asked)
{
    clear_values(asked);
    for (size_t i = 0; i < asked->name_count; i++) mt_free(asked->names[i]);
    mt_free(asked->kernel);
    *asked = (mt_lookup_query){0};
}
