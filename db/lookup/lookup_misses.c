/* Shapes that were asked for and not found, in a table of fixed size that finders fill without a lock and a flush empties into a file. */
#include "db/lookup/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A slot's word: its count in the low half, above it the state, above that a generation that counts how often the slot was emptied. */
enum { EMPTY = 0, WRITING = 1, READY = 2, STATES = 4 };
#define STATE_OF(word) ((uint32_t)((word) >> 32) % STATES)
#define COUNT_OF(word) ((uint32_t)(word))
#define WITH(word, state, count) (((word) >> 34 << 34) | (uint64_t)(state) << 32 | (uint64_t)(count))
#define NEXT_GENERATION ((uint64_t)1 << 34)

/* ---- counting ---- */

static bool is_same(mt_lookup_miss *slot, const int64_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load_explicit(&slot->values[i], memory_order_acquire) != values[i]) return false;
    return true;
}

static bool take(mt_lookup_miss *slot, uint64_t word, const int64_t *values, uint32_t count)
{
    if (!atomic_compare_exchange_strong(&slot->word, &word, WITH(word, WRITING, 0))) return false;
    for (uint32_t i = 0; i < count; i++) atomic_store_explicit(&slot->values[i], values[i], memory_order_release);
    atomic_store_explicit(&slot->word, WITH(word, READY, 1), memory_order_release);
    return true;
}

/* What was compared is what is counted: had a flush emptied the slot in between, the word would have another generation. */
static bool count_in(mt_lookup_miss *slot, const int64_t *values, uint32_t count)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
    if (STATE_OF(word) == EMPTY) {
        if (take(slot, word, values, count)) return true;
        word = atomic_load_explicit(&slot->word, memory_order_acquire);
    }
    while (STATE_OF(word) == READY && is_same(slot, values, count)) {
        if (COUNT_OF(word) == UINT32_MAX || atomic_compare_exchange_weak(&slot->word, &word, word + 1)) return true;
    }
    return false;
}

/* A slot that another finder (perhaps one that a signal interrupted) is writing is passed over: the same shape may then be in two slots, which a reader adds up. */
void mt_lookup_count_miss(mt_lookup_misses *misses, const int64_t *values, uint32_t count)
{
    uint32_t home = mt_lookup_hash(values, count);
    for (uint32_t probe = 0; probe < MT_LOOKUP_MISS_PROBES; probe++)
        if (count_in(&misses->slots[(home + probe) % MT_LOOKUP_MISS_SLOTS], values, count)) return;
    atomic_fetch_add_explicit(&misses->dropped, 1, memory_order_relaxed);
}

/* ---- writing ---- */

typedef struct line {
    char text[8192];
    size_t used;
} line;

static void add(line *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(line *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(out->text + out->used, sizeof out->text - out->used, format, args);
    va_end(args);
    if (length > 0) out->used += (size_t)length < sizeof out->text - out->used ? (size_t)length : sizeof out->text - out->used - 1;
}

/* A JSON string; what could break the line is left out. */
static void add_string(line *out, const char *text)
{
    const char *from = text;
    add(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') add(out, "\\%c", *text);
        else if (mt_lookup_is_shown(from, text)) add(out, "%c", *text);
    }
    add(out, "\"");
}

/* {"kernel":"msda","key":…,"gpu":…,"workload":…, without the end */
static void begin_line(line *out, const mt_lookup_answers *answers)
{
    out->used = 0;
    add(out, "{\"kernel\":");
    add_string(out, answers->kernel);
    add(out, ",\"key\":\"%s\",\"gpu\":", answers->kernel_key);
    add_string(out, answers->gpu);
    if (!answers->workload) return;
    add(out, ",\"workload\":");
    add_string(out, answers->workload);
}

static void end_line(line *out, const char *what, uint64_t count)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    add(out, ",\"%s\":%llu,\"unix_ms\":%lld}\n", what, (unsigned long long)count, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* …,"shape":{"D":32,"H":[92,46],"dtype":"f16"},"count":3,"unix_ms":…} */
static void describe(line *out, const mt_lookup_answers *answers, mt_lookup_miss *slot, uint64_t count)
{
    int64_t values[TUNELOOKUP_MAX_VALUES] = { 0 };
    for (uint32_t i = 0; i < answers->value_count; i++) values[answers->order[i]] = atomic_load_explicit(&slot->values[i], memory_order_acquire);
    begin_line(out, answers);
    add(out, ",\"shape\":{");
    for (uint32_t i = 0; i < answers->model.name_count; i++) {
        const mt_lookup_model_name *name = &answers->model.names[i];
        if (i) add(out, ",");
        add_string(out, name->name);
        add(out, name->kind == MT_LOOKUP_NAME_LIST ? ":[" : ":");
        if (name->kind == MT_LOOKUP_NAME_STRING) add_string(out, name->string);
        else for (uint32_t k = 0; k < name->length; k++) add(out, "%s%lld", k ? "," : "", (long long)values[name->offset + k]);
        if (name->kind == MT_LOOKUP_NAME_LIST) add(out, "]");
    }
    add(out, "}");
    end_line(out, "count", count);
}

/* One write a line: with O_APPEND the lines of several processes do not mix. */
static bool write_line(int fd, const line *out)
{
    ssize_t written;
    do {
        written = write(fd, out->text, out->used);
    } while (written < 0 && errno == EINTR);
    return written == (ssize_t)out->used;
}

static tunelookup_status not_written(const char *path)
{
    return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: can't be written: %s", path, errno ? strerror(errno) : "short write");
}

/* Zero, with what it was; a slot that counted nothing since the last flush is emptied for other shapes. */
static uint32_t take_count(mt_lookup_miss *slot)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);
    while (STATE_OF(word) == READY) {
        uint64_t next = COUNT_OF(word) ? WITH(word, READY, 0) : WITH(word, EMPTY, 0) + NEXT_GENERATION;
        if (atomic_compare_exchange_weak(&slot->word, &word, next)) return COUNT_OF(word);
    }
    return 0;
}

static tunelookup_status flush_plan(const tunelookup_plan *plan, int fd, const char *path, line *out)
{
    const mt_lookup_answers *answers = atomic_load(&plan->answers);
    for (uint32_t i = 0; plan->misses && i < MT_LOOKUP_MISS_SLOTS; i++) {
        mt_lookup_miss *slot = &plan->misses->slots[i];
        uint32_t count = take_count(slot);
        if (!count) continue;
        describe(out, answers, slot, count);
        if (write_line(fd, out)) continue;
        atomic_fetch_add(&slot->word, count); /* for the next flush; only a flush empties slots, so it is still the same shape's */
        return not_written(path);
    }
    uint64_t dropped = plan->misses ? atomic_exchange(&plan->misses->dropped, 0) : 0;
    if (!dropped) return TUNELOOKUP_OK;
    begin_line(out, answers);
    end_line(out, "dropped", dropped);
    if (write_line(fd, out)) return TUNELOOKUP_OK;
    atomic_fetch_add(&plan->misses->dropped, dropped);
    return not_written(path);
}

/* A full disk may have cut an earlier line short; the next one must not be glued to it. */
static void end_cut_line(int fd, off_t size)
{
    char last;
    if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1) return; /* the next write fails too, and says why */
}

/* Or a pack. */
static bool is_database(int fd)
{
    static const char magic[16] = "SQLite format 3"; /* with its NUL */
    char begin[sizeof magic];
    return pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin && (memcmp(begin, magic, sizeof begin) == 0 || memcmp(begin, MT_PACK_MAGIC, strlen(MT_PACK_MAGIC)) == 0);
}

/* O_NOFOLLOW: no link laid by someone else; O_NONBLOCK: no waiting for a pipe's reader. */
static int open_file(const char *path)
{
    enum { FLAGS = O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
    int fd = open(path, O_RDWR | FLAGS, 0600);
    return fd < 0 && errno == EACCES ? open(path, O_WRONLY | FLAGS, 0600) : fd;
}

tunelookup_status tunelookup_flush_misses(tunelookup_db *db, const char *path)
{
    tunelookup_status st = TUNELOOKUP_OK;
    struct stat info;
    mt_lookup_clear_detail();
    if (!db || !path) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "db or path is NULL");
    if (mt_lookup_lies_in_shipped(path)) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "%s: came with msda-tune and is never written; expected a place of your own", path);
    line *out = mt_lookup_alloc(sizeof *out);
    int fd = open_file(path);
    if (!out) {
        st = mt_lookup_no_memory();
    } else if (fd < 0 || fstat(fd, &info) != 0) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: can't be written: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: can't be written: is not a regular file", path);
    } else if (is_database(fd)) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "%s: is an SQLite database or a pack; expected a file of misses, or a new one", path);
    }
    if (st == TUNELOOKUP_OK) end_cut_line(fd, info.st_size);
    for (const tunelookup_plan *plan = db->plans; plan && st == TUNELOOKUP_OK; plan = plan->next) st = flush_plan(plan, fd, path, out);
    if (fd >= 0) close(fd);
    free(out);
    return st;
}
