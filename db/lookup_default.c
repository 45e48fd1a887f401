/* The kernel's default variant: the first algorithm with every active knob at its default. Which knobs are active depends on the shape, so finders put it together, in slots that prepare
 * laid out: a slot is written once, by whoever takes it first. */
#include "db/lookup.h"

#include <stdio.h>
#include <string.h>

enum { EMPTY = 0, WRITING = 1, READY = 2, ALGO = 0 /* the first knob */ };

/* ---- which knobs ---- */

/* Sets the knobs one by one, since a knob's condition reads earlier ones; returns the active ones as bits. */
static uint64_t activate(const mt_lookup_block *block, const int64_t *values, mt_value *knobs)
{
    const mt_lookup_model *model = &block->model;
    const mt_lookup_variant variant = { .knobs = knobs, .algo = 0 };
    mt_lookup_scene scene;
    uint64_t active = 1;
    memset(knobs, 0, model->param_count * sizeof *knobs);
    knobs[ALGO] = (mt_value){ .kind = MT_VALUE_STRING, .string = model->variants[0].name };
    mt_lookup_scene_fill(&scene, block, &variant, values);
    for (uint32_t i = 1; i < model->param_count; i++) {
        int64_t holds = 1;
        if (model->params[i].when && block->whens_read_lets) mt_lookup_scene_fill(&scene, block, &variant, values);
        if (model->params[i].when && mt_lookup_scene_number(&scene, model->params[i].when, &holds) != MT_PROGRAM_OK) holds = 0;
        if (!holds) continue;
        knobs[i] = scene.slots[model->param_slot + i] = model->params[i].standard;
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

static void write_slot(const mt_lookup_block *block, mt_lookup_default *slot, uint64_t active, const mt_value *knobs)
{
    const mt_lookup_model *model = &block->model;
    size_t used = 0;
    slot->active = active;
    memcpy(slot->knobs, knobs, model->param_count * sizeof *knobs);
    for (uint32_t i = 0; i < model->param_count; i++) {
        uint32_t param = block->text_order[i];
        if (!(active >> param & 1)) continue;
        if (used) slot->text[used++] = ';';
        if (param != ALGO) {
            used = add(slot->text, used, model->params[param].standard_text);
            continue;
        }
        used = add(slot->text, used, model->params[ALGO].name);
        slot->text[used++] = '=';
        used = add(slot->text, used, model->variants[0].name);
    }
    slot->text[used] = '\0';
    for (size_t i = 0; i < used; i++) slot->packed[i] = slot->text[i] == ';' ? '\0' : slot->text[i];
    slot->packed[used] = slot->packed[used + 1] = '\0';
}

/* A slot with these knobs, written now if there is none; MT_LOOKUP_DEFAULTS when all are taken by others. One that another finder is writing at this moment is passed over. */
static uint32_t slot_of(const mt_lookup_block *block, uint64_t active, const mt_value *knobs)
{
    for (uint32_t i = 0; i < MT_LOOKUP_DEFAULTS; i++) {
        mt_lookup_default *slot = &block->defaults[i];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state == EMPTY && atomic_compare_exchange_strong(&slot->state, &state, WRITING)) {
            write_slot(block, slot, active, knobs);
            atomic_store_explicit(&slot->state, READY, memory_order_release);
            return i;
        }
        if (state == READY && slot->active == active) return i;
    }
    return MT_LOOKUP_DEFAULTS;
}

/* ---- for finders ---- */

bool mt_lookup_may_run(const mt_lookup_block *block, const mt_lookup_variant *variant, const int64_t *values, uint8_t *launches, char *why, size_t size)
{
    mt_lookup_scene scene;
    uint32_t count = 0;
    if (why && size) *why = '\0';
    const char *problem = variant->problem;
    if (!problem) {
        mt_lookup_scene_fill(&scene, block, variant, values);
        problem = mt_lookup_scene_refusal(&scene, why, size);
        if (!problem) problem = mt_lookup_scene_illegal(&scene, &count);
    }
    *launches = (uint8_t)count;
    if (problem && why && problem != why) snprintf(why, size, "%s", problem);
    return !problem;
}

uint32_t mt_lookup_default_row(const mt_lookup_block *block, const int64_t *values, uint8_t *launches, char *why, size_t size)
{
    mt_value knobs[MT_LOOKUP_PARAMS];
    const mt_lookup_variant variant = { .text = "", .packed = "", .knobs = knobs, .algo = 0 };
    if (block->default_problem) {
        if (why) snprintf(why, size, "%s", block->default_problem);
        return block->row_total;
    }
    uint64_t active = activate(block, values, knobs);
    if (!mt_lookup_may_run(block, &variant, values, launches, why, size)) return block->row_total;
    uint32_t slot = slot_of(block, active, knobs);
    if (slot < MT_LOOKUP_DEFAULTS) return block->first_default + slot;
    if (why) snprintf(why, size, "the default has more than %d sets of active knobs", MT_LOOKUP_DEFAULTS);
    return block->row_total;
}
