/* What stands behind a row of table answer: it repeats what other tables say, and is handed out as exact and validated only where they say so still. */
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "db/row_sqlite.h"

/* Of an answer: its own rows, which are read at once, and those that many answers share. */
static const char *const tables[] = { "measurement", "subject", "shape", "best", "session", "variant", "workload", "toolchain", "device", "final_round" };
enum { MEASUREMENT, SUBJECT, SHAPE, BEST, OWN, SESSION = OWN, VARIANT, WORKLOAD, TOOLCHAIN, DEVICE, FINAL, TABLES };
_Static_assert((int)TABLES < (int)MT_LOOKUP_BACKING_STATEMENTS, "one more reads an answer's own rows");
enum { JOINED = TABLES };
static const char joined_sql[] = " FROM measurement CROSS JOIN subject ON subject.id = ?2 CROSS JOIN shape ON shape.id = subject.shape_id CROSS JOIN best ON best.subject_id = subject.id WHERE measurement.id = ?1";

static size_t add_columns(mt_lookup_loader *loader, char *sql, size_t size, int table)
{
    size_t used = 0, *count = &loader->backing.rules[table].count;
    const mt_row_column *columns = loader->backing.rules[table].columns = mt_row_columns(tables[table], count);
    for (size_t i = 0; i < *count; i++) used += (size_t)snprintf(sql + used, size - used, "%s %s.%s", i ? "," : "", tables[table], columns[i].name);
    return used;
}

/* All columns that the tables have rules for, of one row. */
static tunelookup_status prepare(mt_lookup_loader *loader, int statement)
{
    char sql[4096] = "SELECT";
    size_t used = strlen(sql);
    if (statement == JOINED) {
        for (int table = 0; table < OWN; table++) {
            used += add_columns(loader, sql + used, sizeof sql - used, table);
            if (table + 1 < OWN) sql[used++] = ',';
        }
        snprintf(sql + used, sizeof sql - used, "%s", joined_sql);
    } else {
        used += add_columns(loader, sql + used, sizeof sql - used, statement);
        snprintf(sql + used, sizeof sql - used, " FROM %s WHERE %s = ?1", tables[statement], statement == BEST ? "subject_id" : "id");
    }
    if (sqlite3_prepare_v2(loader->db, sql, -1, &loader->backing.statements[statement], NULL) == SQLITE_OK) return TUNELOOKUP_OK;
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

/* Something is not there, or too long: what that is. */
static tunelookup_status name_missing(mt_lookup_loader *loader, const mt_lookup_claim *claim)
{
    mt_row_value values[MT_ROW_COLUMNS];
    const int order[] = { MEASUREMENT, BEST, SUBJECT };
    tunelookup_status st = TUNELOOKUP_OK;
    *loader->backing.why = '\0';
    for (size_t i = 0; i < sizeof order / sizeof *order && st == TUNELOOKUP_OK && !*loader->backing.why; i++) st = read_row(loader, order[i], order[i] == MEASUREMENT ? claim->measurement : claim->subject, values);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) st = read_row(loader, SHAPE, values[MT_ROW_subject_shape_id - MT_ROW_subject_device_id].integer, values);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) find_fault(loader, SUBJECT, claim->subject, "it refers to nothing");
    return st;
}

static bool is_text(const mt_row_value *value, const char *text)
{
    return value->size == strlen(text) && memcmp(value->text, text, value->size) == 0;
}

/* The rows are sound; whether they say what the answer says. */
static void compare(mt_lookup_loader *loader, const mt_lookup_claim *claim, const mt_row_value *const rows[OWN])
{
#define OF(table, NAME, first, column) (&rows[NAME][MT_ROW_##table##_##column - MT_ROW_##table##_##first])
#define OF_MEASUREMENT(column) OF(measurement, MEASUREMENT, subject_id, column)
#define OF_SUBJECT(column) OF(subject, SUBJECT, device_id, column)
    bool is_same_subject = OF_SUBJECT(device_id)->integer == loader->device && OF_SUBJECT(kernel_id)->integer == loader->kernel && OF_SUBJECT(workload_id)->integer == claim->workload &&
                           is_text(OF_SUBJECT(regime), claim->regime) && is_text(OF_SUBJECT(origin), claim->origin);
    bool is_same_shape = OF(shape, SHAPE, kernel_id, kernel_id)->integer == loader->kernel && is_text(OF(shape, SHAPE, kernel_id, key), claim->shape_key);
    if (!is_text(OF_MEASUREMENT(outcome), "ok")) find_fault(loader, MEASUREMENT, claim->measurement, "its outcome is not ok");
    else if (OF_MEASUREMENT(subject_id)->integer != claim->subject) find_fault(loader, MEASUREMENT, claim->measurement, "it is of another subject");
    else if (OF_MEASUREMENT(variant_id)->integer != claim->variant) find_fault(loader, MEASUREMENT, claim->measurement, "it is of another variant");
    else if (!is_same_subject) find_fault(loader, SUBJECT, claim->subject, "it is of another GPU, kernel, workload, cache state or origin");
    else if (!is_same_shape) find_fault(loader, SHAPE, OF_SUBJECT(shape_id)->integer, "it is another shape");
    else if (OF(best, BEST, subject_id, measurement_id)->integer != claim->measurement) find_fault(loader, BEST, claim->subject, "another measurement is the winner");
}

/* ids: of what these rows refer to beside each other; 0 = nothing. */
static tunelookup_status check_own(mt_lookup_loader *loader, const mt_lookup_claim *claim, int64_t ids[TABLES])
{
    mt_row_value values[MT_ROW_COLUMNS];
    const mt_row_value *rows[OWN];
    char why[300];
    tunelookup_status st = loader->backing.statements[JOINED] ? TUNELOOKUP_OK : prepare(loader, JOINED);
    if (st != TUNELOOKUP_OK) return st;
    sqlite3_stmt *statement = loader->backing.statements[JOINED];
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, claim->measurement);
    sqlite3_bind_int64(statement, 2, claim->subject);
    if (sqlite3_step(statement) != SQLITE_ROW) return name_missing(loader, claim);
    for (int i = 0; i < sqlite3_column_count(statement); i++) values[i] = mt_row_value_at(statement, i);
    const mt_row_value *at = values;
    for (int table = 0; table < OWN; table++) {
        const size_t count = loader->backing.rules[table].count;
        rows[table] = at;
        at += count;
        if (mt_row_columns_are_sound(loader->backing.rules[table].columns, count, rows[table], why, sizeof why)) continue;
        find_fault(loader, table, table == MEASUREMENT ? claim->measurement : claim->subject, why);
        return TUNELOOKUP_OK;
    }
    compare(loader, claim, rows);
    ids[SESSION] = OF_MEASUREMENT(session_id)->integer;
    ids[TOOLCHAIN] = OF_MEASUREMENT(toolchain_id)->integer;
    ids[FINAL] = OF(best, BEST, subject_id, final_id)->integer;
    return st;
}

tunelookup_status mt_lookup_backing_check(mt_lookup_loader *loader, const mt_lookup_claim *claim)
{
    int64_t ids[TABLES] = { [VARIANT] = claim->variant, [WORKLOAD] = claim->workload, [DEVICE] = loader->device };
    *loader->backing.why = '\0';
    tunelookup_status st = check_own(loader, claim, ids);
    for (int table = OWN; table < TABLES && st == TUNELOOKUP_OK && !*loader->backing.why; table++) {
        if (ids[table]) st = check_shared(loader, table, ids[table]);
    }
    return st;
}

void mt_lookup_backing_end(mt_lookup_loader *loader)
{
    for (int i = 0; i < MT_LOOKUP_BACKING_STATEMENTS; i++) sqlite3_finalize(loader->backing.statements[i]);
    loader->backing = (mt_lookup_backing){ 0 };
}
