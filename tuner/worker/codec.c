#include "tuner/worker/codec.h"

#include <string.h>

#include "tuner/base/alloc.h"

static const uint32_t NULL_TEXT = 0xffffffffu;

static bool fail(mt_codec *codec)
{
    codec->failed = true;
    codec->left = 0;
    return false;
}

/* The next `count` bytes, or NULL. */
static const unsigned char *take(mt_codec *codec, size_t count)
{
    if (codec->failed || codec->left < count) {
        fail(codec);
        return NULL;
    }
    const unsigned char *bytes = codec->at;
    codec->at += count;
    codec->left -= count;
    return bytes;
}

static void *take_memory(mt_codec *codec, size_t count, size_t size)
{
    void *memory = mt_alloc(count, size);
    if (!memory) {
        codec->no_memory = true;
        fail(codec);
    }
    return memory;
}

/* Any integer of up to eight bytes. */
static void integer(mt_codec *codec, uint64_t *value, size_t width)
{
    unsigned char bytes[8];
    if (codec->mode == MT_CODEC_WRITE) {
        for (size_t i = 0; i < width; i++) bytes[i] = (unsigned char)(*value >> (8 * i));
        mt_strbuf_add_bytes(codec->out, bytes, width);
    } else if (codec->mode == MT_CODEC_READ) {
        *value = 0;
        const unsigned char *from = take(codec, width);
        for (size_t i = 0; from && i < width; i++) *value |= (uint64_t)from[i] << (8 * i);
    }
}

#define INTEGER(name, type, unsigned_type)                \
    void mt_codec_##name(mt_codec *codec, type *value)    \
    {                                                     \
        uint64_t wide = (unsigned_type)*value;            \
        integer(codec, &wide, sizeof *value);             \
        *value = (type)(unsigned_type)wide;               \
    }
INTEGER(u16, uint16_t, uint16_t)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(u64, uint64_t, uint64_t)
INTEGER(i32, int32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)

void mt_codec_f64(mt_codec *codec, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    integer(codec, &bits, sizeof bits);
    memcpy(value, &bits, sizeof bits);
}

void mt_codec_bool(mt_codec *codec, bool *value)
{
    *value = mt_codec_choice(codec, *value, 2) != 0;
}

uint32_t mt_codec_choice(mt_codec *codec, uint32_t value, uint32_t limit)
{
    mt_codec_u32(codec, &value);
    if (codec->mode != MT_CODEC_READ || value < limit) return value;
    fail(codec);
    return 0;
}

static void read_text(mt_codec *codec, const char **text)
{
    *text = NULL;
    uint32_t length = NULL_TEXT;
    mt_codec_u32(codec, &length);
    if (codec->failed || length == NULL_TEXT) return;
    const unsigned char *bytes = take(codec, length);
    if (!bytes) return;
    if (memchr(bytes, 0, length)) {
        fail(codec);
        return;
    }
    char *copy = take_memory(codec, (size_t)length + 1, 1);
    if (copy) memcpy(copy, bytes, length);
    *text = copy;
}

void mt_codec_text(mt_codec *codec, const char **text)
{
    if (codec->mode == MT_CODEC_FREE) {
        mt_free((void *)*text); /* reading made it, so it is ours */
        *text = NULL;
    } else if (codec->mode == MT_CODEC_READ) {
        read_text(codec, text);
    } else {
        size_t length = *text ? strlen(*text) : 0;
        uint32_t prefix = *text ? (uint32_t)length : NULL_TEXT;
        if (length >= NULL_TEXT) {
            fail(codec);
            return;
        }
        mt_codec_u32(codec, &prefix);
        if (*text) mt_strbuf_add_bytes(codec->out, *text, length);
    }
}

void mt_codec_array(mt_codec *codec, char *array, size_t size)
{
    if (codec->mode == MT_CODEC_FREE) return;
    const char *text = array;
    mt_codec_text(codec, &text);
    if (codec->mode == MT_CODEC_WRITE) return;
    memset(array, 0, size);
    if (!text) {
        fail(codec); /* an array is never NULL */
    } else if (strlen(text) >= size) {
        fail(codec);
    } else {
        strcpy(array, text);
    }
    mt_free((void *)text);
}

void mt_codec_texts(mt_codec *codec, const char *const **texts, uint32_t *count)
{
    mt_codec_u32(codec, count);
    const char **items = (const char **)*texts; /* reading made the array; writing does not change it */
    if (codec->mode == MT_CODEC_READ) {
        items = NULL;
        if (*count > codec->left / sizeof(uint32_t)) fail(codec); /* each has at least its length */
        if (!codec->failed && *count) items = take_memory(codec, *count, sizeof *items);
        if (!items) *count = 0;
        *texts = items;
    }
    for (uint32_t i = 0; i < *count; i++) {
        const char *text = items[i];
        mt_codec_text(codec, &text);
        if (codec->mode == MT_CODEC_READ) items[i] = text;
    }
    if (codec->mode == MT_CODEC_FREE) {
        mt_free(items);
        *texts = NULL;
        *count = 0;
    }
}

void mt_codec_floats(mt_codec *codec, float **values, uint32_t count)
{
    if (codec->mode == MT_CODEC_FREE) {
        mt_free(*values);
        *values = NULL;
        return;
    }
    bool has = *values != NULL && count > 0;
    mt_codec_bool(codec, &has);
    if (codec->mode == MT_CODEC_READ) {
        *values = NULL;
        if (has && (count == 0 || count > codec->left / sizeof(float))) fail(codec);
        if (!codec->failed && has) *values = take_memory(codec, count, sizeof **values);
    }
    for (uint32_t i = 0; has && *values && i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &(*values)[i], sizeof bits);
        mt_codec_u32(codec, &bits);
        memcpy(&(*values)[i], &bits, sizeof bits);
    }
}
