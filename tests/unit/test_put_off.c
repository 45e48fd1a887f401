/* Shapes that failed: how long they wait, that a later process knows, and that one process has the file. */
#include "tuner/cli/measure/put_off.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lookup_fixture.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"

static const char gpu[] = "g|cc90|sm1|1g";
enum { HOUR_MS = 3600 * 1000 };

static char db_path[160], own_path[176];

static void place(void)
{
    snprintf(db_path, sizeof db_path, "%s/t.sqlite", fixture_folder);
    snprintf(own_path, sizeof own_path, "%s-follow", db_path);
    unlink(own_path);
}

static double hours_until(const mt_put_off *put_off, const mt_miss *miss)
{
    int64_t until = mt_put_off_until(put_off, miss, gpu);
    return until ? (double)(until - mt_clock_unix_ms()) / HOUR_MS : 0;
}

START_TEST(waits_longer_each_time)
{
    static const double hours[] = {1, 2, 4, 8, 16, 32, 64, 128, 168, 168};
    mt_put_off put_off;
    mt_miss miss = {.kernel = (char *)"toy", .shape_key = (char *)"H=3,;L=1,-2;N=12;dtype=f16"}, other = miss;
    place();
    other.shape_key = (char *)"H=3,4;L=1,-2;N=12;dtype=f16";
    ck_ok(mt_put_off_open(db_path, &put_off, &fixture_err));
    ck_assert_int_eq(mt_put_off_until(&put_off, &miss, gpu), 0);
    for (size_t i = 0; i < sizeof hours / sizeof *hours; i++) {
        ck_ok(mt_put_off_add(&put_off, &miss, gpu, &fixture_err));
        ck_assert_msg(hours_until(&put_off, &miss) > hours[i] - 0.2 && hours_until(&put_off, &miss) <= hours[i], "failure %zu: %g h, expected %g", i + 1, hours_until(&put_off, &miss), hours[i]);
        mt_put_off_close(&put_off); /* and another process goes on */
        ck_ok(mt_put_off_open(db_path, &put_off, &fixture_err));
        ck_assert(hours_until(&put_off, &miss) > hours[i] - 0.2);
    }
    ck_assert_int_eq(mt_put_off_until(&put_off, &other, gpu), 0);
    ck_assert_int_eq(mt_put_off_until(&put_off, &miss, "g|cc90|sm2|1g"), 0);
    mt_put_off_close(&put_off);
}
END_TEST

START_TEST(is_one_process)
{
    mt_put_off first, second;
    place();
    ck_ok(mt_put_off_open(db_path, &first, &fixture_err));
    ck_fails(mt_put_off_open(db_path, &second, &fixture_err), MT_ERR_IO, "t.sqlite: another process follows");
    mt_put_off_close(&second);
    mt_put_off_close(&first);
    ck_ok(mt_put_off_open(db_path, &second, &fixture_err));
    mt_put_off_close(&second);
}
END_TEST

/* Cut lines, foreign lines, a file that grew beyond measure, what is no file. */
START_TEST(damaged)
{
    mt_put_off put_off;
    mt_miss miss = {.kernel = (char *)"toy", .shape_key = (char *)"N=1"};
    place();
    FILE *file = fopen(own_path, "w");
    fputs("nonsense\n{\"kernel\":\"toy\",\"gpu\":\"g|cc90|sm1|1g\",\"shape\":{\"N\":1},\"count\":1,\"unix_ms\":4000000000000}\n{\"kernel\":\"to", file);
    fclose(file);
    ck_ok(mt_put_off_open(db_path, &put_off, &fixture_err));
    ck_assert_int_eq(mt_put_off_until(&put_off, &miss, gpu), INT64_C(4000000000000) + HOUR_MS);
    ck_ok(mt_put_off_add(&put_off, &miss, gpu, &fixture_err)); /* not glued to the line that was cut */
    mt_put_off_close(&put_off);
    ck_ok(mt_put_off_open(db_path, &put_off, &fixture_err));
    ck_assert_int_eq(put_off.failed.items[0].count, 2);
    mt_put_off_close(&put_off);
    ck_assert_int_eq(truncate(own_path, (16 << 20) + 1), 0);
    ck_ok(mt_put_off_open(db_path, &put_off, &fixture_err));
    ck_assert_uint_eq(put_off.failed.count, 0);
    mt_put_off_close(&put_off);
    unlink(own_path);
    ck_assert_int_eq(mkdir(own_path, 0700), 0);
    ck_assert_int_ne(mt_put_off_open(db_path, &put_off, &fixture_err), MT_OK);
    ck_assert_msg(strstr(fixture_err.message, own_path) != NULL, "%s", fixture_err.message);
    mt_put_off_close(&put_off);
    rmdir(own_path);
}
END_TEST

FIXTURE_MAIN("put_off", waits_longer_each_time, is_one_process, damaged)
