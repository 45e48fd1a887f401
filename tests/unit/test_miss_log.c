/* A log of misses that grows, is truncated, renamed and replaced while it is read. */
#include "db/exchange/miss_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lookup_fixture.h"
#include "tuner/base/strbuf.h"

#define LINE(n, count) "{\"kernel\":\"toy\",\"gpu\":\"g|cc90|sm1|1g\",\"shape\":{\"N\":" #n "},\"count\":" #count "}\n"

static char log_path[160];
static int told;

static void count_told(void *context, const char *message)
{
    ck_assert_ptr_null(context);
    ck_assert_ptr_nonnull(strstr(message, "log.jsonl"));
    told++;
}

static void add(const char *text, const char *mode)
{
    FILE *file = fopen(log_path, mode);
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void open_log(mt_miss_log *log)
{
    snprintf(log_path, sizeof log_path, "%s/log.jsonl", fixture_folder);
    unlink(log_path);
    told = 0;
    ck_ok(mt_miss_log_open(log_path, count_told, log, &fixture_err));
}

static void read_all(mt_miss_log *log)
{
    for (bool is_at_end = false; !is_at_end;) ck_ok(mt_miss_log_read(log, &is_at_end, &fixture_err));
}

static int64_t count_of(const mt_miss_log *log, const char *key)
{
    for (size_t i = 0; i < log->misses.count; i++)
        if (strcmp(log->misses.items[i].shape_key, key) == 0) return log->misses.items[i].count;
    return 0;
}

START_TEST(grows)
{
    mt_miss_log log;
    open_log(&log);
    read_all(&log); /* it is not there yet */
    ck_assert_uint_eq(log.misses.count, 0);
    add(LINE(1, 2) LINE(2, 3) "{\"kernel\":\"toy\",\"gpu\":\"g|cc9", "w");
    read_all(&log);
    ck_assert_int_eq(count_of(&log, "N=1"), 2);
    ck_assert_uint_eq(log.misses.count, 2);
    log.misses.items[0].settled = 2;
    add("0|sm1|1g\",\"shape\":{\"N\":3},\"count\":1}\n" LINE(1, 5), "a"); /* the rest of a line that a flush had cut */
    read_all(&log);
    ck_assert_int_eq(count_of(&log, "N=3"), 1);
    ck_assert_int_eq(count_of(&log, "N=1"), 7);
    ck_assert_int_eq(log.misses.items[0].settled, 2);
    ck_assert_int_eq(told, 0);
    mt_miss_log_close(&log);
}
END_TEST

START_TEST(truncated)
{
    mt_miss_log log;
    open_log(&log);
    add(LINE(1, 2) LINE(2, 3), "w");
    read_all(&log);
    add(LINE(4, 1), "w"); /* shorter than what was read */
    read_all(&log);
    ck_assert_int_eq(count_of(&log, "N=4"), 1);
    ck_assert_int_eq(count_of(&log, "N=1"), 2); /* is still to be worked off */
    ck_assert_int_eq(told, 0);
    mt_miss_log_close(&log);
}
END_TEST

START_TEST(renamed)
{
    mt_miss_log log;
    char old[176];
    open_log(&log);
    snprintf(old, sizeof old, "%s.1", log_path);
    add(LINE(1, 2), "w");
    read_all(&log);
    add("{\"kernel\":\"toy\",\"gpu\":\"g|cc90|sm1|1g\",\"shape\":{\"N\":5},\"count\":1}", "a"); /* its last line has no end */
    ck_assert_int_eq(rename(log_path, old), 0);
    add(LINE(6, 1) "nonsense\n", "w");
    read_all(&log);
    ck_assert_int_eq(count_of(&log, "N=5"), 1);
    ck_assert_int_eq(count_of(&log, "N=6"), 1);
    ck_assert_int_eq(told, 1);
    ck_assert_int_eq(unlink(log_path), 0);
    read_all(&log);
    add(LINE(6, 4), "w");
    read_all(&log);
    ck_assert_int_eq(count_of(&log, "N=6"), 5);
    mt_miss_log_close(&log);
}
END_TEST

/* What is no file is an error that may pass. */
START_TEST(no_file)
{
    mt_miss_log log;
    bool is_at_end = false;
    open_log(&log);
    ck_assert_int_eq(mkfifo(log_path, 0600), 0);
    ck_fails(mt_miss_log_read(&log, &is_at_end, &fixture_err), MT_ERR_IO, "is not a regular file");
    ck_assert(is_at_end);
    ck_assert_int_eq(unlink(log_path), 0);
    ck_assert_int_eq(mkdir(log_path, 0700), 0);
    ck_fails(mt_miss_log_read(&log, &is_at_end, &fixture_err), MT_ERR_IO, "is not a regular file");
    ck_assert_int_eq(rmdir(log_path), 0);
    add(LINE(1, 1), "w");
    read_all(&log);
    ck_assert_int_eq(count_of(&log, "N=1"), 1);
    mt_miss_log_close(&log);
}
END_TEST

/* A table that is full has room again with the next file. */
START_TEST(full)
{
    mt_miss_log log;
    mt_strbuf text = {0};
    open_log(&log);
    for (int i = 0; i <= MT_MISSES_MOST; i++) mt_strbuf_addf(&text, "{\"kernel\":\"toy\",\"gpu\":\"g\",\"shape\":{\"N\":%d},\"count\":1}\n", i + 10);
    add(mt_strbuf_text(&text), "w");
    mt_strbuf_free(&text);
    read_all(&log);
    ck_assert_uint_eq(log.misses.count, MT_MISSES_MOST);
    ck_assert_int_eq(log.misses.dropped, 1);
    add(LINE(1, 1), "w");
    read_all(&log);
    ck_assert_uint_eq(log.misses.count, 1);
    ck_assert_int_eq(count_of(&log, "N=1"), 1);
    mt_miss_log_close(&log);
}
END_TEST

FIXTURE_MAIN("miss_log", full, grows, truncated, renamed, no_file)
