/* Which files libtunelookup opens: missing, damaged, hostile, foreign, read-only ones; the user's over the shipped ones. */
#include "db/lookup/lookup.h"
#include "db/sqlite_defend.h"
#include "db/store/open/migrate.h"
#include "tests/unit/lookup_fixture.h"

#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/wait.h>

static tunelookup_status try_open(const char *path)
{
    tunelookup_db *db = NULL;
    tunelookup_status st = tunelookup_open(path, 0, &db);
    ck_assert((st == TUNELOOKUP_OK) == (db != NULL));
    tunelookup_close(db);
    return st;
}

/* The row of lookup_one_row by path; the status of whatever failed. */
static tunelookup_status try_find(const char *path, unsigned flags, tunelookup_result *r)
{
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    tunelookup_status st = tunelookup_open(path, flags, &db);
    if (st == TUNELOOKUP_OK) st = tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan);
    if (st == TUNELOOKUP_OK) st = tunelookup_find(plan, (const int64_t[]){ 64, 3, 5 }, r);
    tunelookup_close(db);
    return st;
}

START_TEST(test_missing)
{
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_NOT_FOUND, fixture_db);
    ck_lookup_fails(try_open(""), TUNELOOKUP_ERR_ARGUMENT, "the path is empty");
    ck_lookup_fails(try_open(fixture_folder), TUNELOOKUP_ERR_IO, "not a regular file");
    ck_lookup_fails(try_open("/dev/null"), TUNELOOKUP_ERR_IO, "not a regular file");
}
END_TEST

START_TEST(test_not_ours)
{
    FILE *file = fopen(fixture_db, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_NOT_A_DATABASE, "not a tuning database");
    file = fopen(fixture_db, "w");
    for (int i = 0; i < 1000; i++) fputs("this is text and no database\n", file);
    fclose(file);
    ck_assert_int_eq(try_open(fixture_db), TUNELOOKUP_ERR_NOT_A_DATABASE);
    ck_assert_int_eq(unlink(fixture_db), 0);
    fixture_sql("CREATE TABLE kernel (id INTEGER PRIMARY KEY)");
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_NOT_A_DATABASE, "not a tuning database");
}
END_TEST

START_TEST(test_other_schema)
{
    lookup_one_row();
    fixture_sql("PRAGMA user_version = 99");
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_NEWER_SCHEMA, "schema 99");
    fixture_sql("PRAGMA user_version = 1");
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_OLDER_SCHEMA, "older schema 1 (this libtunelookup, ");
    ck_assert_ptr_nonnull(strstr(tunelookup_detail(), "no msda-tune of today updates it"));
    fixture_sql("PRAGMA user_version = 6");
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_OLDER_SCHEMA, "no msda-tune of today updates it");
    fixture_sql("PRAGMA user_version = 7"); /* says 'pruned', and lacks the index of wrong results */
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_OLDER_SCHEMA, "any msda-tune command that writes into it (tune, import) updates it");
    fixture_sql("ALTER TABLE measurement RENAME COLUMN row_bits TO newer"); /* what schema 11 brought */
    for (int version = 10; version >= 8; version--) {
        if (version == 9) fixture_sql("ALTER TABLE measurement RENAME COLUMN bits TO unknown; DROP TABLE error_limit"); /* … and 10 */
        char older[64];
        tunelookup_result r;
        snprintf(older, sizeof older, "PRAGMA user_version = %d", version);
        fixture_sql(older);
        ck_assert_int_eq(try_open(fixture_db), TUNELOOKUP_OK);
        ck_lookup(try_find(fixture_db, 0, &r));
        ck_lookup(try_find(fixture_db, TUNELOOKUP_ERRORS, &r));
    }
    char newer[64];
    snprintf(newer, sizeof newer, "PRAGMA user_version = %d", MT_SCHEMA_VERSION + 1);
    fixture_sql(newer);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_NEWER_SCHEMA, "schema");
}
END_TEST

/* Nothing but tables and indices of its own: a view named like a table would run code of the file's choice behind our queries. */
START_TEST(test_strange_schema)
{
    tunelookup_result r;
    lookup_one_row();
    fixture_sql("ALTER TABLE answer RENAME TO real_answer; CREATE VIEW answer AS SELECT * FROM real_answer");
    ck_lookup_fails(try_find(fixture_db, 0, &r), TUNELOOKUP_ERR_NOT_A_DATABASE, "views, triggers or virtual tables");
    fixture_sql("DROP VIEW answer; ALTER TABLE real_answer RENAME TO answer");
    ck_lookup(try_find(fixture_db, 0, &r));
    fixture_sql("CREATE TRIGGER t AFTER INSERT ON answer BEGIN DELETE FROM answer; END");
    ck_lookup_fails(try_find(fixture_db, 0, &r), TUNELOOKUP_ERR_NOT_A_DATABASE, "views, triggers or virtual tables");
    fixture_sql("DROP TRIGGER t; DROP TABLE answer");
    ck_lookup_fails(try_find(fixture_db, 0, &r), TUNELOOKUP_ERR_NOT_A_DATABASE, "no such table: answer");
}
END_TEST

/* What a schema can have computed while a file is read or written. The tool refuses the same. */
static const char *const computing[] = {
    "DROP TABLE answer; CREATE TABLE answer (kernel_id INTEGER, device_id INTEGER, subject_id INTEGER, origin TEXT, regime TEXT, workload_id INTEGER, shape_name TEXT, measurement_id INTEGER, "
    "variant_id INTEGER, toolchain_id INTEGER, median_ns REAL, low_ns REAL, high_ns REAL, norm_error REAL, created_unix_ms INTEGER, updated_unix_ms INTEGER, cubin_hash TEXT, carveouts TEXT, "
    "shape_key TEXT GENERATED ALWAYS AS (printf('%.*c', 200000000, 'x')) VIRTUAL)",
    "ALTER TABLE answer ADD COLUMN more TEXT AS (printf('%.*c', 200000000, 'x'))",
    "ALTER TABLE measurement ADD COLUMN more TEXT as /* quietly */ (1)",
    "CREATE INDEX i ON answer (printf('%.*c', 100, 'x'))",
    "CREATE INDEX i ON answer (subject_id) WHERE length(shape_key) > 3",
    "CREATE TABLE more (a TEXT CHECK (length(hex(a)) < 1000))",
    "CREATE TABLE more (a TEXT DEFAULT (hex('a')))",
    "CREATE TABLE more (a TEXT CHECK (a NOT GLOB '*a*b*c*d*'))",
};

START_TEST(test_schema_that_computes)
{
    for (size_t i = 0; i < sizeof computing / sizeof *computing; i++) {
        mt_store *store = NULL;
        lookup_one_row();
        fixture_sql(computing[i]);
        tunelookup_result r;
        int64_t start = mt_clock_thread_cpu_ns();
        ck_lookup_fails(try_find(fixture_db, 0, &r), TUNELOOKUP_ERR_NOT_A_DATABASE, "which no tuning database does");
        ck_fails(mt_store_open(fixture_db, MT_STORE_READ_WRITE, &store, &fixture_err), MT_ERR_DB, "which no tuning database does");
        ck_assert_msg(mt_clock_thread_cpu_ns() - start < INT64_C(5000000000), "%s", computing[i]);
        unlink(fixture_db);
    }
}
END_TEST

/* Longer than any value that the lookup reads: told by SQLite before it is read, and left out with its row. */
START_TEST(test_long_value)
{
    tunelookup_result r;
    lookup_one_row();
    fixture_sql("UPDATE answer SET shape_name = CAST(zeroblob(20000000) AS TEXT)");
    ck_lookup(try_find(fixture_db, 0, &r));
    ck_assert_int_ne(r.match, TUNELOOKUP_MATCH_EXACT);
}
END_TEST

/* Cut at every page and some more: an answer that is right, or an error. */
START_TEST(test_truncated)
{
    lookup_one_row();
    fixture_sql("PRAGMA journal_mode = DELETE");
    struct stat info;
    ck_assert_int_eq(stat(fixture_db, &info), 0);
    for (off_t size = info.st_size - 1; size >= 0; size -= 1531) {
        tunelookup_result r;
        ck_assert_int_eq(truncate(fixture_db, size), 0);
        tunelookup_status st = try_find(fixture_db, 0, &r);
        if (st == TUNELOOKUP_OK && r.match == TUNELOOKUP_MATCH_EXACT && r.median_ns == 1000) continue; /* what was cut off is not needed */
        ck_assert_msg(st == TUNELOOKUP_ERR_NOT_A_DATABASE || st == TUNELOOKUP_ERR_IO, "%ld bytes: %s", (long)size, tunelookup_strerror(st));
    }
}
END_TEST

START_TEST(test_bad_expressions)
{
    static const char *const specs[] = {
        "{", "[]", "1", "\"x\"", "{\"format\":2}", "{\"format\":1,\"shape\":7}", "{\"format\":1,\"shape\":[{\"name\":\"N\"}]}",
        "{\"format\":1,\"shape\":[{\"name\":\"b\",\"kind\":\"int\"},{\"name\":\"a\",\"kind\":\"int\"}]}",
        "{\"format\":1,\"lets\":[{\"name\":\"x\",\"value\":\"+ +\"}]}", "{\"format\":1,\"lets\":[{\"name\":\"x\"}]}", "{\"format\":1,\"params\":[3]}",
        "{\"format\":1,\"args\":[{\"name\":\"m\",\"kind\":\"tensormap\",\"tensor\":9,\"dims\":[\"1\"],\"strides\":[],\"box\":[\"1\"]}]}",
        "{\"format\":1,\"args\":[{\"name\":\"m\",\"kind\":\"tensormap\",\"tensor\":0,\"dims\":[\"1\",\"1\"],\"strides\":[],\"box\":[\"1\"]}]}",
        "{\"format\":1,\"launches\":[{\"args\":[0],\"grid\":[\"1\"],\"block\":[\"1\"]}]}", "{\"format\":1,\"launches\":[{\"args\":[],\"grid\":[],\"block\":[\"1\"]}]}",
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        tunelookup_result r;
        char sql[400];
        lookup_writer w = lookup_begin("{}", "toy", lookup_kernel_key);
        lookup_end(&w);
        snprintf(sql, sizeof sql, "UPDATE kernel SET spec_json = '%s'", specs[i]); /* no tuner writes the first ones */
        fixture_sql(sql);
        tunelookup_status st = try_find(fixture_db, 0, &r);
        ck_assert_msg(st == TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: %s: %s", specs[i], tunelookup_strerror(st), tunelookup_detail());
    }
}
END_TEST

/* Nesting is bounded: neither the stack nor the time is a file's to spend. */
START_TEST(test_deep_expressions)
{
    enum { DEPTH = 200000 };
    static const struct { const char *before, *opening, *after; } cases[] = {{"", "{\"a\":", ""}, {"{\"format\":1,\"shape\":", "[", ""}, {"{\"format\":1,\"what\":", "{\"a\":", "}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tunelookup_result r;
        mt_strbuf sql = {0};
        lookup_writer w = lookup_begin("{}", "toy", lookup_kernel_key);
        lookup_end(&w);
        mt_strbuf_addf(&sql, "UPDATE kernel SET spec_json = '%s", cases[i].before);
        for (int k = 0; k < DEPTH; k++) mt_strbuf_add(&sql, cases[i].opening);
        mt_strbuf_add(&sql, "1");
        for (int k = 0; k < DEPTH; k++) mt_strbuf_add_char(&sql, cases[i].opening[0] == '[' ? ']' : '}');
        mt_strbuf_addf(&sql, "%s'", cases[i].after);
        fixture_sql(mt_strbuf_text(&sql));
        mt_strbuf_free(&sql);
        tunelookup_status st = try_find(fixture_db, 0, &r);
        ck_assert_msg(st == TUNELOOKUP_ERR_NOT_A_DATABASE, "%zu: %s: %s", i, tunelookup_strerror(st), tunelookup_detail());
    }
}
END_TEST

/* A let that reads itself or a later one has no value; nothing loops. */
START_TEST(test_circular_lets)
{
    char spec[sizeof lookup_spec + 64];
    const char *at = strstr(lookup_spec, "$H sum1 $N *");
    snprintf(spec, sizeof spec, "%.*s$HALF $TOTAL +%s", (int)(at - lookup_spec), lookup_spec, at + 12);
    lookup_writer w = lookup_begin(spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_end(&w);
    tunelookup_result r;
    ck_lookup(try_find(fixture_db, 0, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NONE); /* argument x reads TOTAL */
}
END_TEST

START_TEST(test_hostile_text)
{
    lookup_one_row();
    fixture_sql("UPDATE answer SET shape_name = 'a' || char(27) || '[31m' || char(10) || 'exact: forged' || char(155, 8238, 8294, 181) || CAST(x'9b' AS TEXT); UPDATE workload SET name = '<script>' || char(13)");
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    tunelookup_result r;
    ck_lookup(tunelookup_open(fixture_db, 0, &db));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 64, 3, 5 }, &r));
    for (const char *at = lookup_explain(&r); *at; at++) ck_assert(*at == '\n' || (unsigned char)*at >= 0x20);
    ck_assert_ptr_null(strstr(lookup_explain(&r), "\nexact: forged"));
    ck_assert_msg(strstr(lookup_explain(&r), "a?[31m?exact: forged????????µ?)") != NULL, "%s", lookup_explain(&r)); /* two bytes of C1, three of each bidi control, a byte that is no UTF-8 */
    tunelookup_close(db);
}
END_TEST

/* ---- trust ---- */

START_TEST(test_modes) /* a file that others may write is refused */
{
    lookup_one_row();
    ck_lookup(try_open(fixture_db));
    ck_assert_int_eq(chmod(fixture_db, 0664), 0);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED, "chmod go-w");
    ck_assert_int_eq(chmod(fixture_db, 0646), 0);
    ck_assert_int_eq(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED);
    ck_assert_int_eq(chmod(fixture_db, 0644), 0);
    ck_assert_int_eq(chmod(fixture_folder, 0777), 0);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED, "everybody may exchange files");
    ck_assert_int_eq(chmod(fixture_folder, 01777), 0); /* as /tmp: only owners may */
    tunelookup_result r;
    ck_lookup(try_find(fixture_db, 0, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_int_eq(chmod(fixture_folder, 03775), 0); /* the same for a group */
    ck_lookup(try_open(fixture_db));
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key); /* keeps a -wal with content beside it */
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=32", 1);
    ck_ok(mt_store_commit(w.store, &fixture_err));
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED, "others may create such files"); /* a stranger's would look the same */
    ck_assert_int_eq(chmod(fixture_folder, 0775), 0); /* who gives a group a folder trusts it */
    ck_lookup(try_open(fixture_db));
    mt_store_close(w.store);
    ck_assert_int_eq(chmod(fixture_folder, 0755), 0);
    char wal[160];
    snprintf(wal, sizeof wal, "%s-wal", fixture_db);
    int fd = open(wal, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, 0666), 0);
    close(fd);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED, "-wal");
}
END_TEST

/* A link is as good as where it leads. */
START_TEST(test_links)
{
    char folder[128], link[160], file[160], command[512];
    lookup_one_row();
    fixture_sql("PRAGMA journal_mode = DELETE");
    snprintf(folder, sizeof folder, "%s/open", fixture_folder);
    snprintf(link, sizeof link, "%s/link.sqlite", fixture_folder);
    snprintf(file, sizeof file, "%s/real.sqlite", folder);
    ck_assert_int_eq(symlink(fixture_db, link), 0);
    ck_lookup(try_open(link));
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    snprintf(command, sizeof command, "cp '%s' '%s'", fixture_db, file);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(symlink(file, link), 0);
    ck_lookup(try_open(link));
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_lookup_fails(try_open(link), TUNELOOKUP_ERR_UNTRUSTED, "everybody");
}
END_TEST

START_TEST(test_foreign_owner)
{
    if (geteuid() != 0) return; /* only root can give files away */
    lookup_one_row();
    ck_assert_int_eq(chown(fixture_db, 12345, (gid_t)-1), 0);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED, "belongs to user 12345");
    ck_assert_int_eq(chown(fixture_db, 0, (gid_t)-1), 0);
    ck_assert_int_eq(chown(fixture_folder, 12345, (gid_t)-1), 0);
    ck_lookup_fails(try_open(fixture_db), TUNELOOKUP_ERR_UNTRUSTED, "which belongs to user 12345");
}
END_TEST

/* Root's file in a folder where this user can make nothing, so neither -shm nor a lock file: WAL and DELETE mode alike. */
START_TEST(test_unprivileged_reader)
{
    if (geteuid() != 0 || !fixture_is_in_reach()) return;
    lookup_one_row();
    ck_assert_int_eq(chmod(fixture_folder, 0755), 0);
    for (int mode = 0; mode < 2; mode++) {
        fixture_sql(mode ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
        pid_t child = fork();
        if (child == 0) {
            tunelookup_result r;
            if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
            tunelookup_status st = try_find(fixture_db, 0, &r);
            if (st != TUNELOOKUP_OK) fprintf(stderr, "mode %d: %s\n", mode, tunelookup_detail());
            _exit(st == TUNELOOKUP_OK && r.match == TUNELOOKUP_MATCH_EXACT ? 0 : 1);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 0);
    }
}
END_TEST

/* In a sticky folder nothing is locked: what was read beside a writer is thrown away. */
START_TEST(test_written_while_read)
{
    mt_lookup_file file = { .path = fixture_db };
    mt_lookup_session session;
    lookup_one_row();
    fixture_sql("PRAGMA journal_mode = DELETE");
    for (int is_sticky = 0; is_sticky < 2; is_sticky++) {
        ck_assert_int_eq(chmod(fixture_folder, is_sticky ? 01777 : 0700), 0);
        ck_lookup(mt_lookup_sqlite_open(&file, &session));
        ck_assert(session.is_immutable == is_sticky);
        ck_lookup(mt_lookup_sqlite_confirm(&file, &session));
        usleep(20000); /* a tick of the file system's clock */
        ck_assert_int_eq(chmod(fixture_db, 0600), 0); /* any change moves ctime */
        if (is_sticky) ck_lookup_fails(mt_lookup_sqlite_confirm(&file, &session), TUNELOOKUP_ERR_IO, "was written while it was read");
        else ck_lookup(mt_lookup_sqlite_confirm(&file, &session));
        mt_lookup_sqlite_close(&session);
    }
}
END_TEST

/* No file system of this machine: every lock fails as it does on NFS without a lock daemon, or (ENOSYS) on Lustre without flock. */
static int lock_error;

static int without_locks(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (command != F_SETLK && command != F_SETLKW && command != F_GETLK) return fcntl(fd, command, argument);
    errno = lock_error;
    return -1;
}

START_TEST(test_no_locks)
{
    tunelookup_result r;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char journal[160];
    lookup_one_row();
    fixture_sql("PRAGMA journal_mode = DELETE");
    for (int i = 0; i < 2; i++) {
        lock_error = i ? ENOSYS : ENOLCK;
        ck_assert_int_eq(vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)without_locks), SQLITE_OK);
        ck_lookup(try_find(fixture_db, 0, &r));
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
        snprintf(journal, sizeof journal, "%s-journal", fixture_db); /* somebody is writing, or was killed */
        FILE *file = fopen(journal, "w");
        ck_assert(file && fputs("unfinished", file) > 0 && fclose(file) == 0);
        ck_lookup_fails(try_find(fixture_db, 0, &r), TUNELOOKUP_ERR_IO, fixture_db);
        ck_assert_int_eq(unlink(journal), 0);
        ck_assert_int_eq(vfs->xSetSystemCall(vfs, "fcntl", NULL), SQLITE_OK);
    }
    ck_lookup(try_find(fixture_db, 0, &r));
}
END_TEST

/* A database copied with its -wal, but without the -shm, to where nothing can be made. */
START_TEST(test_unfinished_on_read_only_media)
{
    if (geteuid() != 0 || !fixture_is_in_reach()) return;
    char command[640];
    lookup_one_row();
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=32", 1);
    ck_ok(mt_store_commit(w.store, &fixture_err));
    snprintf(command, sizeof command, "mkdir -m 755 '%s/media' && cp '%s' '%s-wal' '%s/media' && chmod 644 '%s'/media/* && chmod 755 '%s'", fixture_folder, fixture_db, fixture_db, fixture_folder,
             fixture_folder, fixture_folder);
    ck_assert_int_eq(system(command), 0);
    mt_store_close(w.store);
    snprintf(command, sizeof command, "%s/media/%s", fixture_folder, strrchr(fixture_db, '/') + 1);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
        tunelookup_status st = try_open(command);
        bool is_told = strstr(tunelookup_detail(), "unfinished changes") && strstr(tunelookup_detail(), "copy it and its -wal");
        if (!is_told) fprintf(stderr, "%d: %s\n", (int)st, tunelookup_detail());
        _exit(st == TUNELOOKUP_ERR_IO && is_told ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* Same inode, size and time of change, as cp -p and rsync --inplace leave it; asked for through a link. */
START_TEST(test_refresh_sees_kept_times)
{
    char link[160];
    struct stat before, after;
    tunelookup_db *db = NULL;
    tunelookup_plan *plan = NULL;
    tunelookup_result r;
    lookup_one_row();
    fixture_sql("PRAGMA journal_mode = DELETE");
    snprintf(link, sizeof link, "%s/link.sqlite", fixture_folder);
    ck_assert_int_eq(symlink(fixture_db, link), 0);
    ck_lookup(tunelookup_open(link, 0, &db));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_assert_int_eq(stat(fixture_db, &before), 0);
    usleep(20000); /* a tick of the file system's clock */
    fixture_sql("UPDATE answer SET median_ns = 2000; UPDATE measurement SET median_ns = 2000, low_ns = NULL, high_ns = NULL");
    ck_assert_int_eq(utimensat(AT_FDCWD, fixture_db, (const struct timespec[]){ before.st_atim, before.st_mtim }, 0), 0);
    ck_assert_int_eq(stat(fixture_db, &after), 0);
    ck_assert(after.st_size == before.st_size && after.st_ino == before.st_ino && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    ck_lookup(tunelookup_refresh(db));
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 64, 3, 5 }, &r));
    ck_assert(r.median_ns == 2000);
    fixture_sql("PRAGMA journal_mode = WAL");
    ck_lookup(tunelookup_refresh(db));
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=32", 1);
    ck_ok(mt_store_commit(w.store, &fixture_err)); /* in the -wal beside the file, not beside the link */
    ck_lookup(tunelookup_refresh(db));
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 64, 3, 5 }, &r));
    ck_assert_msg(r.median_ns == 1, "%g", r.median_ns);
    mt_store_close(w.store);
    tunelookup_close(db);
}
END_TEST

/* The tuner holds its file open in WAL mode while others ask. */
START_TEST(test_beside_a_writer)
{
    lookup_one_row();
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key); /* an open write transaction */
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=32", 1);
    tunelookup_result r;
    ck_lookup(try_find(fixture_db, 0, &r));
    ck_assert(r.median_ns == 1000);
    lookup_end(&w);
    ck_lookup(try_find(fixture_db, 0, &r));
    ck_assert(r.median_ns == 1);
}
END_TEST

/* ---- default places ---- */

START_TEST(test_user_file)
{
    lookup_one_row();
    tunelookup_result r;
    ck_assert_int_eq(setenv("MSDA_TUNE_DB", fixture_db, 1), 0);
    if (try_find(NULL, 0, &r) == TUNELOOKUP_ERR_UNTRUSTED && strstr(tunelookup_detail(), "/share/msda-tune-shipped/")) return; /* a checkout below a folder that someone else owns: its shipped files count, too */
    ck_lookup(try_find(NULL, 0, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_int_eq(setenv("MSDA_TUNE_DB", "/nonexistent/t.sqlite", 1), 0);
    tunelookup_status st = try_open(NULL); /* shipped files, if this build has some */
    ck_assert_msg((st == TUNELOOKUP_OK && !*tunelookup_detail()) || (st == TUNELOOKUP_ERR_NOT_FOUND && strstr(tunelookup_detail(), "/nonexistent/t.sqlite")), "%s", tunelookup_detail());
    char folder[160], file[256], command[1024];
    snprintf(folder, sizeof folder, "%s/data/msda-tune", fixture_folder);
    snprintf(file, sizeof file, "%s/tuning.sqlite", folder);
    fixture_sql("PRAGMA journal_mode = DELETE");
    snprintf(command, sizeof command, "mkdir -p '%s' && cp '%s' '%s'", folder, fixture_db, file);
    ck_assert_int_eq(system(command), 0);
    snprintf(folder, sizeof folder, "%s/data", fixture_folder);
    ck_assert_int_eq(setenv("XDG_DATA_HOME", folder, 1), 0);
    ck_assert_int_eq(unsetenv("MSDA_TUNE_DB"), 0);
    ck_lookup(try_find(NULL, 0, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
}
END_TEST

static void add_tables(int count)
{
    char sql[300];
    snprintf(sql, sizeof sql, "PRAGMA writable_schema = ON; WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || ' (a)' FROM n", count);
    fixture_sql(sql);
}

/* SQLite parses a schema before anybody can look at it: the first read ends it where it is far too large, the check behind it tells what is a little too large. */
START_TEST(test_many_tables)
{
    static const struct { int tables, code; } cases[] = { { 900, SQLITE_OK }, { 1100, SQLITE_OK }, { 20000, SQLITE_INTERRUPT } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sqlite3 *db = NULL;
        mt_store *store = NULL;
        tunelookup_result r;
        unlink(fixture_db);
        lookup_one_row();
        add_tables(cases[i].tables);
        ck_assert_int_eq(sqlite3_open_v2(fixture_db, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        ck_assert_int_eq(mt_sqlite_first_read(db, "SELECT count(*) FROM sqlite_master"), cases[i].code);
        sqlite3_close(db);
        if (cases[i].tables < MT_SQLITE_OBJECTS) {
            ck_lookup(try_find(fixture_db, 0, &r));
            continue;
        }
        ck_lookup_fails(try_find(fixture_db, 0, &r), TUNELOOKUP_ERR_NOT_A_DATABASE, "holds more tables and indexes than any tuning database does");
        ck_fails(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err), MT_ERR_DB, "holds more tables and indexes than any tuning database does");
        ck_fails(mt_store_open(fixture_db, MT_STORE_READ_WRITE, &store, &fixture_err), MT_ERR_DB, "holds more tables and indexes than any tuning database does");
    }
}
END_TEST

FIXTURE_MAIN("tunelookup_files", test_many_tables, test_missing, test_not_ours, test_other_schema, test_strange_schema, test_schema_that_computes, test_long_value, test_truncated, test_bad_expressions, test_deep_expressions, test_circular_lets,
             test_hostile_text, test_modes, test_links, test_foreign_owner, test_unprivileged_reader, test_written_while_read, test_no_locks, test_unfinished_on_read_only_media, test_refresh_sees_kept_times, test_beside_a_writer, test_user_file)
