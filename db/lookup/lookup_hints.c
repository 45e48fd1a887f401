/* What there is beyond "nothing was tuned": the GPUs that have winners, and which of them have recorded ones alone, which only TUNELOOKUP_RECORDED lets answer; and whether stored shapes have the strings that the asked names are bound to. Read only where no row answers:
 * a row that does has them all. */
#include "db/lookup/lookup.h"

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
    *text = mt_lookup_arena_text(&loader->answers->arena, from->text, strlen(from->text));
    return *text ? TUNELOOKUP_OK : mt_lookup_no_memory();
}

tunelookup_status mt_lookup_hint_elsewhere(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    static const char sql[] = "SELECT d.key, min(a.origin = 'recorded') FROM answer a JOIN device d ON d.id = a.device_id WHERE a.kernel_id = ?1 GROUP BY d.key ORDER BY d.key LIMIT 16";
    list keys = { 0 };
    for (size_t file = 0; file < loader->plan->db->file_count; file++) {
        sqlite3_stmt *statement = NULL;
        if (!sources[file].kernel) continue;
        if (sqlite3_prepare_v2(sources[file].session.db, sql, -1, &statement, NULL) != SQLITE_OK) return fail(loader, sources[file].session.db, file);
        sqlite3_bind_int64(statement, 1, sources[file].kernel);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *key = (const char *)sqlite3_column_text(statement, 0);
            char told[256];
            if (!key || strcmp(key, loader->answers->gpu) == 0) continue;
            int length = snprintf(told, sizeof told, "%s%s", key, sqlite3_column_int(statement, 1) ? " (recorded)" : "");
            if ((size_t)length < sizeof told && !has(&keys, told, (size_t)length)) add(&keys, ", ", told, (size_t)length);
        }
        sqlite3_finalize(statement);
    }
    return keep(loader, &keys, &loader->answers->elsewhere);
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

typedef struct values {
    const char *asked; /* to look for */
    bool is_found;
    list others;
} values;

/* Looks through the values that `name` has in the file's shapes, as far as the asked one; NULL: the names of its workloads. */
static tunelookup_status look_through(mt_lookup_loader *loader, const mt_lookup_source *source, size_t file, const mt_lookup_model_name *name, values *known)
{
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    const char *sql = name ? "SELECT key FROM shape WHERE kernel_id = ?1" : "SELECT name FROM workload WHERE kernel_id = ?1 ORDER BY name";
    if (sqlite3_prepare_v2(source->session.db, sql, -1, &statement, NULL) != SQLITE_OK) return fail(loader, source->session.db, file);
    sqlite3_bind_int64(statement, 1, source->kernel);
    while (!known->is_found && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 0), *value = key;
        size_t length = key ? strlen(key) : 0;
        if (key && name) value = value_in(key, name->name, &length);
        if (!value) continue;
        known->is_found = length == strlen(known->asked) && memcmp(value, known->asked, length) == 0;
        if (!has(&known->others, value, length)) add(&known->others, ", ", value, length);
    }
    sqlite3_finalize(statement);
    return known->is_found || code == SQLITE_DONE ? TUNELOOKUP_OK : fail(loader, source->session.db, file);
}

static tunelookup_status look_through_all(mt_lookup_loader *loader, const mt_lookup_source *sources, const mt_lookup_model_name *name, values *known)
{
    tunelookup_status st = TUNELOOKUP_OK;
    for (size_t file = 0; file < loader->plan->db->file_count && st == TUNELOOKUP_OK; file++) {
        if (sources[file].kernel) st = look_through(loader, &sources[file], file, name, known);
    }
    return st;
}

/* One line about the value that was asked for, where no stored shape has it. */
static void add_unknown(list *text, const mt_lookup_model_name *name, const values *known)
{
    char line[1024];
    const char *asked = known->asked, *others = known->others.text;
    int length;
    if (known->is_found || !*others) return;
    if (!name) length = snprintf(line, sizeof line, "known workloads: %.500s", others);
    else length = snprintf(line, sizeof line, "%.200s=%.200s is in no stored shape; known are: %.500s", name->name, asked, others);
    add(text, "; ", line, (size_t)length);
}

tunelookup_status mt_lookup_hint_unknown(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    const mt_lookup_answers *answers = loader->answers;
    list text = { 0 };
    for (uint32_t i = 0; i < answers->model.name_count; i++) {
        const mt_lookup_model_name *name = &answers->model.names[i];
        values known = { .asked = name->string };
        if (name->kind != MT_LOOKUP_NAME_STRING) continue;
        tunelookup_status st = look_through_all(loader, sources, name, &known);
        if (st != TUNELOOKUP_OK) return st;
        add_unknown(&text, name, &known);
    }
    return keep(loader, &text, &loader->answers->unknown);
}

tunelookup_status mt_lookup_hint_workload(mt_lookup_loader *loader, const mt_lookup_source *sources)
{
    const mt_lookup_answers *answers = loader->answers;
    list text = { 0 };
    values known = { .asked = answers->missing_workload ? answers->missing_workload : answers->workload };
    if (!known.asked) return TUNELOOKUP_OK;
    tunelookup_status st = look_through_all(loader, sources, NULL, &known);
    if (st != TUNELOOKUP_OK) return st;
    add_unknown(&text, NULL, &known);
    return keep(loader, &text, &loader->answers->unknown_workload);
}
