/* Opening a database that may be hostile, read-only, for as long as one call takes. */
#include "db/lookup/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/pack_sqlite.h"
#include "db/sqlite_defend.h"

enum {
    APPLICATION_ID = 0x6d736474, /* "msdt" */
    SCHEMA_VERSION = 11,
    OLDEST_SCHEMA = 8,           /* reading it needs no code of its own */
    OLDEST_UPDATED = 7,          /* what is older, the tool refuses to update (migrate.c) */
    OLDEST_SQLITE = 3026000,
    BUSY_MS = 2000,
    VALUE_BYTES = 16 << 20,      /* the longest that is read, a portfolio's cells, has three; reading cubins raises it */
    STEPS_PER_CALLBACK = 100000,
    CALLBACK_LIMIT = 20000       /* 2·10⁹ virtual machine steps: a million rows take a tenth of that */
};

tunelookup_status mt_lookup_sqlite_fail(sqlite3 *db, const char *path)
{
    int code = sqlite3_extended_errcode(db);
    switch (code & 0xff) {
    case SQLITE_NOMEM: return mt_lookup_no_memory();
    case SQLITE_INTERRUPT: return mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: reading it takes too long; it is damaged", path);
    case SQLITE_CANTOPEN: case SQLITE_IOERR: case SQLITE_BUSY: case SQLITE_LOCKED: case SQLITE_PERM: case SQLITE_READONLY: case SQLITE_PROTOCOL:
    case SQLITE_FULL: case SQLITE_NOLFS:
        if (code == SQLITE_IOERR_SHORT_READ) break;
        return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: %s", path, sqlite3_errmsg(db));
    default: break;
    }
    return mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: %s", path, sqlite3_errmsg(db));
}

/* Keeps a hostile file from holding the caller for ever. */
static int count_steps(void *count)
{
    return ++*(unsigned *)count > CALLBACK_LIMIT;
}

static tunelookup_status read_number(sqlite3 *db, const char *path, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement = NULL;
    tunelookup_status st = TUNELOOKUP_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) st = mt_lookup_sqlite_fail(db, path);
    else *value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return st;
}

/* What the file's first page says. Reading it makes SQLite parse no schema, which is the larger part of opening. */
static tunelookup_status check_header(sqlite3 *db, const char *path)
{
    tunelookup_status st;
    int64_t application = 0, version = 0;
    LOOKUP_TRY(read_number(db, path, "PRAGMA application_id", &application));
    LOOKUP_TRY(read_number(db, path, "PRAGMA user_version", &version));
    if (application != APPLICATION_ID || version < 1) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: is not a tuning database of msda-tune", path);
    } else if (version > SCHEMA_VERSION) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_NEWER_SCHEMA, "%s was written by a newer msda-tune (schema %lld; this libtunelookup, %s, reads up to %d)", path, (long long)version,
                            tunelookup_version(NULL), SCHEMA_VERSION);
    } else if (version < OLDEST_SCHEMA) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_OLDER_SCHEMA, "%s has the older schema %lld (this libtunelookup, %s, reads %d to %d); %s", path, (long long)version, tunelookup_version(NULL),
                            OLDEST_SCHEMA, SCHEMA_VERSION,
                            version < OLDEST_UPDATED ? "it is of a tool before version 0.1, and no msda-tune of today updates it: tune its shapes again"
                                                     : "any msda-tune command that writes into it (tune, import) updates it");
    }
done:
    return st;
}

/* Only tables and indices of its own pages, which compute nothing: no view, trigger, virtual table or generated column can then run behind our queries. */
static tunelookup_status check_schema(sqlite3 *db, const char *path)
{
    char strange[256];
    if (sqlite3_exec(db, "PRAGMA cache_size = -256", NULL, NULL, NULL) != SQLITE_OK || mt_sqlite_strange(db, strange, sizeof strange) != SQLITE_OK) return mt_lookup_sqlite_fail(db, path);
    return *strange ? mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: %s", path, strange) : TUNELOOKUP_OK;
}

/* One read transaction from the first page to closing: all that a call reads is one state of the file, and locks are taken once. Its first read finds out whether locks
 * and -shm can be had. */
static const char begin_sql[] = "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; BEGIN; PRAGMA user_version";

static int begin(sqlite3 *db)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, BUSY_MS);
    mt_sqlite_defend(db, VALUE_BYTES, 64 << 10, 0); /* what matters most (a schema that computes) check_schema looks for too */
    return mt_sqlite_first_read(db, begin_sql);
}

static int open_handle(const char *name, int flags, sqlite3 **db)
{
    sqlite3_close(*db);
    *db = NULL;
    int code = sqlite3_open_v2(name, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags, NULL);
    return code == SQLITE_OK ? begin(*db) : code;
}

static bool has_bytes(const char *path, const char *suffix)
{
    struct stat info;
    char name[PATH_MAX + 16];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &info) == 0 && info.st_size > 0;
}

/* Read-only media, or a folder in which this user can't make a -shm, or in which strangers can. immutable=1 does without it and without locks, but it also ignores a journal
 * left behind, without which the file may be a mixture of old and new pages: see refuse_companions. */
static int open_immutable(const char *real, sqlite3 **db)
{
    char uri[3 * PATH_MAX + 32] = "file:";
    size_t used = strlen(uri);
    for (const char *at = real; *at; at++) {
        bool special = strchr("?#%", *at) || (unsigned char)*at < 0x20;
        used += (size_t)snprintf(uri + used, sizeof uri - used, special ? "%%%02x" : "%c", special ? (unsigned)(unsigned char)*at : (unsigned)*at);
    }
    snprintf(uri + used, sizeof uri - used, "?immutable=1");
    return open_handle(uri, SQLITE_OPEN_URI, db);
}

/* What changes wait in a -wal or -journal can't be had immutably. */
static tunelookup_status refuse_companions(const char *path, const char *real, bool is_shared)
{
    if (!has_bytes(real, "-wal") && !has_bytes(real, "-journal")) return TUNELOOKUP_OK;
    if (!is_shared) {
        return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: has unfinished changes and lies where nothing can be written; copy it and its -wal or -journal file to a writable folder", path);
    }
    return mt_lookup_fail(TUNELOOKUP_ERR_UNTRUSTED, "%s: has changes in its -wal or -journal and lies in a folder where others may create such files; wait until its writer "
                          "has ended, or move it to a folder of your own", path);
}

/* SQLite tells "no locks here" (ENOLCK) as it tells "somebody holds it", after BUSY_MS of trying. Either way a file without unfinished changes may be read without a lock:
 * mt_lookup_sqlite_confirm sees whether somebody wrote meanwhile. */
static bool wants_immutable(int code, const char *real)
{
    code &= 0xff;
    if (code == SQLITE_BUSY) return !has_bytes(real, "-wal") && !has_bytes(real, "-journal");
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_IOERR || code == SQLITE_PROTOCOL;
}

/* ---- packs ---- */

tunelookup_status mt_lookup_pack_fail(mt_pack_verdict verdict, const char *path, const char *why)
{
    static const tunelookup_status statuses[] = { [MT_PACK_OK] = TUNELOOKUP_OK, [MT_PACK_UNREADABLE] = TUNELOOKUP_ERR_IO, [MT_PACK_DAMAGED] = TUNELOOKUP_ERR_NOT_A_DATABASE,
                                                  [MT_PACK_NEWER] = TUNELOOKUP_ERR_NEWER_SCHEMA, [MT_PACK_NO_MEMORY] = TUNELOOKUP_ERR_NO_MEMORY };
    return mt_lookup_fail(statuses[verdict], "%s: %s", path, why);
}

/* The pack's own contents; is_whole: its database too, into the session. */
static tunelookup_status open_pack(const mt_lookup_file *file, const char *real, bool is_whole, mt_lookup_session *session)
{
    char why[MT_PACK_WHY];
    mt_pack pack;
    mt_pack_verdict verdict = mt_pack_open(real, &pack, why);
    if (verdict != MT_PACK_OK) return mt_lookup_pack_fail(verdict, file->path, why);
    session->is_pack = true;
    memcpy(session->contents, pack.head + MT_PACK_AT_TABLE_HASH, sizeof session->contents);
    if (is_whole) verdict = mt_pack_database(&pack, &session->db, why);
    mt_pack_close(&pack);
    if (verdict != MT_PACK_OK) return mt_lookup_pack_fail(verdict, file->path, why);
    return is_whole && begin(session->db) != SQLITE_OK ? mt_lookup_sqlite_fail(session->db, file->path) : TUNELOOKUP_OK;
}

/* ---- opening ---- */

static tunelookup_status open_database(const mt_lookup_file *file, const char *real, bool is_shared, mt_lookup_session *session)
{
    tunelookup_status st = TUNELOOKUP_OK;
    int code = is_shared ? SQLITE_CANTOPEN : open_handle(real, 0, &session->db);
    if (wants_immutable(code, real)) {
        session->stamp = mt_lookup_stamp_of(real); /* first: who begins to write later is seen by it or by the companions */
        LOOKUP_TRY(refuse_companions(file->path, real, is_shared));
        session->is_immutable = true;
        code = open_immutable(real, &session->db);
    }
    if (!session->db || code != SQLITE_OK) {
        if (session->db && code == SQLITE_INTERRUPT) st = mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: " MT_SQLITE_TOO_MANY_OBJECTS, file->path);
        else st = session->db ? mt_lookup_sqlite_fail(session->db, file->path) : mt_lookup_no_memory();
    }
done:
    return st;
}

/* Where the file really is; "" with OK where an optional one is missing. */
static tunelookup_status find_file(const mt_lookup_file *file, char real[PATH_MAX], bool *is_shared)
{
    *real = '\0';
    if (sqlite3_libversion_number() < OLDEST_SQLITE) return mt_lookup_fail(TUNELOOKUP_ERR_SQLITE_TOO_OLD, "SQLite %s is too old, at least 3.26 is needed", sqlite3_libversion());
    tunelookup_status st = mt_lookup_check_trust(file->path, real, is_shared);
    if (st == TUNELOOKUP_ERR_NOT_FOUND && file->is_optional) {
        mt_lookup_clear_detail();
        return TUNELOOKUP_OK;
    }
    if (st == TUNELOOKUP_OK && faccessat(AT_FDCWD, real, R_OK, AT_EACCESS) != 0) st = mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: %s", file->path, strerror(errno));
    return st;
}

/* Anything that the first page tells; of a pack without is_whole what its table of contents does, and no handle. */
static tunelookup_status open_header(const mt_lookup_file *file, bool is_whole, mt_lookup_session *session)
{
    tunelookup_status st;
    char real[PATH_MAX];
    bool is_shared = false;
    *session = (mt_lookup_session){ 0 };
    LOOKUP_TRY(find_file(file, real, &is_shared));
    if (!*real) goto done;
    LOOKUP_TRY(mt_pack_is_name(file->path) ? open_pack(file, real, is_whole, session) : open_database(file, real, is_shared, session));
    if (!session->db) goto done;
    sqlite3_progress_handler(session->db, STEPS_PER_CALLBACK, count_steps, &session->steps);
    st = check_header(session->db, file->path);
done:
    if (st != TUNELOOKUP_OK) mt_lookup_sqlite_close(session);
    return st;
}

tunelookup_status mt_lookup_sqlite_open(const mt_lookup_file *file, mt_lookup_session *session)
{
    tunelookup_status st = open_header(file, true, session);
    if (st == TUNELOOKUP_OK && session->db) st = check_schema(session->db, file->path);
    if (st != TUNELOOKUP_OK) mt_lookup_sqlite_close(session);
    return st;
}

tunelookup_status mt_lookup_sqlite_try(const mt_lookup_file *file, mt_lookup_session *session)
{
    tunelookup_status st = open_header(file, false, session);
    mt_lookup_sqlite_close(session);
    return st;
}

tunelookup_status mt_lookup_sqlite_confirm(const mt_lookup_file *file, const mt_lookup_session *session)
{
    if (!session->db || !session->is_immutable) return TUNELOOKUP_OK;
    mt_lookup_stamp now = mt_lookup_stamp_of(file->path);
    if (mt_lookup_stamp_equal(&now, &session->stamp)) return TUNELOOKUP_OK;
    return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: was written while it was read, and locks can't be had there; try again", file->path);
}

void mt_lookup_sqlite_close(mt_lookup_session *session)
{
    sqlite3_close(session->db);
    session->db = NULL;
}
