#include "tuner/cli/lookup/known_answer.h"

#include <math.h>

#include "tuner/base/log.h"
#include "tuner/cli/lookup/lookup_query.h"

tunelookup_device mt_known_answer_device(const mt_device_facts *facts)
{
    return (tunelookup_device){.struct_size = sizeof(tunelookup_device), .name = facts->name, .cc = facts->cc, .sm_count = facts->sm_count, .smem_optin = facts->smem_optin,
        .smem_per_sm = facts->smem_per_sm, .smem_reserved = facts->smem_reserved, .regs_per_sm = facts->regs_per_sm, .threads_per_sm = facts->threads_per_sm,
        .blocks_per_sm = facts->blocks_per_sm, .max_cluster = facts->max_cluster, .l2_bytes = facts->l2_bytes, .mem_bytes = facts->mem_bytes, .clock_mhz = facts->clock_mhz,
        .driver_version = facts->driver_version};
}

void mt_known_answer_open(const char *db, const mt_spec *spec, const mt_device_facts *facts, bool is_recorded, mt_known_answer *answer)
{
    *answer = (mt_known_answer){.spec = spec, .facts = facts};
    answer->files[0].path = db;
    for (size_t i = 0; i < MT_KNOWN_FILES; i++) answer->files[i].flags = is_recorded ? TUNELOOKUP_RECORDED : 0;
}

void mt_known_answer_close(mt_known_answer *answer)
{
    for (size_t i = 0; i < MT_KNOWN_FILES; i++) mt_plan_cache_forget(&answer->files[i]);
    *answer = (mt_known_answer){0};
}

/* The newest source that a file knows may answer: what was fast before an edit is worth a try after it. */
static size_t ask(mt_plan_cache *file, mt_known_answer *answer, const mt_lookup_query *asked, tunelookup_result *results)
{
    const tunelookup_device device = mt_known_answer_device(answer->facts);
    size_t count = 0;
    tunelookup_status why;
    const tunelookup_plan *plan = mt_plan_cache_get(file, &device, answer->spec->name, asked, &why);
    if (why == TUNELOOKUP_ERR_UNTRUSTED && !answer->has_warned) {
        mt_log_warn("searches begin without what is known there: %s", tunelookup_detail());
        answer->has_warned = true;
    }
    return plan && tunelookup_find_several(plan, asked->numbers, results, MT_KNOWN_ANSWERS, &count) == TUNELOOKUP_OK ? count : 0;
}

/* counts[]: results of each file. */
static void ask_all(mt_known_answer *answer, const mt_shape *shape, const mt_workload *workload, size_t counts[MT_KNOWN_FILES])
{
    mt_lookup_query asked = {0};
    mt_error ignored;
    mt_status st = mt_lookup_values_take_shape(&asked, shape, &ignored);
    if (st == MT_OK) st = mt_lookup_values_push(&asked, &ignored);
    if (st == MT_OK && workload) st = mt_lookup_values_bind(&asked, "workload", workload->name, &ignored);
    for (size_t i = 0; i < MT_KNOWN_FILES; i++) counts[i] = st == MT_OK ? ask(&answer->files[i], answer, &asked, answer->results[i]) : 0;
    mt_lookup_query_free(&asked);
}

size_t mt_known_answer_find(void *context, const mt_shape *shape, const mt_workload *workload, const char *variants[MT_ANSWERS_MAX])
{
    mt_known_answer *answer = context;
    size_t counts[MT_KNOWN_FILES], count = 0;
    for (size_t i = 0; i < MT_KNOWN_FILES; i++) mt_plan_cache_forget(&answer->files[i]);
    ask_all(answer, shape, workload, counts);
    for (size_t place = 0; place < MT_KNOWN_ANSWERS; place++) /* each file's first ones before the others */
        for (size_t i = 0; i < MT_KNOWN_FILES; i++)
            if (place < counts[i]) variants[count++] = answer->results[i][place].variant;
    return count;
}

double mt_known_answer_loss(mt_known_answer *answer, const mt_shape *shape, const mt_workload *workload)
{
    size_t counts[MT_KNOWN_FILES];
    double least = MT_KNOWN_ANSWER_UNKNOWN_LOSS;
    ask_all(answer, shape, workload, counts);
    for (size_t i = 0; i < MT_KNOWN_FILES; i++) {
        const tunelookup_result *result = &answer->results[i][0];
        double loss = !counts[i] ? NAN : result->match == TUNELOOKUP_MATCH_EXACT ? 1 : isnan(result->slowdown_bound) ? result->expected_slowdown : result->slowdown_bound;
        if (loss < least) least = loss;
    }
    return least;
}

bool mt_known_answer_is_exact(mt_known_answer *answer, const mt_shape *shape, const mt_workload *workload)
{
    size_t counts[MT_KNOWN_FILES];
    bool is_exact = false;
    ask_all(answer, shape, workload, counts);
    for (size_t i = 0; i < MT_KNOWN_FILES; i++) is_exact |= counts[i] && answer->results[i][0].match == TUNELOOKUP_MATCH_EXACT;
    return is_exact;
}
