/* Making a block: which source of the kernel answers, its expressions, and the rows of all files. */
#include "db/lookup.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows checked while the block is made; a block of more leaves the rest to the finders that come first, so that prepare stays short. */
enum { CHECKED_ROWS = 1000 };

typedef struct source { /* the kernel as one file has it */
    mt_lookup_session session;
    int64_t kernel, device; /* 0 = none */
} source;

static tunelookup_status no_memory(void)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_NO_MEMORY, "out of memory");
}

static const char *path_of(const mt_lookup_loader *loader, size_t file)
{
    return loader->plan->db->files[file].path;
}

/* ---- which GPU ---- */

/* Whether a stored GPU key is the asked one; parts that the caller did not give (SM count, memory) are not compared. */
static bool same_gpu(const char *stored, const char *asked, const tunelookup_device *device)
{
    for (int part = 0; *stored && *asked; part++) {
        size_t a = strcspn(stored, "|"), b = strcspn(asked, "|");
        bool unknown = (part == 2 && device->sm_count == 0) || (part == 3 && device->mem_bytes == 0);
        if (!unknown && (a != b || memcmp(stored, asked, a) != 0)) return false;
        stored += a + (stored[a] == '|');
        asked += b + (asked[b] == '|');
    }
    return !*stored && !*asked;
}

static tunelookup_status find_device(mt_lookup_loader *loader, size_t file, sqlite3 *db, int64_t *device)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    if (sqlite3_prepare_v2(db, "SELECT id, key FROM device ORDER BY id", -1, &statement, NULL) != SQLITE_OK) {
        st = mt_lookup_sqlite_fail(db, path_of(loader, file));
        goto done;
    }
    while (!*device && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 1);
        if (key && same_gpu(key, loader->block->gpu, &loader->plan->device)) *device = sqlite3_column_int64(statement, 0);
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) st = mt_lookup_sqlite_fail(db, path_of(loader, file));
done:
    sqlite3_finalize(statement);
    return st;
}

/* GPUs that do have winners of the kernel, for explain. */
static tunelookup_status list_elsewhere(mt_lookup_loader *loader, const source *sources)
{
    char text[1024] = "";
    size_t used = 0;
    static const char sql[] = "SELECT d.key FROM device d WHERE EXISTS (SELECT 1 FROM subject s JOIN best b ON b.subject_id = s.id WHERE s.kernel_id = ?1 AND "
                              "s.device_id = d.id) ORDER BY d.key LIMIT 16";
    for (size_t file = 0; file < loader->plan->db->file_count; file++) {
        sqlite3_stmt *statement = NULL;
        if (!sources[file].kernel) continue;
        if (sqlite3_prepare_v2(sources[file].session.db, sql, -1, &statement, NULL) != SQLITE_OK) return mt_lookup_sqlite_fail(sources[file].session.db, path_of(loader, file));
        sqlite3_bind_int64(statement, 1, sources[file].kernel);
        while (used < sizeof text && sqlite3_step(statement) == SQLITE_ROW) {
            const char *key = (const char *)sqlite3_column_text(statement, 0);
            if (!key || strstr(text, key)) continue;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", key);
        }
        sqlite3_finalize(statement);
    }
    loader->block->elsewhere = mt_lookup_arena_text(&loader->block->arena, text, strlen(text));
    return loader->block->elsewhere ? TUNELOOKUP_OK : no_memory();
}

/* ---- which source ---- */

typedef struct choice { char key[MT_LOOKUP_KEY_SIZE]; int64_t rank, time; bool found, seen_name; } choice;

/* Sources with winners for this GPU come before sources with winners elsewhere; among those the one whose winner is newest; the earlier file where equal. */
static void consider(choice *best, const char *key, int64_t rank, int64_t time)
{
    best->seen_name = true;
    if (strlen(key) != MT_LOOKUP_KEY_SIZE - 1) return;
    if (best->found && (rank < best->rank || (rank == best->rank && time <= best->time))) return;
    memcpy(best->key, key, MT_LOOKUP_KEY_SIZE);
    best->rank = rank;
    best->time = time;
    best->found = true;
}

static tunelookup_status choose_in(mt_lookup_loader *loader, size_t file, const source *from, choice *best)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_OK;
    /* One source needs no look at its winners, of which there may be many. */
    static const char sql[] =
        "SELECT k.key, CASE WHEN (SELECT count(*) FROM kernel WHERE name = ?1) = 1 THEN 0 ELSE "
        "(SELECT max(b.updated_unix_ms) FROM subject s JOIN best b ON b.subject_id = s.id WHERE s.kernel_id = k.id AND s.device_id = ?2) END, "
        "CASE WHEN (SELECT count(*) FROM kernel WHERE name = ?1) = 1 THEN 0 ELSE "
        "(SELECT max(b.updated_unix_ms) FROM subject s JOIN best b ON b.subject_id = s.id WHERE s.kernel_id = k.id) END "
        "FROM kernel k WHERE k.name = ?1 AND k.spec_json <> '{}'";
    if (sqlite3_prepare_v2(from->session.db, sql, -1, &statement, NULL) != SQLITE_OK) {
        st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
        goto done;
    }
    sqlite3_bind_text(statement, 1, loader->block->kernel, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, from->device);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 0);
        bool here = sqlite3_column_type(statement, 1) != SQLITE_NULL, anywhere = sqlite3_column_type(statement, 2) != SQLITE_NULL;
        consider(best, key ? key : "", here ? 2 : anywhere, sqlite3_column_int64(statement, here ? 1 : 2));
    }
    if (code != SQLITE_DONE) st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
done:
    sqlite3_finalize(statement);
    return st;
}

/* Two files may each have one source, so that their winners must be looked at after all. */
static tunelookup_status newest_in(mt_lookup_loader *loader, size_t file, const source *from, choice *best)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    static const char sql[] = "SELECT k.key, max(b.updated_unix_ms), max(s.device_id = ?2) FROM kernel k JOIN subject s ON s.kernel_id = k.id JOIN best b ON b.subject_id = s.id "
                              "WHERE k.name = ?1 AND k.spec_json <> '{}' GROUP BY k.id";
    int code = SQLITE_OK;
    if (sqlite3_prepare_v2(from->session.db, sql, -1, &statement, NULL) != SQLITE_OK) {
        st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
        goto done;
    }
    sqlite3_bind_text(statement, 1, loader->block->kernel, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, from->device);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(statement, 0);
        consider(best, key ? key : "", sqlite3_column_int(statement, 2) ? 2 : 1, sqlite3_column_int64(statement, 1));
    }
    if (code != SQLITE_DONE) st = mt_lookup_sqlite_fail(from->session.db, path_of(loader, file));
done:
    sqlite3_finalize(statement);
    return st;
}
