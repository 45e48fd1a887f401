#include "db/exchange/misses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/key.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/hash.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

enum { MAX_FILE_BYTES = 256 << 20, MAX_LINE_BYTES = 64 << 10, MAX_NAMES = 64, MOST_WORKLOADS = 64, MOST_TOLD = 20 };
enum { PLACES = 1 << 18 }; /* of a hash table; twice as many as there are shapes at most */
_Static_assert(PLACES >= 2 * MT_MISSES_MOST, "the table never fills");

typedef struct mt_misses_reader {
    const char *path;
    mt_store *json;          /* in memory; SQLite's JSON functions take the lines apart */
    mt_misses *misses;
    mt_misses_skipped_callback skipped;
    void *context;
    int64_t line;
    uint32_t *places;        /* [PLACES]: 1 + index into the misses' items; 0 = free */
    char *text;              /* [MAX_LINE_BYTES + 1]: the line whose end has not come */
    size_t length;           /* of all of it, also where it is longer than there is room */
} reader;

/* ---- one line ---- */

/* NULL = it is as it should be; else what was expected. */
typedef const char *trouble;

static bool is_word(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && !text[length];
}

/* A name or key that can be printed and compared: no control characters, not too long. */
static bool is_plain(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) return false;
    return length > 0 && length <= 256;
}

/* "[92,46]" → "92,46"; one element → "92,". */
static bool list_text(const char *json, mt_strbuf *out)
{
    size_t length = strlen(json), elements = 0;
    if (length < 3 || json[0] != '[' || json[length - 1] != ']') return false;
    for (const char *at = json + 1; at < json + length; elements++) {
        size_t digits = strcspn(at, ",]");
        int64_t value;
        if (!mt_text_int64(at, digits, &value)) return false;
        mt_strbuf_addf(out, "%s%lld", elements ? "," : "", (long long)value);
        at += digits + 1;
    }
    if (elements == 1) mt_strbuf_add_char(out, ',');
    return true;
}

typedef struct pairs {
    const char *names[MAX_NAMES], *values[MAX_NAMES];
    char *owned[2 * MAX_NAMES];
    size_t count;
} pairs;

static trouble add_pair(pairs *p, sqlite3_stmt *statement)
{
    const char *name = mt_sql_column(statement, 0), *type = mt_sql_column(statement, 1), *text = mt_sql_column(statement, 2);
    mt_strbuf value = {0};
    bool good = true;
    if (p->count == MAX_NAMES) return "a shape of more than 64 values";
    if (!mt_text_is_identifier(name, strlen(name)) || strlen(name) > 64) return "a name in `shape` that is no identifier";
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->names[i], name) == 0) return "a name in `shape` that is there twice";
    if (strcmp(type, "array") == 0) good = list_text(text, &value);
    else if (strcmp(type, "integer") == 0 || (strcmp(type, "text") == 0 && is_word(text))) mt_strbuf_add(&value, text);
    else good = false;
    char **owned = &p->owned[2 * p->count];
    owned[0] = mt_strdup(name);
    owned[1] = mt_strbuf_take(&value);
    p->names[p->count] = owned[0];
    p->values[p->count] = owned[1];
    p->count++;
    return !good ? "a value in `shape` that is no integer, list of integers or word" : owned[0] && owned[1] ? NULL : "out of memory";
}

static mt_status read_shape(reader *r, const char *line, char **key, trouble *wrong, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    pairs p = {.count = 0};
    MT_TRY(mt_sql_cached_get(r->json, "SELECT key, type, value FROM json_each(?1, '$.shape')", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, line);
    for (bool row = true; !*wrong;) {
        MT_TRY(mt_sql_row(r->json, &args, &row, "parse a line", err));
        if (!row) break;
        *wrong = add_pair(&p, statement);
    }
    sqlite3_reset(statement);
    if (!*wrong && p.count == 0) *wrong = "a `shape` without values";
    if (*wrong) goto done;
    size_t length = mt_key_pairs(p.names, p.values, p.count, NULL, 0);
    *key = mt_alloc(length + 1, 1);
    if (*key) mt_key_pairs(p.names, p.values, p.count, *key, length + 1);
    else st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", r->path);
done:
    for (size_t i = 0; i < 2 * p.count; i++) mt_free(p.owned[i]);
    return st;
}

#define TEXT_OF(member) "CASE json_type(?1, '$." member "') WHEN 'text' THEN json_extract(?1, '$." member "') END, "
#define WHOLE(member) "CASE json_type(?1, '$." member "') WHEN 'integer' THEN json_extract(?1, '$." member "') END, "
static const char line_sql[] = "SELECT " TEXT_OF("kernel") TEXT_OF("gpu") TEXT_OF("workload") WHOLE("count") WHOLE("unix_ms") WHOLE("dropped") "json_type(?1, '$.shape')";
enum { KERNEL, GPU, WORKLOAD, COUNT, UNIX_MS, DROPPED, SHAPE };

static int64_t add_saturating(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Fills *miss from the row at hand; a line that only tells of dropped misses leaves its count 0. */
static mt_status take_members(reader *r, sqlite3_stmt *statement, mt_miss *miss, trouble *wrong, mt_error *err)
{
    const char *kernel = mt_sql_column(statement, KERNEL), *gpu = mt_sql_column(statement, GPU), *workload = mt_sql_column(statement, WORKLOAD);
    int64_t dropped = sqlite3_column_int64(statement, DROPPED);
    if (!is_plain(kernel)) *wrong = "no `kernel`";
    else if (!is_plain(gpu)) *wrong = "no `gpu`";
    else if (*workload && !is_plain(workload)) *wrong = "an impossible `workload`";
    else if (dropped > 0) r->misses->dropped = add_saturating(r->misses->dropped, dropped);
    else if (sqlite3_column_int64(statement, COUNT) < 1) *wrong = "no `count` of at least 1";
    else if (strcmp(mt_sql_column(statement, SHAPE), "object") != 0) *wrong = "no `shape`";
    if (*wrong || dropped > 0) return MT_OK;
    miss->count = sqlite3_column_int64(statement, COUNT);
    miss->newest_unix_ms = sqlite3_column_int64(statement, UNIX_MS);
    miss->line = r->line;
    miss->wants_default = !*workload;
    miss->kernel = mt_strdup(kernel);
    miss->gpu = mt_strdup(gpu);
    miss->workloads = mt_strdup(workload);
    return miss->kernel && miss->gpu && miss->workloads ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", r->path);
}

static mt_status parse(reader *r, const char *line, mt_miss *miss, trouble *wrong, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    int64_t is_object;
    bool row;
    MT_TRY(mt_sql_cached_get(r->json, "SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = 'object' END", &statement, err));
    mt_sql_args args = mt_sql_args_of(statement);
    mt_sql_text(&args, line);
    MT_TRY(mt_sql_value(r->json, &args, 0, &is_object, "parse a line", err));
    if (!is_object) {
        *wrong = "no JSON object";
        goto done;
    }
    MT_TRY(mt_sql_cached_get(r->json, line_sql, &statement, err));
    args = mt_sql_args_of(statement);
    mt_sql_text(&args, line);
    MT_TRY(mt_sql_row(r->json, &args, &row, "parse a line", err));
    st = take_members(r, statement, miss, wrong, err);
    sqlite3_reset(statement);
    if (st == MT_OK && miss->count) st = read_shape(r, line, &miss->shape_key, wrong, err);
done:
    return st;
}

/* ---- all lines ---- */

static void free_miss(mt_miss *miss)
{
    MT_FREE_EACH(miss->kernel, miss->gpu, miss->shape_key, miss->workloads);
}

void mt_misses_free(mt_misses *misses)
{
    for (size_t i = 0; i < misses->count; i++) free_miss(&misses->items[i]);
    mt_free(misses->items);
    *misses = (mt_misses){0};
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t i = 0, step; i < length; i += step)
        if (!text[i] || !(step = mt_text_utf8(text + i, length - i))) return false;
    return true;
}

static int by_identity(const void *a, const void *b)
{
    const mt_miss *x = a, *y = b;
    int order = strcmp(x->kernel, y->kernel);
    if (!order) order = strcmp(x->gpu, y->gpu);
    return order ? order : strcmp(x->shape_key, y->shape_key);
}

static int by_weight(const void *a, const void *b)
{
    const mt_miss *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_identity(a, b);
}

static uint64_t hash_of(const mt_miss *miss)
{
    uint64_t hash = mt_hash_u64(miss->kernel, strlen(miss->kernel), 1);
    hash = mt_hash_u64(miss->gpu, strlen(miss->gpu), hash);
    return mt_hash_u64(miss->shape_key, strlen(miss->shape_key), hash);
}

/* Where the shape stands, or could: an index of `places`. */
static size_t place_of(const reader *r, const mt_miss *miss)
{
    size_t at = (size_t)hash_of(miss) & (PLACES - 1);
    while (r->places[at] && by_identity(&r->misses->items[r->places[at] - 1], miss) != 0) at = (at + 1) & (PLACES - 1);
    return at;
}

/* A workload that is not in the list yet joins it, as far as there is room. False: out of memory. */
static bool add_workload(mt_miss *into, const char *name)
{
    size_t length = strlen(name), count = 0;
    for (const char *at = into->workloads; *name && *at; count++) {
        size_t own = strcspn(at, ",");
        if (own == length && strncmp(at, name, length) == 0) return true;
        at += own;
        at += strspn(at, ", ");
    }
    if (!*name || count >= MOST_WORKLOADS) return true;
    mt_strbuf list = {0};
    mt_strbuf_addf(&list, "%s%s%s", into->workloads, count ? ", " : "", name);
    char *text = mt_strbuf_take(&list);
    if (!text) return false;
    mt_free(into->workloads);
    into->workloads = text;
    return true;
}

static bool absorb(mt_miss *into, const mt_miss *from)
{
    into->count = add_saturating(into->count, from->count);
    into->wants_default = into->wants_default || from->wants_default;
    if (from->newest_unix_ms > into->newest_unix_ms) into->newest_unix_ms = from->newest_unix_ms;
    return add_workload(into, from->workloads);
}

/* Equal shapes become one at once, so that a log costs as much as it has shapes. Takes *miss over, and leaves it empty, where the shape is new. */
static mt_status keep(reader *r, mt_miss *miss, mt_error *err)
{
    mt_misses *misses = r->misses;
    size_t at = place_of(r, miss);
    bool is_full = !r->places[at] && misses->count == MT_MISSES_MOST, is_kept = true;
    if (is_full) {
        misses->dropped = add_saturating(misses->dropped, miss->count);
    } else if (r->places[at]) {
        is_kept = absorb(&misses->items[r->places[at] - 1], miss);
    } else {
        mt_miss *added = MT_APPEND(misses->items, misses->count, misses->capacity);
        is_kept = added != NULL;
        if (is_kept) {
            *added = *miss;
            r->places[at] = (uint32_t)misses->count;
            *miss = (mt_miss){0};
        }
    }
    return is_kept ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", r->path);
}

/* The first ones are told, then how many more there are. */
static void skip(reader *r, const char *wrong)
{
    char message[512];
    snprintf(message, sizeof message, "%s:%lld: is no miss: %s", r->path, (long long)r->line, wrong);
    if (r->misses->skipped++ < MOST_TOLD && r->skipped) r->skipped(r->context, message);
}

static void tell_more(const reader *r)
{
    char message[512];
    if (r->misses->skipped <= MOST_TOLD || !r->skipped) return;
    snprintf(message, sizeof message, "%s: %lld more lines are no misses", r->path, (long long)r->misses->skipped - MOST_TOLD);
    r->skipped(r->context, message);
}

/* The line is over. */
static mt_status take_line(reader *r, mt_error *err)
{
    mt_status st = MT_OK;
    mt_miss miss = {0};
    trouble wrong = NULL;
    char *line = r->text;
    size_t length = r->length;
    r->length = 0;
    r->line++;
    if (length && length <= MAX_LINE_BYTES && line[length - 1] == '\r') length--;
    if (length == 0) return MT_OK;
    r->misses->lines++;
    if (length <= MAX_LINE_BYTES) line[length] = '\0';
    if (length > MAX_LINE_BYTES) wrong = "a line of more than 64 KiB";
    else if (!is_utf8(line, length)) wrong = "bytes that are no UTF-8 text";
    else MT_TRY(parse(r, line, &miss, &wrong, err));
    if (wrong) skip(r, wrong);
    else if (miss.count) st = keep(r, &miss, err);
done:
    free_miss(&miss);
    return st;
}

mt_status mt_misses_open(const char *path, mt_misses_skipped_callback skipped, void *context, mt_misses *misses, mt_misses_reader **out, mt_error *err)
{
    mt_status st;
    reader *r = mt_alloc(1, sizeof *r);
    *misses = (mt_misses){0};
    if (!r) return mt_no_memory(path, err);
    *r = (reader){.path = path, .misses = misses, .skipped = skipped, .context = context, .places = mt_alloc(PLACES, sizeof *r->places), .text = mt_alloc(MAX_LINE_BYTES + 1, 1)};
    if (!r->places || !r->text) MT_LEAVE(mt_no_memory(path, err));
    MT_TRY(mt_store_open(":memory:", MT_STORE_NO_TABLES, &r->json, err));
    *out = r;
    r = NULL;
done:
    mt_misses_close(r);
    return st;
}

void mt_misses_close(reader *r)
{
    if (!r) return;
    mt_store_close(r->json);
    MT_FREE_EACH(r->places, r->text, r);
}

mt_status mt_misses_take(reader *r, const char *bytes, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        if (bytes[i] == '\n') st = take_line(r, err);
        else if (r->length++ < MAX_LINE_BYTES) r->text[r->length - 1] = bytes[i];
    }
    return st;
}

mt_status mt_misses_end(reader *r, mt_error *err)
{
    mt_status st = r->length ? take_line(r, err) : MT_OK;
    tell_more(r);
    r->line = 0;
    return st;
}

static mt_status take_file(reader *r, int fd, mt_error *err)
{
    mt_status st = MT_OK;
    char bytes[16384];
    size_t total = 0;
    for (ssize_t count = 1; count && st == MT_OK;) {
        do {
            count = read(fd, bytes, sizeof bytes);
        } while (count < 0 && errno == EINTR);
        if (count < 0) return MT_FAIL(err, MT_ERR_IO, "%s: can't be read: %s", r->path, strerror(errno));
        total += (size_t)count;
        st = total > MAX_FILE_BYTES ? MT_FAIL(err, MT_ERR_IO, "%s: is larger than %d MiB", r->path, MAX_FILE_BYTES >> 20) : mt_misses_take(r, bytes, (size_t)count, err);
    }
    return st == MT_OK ? mt_misses_end(r, err) : st;
}

mt_status mt_misses_read(const char *path, mt_misses_skipped_callback skipped, void *context, mt_misses *misses, mt_error *err)
{
    int fd = -1;
    reader *r = NULL;
    mt_status st;
    MT_TRY(mt_misses_open(path, skipped, context, misses, &r, err));
    MT_TRY(mt_file_open_regular(path, &fd, err));
    MT_TRY(take_file(r, fd, err));
    if (misses->count) qsort(misses->items, misses->count, sizeof *misses->items, by_weight);
done:
    if (fd >= 0) close(fd);
    mt_misses_close(r);
    return st;
}

/* ---- GPUs ---- */

static size_t part_length(const char *key)
{
    return strcspn(key, "|");
}

bool mt_miss_fits_gpu(const char *gpu, const char *known)
{
    for (;;) {
        size_t a = part_length(gpu), b = part_length(known);
        bool is_unknown = (a == 3 && strncmp(gpu, "sm0", 3) == 0) || (a == 2 && strncmp(gpu, "0g", 2) == 0);
        if (!is_unknown && (a != b || strncmp(gpu, known, a) != 0)) return false;
        if (!gpu[a] || !known[b]) return !gpu[a] && !known[b];
        gpu += a + 1;
        known += b + 1;
    }
}
