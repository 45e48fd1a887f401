/* What stands behind a row of table answer: it repeats what other tables say, and is handed out as exact and validated only where they say so still. */
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "db/row_relations.h"
#include "db/row_sqlite.h"

/* Of an answer: its own rows, which stand beside it in one statement, and those that many answers share. */
static const char *const tables[] = { "measurement", "subject", "shape", "best", "finalist", "session", "variant", "workload", "toolchain", "device", "final_round" };
enum { MEASUREMENT, SUBJECT, SHAPE, BEST, FINALIST, OWN, SESSION = OWN, VARIANT, WORKLOAD, TOOLCHAIN, DEVICE, FINAL, TABLES };
_Static_assert((int)TABLES == (int)MT_LOOKUP_BACKING_TABLES, "a statement each");

/* Of files of older schemas, which lack columns that may be empty. */
static bool has_column(const mt_lookup_loader *loader, const char *table, const mt_row_column *column)
{
    return column->is_required || sqlite3_table_column_metadata(loader->db, "main", table, column->name, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static size_t add_columns(mt_lookup_loader *loader, char *sql, size_t size, int table)
{
    size_t used = 0, *count = &loader->backing.rules[table].count;
    const mt_row_column *columns = loader->backing.rules[table].columns = mt_row_columns(tables[table], count);
    for (size_t i = 0; i < *count; i++) {
        if (has_column(loader, tables[table], &columns[i])) used += (size_t)snprintf(sql + used, size - used, "%s %s.%s", i ? "," : "", tables[table], columns[i].name);
        else used += (size_t)snprintf(sql + used, size - used, "%s NULL", i ? "," : "");
    }
    return used;
}

void mt_lookup_backing_add_columns(mt_lookup_loader *loader, char *sql, size_t size)
{
    size_t used = strlen(sql);
    for (int table = 0; table < OWN; table++) {
        sql[used++] = ',';
        used += add_columns(loader, sql + used, size - used, table);
    }
    snprintf(sql + used, size - used, ", %s", MT_ANSWER_PROBLEM);
}

/* All columns that the table has rules for, of one row. */
static tunelookup_status prepare(mt_lookup_loader *loader, int table)
{
    char sql[4096] = "SELECT";
    size_t used = strlen(sql);
    used += add_columns(loader, sql + used, sizeof sql - used, table);
    snprintf(sql + used, sizeof sql - used, " FROM %s WHERE %s = ?1", tables[table], table == BEST ? "subject_id" : "id");
    if (sqlite3_prepare_v2(loader->db, sql, -1, &loader->backing.statements[table], NULL) == SQLITE_OK) return TUNELOOKUP_OK;
    return mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
}

/* The row's values, which stay the statement's; what is wrong with it goes to loader->backing.why, else that is "". */
static tunelookup_status read_row(mt_lookup_loader *loader, int table, int64_t id, mt_row_value values[MT_ROW_COLUMNS])
{
    mt_lookup_backing *backing = &loader->backing;
    tunelookup_status st = backing->statements[table] ? TUNELOOKUP_OK : prepare(loader, table);
    if (st != TUNELOOKUP_OK) return st;
    sqlite3_stmt *statement = backing->statements[table];
    char why[300] = "it is not there";
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, id);
    int code = sqlite3_step(statement);
    if ((code & 0xff) == SQLITE_TOOBIG) snprintf(why, sizeof why, MT_LOOKUP_TOO_LONG);
    else if (code != SQLITE_ROW && code != SQLITE_DONE) return mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
    for (int i = 0; code == SQLITE_ROW && i < sqlite3_column_count(statement); i++) values[i] = mt_row_value_at(statement, i);
    if (code == SQLITE_ROW && mt_row_columns_are_sound(backing->rules[table].columns, backing->rules[table].count, values, why, sizeof why)) *backing->why = '\0';
    else snprintf(backing->why, sizeof backing->why, "row %lld of %s: %s", (long long)id, tables[table], why);
    return TUNELOOKUP_OK;
}

static void find_fault(mt_lookup_loader *loader, int table, int64_t id, const char *what)
{
    snprintf(loader->backing.why, sizeof loader->backing.why, "row %lld of %s: %s", (long long)id, tables[table], what);
}

/* Of tables whose rows many answers share: a sound one is looked at once. */
static tunelookup_status check_shared(mt_lookup_loader *loader, int table, int64_t id)
{
    enum { FIRST }; /* the kernel of a variant and of a workload, the session of a final */
    mt_row_value values[MT_ROW_COLUMNS];
    int64_t *seen = &loader->backing.seen[table][(uint64_t)id % MT_LOOKUP_BACKING_SEEN];
    if (*seen == id) return TUNELOOKUP_OK;
    tunelookup_status st = read_row(loader, table, id, values);
    if (st != TUNELOOKUP_OK || *loader->backing.why) return st;
    if ((table == VARIANT || table == WORKLOAD) && values[FIRST].integer != loader->kernel) find_fault(loader, table, id, "it is of another kernel");
    if (table == FINAL) st = check_shared(loader, SESSION, values[FIRST].integer);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) *seen = id;
    return st;
}

/* ---- an answer's own rows ---- */

tunelookup_status mt_lookup_backing_missing(mt_lookup_loader *loader, int64_t measurement, int64_t subject)
{
    mt_row_value values[MT_ROW_COLUMNS];
    const int order[] = { MEASUREMENT, BEST, SUBJECT };
    tunelookup_status st = TUNELOOKUP_OK;
    *loader->backing.why = '\0';
    for (size_t i = 0; i < sizeof order / sizeof *order && st == TUNELOOKUP_OK && !*loader->backing.why; i++) st = read_row(loader, order[i], order[i] == MEASUREMENT ? measurement : subject, values);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) st = read_row(loader, SHAPE, values[MT_ROW_subject_shape_id - MT_ROW_subject_device_id].integer, values);
    return st;
}

/* Each is there and keeps the rules; none but a finalist may be missing. */
static bool are_sound(mt_lookup_loader *loader, sqlite3_stmt *row, int at)
{
    mt_row_value values[MT_ROW_COLUMNS];
    char why[300];
    for (int table = 0; table < OWN; table++) {
        const int count = (int)loader->backing.rules[table].count;
        for (int i = 0; i < count; i++) values[i] = mt_row_value_at(row, at + i);
        at += count;
        if (table == FINALIST && values[0].type == MT_ROW_VALUE_NULL) continue;
        if (!mt_row_columns_are_sound(loader->backing.rules[table].columns, (size_t)count, values, why, sizeof why)) return false; /* by name: mt_lookup_backing_missing */
    }
    return true;
}

/* ids: of what these rows refer to beside each other; 0 = nothing. */
static tunelookup_status check_own(mt_lookup_loader *loader, const mt_lookup_claim *claim, sqlite3_stmt *row, int at, int64_t ids[TABLES])
{
#define MEASUREMENT_AT(column) (at + MT_ROW_measurement_##column - MT_ROW_measurement_subject_id)
    int end = at;
    for (int table = 0; table < OWN; table++) end += (int)loader->backing.rules[table].count;
    const char *problem = (const char *)sqlite3_column_text(row, end);
    if (!are_sound(loader, row, at)) {
        tunelookup_status st = mt_lookup_backing_missing(loader, claim->measurement, claim->subject);
        if (st == TUNELOOKUP_OK && !*loader->backing.why) find_fault(loader, FINALIST, claim->measurement, "it breaks the rules of rows");
        return st;
    }
    if (problem) snprintf(loader->backing.why, sizeof loader->backing.why, "%s", problem);
    ids[SESSION] = sqlite3_column_int64(row, MEASUREMENT_AT(session_id));
    ids[TOOLCHAIN] = sqlite3_column_int64(row, MEASUREMENT_AT(toolchain_id));
    ids[FINAL] = sqlite3_column_int64(row, end - (int)loader->backing.rules[FINALIST].count - 1); /* the last column of best */
    return TUNELOOKUP_OK;
}

tunelookup_status mt_lookup_backing_check(mt_lookup_loader *loader, const mt_lookup_claim *claim, sqlite3_stmt *row, int at)
{
    int64_t ids[TABLES] = { [VARIANT] = claim->variant, [WORKLOAD] = claim->workload, [DEVICE] = loader->device };
    *loader->backing.why = '\0';
    tunelookup_status st = check_own(loader, claim, row, at, ids);
    for (int table = OWN; table < TABLES && st == TUNELOOKUP_OK && !*loader->backing.why; table++) {
        if (ids[table]) st = check_shared(loader, table, ids[table]);
    }
    return st;
}

void mt_lookup_backing_end(mt_lookup_loader *loader)
{
    for (int i = 0; i < MT_LOOKUP_BACKING_TABLES; i++) sqlite3_finalize(loader->backing.statements[i]);
    loader->backing = (mt_lookup_backing){ 0 };
}
