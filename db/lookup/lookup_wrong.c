/* Variants that are not to be handed out, here called wrong: they computed wrong results or other bits each time, wrote where they may not, faulted, crashed, hung or are in quarantine, with the strings
 * that a plan is bound to (dtype=bf16, say), on any GPU of any file. They are offered on none. An exact row says that its variant did well on that very shape, and what faulted, crashed or hung on others may do
 * so for their size; unless another row of the shape tells the same of it: a workload says how inputs are distributed, never what is computed. What computed wrong results anywhere answers nowhere. */
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/counted_rows.h"

/* Subjects of any device that have such rows; walks index measurement_unsafe, which holds nothing else; a file of schema 8 lacks it and is read through. */
static const char subjects_sql[] =
    "SELECT s.id, h.key FROM (SELECT DISTINCT subject_id FROM measurement q WHERE " MT_IS_UNSAFE("q") ") w CROSS JOIN subject s ON s.id = w.subject_id CROSS JOIN shape h ON h.id = s.shape_id "
    "WHERE s.kernel_id = ?1";
/* One subject's variants that are not safe, and whether they computed wrong results, as far as no newer row takes it back. Asked for subjects with the plan's strings alone: most have others. */
static const char wrong_sql[] =
    "SELECT DISTINCT m.variant_id, " MT_IS_WRONG("m") " FROM measurement m WHERE m.subject_id = ?1 AND " MT_IS_UNSAFE("m") " "
    "AND NOT EXISTS (SELECT 1 FROM measurement n WHERE n.subject_id = m.subject_id AND n.variant_id = m.variant_id AND n.id > m.id AND " MT_TAKES_BACK("n", "m") ")";
/* In quarantine, also where no session came back to say so in a row. */
static const char strikes_sql[] =
    "SELECT h.key, s.variant_id FROM strike s CROSS JOIN shape h ON h.id = s.shape_id WHERE h.kernel_id = ?1 AND s.lifted = 0 "
    "GROUP BY s.device_id, s.shape_id, s.variant_id, s.origin HAVING " MT_QUARANTINES;
static const char text_sql[] = "SELECT text FROM variant WHERE id = ?1";
static const char defaults_sql[] =
    "SELECT h.default_outcome, h.shape_key FROM portfolio p CROSS JOIN portfolio_shape h ON h.portfolio_id = p.id WHERE p.kernel_id = ?1 "
    "AND (h.default_outcome = 'ok' OR h.default_outcome IN " MT_UNSAFE_OUTCOMES ")";
enum { WRONG_LIMIT = 2000000 }; /* of a plan: 50 MB */

/* ---- asking ---- */

static int by_variant(const void *a, const void *b)
{
    return strcmp(((const mt_lookup_wrong *)a)->variant, ((const mt_lookup_wrong *)b)->variant);
}

static int by_variant_and_shape(const void *a, const void *b)
{
    const mt_lookup_wrong *x = a, *y = b;
    int order = by_variant(a, b);
    if (!order) order = y->is_everywhere - x->is_everywhere;
    if (order || !x->values || !y->values) return order ? order : (x->values != NULL) - (y->values != NULL);
    return memcmp(x->values, y->values, x->value_count * sizeof *x->values);
}

void mt_lookup_wrong_end(mt_lookup_answers *answers)
{
    if (answers->wrong_count) qsort(answers->wrong, answers->wrong_count, sizeof *answers->wrong, by_variant_and_shape);
}

bool mt_lookup_is_wrong(const mt_lookup_answers *answers, const char *text)
{
    const mt_lookup_wrong asked = { .variant = text };
    return answers->wrong_count && bsearch(&asked, answers->wrong, answers->wrong_count, sizeof asked, by_variant);
}

const char *mt_lookup_unsafe_on(const mt_lookup_answers *answers, const char *variant, const int64_t *values)
{
    const mt_lookup_wrong everywhere = { .variant = variant, .is_everywhere = true }, here = { .variant = variant, .values = values, .value_count = answers->value_count };
    if (!mt_lookup_is_wrong(answers, variant)) return NULL; /* nearly all */
    if (bsearch(&everywhere, answers->wrong, answers->wrong_count, sizeof everywhere, by_variant_and_shape))
        return "it computed wrong results or other bits each time, or wrote where it may not, on a shape with these strings, of whatever workload, cache state, GPU or file";
    if (bsearch(&here, answers->wrong, answers->wrong_count, sizeof here, by_variant_and_shape))
        return "another row of this very shape (of another workload, cache state, GPU or file) says that it is not safe: a fault, a crash, a hang or quarantine";
    return NULL;
}

/* ---- strings ---- */

/* Which of the strings that the plan is bound to a stored shape has, as bits of their names' indices. */
static uint64_t strings_of(const mt_lookup_model *model, const char *key)
{
    uint64_t has = 0;
    for (uint32_t i = 0; i < model->name_count; i++) {
        const mt_lookup_model_name *name = &model->names[i];
        size_t length = strlen(name->name);
        if (strncmp(key, name->name, length) != 0 || key[length] != '=') return 0;
        size_t value = strcspn(key + length + 1, ";");
        if (name->kind == MT_LOOKUP_NAME_STRING && strlen(name->string) == value && memcmp(key + length + 1, name->string, value) == 0) has |= UINT64_C(1) << i;
        key += length + 1 + value;
        key += *key == ';';
    }
    return has;
}

static uint64_t all_strings(const mt_lookup_model *model)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < model->name_count; i++) all |= (uint64_t)(model->names[i].kind == MT_LOOKUP_NAME_STRING) << i;
    return all;
}

/* A variant of the file at hand, whose text is read when all are known. */
typedef struct found_wrong { int64_t variant; const int64_t *values; bool is_everywhere; } found_wrong;

typedef struct gathering {
    mt_lookup_loader *loader;
    found_wrong *found;         /* in the loader's scratch memory */
    size_t found_count, found_capacity;
    uint64_t failed, worked;    /* strings with which the first default failed so, and worked */
    sqlite3_stmt *wrong;        /* wrong_sql, once it is needed */
    const int64_t *values;      /* the shape of the subject at hand; NULL: it is none that this plan is asked for */
} gathering;

static tunelookup_status sqlite_fail(const mt_lookup_loader *loader)
{
    return mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
}

/* key: NULL in a damaged file. */
static bool has_all_strings(const mt_lookup_model *model, const char *key)
{
    return key && strings_of(model, key) == all_strings(model);
}

/* Steps through the statement, which is bound, and leaves it so. */
static tunelookup_status each(gathering *g, sqlite3_stmt *rows, tunelookup_status (*on_row)(gathering *, sqlite3_stmt *))
{
    tunelookup_status st = TUNELOOKUP_OK;
    int code = SQLITE_OK;
    while (st == TUNELOOKUP_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) st = on_row(g, rows);
    if (st == TUNELOOKUP_OK && code != SQLITE_DONE) st = sqlite_fail(g->loader);
    sqlite3_reset(rows);
    return st;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

/* None is dropped: one that is not known may be handed out. */
static tunelookup_status take(gathering *g, int64_t variant, bool is_everywhere)
{
    const mt_lookup_loader *loader = g->loader;
    if (loader->answers->wrong_count + g->found_count == WRONG_LIMIT)
        return mt_lookup_fail(TUNELOOKUP_ERR_LIMIT, "%s: holds more than %d results of variants that are not safe (wrong results, faults, hangs), all of which a lookup has to know; merge what is needed of it into a smaller file",
                              loader->plan->db->files[loader->file].path, WRONG_LIMIT);
    if (g->found_count == g->found_capacity) {
        size_t capacity = g->found_capacity ? 2 * g->found_capacity : 64;
        found_wrong *grown = mt_lookup_arena_take(&g->loader->scratch, capacity, sizeof *grown);
        if (!grown) return mt_lookup_no_memory();
        if (g->found_count) memcpy(grown, g->found, g->found_count * sizeof *grown);
        g->found = grown;
        g->found_capacity = capacity;
    }
    g->found[g->found_count++] = (found_wrong){ variant, is_everywhere ? NULL : g->values, is_everywhere };
    return TUNELOOKUP_OK;
}

static tunelookup_status on_wrong(gathering *g, sqlite3_stmt *row)
{
    return take(g, sqlite3_column_int64(row, 0), sqlite3_column_int(row, 1) != 0);
}

static bool take_shape(gathering *g, const char *key)
{
    int64_t values[TUNELOOKUP_MAX_VALUES];
    mt_lookup_answers *answers = g->loader->answers;
    g->values = NULL;
    if (!mt_lookup_parse_shape(&answers->model, key, values)) return true;
    int64_t *kept = mt_lookup_arena_take(&answers->arena, answers->value_count + 1, sizeof *kept); /* a shape of strings alone has none */
    if (kept) memcpy(kept, values, answers->value_count * sizeof *kept);
    g->values = kept;
    return kept != NULL;
}

static tunelookup_status on_subject(gathering *g, sqlite3_stmt *row)
{
    if (!has_all_strings(&g->loader->answers->model, text_of(row, 1))) return TUNELOOKUP_OK;
    if (!take_shape(g, text_of(row, 1))) return mt_lookup_no_memory();
    if (!g->wrong && sqlite3_prepare_v2(g->loader->db, wrong_sql, -1, &g->wrong, NULL) != SQLITE_OK) return sqlite_fail(g->loader);
    sqlite3_bind_int64(g->wrong, 1, sqlite3_column_int64(row, 0));
    return each(g, g->wrong, on_wrong);
}

static tunelookup_status on_strike(gathering *g, sqlite3_stmt *row)
{
    if (!has_all_strings(&g->loader->answers->model, text_of(row, 0))) return TUNELOOKUP_OK;
    return take_shape(g, text_of(row, 0)) ? take(g, sqlite3_column_int64(row, 1), false) : mt_lookup_no_memory();
}

static tunelookup_status on_default(gathering *g, sqlite3_stmt *row)
{
    const char *outcome = text_of(row, 0), *key = text_of(row, 1);
    if (outcome && key) *(strcmp(outcome, "ok") == 0 ? &g->worked : &g->failed) |= strings_of(&g->loader->answers->model, key);
    return TUNELOOKUP_OK;
}

/* Of the loader's kernel. */
static tunelookup_status gather(gathering *g, const char *sql, tunelookup_status (*on_row)(gathering *, sqlite3_stmt *))
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(g->loader->db, sql, -1, &rows, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(rows, 1, g->loader->kernel);
    tunelookup_status st = code == SQLITE_OK ? each(g, rows, on_row) : sqlite_fail(g->loader);
    sqlite3_finalize(rows);
    return st;
}

/* ---- texts ---- */

static int by_id(const void *a, const void *b)
{
    const found_wrong *x = a, *y = b;
    return (x->variant > y->variant) - (x->variant < y->variant);
}

/* NULL: there is no such variant, or none that anything could offer (its text is longer than SQLite may read), or no memory. */
static const char *read_text(gathering *g, sqlite3_stmt *statement, int64_t variant, tunelookup_status *st)
{
    const char *kept = NULL;
    sqlite3_bind_int64(statement, 1, variant);
    int code = sqlite3_step(statement);
    const char *text = code == SQLITE_ROW ? text_of(statement, 0) : NULL;
    if (code != SQLITE_ROW && code != SQLITE_DONE && (code & 0xff) != SQLITE_TOOBIG) *st = sqlite_fail(g->loader);
    if (text && !(kept = mt_lookup_arena_text(&g->loader->answers->arena, text, strlen(text)))) *st = mt_lookup_no_memory();
    sqlite3_reset(statement);
    return kept;
}

/* Behind those of the files before. Each text is read once, however many shapes the variant was wrong on. */
static tunelookup_status keep_found(gathering *g)
{
    tunelookup_status st = TUNELOOKUP_OK;
    sqlite3_stmt *statement = NULL;
    const char *text = NULL;
    mt_lookup_answers *answers = g->loader->answers;
    if (!g->found_count) return st;
    mt_lookup_wrong *all = mt_lookup_arena_take(&answers->arena, answers->wrong_count + g->found_count, sizeof *all);
    if (!all) return mt_lookup_no_memory();
    if (answers->wrong_count) memcpy(all, answers->wrong, answers->wrong_count * sizeof *all);
    answers->wrong = all;
    qsort(g->found, g->found_count, sizeof *g->found, by_id);
    if (sqlite3_prepare_v2(g->loader->db, text_sql, -1, &statement, NULL) != SQLITE_OK) st = sqlite_fail(g->loader);
    for (size_t i = 0; i < g->found_count && st == TUNELOOKUP_OK; i++) {
        if (i == 0 || g->found[i].variant != g->found[i - 1].variant) text = read_text(g, statement, g->found[i].variant, &st);
        if (text) all[answers->wrong_count++] = (mt_lookup_wrong){ text, g->found[i].values, answers->value_count, g->found[i].is_everywhere };
    }
    sqlite3_finalize(statement);
    return st;
}

tunelookup_status mt_lookup_wrong_load(mt_lookup_loader *loader)
{
    tunelookup_status st = TUNELOOKUP_OK;
    gathering g = { .loader = loader };
    LOOKUP_TRY(gather(&g, subjects_sql, on_subject));
    LOOKUP_TRY(gather(&g, strikes_sql, on_strike));
    LOOKUP_TRY(keep_found(&g));
    LOOKUP_TRY(gather(&g, defaults_sql, on_default));
    loader->failed_strings |= g.failed;
    loader->worked_strings |= g.worked;
    loader->answers->default_fails = (loader->failed_strings & ~loader->worked_strings) != 0;
done:
    sqlite3_finalize(g.wrong);
    return st;
}
