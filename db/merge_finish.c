/* After merging: time instead of insertion decides what is newest, landmarks are chosen, winners picked. */
#include <stdlib.h>
#include <string.h>

#include "db/answer.h"
#include "db/merge.h"
#include "db/store_internal.h"
#include "tuner/base/alloc.h"

/* ---- ids in order of time ---- */

/* Everywhere the newest row of a group is that with the greatest id. Files are merged in any order, so that ids of a group are dealt out anew where they
 * contradict its times. A key orders rows by time, and equal times by content, so that the order of merging has no say. */
typedef struct ordered {
    const char *rows;          /* SELECT group a, group b, id, key ordered by group and id */
    const char *moves[5];      /* ?1: the new id, negated; ?2: the old one */
    const char *settles;       /* negated ids become positive */
} ordered;

#define SESSION_KEY "s.started_unix_ms, s.host, s.boot_id, s.process_id"
static const ordered measurements = {
    .rows = "SELECT m.subject_id, m.variant_id, m.id, printf('%020lld|%012lld|%s|%.17g|%020lld|%s|%s|%lld', m.created_unix_ms, m.evaluation, m.outcome, "
            "ifnull(m.median_ns, 0), " SESSION_KEY ") FROM measurement m JOIN session s ON s.id = m.session_id ORDER BY m.subject_id, m.variant_id, m.id",
    .moves = {"UPDATE measurement SET id = ?1 WHERE id = ?2", "UPDATE finalist SET measurement_id = ?1 WHERE measurement_id = ?2",
              "UPDATE best SET measurement_id = ?1 WHERE measurement_id = ?2", "UPDATE metric SET measurement_id = ?1 WHERE measurement_id = ?2"},
    .settles = "UPDATE measurement SET id = -id WHERE id < 0; UPDATE finalist SET measurement_id = -measurement_id WHERE measurement_id < 0; "
               "UPDATE best SET measurement_id = -measurement_id WHERE measurement_id < 0; UPDATE metric SET measurement_id = -measurement_id WHERE measurement_id < 0",
};
static const ordered finals = {
    .rows = "SELECT f.subject_id, 0, f.id, printf('%020lld|%s|%lld|%020lld|%s|%s|%lld', f.created_unix_ms, f.method, f.rounds, " SESSION_KEY ") "
            "FROM final_round f JOIN session s ON s.id = f.session_id ORDER BY f.subject_id, f.id",
    .moves = {"UPDATE final_round SET id = ?1 WHERE id = ?2", "UPDATE finalist SET final_id = ?1 WHERE final_id = ?2", "UPDATE best SET final_id = ?1 WHERE final_id = ?2"},
    .settles = "UPDATE final_round SET id = -id WHERE id < 0; UPDATE finalist SET final_id = -final_id WHERE final_id < 0; UPDATE best SET final_id = -final_id WHERE final_id < 0",
};

typedef struct keyed { int64_t id; char *key; } keyed;
typedef struct move { int64_t from, to; } move;

typedef struct reorder {
    keyed *group; /* rows of the group at hand, by id */
    size_t count, capacity;
    move *moves;
    size_t move_count, move_capacity;
} reorder;

static int by_key(const void *a, const void *b)
{
    return strcmp(((const keyed *)a)->key, ((const keyed *)b)->key);
}

static mt_status no_memory(const mt_store *store, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: merge: out of memory", store->path);
}

/* Notes what must move, and empties the group. */
static bool end_group(reorder *r)
{
    bool good = true, is_sorted = true;
    int64_t *ids = r->count > 1 ? mt_alloc(r->count, sizeof *ids) : NULL;
    for (size_t i = 1; i < r->count; i++) is_sorted = is_sorted && by_key(&r->group[i - 1], &r->group[i]) <= 0;
    good = ids || r->count <= 1;
    for (size_t i = 0; i < r->count && ids; i++) ids[i] = r->group[i].id;
    if (ids && !is_sorted) qsort(r->group, r->count, sizeof *r->group, by_key);
    for (size_t i = 0; i < r->count && good && !is_sorted; i++) {
        if (r->group[i].id == ids[i]) continue;
        move *moves = mt_grow(r->moves, r->move_count, &r->move_capacity, sizeof *moves);
        good = moves != NULL;
        if (moves) r->moves = moves, moves[r->move_count++] = (move){r->group[i].id, ids[i]};
    }
    for (size_t i = 0; i < r->count; i++) mt_free(r->group[i].key);
    r->count = 0;
    mt_free(ids);
    return good;
}

static bool add_to_group(reorder *r, int64_t id, const char *key)
{
    keyed *group = mt_grow(r->group, r->count, &r->capacity, sizeof *group);
    if (!group) return false;
    r->group = group;
    group[r->count] = (keyed){id, mt_strdup(key)};
    return group[r->count].key ? r->count++, true : false;
}

static mt_status find_moves(mt_store *store, const ordered *what, reorder *r, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    int64_t last_a = -1, last_b = -1;
    MT_TRY(mt_sql_prepare(store, what->rows, &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    for (;;) {
        bool row;
        MT_TRY(mt_sql_row(store, &args, &row, "order what was merged", err));
        int64_t a = row ? sqlite3_column_int64(statement, 0) : -1, b = row ? sqlite3_column_int64(statement, 1) : -1;
        bool good = (row && a == last_a && b == last_b) || end_group(r);
        if (good && row) good = add_to_group(r, sqlite3_column_int64(statement, 2), mt_sql_column(statement, 3));
        if (!good) {
            st = no_memory(store, err);
            goto done;
        }
        if (!row) break;
        last_a = a;
        last_b = b;
    }
done:
    sqlite3_finalize(statement);
    return st;
}

static mt_status make_moves(mt_store *store, const ordered *what, const reorder *r, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t k = 0; what->moves[k] && r->move_count; k++) {
        sqlite3_stmt *statement;
        MT_TRY(mt_sql_cached_get(store, what->moves[k], &statement, err));
        for (size_t i = 0; i < r->move_count; i++) {
            mt_sql_args args = mt_sql_args_of(statement);
            mt_sql_int(&args, -r->moves[i].to);
            mt_sql_int(&args, r->moves[i].from);
            MT_TRY(mt_sql_run(store, &args, "order what was merged", err));
        }
    }
    if (r->move_count) st = mt_sql_exec(store, what->settles, err);
done:
    return st;
}

static mt_status put_in_order(mt_store *store, const ordered *what, mt_error *err)
{
    reorder r = {0};
    mt_status st = find_moves(store, what, &r, err);
    if (st == MT_OK) st = make_moves(store, what, &r, err);
    end_group(&r);
    mt_free(r.group);
    mt_free(r.moves);
    return st;
}

/* ---- landmarks ---- */

/* Of those gathered and those there were, the variant that was measured last. */
static const char choose_landmarks[] =
    "INSERT OR REPLACE INTO landmark (subject_id, role, variant_id) SELECT subject_id, role, variant_id FROM ("
    "SELECT c.subject_id, c.role, c.variant_id, row_number() OVER (PARTITION BY c.subject_id, c.role ORDER BY "
    "ifnull((SELECT max(m.created_unix_ms) FROM measurement m WHERE m.subject_id = c.subject_id AND m.variant_id = c.variant_id), -1) DESC, v.text) AS place "
    "FROM (SELECT subject_id, role, variant_id FROM temp.merge_landmark UNION SELECT subject_id, role, variant_id FROM main.landmark) c "
    "JOIN variant v ON v.id = c.variant_id) WHERE place = 1; DELETE FROM temp.merge_landmark";

/* ---- winners ---- */

typedef struct subjects { mt_subject *items; size_t count, capacity; } subjects;

static mt_status read_subjects(mt_store *store, subjects *list, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement = NULL;
    MT_TRY(mt_sql_prepare(store, "SELECT device_id, kernel_id, shape_id, workload_id, regime, origin FROM subject ORDER BY id", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    for (;;) {
        bool row;
        MT_TRY(mt_sql_row(store, &args, &row, "read subjects", err));
        if (!row) break;
        mt_subject *items = mt_grow(list->items, list->count, &list->capacity, sizeof *items);
        if (!items) {
            st = no_memory(store, err);
            goto done;
        }
        list->items = items;
        mt_subject *subject = &items[list->count++];
        *subject = (mt_subject){.device = sqlite3_column_int64(statement, 0), .kernel = sqlite3_column_int64(statement, 1),
                                .shape = sqlite3_column_int64(statement, 2), .workload = sqlite3_column_int64(statement, 3)};
        if (!mt_regime_from_name(mt_sql_column(statement, 4), &subject->regime) || !mt_origin_from_name(mt_sql_column(statement, 5), &subject->origin)) {
            st = MT_FAIL(err, MT_ERR_DB, "%s: a subject has an impossible regime or origin", store->path);
            goto done;
        }
    }
done:
    sqlite3_finalize(statement);
    return st;
}

/* When a winner was found says which of two sources is the newer one (the lookup's choice): the time of its measurement, not that of the merge. */
static const char date_winners[] =
    "UPDATE best SET updated_unix_ms = (SELECT max(m.created_unix_ms, ifnull((SELECT created_unix_ms FROM final_round WHERE id = best.final_id), 0)) "
    "FROM measurement m WHERE m.id = best.measurement_id); " MT_ANSWER_INSERT;

static mt_status pick_winners(mt_store *store, mt_error *err)
{
    subjects list = {0};
    mt_status st = read_subjects(store, &list, err);
    for (size_t i = 0; i < list.count && st == MT_OK; i++) st = mt_store_refresh_best(store, &list.items[i], err);
    if (st == MT_OK) st = mt_sql_exec(store, date_winners, err);
    mt_free(list.items);
    return st;
}

mt_status mt_merge_finish(mt_store *store, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_exec(store, "PRAGMA defer_foreign_keys = ON; CREATE TEMP TABLE IF NOT EXISTS merge_landmark (subject_id INTEGER, role TEXT, variant_id INTEGER)", err);
    if (st == MT_OK) st = put_in_order(store, &measurements, err);
    if (st == MT_OK) st = put_in_order(store, &finals, err);
    if (st == MT_OK) st = mt_sql_exec(store, choose_landmarks, err);
    if (st == MT_OK) st = pick_winners(store, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}
