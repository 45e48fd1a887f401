/* Which knobs and algorithms a kernel's stored programs know (kernel.spec_json): rows of a file that name others could never answer, and would hide those that can. */
#pragma once

#include "db/store/store.h"

/* Zeroed = of no kernel yet. */
typedef struct mt_known_knobs {
    int64_t kernel;
    char *known; /* lines "i NAME" (a knob of integers), "s NAME" (of texts), "a NAME" (an algorithm), each between line breaks; "" = nothing is known, and anything goes */
} mt_known_knobs;

/* Reads those of the kernel, as they are stored now. */
mt_status mt_known_knobs_read(mt_store *store, int64_t kernel, mt_known_knobs *knobs, mt_error *err);
/* Whether they cover all of a variant, "ALGO=direct;BLOCK=128". False writes "variant … has knob X, which …" into `why`. */
bool mt_known_knobs_cover(const mt_known_knobs *knobs, const char *variant, char *why, size_t size);
void mt_known_knobs_free(mt_known_knobs *knobs);
