#include "tuner/cli/share.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
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
    mt_texts names = {0};
    mt_strbuf list = {0};
    mt_status st = mt_share_spaces(&names, err);
    if (st != MT_OK) goto done;
    for (size_t i = 0; i < names.count; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", names.items[i]);
    char *stem = mt_path_stem(given);
    const char *near = stem ? mt_text_nearest(stem, (const char *const *)names.items, names.count) : NULL;
    mt_free(stem);
    st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: no such file or search space%s%s%s%s%s", given, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "",
                 names.count ? "; shipped with the tool: " : "", mt_strbuf_text(&list));
done:
    mt_strbuf_free(&list);
    mt_texts_free(&names);
    return st;
}

mt_status mt_share_space(const char *given, char **path, mt_error *err)
{
    mt_status st = MT_OK;
    *path = NULL;
    bool is_bare_folder = !strchr(given, '/') && mt_dir_exists(given); /* hides no shipped space of its name */
    if (!(mt_file_exists(given) && !is_bare_folder) && given[0] != '/') {
        const char *name = strncmp(given, "search_spaces/", 14) == 0 ? given + 14 : given;
        MT_TRY(try_shared(name, "", path, err));
        if (!*path) MT_TRY(try_shared(name, ".ini", path, err));
    }
    if (!*path && mt_file_exists(given)) {
        *path = mt_strdup(given);
        return *path ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory opening %s", given);
    }
    if (!*path) st = no_such_space(given, err);
done:
    return st;
}

mt_status mt_share_spaces(mt_texts *names, mt_error *err)
{
    char *folder = NULL;
    mt_status st = mt_share_file("search_spaces", &folder, err);
    DIR *dir = st == MT_OK ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && st == MT_OK && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 4, ".ini") == 0) st = mt_texts_take(names, mt_path_stem(entry->d_name), err);
    }
    if (dir) closedir(dir);
    if (names->count) qsort(names->items, names->count, sizeof *names->items, mt_text_order);
    mt_free(folder);
    return st;
}

mt_status mt_share_recordings(const char *given, mt_store **store, mt_error *err)
{
    char *path = NULL;
    mt_status st = MT_OK;
    if (!given) MT_TRY(mt_share_file("recordings.sqlite", &path, err));
    if (path && !mt_file_exists(path)) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_GPU, "no recordings came with this build (%s is missing)", path));
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

static mt_status on_tuned(void *context, const mt_tuned_info *row, mt_error *err)
{
    (void)row, (void)err;
    *(bool *)context = true;
    return MT_OK;
}

void mt_share_open_own_recordings(bool tells, mt_store **store)
{
    char *path = NULL;
    mt_error why;
    bool has_some;
    *store = NULL;
    if (!mt_path_has_user_data()) return;
    mt_status st = mt_share_own_recordings(false, &path, &why);
    if (st == MT_OK && mt_file_exists(path)) st = mt_store_open(path, MT_STORE_READ_ONLY, store, &why);
    if (st == MT_OK && *store) st = mt_query_tuned(*store, &(mt_filter){0}, on_tuned, &has_some, &why); /* reads them all: damage is met here */
    if (st != MT_OK) {
        if (tells) mt_log_warn("your own recordings are left out: %s", why.message);
        mt_store_close(*store);
        *store = NULL;
    }
    mt_free(path);
}

mt_status mt_share_recordings_of(const char *given, const char *gpu, const char *kernel, mt_store **store, mt_store **under, mt_error *err)
{
    mt_error ignored;
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    const mt_filter filter = {.gpu = gpu, .kernel = kernel, .origin = &recorded};
    bool has_both = false;
    mt_status st = MT_OK;
    if (given) return mt_share_recordings(given, store, err);
    mt_share_open_own_recordings(true, store);
    if (*store) MT_TRY(mt_query_tuned(*store, &filter, on_tuned, &has_both, err));
    if (has_both) {
        if (mt_share_recordings(NULL, under, &ignored) != MT_OK) *under = NULL;
        return MT_OK;
    }
    mt_store_close(*store);
    *store = NULL;
    st = mt_share_recordings(NULL, store, err);
done:
    return st;
}

/* ---- what can be replayed ---- */

enum { RECORDED_LIMIT = 32 /* of the models that are named */ };

typedef struct recorded_gpus {
    const char *kernel; /* NULL = any */
    char keys[RECORDED_LIMIT][MT_KEY_GPU_SIZE];
    size_t count;
} recorded_gpus;

static bool is_same_model(const char *a, const char *b)
{
    size_t length = strcspn(a, "|");
    return length == strcspn(b, "|") && memcmp(a, b, length) == 0;
}

static mt_status on_recorded(void *context, const mt_tuned_info *row, mt_error *err)
{
    recorded_gpus *gpus = context;
    (void)err;
    for (size_t i = 0; i < gpus->count; i++)
        if (is_same_model(gpus->keys[i], row->gpu_key)) return MT_OK;
    if (gpus->count < RECORDED_LIMIT && (!gpus->kernel || strcmp(gpus->kernel, row->kernel) == 0)) snprintf(gpus->keys[gpus->count++], MT_KEY_GPU_SIZE, "%s", row->gpu_key);
    return MT_OK;
}

/* The number behind `mark` in a GPU's key; 0 = none. */
static long part_of(const char *key, const char *mark)
{
    const char *at = strstr(key, mark);
    return at ? strtol(at + strlen(mark), NULL, 10) : 0;
}

/* The newest kind first: by compute capability, then by memory, which grows from one product of an architecture to the next (h100-sxm|cc90|sm132|80g, h200|cc90|sm132|141g). */
static int by_kind(const void *a, const void *b)
{
    long cc = part_of(b, "|cc") - part_of(a, "|cc");
    long memory = part_of(strrchr(b, '|') ? strrchr(b, '|') : b, "|") - part_of(strrchr(a, '|') ? strrchr(a, '|') : a, "|");
    if (cc) return cc < 0 ? -1 : 1;
    if (memory) return memory < 0 ? -1 : 1;
    return strcmp(a, b);
}

static void find_recorded(mt_store *const stores[2], recorded_gpus *gpus)
{
    static const mt_origin recorded = MT_ORIGIN_RECORDED;
    const mt_filter filter = {.origin = &recorded};
    mt_error ignored = {0};
    for (size_t i = 0; i < 2; i++)
        if (stores[i]) mt_query_tuned(stores[i], &filter, on_recorded, gpus, &ignored);
    qsort(gpus->keys, gpus->count, sizeof gpus->keys[0], by_kind);
}

static void add_models(mt_strbuf *text, const recorded_gpus *gpus)
{
    for (size_t i = 0; i < gpus->count; i++) mt_strbuf_addf(text, "%s%.*s", i ? ", " : "", (int)strcspn(gpus->keys[i], "|"), gpus->keys[i]);
}

void mt_share_recorded_hint(const char *given, const char *kernel, mt_strbuf *text)
{
    mt_error ignored = {0};
    mt_store *stores[2] = {0};
    recorded_gpus gpus = {.kernel = kernel}, others = {0};
    if (mt_share_recordings(given, &stores[0], &ignored) != MT_OK) stores[0] = NULL;
    if (!given) mt_share_open_own_recordings(false, &stores[1]);
    find_recorded(stores, &gpus);
    find_recorded(stores, &others);
    if (gpus.count) {
        if (kernel) mt_strbuf_addf(text, "GPUs that %s was recorded on, which need no hardware: ", kernel);
        else mt_strbuf_add(text, "GPUs that were recorded, which need no hardware: ");
        add_models(text, &gpus);
        mt_strbuf_addf(text, " (%s --gpu recorded:%.*s)", kernel ? "try" : "tune and lookup take", (int)strcspn(gpus.keys[0], "|"), gpus.keys[0]);
    } else if (others.count) {
        mt_strbuf_addf(text, "there is no recording of %s; other kernels were recorded on ", kernel);
        add_models(text, &others);
    } else {
        mt_strbuf_add(text, "and no recorded GPU came with this build");
    }
    mt_store_close(stores[0]);
    mt_store_close(stores[1]);
}
