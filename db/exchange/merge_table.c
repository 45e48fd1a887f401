/* One table's rows of a part into the store, found by content. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/merge_internal.h"
#include "db/exchange/said.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"

mt_status mt_merge_no_memory(const char *path, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: merge: out of memory", path);
}

mt_status mt_merge_name_row(mt_merge *m, mt_status st)
{
    m->is_part_at_fault = true;
    return st;
}

/* ---- ids ---- */

static bool add_ids(mt_merge_ids *map, int64_t from, int64_t to)
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

static bool find_id(const mt_merge_ids *map, int64_t from, int64_t *to)
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

static mt_status name_columns(const mt_merge *m, mt_merge_table *t, mt_error *err)
{
    size_t count;
    const mt_row_column *columns = mt_row_columns(t->rule->table, &count);
    for (size_t i = 0; i < count; i++) {
        t->refers[i] = -1;
        for (const mt_merge_foreign *f = t->rule->foreign; f->column; f++)
            if (strcmp(f->column, columns[i].name) == 0) t->refers[i] = rule_index(f->table);
        t->columns[i] = columns[i].name;
    }
    t->count = (int)count;
    return count ? MT_OK : MT_FAIL(err, MT_ERR_DB, "%s: merge: table %s has no rules", m->store->path, t->rule->table);
}

static void add_columns(const mt_merge_table *t, mt_strbuf *sql)
{
    for (int i = 0; i < t->count; i++) mt_strbuf_addf(sql, "%s%s", i ? ", " : "", t->columns[i]);
}

/* "a = :a, b = :b" of a list "a, b"; "*": of all columns. */
static void add_assignments(const mt_merge_table *t, const char *list, mt_strbuf *sql)
{
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

static mt_status prepare(const mt_merge *m, const mt_merge_table *t, const mt_strbuf *sql, mt_merge_query *q, mt_error *err)
{
    mt_status st = sql->failed ? mt_merge_no_memory(m->store->path, err) : mt_sql_prepare(m->store, mt_strbuf_text(sql), &q->statement, err);
    for (int i = 0; i < t->count && st == MT_OK; i++) {
        char name[80];
        snprintf(name, sizeof name, ":%s", t->columns[i]);
        q->parameter[i] = sqlite3_bind_parameter_index(q->statement, name);
    }
    return st;
}

/* A row of the store that breaks the rules is none that is there: its twin, which keeps them, takes its place and its number. Sound ones are found first. */
static mt_status prepare_mending(mt_merge *m, mt_merge_table *t, const char *number, mt_error *err)
{
    mt_strbuf sql = {0};
    mt_status st;
    bool has_bad = m->store->has_left_out && t->rule->kind != MT_MERGE_CHOSEN;
    mt_strbuf_addf(&sql, "SELECT %s, ", number);
    if (has_bad) mt_strbuf_addf(&sql, "%s IN (SELECT row FROM temp.row_left_out WHERE in_table = '%s') AS is_bad FROM %s WHERE %s ORDER BY is_bad", number, t->rule->table, t->target, t->rule->match);
    else mt_strbuf_addf(&sql, "0 FROM %s WHERE %s", t->target, t->rule->match);
    MT_TRY(prepare(m, t, &sql, &t->find, err));
    if (!has_bad) goto done;
    mt_strbuf_clear(&sql);
    mt_strbuf_addf(&sql, "UPDATE %s SET ", t->target);
    add_assignments(t, "*", &sql);
    mt_strbuf_addf(&sql, " WHERE %s = :row", number);
    st = prepare(m, t, &sql, &t->mend, err);
done:
    mt_strbuf_free(&sql);
    return st;
}

/* A name that another one of the kernel has would make both of them what a person asks for by it. */
static void add_insert(const mt_merge_table *t, mt_strbuf *sql)
{
    const char *table = t->rule->table;
    mt_strbuf_addf(sql, "INSERT INTO %s (", t->target);
    add_columns(t, sql);
    mt_strbuf_add(sql, ") VALUES (");
    for (int i = 0; i < t->count; i++) {
        bool is_name = t->rule->is_named && strcmp(t->columns[i], "name") == 0;
        mt_strbuf_addf(sql, "%s", i ? ", " : "");
        if (is_name) mt_strbuf_addf(sql, "CASE WHEN :name <> '' AND EXISTS (SELECT 1 FROM main.%s o WHERE o.kernel_id = :kernel_id AND o.name = :name) THEN '%s-' || short_hash(:key) ELSE :name END", table, table);
        else mt_strbuf_addf(sql, ":%s", t->columns[i]);
    }
    mt_strbuf_add(sql, ")");
}

mt_status mt_merge_table_prepare(mt_merge *m, size_t rule, mt_error *err)
{
    mt_strbuf sql = {0};
    mt_status st;
    mt_merge_table *t = &m->tables[rule];
    t->rule = &mt_merge_rules[rule];
    const char *number = mt_row_number_of(t->rule->table);
    if (t->rule->kind == MT_MERGE_DERIVED || t->rule->kind == MT_MERGE_LOCAL) return MT_OK;
    snprintf(t->target, sizeof t->target, "%s%s", t->rule->kind == MT_MERGE_CHOSEN ? "temp.merge_" : "main.", t->rule->table);
    MT_TRY(name_columns(m, t, err));
    MT_TRY(prepare_mending(m, t, number, err));
    add_insert(t, &sql);
    MT_TRY(prepare(m, t, &sql, &t->insert, err));
    if (!t->rule->wins) goto done;
    mt_strbuf_clear(&sql);
    mt_strbuf_addf(&sql, "UPDATE %s SET ", t->target);
    add_assignments(t, t->rule->replaces, &sql);
    mt_strbuf_addf(&sql, " WHERE (%s) AND (%s)", t->rule->match, t->rule->wins);
    st = prepare(m, t, &sql, &t->update, err);
done:
    mt_strbuf_free(&sql);
    return st;
}

void mt_merge_table_free(mt_merge_table *t)
{
    sqlite3_stmt *statements[] = {t->find.statement, t->insert.statement, t->update.statement, t->mend.statement};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) sqlite3_finalize(statements[i]);
    mt_free(t->ids.from);
    mt_free(t->ids.to);
}

/* ---- rows ---- */

static void leave_out_row(mt_merge *m, const mt_merge_table *t, int64_t row, const char *why)
{
    mt_left_out_name(&m->left_out, t->rule->table, row, why);
    m->counts->rows_left_out++;
}

static void leave_out(mt_merge *m, const mt_merge_table *t, sqlite3_stmt *read, const char *why)
{
    leave_out_row(m, t, sqlite3_column_int64(read, 0), why);
}

/* Binds what the statement takes of the row at hand, ids as the store has them. *is_out: it refers to a row that is not there, or was left out. */
static mt_status bind_row(mt_merge *m, const mt_merge_table *t, sqlite3_stmt *read, const mt_merge_query *q, bool *is_out, mt_error *err)
{
    sqlite3_stmt *statement = q->statement;
    char why[200];
    *is_out = false;
    sqlite3_reset(statement);
    for (int i = 0; i < t->count && !*is_out; i++) {
        int64_t to;
        int parameter = q->parameter[i], code;
        if (!parameter) continue;
        if (t->refers[i] < 0 || sqlite3_column_type(read, i + 1) == SQLITE_NULL) {
            code = sqlite3_bind_value(statement, parameter, sqlite3_column_value(read, i + 1));
        } else {
            int64_t from = sqlite3_column_int64(read, i + 1);
            *is_out = !find_id(&m->tables[t->refers[i]].ids, from, &to);
            code = *is_out ? SQLITE_OK : sqlite3_bind_int64(statement, parameter, to);
            if (*is_out) snprintf(why, sizeof why, "it refers to row %lld of %s, which is not there or is left out", (long long)from, mt_merge_rules[t->refers[i]].table);
        }
        if (code != SQLITE_OK) return mt_sql_fail(m->store, t->rule->table, err);
    }
    if (*is_out) leave_out(m, t, read, why);
    return MT_OK;
}

static void forget_knobs(mt_merge *m)
{
    for (size_t i = 0; i < MT_MERGE_KNOBS; i++) mt_known_knobs_free(&m->knobs[i]);
}

/* *is_out: a variant that its kernel's expressions, which are merged before, do not know. */
static mt_status check_knobs(mt_merge *m, const mt_merge_table *t, sqlite3_stmt *read, bool *is_out, mt_error *err)
{
    enum { KERNEL = 1, TEXT };
    int64_t kernel;
    char why[200];
    mt_status st = MT_OK;
    *is_out = false;
    if (strcmp(t->rule->table, "variant") != 0 || !find_id(&m->tables[t->refers[0]].ids, sqlite3_column_int64(read, KERNEL), &kernel)) return st;
    mt_known_knobs *knobs = &m->knobs[(uint64_t)kernel % MT_MERGE_KNOBS];
    if (knobs->kernel != kernel) MT_TRY(mt_known_knobs_read(m->store, kernel, knobs, err));
    *is_out = !mt_known_knobs_cover(knobs, mt_sql_column(read, TEXT), why, sizeof why);
    if (*is_out) leave_out(m, t, read, why);
done:
    return st;
}

/* *is_out: the store's own constraints refuse the row. */
static mt_status step(mt_merge *m, const mt_merge_table *t, sqlite3_stmt *read, const mt_merge_query *q, bool *row, bool *is_out, mt_error *err)
{
    int code = sqlite3_step(q->statement);
    *row = code == SQLITE_ROW;
    *is_out = (code & 0xff) == SQLITE_CONSTRAINT;
    if (*is_out) leave_out(m, t, read, sqlite3_errmsg(m->store->db));
    return code == SQLITE_ROW || code == SQLITE_DONE || *is_out ? MT_OK : mt_sql_fail(m->store, t->rule->table, err);
}

static void count_row(const mt_merge *m, const mt_merge_table *t, bool is_new)
{
    mt_merge_counts *c = m->counts;
    if (strcmp(t->rule->table, "measurement") == 0) (*(is_new ? &c->measurements : &c->known))++;
    else if (!is_new) return;
    else if (strcmp(t->rule->table, "session") == 0) c->sessions++;
    else if (strcmp(t->rule->table, "subject") == 0) c->subjects++;
    else if (strcmp(t->rule->table, "cubin") == 0) c->cubins++;
}

/* Expressions that no lookup can read are no kernel's. */
static mt_status check_programs(mt_merge *m, const mt_merge_table *t, sqlite3_stmt *read, bool *is_out, mt_error *err)
{
    enum { SPEC = 3 };
    char why[300];
    bool are_sound = true;
    mt_status st = strcmp(t->rule->table, "kernel") == 0 ? mt_said_check_spec(mt_sql_column(read, SPEC), &are_sound, why, sizeof why, err) : MT_OK;
    *is_out = st == MT_OK && !are_sound;
    if (*is_out) leave_out(m, t, read, why);
    return st;
}

/* Tells where the part calls it otherwise; the first few times. */
static mt_status tell_name(mt_merge *m, const mt_merge_table *t, sqlite3_stmt *read, int64_t id, mt_error *err)
{
#define OTHER_NAME(table) "SELECT name FROM main." table " WHERE id = ?1 AND name <> ?2 AND ?2 <> '' AND ?2 NOT GLOB '" table "-[0-9a-f]*'"
    enum { KEY = 2, NAME, TOLD = 5 };
    char *stored = NULL;
    const char *table = t->rule->table, *name = mt_sql_column(read, NAME);
    mt_status st = mt_sql_one(m->store, strcmp(table, "shape") == 0 ? OTHER_NAME("shape") : OTHER_NAME("workload"), "read a name", MT_IN(MT_INT(id), MT_TEXT(name)), MT_OUT(MT_TO_TEXT(&stored)), err);
    if (stored && m->other_names++ < TOLD) mt_log_warn("%s: %s %.100s is called \"%.60s\" there and stays \"%.60s\"", m->path, table, mt_sql_column(read, KEY), name, stored);
    mt_free(stored);
    return st;
}

/* Tells where the part has a kernel's expressions otherwise: lookups evaluate one of the two for the rows of both. */
static mt_status tell_expressions(mt_merge *m, sqlite3_stmt *read, int64_t id, mt_error *err)
{
    enum { NAME = 1, KEY, SPEC };
    static const char sql[] = "SELECT count(*) FROM main.kernel WHERE id = ?1 AND spec_rank(spec_json) GLOB '[0-9]*' AND spec_rank(?2) GLOB '[0-9]*' AND spec_rank(spec_json) <> spec_rank(?2)";
    int64_t others = 0;
    mt_status st = mt_sql_one(m->store, sql, "compare expressions", MT_IN(MT_INT(id), MT_TEXT(mt_sql_column(read, SPEC))), MT_OUT(MT_TO_INT(&others)), err);
    if (others) mt_log_warn("%s: %s@%.8s has other expressions there (constraints, launches); those that %s has already stay, for the rows of both", m->path, mt_sql_column(read, NAME), mt_sql_column(read, KEY), m->store->path);
    return st;
}

/* The row at hand is sound, and so is what it refers to. */
static mt_status write_row(mt_merge *m, mt_merge_table *t, sqlite3_stmt *read, mt_error *err)
{
    mt_status st;
    bool is_there, row, is_out;
    MT_TRY(step(m, t, read, &t->find, &is_there, &is_out, err));
    int64_t id = is_there ? sqlite3_column_int64(t->find.statement, 0) : 0;
    bool is_bad = is_there && sqlite3_column_int(t->find.statement, 1);
    sqlite3_reset(t->find.statement);
    if (is_there && strcmp(t->rule->table, "kernel") == 0) MT_TRY(tell_expressions(m, read, id, err));
    const mt_merge_query *write = is_bad ? &t->mend : is_there ? &t->update : &t->insert;
    if (write->statement) {
        MT_TRY(bind_row(m, t, read, write, &is_out, err));
        if (is_bad) sqlite3_bind_int64(write->statement, sqlite3_bind_parameter_index(write->statement, ":row"), id);
        if (!is_out) MT_TRY(step(m, t, read, write, &row, &is_out, err));
        sqlite3_reset(write->statement);
        if (is_out) goto done;
    }
    if (!is_there) id = sqlite3_last_insert_rowid(m->store->db);
    if (t->rule->is_named) MT_TRY(tell_name(m, t, read, id, err));
    if (t->rule->has_id && !add_ids(&t->ids, sqlite3_column_int64(read, 0), id)) MT_LEAVE(mt_merge_no_memory(m->path, err));
    m->has_mended = m->has_mended || is_bad;
    count_row(m, t, !is_there || is_bad);
done:
    return st;
}

static mt_status merge_row(mt_merge *m, mt_merge_table *t, sqlite3_stmt *read, mt_error *err)
{
    mt_status st;
    bool is_out;
    char why[600];
    if (!mt_row_at_hand_is_sound(m->store, t->rule->table, read, why, sizeof why)) {
        leave_out(m, t, read, why);
        return MT_OK;
    }
    MT_TRY(check_knobs(m, t, read, &is_out, err));
    if (!is_out) MT_TRY(check_programs(m, t, read, &is_out, err));
    if (!is_out) MT_TRY(bind_row(m, t, read, &t->find, &is_out, err));
    if (!is_out && !mt_row_at_hand_agrees(read, why, sizeof why)) {
        leave_out(m, t, read, why);
        is_out = true;
    }
    if (!is_out) st = write_row(m, t, read, err);
done:
    return st;
}

static mt_status count_left_out(mt_merge *m, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(m->part, "SELECT count(*) FROM cubin", -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return mt_merge_name_row(m, mt_sql_fail_handle(m->part, m->path, "cubin", err));
    }
    m->counts->cubins_left_out += sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return MT_OK;
}

/* A statement that failed half-way would keep its part from being rolled back; values of the last row need not wait for the next part. */
static void let_go(const mt_merge_query *q)
{
    sqlite3_reset(q->statement);
    sqlite3_clear_bindings(q->statement);
}

mt_status mt_merge_table_rows(mt_merge *m, size_t rule, mt_error *err)
{
    mt_merge_table *t = &m->tables[rule];
    mt_row_walk walk = {.db = m->part, .table = t->rule->table};
    char why[200];
    mt_status st = MT_OK;
    int code;
    t->ids.count = 0;
    if (!t->find.statement) return MT_OK;
    if (t->rule->kind == MT_MERGE_CUBINS && !m->options.with_cubins) return count_left_out(m, err);
    while ((code = mt_row_walk_next(&walk, why, sizeof why)) == SQLITE_ROW || code == SQLITE_TOOBIG) {
        if (code == SQLITE_ROW) MT_TRY(merge_row(m, t, walk.statement, err));
        else leave_out_row(m, t, walk.row, why);
    }
    if (code == SQLITE_NOMEM) st = mt_no_memory(m->path, err);
    else if (code != SQLITE_DONE) st = mt_merge_name_row(m, mt_sql_fail_handle(m->part, m->path, t->rule->table, err));
done:
    mt_row_walk_end(&walk);
    forget_knobs(m);
    if (t->find.statement) let_go(&t->find);
    if (t->insert.statement) let_go(&t->insert);
    if (t->update.statement) let_go(&t->update);
    if (t->mend.statement) let_go(&t->mend);
    return st;
}
