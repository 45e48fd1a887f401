/* The __constant__ variables of a source that get no values there: a launch without their contents reads zeros. Nothing is preprocessed, as in signature.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/space/signature/signature_code.h"

typedef struct mt_constant {
    char name[64];
    char entry[128];    /* the same with its namespaces, of which unnamed ones have no name: "ns::filter" */
    const char *dtype;  /* as search spaces name it; NULL = not one of them */
    int lanes;          /* 4 for float4; else 1 */
    int64_t elements;   /* 0: it can't be told */
    bool is_used;       /* code names it where no condition stands around: under one it may be left out */
} mt_constant;

typedef struct mt_constants {
    mt_constant *items; size_t count, capacity;
} mt_constants;

/* Adds those of `source` to the list, which is zeroed before the first; mt_free(constants->items), also after an error. */
mt_status mt_constants_read(const char *source, mt_constants *constants, mt_error *err);

/* "[33*33]", "[VERTICES]", "[2][N]": the product of numbers, 1 without brackets; 0 where one is no number. `at` stands behind the name. */
int64_t mt_count_elements(const char *text, const char *at);

/* The number that stands for a name, by "#define NAME 16" or "constexpr int NAME = 16"; 0: none, or several. */
int64_t mt_constant_number(const char *text, mt_code_word name);
