/* The kernel's default variants: of the algorithms that its space prefers, the first that may run, with every active knob at its default. Which knobs are active depends on the shape, so finders put it together, in slots that prepare
 * laid out: a slot is written once, by whoever takes it first. */
#include "db/lookup/lookup.h"

#include <stdio.h>
#include <string.h>

enum { EMPTY = 0, WRITING = 1, READY = 2, ALGO = 0 /* the first knob */ };

/* ---- which knobs ---- */

/* Sets the knobs one by one, since a knob's condition reads earlier ones; returns the active ones as bits. */
static uint64_t activate(const mt_lookup_answers *answers, uint32_t algo, const int64_t *values, mt_value *knobs)
{
    const mt_lookup_model *model = &answers->model;
    const mt_lookup_variant variant = { .knobs = knobs, .algo = (int32_t)algo };
    mt_lookup_env env;
    uint64_t active = 1;
    memset(knobs, 0, model->param_count * sizeof *knobs);
    knobs[ALGO] = (mt_value){ .kind = MT_VALUE_STRING, .string = model->variants[algo].name };
    mt_lookup_env_fill(&env, answers, &variant, values);
    for (uint32_t i = 1; i < model->param_count; i++) {
        int64_t holds = 1;
        if (model->params[i].when && answers->whens_read_lets) mt_lookup_env_fill(&env, answers, &variant, values);
        if (model->params[i].when && mt_lookup_env_number(&env, model->params[i].when, &holds) != MT_PROGRAM_OK) holds = 0;
        if (!holds) continue;
        knobs[i] = env.slots[model->param_slot + i] = model->params[i].standard;
        active |= UINT64_C(1) << i;
    }
    return active;
}

/* ---- slots ---- */

static size_t add(char *out, size_t used, const char *text)
{
    size_t length = strlen(text);
    memcpy(out + used, text, length);
    return used + length;
}

static void write_slot(const mt_lookup_answers *answers, mt_lookup_default *slot, uint32_t algo, uint64_t active, const mt_value *knobs)
{
    const mt_lookup_model *model = &answers->model;
    size_t used = 0;
    slot->active = active;
    slot->variant.algo = (int32_t)algo;
    memcpy(slot->knobs, knobs, model->param_count * sizeof *knobs);
    for (uint32_t i = 0; i < model->param_count; i++) {
        uint32_t param = answers->model.params_by_name[i];
        if (!(active >> param & 1)) continue;
        if (used) slot->text[used++] = ';';
        if (param != ALGO) {
            used = add(slot->text, used, model->params[param].standard_text);
            continue;
        }
        used = add(slot->text, used, model->params[ALGO].name);
        slot->text[used++] = '=';
        used = add(slot->text, used, model->variants[algo].name);
    }
    slot->text[used] = '\0';
    for (size_t i = 0; i < used; i++) slot->packed[i] = slot->text[i] == ';' ? '\0' : slot->text[i];
    slot->packed[used] = slot->packed[used + 1] = '\0';
}

/* A slot with these knobs, written now if there is none; MT_LOOKUP_DEFAULTS when all are taken by others. One that another finder is writing at this moment is passed over. */
static uint32_t slot_of(const mt_lookup_answers *answers, uint32_t algo, uint64_t active, const mt_value *knobs)
{
    for (uint32_t i = 0; i < MT_LOOKUP_DEFAULTS; i++) {
        mt_lookup_default *slot = &answers->defaults[i];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state == EMPTY && atomic_compare_exchange_strong(&slot->state, &state, WRITING)) {
            write_slot(answers, slot, algo, active, knobs);
            atomic_store_explicit(&slot->state, READY, memory_order_release);
            return i;
        }
        if (state == READY && slot->active == active && slot->variant.algo == (int32_t)algo) return i;
    }
    return MT_LOOKUP_DEFAULTS;
}

/* ---- for finders ---- */

bool mt_lookup_may_run(const mt_lookup_answers *answers, const mt_lookup_variant *variant, const int64_t *values, uint8_t *launches, char *why, size_t size)
{
    mt_lookup_env env;
    uint32_t count = 0;
    if (why && size) *why = '\0';
    const char *problem = variant->problem;
    if (!problem) {
        mt_lookup_env_fill(&env, answers, variant, values);
        problem = mt_lookup_env_refusal(&env, why, size);
        if (!problem) problem = mt_lookup_env_illegal(&env, &count);
    }
    *launches = (uint8_t)count;
    if (problem && why && problem != why) snprintf(why, size, "%s", problem);
    return !problem;
}

/* One default; row_total when it may not run here, or is known to compute wrong results. */
static uint32_t row_of(const mt_lookup_answers *answers, uint32_t algo, const int64_t *values, uint8_t *launches, char *why, size_t size)
{
    mt_value knobs[MT_LOOKUP_PARAMS];
    const mt_lookup_variant variant = { .text = "", .packed = "", .knobs = knobs, .algo = (int32_t)algo };
    uint64_t active = activate(answers, algo, values, knobs);
    if (!mt_lookup_may_run(answers, &variant, values, launches, why, size)) return answers->row_total;
    uint32_t slot = slot_of(answers, algo, active, knobs);
    if (slot < MT_LOOKUP_DEFAULTS && !mt_lookup_is_wrong(answers, answers->defaults[slot].text)) return answers->first_default + slot;
    if (why && slot < MT_LOOKUP_DEFAULTS) snprintf(why, size, "%s", MT_LOOKUP_COMPUTED_WRONG);
    else if (why) snprintf(why, size, "the defaults have more than %d sets of active knobs", MT_LOOKUP_DEFAULTS);
    return answers->row_total;
}

uint32_t mt_lookup_default_row(const mt_lookup_answers *answers, const int64_t *values, bool first_fails, uint8_t *launches, char *why, size_t size)
{
    const mt_lookup_model *model = &answers->model;
    size_t used = 0;
    if (why) *why = '\0';
    if (answers->default_problem && why) snprintf(why, size, "%s", answers->default_problem);
    for (uint32_t i = answers->default_problem ? model->default_count : 0; i < model->default_count; i++) {
        char own[256] = "";
        bool fails = i == 0 && (first_fails || answers->default_fails);
        uint32_t row = fails ? answers->row_total : row_of(answers, model->defaults[i], values, launches, why ? own : NULL, sizeof own);
        if (row < answers->row_total) return row;
        if (fails) snprintf(own, sizeof own, "it fails on the tuned shapes with one of this shape's strings");
        if (why && used < size) used += (size_t)snprintf(why + used, size - used, model->default_count > 1 ? "%s%s: %s" : "%s%.0s%s", used ? "; " : "", model->variants[model->defaults[i]].name, own);
    }
    return answers->row_total;
}
