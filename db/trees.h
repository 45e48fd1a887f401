/* What a kernel's cost model misses, as learned from its measurements: a sum of regression trees over what expressions can read (knobs, values of the shape, lets). Evaluated here for both sides: by
 * the tuner, which fits them (tuner/predictor/boost.h), and by the lookup library. Whole numbers only, so that both find the same bits. Pure; libc only; nothing allocates.
 *
 * Each tree is a full binary tree: split s is followed by 2s + 1 (low) and 2s + 2 (high), until a leaf is reached. */
#pragma once

#include "db/program.h"

enum {
    MT_TREES_DEPTH = 8,       /* at most; so are the following */
    MT_TREES_COUNT = 256,
    MT_TREES_NAMES = 128,
    MT_TREES_TEXTS = 64,      /* values of one text */
    MT_TREES_EDGES = 127,     /* of one name */
    MT_TREES_UNIT = 4096      /* of leaves: to the octave */
};
#define MT_TREES_NONE (-INT64_C(1000000000000000000)) /* the value of what is not active, or cannot be computed */
#define MT_TREES_NO_EDGE UINT8_MAX /* a split that parts nothing: all is low */

typedef enum mt_trees_part { MT_TREES_WHOLE, MT_TREES_LENGTH, MT_TREES_SUM, MT_TREES_FIRST, MT_TREES_LAST, MT_TREES_PARTS } mt_trees_part; /* the others: of a list */
extern const char *const mt_trees_part_names[MT_TREES_PARTS]; /* as they are stored; NULL for the whole */

/* Something that trees read. A text counts as its place among `texts`. Trees see no numbers but between which two edges they lie. */
typedef struct mt_trees_name {
    const char *name;         /* "" = what the cost model says */
    mt_trees_part part;
    const char *const *texts;
    size_t text_count;
    uint32_t slot;            /* in the array of values; of the cost model's word none */
    uint8_t kind;             /* for who asks again and again: what it may change with */
    const int64_t *edges;     /* ascending */
    size_t edge_count;
} mt_trees_name;

typedef struct mt_trees_split { uint8_t name, edge; } mt_trees_split; /* high: the number is above the name's edge `edge`. Small, so that all of them stay in a processor's nearest cache */

typedef struct mt_trees {
    size_t depth, count, name_count;
    const mt_trees_name *names;
    const mt_trees_split *splits; /* [count][2^depth − 1] */
    const int16_t *leaves;        /* [count][2^depth], in octaves / MT_TREES_UNIT */
} mt_trees;

/* The number by which trees know a value. */
int64_t mt_trees_value(const mt_trees_name *name, const mt_value *value);
/* How many of the name's edges are below the number. */
uint8_t mt_trees_place(const mt_trees_name *name, int64_t number);
/* The same of every name of that kind. */
void mt_trees_fill_places(const mt_trees *trees, uint8_t kind, const mt_value *slots, double work, uint8_t *places);
/* log2 of the factor, from [name_count] places. */
double mt_trees_sum(const mt_trees *trees, const uint8_t *places);
void mt_trees_numbers(const mt_trees_name *names, size_t count, const mt_value *slots, double work, int64_t *numbers);

