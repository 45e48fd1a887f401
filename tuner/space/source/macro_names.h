/* Names that a macro must not have, since headers use them for something else. */
#pragma once

#include <stddef.h>

typedef struct mt_taken_name {
    const char *name;
    const char *header; /* that a source must include for the name to be taken: a part of its name; NULL: NVRTC itself uses it in every source */
} mt_taken_name;

/* Not all there are: those that people call knobs by. tests/unit/test_compile.c tries each with the NVRTC that is there. */
extern const mt_taken_name mt_taken_names[];
extern const size_t mt_taken_name_count;
