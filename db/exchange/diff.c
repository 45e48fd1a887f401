/* Both sides are read in one order of subjects and variants, side by side; one subject's rows are in memory. */
#include "db/exchange/diff.h"

#include <math.h>
#include <string.h>

#include "db/counted_rows.h"
#include "db/store/query_internal.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

/* ---- verdicts ---- */

const char *mt_diff_verdict_name(mt_diff_verdict verdict)
{
    static const char *const names[] = {"SAME", "FAST", "SLOW", "AMBG"};
    return names[verdict];
}

mt_diff_verdict mt_diff_judge(const mt_diff_time *a, const mt_diff_time *b, double threshold, mt_diff_ratio *ratio)
{
    *ratio = (mt_diff_ratio){b->median_ns / a->median_ns - 1, b->low_ns / a->high_ns - 1, b->high_ns / a->low_ns - 1};
    if (isnan(ratio->low) || isnan(ratio->high)) return MT_DIFF_AMBG;
    if (a->median_ns == b->median_ns && a->created_unix_ms && a->created_unix_ms == b->created_unix_ms) { /* one measurement that both sides have: its uncertainty is no change */
        ratio->low = ratio->high = 0;
        return MT_DIFF_SAME;
    }
    if (ratio->low >= -threshold && ratio->high <= threshold) return MT_DIFF_SAME;
    if (ratio->high < 0) return MT_DIFF_FAST;
    return ratio->low > 0 ? MT_DIFF_SLOW : MT_DIFF_AMBG;
}

/* ---- one side ---- */

enum { KERNEL, SOURCE, SHAPE_KEY, WORKLOAD_KEY, REGIME, ORIGIN, GPU, KEY_COUNT, SHAPE = KEY_COUNT, WORKLOAD, VARIANT, MEDIAN, LOW, HIGH, NVRTC, DRIVER, CREATED, IS_BEST };

/* The newest row of each variant among the side's rows, where it is OK. Where nothing restricts the side by time or toolchain, the winner is the one that `show` shows, with
 * the figures of its final; else the fastest row. */
static const char side_sql[] =
    "WITH mine AS (SELECT max(m.id) AS id FROM measurement m JOIN subject s ON s.id = m.subject_id JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id "
    "JOIN toolchain t ON t.id = m.toolchain_id JOIN shape h ON h.id = s.shape_id JOIN workload w ON w.id = s.workload_id "
    "WHERE (?1 IS NULL OR mt_device_matches(?1, d.key, d.name)) AND " MT_KEY_BEGINS("?2") " AND (?3 = 0 OR t.driver_version = ?3) "
    "AND (?4 = 0 OR t.nvrtc_version = ?4) AND (?5 = 0 OR m.session_id = ?5) AND (?6 = 0 OR m.created_unix_ms >= ?6) AND (?7 = 0 OR m.created_unix_ms < ?7) "
    "AND (?8 IS NULL OR k.name = ?8) AND (?9 IS NULL OR h.name = ?9) AND (?10 IS NULL OR w.name = ?10) AND (?11 IS NULL OR s.origin = ?11) AND (?12 IS NULL OR s.regime = ?12) "
    "AND (?16 IS NULL OR mt_device_matches(?16, d.key, d.name)) AND " MT_IS_RUN("m") " "
    "GROUP BY m.subject_id, m.variant_id) "
    "SELECT k.name, k.key, h.key, w.key, s.regime, s.origin, d.key, h.name, w.name, v.text, ifnull(f.median_ns, m.median_ns), "
    "CASE WHEN m.sample_count = 0 THEN NULL WHEN f.median_ns IS NULL THEN m.low_ns ELSE f.low_ns END, CASE WHEN m.sample_count = 0 THEN NULL WHEN f.median_ns IS NULL THEN m.high_ns ELSE f.high_ns END, t.nvrtc_version, t.driver_version, "
    "m.created_unix_ms, b.subject_id IS NOT NULL "
    "FROM mine JOIN measurement m ON m.id = mine.id JOIN subject s ON s.id = m.subject_id JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id "
    "JOIN shape h ON h.id = s.shape_id JOIN workload w ON w.id = s.workload_id JOIN variant v ON v.id = m.variant_id JOIN toolchain t ON t.id = m.toolchain_id "
    "LEFT JOIN best b ON b.subject_id = s.id AND b.measurement_id = m.id AND ?13 LEFT JOIN finalist f ON f.final_id = b.final_id AND f.measurement_id = m.id "
    "WHERE m.outcome = 'ok' AND m.median_ns > 0 ORDER BY k.name, CASE WHEN ?14 THEN '' ELSE k.key END, h.key, w.key, s.regime, s.origin, CASE WHEN ?15 THEN '' ELSE d.key END, "
    "v.text, k.key, d.key";

/* The rows of one subject. */
typedef struct group {
    char *keys[KEY_COUNT], *shape, *workload;
    mt_diff_time *rows;   /* by variant; the texts are owned */
    size_t count, capacity;
    size_t winner;
} group;

typedef struct side {
    const mt_diff_side *wanted;
    char name;            /* 'a', 'b' */
    sqlite3_stmt *statement;
    bool has_row;         /* the statement stands on a row that is not taken yet */
    bool any_source, any_gpu;
    group now;            /* rows == NULL: the side has ended */
} side;

static void clear_group(group *g)
{
    for (int i = 0; i < KEY_COUNT; i++) mt_free(g->keys[i]);
    mt_free(g->shape);
    mt_free(g->workload);
    for (size_t i = 0; i < g->count; i++) mt_free((char *)g->rows[i].variant);
    mt_free(g->rows);
    *g = (group){0};
}

static mt_status step(side *s, mt_error *err)
{
    mt_sql_args args = {.statement = s->statement};
    return mt_sql_row(s->wanted->store, &args, &s->has_row, "compare", err);
}

static mt_status open_side(side *s, const mt_diff_filter *filter, mt_error *err)
{
    const mt_diff_side *w = s->wanted;
    mt_status st = mt_sql_prepare(w->store, side_sql, &s->statement, err);
    if (st != MT_OK) return st;
    mt_sql_args args = mt_sql_args_of(s->statement);
    mt_sql_text(&args, w->gpu);
    mt_sql_text(&args, w->source);
    const int64_t numbers[] = {w->driver, w->nvrtc, w->session, w->since_ms, w->until_ms};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mt_sql_int(&args, numbers[i]);
    mt_sql_text(&args, filter->kernel);
    mt_sql_text(&args, filter->shape);
    mt_sql_text(&args, filter->workload);
    mt_sql_text(&args, filter->origin ? mt_origin_name(*filter->origin) : NULL);
    mt_sql_text(&args, filter->l2 ? mt_l2_name(*filter->l2) : NULL);
    mt_sql_int(&args, !w->driver && !w->nvrtc && !w->session && !w->since_ms && !w->until_ms);
    mt_sql_int(&args, s->any_source);
    mt_sql_int(&args, s->any_gpu);
    mt_sql_text(&args, filter->gpu);
    if (args.code != SQLITE_OK) return mt_sql_fail(w->store, "compare", err);
    return step(s, err);
}

/* A key that does not count here: it is of the side's own choosing. */
static bool is_free(const side *s, int key)
{
    return (key == SOURCE && s->any_source) || (key == GPU && s->any_gpu);
}

static bool continues(const side *s)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (!is_free(s, i) && strcmp(s->now.keys[i], mt_sql_column(s->statement, i)) != 0) return false;
    return true;
}

static mt_status check_one(const side *s, mt_error *err)
{
    static const int free_keys[] = {SOURCE, GPU};
    for (int i = 0; i < 2; i++) {
        const char *here = mt_sql_column(s->statement, free_keys[i]);
        if (strcmp(s->now.keys[free_keys[i]], here) == 0) continue;
        return MT_FAIL(err, MT_ERR_USAGE, "diff: --%c %s=%s fits several: %s and %s", s->name, i ? "gpu" : "source", i ? s->wanted->gpu : s->wanted->source, s->now.keys[free_keys[i]], here);
    }
    return MT_OK;
}

static double real_or_nan(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_FLOAT || sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_double(statement, column) : NAN;
}

static mt_status add_row(side *s, bool *has_best, mt_error *err)
{
    group *g = &s->now;
    sqlite3_stmt *row = s->statement;
    mt_diff_time *time = MT_APPEND(g->rows, g->count, g->capacity);
    if (!time) return mt_no_memory("diff", err);
    *time = (mt_diff_time){mt_strdup(mt_sql_column(row, VARIANT)), sqlite3_column_double(row, MEDIAN), real_or_nan(row, LOW), real_or_nan(row, HIGH),
                           sqlite3_column_int64(row, NVRTC), sqlite3_column_int64(row, DRIVER), sqlite3_column_int64(row, CREATED)};
    if (!time->variant) return mt_no_memory("diff", err);
    bool is_best = sqlite3_column_int(row, IS_BEST);
    if (is_best || (!*has_best && time->median_ns < g->rows[g->winner].median_ns)) g->winner = g->count - 1;
    *has_best = *has_best || is_best;
    return MT_OK;
}

/* Reads the next subject into s->now. */
static mt_status next_group(side *s, mt_error *err)
{
    mt_status st = MT_OK;
    bool has_best = false;
    clear_group(&s->now);
    if (!s->has_row) return MT_OK;
    for (int i = 0; i < KEY_COUNT; i++)
        if (!(s->now.keys[i] = mt_strdup(mt_sql_column(s->statement, i)))) return mt_no_memory("diff", err);
    s->now.shape = mt_strdup(mt_sql_column(s->statement, SHAPE));
    s->now.workload = mt_strdup(mt_sql_column(s->statement, WORKLOAD));
    if (!s->now.shape || !s->now.workload) return mt_no_memory("diff", err);
    while (s->has_row && continues(s)) {
        MT_TRY(check_one(s, err));
        MT_TRY(add_row(s, &has_best, err));
        MT_TRY(step(s, err));
    }
done:
    return st;
}

/* ---- side by side ---- */

static int compare_groups(const side *a, const side *b)
{
    if (!a->now.rows || !b->now.rows) return a->now.rows ? -1 : 1;
    static const int order[] = {KERNEL, SOURCE, SHAPE_KEY, WORKLOAD_KEY, REGIME, ORIGIN, GPU};
    for (int i = 0; i < KEY_COUNT; i++) {
        int difference = is_free(a, order[i]) ? 0 : strcmp(a->now.keys[order[i]], b->now.keys[order[i]]);
        if (difference) return difference;
    }
    return 0;
}

/* Moves the variants that both have to the front of `common`, [0] of a and [1] of b. */
static size_t find_common(const group *a, const group *b, mt_diff_time *of_a, mt_diff_time *of_b)
{
    size_t count = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        int order = strcmp(a->rows[i].variant, b->rows[k].variant);
        if (order == 0) {
            of_a[count] = a->rows[i];
            of_b[count++] = b->rows[k];
        }
        i += order <= 0;
        k += order >= 0;
    }
    return count;
}

static mt_status pass(const group *a, const group *b, mt_diff_callback callback, void *context, mt_error *err)
{
    const group *any = a ? a : b;
    size_t room = a && b ? a->count : 0;
    mt_diff_time *common = mt_alloc(2 * room, sizeof *common);
    if (!common) return mt_no_memory("diff", err);
    size_t count = a && b ? find_common(a, b, common, common + room) : 0;
    mt_diff_subject subject = {
        .kernel = any->keys[KERNEL], .shape = any->shape, .workload = any->workload, .l2 = any->keys[REGIME], .origin = any->keys[ORIGIN],
        .source_a = a ? a->keys[SOURCE] : "", .source_b = b ? b->keys[SOURCE] : "", .gpu_a = a ? a->keys[GPU] : "", .gpu_b = b ? b->keys[GPU] : "",
        .a = a ? &a->rows[a->winner] : NULL, .b = b ? &b->rows[b->winner] : NULL, .variants_a = common, .variants_b = common + room, .variant_count = count};
    mt_status st = callback(context, &subject, err);
    mt_free(common);
    return st;
}

mt_status mt_diff_run(const mt_diff_side *wanted_a, const mt_diff_side *wanted_b, const mt_diff_filter *filter, mt_diff_callback callback, void *context, mt_error *err)
{
    mt_status st;
    bool any_source = wanted_a->source && wanted_b->source, any_gpu = wanted_a->gpu && wanted_b->gpu;
    side a = {.wanted = wanted_a, .name = 'a', .any_source = any_source, .any_gpu = any_gpu}, b = {.wanted = wanted_b, .name = 'b', .any_source = any_source, .any_gpu = any_gpu};
    MT_TRY(open_side(&a, filter, err));
    MT_TRY(open_side(&b, filter, err));
    MT_TRY(next_group(&a, err));
    MT_TRY(next_group(&b, err));
    while (a.now.rows || b.now.rows) {
        int order = compare_groups(&a, &b);
        MT_TRY(pass(order <= 0 ? &a.now : NULL, order >= 0 ? &b.now : NULL, callback, context, err));
        if (order <= 0) MT_TRY(next_group(&a, err));
        if (order >= 0) MT_TRY(next_group(&b, err));
    }
done:
    clear_group(&a.now);
    clear_group(&b.now);
    sqlite3_finalize(a.statement);
    sqlite3_finalize(b.statement);
    return st;
}
