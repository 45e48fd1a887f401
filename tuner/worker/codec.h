/* One walk over a record's fields serves to write, to read and to free it, so that the two sides of a socket cannot drift apart.
 *
 * Little-endian, no padding. Reading is bounded: the first thing that does not fit sets `failed`, and every later step is a no-op that
 * leaves zeroes, so that a caller checks once at the end. What was read is owned (freed by a MT_CODEC_FREE walk); what is written is borrowed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/strbuf.h"

typedef enum mt_codec_mode { MT_CODEC_WRITE, MT_CODEC_READ, MT_CODEC_FREE } mt_codec_mode;

typedef struct mt_codec {
    mt_codec_mode mode;
    mt_strbuf *out;          /* WRITE */
    const unsigned char *at; /* READ: the next byte, and how many are left */
    size_t left;
    bool failed;             /* READ: malformed; WRITE: too long */
    bool no_memory;          /* READ: failed for want of memory */
} mt_codec;

void mt_codec_u16(mt_codec *codec, uint16_t *value);
void mt_codec_u32(mt_codec *codec, uint32_t *value);
void mt_codec_u64(mt_codec *codec, uint64_t *value);
void mt_codec_i32(mt_codec *codec, int32_t *value);
void mt_codec_i64(mt_codec *codec, int64_t *value);
void mt_codec_f64(mt_codec *codec, double *value);
void mt_codec_bool(mt_codec *codec, bool *value);
/* A number below `limit`, for enums: the result, or 0 when reading failed. */
uint32_t mt_codec_choice(mt_codec *codec, uint32_t value, uint32_t limit);
/* NULL and "" differ. Text that holds NULs is malformed. */
void mt_codec_text(mt_codec *codec, const char **text);
/* A NUL-terminated array of `size` bytes. */
void mt_codec_array(mt_codec *codec, char *array, size_t size);
void mt_codec_texts(mt_codec *codec, const char *const **texts, uint32_t *count);
void mt_codec_floats(mt_codec *codec, float **values, uint32_t count);
