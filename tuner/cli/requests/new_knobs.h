/* The knobs of a first search space: the macros that a source leaves open, and the threads of a block. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/signature/open_macros.h"
#include "tuner/space/signature/signature.h"

typedef struct mt_new_knobs {
    char block[3][MT_OPEN_MACRO_NAME]; /* what the launch has for the threads of a block, x to z; "" = that axis is not there */
    bool is_literal;                   /* … are numbers, since no name tells which knobs they are */
    char guard[MT_OPEN_MACRO_NAME];    /* a macro that must be defined for the knobs to be in effect; "" = none */
    mt_strbuf params;                  /* lines of [params]; mt_strbuf_free */
} mt_new_knobs; /* zero-initialise */

/* `others`: the files of the user's that the source includes. */
mt_status mt_new_knobs_find(const char *source, const char *others, const mt_signature *kernel, mt_new_knobs *knobs, mt_error *err);
