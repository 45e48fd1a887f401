/* Shapes that were asked for and not found, in a table of fixed size that finders fill without a lock and a flush empties into a file. */
#include "db/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EMPTY = 0, WRITING = 1, READY = 2 };

/* ---- counting ---- */

/* A slot that another finder (perhaps one that a signal interrupted) is writing is passed over: the same shape may then be in two slots, which a reader adds up. */
void mt_lookup_count_miss(mt_lookup_misses *misses, const int64_t *values, uint32_t count)
{
    uint32_t home = mt_lookup_hash(values, count);
    for (uint32_t probe = 0; probe < MT_LOOKUP_MISS_PROBES; probe++) {
        mt_lookup_miss *slot = &misses->slots[(home + probe) % MT_LOOKUP_MISS_SLOTS];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state == EMPTY && atomic_compare_exchange_strong(&slot->state, &state, WRITING)) {
            memcpy(slot->values, values, count * sizeof *values);
            atomic_store_explicit(&slot->count, 1, memory_order_relaxed);
            atomic_store_explicit(&slot->state, READY, memory_order_release);
            return;
        }
        if (state == READY && memcmp(slot->values, values, count * sizeof *values) == 0) {
            atomic_fetch_add_explicit(&slot->count, 1, memory_order_relaxed);
            return;
        }
    }
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

/* {"kernel":"msda","key":…,"gpu":…,"workload":…,"shape":{"D":32,"H":[92,46],"dtype":"f16"},"count":3,"unix_ms":…} */
static void describe(line *out, const tunelookup_plan *plan, const int64_t *asked, uint64_t count)
{
    const mt_lookup_block *block = atomic_load(&plan->block);
    int64_t values[TUNELOOKUP_MAX_VALUES] = { 0 };
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (uint32_t i = 0; i < block->value_count; i++) values[block->order[i]] = asked[i];
    add(out, "{\"kernel\":");
    add_string(out, block->kernel);
    add(out, ",\"key\":\"%s\",\"gpu\":", block->kernel_key);
    add_string(out, block->gpu);
    if (block->workload) {
        add(out, ",\"workload\":");
        add_string(out, block->workload);
    }
    add(out, ",\"shape\":{");
    for (uint32_t i = 0; i < block->model.name_count; i++) {
        const mt_lookup_model_name *name = &block->model.names[i];
        if (i) add(out, ",");
        add_string(out, name->name);
        add(out, name->kind == MT_LOOKUP_NAME_LIST ? ":[" : ":");
        if (name->kind == MT_LOOKUP_NAME_STRING) add_string(out, name->string);
        else for (uint32_t k = 0; k < name->length; k++) add(out, "%s%lld", k ? "," : "", (long long)values[name->offset + k]);
        if (name->kind == MT_LOOKUP_NAME_LIST) add(out, "]");
    }
    add(out, "},\"count\":%llu,\"unix_ms\":%lld}\n", (unsigned long long)count, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);
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

static tunelookup_status flush_plan(const tunelookup_plan *plan, int fd, const char *path, line *out)
{
    for (uint32_t i = 0; plan->misses && i < MT_LOOKUP_MISS_SLOTS; i++) {
        mt_lookup_miss *slot = &plan->misses->slots[i];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) != READY) continue;
        uint32_t count = atomic_exchange(&slot->count, 0);
        if (!count) continue;
        out->used = 0;
        describe(out, plan, slot->values, count);
        if (write_line(fd, out)) continue;
        atomic_fetch_add(&slot->count, count); /* for the next flush */
        return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: can't be written: %s", path, errno ? strerror(errno) : "short write");
    }
    return TUNELOOKUP_OK;
}

tunelookup_status tunelookup_flush_misses(tunelookup_db *db, const char *path)
{
    tunelookup_status st = TUNELOOKUP_OK;
    struct stat info;
    mt_lookup_clear_detail();
    if (!db || !path) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "db or path is NULL");
    line *out = mt_lookup_alloc(sizeof *out);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600); /* no link laid by someone else, no waiting for a pipe's reader */
    if (!out) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_NO_MEMORY, "out of memory");
    } else if (fd < 0 || fstat(fd, &info) != 0) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: can't be written: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        st = mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: can't be written: is not a regular file", path);
    }
    for (const tunelookup_plan *plan = db->plans; plan && st == TUNELOOKUP_OK; plan = plan->next) st = flush_plan(plan, fd, path, out);
    if (fd >= 0) close(fd);
    free(out);
    return st;
}
