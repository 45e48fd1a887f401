/* What the files of db/ that make up the store share. Not for other folders: they include store.h, query.h and recording.h. */
#pragma once

#include <sqlite3.h>
#include <zstd.h>

#include "db/store/sql.h"
#include "db/store/store.h"

enum { MT_STORE_BUSY_MS = 30000, MT_STORE_STATEMENTS = 128 };

struct mt_store {
    sqlite3 *db;
    char *path;             /* as given, for messages */
    char *host;             /* of the session begun here, else the machine's */
    bool read_only;
    bool is_new;            /* this handle made the file */
    bool has_left_out;      /* it holds rows that break the rules: views hide them (row_scan.h), and temp.row_left_out lists them */
    bool is_row_refused;    /* the last INSERT of a row was given what breaks the rules */
    int depth;              /* of nested transactions; 0 = none open */
    mt_sql_cached statements[MT_STORE_STATEMENTS];
    size_t statement_count;
    mt_subject subject;     /* the last one resolved, and its id; 0 = none. Forgotten when a transaction is rolled back */
    int64_t subject_id;
    ZSTD_CCtx *compressor;  /* made at the first use */
    ZSTD_DCtx *unpacker;    /* likewise */
};

/* Nested transactions: the outermost is BEGIN IMMEDIATE (a writer must not start as a reader: SQLite can't upgrade a stale one and
 * the busy timeout does not help), inner ones are savepoints. `mt_tx_end` commits when st is MT_OK, else rolls back; it returns the
 * first failure. Every writing function is  MT_TRY(begin) … st = mt_tx_end(store, st, err). */
mt_status mt_tx_begin(mt_store *store, mt_error *err);
mt_status mt_tx_end(mt_store *store, mt_status st, mt_error *err);

/* Find-or-insert of table subject. */
mt_status mt_subject_id(mt_store *store, const mt_subject *subject, int64_t *id, mt_error *err);
/* The row of table subject without inserting; 0 = none. */
mt_status mt_subject_find(mt_store *store, const mt_subject *subject, int64_t *id, mt_error *err);
/* As mt_store_final_current, of a subject's number. */
mt_status mt_store_final_of(mt_store *store, int64_t subject, const mt_objective *objective, int64_t *final, mt_error *err);

/* Thread blocks of the largest cluster that a launch list asks for: "cluster" is a number or [x,y,z] in launch_json's objects. */
#define MT_CLUSTER_OF(table) \
    "(SELECT max(CASE json_type(l.value, '$.cluster') WHEN 'integer' THEN json_extract(l.value, '$.cluster') WHEN 'array' THEN " \
    "ifnull(json_extract(l.value, '$.cluster[0]'), 1) * ifnull(json_extract(l.value, '$.cluster[1]'), 1) * " \
    "ifnull(json_extract(l.value, '$.cluster[2]'), 1) ELSE 1 END) " \
    "FROM json_each(CASE WHEN json_valid(" table ".launch_json) THEN " table ".launch_json ELSE '{}' END, '$.launches') l WHERE l.type = 'object')"

mt_status mt_variant_id(mt_store *store, int64_t kernel, const char *text, int64_t *id, mt_error *err);
