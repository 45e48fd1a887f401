/* A point of the space (one level per knob) and its canonical text. */
#pragma once

#include "tuner/space/spec/spec.h"

/* level[i] is an index into params[i]'s values, or MT_INACTIVE. level[0] is the variant. Unused entries are MT_INACTIVE. */
enum { MT_INACTIVE = -1 };
typedef struct mt_point {
    int16_t level[MT_MAX_PARAMS];
} mt_point;

/* "ALGO=direct;CPB=8;…": active knobs sorted by name, so that the order in the file changes nothing. Owned by the caller (mt_free);
 * NULL only when memory runs out. */
char *mt_point_text(const mt_spec *spec, const mt_point *point);
/* Every knob that has a default with that value, whatever conditions it has, as such a text: what a variant's knobs are held against. Owned like that one. */
char *mt_point_usual(const mt_spec *spec);
/* Inverse of mt_point_text; refuses unknown knobs and values by name. */
mt_status mt_point_parse(const mt_spec *spec, const char *text, mt_point *point, mt_error *err);
