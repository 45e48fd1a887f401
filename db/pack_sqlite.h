/* The database in a pack, opened by SQLite from memory: no file, no lock, no companion. The tuner's and the lookup library's way. */
#pragma once

#include <sqlite3.h>
#include <stdio.h>

#include "db/pack.h"

/* Weak, so that an SQLite without it (before 3.36 only by a switch of its build) is told and does not keep a program from starting. */
#pragma weak sqlite3_deserialize

/* *db: open, read-only, or NULL; `why` as of mt_pack_open. */
static inline mt_pack_verdict mt_pack_database(const mt_pack *pack, sqlite3 **db, char why[MT_PACK_WHY])
{
    const mt_pack_part *part = mt_pack_find(pack, MT_PACK_DATABASE);
    *db = NULL;
    if (!part || part->bytes > INT32_MAX) {
        snprintf(why, MT_PACK_WHY, "is damaged: holds no database");
        return MT_PACK_DAMAGED;
    }
    if (!sqlite3_deserialize) {
        snprintf(why, MT_PACK_WHY, "can't be read by SQLite %s, which was built without sqlite3_deserialize; 3.36 and later have it", sqlite3_libversion());
        return MT_PACK_UNREADABLE;
    }
    unsigned char *image = sqlite3_malloc64(mt_pack_padded(part->bytes));
    if (!image) return snprintf(why, MT_PACK_WHY, "out of memory"), MT_PACK_NO_MEMORY;
    mt_pack_verdict verdict = mt_pack_read(pack, part, image, why);
    int code = verdict == MT_PACK_OK ? sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_MEMORY, NULL) : SQLITE_OK;
    if (verdict == MT_PACK_OK && code == SQLITE_OK) { /* from here on the image is SQLite's, also where this fails */
        code = sqlite3_deserialize(*db, "main", image, (sqlite3_int64)part->bytes, (sqlite3_int64)mt_pack_padded(part->bytes), SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
        image = NULL;
    }
    sqlite3_free(image);
    if (verdict == MT_PACK_OK && code != SQLITE_OK) {
        snprintf(why, MT_PACK_WHY, "%s", sqlite3_errstr(code));
        verdict = code == SQLITE_NOMEM ? MT_PACK_NO_MEMORY : MT_PACK_DAMAGED;
    }
    if (verdict == MT_PACK_OK) return verdict;
    sqlite3_close(*db);
    *db = NULL;
    return verdict;
}
