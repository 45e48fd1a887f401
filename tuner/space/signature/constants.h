/* The __constant__ variables of a source that get no values there: a launch without their contents reads zeros. Nothing is preprocessed, as in signature.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"

typedef struct mt_constant {
    char name[64];
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
