#include "db/exchange/recording/recording_io.h"

#include <string.h>
#include <zstd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

static size_t max_text_bytes = (size_t)1 << 30;
static const size_t max_line_bytes = (size_t)16 << 20;

void mt_lines_pretend_limit(size_t bytes)
{
    max_text_bytes = bytes;
}

struct mt_lines {
    const char *name;
    ZSTD_DStream *stream; /* NULL = plain text, of which `chunk` is all */
    ZSTD_inBuffer in;
    char *buffer;         /* what `chunk` points into when compressed */
    const char *chunk;    /* text at hand: chunk[at … end) is not read yet */
    size_t at, end;
    size_t total;         /* decompressed so far */
    bool inside_frame;    /* more of it must come */
    bool is_cut;          /* and does not */
    mt_strbuf line;
    int64_t number;
};

static bool is_packed(const void *bytes, size_t length)
{
    static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

mt_status mt_lines_open(const void *bytes, size_t length, const char *name, mt_lines **out, mt_error *err)
{
    mt_lines *lines = mt_alloc(1, sizeof *lines);
    if (!lines) goto no_memory;
    lines->name = name;
    lines->chunk = bytes;
    if (is_packed(bytes, length)) {
        lines->in = (ZSTD_inBuffer){.src = bytes, .size = length};
        lines->stream = ZSTD_createDStream();
        lines->buffer = mt_alloc(ZSTD_DStreamOutSize(), 1);
        if (!lines->stream || !lines->buffer) goto no_memory;
        lines->chunk = lines->buffer;
    } else {
        lines->end = length;
    }
    *out = lines;
    return MT_OK;
no_memory:
    mt_lines_close(lines);
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name);
}

void mt_lines_close(mt_lines *lines)
{
    if (!lines) return;
    ZSTD_freeDStream(lines->stream);
    mt_free(lines->buffer);
    mt_strbuf_free(&lines->line);
    mt_free(lines);
}

bool mt_lines_are_cut(const mt_lines *lines)
{
    return lines->is_cut;
}

int64_t mt_lines_number(const mt_lines *lines)
{
    return lines->number;
}

/* Decompresses until there is text or the file ends (then at == end). */
static mt_status refill(mt_lines *lines, mt_error *err)
{
    lines->at = lines->end = 0;
    if (!lines->stream) return MT_OK;
    ZSTD_outBuffer out = {.dst = lines->buffer, .size = ZSTD_DStreamOutSize()};
    while (!out.pos && (lines->inside_frame || lines->in.pos < lines->in.size)) {
        bool starved = lines->in.pos == lines->in.size;
        size_t left = ZSTD_decompressStream(lines->stream, &out, &lines->in);
        if (ZSTD_isError(left)) {
            return MT_FAIL(err, MT_ERR_SYNTAX, "%s: cannot be decompressed: %s", lines->name, ZSTD_getErrorName(left));
        }
        lines->inside_frame = left != 0;
        lines->is_cut = starved && lines->inside_frame && !out.pos;
        if (lines->is_cut && !lines->total) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: is cut short (the compressed data end too early)", lines->name);
        if (lines->is_cut) break;
    }
    lines->end = out.pos;
    lines->total += out.pos;
    if (lines->total > max_text_bytes) return MT_FAIL(err, MT_ERR_SYNTAX, "%s: holds more than 1 GiB of text", lines->name);
    return MT_OK;
}

static mt_status take(mt_lines *lines, size_t count, mt_error *err)
{
    if (lines->line.length + count > max_line_bytes) {
        return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: the line is longer than 16 MiB", lines->name, (long long)lines->number);
    }
    mt_strbuf_add_bytes(&lines->line, lines->chunk + lines->at, count);
    if (lines->line.failed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", lines->name);
    lines->at += count;
    return MT_OK;
}

/* Passes over empty lines. Makes sure that there is text at hand, unless the file ends. */
static mt_status skip_empty(mt_lines *lines, mt_error *err)
{
    for (;;) {
        while (lines->at < lines->end && lines->chunk[lines->at] == '\n') {
            lines->at++;
            lines->number++;
        }
        if (lines->at < lines->end) return MT_OK;
        mt_status st = refill(lines, err);
        if (st != MT_OK || lines->end == 0) return st;
    }
}

/* The rest of the line into lines->line. */
static mt_status gather(mt_lines *lines, mt_error *err)
{
    mt_status st = MT_OK;
    while (lines->at < lines->end) {
        const char *from = lines->chunk + lines->at;
        const char *newline = memchr(from, '\n', lines->end - lines->at);
        MT_TRY(take(lines, newline ? (size_t)(newline - from) : lines->end - lines->at, err));
        if (newline) {
            lines->at++;
            break;
        }
        MT_TRY(refill(lines, err));
    }
done:
    return st;
}

static mt_status check_text(const mt_lines *lines, mt_error *err)
{
    const char *text = mt_strbuf_text(&lines->line);
    size_t left = lines->line.length;
    while (left) {
        size_t length = mt_text_utf8(text, left);
        if (!length || !*text) {
            static const char sqlite[] = "SQLite format 3";
            if (lines->number == 1 && strncmp(mt_strbuf_text(&lines->line), sqlite, sizeof sqlite - 1) == 0)
                return MT_FAIL(err, MT_ERR_SYNTAX, "%s: is an SQLite database, not a file of text: 'msda-tune merge %s --into FILE' adds one to another", lines->name, lines->name);
            return MT_FAIL(err, MT_ERR_SYNTAX, "%s:%lld: byte %zu is not UTF-8 text", lines->name, (long long)lines->number,
                           lines->line.length - left + 1);
        }
        text += length;
        left -= length;
    }
    return MT_OK;
}

mt_status mt_lines_next(mt_lines *lines, const char **line, mt_error *err)
{
    mt_status st;
    *line = NULL;
    mt_strbuf_clear(&lines->line);
    MT_TRY(skip_empty(lines, err));
    lines->number++;
    if (lines->at == lines->end) goto done;
    MT_TRY(gather(lines, err));
    *line = mt_strbuf_text(&lines->line);
    st = check_text(lines, err);
done:
    return st;
}

mt_status mt_lines_pack(const char *text, size_t length, void **packed, size_t *size, const char *name, mt_error *err)
{
    mt_status st = MT_OK;
    size_t capacity = ZSTD_compressBound(length);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    *packed = mt_alloc(capacity, 1);
    if (!context || !*packed) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", name));
    /* What is shipped should be as small as zstd makes it; beyond that the time counts: level 19 does 2 MB/s. */
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, length <= (size_t)8 << 20 ? 19 : 12);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    *size = ZSTD_compress2(context, *packed, capacity, text, length);
    if (ZSTD_isError(*size)) st = MT_FAIL(err, MT_ERR_IO, "%s: cannot be compressed: %s", name, ZSTD_getErrorName(*size));
done:
    ZSTD_freeCCtx(context);
    if (st != MT_OK) {
        mt_free(*packed);
        *packed = NULL;
    }
    return st;
}
