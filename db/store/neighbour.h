/* Which variants differ in one knob: for `show --ablation` and the report alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "NAME=VALUE" of a variant's text ("ALGO=direct;BLEND=half2"). */
typedef struct mt_knob_text {
    const char *name, *value;
    size_t name_length, value_length;
} mt_knob_text;

/* The next one, *at behind it; false at the text's end. */
bool mt_knob_text_next(const char **at, mt_knob_text *out);
/* Whether two variants differ in the value of exactly one knob that is active in both: in `base` it is *from, in the other *to. Knobs that are active in one of them only depend on another and don't count. */
bool mt_is_neighbour(const char *base, const char *other, mt_knob_text *from, mt_knob_text *to);
