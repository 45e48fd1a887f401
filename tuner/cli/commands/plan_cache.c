#include "tuner/cli/commands/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

void mt_plan_cache_forget(mt_plan_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++) mt_free(cache->items[i].question);
    tunelookup_close(cache->db);
    *cache = (mt_plan_cache){.path = cache->path, .flags = cache->flags};
}

/* All that a plan depends on. NULL: out of memory. */
static char *question_of(const tunelookup_device *device, const char *kernel, const mt_lookup_query *query)
{
    mt_strbuf text = {0};
    mt_strbuf_addf(&text, "%s\n%lld %lld %lld\n%s", device->name, (long long)device->cc, (long long)device->sm_count, (long long)device->mem_bytes, kernel);
    for (size_t i = 0; i < query->name_count; i++) mt_strbuf_addf(&text, "\n%s", query->names[i]);
    return mt_strbuf_take(&text);
}

static tunelookup_plan *prepare(mt_plan_cache *cache, const tunelookup_device *device, const char *kernel, const mt_lookup_query *query)
{
    tunelookup_plan *plan = NULL;
    if (!cache->db && !cache->is_refused) cache->is_refused = tunelookup_open(cache->path, cache->flags, &cache->db) != TUNELOOKUP_OK;
    if (cache->is_refused) return NULL;
    return tunelookup_prepare(cache->db, device, kernel, (const char *const *)query->names, query->name_count, &plan) == TUNELOOKUP_OK ? plan : NULL;
}

tunelookup_plan *mt_plan_cache_get(mt_plan_cache *cache, const tunelookup_device *device, const char *kernel, const mt_lookup_query *query)
{
    char *question = question_of(device, kernel, query);
    if (!question) return NULL;
    for (size_t i = 0; i < cache->count; i++) {
        if (strcmp(cache->items[i].question, question) != 0) continue;
        mt_free(question);
        return cache->items[i].plan;
    }
    if (cache->count == MT_PLANS_KEPT) mt_plan_cache_forget(cache);
    tunelookup_plan *plan = prepare(cache, device, kernel, query);
    cache->items[cache->count].question = question;
    cache->items[cache->count++].plan = plan;
    return plan;
}
