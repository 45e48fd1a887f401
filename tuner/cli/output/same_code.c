#include "tuner/cli/output/same_code.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/source/idle.h"

struct mt_same_code_point {
    mt_point point;
    mt_hash code;
};

/* Of one algorithm; values of a knob as bits of their indices, beyond the 64th again from the first. */
struct mt_same_code_changes {
    uint64_t differing; /* knobs: two points that differ in it alone have different code */
    uint64_t compiled[MT_MAX_PARAMS], compared[MT_MAX_PARAMS];
};

/* Which knobs are looked at, while sorting. */
struct order {
    size_t knob, count;
};

void mt_same_code_add(mt_same_code *codes, const mt_point *point, const mt_hash *code)
{
    struct mt_same_code_point *items = mt_grow(codes->items, codes->count, &codes->capacity, sizeof *items);
    if (!items) return;
    codes->items = items;
    items[codes->count++] = (struct mt_same_code_point){*point, *code};
}

/* By all knobs but one. */
static int by_others(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct mt_same_code_point *x = a, *y = b;
    for (size_t i = 0; i < order->count; i++) {
        if (i == order->knob || x->point.level[i] == y->point.level[i]) continue;
        return x->point.level[i] < y->point.level[i] ? -1 : 1;
    }
    return 0;
}

static uint64_t value_of(const struct mt_same_code_point *code, size_t knob)
{
    int level = code->point.level[knob];
    return level == MT_INACTIVE ? 0 : UINT64_C(1) << (level & 63);
}

static void compare(const struct mt_same_code_point *a, const struct mt_same_code_point *b, size_t knob, struct mt_same_code_changes *changes)
{
    changes->compared[knob] |= value_of(a, knob) | value_of(b, knob);
    if (strcmp(a->code.hex, b->code.hex) != 0) changes->differing |= UINT64_C(1) << knob;
}

void mt_same_code_end_shape(mt_same_code *codes)
{
    if (!codes->changes) codes->changes = mt_alloc(codes->spec->algorithm_count, sizeof *codes->changes);
    for (size_t knob = 1; knob < codes->spec->param_count && codes->changes && codes->count; knob++) {
        struct order order = {knob, codes->spec->param_count};
        qsort_r(codes->items, codes->count, sizeof *codes->items, by_others, &order);
        for (size_t i = 0; i < codes->count; i++) {
            const struct mt_same_code_point *code = &codes->items[i];
            struct mt_same_code_changes *of_algorithm = &codes->changes[code->point.level[0]];
            of_algorithm->compiled[knob] |= value_of(code, knob);
            if (i > 0 && by_others(code - 1, code, &order) == 0) compare(code - 1, code, knob, of_algorithm);
        }
    }
    codes->count = 0;
}

void mt_same_code_free(mt_same_code *codes)
{
    mt_free(codes->items);
    mt_free(codes->changes);
    *codes = (mt_same_code){0};
}

static uint64_t same_in(const mt_same_code *codes, size_t algorithm, uint64_t left_out)
{
    const struct mt_same_code_changes *changes = &codes->changes[algorithm];
    uint64_t same = 0;
    for (size_t knob = 1; knob < codes->spec->param_count; knob++)
        if (changes->compared[knob] && changes->compared[knob] == changes->compiled[knob]) same |= UINT64_C(1) << knob;
    return same & ~changes->differing & ~left_out;
}

static void say_of(const mt_same_code *codes, uint64_t knobs, const char *where, void (*say)(void *context, const char *sentence), void *context)
{
    mt_strbuf sentence = {0};
    mt_idle_tell(codes->spec, knobs, where, "every value compiles to the same code, and no launch, argument or option", &sentence);
    if (sentence.length) say(context, mt_strbuf_text(&sentence));
    mt_strbuf_free(&sentence);
}

void mt_same_code_tell(const mt_same_code *codes, uint64_t left_out, void (*say)(void *context, const char *sentence), void *context)
{
    const mt_spec *spec = codes->spec;
    uint64_t somewhere = 0, differing = 0;
    if (!codes->changes) return;
    left_out |= mt_knobs_of_expressions(spec); /* which may well leave the code alone */
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        somewhere |= same_in(codes, i, left_out);
        differing |= codes->changes[i].differing;
    }
    say_of(codes, somewhere & ~differing, "", say, context);
    for (size_t i = 0; i < spec->algorithm_count; i++) {
        mt_strbuf where = {0};
        mt_strbuf_addf(&where, " in algorithm %s", spec->algorithms[i].name);
        say_of(codes, same_in(codes, i, left_out) & differing, mt_strbuf_text(&where), say, context);
        mt_strbuf_free(&where);
    }
}
