/* What `msda-tune check` warns of before and after compiling: knobs whose macro headers use for something else, knobs that change nothing. */
#ifndef MT_CLI_REQUESTS_CHECK_KNOBS_H
#define MT_CLI_REQUESTS_CHECK_KNOBS_H

#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/point.h"
#include "tuner/space/source/source.h"

/* Adds a sentence for each knob that headers break with; one a line. */
void mt_check_taken_names(const mt_spec *spec, const mt_source *source, mt_strbuf *out);

/* The compiled code of a shape's points. */
typedef struct mt_check_codes {
    struct mt_check_code *items; /* owned */
    size_t count, capacity;
} mt_check_codes; /* zero-initialise */

/* Without memory the point is left out. */
void mt_check_codes_add(mt_check_codes *codes, const mt_point *point, const mt_hash *cubin);
/* Of points that differ in one knob alone: sets its bit in *compared where there are such, and in *differs where two of them have different code. A bit is a knob's index. */
void mt_check_codes_compare(mt_check_codes *codes, const mt_spec *spec, uint64_t *compared, uint64_t *differs);
void mt_check_codes_free(mt_check_codes *codes);

#endif
