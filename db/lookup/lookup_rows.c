/* One file's winners for one kernel and GPU.
 *
 * A shape may have several: measured and recorded, in several files, cold and warm, for several workloads. The rank orders all but the last: measured before recorded, the
 * workload that the plan asks for before others, an earlier file (the user's) before a later one, the kernel's own cache state before the other; behind all of them what can't answer, which is there to be explained. Among workloads of one rank the variant with the least worst-case slowdown wins. */
#include "db/lookup/lookup_front.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "db/counted_rows.h"
#include "db/row_relations.h"
#include "db/row_sqlite.h"

static const char columns_sql[] = "SELECT answer.origin, answer.regime, answer.workload_id, answer.shape_key, answer.shape_name, answer.measurement_id, answer.subject_id, answer.variant_id, answer.toolchain_id, "
                                  "answer.median_ns, answer.low_ns, answer.high_ns, answer.norm_error, answer.created_unix_ms, answer.cubin_hash, answer.carveouts";
#define BEHIND " WHERE answer.kernel_id = ?1 AND answer.device_id = ?2 AND answer.subject_id > ?3 ORDER BY answer.subject_id"
static const char next_sql[] = "SELECT subject_id, measurement_id FROM answer" BEHIND " LIMIT 1";
enum { ORIGIN, REGIME, WORKLOAD, SHAPE_KEY, SHAPE_NAME, MEASUREMENT, SUBJECT, VARIANT, TOOLCHAIN, MEDIAN, LOW, HIGH, NORM_ERROR, CREATED, CUBIN, CARVEOUTS, BACKING };
enum { DAMAGED = -1 };
enum { ROW_LIMIT = 8000000, WORKLOAD_LIMIT = 64 /* of one shape that are weighed against each other */ };

static tunelookup_status sqlite_fail(const mt_lookup_loader *loader)
{
    return mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
}

/* ---- small tables ---- */

/* `rule`: of the second column. A row that breaks one has DAMAGED numbers. */
static tunelookup_status load_table(mt_lookup_loader *loader, const char *sql, mt_row_column_id rule, mt_lookup_table *table)
{
    tunelookup_status st = TUNELOOKUP_OK;
    uint32_t capacity = 0;
    int code = SQLITE_OK;
    sqlite3_stmt *statement = NULL;
    *table = (mt_lookup_table){ 0 };
    if (sqlite3_prepare_v2(loader->db, sql, -1, &statement, NULL) != SQLITE_OK) LOOKUP_LEAVE(sqlite_fail(loader));
    if (sqlite3_bind_parameter_count(statement)) sqlite3_bind_int64(statement, 1, loader->kernel);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (table->count == capacity) {
            capacity = capacity ? capacity * 2 : 16;
            mt_lookup_text_row *grown = mt_lookup_arena_take(&loader->answers->arena, capacity, sizeof *grown); /* rows keep pointers into it */
            if (!grown) break;
            if (table->count) memcpy(grown, table->rows, table->count * sizeof *grown);
            table->rows = grown;
        }
        const mt_row_value value = mt_row_value_at(statement, 1);
        bool is_sound = mt_row_value_is_sound(&mt_row_rules[rule], &value);
        const char *text = is_sound ? (const char *)sqlite3_column_text(statement, 1) : NULL;
        mt_lookup_text_row *row = &table->rows[table->count++];
        *row = (mt_lookup_text_row){ sqlite3_column_int64(statement, 0), { sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 3) },
                                     mt_lookup_arena_text(&loader->answers->arena, text ? text : "", text ? strlen(text) : 0) };
        for (int i = 0; i < 2; i++) {
            mt_row_value version = mt_row_value_at(statement, 2 + i);
            if (!is_sound || !mt_row_value_is_sound(&mt_row_rules[MT_ROW_toolchain_nvrtc_version], &version)) row->numbers[i] = DAMAGED;
        }
        if (!row->text) break;
    }
    if (code == SQLITE_ROW) st = mt_lookup_no_memory();
    else if (code != SQLITE_DONE) st = sqlite_fail(loader);
done:
    sqlite3_finalize(statement);
    return st;
}

const mt_lookup_text_row *mt_lookup_table_find(const mt_lookup_table *table, int64_t id)
{
    static const mt_lookup_text_row unknown = { 0, { 0, 0 }, "" };
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->rows[middle].id < id) low = middle + 1;
        else high = middle;
    }
    return low < table->count && table->rows[low].id == id ? &table->rows[low] : &unknown;
}

/* ---- one row ---- */

static const char *column(sqlite3_stmt *statement, int index)
{
    const char *text = (const char *)sqlite3_column_text(statement, index);
    return text ? text : "";
}

static double number_or_nan(sqlite3_stmt *statement, int index)
{
    return sqlite3_column_type(statement, index) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, index);
}

/* What the columns may hold is the rules' to say (db/row_rules.def), those of table answer. */
static const mt_row_column_id column_rules[] = { [ORIGIN] = MT_ROW_answer_origin, [REGIME] = MT_ROW_answer_regime, [WORKLOAD] = MT_ROW_answer_workload_id, [SHAPE_KEY] = MT_ROW_answer_shape_key,
    [SHAPE_NAME] = MT_ROW_answer_shape_name, [MEASUREMENT] = MT_ROW_answer_measurement_id, [SUBJECT] = MT_ROW_answer_subject_id, [VARIANT] = MT_ROW_answer_variant_id,
    [TOOLCHAIN] = MT_ROW_answer_toolchain_id, [MEDIAN] = MT_ROW_answer_median_ns, [LOW] = MT_ROW_answer_low_ns, [HIGH] = MT_ROW_answer_high_ns, [NORM_ERROR] = MT_ROW_answer_norm_error,
    [CREATED] = MT_ROW_answer_created_unix_ms, [CUBIN] = MT_ROW_answer_cubin_hash, [CARVEOUTS] = MT_ROW_answer_carveouts };

/* What came with the tool is sound, as the tool has it too (mt_store_open). */
static bool is_shipped(const mt_lookup_loader *loader)
{
    return loader->plan->db->files[loader->file].is_shipped;
}

/* Types are asked before any column is read as something that it is not: reading converts it. What is wrong goes to loader->backing.why, else that is "". */
static tunelookup_status check(mt_lookup_loader *loader, sqlite3_stmt *statement)
{
    char why[300];
    mt_lookup_backing *backing = &loader->backing;
    for (int i = 0; i <= CARVEOUTS; i++) {
        mt_row_value value = mt_row_value_at(statement, i);
        if (mt_row_value_is_sound(&mt_row_rules[column_rules[i]], &value)) continue;
        mt_row_value_explain(&mt_row_rules[column_rules[i]], &value, why, sizeof why);
        snprintf(backing->why, sizeof backing->why, "row %lld of answer: %s", (long long)sqlite3_column_int64(statement, SUBJECT), why);
        return TUNELOOKUP_OK;
    }
    const mt_lookup_claim claim = { .measurement = sqlite3_column_int64(statement, MEASUREMENT), .subject = sqlite3_column_int64(statement, SUBJECT), .variant = sqlite3_column_int64(statement, VARIANT),
        .workload = sqlite3_column_int64(statement, WORKLOAD) };
    *backing->why = '\0';
    tunelookup_status st = is_shipped(loader) ? TUNELOOKUP_OK : mt_lookup_backing_check(loader, &claim, statement, BACKING);
    const mt_lookup_text_row *toolchain = mt_lookup_table_find(&loader->toolchains, sqlite3_column_int64(statement, TOOLCHAIN));
    if (toolchain->numbers[0] == DAMAGED || toolchain->numbers[1] == DAMAGED) snprintf(backing->why, sizeof backing->why, "row %lld of toolchain: its versions are damaged", (long long)toolchain->id);
    return st;
}

/* Of which shape the row was, if that is sound; NULL: it is not, or there was no memory. */
static const int64_t *shape_of_damaged(mt_lookup_loader *loader, sqlite3_stmt *statement)
{
    int64_t values[TUNELOOKUP_MAX_VALUES], *kept;
    mt_lookup_answers *answers = loader->answers;
    const mt_row_value key = mt_row_value_at(statement, SHAPE_KEY);
    if (!mt_row_value_is_sound(&mt_row_rules[column_rules[SHAPE_KEY]], &key) || !mt_lookup_parse_shape(&answers->model, column(statement, SHAPE_KEY), values)) return NULL;
    if ((kept = mt_lookup_arena_take(&answers->arena, answers->value_count + 1, sizeof *kept))) memcpy(kept, values, answers->value_count * sizeof *kept);
    return kept;
}

/* statement NULL: nothing can be read of the row. */
tunelookup_status mt_lookup_hide_damaged(mt_lookup_loader *loader, sqlite3_stmt *statement)
{
    enum { KEPT = 1000 };
    mt_lookup_answers *answers = loader->answers;
    if (answers->hidden_damaged++ >= KEPT) return TUNELOOKUP_OK;
    mt_lookup_damaged *row = mt_lookup_arena_take(&answers->arena, 1, sizeof *row);
    if (!row || !(row->why = mt_lookup_arena_text(&answers->arena, loader->backing.why, strlen(loader->backing.why)))) return mt_lookup_no_memory();
    if (statement) row->values = shape_of_damaged(loader, statement);
    mt_lookup_damaged **place = answers->damaged ? &answers->damaged->next : &answers->damaged;
    row->next = *place;
    *place = row;
    return TUNELOOKUP_OK;
}

static bool is_of_other_workload(const mt_lookup_answers *answers, const char *workload)
{
    return answers->workload && strcmp(answers->workload, workload) != 0;
}

/* Whether the plan may answer from a row of such an origin. */
static bool is_wanted(mt_lookup_loader *loader, sqlite3_stmt *statement, bool is_of_its_kind, bool is_recorded)
{
    mt_lookup_answers *answers = loader->answers;
    if (is_recorded && !(loader->plan->db->flags & TUNELOOKUP_RECORDED)) {
        answers->hidden_recorded += is_of_its_kind;
        return false;
    }
    if (!is_recorded && strcmp(column(statement, ORIGIN), "measured") != 0) {
        answers->hidden_imported += is_of_its_kind; /* nobody compared its output with a reference here */
        return false;
    }
    return true;
}

static bool fill_row(mt_lookup_loader *loader, sqlite3_stmt *statement, mt_lookup_row *row)
{
    const mt_lookup_text_row *toolchain = mt_lookup_table_find(&loader->toolchains, sqlite3_column_int64(statement, TOOLCHAIN));
    const char *name = column(statement, SHAPE_NAME), *cubin = column(statement, CUBIN);
    row->median_ns = number_or_nan(statement, MEDIAN);
    row->low_ns = number_or_nan(statement, LOW);
    row->high_ns = number_or_nan(statement, HIGH);
    row->norm_error = row->most_error = number_or_nan(statement, NORM_ERROR);
    row->slowdown = 1;
    row->created_unix_ms = sqlite3_column_int64(statement, CREATED);
    row->measurement = sqlite3_column_int64(statement, MEASUREMENT);
    row->toolchain = toolchain;
    row->shape_name = mt_lookup_arena_text(&loader->answers->arena, name, strlen(name));
    row->file = (uint8_t)loader->file;
    row->workload_count = 1;
    row->is_warm = strcmp(column(statement, REGIME), "warm") == 0;
    if (strlen(cubin) == MT_LOOKUP_KEY_SIZE - 1) memcpy(row->cubin, cubin, MT_LOOKUP_KEY_SIZE);
    mt_carveouts_read(column(statement, CARVEOUTS), row->carveouts);
    return row->shape_name != NULL;
}

static bool keep_row(mt_lookup_loader *loader, mt_lookup_row *row)
{
    if (loader->row_count == loader->row_capacity) {
        uint32_t capacity = loader->row_capacity ? loader->row_capacity * 2 : 256;
        mt_lookup_row **grown = capacity <= ROW_LIMIT ? mt_lookup_arena_take(&loader->scratch, capacity, sizeof *grown) : NULL;
        if (!grown) return false;
        if (loader->row_count) memcpy(grown, loader->rows, loader->row_count * sizeof *grown);
        loader->rows = grown;
        loader->row_capacity = capacity;
    }
    loader->rows[loader->row_count++] = row;
    return true;
}

static tunelookup_status add_row(mt_lookup_loader *loader, sqlite3_stmt *statement)
{
    int64_t values[TUNELOOKUP_MAX_VALUES];
    mt_lookup_answers *answers = loader->answers;
    size_t bytes = answers->value_count * sizeof *values;
    tunelookup_status st = check(loader, statement);
    if (st != TUNELOOKUP_OK) return st;
    if (*loader->backing.why) return mt_lookup_hide_damaged(loader, statement);
    const char *workload = mt_lookup_table_find(&loader->workloads, sqlite3_column_int64(statement, WORKLOAD))->text;
    bool is_recorded = strcmp(column(statement, ORIGIN), "recorded") == 0;
    const mt_lookup_variant *variant = NULL;
    bool is_of_kind = mt_lookup_parse_shape(&answers->model, column(statement, SHAPE_KEY), values); /* has the strings and lengths of lists that the plan is bound to */
    bool is_other = is_of_other_workload(answers, workload);
    if (!is_wanted(loader, statement, is_of_kind && !is_other, is_recorded)) return TUNELOOKUP_OK;
    if (!is_of_kind) {
        answers->other_kinds++;
        return TUNELOOKUP_OK;
    }
    answers->other_workloads += is_other;
    answers->own_workloads += !is_other;
    st = mt_lookup_variant_get(loader, sqlite3_column_int64(statement, VARIANT), &variant);
    if (st != TUNELOOKUP_OK) return st;
    mt_lookup_row *row = mt_lookup_arena_take(&answers->arena, 1, sizeof *row + bytes);
    if (!row || !fill_row(loader, statement, row) || !keep_row(loader, row)) return mt_lookup_no_memory();
    memcpy(row->values, values, bytes);
    row->variant = variant;
    row->workload = workload;
    row->is_recorded = is_recorded;
    row->is_other_workload = is_other;
    row->subject = sqlite3_column_int64(statement, SUBJECT);
    row->is_unsafe = mt_lookup_unsafe_on(answers, variant->text, values) != NULL;
    row->rank = (variant->problem || row->is_unsafe ? 8192u : 0) + (is_recorded ? 4096u : 0) + (is_other ? 2048u : 0) + 2 * (uint32_t)loader->file + (strcmp(column(statement, REGIME), answers->model.l2) != 0);
    return TUNELOOKUP_OK;
}

/* ---- rows of one shape ---- */

uint32_t mt_lookup_hash(const int64_t *values, uint32_t count)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)values[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return (uint32_t)(hash ^ hash >> 29);
}

static bool grow_table(mt_lookup_loader *loader)
{
    uint32_t size = loader->mask ? 2 * (loader->mask + 1) : 64;
    mt_lookup_entry *table = mt_lookup_arena_take(&loader->scratch, size, sizeof *table);
    if (!table) return false;
    for (uint32_t i = 0; loader->mask && i <= loader->mask; i++) {
        if (!loader->table[i].row) continue;
        uint32_t at = loader->table[i].hash & (size - 1);
        while (table[at].row) at = (at + 1) & (size - 1);
        table[at] = loader->table[i];
    }
    loader->table = table;
    loader->mask = size - 1;
    return true;
}

/* Puts row `index` in its shape's place: alone, instead of one of higher rank, or before one of its own rank. */
static bool place_row(mt_lookup_loader *loader, uint32_t index)
{
    size_t bytes = loader->answers->value_count * sizeof(int64_t);
    mt_lookup_row *row = loader->rows[index];
    if (2 * loader->used >= loader->mask && !grow_table(loader)) return false;
    uint32_t hash = mt_lookup_hash(row->values, loader->answers->value_count), at = hash & loader->mask;
    for (; loader->table[at].row; at = (at + 1) & loader->mask) {
        mt_lookup_row *other = loader->rows[loader->table[at].row - 1];
        if (loader->table[at].hash != hash || memcmp(other->values, row->values, bytes) != 0) continue;
        if (row->rank > other->rank) return true;
        if (row->rank == other->rank) row->next = other;
        loader->table[at].row = index + 1;
        return true;
    }
    loader->table[at] = (mt_lookup_entry){ hash, index + 1 };
    loader->used++;
    return true;
}

/* ---- several workloads ---- */

/* The variant's newest median on another subject: NAN when it was not measured there, INFINITY when it failed. *is_whole: it was measured to the end, not stopped as too slow. */
static double median_on(sqlite3_stmt *statement, int64_t subject, int64_t variant, bool *is_whole)
{
    sqlite3_bind_int64(statement, 1, subject);
    sqlite3_bind_int64(statement, 2, variant);
    bool is_known = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 2) != SQLITE_NULL;
    *is_whole = is_known && strcmp(column(statement, 1), "censored") != 0;
    bool is_timed = is_known && (!*is_whole || strcmp(column(statement, 1), "ok") == 0) && sqlite3_column_double(statement, 0) > 0;
    double median = is_timed ? sqlite3_column_double(statement, 0) : *is_whole ? INFINITY : NAN;
    sqlite3_reset(statement);
    return median;
}

typedef struct worst_case { double slowdown; uint32_t unmeasured; } worst_case; /* over the workloads that it has a time for; how many it was not measured on, or not to the end */

static worst_case worst_of(sqlite3_stmt *statement, const mt_lookup_row *head, const mt_lookup_row *candidate)
{
    worst_case worst = { .slowdown = 1 };
    uint32_t others = 0;
    for (const mt_lookup_row *other = head; other && others < WORKLOAD_LIMIT; other = other->next, others++) {
        bool is_whole = true;
        double slowdown = other == candidate ? 1 : median_on(statement, other->subject, candidate->variant->id, &is_whole) / other->median_ns;
        worst.unmeasured += !is_whole;
        if (slowdown > worst.slowdown) worst.slowdown = slowdown;
    }
    return worst;
}

/* One that failed comes last; one that was measured on more workloads comes first; among those the least worst case. */
static bool is_better(worst_case a, worst_case b)
{
    if (isfinite(a.slowdown) != isfinite(b.slowdown)) return isfinite(a.slowdown);
    return a.unmeasured != b.unmeasured ? a.unmeasured < b.unmeasured : a.slowdown < b.slowdown;
}

/* Of the winners of a shape's workloads, the one with the least worst-case slowdown over all of them, as far as that is known. */
static mt_lookup_row *settle(sqlite3_stmt *statement, mt_lookup_row *head)
{
    mt_lookup_row *best = head;
    worst_case of_best = worst_of(statement, head, head);
    uint32_t count = 1;
    for (mt_lookup_row *candidate = head->next; candidate && count < WORKLOAD_LIMIT; candidate = candidate->next, count++) {
        worst_case worst = worst_of(statement, head, candidate);
        if (!is_better(worst, of_best)) continue;
        of_best = worst;
        best = candidate;
    }
    best->slowdown = isfinite(of_best.slowdown) && !of_best.unmeasured ? of_best.slowdown : NAN;
    best->known_slowdown = of_best.slowdown;
    best->unmeasured = (uint8_t)of_best.unmeasured;
    best->workload_count = (uint8_t)count;
    return best;
}

static tunelookup_status settle_all(mt_lookup_loader *loader, uint32_t first)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    mt_lookup_front_reader front = { 0 };
    const bool wants_fronts = loader->answers->member || loader->plan->db->flags & TUNELOOKUP_ERRORS;
    /* max() and the columns of its row: by ORDER BY id DESC LIMIT 1 SQLite makes a table to sort for each of hundreds of questions, which costs three times the answer. */
    static const char sql[] = "SELECT median_ns, outcome, max(id) FROM measurement WHERE subject_id = ?1 AND variant_id = ?2 AND " MT_IS_RUN("measurement");
    for (uint32_t i = 0; loader->mask && i <= loader->mask; i++) {
        uint32_t index = loader->table[i].row;
        if (!index || index - 1 < first) continue;
        mt_lookup_row *head = loader->rows[index - 1], *winner = head;
        if (head->next && !statement && sqlite3_prepare_v2(loader->db, sql, -1, &statement, NULL) != SQLITE_OK) LOOKUP_LEAVE(sqlite_fail(loader));
        if (head->next) winner = loader->rows[index - 1] = settle(statement, head);
        if (wants_fronts) LOOKUP_TRY(mt_lookup_front_read(loader, &front, head, winner));
    }
done:
    sqlite3_finalize(statement);
    mt_lookup_front_end(&front);
    return st;
}

tunelookup_status mt_lookup_rows_begin(mt_lookup_loader *loader)
{
    tunelookup_status st;
    loader->variant_mask = loader->variant_used = 0;
    sqlite3_finalize(loader->variant_text);
    loader->variant_text = NULL;
    mt_lookup_backing_end(loader);
    LOOKUP_TRY(load_table(loader, "SELECT id, name, 0, 0 FROM workload WHERE kernel_id = ?1 ORDER BY id", MT_ROW_workload_name, &loader->workloads));
    LOOKUP_TRY(load_table(loader, "SELECT id, arch, nvrtc_version, driver_version FROM toolchain ORDER BY id", MT_ROW_toolchain_arch, &loader->toolchains));
done:
    return st;
}

static int bind_behind(const mt_lookup_loader *loader, sqlite3_stmt *statement, int64_t subject)
{
    int code = sqlite3_bind_int64(statement, 1, loader->kernel);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, 2, loader->device);
    return code == SQLITE_OK ? sqlite3_bind_int64(statement, 3, subject) : code;
}

/* The answer behind *subject, or what backs it, holds a value that is longer than SQLite may read: it is left out, and *subject becomes its. */
static tunelookup_status pass_over(mt_lookup_loader *loader, int64_t *subject)
{
    sqlite3_stmt *statement = NULL;
    int64_t measurement = 0;
    int code = sqlite3_prepare_v2(loader->db, next_sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = bind_behind(loader, statement, *subject);
    bool is_there = code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) > *subject;
    if (is_there) *subject = sqlite3_column_int64(statement, 0), measurement = sqlite3_column_int64(statement, 1);
    tunelookup_status st = is_there ? mt_lookup_backing_missing(loader, measurement, *subject) : sqlite_fail(loader);
    sqlite3_finalize(statement);
    if (st == TUNELOOKUP_OK && !*loader->backing.why) snprintf(loader->backing.why, sizeof loader->backing.why, "row %lld of answer: " MT_LOOKUP_TOO_LONG, (long long)*subject);
    return st == TUNELOOKUP_OK ? mt_lookup_hide_damaged(loader, NULL) : st;
}

/* One statement for all: a question for each answer what stands behind it takes four times as long. */
static int prepare_answers(mt_lookup_loader *loader, sqlite3_stmt **statement)
{
    char sql[16384];
    snprintf(sql, sizeof sql, "%s", columns_sql);
    if (!is_shipped(loader)) mt_lookup_backing_add_columns(loader, sql, sizeof sql);
    size_t used = strlen(sql);
    snprintf(sql + used, sizeof sql - used, " FROM answer%s" BEHIND, is_shipped(loader) ? "" : MT_ANSWER_JOINS);
    return sqlite3_prepare_v2(loader->db, sql, -1, statement, NULL);
}

static tunelookup_status read_answers(mt_lookup_loader *loader)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    int64_t subject = INT64_MIN;
    int code = prepare_answers(loader, &statement);
    if (code == SQLITE_OK) code = bind_behind(loader, statement, subject);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) != SQLITE_DONE && (code == SQLITE_ROW || code == SQLITE_TOOBIG)) {
        if (code == SQLITE_ROW) {
            subject = sqlite3_column_int64(statement, SUBJECT);
            LOOKUP_TRY(add_row(loader, statement));
            code = SQLITE_OK;
            continue;
        }
        sqlite3_reset(statement);
        LOOKUP_TRY(pass_over(loader, &subject));
        code = bind_behind(loader, statement, subject);
    }
    if (code != SQLITE_DONE) st = sqlite_fail(loader);
done:
    sqlite3_finalize(statement);
    return st;
}

tunelookup_status mt_lookup_rows_load(mt_lookup_loader *loader)
{
    uint32_t first = loader->row_count;
    tunelookup_status st = read_answers(loader);
    for (uint32_t i = first; i < loader->row_count && st == TUNELOOKUP_OK; i++) {
        if (!place_row(loader, i)) st = mt_lookup_no_memory();
    }
    return st == TUNELOOKUP_OK ? settle_all(loader, first) : st;
}
