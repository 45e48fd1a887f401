#include "db/store/row_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/current.h"
#include "db/store/row_check.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"

enum { TABLES = 20 };

typedef struct range { int64_t first, last; } range; /* numbers of rows, both included */

/* What is found of a table. */
typedef struct found {
    const char *table;
    range *sound;  /* rows, ascending; few, since numbers follow each other */
    int64_t *bad;  /* rows that are left out, ascending */
    size_t sound_count, bad_count, sound_capacity, bad_capacity;
} found;

typedef struct scan {
    mt_store *store;
    mt_left_out left_out;
    found tables[TABLES];
    size_t table_count;
} scan;

/* Tables behind those that they refer to. Not here: code, which is checked against its hash, and current results, which are joined with their measurements only. Answers are, though only the library reads them: what it
 * leaves out is named here too. */
static const char *const scanned[] = {"device", "kernel", "shape", "workload", "toolchain", "variant", "subject", "session", "strike", "measurement", "anchor", "final_round", "finalist",
                                      "library_comparison", "pruned", "error_limit", "landmark", "metric", "best", "answer"};

/* Which table's rows a column holds the numbers of: measurement_id those of measurement. */
static const found *parent_of(const scan *s, const mt_row_column *column)
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

static int by_place(const void *key, const void *element)
{
    int64_t row = *(const int64_t *)key;
    const range *r = element;
    return row < r->first ? -1 : row > r->last;
}

/* Whether the row at hand refers to one that is left out, or to none. */
static bool refers_to_nothing(const scan *s, const char *table, sqlite3_stmt *statement, char *why, size_t size)
{
    size_t count;
    const mt_row_column *columns = mt_row_columns(table, &count);
    for (size_t i = 0; i < count; i++) {
        const found *parent = parent_of(s, &columns[i]);
        if (!parent || sqlite3_column_type(statement, (int)i + 1) != SQLITE_INTEGER) continue;
        int64_t row = sqlite3_column_int64(statement, (int)i + 1);
        if (parent->sound_count && bsearch(&row, parent->sound, parent->sound_count, sizeof *parent->sound, by_place)) continue;
        snprintf(why, size, "it refers to row %lld of %s, which is not there or is left out", (long long)row, parent->table);
        return true;
    }
    return false;
}

static mt_status keep(const scan *s, found *f, int64_t row, mt_error *err)
{
    range *last = f->sound_count ? &f->sound[f->sound_count - 1] : NULL;
    if (last && row - 1 <= last->last) {
        last->last = row;
        return MT_OK;
    }
    range *added = MT_APPEND(f->sound, f->sound_count, f->sound_capacity);
    if (!added) return mt_no_memory(s->store->path, err);
    *added = (range){row, row};
    return MT_OK;
}

static mt_status leave_out(scan *s, found *f, int64_t row, const char *why, mt_error *err)
{
    int64_t *added = MT_APPEND(f->bad, f->bad_count, f->bad_capacity);
    if (!added) return mt_no_memory(s->store->path, err);
    *added = row;
    mt_left_out_name(&s->left_out, f->table, row, why);
    return MT_OK;
}

static mt_status scan_table(scan *s, const char *table, mt_error *err)
{
    mt_row_walk walk = {.db = s->store->db, .table = table};
    mt_status st = MT_OK;
    int code = SQLITE_DONE;
    char why[600];
    found *f = &s->tables[s->table_count];
    f->table = table;
    while ((code = mt_row_walk_next(&walk, why, sizeof why)) == SQLITE_ROW || code == SQLITE_TOOBIG) {
        sqlite3_stmt *statement = walk.statement;
        bool is_sound = code == SQLITE_ROW && mt_row_at_hand_is_sound(s->store, table, statement, why, sizeof why) && !refers_to_nothing(s, table, statement, why, sizeof why) && mt_row_at_hand_agrees(statement, why, sizeof why);
        MT_TRY(is_sound ? keep(s, f, walk.row, err) : leave_out(s, f, walk.row, why, err));
    }
    s->table_count++;
    if (code == SQLITE_NOMEM) st = mt_no_memory(s->store->path, err); /* perhaps ours, of which SQLite knows nothing */
    else if (code != SQLITE_DONE) st = mt_sql_fail(s->store, "check rows", err);
done:
    mt_row_walk_end(&walk);
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

static const char list_sql[] = "CREATE TEMP TABLE IF NOT EXISTS row_left_out (in_table TEXT, row INTEGER, PRIMARY KEY (in_table, row)) WITHOUT ROWID; DELETE FROM temp.row_left_out";

static mt_status make_view(const scan *s, const found *f, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    char sql[320];
    mt_status st;
    MT_TRY(mt_sql_prepare(s->store, "INSERT OR IGNORE INTO temp.row_left_out VALUES (?, ?)", &statement, err));
    for (size_t i = 0; i < f->bad_count; i++) {
        sqlite3_reset(statement);
        sqlite3_bind_text(statement, 1, f->table, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, f->bad[i]);
        if (sqlite3_step(statement) == SQLITE_DONE) continue;
        st = mt_sql_fail(s->store, "leave rows out", err);
        goto done;
    }
    /* A column that stands for the number may hold anything. Each row is looked for, since of a NOT IN every statement would make a table first. */
    const char *number = mt_row_number_of(f->table);
    snprintf(sql, sizeof sql, "CREATE TEMP VIEW %s AS SELECT * FROM main.%s t WHERE typeof(t.%s) = 'integer' AND NOT EXISTS (SELECT 1 FROM temp.row_left_out WHERE in_table = '%s' AND row = t.%s)", f->table, f->table, number, f->table, number);
    st = mt_sql_exec(s->store, sql, err);
done:
    sqlite3_finalize(statement);
    return st;
}

static mt_status make_views(const scan *s, mt_error *err)
{
    mt_status st;
    allow_views(s->store->db);
    MT_TRY(mt_sql_exec(s->store, list_sql, err));
    s->store->has_left_out = true;
    for (size_t i = 0; i < s->table_count && st == MT_OK; i++) {
        if (s->tables[i].bad_count) st = make_view(s, &s->tables[i], err);
    }
done:
    return st;
}

/* All tables as of one moment: others may write meanwhile, and a row must not seem to refer to what came after its table was read. */
static mt_status scan_tables(scan *s, mt_error *err)
{
    bool is_own = sqlite3_get_autocommit(s->store->db);
    mt_status st = is_own ? mt_sql_exec(s->store, "BEGIN", err) : MT_OK;
    if (st != MT_OK) return st;
    for (size_t i = 0; i < sizeof scanned / sizeof *scanned && st == MT_OK; i++) st = scan_table(s, scanned[i], err);
    mt_error ignored;
    mt_status ended = is_own ? mt_sql_exec(s->store, "COMMIT", st == MT_OK ? err : &ignored) : MT_OK;
    return st == MT_OK ? ended : st;
}

/* Of current results, too, which follow from the measurements that are left: what is older than a row that is left out counts. */
static mt_status check_current(const scan *s, mt_error *err)
{
    mt_error problem;
    if (mt_current_check(s->store, &problem) == MT_OK) return MT_OK;
    if (s->left_out.path && !s->left_out.count) mt_log_warn("%s; it is found anew", problem.message);
    allow_views(s->store->db);
    if (!s->store->has_left_out) {
        mt_status st = mt_sql_exec(s->store, list_sql, err);
        if (st != MT_OK) return st;
        s->store->has_left_out = true;
    }
    return mt_sql_exec(s->store, "CREATE TEMP VIEW current_result AS " MT_CURRENT_OF(""), err);
}

static mt_status scan_store(scan *s, mt_error *err)
{
    mt_status st = scan_tables(s, err);
    if (st == MT_OK && s->left_out.count) st = make_views(s, err);
    if (st == MT_OK) st = check_current(s, err);
    for (size_t i = 0; i < sizeof scanned / sizeof *scanned; i++) {
        mt_free(s->tables[i].sound);
        mt_free(s->tables[i].bad);
    }
    return st;
}

mt_status mt_row_scan(mt_store *store, mt_error *err)
{
    scan s = {.store = store, .left_out = {.path = store->path}};
    mt_status st = scan_store(&s, err);
    mt_left_out_end(&s.left_out);
    return st;
}

mt_status mt_row_scan_again(mt_store *store, mt_error *err)
{
    scan s = {.store = store};
    mt_status st = MT_OK;
    for (size_t i = 0; i < sizeof scanned / sizeof *scanned; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "DROP VIEW IF EXISTS temp.%s", scanned[i]);
        MT_TRY(mt_sql_exec(store, sql, err));
    }
    MT_TRY(mt_sql_exec(store, "DROP VIEW IF EXISTS temp.current_result", err));
    MT_TRY(mt_sql_exec(store, list_sql, err)); /* statements that read it may be prepared, whether any are left or none */
    st = scan_store(&s, err);
done:
    return st;
}

mt_status mt_row_is_left_out(mt_store *store, const char *table, int64_t row, bool *is, mt_error *err)
{
    *is = false;
    if (!store->has_left_out) return MT_OK;
    return mt_sql_one(store, "SELECT 1 FROM temp.row_left_out WHERE in_table = ? AND row = ?", "look for a row that is left out", MT_IN(MT_TEXT(table), MT_INT(row)), MT_OUT(MT_TO_BOOL(is)), err);
}

mt_status mt_row_mended(mt_store *store, const char *table, int64_t row, mt_error *err)
{
    mt_status st;
    bool is;
    MT_TRY(mt_row_is_left_out(store, table, row, &is, err));
    if (!is) goto done;
    MT_TRY(mt_row_scan_again(store, err));
    MT_TRY(mt_row_is_left_out(store, table, row, &is, err));
    if (is) st = MT_FAIL(err, MT_ERR_DB, "%s: row %lld of %s is damaged and left out, and what is to be stored refers to it: 'msda-tune merge %s --into FILE' makes a database without it", store->path, (long long)row, table, store->path);
done:
    return st;
}
