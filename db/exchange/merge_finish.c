/* After merging: time instead of insertion decides what is newest, comparison points are chosen, winners picked. */
#include <stdlib.h>

#include "db/store/answer.h"
#include "db/exchange/merge_internal.h"
#include "db/store/current.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

/* ---- ids in order of time ---- */

/* Everywhere the newest row of a group is that with the greatest id. Files are merged in any order, so that ids of a group are dealt out anew where they contradict its times; equal
 * times go by content, so that the order of merging has no say. Groups of one row, all but a few where the parts are shards of a space, cost an entry of an index. */
typedef struct ordered {
    const char *groups;        /* SELECT group a, group b of several rows, behind the group (?1, ?2), GROUPS_AT_ONCE at most */
    const char *rows;          /* SELECT id of the group (?1, ?2), the oldest first */
    const char *moves[6];      /* ?1: the new id; ?2: the old one */
    mt_status (*moved)(mt_store *store, int64_t a, int64_t b, mt_error *err); /* what follows from the order; NULL = nothing */
} ordered;

enum { GROUPS_AT_ONCE = 500 }; /* the number in the statements */
#define SESSION_KEY "s.started_unix_ms, s.host, s.boot_id, s.process_id"
static const ordered measurements = {
    .groups = "SELECT subject_id, variant_id FROM measurement WHERE (subject_id, variant_id) > (?1, ?2) GROUP BY subject_id, variant_id HAVING count(*) > 1 LIMIT 500",
    .rows = "SELECT m.id FROM measurement m JOIN session s ON s.id = m.session_id WHERE m.subject_id = ?1 AND m.variant_id = ?2 "
            "ORDER BY m.created_unix_ms, m.evaluation, m.outcome, ifnull(m.median_ns, 0), " SESSION_KEY,
    .moves = {"UPDATE main.measurement SET id = ?1 WHERE id = ?2", "UPDATE main.finalist SET measurement_id = ?1 WHERE measurement_id = ?2",
              "UPDATE main.best SET measurement_id = ?1 WHERE measurement_id = ?2", "UPDATE main.metric SET measurement_id = ?1 WHERE measurement_id = ?2",
              "UPDATE main.library_comparison SET measurement_id = ?1 WHERE measurement_id = ?2"},
    .moved = mt_current_renew,
};
static const ordered finals = {
    .groups = "SELECT subject_id, 0 FROM final_round WHERE (subject_id, 0) > (?1, ?2) GROUP BY subject_id HAVING count(*) > 1 LIMIT 500",
    .rows = "SELECT f.id FROM final_round f JOIN session s ON s.id = f.session_id WHERE f.subject_id = ?1 AND ?2 = 0 ORDER BY f.created_unix_ms, f.method, f.rounds, " SESSION_KEY,
    .moves = {"UPDATE main.final_round SET id = ?1 WHERE id = ?2", "UPDATE main.finalist SET final_id = ?1 WHERE final_id = ?2", "UPDATE main.best SET final_id = ?1 WHERE final_id = ?2"},
};

typedef struct place { int64_t a, b; } place; /* of a group */

/* Rows of one group. */
typedef struct group {
    int64_t *ids, *by_time; /* both ids; ascending, and from the oldest row to the newest */
    size_t count, id_capacity, time_capacity;
} group;

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool add_to_group(group *g, int64_t id)
{
    int64_t *ids = mt_grow(g->ids, g->count, &g->id_capacity, sizeof *ids);
    if (ids) g->ids = ids;
    int64_t *by_time = ids ? mt_grow(g->by_time, g->count, &g->time_capacity, sizeof *by_time) : NULL;
    if (!by_time) return false;
    g->by_time = by_time;
    g->ids[g->count] = g->by_time[g->count] = id;
    g->count++;
    return true;
}

static mt_status start(mt_store *store, const char *sql, place at, mt_sql_args *args, mt_error *err)
{
    sqlite3_stmt *statement;
    mt_status st = mt_sql_cached_get(store, sql, &statement, err);
    if (st != MT_OK) return st;
    *args = mt_sql_args_of(statement);
    mt_sql_int(args, at.a);
    mt_sql_int(args, at.b);
    return MT_OK;
}

static mt_status read_group(mt_store *store, const ordered *what, place at, group *g, mt_error *err)
{
    mt_status st;
    mt_sql_args args = {0};
    g->count = 0;
    MT_TRY(start(store, what->rows, at, &args, err));
    for (bool row = true;;) {
        MT_TRY(mt_sql_row(store, &args, &row, "order what was merged", err));
        if (!row) break;
        if (!add_to_group(g, sqlite3_column_int64(args.statement, 0))) MT_LEAVE(mt_merge_no_memory(store->path, err));
    }
done:
    sqlite3_reset(args.statement);
    return st;
}

static mt_status move_row(mt_store *store, const ordered *what, int64_t to, int64_t from, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; what->moves[i] && st == MT_OK; i++) {
        mt_sql_args args;
        st = start(store, what->moves[i], (place){to, from}, &args, err);
        if (st == MT_OK) st = mt_sql_run(store, &args, "order what was merged", err);
    }
    return st;
}

/* Place i is to hold the row by_time[i]. Along each cycle: the row of the first place steps aside (to id 0, which no row has), each of the others takes the place that is free, and that
 * of the first the last one. */
static mt_status move_group(mt_store *store, const ordered *what, group *g, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < g->count; i++) {
        int64_t first = g->ids[i], *free_place = &g->ids[i];
        if (g->by_time[i] == first) continue;
        MT_TRY(move_row(store, what, 0, first, err));
        for (;;) {
            int64_t *wanted = &g->by_time[free_place - g->ids], from = *wanted;
            *wanted = *free_place;
            MT_TRY(move_row(store, what, *free_place, from == first ? 0 : from, err));
            if (from == first) break;
            free_place = bsearch(&from, g->ids, g->count, sizeof from, by_number);
        }
    }
done:
    return st;
}

static bool is_ascending(const int64_t *ids, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (ids[i - 1] > ids[i]) return false;
    return true;
}

static mt_status next_groups(mt_store *store, const ordered *what, place behind, place *groups, size_t *count, mt_error *err)
{
    mt_status st;
    mt_sql_args args = {0};
    *count = 0;
    MT_TRY(start(store, what->groups, behind, &args, err));
    for (bool row = true; *count < GROUPS_AT_ONCE;) {
        MT_TRY(mt_sql_row(store, &args, &row, "order what was merged", err));
        if (!row) break;
        groups[(*count)++] = (place){sqlite3_column_int64(args.statement, 0), sqlite3_column_int64(args.statement, 1)};
    }
done:
    sqlite3_reset(args.statement);
    return st;
}

/* A portion of the groups is noted, then put in order: nothing is read while it changes, and memory does not grow with the rows. */
static mt_status put_in_order(mt_store *store, const ordered *what, mt_error *err)
{
    mt_status st = MT_OK;
    place groups[GROUPS_AT_ONCE] = {{-1, -1}};
    size_t count = 1;
    group g = {0};
    do {
        MT_TRY(next_groups(store, what, groups[count - 1], groups, &count, err));
        for (size_t i = 0; i < count; i++) {
            MT_TRY(read_group(store, what, groups[i], &g, err));
            if (is_ascending(g.ids, g.count)) continue;
            qsort(g.ids, g.count, sizeof *g.ids, by_number);
            MT_TRY(move_group(store, what, &g, err));
            if (what->moved) MT_TRY(what->moved(store, groups[i].a, groups[i].b, err));
        }
    } while (count == GROUPS_AT_ONCE);
done:
    mt_free(g.ids);
    mt_free(g.by_time);
    return st;
}

/* ---- comparison points ---- */

/* Of those gathered and those there were, the variant that was measured last. */
static const char choose_comparison_points[] =
    "INSERT OR REPLACE INTO main.landmark (subject_id, role, variant_id) SELECT subject_id, role, variant_id FROM ("
    "SELECT c.subject_id, c.role, c.variant_id, row_number() OVER (PARTITION BY c.subject_id, c.role ORDER BY "
    "ifnull((SELECT m.created_unix_ms FROM current_result n JOIN measurement m ON m.id = n.newest_id WHERE n.subject_id = c.subject_id AND n.variant_id = c.variant_id), -1) DESC, v.text) AS place "
    "FROM (SELECT subject_id, role, variant_id FROM temp.merge_landmark UNION SELECT subject_id, role, variant_id FROM landmark) c "
    "JOIN variant v ON v.id = c.variant_id) WHERE place = 1; DELETE FROM temp.merge_landmark";

/* ---- winners ---- */

typedef struct subjects { mt_subject *items; size_t count, capacity; } subjects;

static mt_status read_subjects(mt_store *store, subjects *list, mt_error *err)
{
    mt_status st;
    mt_sql_args rows = mt_sql_query(store, "SELECT device_id, kernel_id, shape_id, workload_id, regime, origin FROM subject ORDER BY id", MT_NO_IN, &st, err);
    while (mt_sql_each(store, &rows, "read subjects", &st, err)) {
        sqlite3_stmt *statement = rows.statement;
        mt_subject *subject = MT_APPEND(list->items, list->count, list->capacity);
        if (!subject) {
            st = mt_merge_no_memory(store->path, err);
            continue;
        }
        *subject = (mt_subject){.device = sqlite3_column_int64(statement, 0), .kernel = sqlite3_column_int64(statement, 1),
                                .shape = sqlite3_column_int64(statement, 2), .workload = sqlite3_column_int64(statement, 3)};
        if (!mt_l2_from_name(mt_sql_column(statement, 4), &subject->l2) || !mt_origin_from_name(mt_sql_column(statement, 5), &subject->origin))
            st = MT_FAIL(err, MT_ERR_DB, "%s: a subject has an impossible cache state or origin", store->path);
    }
    return st;
}

/* When a winner was found says which of two sources is the newer one (the lookup's choice): the time of its measurement, not that of the merge. */
static const char date_winners[] =
    "UPDATE main.best SET updated_unix_ms = (SELECT max(m.created_unix_ms, ifnull((SELECT created_unix_ms FROM final_round WHERE id = best.final_id), 0)) "
    "FROM measurement m WHERE m.id = best.measurement_id) WHERE measurement_id IN (SELECT id FROM measurement); " MT_ANSWER_INSERT;

static mt_status pick_winners(mt_store *store, mt_error *err)
{
    subjects list = {0};
    mt_status st = read_subjects(store, &list, err);
    for (size_t i = 0; i < list.count && st == MT_OK; i++) st = mt_store_refresh_best(store, &list.items[i], err);
    if (st == MT_OK) st = mt_sql_exec(store, date_winners, err);
    mt_free(list.items);
    return st;
}

mt_status mt_merge_order(mt_store *store, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_exec(store, "PRAGMA defer_foreign_keys = ON", err);
    if (st == MT_OK) st = put_in_order(store, &measurements, err);
    if (st == MT_OK) st = put_in_order(store, &finals, err);
    if (st == MT_OK) st = mt_sql_exec(store, choose_comparison_points, err);
    if (st == MT_OK) st = pick_winners(store, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}
