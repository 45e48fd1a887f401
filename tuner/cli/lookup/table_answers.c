#include "tuner/cli/lookup/table_answers.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/cli/lookup/known_answer.h"
#include "tuner/cli/lookup/lookup_query.h"
#include "tuner/evaluate/facts_json.h"

/* Shapes with the same names (strings bound, lists of one length) share a plan. */
typedef struct mt_table_plan { char *question; tunelookup_plan *plan; } mt_table_plan;

typedef struct gathering {
    mt_table_answers *answers;
    mt_texts keys;              /* of shapes */
    mt_device_facts facts;
} gathering;

/* ---- which shapes ---- */

static mt_status take_subject(gathering *g, const mt_codeless_row *row, mt_error *err)
{
    mt_table_answers *a = g->answers;
    if (a->kernel) return MT_OK;
    a->kernel = mt_strdup(row->kernel);
    a->kernel_key = mt_strdup(row->kernel_key);
    a->gpu_key = mt_strdup(row->gpu_key);
    a->gpu_name = mt_strdup(row->gpu_name);
    if (!a->kernel || !a->kernel_key || !a->gpu_key || !a->gpu_name) return mt_no_memory("export", err);
    mt_status st = mt_facts_from_json(row->facts_json, &g->facts, err);
    strncpy(g->facts.name, row->gpu_name, sizeof g->facts.name - 1);
    return st;
}

static mt_status add_winner(void *context, const mt_codeless_row *row, mt_error *err)
{
    gathering *g = context;
    mt_table_answers *a = g->answers;
    mt_status st = take_subject(g, row, err);
    if (st != MT_OK) return st;
    bool is_same = strcmp(a->kernel, row->kernel) == 0 && strcmp(a->kernel_key, row->kernel_key) == 0 && strcmp(a->gpu_key, row->gpu_key) == 0;
    if (is_same) return mt_texts_add_once(&g->keys, row->shape_key, err);
    return MT_FAIL(err, MT_ERR_USAGE, "export: a table is of one source of one kernel on one GPU, and there are %s@%.8s on %s and %s@%.8s on %s; --kernel, --kernel-key and --gpu choose one", a->kernel, a->kernel_key, a->gpu_key,
                   row->kernel, row->kernel_key, row->gpu_key);
}

static mt_status on_shape(void *context, const mt_shape_info *row, mt_error *err)
{
    mt_table_answers *a = context;
    if (!row->kinds || a->kinds || strcmp(row->kernel, a->kernel) != 0 || strcmp(row->kernel_key, a->kernel_key) != 0) return MT_OK;
    a->kinds = mt_strdup(row->kinds);
    return a->kinds ? MT_OK : mt_no_memory("export", err);
}

/* ---- one shape ---- */

static mt_status plan_of(gathering *g, const mt_lookup_query *query, tunelookup_plan **plan, mt_error *err)
{
    mt_table_answers *a = g->answers;
    mt_strbuf question = {0};
    const tunelookup_device device = mt_known_answer_device(&g->facts);
    mt_status st = MT_OK;
    for (size_t i = 0; i < query->name_count; i++) mt_strbuf_addf(&question, "%s\n", query->names[i]);
    for (size_t i = 0; i < a->plan_count; i++) {
        *plan = a->plans[i].plan;
        if (strcmp(a->plans[i].question, mt_strbuf_text(&question)) == 0) goto done;
    }
    if (tunelookup_prepare(a->db, &device, query->kernel, (const char *const *)query->names, query->name_count, plan) != TUNELOOKUP_OK) MT_LEAVE(MT_FAIL(err, MT_ERR_DB, "export: %s", tunelookup_detail()));
    mt_table_plan *kept = MT_APPEND(a->plans, a->plan_count, a->plan_capacity);
    if (kept) *kept = (mt_table_plan){mt_strbuf_take(&question), *plan};
    if (!kept || !kept->question) st = mt_no_memory("export", err);
done:
    mt_strbuf_free(&question);
    return st;
}

/* The values that are no strings, by name, and these. */
static mt_status name_values(const mt_lookup_query *query, mt_table_row *row, mt_error *err)
{
    mt_strbuf strings = {0};
    for (size_t i = 0; i < query->value_count; i++)
        if (query->values[i].kind == MT_ASKED_STRING) mt_strbuf_addf(&strings, "%s%s=%s", strings.length ? ";" : "", query->values[i].name, query->values[i].text);
    row->strings = strings.length ? mt_strbuf_take(&strings) : mt_strdup("");
    for (size_t i = 0; i < query->name_count && row->strings; i++) {
        if (strchr(query->names[i], '=')) continue;
        row->values[row->count] = query->numbers[row->count];
        if (!(row->names[row->count++] = mt_strdup(query->names[i]))) return mt_no_memory("export", err);
    }
    mt_strbuf_free(&strings);
    return row->strings ? MT_OK : mt_no_memory("export", err);
}

static mt_status ask(gathering *g, mt_lookup_query *query, mt_error *err)
{
    mt_table_answers *a = g->answers;
    tunelookup_plan *plan = NULL;
    tunelookup_result result;
    mt_status st;
    MT_TRY(mt_lookup_values_push(query, err));
    MT_TRY(plan_of(g, query, &plan, err));
    if (tunelookup_find(plan, query->numbers, &result) != TUNELOOKUP_OK) MT_LEAVE(MT_FAIL(err, MT_ERR_DB, "export: %s", tunelookup_detail()));
    a->unanswered += result.match == TUNELOOKUP_MATCH_NONE;
    if (result.match == TUNELOOKUP_MATCH_NONE) goto done;
    mt_table_row *row = MT_APPEND(a->rows, a->row_count, a->row_capacity);
    if (!row) MT_LEAVE(mt_no_memory("export", err));
    *row = (mt_table_row){.result = result};
    st = name_values(query, row, err);
done:
    return st;
}

/* `given`: a shape by its values, in any order; NULL = the key itself. */
static mt_status ask_shape(gathering *g, const char *key, const char *given, mt_error *err)
{
    mt_lookup_query query = {0};
    mt_strbuf kernel = {0};
    mt_status st;
    mt_strbuf_addf(&kernel, "%s@%s", g->answers->kernel, g->answers->kernel_key);
    query.kernel = mt_strbuf_take(&kernel);
    query.shown = mt_strdup(g->answers->kernel);
    if (!query.kernel || !query.shown) MT_LEAVE(mt_no_memory("export", err));
    MT_TRY(mt_lookup_values_take_key(&query, key, g->answers->kinds, err));
    if (given) MT_TRY(mt_lookup_values_give(&query, given, &g->keys, err));
    st = ask(g, &query, err);
done:
    mt_lookup_query_free(&query);
    return st;
}

static mt_status ask_file(gathering *g, const char *path, mt_error *err)
{
    char *text = NULL, *rest = NULL;
    size_t length = 0, number = 0;
    mt_status st;
    MT_TRY(mt_file_read(path, 0, &text, &length, err));
    for (char *line = text, *end; line && *line && st == MT_OK; line = rest) {
        number++;
        end = line + strcspn(line, "\n");
        rest = *end ? end + 1 : NULL;
        *end = '\0';
        line[strcspn(line, "#\r")] = '\0';
        if (line[strspn(line, " \t")]) st = ask_shape(g, g->keys.items[0], line, err);
        if (st != MT_OK) st = mt_error_prefix(err, st, "%s:%zu", path, number);
    }
done:
    mt_free(text);
    return st;
}

/* ---- all ---- */

static int by_shape(const void *x, const void *y)
{
    const mt_table_row *a = x, *b = y;
    int order = strcmp(a->strings, b->strings);
    if (order) return order;
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (size_t i = 0; i < a->count; i++)
        if (a->values[i] != b->values[i]) return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

static void free_row(mt_table_row *row)
{
    mt_free(row->strings);
    for (size_t i = 0; i < row->count; i++) mt_free(row->names[i]);
}

static void sort_rows(mt_table_answers *answers)
{
    size_t kept = 0;
    if (answers->row_count) qsort(answers->rows, answers->row_count, sizeof *answers->rows, by_shape);
    for (size_t i = 0; i < answers->row_count; i++) {
        if (kept && by_shape(&answers->rows[kept - 1], &answers->rows[i]) == 0) free_row(&answers->rows[i]);
        else answers->rows[kept++] = answers->rows[i];
    }
    answers->row_count = kept;
}

mt_status mt_table_answers_ask(mt_store *store, const mt_filter *filter, const char *shapes, mt_table_answers *answers, mt_error *err)
{
    gathering g = {.answers = answers};
    unsigned flags = filter->origin && *filter->origin == MT_ORIGIN_RECORDED ? TUNELOOKUP_RECORDED : 0;
    mt_status st;
    MT_TRY(mt_query_codeless(store, filter, add_winner, &g, err));
    if (!answers->kernel) MT_LEAVE(MT_ERR_NOTHING_VALID);
    MT_TRY(mt_query_shapes(store, on_shape, answers, err));
    if (!answers->kinds) MT_LEAVE(MT_FAIL(err, MT_ERR_NOT_FOUND, "export: the expressions of %s that lookups evaluate are not stored, as its rows were imported; tune it with its search space first", answers->kernel));
    if (tunelookup_open(mt_store_path(store), flags, &answers->db) != TUNELOOKUP_OK) MT_LEAVE(MT_FAIL(err, MT_ERR_DB, "export: %s", tunelookup_detail()));
    for (size_t i = 0; i < g.keys.count; i++) MT_TRY(ask_shape(&g, g.keys.items[i], NULL, err));
    if (shapes) MT_TRY(ask_file(&g, shapes, err));
    sort_rows(answers);
    if (!answers->row_count) st = MT_FAIL(err, MT_ERR_NOTHING_VALID, "export: the library has no answer for any of these shapes; 'msda-tune lookup' says why");
done:
    mt_texts_free(&g.keys);
    return st;
}

void mt_table_answers_free(mt_table_answers *answers)
{
    for (size_t i = 0; i < answers->row_count; i++) free_row(&answers->rows[i]);
    for (size_t i = 0; i < answers->plan_count; i++) mt_free(answers->plans[i].question);
    MT_FREE_EACH(answers->rows, answers->plans, answers->kernel, answers->kernel_key, answers->gpu_key, answers->gpu_name, answers->kinds);
    tunelookup_close(answers->db);
    *answers = (mt_table_answers){0};
}
