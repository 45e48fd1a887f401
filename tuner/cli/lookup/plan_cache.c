#include "tuner/cli/lookup/plan_cache.h"

#include <string.h>

#include "db/lookup/lookup.h"
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

static tunelookup_status prepare(mt_plan_cache *cache, const tunelookup_device *device, const char *kernel, const mt_lookup_query *query, tunelookup_plan **plan)
{
    if (!cache->db && cache->refusal == TUNELOOKUP_OK) cache->refusal = tunelookup_open(cache->path, cache->flags, &cache->db);
    return cache->refusal != TUNELOOKUP_OK ? cache->refusal : tunelookup_prepare(cache->db, device, kernel, (const char *const *)query->names, query->name_count, plan);
}

/* Where the question stands in the cache, put there when it is new; SIZE_MAX: out of memory. */
static size_t place_of(mt_plan_cache *cache, const tunelookup_device *device, const char *kernel, const mt_lookup_query *query)
{
    char *question = question_of(device, kernel, query);
    if (!question) return SIZE_MAX;
    for (size_t i = 0; i < cache->count; i++) {
        if (strcmp(cache->items[i].question, question) != 0) continue;
        mt_free(question);
        return i;
    }
    if (cache->count == MT_PLANS_KEPT) mt_plan_cache_forget(cache);
    size_t place = cache->count++;
    cache->items[place].question = question;
    cache->items[place].plan = NULL;
    cache->items[place].status = prepare(cache, device, kernel, query, &cache->items[place].plan);
    return place;
}

tunelookup_plan *mt_plan_cache_get(mt_plan_cache *cache, const tunelookup_device *device, const char *kernel, const mt_lookup_query *query, tunelookup_status *why)
{
    size_t place = place_of(cache, device, kernel, query);
    bool is_good = place != SIZE_MAX && cache->items[place].status == TUNELOOKUP_OK;
    if (why) *why = place == SIZE_MAX ? TUNELOOKUP_ERR_NO_MEMORY : cache->items[place].status;
    return is_good ? cache->items[place].plan : NULL;
}

const char *mt_plan_refuses(const tunelookup_plan *plan, const char *shape_key, const char *variant)
{
    const mt_lookup_answers *answers = atomic_load(&plan->answers);
    int64_t values[TUNELOOKUP_MAX_VALUES];
    return mt_lookup_parse_shape(&answers->model, shape_key, values) ? mt_lookup_unsafe_on(answers, variant, values) : NULL;
}
