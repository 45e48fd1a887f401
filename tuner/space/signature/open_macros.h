/* The macros that a source leaves to whoever compiles it: those that it gives a value only where nobody else did, and those that it reads and nowhere defines. They are what a tuner turns. Nothing is preprocessed:
 * what stands under conditions counts, whatever they say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"

enum { MT_OPEN_MACRO_NAME = 64, MT_OPEN_MACRO_COMPARED = 8 };

typedef struct mt_open_macro {
    char name[MT_OPEN_MACRO_NAME];
    long value;           /* that the source gives it; -1: none */
    long compared[MT_OPEN_MACRO_COMPARED]; size_t compared_count; /* the numbers that conditions compare it with by ==, each once, rising */
    bool is_of_types;     /* a condition on it chooses what a type is */
    bool is_unroll;       /* it stands behind #pragma unroll */
} mt_open_macro;

typedef struct mt_open_macros {
    mt_open_macro *items; size_t count, capacity; /* in the order in which the source has them */
    char guard[MT_OPEN_MACRO_NAME]; /* "": none. Else the source defines some of them unless this name is defined (#ifndef kernel_tuner), so that a tuner has to define it too */
} mt_open_macros;

/* `others`: files that the source includes; what stands in them is not left open. Free with mt_open_macros_free, also after an error. */
mt_status mt_open_macros_read(const char *source, const char *others, mt_open_macros *macros, mt_error *err);
void mt_open_macros_free(mt_open_macros *macros);
