/* What explain can say beyond "nothing was tuned": the GPUs that have winners, and the values that the asked names have in stored shapes. Read only where no row answers. */
#include "db/lookup.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

typedef struct list {
    char text[1024];
    size_t used;
} list;

static void add(list *to, const char *between, const char *text, size_t length)
{
    if (to->used < sizeof to->text) to->used += (size_t)snprintf(to->text + to->used, sizeof to->text - to->used, "%s%.*s", to->used ? between : "", (int)length, text);
}

/* Whether the list, whose items have ", " between them, holds the item. */
static bool has(const list *items, const char *text, size_t length)
{
    for (const char *at = items->text; *at;) {
        size_t item = strcspn(at, ",");
        if (item == length && memcmp(at, text, length) == 0) return true;
        at += item + (at[item] ? 2 : 0);
    }
    return false;
}

static tunelookup_status fail(const mt_lookup_loader *loader, sqlite3 *db, size_t file)
{
    return mt_lookup_sqlite_fail(db, loader->plan->db->files[file].path);
}

static tunelookup_status keep(mt_lookup_loader *loader, const list *from, const char **text)
{
    *text = mt_lookup_arena_text(&loader->block->arena, from->text, strlen(from->text));
    return *text ? TUNELOOKUP_OK : mt_lookup_fail(TUNELOOKUP_ERR_NO_MEMORY, "out of memory");
}

tunelookup_status mt_lookup_hint_elsewhere(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    static const char sql[] = "SELECT d.key FROM device d WHERE EXISTS (SELECT 1 FROM answer WHERE kernel_id = ?1 AND device_id = d.id) ORDER BY d.key LIMIT 16";
    list keys = { 0 };
    for (size_t file = 0; file < loader->plan->db->file_count; file++) {
        sqlite3_stmt *statement = NULL;
        if (!sources[file].kernel) continue;
        if (sqlite3_prepare_v2(sources[file].session.db, sql, -1, &statement, NULL) != SQLITE_OK) return fail(loader, sources[file].session.db, file);
        sqlite3_bind_int64(statement, 1, sources[file].kernel);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *key = (const char *)sqlite3_column_text(statement, 0);
            if (key && strcmp(key, loader->block->gpu) != 0 && !has(&keys, key, strlen(key))) add(&keys, ", ", key, strlen(key));
        }
        sqlite3_finalize(statement);
    }
    return keep(loader, &keys, &loader->block->elsewhere);
}

/* The value of `name` in a shape's key ("D=32;dtype=f16"), or NULL. */
static const char *value_in(const char *key, const char *name, size_t *length)
{
    size_t name_length = strlen(name);
    for (; *key; key += strcspn(key, ";"), key += *key == ';') {
        if (strncmp(key, name, name_length) != 0 || key[name_length] != '=') continue;
        *length = strcspn(key + name_length + 1, ";");
        return key + name_length + 1;
    }
    return NULL;
}

/* Adds the values that `name` has in the file's shapes. */
static tunelookup_status list_values(mt_lookup_loader *loader, const mt_lookup_source *source, size_t file, const char *name, list *values)
{
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    if (sqlite3_prepare_v2(source->session.db, "SELECT key FROM shape WHERE kernel_id = ?1 LIMIT 10000", -1, &statement, NULL) != SQLITE_OK) {
        return fail(loader, source->session.db, file);
    }
    sqlite3_bind_int64(statement, 1, source->kernel);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 0);
        size_t length = 0;
        const char *value = key ? value_in(key, name, &length) : NULL;
        if (value && !has(values, value, length)) add(values, ", ", value, length);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? TUNELOOKUP_OK : fail(loader, source->session.db, file);
}

tunelookup_status mt_lookup_hint_unknown(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    const mt_lookup_model *model = &loader->block->model;
    list text = { 0 };
    for (uint32_t i = 0; i < model->name_count; i++) {
        const mt_lookup_model_name *name = &model->names[i];
        list values = { 0 };
        if (name->kind != MT_LOOKUP_NAME_STRING) continue;
        for (size_t file = 0; file < loader->plan->db->file_count; file++) {
            tunelookup_status st = sources[file].kernel ? list_values(loader, &sources[file], file, name->name, &values) : TUNELOOKUP_OK;
            if (st != TUNELOOKUP_OK) return st;
        }
        if (!values.used || has(&values, name->string, strlen(name->string))) continue;
        char line[1024];
        int length = snprintf(line, sizeof line, "%.200s=%.200s is in no stored shape; known are: %.500s", name->name, name->string, values.text);
        add(&text, "; ", line, (size_t)length);
    }
    return keep(loader, &text, &loader->block->unknown);
}
