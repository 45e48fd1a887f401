#include "db/store/row_check.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "db/row_sqlite.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"

enum { NAMED = 5, SAMPLES_LIMIT = 1 << 24 };

/* ---- what an INSERT is given ---- */

/* "INSERT OR REPLACE INTO main.table (": the table's name, and where its columns begin. False: another statement. */
static bool read_table(const char *sql, char *table, size_t size, const char **columns)
{
    const char *at = strstr(sql, "INTO main.");
    if (!at) return false;
    at += strlen("INTO main.");
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    if (length >= size || at[length] != ' ' || at[length + 1] != '(') return false;
    snprintf(table, size, "%.*s", (int)length, at);
    *columns = at + length + 2;
    return true;
}

bool mt_row_insert_is_sound(const char *sql, const mt_row_values *row, int count, char *why, size_t size)
{
    char table[32], reason[400];
    const char *at;
    size_t all;
    int i = 0;
    mt_row_value whole[MT_ROW_COLUMNS];
    if (!read_table(sql, table, sizeof table, &at)) return true;
    const mt_row_column *rules = mt_row_columns(table, &all);
    for (; i < count && *at && *at != ')'; i++) {
        size_t length = strcspn(at, ",)");
        const mt_row_column *column = mt_row_column_find(table, at, length);
        if (column) whole[column - rules] = row->values[i];
        if (column && !mt_row_value_is_sound(column, &row->values[i])) {
            mt_row_value_explain(column, &row->values[i], reason, sizeof reason);
            snprintf(why, size, "%s: %s", table, reason);
            return false;
        }
        at += length;
        at += strspn(at, ", ");
    }
    if (all == 0 || (size_t)i < all || mt_row_is_sound(table, whole, reason, sizeof reason)) return true;
    snprintf(why, size, "%s: %s", table, reason);
    return false;
}

/* ---- samples ---- */

bool mt_samples_are_sound(const void *blob, size_t size, int64_t count, bool is_thorough)
{
    size_t bytes = (size_t)count * sizeof(float);
    if (count < 1 || count > SAMPLES_LIMIT || ZSTD_getFrameContentSize(blob, size) != bytes) return false;
    if (!is_thorough) return true;
    void *room = mt_alloc(bytes, 1);
    bool is_sound = room && ZSTD_decompress(room, bytes, blob, size) == bytes;
    mt_free(room);
    return is_sound;
}

/* ---- a row that is read ---- */

const char *mt_row_number_of(const char *table)
{
    return strcmp(table, "landmark") == 0 ? "subject_id" : "rowid";
}

static const mt_row_value *value_of(const char *name, const mt_row_column *rules, const mt_row_value *values)
{
    return &values[mt_row_column_find("measurement", name, strlen(name)) - rules];
}

static bool has_sound_samples(const mt_row_column *rules, const mt_row_value *values, bool is_thorough)
{
    const mt_row_value *counted = value_of("sample_count", rules, values), *samples = value_of("samples", rules, values);
    return samples->type == MT_ROW_VALUE_NULL || (counted->type == MT_ROW_VALUE_INTEGER && mt_samples_are_sound(samples->text, samples->size, counted->integer, is_thorough));
}

bool mt_row_at_hand_is_sound(const char *table, sqlite3_stmt *statement, bool is_thorough, char *why, size_t size)
{
    mt_row_value values[MT_ROW_COLUMNS];
    size_t count;
    const mt_row_column *rules = mt_row_columns(table, &count);
    for (size_t i = 0; i < count; i++) values[i] = mt_row_value_at(statement, (int)i + 1);
    if (!mt_row_is_sound(table, values, why, size)) return false;
    if (strcmp(table, "measurement") != 0 || has_sound_samples(rules, values, is_thorough)) return true;
    snprintf(why, size, "samples is damaged; expected sample_count packed numbers");
    return false;
}

/* ---- naming ---- */

static bool is_to_be_named(mt_left_out *left_out)
{
    return ++left_out->count <= NAMED;
}

void mt_left_out_name(mt_left_out *left_out, const char *table, int64_t row, const char *why)
{
    if (is_to_be_named(left_out)) mt_log_warn("%s: row %lld of %s is left out: %s", left_out->path, (long long)row, table, why);
}

void mt_left_out_line(mt_left_out *left_out, int64_t line, const char *why)
{
    if (is_to_be_named(left_out)) mt_log_warn("%s:%lld: is left out: %s", left_out->path, (long long)line, why);
}

void mt_left_out_end(const mt_left_out *left_out)
{
    long long more = (long long)left_out->count - NAMED;
    if (more > 0) mt_log_warn("%s: %lld more row%s left out", left_out->path, more, more == 1 ? " is" : "s are");
}
