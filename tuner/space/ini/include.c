#include "tuner/space/ini/include.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/space/ini/ini.h"
#include "tuner/space/ini/split.h"

enum { FILES_MAX = 64 };
static const size_t bytes_max = 64u << 20; /* of all files together */

typedef struct opened {
    dev_t device;
    ino_t inode;
    bool is_open; /* its includes are being read: meeting it again closes a circle */
} opened;

typedef struct includer {
    opened files[FILES_MAX];
    size_t count;
    mt_strbuf *text;
    mt_error *err;
} includer;

static mt_status add_file(includer *all, const char *path);

/* Who asks for a file; the line is 0 for the first. */
static mt_status include_one(includer *all, mt_place from, const char *name)
{
    struct stat info;
    char *folder = mt_path_folder(from.path), *path = folder ? mt_path_join(folder, name) : NULL;
    mt_status st = MT_OK;
    bool is_known = false;
    if (!path) st = MT_FAIL(all->err, MT_ERR_NO_MEMORY, "%s: out of memory", from.path);
    else if (stat(path, &info) != 0) st = MT_FAIL(all->err, MT_ERR_SPEC, "%s:%d: include = %s: expected a file, %s is not there", from.path, from.line, name, path);
    for (size_t i = 0; st == MT_OK && i < all->count; i++) {
        if (all->files[i].device != info.st_dev || all->files[i].inode != info.st_ino) continue;
        is_known = true;
        if (all->files[i].is_open) st = MT_FAIL(all->err, MT_ERR_SPEC, "%s:%d: include = %s: the file includes itself, directly or through others", from.path, from.line, name);
    }
    if (st == MT_OK && !is_known && all->count == FILES_MAX) st = MT_FAIL(all->err, MT_ERR_SPEC, "%s:%d: include = %s: more than %d files", from.path, from.line, name, FILES_MAX);
    if (st == MT_OK && !is_known) st = add_file(all, path);
    mt_free(folder);
    mt_free(path);
    return st;
}

static mt_status include_all(includer *all, const mt_ini *ini)
{
    mt_status st = MT_OK;
    for (size_t i = 0; st == MT_OK && i < ini->includes.entry_count; i++) {
        const mt_ini_entry *entry = &ini->includes.entries[i];
        char **names = NULL;
        size_t count = 0;
        mt_place place = mt_ini_place(ini, entry->line);
        st = mt_split(entry->value, &names, &count, all->err);
        if (st == MT_OK && count == 0) st = MT_FAIL(all->err, MT_ERR_SPEC, "%s:%d: include is empty: expected names of .ini files, separated by commas", place.path, place.line);
        for (size_t k = 0; st == MT_OK && k < count; k++) {
            char *name = mt_ini_unquote(names[k]);
            st = name ? include_one(all, place, name) : MT_FAIL(all->err, MT_ERR_NO_MEMORY, "%s: out of memory", place.path);
            mt_free(name);
        }
        mt_strings_free(names, count);
    }
    return st;
}

static mt_status add_file(includer *all, const char *path)
{
    mt_status st = MT_OK;
    char *file = NULL;
    size_t length = 0, index = all->count;
    mt_ini ini = {0};
    struct stat info;
    MT_TRY(mt_file_read(path, bytes_max, &file, &length, all->err));
    MT_TRY(mt_ini_parse(path, file, length, &ini, all->err));
    if (stat(path, &info) == 0) all->files[all->count++] = (opened){info.st_dev, info.st_ino, true};
    MT_TRY(include_all(all, &ini));
    if (all->count > index) all->files[index].is_open = false;
    if (all->text->length + length > bytes_max) MT_LEAVE(MT_FAIL(all->err, MT_ERR_SPEC, "%s: with what it includes it has more than %zu bytes", path, bytes_max));
    bool is_alone = index == 0 && ini.includes.entry_count == 0;
    bool has_mark = length >= 3 && memcmp(file, "\xEF\xBB\xBF", 3) == 0; /* a byte-order mark may only begin the whole text */
    if (!is_alone) mt_strbuf_addf(all->text, "%s@file 1 %s\n", all->text->length ? "\n" : "", path);
    mt_strbuf_add_bytes(all->text, file + (has_mark && !is_alone ? 3 : 0), length - (has_mark && !is_alone ? 3 : 0));
    if (all->text->failed) st = MT_FAIL(all->err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
done:
    mt_ini_free(&ini);
    mt_free(file);
    return st;
}

mt_status mt_include_read(const char *path, mt_strbuf *text, mt_error *err)
{
    includer all = {.text = text, .err = err};
    return add_file(&all, path);
}
