#include "db/trees.h"

#include <string.h>

const char *const mt_trees_part_names[MT_TREES_PARTS] = {NULL, "length", "sum", "first", "last"};

static int64_t of_list(mt_trees_part part, const mt_value *list)
{
    int64_t sum = 0;
    if (part == MT_TREES_LENGTH) return (int64_t)list->length;
    if (part == MT_TREES_WHOLE || list->length == 0) return MT_TREES_NONE;
    if (part == MT_TREES_FIRST) return list->list[0];
    if (part == MT_TREES_LAST) return list->list[list->length - 1];
    for (size_t i = 0; i < list->length; i++)
        if (__builtin_add_overflow(sum, list->list[i], &sum)) return MT_TREES_NONE;
    return sum;
}

static int64_t of_text(const mt_trees_name *name, const char *text)
{
    for (size_t i = 0; i < name->text_count; i++)
        if (strcmp(name->texts[i], text) == 0) return (int64_t)i;
    return MT_TREES_NONE;
}

int64_t mt_trees_value(const mt_trees_name *name, const mt_value *value)
{
    switch (value->kind) {
    case MT_VALUE_INT: return value->number;
    case MT_VALUE_LIST: return of_list(name->part, value);
    case MT_VALUE_STRING: return of_text(name, value->string);
    default: return MT_TREES_NONE;
    }
}

/* Without a branch that nobody could foretell. */
uint8_t mt_trees_place(const mt_trees_name *name, int64_t number)
{
    const int64_t *low = name->edges;
    for (size_t left = name->edge_count; left > 0;) {
        size_t half = (left + 1) / 2;
        low += half * (size_t)(number > low[half - 1]);
        left -= half;
    }
    return (uint8_t)(low - name->edges);
}

/* Level by level, all trees at each: a tree's steps wait for each other, those of different trees do not. */
double mt_trees_sum(const mt_trees *trees, const uint8_t *places)
{
    size_t splits = ((size_t)1 << trees->depth) - 1;
    uint16_t at[MT_TREES_COUNT] = {0};
    int64_t sum = 0;
    for (size_t level = 0; level < trees->depth; level++)
        for (size_t t = 0; t < trees->count; t++) {
            mt_trees_split split = trees->splits[t * splits + at[t]];
            at[t] = (uint16_t)(2 * at[t] + 1 + (places[split.name] > split.edge));
        }
    for (size_t t = 0; t < trees->count; t++) sum += trees->leaves[t * (splits + 1) + at[t] - splits];
    return (double)sum / MT_TREES_UNIT;
}

/* Of the name, whose value stands in the slots. */
static int64_t number_of(const mt_trees_name *name, const mt_value *slots, double work)
{
    if (*name->name) return mt_trees_value(name, &slots[name->slot]);
    return work > 0 && work < 9e17 ? (int64_t)work : MT_TREES_NONE;
}

void mt_trees_numbers(const mt_trees_name *names, size_t count, const mt_value *slots, double work, int64_t *numbers)
{
    for (size_t i = 0; i < count; i++) numbers[i] = number_of(&names[i], slots, work);
}

void mt_trees_fill_places(const mt_trees *trees, uint8_t kind, const mt_value *slots, double work, uint8_t *places)
{
    for (size_t i = 0; i < trees->name_count; i++)
        if (trees->names[i].kind == kind) places[i] = trees->names[i].edge_count ? mt_trees_place(&trees->names[i], number_of(&trees->names[i], slots, work)) : 0;
}
