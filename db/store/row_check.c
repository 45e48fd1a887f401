#include "db/store/row_check.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "db/row_relations.h"
#include "db/row_sqlite.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/hash.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"

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

/* How many the frame says that it holds; 0: it is none, or too large. */
static size_t count_of(const mt_row_value *samples)
{
    unsigned long long bytes = ZSTD_getFrameContentSize(samples->text, samples->size);
    return bytes % sizeof(float) == 0 && bytes / sizeof(float) <= SAMPLES_LIMIT ? (size_t)bytes / sizeof(float) : 0;
}

static bool are_sound(mt_store *store, const mt_row_value *samples)
{
    size_t count = count_of(samples), bytes = count * sizeof(float);
    if (!store->unpacker) store->unpacker = ZSTD_createDCtx();
    float *room = count && store->unpacker ? mt_alloc(count, sizeof *room) : NULL;
    bool are_sound = room && ZSTD_decompressDCtx(store->unpacker, room, bytes, samples->text, samples->size) == bytes && mt_row_times_are_sound(room, count);
    mt_free(room);
    return are_sound;
}

/* ---- code ---- */

/* Of table cubin; which nobody has written compressed for long. */
static bool is_sound_code(const mt_row_value *values, char *why, size_t size)
{
    enum { HASH, ENCODING, SIZE, BYTES };
    if (values[ENCODING].size != strlen("raw")) return true;
    mt_hash hash = mt_hash_bytes(values[BYTES].text, values[BYTES].size);
    if (memcmp(hash.hex, values[HASH].text, sizeof hash.hex - 1) == 0 && values[SIZE].integer == (int64_t)values[BYTES].size) return true;
    snprintf(why, size, "bytes are damaged; expected code of the hash %s", values[HASH].text);
    return false;
}

/* ---- a row that is read ---- */

const char *mt_row_number_of(const char *table)
{
    return strcmp(table, "landmark") == 0 || strcmp(table, "answer") == 0 ? "subject_id" : "rowid";
}

static const struct { const char *table, *joins, *problem; } relations[] = {
    {"finalist", MT_FINALIST_JOINS, MT_FINALIST_PROBLEM}, {"best", MT_BEST_JOINS, MT_BEST_PROBLEM}, {"answer", MT_ANSWER_JOINS, MT_ANSWER_PROBLEM}, {NULL, "", "NULL"}};

void mt_row_select(const char *table, mt_strbuf *sql)
{
    size_t count, relation = 0;
    const mt_row_column *columns = mt_row_columns(table, &count);
    while (relations[relation].table && strcmp(relations[relation].table, table) != 0) relation++;
    mt_strbuf_addf(sql, "SELECT %s.%s", table, mt_row_number_of(table));
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(sql, ", %s.%s", table, columns[i].name);
    mt_strbuf_addf(sql, ", %s FROM main.%s%s", relations[relation].problem, table, relations[relation].joins);
}

static int prepare_walk(mt_row_walk *walk, bool wants_number)
{
    mt_strbuf sql = {0};
    int code = SQLITE_NOMEM;
    /* What orders the rows without being sorted, for which they would be read as a whole. */
    const char *order = strcmp(walk->table, "answer") == 0 ? "kernel_id, answer.device_id, answer.subject_id" : strcmp(walk->table, "landmark") == 0 ? "subject_id, landmark.role" : "rowid";
    if (wants_number) mt_strbuf_addf(&sql, "SELECT %s FROM main.%s", mt_row_number_of(walk->table), walk->table);
    else mt_row_select(walk->table, &sql);
    mt_strbuf_addf(&sql, " ORDER BY %s.%s LIMIT -1 OFFSET %lld", walk->table, order, (long long)walk->place);
    if (!sql.failed) code = sqlite3_prepare_v2(walk->db, mt_strbuf_text(&sql), -1, &walk->statement, NULL);
    mt_strbuf_free(&sql);
    return code;
}

int mt_row_walk_next(mt_row_walk *walk, char *why, size_t size)
{
    int code = walk->statement ? SQLITE_OK : prepare_walk(walk, false);
    if (code == SQLITE_OK) code = sqlite3_step(walk->statement);
    bool is_too_long = (code & 0xff) == SQLITE_TOOBIG;
    if (is_too_long) {
        mt_row_walk_end(walk);
        code = prepare_walk(walk, true);
        if (code == SQLITE_OK) code = sqlite3_step(walk->statement);
        snprintf(why, size, "it holds a value of more than %d bytes", sqlite3_limit(walk->db, SQLITE_LIMIT_LENGTH, -1));
    }
    if (code != SQLITE_ROW) return code;
    walk->place++;
    walk->row = sqlite3_column_int64(walk->statement, 0);
    if (is_too_long) mt_row_walk_end(walk);
    return is_too_long ? SQLITE_TOOBIG : SQLITE_ROW;
}

void mt_row_walk_end(mt_row_walk *walk)
{
    sqlite3_finalize(walk->statement);
    walk->statement = NULL;
}

/* Every column of packed times, and of a measurement their number. */
static bool has_sound_samples(mt_store *store, const char *table, const mt_row_value *values, char *why, size_t size)
{
    size_t count;
    const mt_row_column *rules = mt_row_columns(table, &count), *counted = mt_row_column_find(table, "sample_count", strlen("sample_count"));
    for (size_t i = 0; i < count; i++) {
        if (rules[i].kind != MT_ROW_SAMPLES || values[i].type == MT_ROW_VALUE_NULL) continue;
        bool is_counted = !counted || values[counted - rules].integer == (int64_t)count_of(&values[i]);
        if (is_counted && are_sound(store, &values[i])) continue;
        snprintf(why, size, "%s is damaged; expected %spacked times from 0 to 1e16 ns", rules[i].name, counted ? "sample_count " : "");
        return false;
    }
    return true;
}

bool mt_row_at_hand_is_sound(mt_store *store, const char *table, sqlite3_stmt *statement, char *why, size_t size)
{
    mt_row_value values[MT_ROW_COLUMNS];
    size_t count;
    mt_row_columns(table, &count);
    if (sqlite3_column_int64(statement, 0) < 1) { /* what refers to it would break the rules */
        snprintf(why, size, "its number is %lld; expected 1 or more", (long long)sqlite3_column_int64(statement, 0));
        return false;
    }
    for (size_t i = 0; i < count; i++) values[i] = mt_row_value_at(statement, (int)i + 1);
    bool is_sound = mt_row_is_sound(table, values, why, size) && has_sound_samples(store, table, values, why, size);
    return is_sound && (strcmp(table, "cubin") != 0 || is_sound_code(values, why, size));
}

bool mt_row_at_hand_agrees(sqlite3_stmt *statement, char *why, size_t size)
{
    const char *problem = mt_sql_column_or_null(statement, sqlite3_column_count(statement) - 1);
    if (problem) snprintf(why, size, "%s", problem);
    return !problem;
}

/* ---- naming ---- */

static bool is_to_be_named(mt_left_out *left_out)
{
    return ++left_out->count <= NAMED && left_out->path;
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
