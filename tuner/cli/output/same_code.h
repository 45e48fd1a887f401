/* Knobs that change nothing, as the code tells that `check` and `tune` compiled: every value gives the same. */
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/point.h"

/* What the compiled code of points tells of knobs: two points of a shape that differ in one knob alone, and have the same code. */
typedef struct mt_same_code {
    const mt_spec *spec; /* borrowed */
    struct mt_same_code_point *items; /* points of the shape at hand; owned, as is the next */
    size_t count, capacity;
    struct mt_same_code_changes *changes; /* of each algorithm, over all shapes; NULL = nothing yet */
} mt_same_code; /* zero-initialise but for spec */

/* Without memory the point is left out. */
void mt_same_code_add(mt_same_code *codes, const mt_point *point, const mt_hash *code);
/* The shape's points are all there. */
void mt_same_code_end_shape(mt_same_code *codes);
void mt_same_code_free(mt_same_code *codes);
/* Says a sentence for the knobs of which every value that was compiled was compared with another, all of the same code, and one for each algorithm where others are so. `left_out`: knobs of which nothing is said,
 * beside those that a launch, an argument or an option reads. */
void mt_same_code_tell(const mt_same_code *codes, uint64_t left_out, void (*say)(void *context, const char *sentence), void *context);
