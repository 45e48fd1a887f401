#include "tuner/cli/lookup/report_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store/query.h"
#include "tuner/base/alloc.h"
#include "tuner/cli/lookup/known_answer.h"
#include "tuner/evaluate/facts_json.h"

/* What is asked, put together from the store's rows. */
typedef struct asking {
    const mt_report_question *question;
    mt_lookup_query query;
} asking;

static mt_status on_device(void *context, const mt_device_row *row, int64_t measurements, mt_error *err)
{
    mt_report_answers *answers = context;
    mt_report_gpu *gpu = MT_APPEND(answers->gpus, answers->gpu_count, answers->gpu_capacity);
    (void)measurements;
    if (!gpu) return MT_ERR_NO_MEMORY;
    *gpu = (mt_report_gpu){.key = mt_strdup(row->key)};
    if (!gpu->key) return MT_ERR_NO_MEMORY;
    mt_status st = mt_facts_from_json(row->facts_json, &gpu->facts, err);
    snprintf(gpu->facts.name, sizeof gpu->facts.name, "%s", row->name);
    return st;
}

static const mt_report_kinds *kinds_of(const mt_report_answers *answers, const char *kernel, const char *kernel_key)
{
    for (size_t i = answers->kinds_count; i-- > 0;)
        if (strcmp(answers->kinds[i].kernel, kernel) == 0 && strcmp(answers->kinds[i].kernel_key, kernel_key) == 0) return &answers->kinds[i];
    return NULL;
}

/* Any shape of the kernel says of what kinds its values are. */
static mt_status on_shape(void *context, const mt_shape_info *row, mt_error *err)
{
    mt_report_answers *answers = context;
    (void)err;
    if (!row->kinds || kinds_of(answers, row->kernel, row->kernel_key)) return MT_OK;
    mt_report_kinds *added = MT_APPEND(answers->kinds, answers->kinds_count, answers->kinds_capacity);
    if (!added) return MT_ERR_NO_MEMORY;
    *added = (mt_report_kinds){mt_strdup(row->kernel), mt_strdup(row->kernel_key), mt_strdup(row->kinds)};
    return added->kernel && added->kernel_key && added->kinds ? MT_OK : MT_ERR_NO_MEMORY;
}

static const mt_report_answer misnamed = {.gets = "nothing: these are not the kernel's values", .slowdown = NAN, .bound = NAN, .is_nothing = true};
static const mt_report_answer unknown = {.gets = "nothing: only rows that were read from files are known", .slowdown = NAN, .bound = NAN, .is_nothing = true}; /* without the kernel's expressions */

/* Fills a.query; false where the store does not know the GPU. *fits: the values are such as the kernel's shapes have. */
static bool put_together(const mt_report_answers *answers, const mt_report_kinds *kinds, asking *a, bool *fits)
{
    const mt_report_question *question = a->question;
    mt_strbuf kernel = {0};
    mt_error ignored;
    size_t i = 0;
    while (i < answers->gpu_count && strcmp(answers->gpus[i].key, question->gpu_key) != 0) i++;
    if (i == answers->gpu_count) return false;
    a->query.facts = answers->gpus[i].facts;
    mt_strbuf_addf(&kernel, "%s@%s", question->kernel, question->kernel_key);
    a->query.kernel = mt_strbuf_take(&kernel);
    if (!a->query.kernel) return false;
    *fits = mt_lookup_values_take_key(&a->query, question->shape_key, kinds->kinds, &ignored) == MT_OK && a->query.value_count > 0 && mt_lookup_values_push(&a->query, &ignored) == MT_OK;
    return true;
}

/* A row of the shape's own, or of a like GPU: its slowdown is that over the shape's workloads. */
static bool is_predicted(const tunelookup_result *result)
{
    return result->match != TUNELOOKUP_MATCH_NONE && result->match != TUNELOOKUP_MATCH_EXACT && !(result->match == TUNELOOKUP_MATCH_ARCHITECTURE && result->slowdown_bound == result->expected_slowdown);
}

static const char *words_of(const tunelookup_result *result)
{
    switch (result->match) {
    case TUNELOOKUP_MATCH_EXACT: return "its own row";
    case TUNELOOKUP_MATCH_NEAREST: return "a prediction";
    case TUNELOOKUP_MATCH_ARCHITECTURE: return is_predicted(result) ? "a row of a like GPU" : "a row of a like GPU, measured there";
    case TUNELOOKUP_MATCH_DEFAULT: return "the default";
    default: return "nothing that may run here";
    }
}

static const tunelookup_plan *plan_of(mt_report_answers *answers, const asking *a, tunelookup_status *why)
{
    const tunelookup_device device = mt_known_answer_device(&a->query.facts);
    mt_plan_cache *file = a->question->origin == MT_ORIGIN_RECORDED ? &answers->recorded : &answers->measured;
    return mt_plan_cache_get(file, &device, a->query.kernel, &a->query, why);
}

static bool find(mt_report_answers *answers, const asking *a, mt_report_answer *answer)
{
    tunelookup_status why;
    const tunelookup_plan *plan = plan_of(answers, a, &why);
    tunelookup_result result;
    if (why == TUNELOOKUP_ERR_NAMES || why == TUNELOOKUP_ERR_UNKNOWN_KERNEL) {
        *answer = why == TUNELOOKUP_ERR_NAMES ? misnamed : unknown;
        return true;
    }
    if (!plan || tunelookup_find(plan, a->query.numbers, &result) != TUNELOOKUP_OK) return false;
    bool has_any = result.match != TUNELOOKUP_MATCH_NONE;
    *answer = (mt_report_answer){words_of(&result), has_any ? result.expected_slowdown : NAN, has_any ? result.slowdown_bound : NAN, is_predicted(&result), result.match == TUNELOOKUP_MATCH_EXACT, !has_any};
    return true;
}

static bool read_store(mt_report_answers *answers)
{
    mt_error ignored;
    if (!answers->is_read) answers->is_read = mt_query_devices(answers->store, NULL, on_device, answers, &ignored) == MT_OK && mt_query_shapes(answers->store, on_shape, answers, &ignored) == MT_OK;
    return answers->is_read;
}

static bool ask(void *context, const mt_report_question *question, mt_report_answer *answer)
{
    mt_report_answers *answers = context;
    asking a = {.question = question};
    if (!read_store(answers)) return false;
    const mt_report_kinds *kinds = kinds_of(answers, question->kernel, question->kernel_key);
    bool fits = true, is_told = !kinds || put_together(answers, kinds, &a, &fits);
    if (!kinds || (is_told && !fits)) *answer = kinds ? misnamed : unknown;
    else is_told = is_told && find(answers, &a, answer);
    mt_lookup_query_free(&a.query);
    return is_told;
}

const char *mt_report_answers_refusal(void *context, const mt_report_question *question, const char *variant)
{
    mt_report_answers *answers = context;
    asking a = {.question = question};
    bool fits = false;
    const mt_report_kinds *kinds = read_store(answers) ? kinds_of(answers, question->kernel, question->kernel_key) : NULL;
    bool is_asked = kinds && put_together(answers, kinds, &a, &fits) && fits;
    const tunelookup_plan *plan = is_asked ? plan_of(answers, &a, NULL) : NULL;
    const char *why = plan ? mt_plan_refuses(plan, question->shape_key, variant) : NULL;
    mt_lookup_query_free(&a.query);
    return why;
}

static const char *today(void *context, const char *kernel)
{
    const mt_report_answers *answers = context;
    return mt_sources_today(&answers->sources, kernel);
}

void mt_report_answers_begin(mt_store *store, mt_report_answers *answers)
{
    const char *path = mt_store_path(store);
    *answers = (mt_report_answers){.lookup = {ask, mt_report_answers_refusal, today, answers}, .store = store, .measured = {.path = path}, .recorded = {.path = path, .flags = TUNELOOKUP_RECORDED}};
}

mt_status mt_report_answers_open(mt_store *store, mt_report_answers *answers, mt_error *err)
{
    mt_report_answers_begin(store, answers);
    return mt_sources_load(store, NULL, &answers->sources, err);
}

void mt_report_answers_close(mt_report_answers *answers)
{
    for (size_t i = 0; i < answers->gpu_count; i++) mt_free(answers->gpus[i].key);
    for (size_t i = 0; i < answers->kinds_count; i++) mt_free(answers->kinds[i].kernel), mt_free(answers->kinds[i].kernel_key), mt_free(answers->kinds[i].kinds);
    mt_free(answers->gpus);
    mt_sources_free(&answers->sources);
    mt_free(answers->kinds);
    mt_plan_cache_forget(&answers->measured);
    mt_plan_cache_forget(&answers->recorded);
    *answers = (mt_report_answers){0};
}
