/* The file under a store: what file system it lies on, how SQLite must open it there, and what is wrong with it when that fails. */
#pragma once

#include <sqlite3.h>

#include "db/store/store.h"

typedef enum mt_fs {
    MT_FS_LOCAL,    /* shared memory and locks work: WAL */
    MT_FS_REMOTE,   /* network or user-space file system, or unknown: no WAL (its index is memory shared by one host only) */
    MT_FS_LOCKLESS  /* remote, and POSIX locks fail: a lock file stands in for them */
} mt_fs;

/* By statfs' f_type alone: LOCAL or REMOTE. Unknown types are REMOTE: slower, but never wrong. */
mt_fs mt_fs_of_type(long type);
/* Of the folder that holds `path`. On a REMOTE one locks are tried on a probe file. */
mt_fs mt_fs_of(const char *path);
/* Tests only: mt_fs_of answers this; -1 = ask the system again. */
void mt_fs_pretend(int fs);

/* Opens and sets up the handle: limits, defensive settings, foreign keys, journal. The schema is not looked at.
 * path ":memory:" makes a private database that is gone after closing. */
mt_status mt_store_file_open(const char *path, mt_store_mode mode, sqlite3 **db, mt_error *err);

/* All pages of `from`, whose path is `path`, into the empty `to`. */
mt_status mt_store_file_copy(sqlite3 *from, sqlite3 *to, const char *path, mt_error *err);

/* The file keeps changes in its -wal, and has none beside it: that of an empty database may be a copy without its rows. */
bool mt_store_file_lacks_wal(sqlite3 *db, const char *path);

/* Settings that keep a stranger's rows from being more than rows. mt_store_file_open makes them. */
void mt_store_file_defend(sqlite3 *db);
