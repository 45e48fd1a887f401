#include "tuner/cli/requests/check_knobs.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/idle.h"
#include "tuner/space/macro_names.h"

/* ---- names ---- */

static bool includes(const mt_source *source, const char *header)
{
    if (!header) return true;
    for (size_t i = 0; i < source->file_count; i++)
        if (strstr(source->files[i].text, header)) return true;
    return false;
}

void mt_check_taken_names(const mt_spec *spec, const mt_source *source, mt_strbuf *out)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        for (size_t k = 0; k < mt_taken_name_count; k++) {
            const mt_taken_name *taken = &mt_taken_names[k];
            if (strcmp(spec->params[i].macro, taken->name) != 0 || !includes(source, taken->header)) continue;
            mt_strbuf_addf(out, "knob %s: its macro breaks headers of %s, which use the name for something else; expected another name, or [kernel] macros = KNOB_\n", spec->params[i].name,
                           taken->header ? taken->header : "NVRTC");
        }
    }
}

/* ---- code ---- */

struct mt_check_code {
    mt_point point;
    mt_hash code;
};

/* Which knobs are looked at, while sorting. */
struct order {
    size_t knob, count;
};

void mt_check_codes_add(mt_check_codes *codes, const mt_point *point, const mt_hash *code)
{
    struct mt_check_code *items = mt_grow(codes->items, codes->count, &codes->capacity, sizeof *items);
    if (!items) return;
    codes->items = items;
    items[codes->count++] = (struct mt_check_code){*point, *code};
}

/* By all knobs but one. */
static int by_others(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct mt_check_code *x = a, *y = b;
    for (size_t i = 0; i < order->count; i++) {
        if (i == order->knob || x->point.level[i] == y->point.level[i]) continue;
        return x->point.level[i] < y->point.level[i] ? -1 : 1;
    }
    return 0;
}

void mt_check_codes_compare(mt_check_codes *codes, const mt_spec *spec, mt_check_changes *changes)
{
    for (size_t knob = 1; knob < spec->param_count; knob++) {
        struct order order = {knob, spec->param_count};
        if (codes->count) qsort_r(codes->items, codes->count, sizeof *codes->items, by_others, &order);
        for (size_t i = 1; i < codes->count; i++) {
            if (by_others(&codes->items[i - 1], &codes->items[i], &order) != 0) continue;
            mt_check_changes *of_algorithm = &changes[codes->items[i].point.level[0]];
            of_algorithm->compared |= UINT64_C(1) << knob;
            if (strcmp(codes->items[i - 1].code.hex, codes->items[i].code.hex) != 0) of_algorithm->differing |= UINT64_C(1) << knob;
        }
    }
}

void mt_check_codes_free(mt_check_codes *codes)
{
    mt_free(codes->items);
    *codes = (mt_check_codes){0};
}

static uint64_t same_in(const mt_check_changes *changes)
{
    return changes->compared & ~changes->differing;
}

void mt_check_same_code(const mt_spec *spec, const mt_check_changes *changes, uint64_t left_out, mt_strbuf *out)
{
    static const char why[] = "every value compiles to the same code, and no launch, argument or option";
    uint64_t somewhere = 0, differing = 0;
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        somewhere |= same_in(&changes[i]) & ~left_out;
        differing |= changes[i].differing;
    }
    mt_idle_tell(spec, somewhere & ~differing, "", why, out);
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        mt_strbuf where = {0};
        mt_strbuf_addf(&where, " in algorithm %s", spec->algorithms[i].name);
        if (out->length && out->text[out->length - 1] != '\n') mt_strbuf_add(out, "\n");
        mt_idle_tell(spec, same_in(&changes[i]) & differing & ~left_out, mt_strbuf_text(&where), why, out);
        mt_strbuf_free(&where);
    }
}
