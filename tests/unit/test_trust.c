/* What lies beside a database in a folder where strangers may add files is not taken over by a command that writes. */
#include "db/trust.h"

#include <errno.h>

#include "tests/unit/store_fixture.h"

enum { STRANGER = 12345 };

static const char *beside(const char *suffix)
{
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s%s", fixture_db, suffix);
    return path[turn];
}

static void copy_file(const char *from, const char *to)
{
    char command[400];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    ck_assert_int_eq(system(command), 0);
}

static mt_status open_to(mt_store_mode mode)
{
    mt_store *store = NULL;
    fixture_err.message[0] = '\0';
    mt_status st = mt_store_open(fixture_db, mode, &store, &fixture_err);
    mt_store_close(store);
    return st;
}

/* As root: the file and the folder are root's, the folder is as /tmp. */
START_TEST(a_strangers_wal)
{
    if (geteuid() != 0) return; /* only root can give files away */
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    fixture_put_ok(store, fixture_session(store), &s, "A=1", 100);
    mt_store_close(store);
    char copy[160], wal[200];
    snprintf(copy, sizeof copy, "%s/copy.sqlite", fixture_folder);
    snprintf(wal, sizeof wal, "%s-wal", copy);
    copy_file(fixture_db, copy);
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(copy, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE measurement SET median_ns = 1", NULL, NULL, NULL), SQLITE_OK);
    copy_file(wal, beside("-wal"));
    sqlite3_close(db);
    ck_assert_int_eq(chown(beside("-wal"), STRANGER, STRANGER), 0);
    ck_assert_int_eq(chmod(fixture_folder, 01777), 0);
    ck_fails(open_to(MT_STORE_READ_WRITE), MT_ERR_DB, "t.sqlite-wal: belongs to user 12345, neither to root nor to user 0");
    ck_fails(open_to(MT_STORE_READ_ONLY), MT_ERR_DB, "t.sqlite-wal: belongs to user 12345");
    ck_assert_int_eq(unlink(beside("-wal")), 0);
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM measurement WHERE median_ns = 100"), 1);
    ck_ok(open_to(MT_STORE_READ_WRITE));
}
END_TEST

START_TEST(what_lies_beside)
{
    static const char *const suffixes[] = {"-wal", "-journal", "-shm"};
    if (geteuid() != 0) return;
    mt_store_close(fixture_open());
    for (size_t i = 0; i < 3; i++) {
        for (int is_made = 0; is_made < 2; is_made++) { /* also beside a file that is not there yet */
            if (!is_made) ck_assert(unlink(fixture_db) == 0 || errno == ENOENT);
            else mt_store_close(fixture_open());
            FILE *file = fopen(beside(suffixes[i]), "w");
            ck_assert_ptr_nonnull(file);
            fputs("x", file);
            fclose(file);
            ck_assert_int_eq(chown(beside(suffixes[i]), STRANGER, STRANGER), 0);
            ck_fails(open_to(MT_STORE_READ_WRITE), MT_ERR_DB, "belongs to user 12345");
            ck_assert_ptr_nonnull(strstr(fixture_err.message, suffixes[i]));
            ck_assert_int_eq(chown(beside(suffixes[i]), 0, 0), 0);
            ck_assert_int_eq(chmod(beside(suffixes[i]), 0666), 0);
            ck_fails(open_to(MT_STORE_READ_WRITE), MT_ERR_DB, "others than its owner may write it (mode 666)");
            ck_assert_int_eq(unlink(beside(suffixes[i])), 0);
        }
    }
}
END_TEST

/* The file itself, and its folder. Whoever wrote it, one may look at it. */
START_TEST(the_file_and_its_folder)
{
    mt_store_close(fixture_open());
    ck_assert_int_eq(chmod(fixture_db, 0664), 0);
    ck_fails(open_to(MT_STORE_READ_WRITE), MT_ERR_DB, "chmod go-w");
    ck_ok(open_to(MT_STORE_READ_ONLY));
    unlink(beside("-wal")); /* a reader's, with the file's mode */
    unlink(beside("-shm"));
    ck_assert_int_eq(chmod(fixture_db, 0644), 0);
    ck_assert_int_eq(chmod(fixture_folder, 0777), 0);
    ck_fails(open_to(MT_STORE_READ_WRITE), MT_ERR_DB, "everybody may exchange files");
    ck_ok(open_to(MT_STORE_READ_ONLY));
    ck_assert_int_eq(chmod(fixture_folder, 01777), 0);
    ck_ok(open_to(MT_STORE_READ_WRITE));
    if (geteuid() != 0) return;
    ck_assert_int_eq(chown(fixture_folder, STRANGER, STRANGER), 0); /* root in somebody's folder: a container's, say */
    ck_ok(open_to(MT_STORE_READ_WRITE));
    ck_assert_int_eq(chown(fixture_db, STRANGER, STRANGER), 0); /* their own -wal is as good as their file */
    ck_ok(open_to(MT_STORE_READ_WRITE));
    ck_assert_int_eq(chown(fixture_folder, 0, 0), 0);
}
END_TEST

/* In a folder that is as /tmp: a link that leads to a file, to one that is not there yet, or to a folder. */
START_TEST(a_strangers_link)
{
    char link[160], target[200];
    if (geteuid() != 0) return;
    mt_store_close(fixture_open());
    snprintf(link, sizeof link, "%s/link", fixture_folder);
    ck_assert_int_eq(chmod(fixture_folder, 01777), 0);
    for (int i = 0; i < 4; i++) {
        snprintf(target, sizeof target, i == 0 ? "%s/t.sqlite" : i == 1 ? "%s/new.sqlite" : i == 2 ? "t.sqlite" : "%s", fixture_folder);
        ck_assert_int_eq(symlink(target, link), 0);
        if (i == 3) strcat(strcpy(target, link), "/new.sqlite");
        snprintf(fixture_db, sizeof fixture_db, "%.120s", i == 3 ? target : link);
        ck_assert_int_eq(lchown(link, STRANGER, STRANGER), 0);
        ck_fails(open_to(MT_STORE_READ_WRITE), MT_ERR_DB, "of user 12345, in a folder where everybody may make one; expected a link of root");
        snprintf(target, sizeof target, "%s/new.sqlite", fixture_folder);
        ck_assert(access(target, F_OK) != 0);
        ck_assert_int_eq(chmod(fixture_folder, 0755), 0); /* who may write there may do so */
        ck_ok(open_to(MT_STORE_READ_WRITE));
        unlink(target);
        ck_assert_int_eq(chmod(fixture_folder, 01777), 0);
        ck_assert_int_eq(lchown(link, 0, 0), 0);
        ck_ok(open_to(MT_STORE_READ_WRITE));
        unlink(target);
        ck_assert_int_eq(unlink(link), 0);
    }
    snprintf(fixture_db, sizeof fixture_db, "%.120s", link); /* links in a circle */
    ck_assert_int_eq(symlink("link", link), 0);
    ck_assert_int_ne(open_to(MT_STORE_READ_WRITE), MT_OK);
}
END_TEST

FIXTURE_MAIN("trust", a_strangers_link, a_strangers_wal, what_lies_beside, the_file_and_its_folder)
