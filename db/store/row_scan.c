#include "db/store/row_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/row_check.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

enum { TABLES = 20, LEFT_OUT_LIMIT = 100000 };

/* The rows of one table that are left out, ascending. */
typedef struct hidden {
    const char *table;
    int64_t *rows;
    size_t count, capacity;
} hidden;

typedef struct scan {
    mt_store *store;
    mt_left_out left_out;
    hidden tables[TABLES];
    size_t table_count;
} scan;

/* Tables behind those that they refer to. Not here: code (it is checked against its hash), and answers, which only the library reads. */
static const char *const scanned[] = {"device", "kernel", "shape", "workload", "toolchain", "variant", "subject", "session", "strike", "measurement", "anchor", "final_round", "finalist",
                                      "pruned", "landmark", "metric", "best"};

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Which table's rows a column holds the numbers of: measurement_id those of measurement. */
static const hidden *parent_of(const scan *s, const mt_row_column *column)
{
    size_t length = strlen(column->name);
    if (column->kind != MT_ROW_ID || length < 4) return NULL;
    for (size_t i = 0; i < s->table_count; i++) {
        const char *table = s->tables[i].table;
        size_t name = strcmp(table, "final_round") == 0 ? strlen("final") : strlen(table);
        if (name == length - 3 && strncmp(table, column->name, name) == 0) return &s->tables[i];
    }
    return NULL;
}

/* Whether the row at hand refers to one that is left out. */
static bool refers_to_hidden(const scan *s, const char *table, sqlite3_stmt *statement, char *why, size_t size)
{
    size_t count;
    const mt_row_column *columns = mt_row_columns(table, &count);
    for (size_t i = 0; i < count; i++) {
        const hidden *parent = parent_of(s, &columns[i]);
        if (!parent || !parent->count || sqlite3_column_type(statement, (int)i + 1) != SQLITE_INTEGER) continue;
        int64_t row = sqlite3_column_int64(statement, (int)i + 1);
        if (!bsearch(&row, parent->rows, parent->count, sizeof row, by_number)) continue;
        snprintf(why, size, "it refers to row %lld of %s, which is left out", (long long)row, parent->table);
        return true;
    }
    return false;
}

static mt_status hide(scan *s, hidden *h, int64_t row, const char *why, mt_error *err)
{
    int64_t *rows = mt_grow(h->rows, h->count, &h->capacity, sizeof *rows);
    if (!rows) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", s->store->path);
    h->rows = rows;
    h->rows[h->count++] = row;
    mt_left_out_name(&s->left_out, h->table, row, why);
    if (s->left_out.count <= LEFT_OUT_LIMIT) return MT_OK;
    return MT_FAIL(err, MT_ERR_DB, "%s: is damaged: it holds more than %d rows that no tuner writes", s->store->path, LEFT_OUT_LIMIT);
}

static mt_status scan_table(scan *s, const char *table, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_strbuf sql = {0};
    mt_status st = MT_OK;
    int code = SQLITE_DONE;
    size_t count;
    char why[600];
    const mt_row_column *columns = mt_row_columns(table, &count);
    hidden *h = &s->tables[s->table_count];
    h->table = table;
    mt_strbuf_addf(&sql, "SELECT %s", mt_row_number_of(table));
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(&sql, ", %s", columns[i].name);
    mt_strbuf_addf(&sql, " FROM main.%s ORDER BY 1", table);
    if (sql.failed) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", s->store->path);
        goto done;
    }
    MT_TRY(mt_sql_prepare(s->store, mt_strbuf_text(&sql), &statement, err));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (mt_row_at_hand_is_sound(table, statement, false, why, sizeof why) && !refers_to_hidden(s, table, statement, why, sizeof why)) continue;
        MT_TRY(hide(s, h, sqlite3_column_int64(statement, 0), why, err));
    }
    s->table_count++;
    if (code != SQLITE_DONE) st = mt_sql_fail(s->store, "check rows", err);
done:
    sqlite3_finalize(statement);
    mt_strbuf_free(&sql);
    return st;
}

/* Before 3.35 SQLite's switch for views, which is off for strangers' files, was for these too. The file's own schema, which holds none, was looked at when it was opened. */
static void allow_views(sqlite3 *db)
{
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    if (sqlite3_libversion_number() < 3035000) sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
#else
    (void)db;
#endif
}

static mt_status make_view(const scan *s, const hidden *h, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    char sql[256];
    mt_status st;
    MT_TRY(mt_sql_prepare(s->store, "INSERT OR IGNORE INTO temp.row_left_out VALUES (?, ?)", &statement, err));
    for (size_t i = 0; i < h->count; i++) {
        sqlite3_reset(statement);
        sqlite3_bind_text(statement, 1, h->table, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, h->rows[i]);
        if (sqlite3_step(statement) == SQLITE_DONE) continue;
        st = mt_sql_fail(s->store, "leave rows out", err);
        goto done;
    }
    snprintf(sql, sizeof sql, "CREATE TEMP VIEW %s AS SELECT * FROM main.%s WHERE %s NOT IN (SELECT row FROM temp.row_left_out WHERE in_table = '%s')", h->table, h->table, mt_row_number_of(h->table), h->table);
    st = mt_sql_exec(s->store, sql, err);
done:
    sqlite3_finalize(statement);
    return st;
}

static mt_status make_views(const scan *s, mt_error *err)
{
    mt_status st;
    allow_views(s->store->db);
    MT_TRY(mt_sql_exec(s->store, "CREATE TEMP TABLE row_left_out (in_table TEXT, row INTEGER, PRIMARY KEY (in_table, row)) WITHOUT ROWID", err));
    for (size_t i = 0; i < s->table_count && st == MT_OK; i++)
        if (s->tables[i].count) st = make_view(s, &s->tables[i], err);
done:
    return st;
}

mt_status mt_row_scan(mt_store *store, mt_error *err)
{
    scan s = {.store = store, .left_out = {.path = store->path}};
    mt_status st = MT_OK;
    for (size_t i = 0; i < sizeof scanned / sizeof *scanned && st == MT_OK; i++) st = scan_table(&s, scanned[i], err);
    if (st == MT_OK && s.left_out.count) st = make_views(&s, err);
    mt_left_out_end(&s.left_out);
    for (size_t i = 0; i < sizeof scanned / sizeof *scanned; i++) mt_free(s.tables[i].rows);
    return st;
}
