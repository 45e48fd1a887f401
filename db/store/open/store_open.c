/* Opening and closing a database, and where it lies. */
#include "db/store/store_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/store/open/device_match.h"
#include "db/store/open/migrate.h"
#include "db/store/open/store_file.h"
#include "db/store/row_number.h"
#include "db/store/row_scan.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"

static char *machine_name(void)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
    return mt_strdup(name);
}

/* Whether the path leads elsewhere by now, or nowhere. */
static bool is_moved(sqlite3 *db)
{
    int is = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &is) == SQLITE_OK && is;
}

static int natural(void *unused, int m, const void *a, int n, const void *b)
{
    (void)unused;
    return mt_text_natural(a, (size_t)m, b, (size_t)n);
}

/* SQLite takes a file of one byte for an empty one, and would write over it. */
static bool is_one_byte(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 1;
}

static mt_status open_once(const char *path, mt_store_mode mode, mt_store **out, mt_error *err)
{
    mt_status st = MT_OK;
    *out = NULL;
    mt_store *store = mt_alloc(1, sizeof *store);
    if (!store) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    store->path = mt_strdup(path);
    store->host = machine_name();
    store->read_only = mode == MT_STORE_READ_ONLY;
    store->is_new = mode == MT_STORE_READ_WRITE && strcmp(path, ":memory:") != 0 && access(path, F_OK) != 0;
    if (!store->path || !store->host) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path));
    if (!store->read_only && is_one_byte(path)) MT_LEAVE(MT_FAIL(err, MT_ERR_DB, "%s: is no database: it has one byte; expected none, or a tuning database", path));
    MT_TRY(mt_store_file_open(path, mode, &store->db, err));
    if (mode != MT_STORE_NO_TABLES) MT_TRY(mt_migrate(store->db, path, store->read_only, err));
    if (mt_device_match_register(store->db) != SQLITE_OK || sqlite3_create_collation(store->db, "mt_natural", SQLITE_UTF8, NULL, natural) != SQLITE_OK) {
        st = mt_sql_fail(store, "register a function", err);
        goto done;
    }
    mt_error shipped;
    bool is_own = mode == MT_STORE_NO_TABLES || strcmp(path, ":memory:") == 0 || mt_path_check_writable(path, &shipped) != MT_OK; /* what came with the tool is sound */
    if (!is_own && mode == MT_STORE_READ_WRITE) mt_row_numbers_mend(store);
    if (!is_own) MT_TRY(mt_row_scan(store, err));
    *out = store;
    store = NULL;
done:
    mt_store_close_unused(store);
    return st;
}

mt_status mt_store_open(const char *path, mt_store_mode mode, mt_store **out, mt_error *err)
{
    enum { TRIES = 8 };
    mt_status st = open_once(path, mode, out, err);
    /* Its maker may have removed it again, unused, while this process waited for it. */
    for (int i = 1; st == MT_OK && mode == MT_STORE_READ_WRITE && is_moved((*out)->db) && i < TRIES; i++) {
        mt_store_close(*out);
        st = open_once(path, mode, out, err);
    }
    return st;
}

/* True with an exclusive lock that lasts until the handle is closed: nobody else has the file open. Only of a file in WAL mode can that be told, which others hold a lock of as long as they have it open. */
static bool is_alone(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    bool is = false;
    sqlite3_busy_timeout(db, 0);
    if (sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK && sqlite3_prepare_v2(db, "PRAGMA journal_mode = DELETE", -1, &statement, NULL) == SQLITE_OK)
        is = sqlite3_step(statement) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(statement, 0), "delete") == 0;
    sqlite3_finalize(statement);
    return is && sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK;
}

static bool holds_nothing(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT 1 WHERE EXISTS (SELECT 1 FROM session) OR EXISTS (SELECT 1 FROM kernel) OR EXISTS (SELECT 1 FROM device) OR EXISTS (SELECT 1 FROM cubin)", -1, &statement, NULL);
    bool is = code == SQLITE_ERROR /* no tables yet */ || (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_finalize(statement);
    return is;
}

static void finalize_all(mt_store *store)
{
    for (size_t i = 0; i < store->statement_count; i++) sqlite3_finalize(store->statements[i].statement);
    store->statement_count = 0;
    if (store->db && !sqlite3_get_autocommit(store->db)) sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

void mt_store_close_unused(mt_store *store)
{
    struct stat info;
    if (store && store->is_new && !store->db && store->path && stat(store->path, &info) == 0 && info.st_size == 0) unlink(store->path); /* it could not even be set up */
    if (store && store->is_new && store->db) {
        finalize_all(store);
        if (holds_nothing(store->db) && is_alone(store->db) && holds_nothing(store->db) && !is_moved(store->db)) unlink(store->path);
    }
    mt_store_close(store);
}

void mt_store_close(mt_store *store)
{
    if (!store) return;
    finalize_all(store);
    sqlite3_close(store->db);
    ZSTD_freeCCtx(store->compressor);
    ZSTD_freeDCtx(store->unpacker);
    MT_FREE_EACH(store->path, store->host, store);
}

const char *mt_store_path(const mt_store *store)
{
    return store->path;
}

static mt_status find_path(const char *option, bool makes_folder, char **path, mt_error *err)
{
    mt_status st = MT_OK;
    *path = NULL;
    if (option && !*option) return MT_FAIL(err, MT_ERR_USAGE, "--db: the path is empty");
    const char *given = option ? option : secure_getenv("MSDA_TUNE_DB");
    char *folder = NULL;
    if (given && *given) {
        *path = mt_strdup(given);
    } else if (!mt_path_has_user_data()) {
        return MT_FAIL(err, MT_ERR_NOT_FOUND, "no place for the database: expected --db FILE, or an absolute path in MSDA_TUNE_DB, XDG_DATA_HOME or HOME");
    } else {
        folder = mt_path_user_data();
        if (folder && makes_folder) MT_TRY(mt_dir_make_all(folder, err));
        *path = folder ? mt_path_join(folder, "tuning.sqlite") : NULL;
    }
    if (!*path) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "path of the database: out of memory");
done:
    mt_free(folder);
    return st;
}

mt_status mt_store_default_path(const char *option, char **path, mt_error *err)
{
    return find_path(option, false, path, err);
}

mt_status mt_store_writable_path(const char *option, char **path, mt_error *err)
{
    return find_path(option, true, path, err);
}

/* --- transactions ------------------------------------------------------------------------------------------------------------------- */

