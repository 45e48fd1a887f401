/* What `msda-tune check` warns of before and after compiling: knobs whose macro headers use for something else, knobs that change nothing. */
#ifndef MT_CLI_REQUESTS_CHECK_KNOBS_H
#define MT_CLI_REQUESTS_CHECK_KNOBS_H

#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/point.h"
#include "tuner/space/source.h"

/* Adds a sentence for each knob that headers break with; one a line. */
void mt_check_taken_names(const mt_spec *spec, const mt_source *source, mt_strbuf *out);

/* The compiled code of a shape's points. */
typedef struct mt_check_codes {
    struct mt_check_code *items; /* owned */
    size_t count, capacity;
} mt_check_codes; /* zero-initialise */

/* Of one algorithm's points that differ in one knob alone: bit i of `compared` says that there are such of spec->params[i], of `differing` that two of them have different code. */
typedef struct mt_check_changes {
    uint64_t compared, differing;
} mt_check_changes;

/* Without memory the point is left out. */
void mt_check_codes_add(mt_check_codes *codes, const mt_point *point, const mt_hash *code);
/* Adds what the points tell to `changes`, one for each algorithm. */
void mt_check_codes_compare(mt_check_codes *codes, const mt_spec *spec, mt_check_changes *changes);
void mt_check_codes_free(mt_check_codes *codes);
/* Adds a sentence for the knobs whose values all compile to the same code, and one for each algorithm where others do; one a line. `left_out`: knobs of which nothing is said. */
void mt_check_same_code(const mt_spec *spec, const mt_check_changes *changes, uint64_t left_out, mt_strbuf *out);

#endif
