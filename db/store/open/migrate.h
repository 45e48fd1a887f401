/* Schema versions: user_version steps, each in a transaction of its own. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "tuner/base/status.h"

enum { MT_SCHEMA_VERSION = 11, MT_SCHEMA_APPLICATION_ID = 0x6d736474 /* "msdt" */ };

/* Brings an opened database to MT_SCHEMA_VERSION; an empty one gets the schema. Files from schema 7 on are updated; older ones, newer ones and another program's database are refused.
 * read_only: nothing is written, so an older file is refused too, and an empty one is NOT_FOUND: its first writer may be at it, or may have been killed there. Safe against a second process doing the same. */
mt_status mt_migrate(sqlite3 *db, const char *path, bool read_only, mt_error *err);
