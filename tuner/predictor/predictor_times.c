#include "tuner/predictor/predictor_times.h"

#include <string.h>

#include "db/lookup/lookup_cost.h"
#include "tuner/base/alloc.h"

struct mt_times_of {
    mt_lookup_answers answers;           /* its model and arena alone */
    int64_t values[TUNELOOKUP_MAX_VALUES];
    mt_lookup_env env;
    const mt_lookup_json *correction;    /* NULL = none */
};

/* ---- making ---- */

static tunelookup_device device_of(const mt_lookup_json *facts)
{
#define FACT(name) (int)mt_lookup_json_int(facts, #name, 0)
    return (tunelookup_device){.cc = FACT(cc), .sm_count = FACT(sm_count), .smem_optin = FACT(smem_optin), .smem_per_sm = FACT(smem_per_sm), .smem_reserved = FACT(smem_reserved),
                               .regs_per_sm = FACT(regs_per_sm), .threads_per_sm = FACT(threads_per_sm), .blocks_per_sm = FACT(blocks_per_sm), .max_cluster = FACT(max_cluster),
                               .l2_bytes = FACT(l2_bytes), .mem_bytes = mt_lookup_json_int(facts, "mem_bytes", 0), .clock_mhz = FACT(clock_mhz)};
#undef FACT
}

mt_status mt_predictor_times_make(const char *spec_json, const char *facts_json, mt_times_of **out, mt_error *err)
{
    const mt_lookup_json *spec = NULL, *facts = NULL;
    mt_times_of *times = mt_alloc(1, sizeof *times);
    *out = NULL;
    if (!times) return mt_no_memory("portfolio", err);
    mt_lookup_arena *arena = &times->answers.arena;
    tunelookup_status st = mt_lookup_json_load("kernel", spec_json, arena, &spec);
    if (st == TUNELOOKUP_OK) st = mt_lookup_json_load("device", facts_json, arena, &facts);
    tunelookup_device device = device_of(facts);
    if (st == TUNELOOKUP_OK) st = mt_lookup_model_load(spec, &device, "kernel", arena, &times->answers.model);
    if (times->answers.model.correction) times->correction = mt_lookup_json_member(mt_lookup_json_member(spec, "model"), "correction");
    bool has_model = st == TUNELOOKUP_OK && times->answers.model.time_ns && device.sm_count > 0;
    if (has_model) *out = times;
    else mt_predictor_times_free(times);
    return st == TUNELOOKUP_ERR_NO_MEMORY ? mt_no_memory("portfolio", err) : MT_OK; /* expressions that the library can't read answer nothing there either */
}

mt_status mt_predictor_times_load(mt_store *store, const mt_portfolio_group *group, mt_times_of **times, mt_error *err)
{
    char *spec_json = NULL, *facts_json = NULL;
    *times = NULL;
    mt_status st = mt_query_expressions(store, group->kernel, group->device, &spec_json, &facts_json, err);
    if (st == MT_OK && strstr(spec_json, "\"time_ns\":")) st = mt_predictor_times_make(spec_json, facts_json, times, err);
    mt_free(spec_json);
    mt_free(facts_json);
    return st;
}

void mt_predictor_times_free(mt_times_of *times)
{
    if (!times) return;
    mt_lookup_arena_free(&times->answers.arena);
    mt_free(times);
}

uint32_t mt_predictor_times_digest(const mt_times_of *times)
{
    return times->answers.model.time_digest;
}

const mt_trees *mt_predictor_times_correction(const mt_times_of *times)
{
    return times->answers.model.correction;
}

bool mt_predictor_times_loss(const mt_times_of *times, mt_times_loss *loss)
{
    const mt_lookup_json *object = mt_lookup_json_member(times->correction, "loss"), *mean = mt_lookup_json_member(object, "mean"), *most = mt_lookup_json_member(object, "nine_of_ten");
    const mt_lookup_json *worst = mt_lookup_json_member(object, "worst");
    if (!mean || !most || !worst) return false;
    *loss = (mt_times_loss){mean->real, most->real, worst->real, mt_lookup_json_int(object, "shapes", 0)};
    return true;
}

bool mt_predictor_times_is_candidate(const mt_times_of *times, const char *variant)
{
    const mt_lookup_json *array = mt_lookup_json_member(times->correction, "candidates");
    for (const mt_lookup_json *at = array ? array->first : NULL; at; at = at->next)
        if (at->text && strcmp(at->text, variant) == 0) return true;
    return false;
}

/* ---- shapes and variants ---- */

/* Binds one value to what stands at *at, up to the next ';': its text, or its place among the values and how many of them it has. */
static bool bind_value(mt_lookup_arena *arena, mt_lookup_model_name *name, const char *text, size_t length, uint32_t *used)
{
    if (name->kind == MT_LOOKUP_NAME_STRING) return (name->string = mt_lookup_arena_text(arena, text, length)) != NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < length; i++) count += text[i] == ',' && i + 1 < length;
    name->offset = *used;
    name->length = count + 1;
    *used += count + 1;
    return *used <= TUNELOOKUP_MAX_VALUES;
}

bool mt_predictor_times_set_shape(mt_times_of *times, const char *key)
{
    mt_lookup_model *model = &times->answers.model;
    uint32_t used = 0;
    const char *at = key;
    for (uint32_t i = 0; i < model->name_count; i++) {
        const char *end = at + strcspn(at, ";"), *equals = memchr(at, '=', (size_t)(end - at));
        if (!equals || !bind_value(&times->answers.arena, &model->names[i], equals + 1, (size_t)(end - equals - 1), &used)) return false;
        at = end + (*end == ';');
    }
    if (!mt_lookup_parse_shape(model, key, times->values)) return false;
    mt_lookup_env_begin(&times->env, &times->answers, times->values);
    return true;
}

const mt_lookup_variant *mt_predictor_times_variant(mt_times_of *times, const char *text)
{
    return mt_lookup_variant_make(&times->answers, 0, text);
}

int64_t mt_predictor_times_at(mt_times_of *times, const mt_lookup_variant *variant)
{
    const mt_lookup_model *model = &times->answers.model;
    if (variant->problem) return 0;
    mt_lookup_env_set_variant(&times->env, variant);
    for (uint32_t i = 0; i < model->let_count; i++)
        if (model->lets[i].is_in_costs) mt_lookup_env_compute(&times->env, i);
    double ns = mt_lookup_env_work(&times->env);
    return ns > 0 ? (int64_t)ns : 0;
}

const mt_lookup_model *mt_predictor_times_model(const mt_times_of *times)
{
    return &times->answers.model;
}

const mt_value *mt_predictor_times_slots(const mt_times_of *times)
{
    return times->env.slots;
}
