#include "tuner/cli/share.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"

mt_status mt_share_file(const char *relative, char **path, mt_error *err)
{
    char *folder = mt_path_share();
    *path = folder ? mt_path_join(folder, relative) : NULL;
    mt_free(folder);
    return *path ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory finding %s", relative);
}

/* *path becomes <share>/search_spaces/<given><suffix> if that is a file, else stays NULL. */
static mt_status try_shared(const char *given, const char *suffix, char **path, mt_error *err)
{
    mt_strbuf relative = {0};
    char *candidate = NULL;
    mt_strbuf_addf(&relative, "search_spaces/%s%s", given, suffix);
    mt_status st = mt_share_file(mt_strbuf_text(&relative), &candidate, err);
    if (st == MT_OK && mt_file_exists(candidate)) {
        *path = candidate;
        candidate = NULL;
    }
    mt_free(candidate);
    mt_strbuf_free(&relative);
    return st;
}

static mt_status no_such_space(const char *given, mt_error *err)
{
    mt_names names = {0};
    mt_strbuf list = {0};
    mt_status st = mt_share_spaces(&names, err);
    if (st != MT_OK) goto done;
    for (size_t i = 0; i < names.count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", names.items[i]);
    const char *near = mt_text_nearest(given, (const char *const *)names.items, names.count);
    st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: no such file or search space%s%s%s%s%s", given, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
                 names.count ? "; shipped with the tool: " : "", mt_strbuf_text(&list));
done:
    mt_strbuf_free(&list);
    mt_names_free(&names);
    return st;
}

mt_status mt_share_space(const char *given, char **path, mt_error *err)
{
    mt_status st = MT_OK;
    *path = NULL;
    bool is_bare_folder = !strchr(given, '/') && mt_dir_exists(given); /* hides no shipped space of its name */
    if (!(mt_file_exists(given) && !is_bare_folder) && given[0] != '/') {
        MT_TRY(try_shared(strncmp(given, "search_spaces/", 14) == 0 ? given + 14 : given, "", path, err));
        if (!*path) MT_TRY(try_shared(given, ".ini", path, err));
    }
    if (!*path && mt_file_exists(given)) {
        *path = mt_strdup(given);
        return *path ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory opening %s", given);
    }
    if (!*path) st = no_such_space(given, err);
done:
    return st;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes the name, which may be NULL, over. */
static mt_status take_name(mt_names *names, char *name, mt_error *err)
{
    char **items = name ? mt_grow(names->items, names->count, &names->capacity, sizeof *items) : NULL;
    if (!items) {
        mt_free(name);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory gathering names");
    }
    names->items = items;
    names->items[names->count++] = name;
    return MT_OK;
}

mt_status mt_names_add(mt_names *names, const char *name, mt_error *err)
{
    return take_name(names, mt_strdup(name), err);
}

mt_status mt_share_spaces(mt_names *names, mt_error *err)
{
    char *folder = NULL;
    mt_status st = mt_share_file("search_spaces", &folder, err);
    DIR *dir = st == MT_OK ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && st == MT_OK && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 4, ".ini") == 0) st = take_name(names, mt_path_stem(entry->d_name), err);
    }
    if (dir) closedir(dir);
    if (names->count) qsort(names->items, names->count, sizeof *names->items, compare_names);
    mt_free(folder);
    return st;
}

void mt_names_free(mt_names *names)
{
    for (size_t i = 0; i < names->count; i++) mt_free(names->items[i]);
    mt_free(names->items);
    *names = (mt_names){0};
}

mt_status mt_share_recordings(const char *given, mt_store **store, mt_error *err)
{
    char *path = NULL;
    mt_status st = MT_OK;
    if (!given) MT_TRY(mt_share_file("recordings.sqlite", &path, err));
    if (path && !mt_file_exists(path)) {
        st = MT_FAIL(err, MT_ERR_NO_GPU, "no recordings came with this build (%s is missing)", path);
        goto done;
    }
    MT_TRY(mt_store_open(given ? given : path, MT_STORE_READ_ONLY, store, err));
done:
    mt_free(path);
    return st;
}

mt_status mt_share_own_recordings(bool makes_folder, char **path, mt_error *err)
{
    mt_status st = MT_OK;
    if (!mt_path_has_user_data()) return MT_FAIL(err, MT_ERR_NOT_FOUND, "no place for recordings: expected --db FILE, or an absolute path in XDG_DATA_HOME or HOME");
    char *folder = mt_path_user_data();
    *path = folder ? mt_path_join(folder, "recordings.sqlite") : NULL;
    if (!*path) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "recordings: out of memory");
    if (st == MT_OK && makes_folder) st = mt_dir_make_all(folder, err);
    mt_free(folder);
    return st;
}

mt_status mt_share_open_own_recordings(mt_store **store, mt_error *err)
{
    char *path = NULL;
    *store = NULL;
    if (!mt_path_has_user_data()) return MT_OK;
    mt_status st = mt_share_own_recordings(false, &path, err);
    if (st == MT_OK && mt_file_exists(path)) st = mt_store_open(path, MT_STORE_READ_ONLY, store, err);
    mt_free(path);
    return st;
}

static mt_status on_tuned(void *context, const mt_tuned_info *row, mt_error *err)
{
    (void)row, (void)err;
    *(bool *)context = true;
    return MT_OK;
}

mt_status mt_share_recordings_of(const char *given, const char *gpu, const char *kernel, mt_store **store, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    const mt_filter filter = {.gpu = gpu, .kernel = kernel, .origin = &recorded};
    bool has_both = false;
    mt_status st = MT_OK;
    if (given) return mt_share_recordings(given, store, err);
    MT_TRY(mt_share_open_own_recordings(store, err));
    if (*store) MT_TRY(mt_query_tuned(*store, &filter, on_tuned, &has_both, err));
    if (has_both) return MT_OK;
    mt_store_close(*store);
    *store = NULL;
    st = mt_share_recordings(NULL, store, err);
done:
    return st;
}

/* Rows come ordered, so equal models (several memory sizes, say) are neighbours. */
static mt_status add_model(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    mt_strbuf *names = context;
    char model[MT_KEY_MODEL_SIZE];
    (void)measurements;
    (void)err;
    snprintf(model, sizeof model, "%.*s", (int)strcspn(row->key, "|"), row->key);
    if (!strstr(mt_strbuf_text(names), model)) mt_strbuf_addf(names, "%s%s", names->length ? ", " : "", model);
    return MT_OK;
}

mt_status mt_share_recorded_gpus(mt_store *store, mt_strbuf *names, mt_error *err)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    return mt_query_devices(store, &recorded, add_model, names, err);
}

void mt_share_recorded_hint(const char *given, mt_strbuf *text)
{
    mt_error ignored = {0};
    mt_store *store = NULL, *own = NULL;
    mt_strbuf names = {0};
    if (mt_share_recordings(given, &store, &ignored) == MT_OK) mt_share_recorded_gpus(store, &names, &ignored);
    if (!given && mt_share_open_own_recordings(&own, &ignored) == MT_OK && own) mt_share_recorded_gpus(own, &names, &ignored);
    if (names.length) {
        const char *first = mt_strbuf_text(&names);
        mt_strbuf_addf(text, "recorded GPUs that need no hardware: %s (try --gpu recorded:%.*s)", first, (int)strcspn(first, ",-"), first);
    } else {
        mt_strbuf_add(text, "and no recorded GPU came with this build");
    }
    mt_strbuf_free(&names);
    mt_store_close(own);
    mt_store_close(store);
}
