/* What answers for a shape besides its winner: the front of time and error, from which tunelookup_find_within takes, and the rows of a class of equal bits.
 *
 * Variants that are not safe to be handed out take no part. Of a shape with several workloads those on the front of one of them are looked at, and the winners; each counts by its largest error and its worst
 * slowdown over all workloads, and has to be validated on all. */
#include "db/lookup/lookup_front.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/cells.h"
#include "db/front_rows.h"
#include "db/row_sqlite.h"

static const char times_sql[] = "SELECT id, variant_id, norm_error FROM " MT_WITH_ERROR("subject_id = ?1") "ORDER BY median_ns, norm_error, variant_id";
enum { ID, VARIANT, MEDIAN, LOW, HIGH, NORM_ERROR, CREATED, TOOLCHAIN, CUBIN, CARVEOUTS };
static const char row_sql[] = "SELECT m.id, m.variant_id, m.median_ns, m.low_ns, m.high_ns, m.norm_error, m.created_unix_ms, m.toolchain_id, m.cubin_hash, " MT_CARVEOUTS " FROM measurement m WHERE m.id = ?1";
static const char subject_sql[] = "SELECT CASE WHEN outcome = 'ok' THEN median_ns END, norm_error, max(id) FROM measurement WHERE subject_id = ?1 AND variant_id = ?2 AND " MT_IS_RUN("measurement");
static const mt_row_column_id column_rules[] = { [VARIANT] = MT_ROW_measurement_variant_id, [MEDIAN] = MT_ROW_measurement_median_ns, [LOW] = MT_ROW_measurement_low_ns, [HIGH] = MT_ROW_measurement_high_ns,
    [NORM_ERROR] = MT_ROW_measurement_norm_error, [CREATED] = MT_ROW_measurement_created_unix_ms, [TOOLCHAIN] = MT_ROW_measurement_toolchain_id, [CUBIN] = MT_ROW_measurement_cubin_hash };

static tunelookup_status sqlite_fail(const mt_lookup_loader *loader)
{
    return mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
}

/* ---- over all workloads ---- */

typedef struct figures { double slowdown, error; } figures; /* the worst of each; NAN: not validated on one of the workloads */

/* The variant's newest result on one of the shape's subjects. */
static figures on_subject(sqlite3_stmt *statement, const mt_lookup_row *other, int64_t variant)
{
    figures is = { NAN, NAN };
    sqlite3_bind_int64(statement, 1, other->subject);
    sqlite3_bind_int64(statement, 2, variant);
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) == SQLITE_FLOAT && sqlite3_column_type(statement, 1) == SQLITE_FLOAT)
        is = (figures){ sqlite3_column_double(statement, 0) / other->median_ns, sqlite3_column_double(statement, 1) };
    sqlite3_reset(statement);
    return is;
}

static figures worse(figures a, figures b)
{
    return (figures){ mt_rule_worse(a.slowdown, b.slowdown), mt_rule_worse(a.error, b.error) };
}

static figures over_workloads(mt_lookup_front_reader *reader, const mt_lookup_row *head, const mt_lookup_row *row)
{
    figures worst = { row->slowdown, row->norm_error };
    for (const mt_lookup_row *other = head->next ? head : NULL; other; other = other->next) worst = worse(worst, on_subject(reader->on_subject, other, row->variant->id));
    return worst;
}

/* ---- one row ---- */

/* What is wrong with it goes to loader->backing.why, else that is "". */
static void check(mt_lookup_loader *loader, sqlite3_stmt *statement)
{
    char why[300];
    *loader->backing.why = '\0';
    for (int i = VARIANT; i <= CUBIN && !*loader->backing.why; i++) {
        mt_row_value value = mt_row_value_at(statement, i);
        if (mt_row_value_is_sound(&mt_row_rules[column_rules[i]], &value)) continue;
        mt_row_value_explain(&mt_row_rules[column_rules[i]], &value, why, sizeof why);
        snprintf(loader->backing.why, sizeof loader->backing.why, "row %lld of measurement: %s", (long long)sqlite3_column_int64(statement, ID), why);
    }
}

static double number_or_nan(sqlite3_stmt *statement, int index)
{
    return sqlite3_column_type(statement, index) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, index);
}

/* A row of the subject of `beside`, its winner. */
static tunelookup_status make_row(mt_lookup_loader *loader, sqlite3_stmt *statement, const mt_lookup_row *beside, mt_lookup_row **out)
{
    mt_lookup_answers *answers = loader->answers;
    size_t bytes = answers->value_count * sizeof(int64_t);
    mt_lookup_row *row = *out = mt_lookup_arena_take(&answers->arena, 1, sizeof *row + bytes);
    if (!row) return mt_lookup_no_memory();
    const char *cubin = (const char *)sqlite3_column_text(statement, CUBIN), *carveouts = (const char *)sqlite3_column_text(statement, CARVEOUTS);
    row->median_ns = sqlite3_column_double(statement, MEDIAN);
    row->low_ns = number_or_nan(statement, LOW);
    row->high_ns = number_or_nan(statement, HIGH);
    row->norm_error = sqlite3_column_double(statement, NORM_ERROR);
    row->slowdown = row->median_ns > beside->median_ns ? row->median_ns / beside->median_ns : 1;
    row->created_unix_ms = sqlite3_column_int64(statement, CREATED);
    row->measurement = sqlite3_column_int64(statement, ID);
    row->toolchain = mt_lookup_table_find(&loader->toolchains, sqlite3_column_int64(statement, TOOLCHAIN));
    row->shape_name = beside->shape_name;
    row->workload = beside->workload;
    row->workload_count = 1;
    row->file = beside->file;
    row->is_recorded = beside->is_recorded;
    row->is_warm = beside->is_warm;
    row->subject = beside->subject;
    if (cubin && strlen(cubin) == MT_LOOKUP_KEY_SIZE - 1) memcpy(row->cubin, cubin, MT_LOOKUP_KEY_SIZE);
    mt_carveouts_read(carveouts ? carveouts : "", row->carveouts);
    memcpy(row->values, beside->values, bytes);
    return mt_lookup_variant_get(loader, sqlite3_column_int64(statement, VARIANT), &row->variant);
}

/* ---- the front ---- */

/* Puts the row in its place, the fastest first; rows that one of at most their error precedes leave. */
static void place(mt_lookup_row **front, mt_lookup_row *row)
{
    while (*front && (*front)->slowdown <= row->slowdown) {
        if ((*front)->most_error <= row->most_error) return;
        front = &(*front)->slower;
    }
    row->slower = *front;
    *front = row;
    while (row->slower && row->slower->most_error >= row->most_error) row->slower = row->slower->slower;
}

/* The measurement; NULL where it is unsound, or its variant was not validated on all workloads. */
static tunelookup_status read_row(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *head, const mt_lookup_row *beside, int64_t measurement, mt_lookup_row **out)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_row *row;
    *out = NULL;
    sqlite3_bind_int64(reader->row, 1, measurement);
    if (sqlite3_step(reader->row) != SQLITE_ROW) LOOKUP_LEAVE(sqlite_fail(loader));
    check(loader, reader->row);
    if (*loader->backing.why) LOOKUP_LEAVE(mt_lookup_hide_damaged(loader, NULL));
    LOOKUP_TRY(make_row(loader, reader->row, beside, &row));
    figures worst = over_workloads(reader, head, row);
    row->slowdown = worst.slowdown;
    row->most_error = worst.error;
    if (!isnan(worst.slowdown) && !isnan(worst.error)) *out = row;
done:
    sqlite3_reset(reader->row);
    return st;
}

/* Whether the variant of the row of times at hand can be handed out at all. */
static tunelookup_status check_variant(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *beside, bool *may_answer)
{
    const mt_lookup_variant *variant;
    tunelookup_status st = mt_lookup_variant_get(loader, sqlite3_column_int64(reader->times, 1), &variant);
    *may_answer = st == TUNELOOKUP_OK && !variant->problem && !mt_lookup_unsafe_on(loader->answers, variant->text, beside->values);
    return st;
}

/* The rows of one subject's front that have a smaller error than its winner, `beside`; and where there are several workloads the winner. */
static tunelookup_status add_front(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *head, const mt_lookup_row *beside, mt_lookup_row **front)
{
    tunelookup_status st = TUNELOOKUP_OK;
    double least = isnan(beside->norm_error) ? INFINITY : beside->norm_error;
    int code = sqlite3_bind_int64(reader->times, 1, beside->subject);
    while (code == SQLITE_OK && (code = sqlite3_step(reader->times)) == SQLITE_ROW) {
        mt_lookup_row *row;
        bool may_answer;
        double error = sqlite3_column_double(reader->times, 2);
        code = SQLITE_OK;
        bool is_winner = head->next && sqlite3_column_int64(reader->times, 1) == beside->variant->id;
        if (!(error < least) && !is_winner) continue;
        LOOKUP_TRY(check_variant(loader, reader, beside, &may_answer));
        if (!may_answer) continue;
        LOOKUP_TRY(read_row(loader, reader, head, beside, sqlite3_column_int64(reader->times, 0), &row));
        if (row) place(front, row);
        if (error < least && !*loader->backing.why) least = error;
    }
    if (code != SQLITE_DONE) st = sqlite_fail(loader);
done:
    sqlite3_reset(reader->times);
    return st;
}

/* They follow the winner, and are found among the answers' extra rows by their places. */
static void list(mt_lookup_loader *loader, mt_lookup_row *row)
{
    for (; row; row = row->slower) {
        row->place = ++loader->extra_count;
        row->next = loader->extra;
        loader->extra = row;
    }
}

/* ---- a class of equal bits ---- */

enum { CLASS_ROWS = 4 }; /* of a shape: should the fastest not run for a caller's device, the next one does */
/* A result that was stopped as too slow, or has other inputs, says nothing of bits, and takes nothing back. */
#define HAS_BITS(m) "(" m ".bits IS NOT NULL OR " m ".row_bits IS NOT NULL)"
/* The member's newest result with fingerprints on each subject of its kernel and GPU. */
static const char members_sql[] = "SELECT s.id, CASE m.outcome WHEN 'ok' THEN m.bits END, CASE m.outcome WHEN 'ok' THEN m.row_bits END, max(m.id) FROM variant v JOIN subject s ON s.kernel_id = v.kernel_id "
                                  "CROSS JOIN measurement m ON m.subject_id = s.id AND m.variant_id = v.id WHERE v.kernel_id = ?1 AND v.text = ?3 AND s.device_id = ?2 AND " MT_IS_RUN("m") " AND " HAS_BITS("m") " GROUP BY s.id";
static const char bits_sql[] = "SELECT bits, row_bits, outcome, max(id) FROM measurement WHERE subject_id = ?1 AND variant_id = ?2 AND " MT_IS_RUN("measurement") " AND " HAS_BITS("measurement");
struct mt_lookup_member { struct mt_lookup_member *next; int64_t subject; const char *bits, *row_bits; }; /* "" = not known */
enum { OF_BATCH = 16 };          /* digits of row_bits that say which batch it is; of fewer rows the rest is the beginning of that of more */

static const char *text_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

static tunelookup_status read_members(mt_lookup_loader *loader, mt_lookup_front_reader *reader)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_arena *arena = &loader->scratch;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(loader->db, members_sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, 1, loader->kernel);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(statement, 2, loader->device);
    if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 3, loader->answers->member, -1, SQLITE_STATIC);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *bits = text_of(statement, 1), *row_bits = text_of(statement, 2);
        if (!*bits && !*row_bits) continue;
        struct mt_lookup_member *member = mt_lookup_arena_take(arena, 1, sizeof *member);
        if (member) *member = (struct mt_lookup_member){ reader->members, sqlite3_column_int64(statement, 0), mt_lookup_arena_text(arena, bits, strlen(bits)), mt_lookup_arena_text(arena, row_bits, strlen(row_bits)) };
        if (!member || !member->bits || !member->row_bits) LOOKUP_LEAVE(mt_lookup_no_memory());
        reader->members = member;
    }
    if (code != SQLITE_OK) st = sqlite_fail(loader);
done:
    if (sqlite3_finalize(statement) != SQLITE_OK && st == TUNELOOKUP_OK) st = sqlite_fail(loader);
    return st;
}

/* Whether a result has the member's bits on the subject, and its rows those of each batch in which the member was measured, as far as both have rows. False where nothing tells: of rows behind the
 * member's longest batch nobody knows whether they are the same in two batches. */
static bool has_bits(const mt_lookup_front_reader *reader, int64_t subject, const char *bits, const char *row_bits)
{
    bool is_told = false;
    for (const struct mt_lookup_member *member = reader->members; member; member = member->next) {
        const size_t ours = strlen(row_bits), theirs = strlen(member->row_bits), both = ours < theirs ? ours : theirs;
        if (*bits && *member->bits && member->subject == subject) {
            if (strcmp(bits, member->bits) != 0) return false;
            is_told = true;
        }
        if (both > OF_BATCH && strncmp(row_bits, member->row_bits, OF_BATCH) == 0) {
            if (strncmp(row_bits, member->row_bits, both) != 0) return false;
            is_told = is_told || ours <= theirs;
        }
    }
    return is_told;
}

/* On all of the shape's workloads. */
static bool is_in_class(mt_lookup_front_reader *reader, const mt_lookup_row *head, int64_t variant)
{
    bool is_in = true;
    for (; head && is_in; head = head->next) {
        sqlite3_bind_int64(reader->bits, 1, head->subject);
        sqlite3_bind_int64(reader->bits, 2, variant);
        is_in = sqlite3_step(reader->bits) == SQLITE_ROW && strcmp(text_of(reader->bits, 2), "ok") == 0 && has_bits(reader, head->subject, text_of(reader->bits, 0), text_of(reader->bits, 1));
        sqlite3_reset(reader->bits);
    }
    return is_in;
}

static tunelookup_status add_class(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *head, mt_lookup_row *winner)
{
    tunelookup_status st = TUNELOOKUP_OK;
    mt_lookup_row **end = &winner->of_class;
    int code = sqlite3_bind_int64(reader->times, 1, winner->subject), found = 0;
    while (code == SQLITE_OK && found < CLASS_ROWS && sqlite3_step(reader->times) == SQLITE_ROW) {
        bool may_answer = is_in_class(reader, head, sqlite3_column_int64(reader->times, 1));
        if (may_answer) LOOKUP_TRY(check_variant(loader, reader, winner, &may_answer));
        if (!may_answer) continue;
        LOOKUP_TRY(read_row(loader, reader, head, winner, sqlite3_column_int64(reader->times, 0), end));
        if (!*end) continue;
        end = &(*end)->slower;
        found++;
    }
    list(loader, winner->of_class);
done:
    if (sqlite3_reset(reader->times) != SQLITE_OK && st == TUNELOOKUP_OK) st = sqlite_fail(loader);
    return st;
}

/* Files of schemas before 11 lack the columns: nothing of them is in a class. */
static bool has_fingerprints(const mt_lookup_loader *loader)
{
    return sqlite3_table_column_metadata(loader->db, "main", "measurement", "row_bits", NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static tunelookup_status prepare(mt_lookup_loader *loader, mt_lookup_front_reader *reader)
{
    static const char *const sql[] = { times_sql, row_sql, subject_sql };
    sqlite3_stmt **const statements[] = { &reader->times, &reader->row, &reader->on_subject };
    if (reader->times) return TUNELOOKUP_OK;
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++)
        if (sqlite3_prepare_v2(loader->db, sql[i], -1, statements[i], NULL) != SQLITE_OK) return sqlite_fail(loader);
    if (!loader->answers->member || !has_fingerprints(loader)) return TUNELOOKUP_OK;
    if (sqlite3_prepare_v2(loader->db, bits_sql, -1, &reader->bits, NULL) != SQLITE_OK) return sqlite_fail(loader);
    return read_members(loader, reader);
}

tunelookup_status mt_lookup_front_read(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *head, mt_lookup_row *winner)
{
    tunelookup_status st = TUNELOOKUP_OK;
    LOOKUP_TRY(prepare(loader, reader));
    if (reader->members) LOOKUP_TRY(add_class(loader, reader, head, winner));
    if (!(loader->plan->db->flags & TUNELOOKUP_ERRORS)) return st;
    for (const mt_lookup_row *beside = head; beside; beside = beside->next) LOOKUP_TRY(add_front(loader, reader, head, beside, &winner->slower));
    winner->most_error = over_workloads(reader, head, winner).error;
    list(loader, winner->slower);
done:
    return st;
}

void mt_lookup_front_end(mt_lookup_front_reader *reader)
{
    sqlite3_finalize(reader->times);
    sqlite3_finalize(reader->row);
    sqlite3_finalize(reader->on_subject);
    sqlite3_finalize(reader->bits);
}
