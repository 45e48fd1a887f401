/* Opening: empty, old, new, damaged, foreign and unwritable files; file systems. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/sound_fixture.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "db/store/open/migrate.h"
#include "db/store/open/store_file.h"

static mt_store *opened;

static mt_status open_rw(void)
{
    return mt_store_open(fixture_db, MT_STORE_READ_WRITE, &opened, &fixture_err);
}

static mt_status open_ro(void)
{
    return mt_store_open(fixture_db, MT_STORE_READ_ONLY, &opened, &fixture_err);
}

static void write_file(const char *text, size_t length)
{
    FILE *file = fopen(fixture_db, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

/* A closed database with a row. */
static void make_database(void)
{
    mt_store *store = fixture_open();
    fixture_subject(store);
    mt_store_close(store);
}

START_TEST(creates_schema)
{
    ck_ok(open_rw());
    ck_assert_str_eq(mt_store_path(opened), fixture_db);
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), MT_SCHEMA_VERSION);
    ck_assert_int_eq(fixture_number("PRAGMA application_id"), MT_SCHEMA_APPLICATION_ID);
    ck_ok(open_rw());
    mt_store_close(opened);
    ck_ok(open_ro());
    mt_store_close(opened);
}
END_TEST

START_TEST(empty_file_is_version_zero)
{
    write_file("", 0);
    ck_fails(open_ro(), MT_ERR_NOT_FOUND, "is empty");
    ck_ok(open_rw());
    mt_store_close(opened);
    ck_assert_int_eq(fixture_number("PRAGMA user_version"), MT_SCHEMA_VERSION);
}
END_TEST

START_TEST(newer_schema_is_refused)
{
    make_database();
    fixture_sql("PRAGMA user_version = 99");
    ck_fails(open_rw(), MT_ERR_DB, "newer msda-tune (schema 99");
    ck_fails(open_ro(), MT_ERR_DB, fixture_db);
    ck_assert_ptr_null(opened);
}
END_TEST

START_TEST(other_programs_database_is_refused)
{
    fixture_sql("CREATE TABLE a (b)");
    ck_fails(open_rw(), MT_ERR_DB, "another program");
    fixture_sql("PRAGMA user_version = 1");
    ck_fails(open_rw(), MT_ERR_DB, "another program");
    fixture_sql("PRAGMA user_version = 0; PRAGMA application_id = 1836278900"); /* ours, but no version */
    ck_fails(open_rw(), MT_ERR_DB, "another program");
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM sqlite_master"), 1); /* untouched */
}
END_TEST

START_TEST(missing_file)
{
    ck_fails(open_ro(), MT_ERR_NOT_FOUND, "no such database");
    ck_assert_int_ne(access(fixture_db, F_OK), 0); /* a reader makes no file */
    snprintf(fixture_db, sizeof fixture_db, "%s/no/such/folder.sqlite", fixture_folder);
    ck_fails(open_rw(), MT_ERR_DB, "cannot be created");
    fixture_db[0] = '\0';
    ck_fails(open_rw(), MT_ERR_USAGE, "empty");
}
END_TEST

START_TEST(folder_or_device_instead_of_file)
{
    ck_assert_int_eq(mkdir(fixture_db, 0755), 0);
    ck_fails(open_rw(), MT_ERR_DB, "is a folder");
    ck_fails(open_ro(), MT_ERR_DB, "is a folder");
    strcpy(fixture_db, "/dev/null");
    ck_fails(open_rw(), MT_ERR_DB, "not a regular file");
}
END_TEST

START_TEST(junk_file)
{
    char junk[8192];
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (char)(i * 37 + 11);
    write_file(junk, sizeof junk);
    ck_fails(open_rw(), MT_ERR_DB, "is not an SQLite database");
    ck_fails(open_ro(), MT_ERR_DB, fixture_db);
    write_file("# notes\n", 8);
    ck_fails(open_rw(), MT_ERR_DB, fixture_db);
    ck_assert_int_eq(access(fixture_db, F_OK), 0);
}
END_TEST

/* Cut at many lengths: a clear error or a file that the check finds fault with, never a crash. */
START_TEST(truncated_file)
{
    make_database();
    struct stat whole;
    ck_assert_int_eq(stat(fixture_db, &whole), 0);
    for (off_t size = whole.st_size - 1; size > 1; size = size * 2 / 3) { /* SQLite takes one byte for an empty file */
        ck_assert_int_eq(truncate(fixture_db, size), 0);
        ck_fails(open_rw(), MT_ERR_DB, "cut short or damaged");
        ck_fails(open_ro(), MT_ERR_DB, fixture_db);
    }
}
END_TEST

START_TEST(damaged_page_is_found)
{
    make_database();
    int fd = open(fixture_db, O_WRONLY);
    char zeros[4096] = {0};
    ck_assert_int_eq(pwrite(fd, zeros, sizeof zeros, 4096), sizeof zeros);
    close(fd);
    mt_status st = open_ro();
    if (st == MT_OK) {
        ck_fails(fixture_check(opened, &fixture_err), MT_ERR_DB, fixture_db);
        mt_store_close(opened);
    }
}
END_TEST

/* Runs in a process of its own that is not root, which may write everything; the files are removed by the one that made them. */
static void as_nobody(void (*body)(void))
{
    int status;
    if (geteuid() == 0 && !fixture_is_in_reach()) return;
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setreuid(65534, 65534) != 0) _exit(2);
        body();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void read_unwritable(void)
{
    int64_t id;
    mt_device_row device = {.key = "k", .name = "n"};
    ck_fails(open_rw(), MT_ERR_DB, "cannot be opened for writing");
    ck_ok(open_ro()); /* immutable=1 */
    ck_fails(mt_store_device(opened, &device, &id, &fixture_err), MT_ERR_DB, "for reading only");
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
}

START_TEST(unwritable_file_and_folder)
{
    make_database(); /* WAL: a reader would have to make -shm */
    ck_assert_int_eq(chmod(fixture_db, 0444), 0);
    ck_assert_int_eq(chmod(fixture_folder, 0555), 0);
    as_nobody(read_unwritable);
    ck_assert_int_eq(chmod(fixture_folder, 0755), 0);
}
END_TEST

static void read_unreadable(void)
{
    ck_fails(open_ro(), MT_ERR_DB, "cannot be opened for reading");
}

START_TEST(unreadable_file)
{
    make_database();
    ck_assert_int_eq(chmod(fixture_folder, 0755), 0);
    ck_assert_int_eq(chmod(fixture_db, 0000), 0);
    as_nobody(read_unreadable);
}
END_TEST

static void write_in_unwritable_folder(void)
{
    ck_fails(open_rw(), MT_ERR_DB, fixture_db);
}

START_TEST(writable_file_in_unwritable_folder)
{
    make_database();
    ck_assert_int_eq(chmod(fixture_db, 0666), 0);
    ck_assert_int_eq(chmod(fixture_folder, 0555), 0);
    as_nobody(write_in_unwritable_folder);
    ck_assert_int_eq(chmod(fixture_folder, 0755), 0);
}
END_TEST

static void read_unfinished(void)
{
    snprintf(fixture_db, sizeof fixture_db, "%s/copy/t.sqlite", fixture_folder);
    ck_fails(open_ro(), MT_ERR_DB, "unfinished changes");
}

/* A file that is being written (there is a -wal) on read-only media must not be read as if it were whole. */
START_TEST(unfinished_changes_on_read_only_media)
{
    mt_store *writer = fixture_open();
    fixture_subject(writer);
    char command[512];
    snprintf(command, sizeof command, "cd '%s' && mkdir copy && cp t.sqlite t.sqlite-wal copy/ && chmod 755 . && chmod 444 copy/* && chmod 555 copy",
             fixture_folder);
    ck_assert_int_eq(system(command), 0);
    mt_store_close(writer);
    as_nobody(read_unfinished);
    snprintf(command, sizeof command, "chmod 755 '%s/copy'", fixture_folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(odd_names_are_plain_files)
{
    const char *names[] = {"a b?mode=memory#x%41.sqlite", "file:x.sqlite", ":memory:x", "ä\"'.sqlite"};
    ck_assert_int_eq(chdir(fixture_folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mt_store *store = NULL;
        ck_ok(mt_store_open(names[i], MT_STORE_READ_WRITE, &store, &fixture_err));
        mt_store_close(store);
        struct stat info;
        ck_assert_msg(lstat(names[i], &info) == 0, "%s", names[i]);
    }
    mt_fs_pretend(MT_FS_LOCKLESS); /* readers then go by a URI */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mt_store *store = NULL;
        ck_ok(mt_store_open(names[i], MT_STORE_READ_ONLY, &store, &fixture_err));
        mt_store_close(store);
    }
}
END_TEST

static void journal_mode(char mode[16])
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open_v2(fixture_db, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    snprintf(mode, 16, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

START_TEST(journal_follows_the_file_system)
{
    char mode[16];
    make_database();
    journal_mode(mode);
    ck_assert_str_eq(mode, "wal");
    mt_fs_pretend(MT_FS_REMOTE); /* the same file, now seen over a network */
    make_database();
    journal_mode(mode);
    ck_assert_str_eq(mode, "delete");
    mt_fs_pretend(-1);
    make_database();
    journal_mode(mode);
    ck_assert_str_eq(mode, "wal");
}
END_TEST

START_TEST(sealed_file_has_no_wal)
{
    char mode[16];
    mt_store *store = fixture_open();
    fixture_subject(store);
    ck_ok(mt_store_seal(store, &fixture_err));
    fixture_session(store); /* still usable */
    mt_store_close(store);
    journal_mode(mode);
    ck_assert_str_eq(mode, "delete");
    ck_ok(open_ro());
    ck_ok(fixture_check(opened, &fixture_err));
    mt_store_close(opened);
}
END_TEST

START_TEST(file_system_without_locks)
{
    char lock[160];
    mt_fs_pretend(MT_FS_LOCKLESS);
    mt_store *store = fixture_open();
    fixture_subject(store);
    ck_ok(mt_store_begin(store, &fixture_err)); /* now the lock is held, as a folder beside the file */
    snprintf(lock, sizeof lock, "%s.lock", fixture_db);
    ck_assert_int_eq(access(lock, F_OK), 0);
    mt_store_rollback(store);
    mt_store_close(store);
    ck_assert_int_ne(access(lock, F_OK), 0);
    ck_ok(open_ro());
    mt_store_close(opened);
}
END_TEST

START_TEST(file_system_types)
{
    ck_assert_int_eq(mt_fs_of_type(0xef53), MT_FS_LOCAL);      /* ext4 */
    ck_assert_int_eq(mt_fs_of_type(0x58465342), MT_FS_LOCAL);  /* XFS */
    ck_assert_int_eq(mt_fs_of_type((long)0x9123683e), MT_FS_LOCAL);
    ck_assert_int_eq(mt_fs_of_type((int)0x9123683eu), MT_FS_LOCAL); /* sign-extended, as 32-bit f_type is */
    ck_assert_int_eq(mt_fs_of_type(0x01021994), MT_FS_LOCAL);  /* tmpfs */
    ck_assert_int_eq(mt_fs_of_type(0x6969), MT_FS_REMOTE);     /* NFS */
    ck_assert_int_eq(mt_fs_of_type(0xff534d42), MT_FS_REMOTE); /* CIFS */
    ck_assert_int_eq(mt_fs_of_type(0xfe534d42), MT_FS_REMOTE); /* SMB2 */
    ck_assert_int_eq(mt_fs_of_type(0x65735546), MT_FS_REMOTE); /* FUSE */
    ck_assert_int_eq(mt_fs_of_type(0x01021997), MT_FS_REMOTE); /* 9p */
    ck_assert_int_eq(mt_fs_of_type(0x0bd00bd0), MT_FS_REMOTE); /* Lustre */
    ck_assert_int_eq(mt_fs_of_type(0x12345678), MT_FS_REMOTE); /* unknown */
    ck_assert_int_eq(mt_fs_of("/no/such/folder/x"), MT_FS_REMOTE);
}
END_TEST

START_TEST(default_path)
{
    char *path = NULL, expected[160];
    ck_ok(mt_store_default_path("given.sqlite", &path, &fixture_err));
    ck_assert_str_eq(path, "given.sqlite");
    mt_free(path);
    setenv("MSDA_TUNE_DB", "/from/env", 1);
    ck_ok(mt_store_default_path(NULL, &path, &fixture_err));
    ck_assert_str_eq(path, "/from/env");
    mt_free(path);
    setenv("MSDA_TUNE_DB", "", 1);
    setenv("XDG_DATA_HOME", fixture_folder, 1);
    ck_ok(mt_store_default_path(NULL, &path, &fixture_err));
    snprintf(expected, sizeof expected, "%s/msda-tune/tuning.sqlite", fixture_folder);
    ck_assert_str_eq(path, expected);
    mt_free(path);
    *strrchr(expected, '/') = '\0';
    ck_assert_int_ne(access(expected, F_OK), 0); /* asking makes no folder */
    ck_ok(mt_store_writable_path(NULL, &path, &fixture_err));
    mt_store *store = NULL;
    ck_ok(mt_store_open(path, MT_STORE_READ_WRITE, &store, &fixture_err)); /* its folder was made */
    mt_store_close(store);
    mt_free(path);
    setenv("XDG_DATA_HOME", "/dev/null/below", 1);
    ck_ok(mt_store_default_path(NULL, &path, &fixture_err)); /* nor does it fail where none can be made */
    mt_free(path);
    ck_fails(mt_store_writable_path(NULL, &path, &fixture_err), MT_ERR_NOT_FOUND, "/dev/null");
    ck_fails(mt_store_default_path("", &path, &fixture_err), MT_ERR_USAGE, "empty");
}
END_TEST

START_TEST(out_of_memory_leaks_nothing)
{
    for (size_t n = 1; n < 30; n++) {
        mt_alloc_fail_at(n);
        mt_status st = open_rw();
        mt_alloc_fail_at(0);
        if (st == MT_OK)
            mt_store_close(opened);
        else
            ck_assert_msg(st == MT_ERR_NO_MEMORY, "%zu: %d, %s", n, (int)st, fixture_err.message);
    }
}
END_TEST

START_TEST(memory_database)
{
    strcpy(fixture_db, ":memory:");
    mt_store *store = fixture_open();
    mt_subject subject = fixture_subject(store);
    fixture_put_ok(store, fixture_session(store), &subject, "A=1", 10);
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
    ck_assert_int_ne(access(":memory:", F_OK), 0);
}
END_TEST

FIXTURE_MAIN("migrate", creates_schema, empty_file_is_version_zero, newer_schema_is_refused, other_programs_database_is_refused, missing_file,
             folder_or_device_instead_of_file, junk_file, truncated_file, damaged_page_is_found, unwritable_file_and_folder, unreadable_file,
             writable_file_in_unwritable_folder, unfinished_changes_on_read_only_media, odd_names_are_plain_files,
             journal_follows_the_file_system, sealed_file_has_no_wal, file_system_without_locks, file_system_types, default_path, out_of_memory_leaks_nothing,
             memory_database)
