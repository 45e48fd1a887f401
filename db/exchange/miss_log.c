#include "db/exchange/miss_log.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/file.h"

mt_status mt_miss_log_open(const char *path, mt_misses_skipped_callback skipped, mt_miss_log *log, mt_error *err)
{
    *log = (mt_miss_log){.path = path, .skipped = skipped, .fd = -1};
    return mt_misses_open(path, skipped, NULL, &log->misses, &log->reader, err);
}

void mt_miss_log_close(mt_miss_log *log)
{
    if (log->fd >= 0) close(log->fd);
    mt_misses_close(log->reader);
    mt_misses_free(&log->misses);
    *log = (mt_miss_log){.fd = -1};
}

/* Another file begins. A table that is full of old ones has no place for its misses. */
static mt_status begin_file(mt_miss_log *log, mt_error *err)
{
    mt_status st = mt_misses_end(log->reader, err);
    log->offset = 0;
    if (st != MT_OK || log->misses.count < MT_MISSES_MOST) return st;
    mt_misses_close(log->reader);
    log->reader = NULL;
    mt_misses_free(&log->misses);
    return mt_misses_open(log->path, log->skipped, NULL, &log->misses, &log->reader, err);
}

static mt_status open_file(mt_miss_log *log, bool *is_at_end, mt_error *err)
{
    mt_status st = mt_file_open_regular(log->path, &log->fd, err);
    *is_at_end = st != MT_OK;
    return st == MT_ERR_NOT_FOUND ? MT_OK : st;
}

/* The open file has no more bytes: it was truncated, or the place holds another one, or this is the end. A name that is gone may come back with the next flush. */
static mt_status look_behind(mt_miss_log *log, bool *is_at_end, mt_error *err)
{
    struct stat open_one, named;
    if (fstat(log->fd, &open_one) != 0) return MT_FAIL(err, MT_ERR_IO, "%s: can't be read: %s", log->path, strerror(errno));
    bool is_cut = open_one.st_size < log->offset;
    bool is_other = !is_cut && stat(log->path, &named) == 0 && (named.st_ino != open_one.st_ino || named.st_dev != open_one.st_dev);
    *is_at_end = !is_cut && !is_other;
    if (*is_at_end) return MT_OK;
    if (is_cut && lseek(log->fd, 0, SEEK_SET) != 0) return MT_FAIL(err, MT_ERR_IO, "%s: can't be read: %s", log->path, strerror(errno));
    if (is_other) {
        close(log->fd);
        log->fd = -1;
    }
    return begin_file(log, err);
}

mt_status mt_miss_log_read(mt_miss_log *log, bool *is_at_end, mt_error *err)
{
    char bytes[65536];
    mt_status st = MT_OK;
    *is_at_end = false;
    if (log->fd < 0) st = open_file(log, is_at_end, err);
    if (log->fd < 0 || st != MT_OK) return st;
    ssize_t count = read(log->fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return MT_OK;
    if (count < 0) {
        *is_at_end = true;
        return MT_FAIL(err, MT_ERR_IO, "%s: can't be read: %s", log->path, strerror(errno));
    }
    if (count == 0) return look_behind(log, is_at_end, err);
    log->offset += count;
    return mt_misses_take(log->reader, bytes, (size_t)count, err);
}
