#include "db/exchange/gzip.h"

#include <limits.h>
#include <zlib.h>

#include "tuner/base/alloc.h"

enum { GZIP_WINDOW = 15 + 16 }; /* zlib's way to say "with a gzip header" */

bool mt_gzip_is(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    return length >= 2 && at[0] == 0x1f && at[1] == 0x8b;
}

/* Room for more text and the NUL behind it. */
static mt_status grow(char **text, size_t size, size_t *capacity, size_t max_bytes, const char *name, mt_error *err)
{
    if (size < *capacity) return MT_OK;
    if (size > max_bytes) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: holds more than %zu MiB of text", name, max_bytes >> 20);
    size_t wanted = *capacity ? 2 * *capacity : (size_t)1 << 16;
    if (wanted > max_bytes + 1) wanted = max_bytes + 1; /* one byte more shows that there is too much */
    char *grown = mt_realloc(*text, wanted + 1, 1);
    if (!grown) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
    *text = grown;
    *capacity = wanted;
    return MT_OK;
}

static mt_status inflate_all(z_stream *stream, const unsigned char *bytes, size_t length, size_t max_bytes, const char *name, char **text, size_t *size, bool *is_cut, mt_error *err)
{
    mt_status st = MT_OK;
    size_t capacity = 0, taken = 0;
    for (int code = Z_OK; code != Z_STREAM_END || taken < length;) {
        if (code == Z_STREAM_END && inflateReset(stream) != Z_OK) break; /* files may be joined */
        MT_TRY(grow(text, *size, &capacity, max_bytes, name, err));
        size_t in = length - taken < UINT_MAX ? length - taken : UINT_MAX, out = capacity - *size < UINT_MAX ? capacity - *size : UINT_MAX;
        stream->next_in = (Bytef *)bytes + taken;
        stream->avail_in = (uInt)in;
        stream->next_out = (Bytef *)*text + *size;
        stream->avail_out = (uInt)out;
        code = inflate(stream, Z_NO_FLUSH);
        taken += in - stream->avail_in;
        *size += out - stream->avail_out;
        *is_cut = code == Z_BUF_ERROR || (code == Z_OK && taken == length && stream->avail_out);
        if (*is_cut && *size) break;
        if (*is_cut) MT_LEAVE(MT_FAIL(err, MT_ERR_SYNTAX, "%s: is cut short (the compressed data end too early)", name));
        if (code != Z_OK && code != Z_STREAM_END) MT_LEAVE(MT_FAIL(err, MT_ERR_SYNTAX, "%s: cannot be decompressed: %s", name, stream->msg ? stream->msg : "damaged data"));
    }
    if (*size > max_bytes) st = grow(text, *size, &capacity, max_bytes, name, err);
done:
    return st;
}

mt_status mt_gzip_unpack(const void *bytes, size_t length, size_t max_bytes, const char *name, char **text, size_t *size, bool *is_cut, mt_error *err)
{
    z_stream stream = {0};
    *text = NULL;
    *size = 0;
    *is_cut = false;
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
    mt_status st = inflate_all(&stream, bytes, length, max_bytes, name, text, size, is_cut, err);
    inflateEnd(&stream);
    if (st == MT_OK) {
        (*text)[*size] = '\0';
        return MT_OK;
    }
    mt_free(*text);
    *text = NULL;
    return st;
}

mt_status mt_gzip_pack(const void *text, size_t length, const char *name, void **packed, size_t *size, mt_error *err)
{
    z_stream stream = {0};
    if (length > UINT_MAX / 2) return MT_FAIL(err, MT_ERR_UNSUPPORTED, "%s: more than 2 GiB to compress", name);
    if (deflateInit2(&stream, 9, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
    size_t bound = deflateBound(&stream, (uLong)length);
    *packed = mt_alloc(bound, 1);
    if (*packed) {
        stream.next_in = (Bytef *)text;
        stream.avail_in = (uInt)length;
        stream.next_out = *packed;
        stream.avail_out = (uInt)bound;
        deflate(&stream, Z_FINISH); /* cannot stop short of the bound */
        *size = stream.total_out;
    }
    deflateEnd(&stream);
    return *packed ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
}
