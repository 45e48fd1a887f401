#include "tuner/cli/lookup/lookup_query.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/text.h"
#include "tuner/cli/requests/database.h"
#include "tuner/cli/requests/requested_shapes.h"
#include "tuner/cli/share.h"
#include "tuner/space/source/source.h"
#include "tuner/space/spec/spec.h"

mt_status mt_lookup_query_unknown(const char *what, const char *name, const mt_texts *known, mt_error *err)
{
    mt_strbuf list = {0};
    const char *near = name ? mt_text_nearest(name, (const char *const *)known->items, known->count) : NULL;
    for (size_t i = 0; i < known->count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", known->items[i]);
    if (!name) MT_FAIL(err, MT_ERR_USAGE, "lookup: --%s is missing; there are: %s", what, mt_strbuf_text(&list));
    else if (near) MT_FAIL(err, MT_ERR_USAGE, "lookup: no %s '%s', did you mean '%s'?", what, name, near);
    else MT_FAIL(err, MT_ERR_USAGE, "lookup: no %s '%s'; there are: %s", what, name, known->count ? mt_strbuf_text(&list) : "none");
    mt_strbuf_free(&list);
    return MT_ERR_USAGE;
}

/* ---- which files ---- */

static mt_status add_file(mt_lookup_query_files *files, char *path)
{
    if (mt_file_exists(path)) files->paths[files->count++] = path;
    else mt_free(path);
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

/* "N=1;M=8" rather than a name. */
static bool are_values(const char *shape)
{
    return shape && strchr(shape, '=');
}

/* ---- from a search space ---- */

/* "NAME@KEY" of the source as it is: rows of another state of it are no answer. A space without its source (what other tools measured) has a name alone. mt_free it; NULL when out of memory. */
static char *kernel_of(const mt_spec *spec)
{
    mt_source source = {0};
    mt_hash key;
    mt_error ignored;
    mt_strbuf name = {0};
    bool is_known = !spec->is_recorded && mt_source_load(spec, &source, &ignored) == MT_OK && mt_source_key(spec, &source, &key, &ignored) == MT_OK;
    mt_strbuf_add(&name, spec->name);
    if (is_known) mt_strbuf_addf(&name, "@%s", key.hex);
    mt_source_free(&source);
    return mt_strbuf_take(&name);
}

/* `as_it_is`: "NAME@KEY" of the space; `wanted`: --kernel, or NULL. */
static void take_space_key(const char *as_it_is, const char *wanted, mt_lookup_query *asked)
{
    size_t length = strcspn(as_it_is, "@");
    if (!as_it_is[length] || (wanted && (strncmp(wanted, as_it_is, length) != 0 || (wanted[length] && wanted[length] != '@')))) return;
    snprintf(asked->space_key, sizeof asked->space_key, "%s", as_it_is + length + 1);
}

static mt_status from_space(const mt_lookup_query_options *options, mt_lookup_query *asked, mt_error *err)
{
    mt_status st = MT_OK;
    char *path = NULL, *as_it_is = NULL;
    mt_spec *spec = NULL;
    mt_texts known = {0};
    char *text = (char *)options->shape;
    const mt_texts given = {&text, are_values(options->shape) ? 1 : 0, 1};
    mt_requested_shapes wanted = {.command = "lookup"};
    MT_TRY(mt_share_space(options->space, &path, err));
    MT_TRY(mt_requested_shapes_load(path, &given, &spec, &wanted, err));
    const mt_shape *shape = options->shape ? mt_spec_shape(spec, given.count ? wanted.shapes.items[0] : options->shape) : NULL;
    for (size_t i = 0; i < spec->shape_count; i++) MT_TRY(mt_texts_add_once(&known, spec->shapes[i].name, err));
    if (!shape) MT_LEAVE(mt_lookup_query_unknown("shape", options->shape, &known, err));
    as_it_is = kernel_of(spec);
    if (as_it_is) take_space_key(as_it_is, options->kernel, asked);
    asked->kernel = options->kernel ? mt_strdup(options->kernel) : mt_strdup(as_it_is ? as_it_is : spec->name);
    asked->shown = mt_strdup(options->kernel ? options->kernel : spec->name);
    st = asked->kernel && asked->shown ? mt_lookup_values_take_shape(asked, shape, err) : mt_no_memory("lookup", err);
done:
    mt_requested_shapes_free(&wanted);
    mt_texts_free(&known);
    mt_spec_free(spec);
    mt_free(as_it_is);
    mt_free(path);
    return st;
}

/* ---- from a database ---- */

typedef struct naming {
    const mt_lookup_query_options *options;
    mt_lookup_query *asked;
    mt_texts kernels, shapes, keys; /* for messages */
    bool found, lacks_programs;
} naming;

static bool is_kernel(const char *wanted, const mt_shape_info *row)
{
    size_t length = strcspn(wanted, "@");
    if (strncmp(row->kernel, wanted, length) != 0 || row->kernel[length]) return false;
    return !wanted[length] || strcasecmp(wanted + length + 1, row->kernel_key) == 0;
}

/* The first file that has the shape answers; within it the row stored last, since names may change their meaning. For values any shape of the kernel does: it says which there must be. */
static mt_status on_shape(void *context, const mt_shape_info *row, mt_error *err)
{
    naming *n = context;
    mt_status st = MT_OK;
    MT_TRY(mt_texts_add_once(&n->kernels, row->kernel, err));
    if (n->options->kernel && !is_kernel(n->options->kernel, row)) goto done;
    MT_TRY(mt_texts_add_once(&n->shapes, row->name, err));
    if (row->kinds) MT_TRY(mt_texts_add_once(&n->keys, row->key, err));
    if (!n->options->shape || (!are_values(n->options->shape) && strcmp(row->name, n->options->shape) != 0)) goto done;
    n->lacks_programs = !row->kinds;
    if (!row->kinds) goto done;
    mt_free(n->asked->kernel);
    mt_free(n->asked->shown);
    n->asked->kernel = mt_strdup(n->options->kernel ? n->options->kernel : row->kernel);
    n->asked->shown = mt_strdup(n->asked->kernel);
    if (!n->asked->kernel || !n->asked->shown) return mt_no_memory("lookup", err);
    MT_TRY(mt_lookup_values_take_key(n->asked, row->key, row->kinds, err));
    n->found = true;
done:
    return st;
}

static mt_status name_problem(naming *n, mt_error *err)
{
    const char *kernel = n->options->kernel, *at = kernel ? strchr(kernel, '@') : NULL;
    if (n->kernels.count == 0) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "lookup: nothing is tuned yet; msda-tune --gpu auto --space FILE tunes");
    if (!kernel && n->kernels.count > 1) return mt_lookup_query_unknown("kernel", NULL, &n->kernels, err);
    if (kernel && n->shapes.count == 0 && !at) return mt_lookup_query_unknown("kernel", kernel, &n->kernels, err);
    if (kernel && n->shapes.count == 0) return MT_FAIL(err, MT_ERR_USAGE, "lookup: no kernel '%s': nothing was tuned with that source", kernel);
    if (!n->lacks_programs) return mt_lookup_query_unknown("shape", n->options->shape, &n->shapes, err);
    return MT_FAIL(err, MT_ERR_NOTHING_VALID, "lookup: of this kernel only imported or recorded rows are stored, so its constraints and launches are unknown; tune the kernel, or replay it with the source that was recorded");
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
    if (st == MT_OK && are_values(options->shape)) st = mt_lookup_values_give(asked, options->shape, &n.keys, err);
    mt_texts_free(&n.kernels);
    mt_texts_free(&n.shapes);
    mt_texts_free(&n.keys);
    return st;
}

/* ---- --workload ---- */

static mt_status on_tuned(void *context, const mt_tuned_info *row, mt_error *err)
{
    return mt_texts_add_once(context, row->workload, err);
}

/* A workload says how inputs are distributed: the library answers for any, from the rows of others where there are none. A person who mistypes one wants to know. */
static mt_status check_workload(const char *workload, const mt_lookup_query_files *files, const char *kernel, mt_error *err)
{
    mt_texts known = {0};
    char *name = mt_strndup(kernel, strcspn(kernel, "@"));
    const mt_filter filter = {.kernel = name};
    mt_status st = name ? MT_OK : mt_no_memory("lookup", err);
    for (size_t i = 0; i < files->count && st == MT_OK; i++) {
        mt_store *store = NULL;
        st = mt_store_open(files->paths[i], MT_STORE_READ_ONLY, &store, err);
        if (st == MT_OK) st = mt_query_tuned(store, &filter, on_tuned, &known, err);
        mt_store_close(store);
    }
    bool found = false;
    for (size_t i = 0; i < known.count; i++) found = found || strcmp(known.items[i], workload) == 0;
    if (st == MT_OK && !found && mt_text_nearest(workload, (const char *const *)known.items, known.count)) st = mt_lookup_query_unknown("workload", workload, &known, err);
    else if (st == MT_OK && !found) mt_log_warn("lookup: no row has the workload '%s'; rows of other workloads answer", workload);
    mt_texts_free(&known);
    mt_free(name);
    return st;
}

/* ---- all of it ---- */

mt_status mt_lookup_query_make(const mt_lookup_query_options *options, mt_lookup_query *asked, mt_error *err)
{
    mt_status st = MT_OK;
    mt_lookup_query_files files = {0};
    MT_TRY(find_files(options->db, &files, err));
    asked->space = options->space;
    MT_TRY(options->space ? from_space(options, asked, err) : from_database(options, &files, asked, err));
    for (size_t i = 0; i < options->set->count; i++) MT_TRY(mt_lookup_values_set(asked, options->set->items[i], err));
    MT_TRY(mt_lookup_values_push(asked, err));
    if (options->workload) MT_TRY(check_workload(options->workload, &files, asked->kernel, err));
    if (options->workload) MT_TRY(mt_lookup_values_bind(asked, "workload", options->workload, err));
    if (options->member) MT_TRY(mt_lookup_values_bind(asked, "class", options->member, err));
    MT_TRY(mt_lookup_query_device(options->gpu, &files, asked, err));
done:
    for (size_t i = 0; i < files.count; i++) mt_free(files.paths[i]);
    return st;
}

void mt_lookup_query_free(mt_lookup_query *asked)
{
    mt_lookup_values_clear(asked);
    for (size_t i = 0; i < asked->name_count; i++) mt_free(asked->names[i]);
    mt_free(asked->kernel);
    mt_free(asked->shown);
    *asked = (mt_lookup_query){0};
}
