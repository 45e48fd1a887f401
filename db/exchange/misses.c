#include "db/exchange/misses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/key.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

enum { MAX_FILE_BYTES = 256 << 20, MAX_LINE_BYTES = 64 << 10, MAX_NAMES = 64 };

typedef struct reader {
    const char *path;
    mt_store *json;          /* in memory; SQLite's JSON functions take the lines apart */
    mt_misses *misses;
    mt_misses_skipped_callback skipped;
    void *context;
    int64_t line;
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
    mt_free(miss->kernel);
    mt_free(miss->gpu);
    mt_free(miss->shape_key);
    mt_free(miss->workloads);
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

static mt_status read_line(reader *r, char *line, size_t length, mt_error *err)
{
    mt_status st = MT_OK;
    mt_miss miss = {0};
    trouble wrong = NULL;
    r->line++;
    if (length && line[length - 1] == '\r') line[--length] = '\0';
    if (length == 0) return MT_OK;
    r->misses->lines++;
    if (length > MAX_LINE_BYTES) wrong = "a line of more than 64 KiB";
    else if (!is_utf8(line, length)) wrong = "bytes that are no UTF-8 text";
    else MT_TRY(parse(r, line, &miss, &wrong, err));
    if (wrong) {
        char message[512];
        snprintf(message, sizeof message, "%s:%lld: is no miss: %s", r->path, (long long)r->line, wrong);
        r->misses->skipped++;
        if (r->skipped) r->skipped(r->context, message);
    } else if (miss.count) {
        mt_miss *items = mt_grow(r->misses->items, r->misses->count, &r->misses->capacity, sizeof *items);
        if (!items) {
            st = MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", r->path);
            goto done;
        }
        r->misses->items = items;
        items[r->misses->count++] = miss;
        miss = (mt_miss){0};
    }
done:
    free_miss(&miss);
    return st;
}

static int by_identity(const void *a, const void *b)
{
    const mt_miss *x = a, *y = b;
    int order = strcmp(x->kernel, y->kernel);
    if (!order) order = strcmp(x->gpu, y->gpu);
    return order ? order : strcmp(x->shape_key, y->shape_key);
}

static int by_line(const void *a, const void *b)
{
    int order = by_identity(a, b);
    const mt_miss *x = a, *y = b;
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int by_weight(const void *a, const void *b)
{
    const mt_miss *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_identity(a, b);
}

static int by_workload(const void *a, const void *b)
{
    const mt_miss *x = a, *y = b;
    int order = by_identity(a, b);
    if (!order) order = strcmp(x->workloads, y->workloads);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* A shape's workload is told by the first line that has it; the others forget it. */
static void name_workloads_once(mt_misses *misses)
{
    qsort(misses->items, misses->count, sizeof *misses->items, by_workload);
    for (size_t i = misses->count; i-- > 1;)
        if (by_identity(&misses->items[i - 1], &misses->items[i]) == 0 && strcmp(misses->items[i - 1].workloads, misses->items[i].workloads) == 0) *misses->items[i].workloads = '\0';
}

static void absorb(mt_miss *into, const mt_miss *from)
{
    into->count = add_saturating(into->count, from->count);
    into->wants_default = into->wants_default || from->wants_default;
    if (from->newest_unix_ms > into->newest_unix_ms) into->newest_unix_ms = from->newest_unix_ms;
}

/* The workloads of misses that are one shape, in the order of their lines. NULL: out of memory. */
static char *join_workloads(const mt_miss *items, size_t count)
{
    mt_strbuf all = {0};
    for (size_t i = 0; i < count; i++)
        if (*items[i].workloads) mt_strbuf_addf(&all, "%s%s", all.length ? ", " : "", items[i].workloads);
    return all.length || all.failed ? mt_strbuf_take(&all) : mt_strdup("");
}

/* Equal shapes become one. */
static mt_status sum_up(mt_misses *misses, const char *path, mt_error *err)
{
    size_t kept = 0;
    bool good = true;
    if (misses->count == 0) return MT_OK;
    name_workloads_once(misses);
    qsort(misses->items, misses->count, sizeof *misses->items, by_line);
    for (size_t first = 0, end; first < misses->count; first = end) {
        mt_miss *one = &misses->items[first];
        for (end = first + 1; end < misses->count && by_identity(one, &misses->items[end]) == 0; end++) absorb(one, &misses->items[end]);
        char *workloads = join_workloads(one, end - first);
        good = good && workloads;
        for (size_t i = first + 1; i < end; i++) free_miss(&misses->items[i]);
        mt_free(one->workloads);
        one->workloads = workloads;
        misses->items[kept++] = *one;
    }
    misses->count = kept;
    if (!good) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", path);
    qsort(misses->items, misses->count, sizeof *misses->items, by_weight);
    return MT_OK;
}

mt_status mt_misses_read(const char *path, mt_misses_skipped_callback skipped, void *context, mt_misses *misses, mt_error *err)
{
    mt_status st = MT_OK;
    char *text = NULL;
    size_t length = 0;
    reader r = {.path = path, .misses = misses, .skipped = skipped, .context = context};
    *misses = (mt_misses){0};
    MT_TRY(mt_file_read(path, MAX_FILE_BYTES, &text, &length, err));
    MT_TRY(mt_store_open(":memory:", MT_STORE_NO_TABLES, &r.json, err));
    for (char *at = text, *end = text + length; at < end;) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        *stop = '\0';
        MT_TRY(read_line(&r, at, (size_t)(stop - at), err));
        at = stop + 1;
    }
    MT_TRY(sum_up(misses, path, err));
done:
    mt_store_close(r.json);
    mt_free(text);
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
