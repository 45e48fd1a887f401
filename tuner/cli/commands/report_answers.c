#include "tuner/cli/commands/report_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/commands/known_answer.h"
#include "tuner/evaluate/facts_json.h"

/* What is asked, put together from the store's rows. */
typedef struct asking {
    const mt_report_question *question;
    mt_lookup_query query;
    bool has_device, has_shape;
} asking;

static mt_status on_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    asking *a = context;
    (void)measurements;
    if (a->has_device || strcmp(row->key, a->question->gpu_key) != 0) return MT_OK;
    mt_status st = mt_facts_from_json(row->facts_json, &a->query.facts, err);
    snprintf(a->query.facts.name, sizeof a->query.facts.name, "%s", row->name);
    a->has_device = st == MT_OK;
    return st;
}

/* Any shape of the kernel says of what kinds its values are. */
static mt_status on_shape(void *context, const mt_shape_info *row, mt_error *err)
{
    asking *a = context;
    if (a->has_shape || !row->kinds || strcmp(row->kernel, a->question->kernel) != 0 || strcmp(row->kernel_key, a->question->kernel_key) != 0) return MT_OK;
    mt_status st = mt_lookup_values_take_key(&a->query, a->question->shape_key, row->kinds, err);
    a->has_shape = st == MT_OK && a->query.value_count > 0;
    return st;
}

static const char *words_of(tunelookup_match match)
{
    switch (match) {
    case TUNELOOKUP_MATCH_EXACT: return "its own row";
    case TUNELOOKUP_MATCH_NEAREST: return "a prediction";
    case TUNELOOKUP_MATCH_ARCHITECTURE: return "a row of a like GPU";
    case TUNELOOKUP_MATCH_DEFAULT: return "the default";
    default: return "nothing";
    }
}

static bool find(mt_report_answers *answers, const asking *a, mt_report_answer *answer)
{
    const tunelookup_device device = mt_known_answer_device(&a->query.facts);
    const tunelookup_plan *plan = mt_plan_cache_get(a->question->origin == MT_ORIGIN_RECORDED ? &answers->recorded : &answers->measured, &device, a->query.kernel, &a->query);
    tunelookup_result result;
    if (!plan || tunelookup_find(plan, a->query.numbers, &result) != TUNELOOKUP_OK) return false;
    bool has_any = result.match != TUNELOOKUP_MATCH_NONE;
    *answer = (mt_report_answer){words_of(result.match), has_any ? result.expected_slowdown : NAN, NAN, NAN};
    return true;
}

static bool ask(void *context, const mt_report_question *question, mt_report_answer *answer)
{
    mt_report_answers *answers = context;
    asking a = {.question = question};
    mt_error ignored;
    mt_strbuf kernel = {0};
    bool is_told = false;
    mt_strbuf_addf(&kernel, "%s@%s", question->kernel, question->kernel_key);
    a.query.kernel = mt_strbuf_take(&kernel);
    mt_status st = a.query.kernel ? mt_query_devices(answers->store, NULL, on_device, &a, &ignored) : MT_ERR_NO_MEMORY;
    if (st == MT_OK) st = mt_query_shapes(answers->store, on_shape, &a, &ignored);
    if (st == MT_OK && a.has_device && a.has_shape) st = mt_lookup_values_push(&a.query, &ignored);
    if (st == MT_OK && a.has_device && a.has_shape) is_told = find(answers, &a, answer);
    mt_lookup_query_free(&a.query);
    return is_told;
}

void mt_report_answers_open(mt_store *store, mt_report_answers *answers)
{
    const char *path = mt_store_path(store);
    *answers = (mt_report_answers){.lookup = {ask, answers}, .store = store, .measured = {.path = path}, .recorded = {.path = path, .flags = TUNELOOKUP_RECORDED}};
}

void mt_report_answers_close(mt_report_answers *answers)
{
    mt_plan_cache_forget(&answers->measured);
    mt_plan_cache_forget(&answers->recorded);
    *answers = (mt_report_answers){0};
}
