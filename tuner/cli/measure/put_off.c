#include "tuner/cli/measure/put_off.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

/* An hour after the first failure, twice as long after each further one, a week at most. A file this large is somebody's who sends shapes that fail on purpose, and begins anew. */
enum { FIRST_MS = 3600 * 1000, MOST_DOUBLINGS = 7, MOST_BYTES = 16 << 20 };
static const int64_t LONGEST_MS = INT64_C(7) * 24 * 3600 * 1000;

static void skipped(void *context, const char *message)
{
    (void)context;
    mt_log_warn("%s", message);
}

static mt_status lock(mt_put_off *self, const char *db, mt_error *err)
{
    struct stat info;
    if (flock(self->fd, LOCK_EX | LOCK_NB) != 0)
        return MT_FAIL(err, MT_ERR_IO, errno == EWOULDBLOCK ? "%s: another process follows a log into this database, and has %s locked; expected one" : "%s: %s can't be locked", db, self->path);
    if (fstat(self->fd, &info) == 0 && info.st_size > MOST_BYTES && ftruncate(self->fd, 0) == 0) mt_log_warn("%s: was larger than %d MiB, and begins anew", self->path, MOST_BYTES >> 20);
    return MT_OK;
}

static mt_status read_all(mt_put_off *self, mt_error *err)
{
    char *text = NULL;
    size_t length = 0;
    mt_status st;
    MT_TRY(mt_file_read(self->path, 2 * MOST_BYTES, &text, &length, err));
    MT_TRY(mt_misses_take(self->reader, text, length, err));
    st = mt_misses_end(self->reader, err);
    if (length && text[length - 1] != '\n' && mt_fd_write_all(self->fd, "\n", 1) != 0) st = MT_FAIL(err, MT_ERR_IO, "%s: can't be written: %s", self->path, strerror(errno)); /* a full disk had cut it short */
done:
    mt_free(text);
    return st;
}

mt_status mt_put_off_open(const char *db, mt_put_off *self, mt_error *err)
{
    mt_strbuf path = {0};
    mt_status st;
    *self = (mt_put_off){.fd = -1};
    mt_strbuf_addf(&path, "%s-follow", db);
    if (!(self->path = mt_strbuf_take(&path))) return mt_no_memory(db, err);
    MT_TRY(mt_misses_open(self->path, skipped, NULL, &self->failed, &self->reader, err));
    MT_TRY(mt_file_open_append(self->path, &self->fd, err));
    MT_TRY(lock(self, db, err));
    st = read_all(self, err);
done:
    return st;
}

void mt_put_off_close(mt_put_off *self)
{
    if (self->fd >= 0) close(self->fd);
    mt_misses_close(self->reader);
    mt_misses_free(&self->failed);
    mt_free(self->path);
    *self = (mt_put_off){.fd = -1};
}

static int64_t wait_of(int64_t failures)
{
    int64_t doublings = failures - 1 > MOST_DOUBLINGS ? MOST_DOUBLINGS + 1 : failures - 1;
    int64_t wait_ms = (int64_t)FIRST_MS << doublings;
    return wait_ms < LONGEST_MS ? wait_ms : LONGEST_MS;
}

int64_t mt_put_off_until(const mt_put_off *self, const mt_miss *miss, const char *gpu)
{
    for (size_t i = 0; i < self->failed.count; i++) {
        const mt_miss *failed = &self->failed.items[i];
        if (strcmp(failed->shape_key, miss->shape_key) == 0 && strcmp(failed->kernel, miss->kernel) == 0 && strcmp(failed->gpu, gpu) == 0)
            return failed->newest_unix_ms + wait_of(failed->count);
    }
    return 0;
}

/* ---- a line of it ---- */

/* "92,46" and "5," are lists. */
static void add_value(mt_strbuf *out, const char *value, size_t length)
{
    int64_t number;
    if (mt_text_int64(value, length, &number)) {
        mt_strbuf_addf(out, "%" PRId64, number);
    } else if (memchr(value, ',', length)) {
        mt_strbuf_addf(out, "[%.*s]", (int)(length - (value[length - 1] == ',')), value);
    } else {
        mt_strbuf_addf(out, "\"%.*s\"", (int)length, value); /* a word (db/exchange/misses.c) */
    }
}

static void add_shape(mt_strbuf *out, const char *key)
{
    mt_strbuf_add(out, ",\"shape\":{");
    for (const char *at = key; *at;) {
        size_t length = strcspn(at, ";"), name = strcspn(at, "=");
        mt_strbuf_addf(out, "%s\"%.*s\":", at == key ? "" : ",", (int)name, at);
        add_value(out, at + name + 1, length - name - 1);
        at += length + (at[length] == ';');
    }
    mt_strbuf_add(out, "}");
}

mt_status mt_put_off_add(mt_put_off *self, const mt_miss *miss, const char *gpu, mt_error *err)
{
    mt_strbuf line = {0};
    mt_status st = MT_OK;
    mt_strbuf_add(&line, "{\"kernel\":");
    mt_strbuf_add_json(&line, miss->kernel);
    mt_strbuf_add_member(&line, "gpu", gpu);
    add_shape(&line, miss->shape_key);
    mt_strbuf_addf(&line, ",\"count\":1,\"unix_ms\":%" PRId64 "}\n", mt_clock_unix_ms());
    if (line.failed) MT_LEAVE(mt_no_memory(self->path, err));
    MT_TRY(mt_misses_take(self->reader, line.text, line.length, err));
    if (mt_fd_write_all(self->fd, line.text, line.length) != 0) st = MT_FAIL(err, MT_ERR_IO, "%s: can't be written: %s", self->path, strerror(errno));
done:
    mt_strbuf_free(&line);
    return st;
}
