/* One file's rows into another, table by table, row by row. Two handles: the part is a stranger's file, and stays apart from the one that is written. */
#include "db/merge.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "db/migrate.h"
#include "db/store_file.h"
#include "db/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

enum { MAX_COLUMNS = 64, MAX_RULES = 64, PATIENCE_MS = 30 * 60 * 1000 /* another merge may have much to put in order */ };

/* ids of a table's rows in the part, ascending, and in the store. */
typedef struct id_map {
    int64_t *from, *to;
    size_t count, from_capacity, to_capacity;
} id_map;

typedef struct merger {
    mt_store *store;
    const char *path;       /* of the part */
    sqlite3 *part;
    const mt_merge_options *options;
    mt_merge_counts *counts;
    id_map maps[MAX_RULES]; /* by rule */
} merger;

/* A statement on the store that takes values of a row of the part. */
typedef struct query {
    sqlite3_stmt *statement;    /* NULL = the table has none */
    int parameter[MAX_COLUMNS]; /* that the column's value is bound to; 0 = not used */
} query;

/* One table under way. */
typedef struct table {
    const mt_merge_rule *rule;
    id_map *map;
    char target[64];                 /* the table that is written */
    char *columns[MAX_COLUMNS];      /* without id */
    int refers[MAX_COLUMNS];         /* index of the rule whose ids the column holds; −1 = none */
    int count;
    sqlite3_stmt *read;
    query find, insert, update;
} table;

/* ---- ids ---- */

static bool id_map_add(id_map *map, int64_t from, int64_t to)
{
    int64_t *a = mt_grow(map->from, map->count, &map->from_capacity, sizeof *a);
    if (a) map->from = a;
    int64_t *b = a ? mt_grow(map->to, map->count, &map->to_capacity, sizeof *b) : NULL;
    if (!b) return false;
    map->to = b;
    map->from[map->count] = from;
    map->to[map->count++] = to;
    return true;
}

static bool id_map_find(const id_map *map, int64_t from, int64_t *to)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->from[middle] < from) low = middle + 1;
        else high = middle;
    }
    if (low == map->count || map->from[low] != from) return false;
    *to = map->to[low];
    return true;
}

static int rule_index(const char *name)
{
    for (size_t i = 0; i < mt_merge_rule_count; i++)
        if (strcmp(mt_merge_rules[i].table, name) == 0) return (int)i;
    return -1;
}

/* ---- statements of a table ---- */

static mt_status no_memory(const merger *m, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: merge: out of memory", m->path);
}

static mt_status read_columns(const merger *m, table *t, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_strbuf sql = {0};
    mt_status st = MT_OK;
    mt_strbuf_addf(&sql, "PRAGMA table_info(%s)", t->rule->table);
    MT_TRY(mt_sql_prepare(m->store, mt_strbuf_text(&sql), &statement, err));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = mt_sql_column(statement, 1);
        if (t->rule->has_id && strcmp(name, "id") == 0) continue;
        t->refers[t->count] = -1;
        for (const mt_merge_foreign *f = t->rule->foreign; f->column; f++)
            if (strcmp(f->column, name) == 0) t->refers[t->count] = rule_index(f->table);
        t->columns[t->count] = mt_strdup(name);
        if (!t->columns[t->count++] || t->count == MAX_COLUMNS) {
            st = no_memory(m, err);
            goto done;
        }
    }
done:
    sqlite3_finalize(statement);
    mt_strbuf_free(&sql);
    return st;
}

static void add_columns(const table *t, const char *prefix, mt_strbuf *sql)
{
    for (int i = 0; i < t->count; i++) mt_strbuf_addf(sql, "%s%s%s", i ? ", " : "", prefix, t->columns[i]);
}

/* "a = :a, b = :b" of a list "a, b". */
static void add_assignments(const table *t, mt_strbuf *sql)
{
    const char *list = t->rule->replaces;
    bool is_first = true;
    for (int i = 0; i < t->count; i++) {
        const char *at = strstr(list, t->columns[i]);
        size_t length = strlen(t->columns[i]);
        while (at && !((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))) at = strstr(at + 1, t->columns[i]);
        if (!at && strcmp(list, "*") != 0) continue;
        mt_strbuf_addf(sql, "%s%s = :%s", is_first ? "" : ", ", t->columns[i], t->columns[i]);
        is_first = false;
    }
}

static mt_status prepare(const merger *m, const table *t, const mt_strbuf *sql, query *q, mt_error *err)
{
    mt_status st = sql->failed ? no_memory(m, err) : mt_sql_prepare(m->store, mt_strbuf_text(sql), &q->statement, err);
    for (int i = 0; i < t->count && st == MT_OK; i++) {
        char name[80];
        snprintf(name, sizeof name, ":%s", t->columns[i]);
        q->parameter[i] = sqlite3_bind_parameter_index(q->statement, name);
    }
    return st;
}

static mt_status prepare_table(const merger *m, table *t, mt_error *err)
{
    mt_strbuf sql = {0};
    mt_status st;
    const char *id = t->rule->has_id ? "id" : "0";
    MT_TRY(read_columns(m, t, err));
    mt_strbuf_addf(&sql, "SELECT %s, ", id);
    add_columns(t, "", &sql);
    mt_strbuf_addf(&sql, " FROM %s%s", t->rule->table, t->rule->has_id ? " ORDER BY id" : "");
    if (sql.failed || sqlite3_prepare_v2(m->part, mt_strbuf_text(&sql), -1, &t->read, NULL) != SQLITE_OK) {
        st = sql.failed ? no_memory(m, err) : mt_sql_fail_handle(m->part, m->path, t->rule->table, err);
        goto done;
    }
    mt_strbuf_clear(&sql);
    mt_strbuf_addf(&sql, "SELECT %s FROM %s WHERE %s", id, t->target, t->rule->match);
    MT_TRY(prepare(m, t, &sql, &t->find, err));
    mt_strbuf_clear(&sql);
    mt_strbuf_addf(&sql, "INSERT INTO %s (", t->target);
    add_columns(t, "", &sql);
    mt_strbuf_add(&sql, ") VALUES (");
    add_columns(t, ":", &sql);
    mt_strbuf_add(&sql, ")");
    MT_TRY(prepare(m, t, &sql, &t->insert, err));
    if (!t->rule->wins) goto done;
    mt_strbuf_clear(&sql);
    mt_strbuf_addf(&sql, "UPDATE %s SET ", t->target);
    add_assignments(t, &sql);
    mt_strbuf_addf(&sql, " WHERE (%s) AND (%s)", t->rule->match, t->rule->wins);
    st = prepare(m, t, &sql, &t->update, err);
done:
    mt_strbuf_free(&sql);
    return st;
}

static void free_table(table *t)
{
    sqlite3_stmt *statements[] = {t->read, t->find.statement, t->insert.statement, t->update.statement};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) sqlite3_finalize(statements[i]);
    for (int i = 0; i < t->count; i++) mt_free(t->columns[i]);
}

/* ---- rows ---- */

/* Binds what the statement takes of the row at hand, ids as the store has them. */
static mt_status bind_row(const merger *m, const table *t, const query *q, mt_error *err)
{
    sqlite3_stmt *statement = q->statement;
    sqlite3_reset(statement);
    for (int i = 0; i < t->count; i++) {
        int64_t to;
        int parameter = q->parameter[i], code;
        if (!parameter) continue;
        if (t->refers[i] < 0 || sqlite3_column_type(t->read, i + 1) == SQLITE_NULL) {
            code = sqlite3_bind_value(statement, parameter, sqlite3_column_value(t->read, i + 1));
        } else {
            int64_t from = sqlite3_column_int64(t->read, i + 1);
            if (!id_map_find(&m->maps[t->refers[i]], from, &to))
                return MT_FAIL(err, MT_ERR_DB, "%s: is damaged: a row of %s refers to row %lld of %s, which is not there", m->path, t->rule->table, (long long)from,
                               mt_merge_rules[t->refers[i]].table);
            code = sqlite3_bind_int64(statement, parameter, to);
        }
        if (code != SQLITE_OK) return mt_sql_fail(m->store, t->rule->table, err);
    }
    return MT_OK;
}

static mt_status step(const merger *m, const table *t, const query *q, bool *row, mt_error *err)
{
    int code = sqlite3_step(q->statement);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return MT_OK;
    mt_status st = mt_sql_fail(m->store, t->rule->table, err);
    return (code & 0xff) == SQLITE_CONSTRAINT ? mt_error_prefix(err, st, "%s holds a row that no tuner writes", m->path) : st;
}

static void count_row(const merger *m, const table *t, bool is_new)
{
    mt_merge_counts *c = m->counts;
    if (strcmp(t->rule->table, "measurement") == 0) (*(is_new ? &c->measurements : &c->known))++;
    else if (!is_new) return;
    else if (strcmp(t->rule->table, "session") == 0) c->sessions++;
    else if (strcmp(t->rule->table, "subject") == 0) c->subjects++;
    else if (strcmp(t->rule->table, "cubin") == 0) c->cubins++;
}

static mt_status merge_row(merger *m, table *t, mt_error *err)
{
    mt_status st;
    bool is_there, row;
    MT_TRY(bind_row(m, t, &t->find, err));
    MT_TRY(step(m, t, &t->find, &is_there, err));
    int64_t id = is_there ? sqlite3_column_int64(t->find.statement, 0) : 0;
    sqlite3_reset(t->find.statement);
    const query *write = is_there ? &t->update : &t->insert;
    if (write->statement) {
        MT_TRY(bind_row(m, t, write, err));
        MT_TRY(step(m, t, write, &row, err));
        sqlite3_reset(write->statement);
    }
    if (!is_there) id = sqlite3_last_insert_rowid(m->store->db);
    if (t->rule->has_id && !id_map_add(t->map, sqlite3_column_int64(t->read, 0), id)) {
        st = no_memory(m, err);
        goto done;
    }
    count_row(m, t, !is_there);
done:
    return st;
}

static mt_status count_left_out(merger *m, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(m->part, "SELECT count(*) FROM cubin", -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return mt_sql_fail_handle(m->part, m->path, "cubin", err);
    }
    m->counts->cubins_left_out += sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return MT_OK;
}

static mt_status merge_table(merger *m, size_t index, mt_error *err)
{
    table t = {.rule = &mt_merge_rules[index], .map = &m->maps[index]};
    mt_status st;
    int code;
    if (t.rule->kind == MT_MERGE_DERIVED || t.rule->kind == MT_MERGE_LOCAL) return MT_OK;
    if (t.rule->kind == MT_MERGE_CUBINS && !m->options->with_cubins) return count_left_out(m, err);
    snprintf(t.target, sizeof t.target, "%s%s", t.rule->kind == MT_MERGE_CHOSEN ? "temp.merge_" : "main.", t.rule->table);
    MT_TRY(prepare_table(m, &t, err));
    while ((code = sqlite3_step(t.read)) == SQLITE_ROW) MT_TRY(merge_row(m, &t, err));
    if (code != SQLITE_DONE) st = mt_sql_fail_handle(m->part, m->path, t.rule->table, err);
done:
    free_table(&t);
    return st;
}

/* ---- the part ---- */

static mt_status number_of(sqlite3 *db, const char *path, const char *sql, const char *what, int64_t *value, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    mt_status st = MT_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) *value = sqlite3_column_int64(statement, 0);
    else st = mt_sql_fail_handle(db, path, what, err);
    sqlite3_finalize(statement);
    return st;
}

/* An older schema is migrated in a copy, a temporary file of SQLite's that vanishes with its handle: the part itself is not touched. */
static mt_status copy_older(sqlite3 **db, const char *path, mt_error *err)
{
    sqlite3 *copy = NULL;
    mt_status st = MT_OK;
    if (sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
        st = mt_sql_fail_handle(copy, path, "copy", err);
        goto done;
    }
    mt_store_file_defend(copy);
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", *db, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE) st = mt_sql_fail_handle(backup ? *db : copy, path, "copy", err);
    sqlite3_backup_finish(backup);
    if (st == MT_OK) st = mt_migrate(copy, path, false, err);
done:
    sqlite3_close(*db);
    *db = st == MT_OK ? copy : NULL;
    if (st != MT_OK) sqlite3_close(copy);
    return st;
}

static mt_status open_part(const char *path, bool copies, sqlite3 **db, mt_error *err)
{
    mt_status st;
    int64_t application = 0, version = 0;
    *db = NULL;
    MT_TRY(mt_store_file_open(path, MT_STORE_READ_ONLY, db, err));
    MT_TRY(number_of(*db, path, "PRAGMA application_id", "read the schema version", &application, err));
    MT_TRY(number_of(*db, path, "PRAGMA user_version", "read the schema version", &version, err));
    bool is_older = application == MT_SCHEMA_APPLICATION_ID && version >= 1 && version < MT_SCHEMA_VERSION;
    if (!is_older) st = mt_migrate(*db, path, true, err);
    else if (copies) st = copy_older(db, path, err);
done:
    return st;
}

mt_status mt_merge_check(const char *into, const char *path, int64_t *oldest_unix_ms, mt_error *err)
{
    struct stat a, b;
    sqlite3 *part = NULL;
    mt_status st;
    if (stat(path, &a) == 0 && stat(into, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return MT_FAIL(err, MT_ERR_USAGE, "%s: is the database that is merged into; expected other ones", path);
    MT_TRY(open_part(path, false, &part, err));
    st = number_of(part, path, "SELECT ifnull(min(created_unix_ms), 9223372036854775807) FROM measurement", "read measurements", oldest_unix_ms, err);
done:
    sqlite3_close(part);
    return st;
}

mt_status mt_merge_kernels(const char *path, mt_merge_kernel_callback callback, void *context, mt_error *err)
{
    sqlite3 *part = NULL;
    sqlite3_stmt *statement = NULL;
    mt_status st;
    int code = SQLITE_DONE;
    MT_TRY(open_part(path, false, &part, err));
    if (sqlite3_prepare_v2(part, "SELECT name, key FROM kernel ORDER BY name, key", -1, &statement, NULL) != SQLITE_OK) {
        st = mt_sql_fail_handle(part, path, "read kernels", err);
        goto done;
    }
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) MT_TRY(callback(context, mt_sql_column(statement, 0), mt_sql_column(statement, 1), err));
    if (code != SQLITE_DONE) st = mt_sql_fail_handle(part, path, "read kernels", err);
done:
    sqlite3_finalize(statement);
    sqlite3_close(part);
    return st;
}

static mt_status merge_all(merger *m, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(m->store, err));
    st = mt_sql_exec(m->store, "CREATE TEMP TABLE IF NOT EXISTS merge_landmark (subject_id INTEGER, role TEXT, variant_id INTEGER)", err);
    for (size_t i = 0; i < mt_merge_rule_count && st == MT_OK; i++) st = merge_table(m, i, err);
    st = mt_tx_end(m->store, st, err);
done:
    return st;
}

mt_status mt_merge_part(mt_store *store, const char *path, const mt_merge_options *options, mt_merge_counts *counts, mt_error *err)
{
    mt_status st;
    mt_merge_counts own = *counts;
    merger m = {.store = store, .path = path, .options = options, .counts = &own};
    MT_TRY(open_part(path, true, &m.part, err));
    sqlite3_busy_timeout(store->db, PATIENCE_MS);
    if (sqlite3_exec(m.part, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) { /* one state of it */
        st = mt_sql_fail_handle(m.part, path, "read", err);
        goto done;
    }
    MT_TRY(merge_all(&m, err));
    *counts = own;
done:
    for (size_t i = 0; i < MAX_RULES; i++) {
        mt_free(m.maps[i].from);
        mt_free(m.maps[i].to);
    }
    sqlite3_close(m.part);
    return st;
}
