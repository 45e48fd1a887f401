/* What stands behind a row of table answer: it repeats what other tables say, and is handed out as exact and validated only where they say so still. */
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "db/row_sqlite.h"

static const char *const tables[MT_LOOKUP_BACKING_TABLES] = { "measurement", "subject", "shape", "session", "variant", "workload", "toolchain", "device" };
enum { MEASUREMENT, SUBJECT, SHAPE, SESSION, VARIANT, WORKLOAD, TOOLCHAIN, DEVICE };

/* All columns that the table has rules for, of one row. */
static tunelookup_status prepare(mt_lookup_loader *loader, int table)
{
    char sql[2048] = "SELECT";
    size_t count, used = strlen(sql);
    const mt_row_column *columns = mt_row_columns(tables[table], &count);
    for (size_t i = 0; i < count; i++) used += (size_t)snprintf(sql + used, sizeof sql - used, "%s %s", i ? "," : "", columns[i].name);
    snprintf(sql + used, sizeof sql - used, " FROM %s WHERE id = ?1", tables[table]);
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
    if (code == SQLITE_ROW && mt_row_is_sound(tables[table], values, why, sizeof why)) *backing->why = '\0';
    else snprintf(backing->why, sizeof backing->why, "row %lld of %s: %s", (long long)id, tables[table], why);
    return TUNELOOKUP_OK;
}

/* Of tables whose rows many answers share: a sound one is looked at once. */
static tunelookup_status check_shared(mt_lookup_loader *loader, int table, int64_t id)
{
    mt_row_value values[MT_ROW_COLUMNS];
    int64_t *seen = &loader->backing.seen[table][(uint64_t)id % MT_LOOKUP_BACKING_SEEN];
    if (*seen == id) return TUNELOOKUP_OK;
    tunelookup_status st = read_row(loader, table, id, values);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) *seen = id;
    return st;
}

static const mt_row_value *value_of(const mt_row_value *values, mt_row_column_id first, mt_row_column_id column)
{
    return &values[column - first];
}
#define OF_MEASUREMENT(column) value_of(values, MT_ROW_measurement_subject_id, MT_ROW_measurement_##column)
#define OF_SUBJECT(column) value_of(values, MT_ROW_subject_device_id, MT_ROW_subject_##column)
#define OF_SHAPE(column) value_of(values, MT_ROW_shape_kernel_id, MT_ROW_shape_##column)

static bool is_text(const mt_row_value *value, const char *text)
{
    return value->size == strlen(text) && memcmp(value->text, text, value->size) == 0;
}

/* What the row, which is sound, says otherwise than the answer. */
static void differs(mt_lookup_loader *loader, int table, int64_t id, const char *what)
{
    snprintf(loader->backing.why, sizeof loader->backing.why, "row %lld of %s: %s", (long long)id, tables[table], what);
}

static tunelookup_status check_measurement(mt_lookup_loader *loader, const mt_lookup_claim *claim, int64_t *session, int64_t *toolchain)
{
    mt_row_value values[MT_ROW_COLUMNS];
    tunelookup_status st = read_row(loader, MEASUREMENT, claim->measurement, values);
    if (st != TUNELOOKUP_OK || *loader->backing.why) return st;
    *session = OF_MEASUREMENT(session_id)->integer;
    *toolchain = OF_MEASUREMENT(toolchain_id)->integer;
    if (!is_text(OF_MEASUREMENT(outcome), "ok")) differs(loader, MEASUREMENT, claim->measurement, "its outcome is not ok");
    else if (OF_MEASUREMENT(subject_id)->integer != claim->subject) differs(loader, MEASUREMENT, claim->measurement, "it is of another subject");
    else if (OF_MEASUREMENT(variant_id)->integer != claim->variant) differs(loader, MEASUREMENT, claim->measurement, "it is of another variant");
    return st;
}

static tunelookup_status check_subject(mt_lookup_loader *loader, const mt_lookup_claim *claim)
{
    mt_row_value values[MT_ROW_COLUMNS];
    tunelookup_status st = read_row(loader, SUBJECT, claim->subject, values);
    if (st != TUNELOOKUP_OK || *loader->backing.why) return st;
    int64_t shape = OF_SUBJECT(shape_id)->integer;
    bool is_same = OF_SUBJECT(device_id)->integer == loader->device && OF_SUBJECT(kernel_id)->integer == loader->kernel && OF_SUBJECT(workload_id)->integer == claim->workload &&
                   is_text(OF_SUBJECT(regime), claim->regime) && is_text(OF_SUBJECT(origin), claim->origin);
    if (!is_same) {
        differs(loader, SUBJECT, claim->subject, "it is of another GPU, kernel, workload, cache state or origin");
        return st;
    }
    st = read_row(loader, SHAPE, shape, values);
    if (st == TUNELOOKUP_OK && !*loader->backing.why && !(OF_SHAPE(kernel_id)->integer == loader->kernel && is_text(OF_SHAPE(key), claim->shape_key)))
        differs(loader, SHAPE, shape, "it is another shape");
    return st;
}

tunelookup_status mt_lookup_backing_check(mt_lookup_loader *loader, const mt_lookup_claim *claim)
{
    int64_t session = 0, toolchain = 0;
    *loader->backing.why = '\0';
    tunelookup_status st = check_measurement(loader, claim, &session, &toolchain);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) st = check_subject(loader, claim);
    const struct { int table; int64_t id; } shared[] = { { SESSION, session }, { VARIANT, claim->variant }, { WORKLOAD, claim->workload }, { TOOLCHAIN, toolchain }, { DEVICE, loader->device } };
    for (size_t i = 0; i < sizeof shared / sizeof *shared && st == TUNELOOKUP_OK && !*loader->backing.why; i++) st = check_shared(loader, shared[i].table, shared[i].id);
    return st;
}

void mt_lookup_backing_end(mt_lookup_loader *loader)
{
    for (int i = 0; i < MT_LOOKUP_BACKING_TABLES; i++) sqlite3_finalize(loader->backing.statements[i]);
    loader->backing = (mt_lookup_backing){ 0 };
}
