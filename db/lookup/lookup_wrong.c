/* Variants that computed wrong results with the strings that a plan is bound to (dtype=bf16, say), on any GPU of any file: they are offered on none. An exact row is exempt: its variant was
 * right on that very shape and GPU. */
#include "db/lookup/lookup.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "db/standing.h"

/* Newest rows that ran, on any device; walks index measurement_wrong, which holds nothing else. */
static const char wrong_sql[] =
    "SELECT v.text, h.key FROM measurement m CROSS JOIN subject s ON s.id = m.subject_id CROSS JOIN shape h ON h.id = s.shape_id CROSS JOIN variant v ON v.id = m.variant_id "
    "WHERE m.outcome = 'wrong_result' AND s.kernel_id = ?1 "
    "AND NOT EXISTS (SELECT 1 FROM measurement n WHERE n.subject_id = m.subject_id AND n.variant_id = m.variant_id AND n.id > m.id AND " MT_IS_RUN("n") ")";
/* Of an older schema, which lacks the index: what portfolios know. */
static const char older_sql[] =
    "SELECT v.text, h.shape_key FROM portfolio p CROSS JOIN portfolio_cell c ON c.portfolio_id = p.id CROSS JOIN portfolio_shape h ON h.portfolio_id = p.id AND h.subject_id = c.subject_id "
    "CROSS JOIN variant v ON v.id = c.variant_id WHERE c.outcome = 'wrong_result' AND p.kernel_id = ?1";
static const char defaults_sql[] =
    "SELECT h.default_outcome, h.shape_key FROM portfolio p CROSS JOIN portfolio_shape h ON h.portfolio_id = p.id WHERE p.kernel_id = ?1 AND h.default_outcome IN ('ok', 'wrong_result')";
enum { WRONG_LIMIT = 100000, FIRST_WITH_PORTFOLIOS = 6, FIRST_WITH_INDEX = 8 };

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool mt_lookup_is_wrong(const mt_lookup_block *block, const char *text)
{
    return block->wrong_count && bsearch(&text, block->wrong, block->wrong_count, sizeof *block->wrong, by_text);
}

/* Keeps the texts sorted, each once. */
static bool add(mt_lookup_loader *loader, const char *text)
{
    mt_lookup_block *block = loader->block;
    uint32_t at = block->wrong_count;
    if (mt_lookup_is_wrong(block, text)) return true;
    if (block->wrong_count == loader->wrong_capacity) {
        uint32_t capacity = loader->wrong_capacity ? 2 * loader->wrong_capacity : 64;
        const char **grown = mt_lookup_arena_take(&block->arena, capacity, sizeof *grown);
        if (!grown) return false;
        if (at) memcpy(grown, block->wrong, at * sizeof *grown);
        block->wrong = grown;
        loader->wrong_capacity = capacity;
    }
    char *copy = mt_lookup_arena_text(&block->arena, text, strlen(text));
    if (!copy) return false;
    for (; at > 0 && strcmp(block->wrong[at - 1], text) > 0; at--) block->wrong[at] = block->wrong[at - 1];
    block->wrong[at] = copy;
    block->wrong_count++;
    return true;
}

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

typedef struct gathering {
    mt_lookup_loader *loader;
    uint64_t failed, worked;    /* strings with which the first default computed wrong results, right ones */
} gathering;

static bool on_wrong(gathering *g, const char *text, const char *key)
{
    uint64_t all = all_strings(&g->loader->block->model);
    if (g->loader->block->wrong_count >= WRONG_LIMIT || strings_of(&g->loader->block->model, key) != all) return true;
    return add(g->loader, text);
}

static bool on_default(gathering *g, const char *outcome, const char *key)
{
    *(strcmp(outcome, "ok") == 0 ? &g->worked : &g->failed) |= strings_of(&g->loader->block->model, key);
    return true;
}

static tunelookup_status gather(gathering *g, const char *sql, bool (*on_row)(gathering *, const char *, const char *))
{
    tunelookup_status st = TUNELOOKUP_OK;
    const mt_lookup_loader *loader = g->loader;
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(loader->db, sql, -1, &rows, NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(rows, 1, loader->kernel);
    while (st == TUNELOOKUP_OK && code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(rows, 0), *key = (const char *)sqlite3_column_text(rows, 1);
        code = SQLITE_OK;
        if (text && key && !on_row(g, text, key)) st = mt_lookup_fail(TUNELOOKUP_ERR_NO_MEMORY, "out of memory");
    }
    if (st == TUNELOOKUP_OK && code != SQLITE_OK && code != SQLITE_DONE) st = mt_lookup_sqlite_fail(loader->db, loader->plan->db->files[loader->file].path);
    sqlite3_finalize(rows);
    return st;
}

tunelookup_status mt_lookup_wrong_load(mt_lookup_loader *loader, int64_t schema_version)
{
    tunelookup_status st = TUNELOOKUP_OK;
    gathering g = { .loader = loader };
    if (schema_version < FIRST_WITH_PORTFOLIOS) return st;
    LOOKUP_TRY(gather(&g, schema_version < FIRST_WITH_INDEX ? older_sql : wrong_sql, on_wrong));
    LOOKUP_TRY(gather(&g, defaults_sql, on_default));
    loader->failed_strings |= g.failed;
    loader->worked_strings |= g.worked;
    loader->block->default_fails = (loader->failed_strings & ~loader->worked_strings) != 0;
done:
    return st;
}
