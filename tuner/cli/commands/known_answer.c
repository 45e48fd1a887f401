#include "tuner/cli/commands/known_answer.h"

#include "tuner/base/alloc.h"
#include "tuner/cli/commands/lookup_query.h"

tunelookup_device mt_known_answer_device(const mt_device_facts *facts)
{
    return (tunelookup_device){.struct_size = sizeof(tunelookup_device), .name = facts->name, .cc = facts->cc, .sm_count = facts->sm_count, .smem_optin = facts->smem_optin,
        .smem_per_sm = facts->smem_per_sm, .smem_reserved = facts->smem_reserved, .regs_per_sm = facts->regs_per_sm, .threads_per_sm = facts->threads_per_sm,
        .blocks_per_sm = facts->blocks_per_sm, .max_cluster = facts->max_cluster, .l2_bytes = facts->l2_bytes, .mem_bytes = facts->mem_bytes, .clock_mhz = facts->clock_mhz,
        .driver_version = facts->driver_version};
}

void mt_known_answer_open(const char *db, const mt_spec *spec, const mt_device_facts *facts, bool is_recorded, mt_known_answer *answer)
{
    const char *const paths[MT_ANSWERS_MAX] = {db, NULL};
    *answer = (mt_known_answer){.spec = spec, .facts = facts};
    for (size_t i = 0; i < MT_ANSWERS_MAX; i++)
        if (tunelookup_open(paths[i], is_recorded ? TUNELOOKUP_RECORDED : 0, &answer->dbs[i]) != TUNELOOKUP_OK) answer->dbs[i] = NULL;
}

void mt_known_answer_close(mt_known_answer *answer)
{
    for (size_t i = 0; i < MT_ANSWERS_MAX; i++) tunelookup_close(answer->dbs[i]);
    *answer = (mt_known_answer){0};
}

/* The newest source that a file knows may answer: what was fast before an edit is worth a try after it. */
static bool ask(tunelookup_db *db, const mt_known_answer *answer, const mt_lookup_query *asked, tunelookup_result *result)
{
    const tunelookup_device device = mt_known_answer_device(answer->facts);
    tunelookup_plan *plan;
    return tunelookup_prepare(db, &device, answer->spec->name, (const char *const *)asked->names, asked->name_count, &plan) == TUNELOOKUP_OK &&
           tunelookup_find(plan, asked->numbers, result) == TUNELOOKUP_OK && result->match != TUNELOOKUP_MATCH_NONE;
}

size_t mt_known_answer_find(void *context, const mt_shape *shape, const mt_workload *workload, const char *variants[MT_ANSWERS_MAX])
{
    mt_known_answer *answer = context;
    mt_lookup_query asked = {0};
    mt_error ignored;
    size_t count = 0;
    mt_status st = mt_lookup_values_take_shape(&asked, shape, &ignored);
    if (st == MT_OK) st = mt_lookup_values_push(&asked, &ignored);
    if (st == MT_OK) st = mt_lookup_values_bind_workload(&asked, workload->name, &ignored);
    for (size_t i = 0; i < MT_ANSWERS_MAX && st == MT_OK; i++)
        if (answer->dbs[i] && ask(answer->dbs[i], answer, &asked, &answer->results[i])) variants[count++] = answer->results[i].variant;
    mt_lookup_query_free(&asked);
    return count;
}
