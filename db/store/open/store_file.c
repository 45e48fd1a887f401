#include "db/store/open/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "db/pack_sqlite.h"
#include "db/sqlite_defend.h"
#include "db/store/sql.h"
#include "db/store/store_internal.h"
#include "db/trust.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

/* --- file systems ------------------------------------------------------------------------------------------------------------------- */

mt_fs mt_fs_of_type(long type)
{
    static const uint32_t local[] = {
        0x0000ef53, /* ext2, ext3, ext4 */
        0x58465342, /* XFS */
        0x9123683e, /* btrfs */
        0x01021994, /* tmpfs */
        0x858458f6, /* ramfs */
        0x794c7630, /* overlayfs */
        0xf2f52010, /* F2FS */
        0x2fc12fc1, /* ZFS */
        0xca451a4e, /* bcachefs */
        0x52654973, /* ReiserFS */
        0x3153464a, /* JFS */
    };
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        if ((uint32_t)type == local[i]) return MT_FS_LOCAL;
    }
    return MT_FS_REMOTE;
}

/* Whether a POSIX lock can be had beside `path`. A file of its own: closing any descriptor of the database would drop the locks that
 * SQLite holds on it elsewhere in this process. */
static bool locks_work(const char *path)
{
    static atomic_uint serial;
    mt_strbuf probe = {0};
    mt_strbuf_addf(&probe, "%s.lock-probe.%ld.%u", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    int fd = open(mt_strbuf_text(&probe), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool work = true; /* where nothing can be created SQLite finds the words */
    if (fd >= 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
        work = fcntl(fd, F_SETLK, &lock) == 0;
        close(fd);
        unlink(mt_strbuf_text(&probe));
    }
    mt_strbuf_free(&probe);
    return work;
}

static int pretended = -1;

void mt_fs_pretend(int fs)
{
    pretended = fs;
}

mt_fs mt_fs_of(const char *path)
{
    if (pretended >= 0) return (mt_fs)pretended;
    struct statfs info;
    char *folder = mt_path_folder(path);
    int failed = folder ? statfs(folder, &info) : -1;
    mt_free(folder);
    if (failed) return MT_FS_REMOTE;
    if (mt_fs_of_type((long)info.f_type) == MT_FS_LOCAL) return MT_FS_LOCAL;
    return locks_work(path) ? MT_FS_REMOTE : MT_FS_LOCKLESS;
}

/* --- what is wrong with a file ------------------------------------------------------------------------------------------------------ */

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Reads the header through SQLite's own descriptor (see locks_work) and says whether the file is shorter than it claims to be. */
static bool is_truncated(sqlite3 *db, int64_t *have, int64_t *want)
{
    unsigned char header[100];
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods) return false;
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) return false;
    *have = size;
    *want = 512; /* the smallest page */
    if (size < (sqlite3_int64)sizeof header) return true;
    if (file->pMethods->xRead(file, header, sizeof header, 0) != SQLITE_OK || memcmp(header, "SQLite format 3", 16) != 0) return false;
    int64_t page = header[16] << 8 | header[17];
    if (page == 1) page = 65536;
    *want = page * (int64_t)big_endian(header + 28);
    return *have < *want;
}

static mt_status fail_truncated(const char *path, int64_t have, int64_t want, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_DB, "%s: is cut short or damaged: %lld bytes, at least %lld expected", path, (long long)have, (long long)want);
}

static mt_status fail_damaged(sqlite3 *db, const char *path, mt_error *err)
{
    int code = sqlite3_errcode(db);
    int64_t have = 0, want = 0;
    if ((code == SQLITE_CORRUPT || code == SQLITE_NOTADB) && is_truncated(db, &have, &want)) {
        return fail_truncated(path, have, want, err);
    }
    if (code == SQLITE_INTERRUPT) return MT_FAIL(err, MT_ERR_DB, "%s: " MT_SQLITE_TOO_MANY_OBJECTS, path);
    if (strstr(sqlite3_errmsg(db), "too many columns")) return MT_FAIL(err, MT_ERR_DB, "%s: holds a table of more than %d columns, which no tuning database does", path, sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1));
    if (code == SQLITE_NOTADB) return MT_FAIL(err, MT_ERR_DB, "%s: is not an SQLite database", path);
    return mt_sql_fail_handle(db, path, "open", err);
}

static bool has_bytes(const char *path, const char *suffix)
{
    struct stat info;
    mt_strbuf name = {0};
    mt_strbuf_addf(&name, "%s%s", path, suffix);
    bool has = stat(mt_strbuf_text(&name), &info) == 0 && info.st_size > 0;
    mt_strbuf_free(&name);
    return has;
}

/* SQLite takes a file whose last page is cut for whole and reads zeros. The file may be shorter than its header says only while changes
 * wait in a journal; looking before and after keeps another process's checkpoint from being mistaken for damage. */
static mt_status check_whole(sqlite3 *db, const char *path, mt_error *err)
{
    int64_t have = 0, want = 0;
    if (has_bytes(path, "-wal") || has_bytes(path, "-journal")) return MT_OK;
    sqlite3_exec(db, "BEGIN; SELECT count(*) FROM sqlite_master", NULL, NULL, NULL); /* keeps writers out where there is no WAL */
    bool truncated = is_truncated(db, &have, &want) && have > 0; /* 0 bytes: a new database */
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (!truncated || has_bytes(path, "-wal") || has_bytes(path, "-journal")) return MT_OK;
    return fail_truncated(path, have, want, err);
}

/* The lookup library refuses the same. */
static mt_status check_schema(sqlite3 *db, const char *path, mt_error *err)
{
    char strange[256];
    if (mt_sqlite_strange(db, strange, sizeof strange) != SQLITE_OK) return mt_sql_fail_handle(db, path, "read the schema", err);
    return *strange ? MT_FAIL(err, MT_ERR_DB, "%s: %s", path, strange) : MT_OK;
}

/* By the library's rule. SQLite would take over what lies beside the file whoever put it there, and open it whatever it is: it waits for ever for the writer of a pipe. */
static mt_status check_trust(const char *path, mt_store_mode mode, mt_error *err)
{
    mt_trust trust;
    mt_trust_verdict verdict = mt_trust_check(path, mode == MT_STORE_READ_ONLY ? MT_TRUST_TO_LOOK : MT_TRUST_TO_WRITE, &trust);
    if (verdict == MT_TRUST_OK || verdict == MT_TRUST_MISSING) return MT_OK;
    return MT_FAIL(err, MT_ERR_DB, "%s", trust.why);
}

/* Things that SQLite would report as "unable to open database file". */
static mt_status check_path(const char *path, mt_store_mode mode, mt_error *err)
{
    struct stat info;
    if (!*path) return MT_FAIL(err, MT_ERR_USAGE, "the path of the database is empty");
    mt_status st = mode != MT_STORE_READ_ONLY ? mt_path_check_writable(path, err) : MT_OK;
    if (st != MT_OK) return st;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return MT_FAIL(err, MT_ERR_DB, "%s: is a folder, not a database file", path);
        if (!S_ISREG(info.st_mode)) return MT_FAIL(err, MT_ERR_DB, "%s: is not a regular file", path);
        int way = mode == MT_STORE_READ_WRITE ? R_OK | W_OK : R_OK;
        if (access(path, way) == 0) return MT_OK;
        return MT_FAIL(err, MT_ERR_DB, "%s: cannot be opened for %s: %s", path, mode == MT_STORE_READ_WRITE ? "writing" : "reading",
                       strerror(errno));
    }
    if (errno != ENOENT) return MT_FAIL(err, MT_ERR_DB, "%s: %s", path, strerror(errno));
    if (mode == MT_STORE_READ_ONLY) return MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: no such database", path);
    char *folder = mt_path_folder(path);
    if (!folder) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    else if (access(folder, W_OK | X_OK) != 0) st = MT_FAIL(err, MT_ERR_DB, "%s: cannot be created in %s: %s", path, folder, strerror(errno));
    mt_free(folder);
    return st;
}

/* --- opening ------------------------------------------------------------------------------------------------------------------------ */

/* file: URI of a path. Any path may hold '?', '#' and '%'. */
static char *uri_of(const char *path, const char *query)
{
    mt_strbuf uri = {0};
    mt_strbuf_add(&uri, "file:");
    for (const char *at = path; *at; at++) {
        if (strchr("?#%", *at) || (unsigned char)*at < 0x20) mt_strbuf_addf(&uri, "%%%02x", (unsigned)(unsigned char)*at);
        else mt_strbuf_add_char(&uri, *at);
    }
    mt_strbuf_add(&uri, query);
    return mt_strbuf_take(&uri);
}

/* SQLite takes names as URIs where the distribution says so (Debian does), and gives "" and ":memory:" a meaning: a folder in front
 * makes every name a plain file. */
static char *plain_path(const char *path)
{
    return *path == '/' ? mt_strdup(path) : mt_path_join(".", path);
}

void mt_store_file_defend(sqlite3 *db)
{
    mt_sqlite_defend(db, 256 << 20, 1 << 20, 2); /* VACUUM needs one */
}

/* The first read: finds out whether this is a database at all, and takes part in the recovery of a killed writer's file. */
static int first_read(sqlite3 *db)
{
    return mt_sqlite_first_read(db, "SELECT count(*) FROM sqlite_master");
}

/* Whether closing the last handle writes what is in the -wal into the file. Not before it is known whose that is. */
static void set_checkpoints(sqlite3 *db, bool are_made)
{
#ifdef SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !are_made, NULL);
#else
    (void)db, (void)are_made;
#endif
}

static int set_up_handle(sqlite3 *db)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, MT_STORE_BUSY_MS);
    mt_store_file_defend(db);
    set_checkpoints(db, false);
    return first_read(db);
}

static int open_handle(const char *name, int flags, const char *vfs, sqlite3 **db)
{
    sqlite3_close(*db);
    *db = NULL;
    int code = sqlite3_open_v2(name, db, flags | SQLITE_OPEN_NOMUTEX, vfs);
    return code == SQLITE_OK ? set_up_handle(*db) : code;
}

static int read_text(void *text, int columns, char **values, char **names)
{
    snprintf(text, 16, "%s", columns > 0 && values[0] ? values[0] : "");
    return 0;
}

/* Asks for a journal mode. *got is false if SQLite answers with another one, as it does where the file system can't do WAL. Changing
 * the mode does not wait for locks as other statements do, hence the loop. */
static mt_status set_journal(sqlite3 *db, const char *path, const char *mode, bool *got, mt_error *err)
{
    char sql[64], answer[16] = "";
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s", mode);
    int code = SQLITE_BUSY;
    for (int tries = 0; tries < MT_STORE_BUSY_MS / 10; tries++) {
        code = sqlite3_exec(db, sql, read_text, answer, NULL);
        if ((code & 0xff) != SQLITE_BUSY) break;
        sqlite3_sleep(10);
    }
    *got = code == SQLITE_OK && strcmp(answer, mode) == 0;
    return code == SQLITE_OK ? MT_OK : mt_sql_fail_handle(db, path, "set the journal mode", err);
}

bool mt_store_file_lacks_wal(sqlite3 *db, const char *path)
{
    char mode[16] = "";
    return sqlite3_exec(db, "PRAGMA journal_mode", read_text, mode, NULL) == SQLITE_OK && strcmp(mode, "wal") == 0 && !has_bytes(path, "-wal");
}

static mt_status set_up_writer(sqlite3 *db, const char *path, mt_fs fs, mt_error *err)
{
    mt_status st = MT_OK;
    if (sqlite3_db_readonly(db, "main") == 1) return MT_FAIL(err, MT_ERR_DB, "%s: is not writable", path);
    bool wal = false, plain_journal = false;
    if (fs == MT_FS_LOCAL) MT_TRY(set_journal(db, path, "wal", &wal, err));
    if (!wal) MT_TRY(set_journal(db, path, "delete", &plain_journal, err));
    if (sqlite3_exec(db, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON",
                     NULL, NULL, NULL) != SQLITE_OK) {
        st = mt_sql_fail_handle(db, path, "set up", err);
    }
done:
    return st;
}

/* Read-only media: no -shm can be made, no lock may work. immutable=1 does without both, but it also ignores a journal left behind,
 * without which the file may be a mixture of old and new pages. */
static mt_status open_immutable(const char *path, const char *plain, sqlite3 **db, mt_error *err)
{
    if (has_bytes(path, "-wal") || has_bytes(path, "-journal")) {
        return MT_FAIL(err, MT_ERR_DB, "%s: has unfinished changes and lies where nothing can be written; copy it and its -wal or "
                       "-journal file to a writable folder", path);
    }
    mt_status st = MT_OK;
    char *uri = uri_of(plain, "?immutable=1");
    if (!uri) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    else if (open_handle(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL, db) != SQLITE_OK) st = fail_damaged(*db, path, err);
    mt_free(uri);
    return st;
}

static bool wants_immutable(int code)
{
    switch (code & 0xff) {
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL: return true;
    default: return false;
    }
}

static mt_status open_reader(const char *path, const char *plain, mt_fs fs, sqlite3 **db, mt_error *err)
{
    int code = fs == MT_FS_LOCKLESS ? SQLITE_PROTOCOL : open_handle(plain, SQLITE_OPEN_READONLY, NULL, db);
    if (code == SQLITE_OK) return MT_OK;
    return wants_immutable(code) ? open_immutable(path, plain, db, err) : fail_damaged(*db, path, err);
}

static mt_status open_writer(const char *path, const char *plain, mt_fs fs, sqlite3 **db, mt_error *err)
{
    const char *vfs = fs == MT_FS_LOCKLESS ? "unix-dotfile" : NULL; /* PATH.lock instead of locks */
    if (open_handle(plain, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs, db) != SQLITE_OK) {
        if (vfs && sqlite3_errcode(*db) == SQLITE_BUSY) {
            return MT_FAIL(err, MT_ERR_DB, "%s: another process holds %s.lock (this file system has no locks); remove that folder if "
                           "no msda-tune runs", path, path);
        }
        return fail_damaged(*db, path, err);
    }
    /* Once more: in a folder where strangers may add files a -wal can have come in between. Now that it is open nobody can exchange it. */
    mt_status st = strcmp(path, ":memory:") == 0 ? MT_OK : check_trust(path, MT_STORE_READ_WRITE, err);
    if (st != MT_OK) return st;
    set_checkpoints(*db, true);
    return set_up_writer(*db, path, fs, err);
}

/* The database of a pack, which is read and never written. */
static mt_status open_pack(const char *path, mt_store_mode mode, sqlite3 **db, mt_error *err)
{
    char why[MT_PACK_WHY];
    mt_pack pack;
    if (mode != MT_STORE_READ_ONLY) return MT_FAIL(err, MT_ERR_USAGE, "%s: is a pack, and packs are only read; what one is made of can be changed, and packed again", path);
    mt_pack_verdict verdict = mt_pack_open(path, &pack, why);
    if (verdict == MT_PACK_OK) {
        verdict = mt_pack_database(&pack, db, why);
        mt_pack_close(&pack);
    }
    if (verdict != MT_PACK_OK) return MT_FAIL(err, verdict == MT_PACK_NO_MEMORY ? MT_ERR_NO_MEMORY : MT_ERR_DB, "%s: %s", path, why);
    return set_up_handle(*db) == SQLITE_OK ? MT_OK : mt_sql_fail_handle(*db, path, "open", err);
}

mt_status mt_store_file_open(const char *path, mt_store_mode mode, sqlite3 **db, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3 *handle = NULL;
    char *plain = NULL;
    if (strcmp(path, ":memory:") == 0) MT_LEAVE(open_writer(path, path, MT_FS_REMOTE, &handle, err));
    MT_TRY(check_path(path, mode, err));
    MT_TRY(check_trust(path, mode, err));
    plain = plain_path(path);
    if (!plain) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path));
    bool is_pack = mt_pack_is_name(path); /* also one that is not there yet: readers would take a database of that name for a pack */
    mt_fs fs = is_pack ? MT_FS_LOCAL : mt_fs_of(path);
    if (is_pack) st = open_pack(path, mode, &handle, err);
    else st = mode == MT_STORE_READ_ONLY ? open_reader(path, plain, fs, &handle, err) : open_writer(path, plain, fs, &handle, err);
    if (st == MT_OK) st = check_whole(handle, path, err);
    if (st == MT_OK) st = check_schema(handle, path, err);
done:
    if (st == MT_OK) {
        *db = handle;
        handle = NULL;
    }
    sqlite3_close(handle);
    mt_free(plain);
    return st;
}

mt_status mt_store_file_copy(sqlite3 *from, sqlite3 *to, const char *path, mt_error *err)
{
    mt_status st = MT_OK;
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE) st = mt_sql_fail_handle(backup ? from : to, path, "copy", err);
    sqlite3_backup_finish(backup);
    return st;
}
