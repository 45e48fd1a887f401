/* The knobs of a first search space: the macros that a source leaves open, and the threads of a block. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/signature/open_macros.h"
#include "tuner/space/signature/signature.h"

/* In front of the name of a template's parameter: the knob's macro must not be that name. */
#define MT_NEW_TAKES "KNOB_"

typedef struct mt_new_knobs {
    char block[3][MT_OPEN_MACRO_NAME]; /* what the launch has for the threads of a block, x to z; "" = that axis is not there */
    bool is_literal;                   /* … are numbers, since no name tells which knobs they are */
    bool is_fixed;                     /* … are numbers in which the source counts blockIdx */
    char factors[3][MT_OPEN_MACRO_NAME]; /* per axis: a knob or number that rows' lengths have for a factor; "" = none */
    int64_t most_threads;              /* of a block, by __launch_bounds__; 0: it does not say, or what it says is no number */
    char bounds[MT_OPEN_MACRO_NAME];   /* … or the knob that it names; "" = none */
    char guard[MT_OPEN_MACRO_NAME];    /* a macro that must be defined for the knobs to be in effect; "" = none */
    mt_strbuf params;                  /* lines of [params]; mt_strbuf_free */
} mt_new_knobs; /* zero-initialise */

/* `others`: the files of the user's that the source includes. */
mt_status mt_new_knobs_find(const char *source, const char *others, const mt_signature *kernel, mt_new_knobs *knobs, mt_error *err);
