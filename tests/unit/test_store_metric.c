/* Numbers beside a measurement: kept, replaced, read back with the row, refused without one. */
#include "tests/unit/store_fixture.h"
#include "tests/unit/sound_fixture.h"

#include "db/store/query.h"

typedef struct seen {
    int count;
    int64_t id;
    char metrics[512];
} seen;

static mt_status see(void *context, const mt_measurement_row *row, mt_error *err)
{
    seen *all = context;
    (void)err;
    all->count++;
    all->id = row->id;
    snprintf(all->metrics, sizeof all->metrics, "%s", row->metrics_json);
    return MT_OK;
}

static seen newest(mt_store *store)
{
    seen all = {0};
    ck_ok(mt_query_measurements(store, NULL, see, &all, &fixture_err));
    return all;
}

START_TEST(kept_and_replaced)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    fixture_put_ok(store, fixture_session(store), &s, "A=1", 1000);
    seen row = newest(store);
    ck_assert_str_eq(row.metrics, "{}");
    ck_ok(mt_store_metric(store, row.id, 0, "ncu", "dram_percent", 50, &fixture_err));
    ck_ok(mt_store_metric(store, row.id, 0, "ncu", "dram_percent", 61.5, &fixture_err));
    ck_ok(mt_store_metric(store, row.id, 0, "ncu", "l1_percent", NAN, &fixture_err)); /* not measured */
    ck_assert_str_eq(newest(store).metrics, "{\"dram_percent\":61.5}");
    ck_fails(mt_store_metric(store, 999, 0, "ncu", "dram_percent", 1, &fixture_err), MT_ERR_DB, "FOREIGN KEY");
    ck_ok(fixture_check(store, &fixture_err));
    mt_store_close(store);
}
END_TEST

START_TEST(cycles_come_with_the_row)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, 1000);
    outcome.cycles = (mt_cycles){.blocks = 3, .min = 10, .max = 30, .mean = 20.5};
    fixture_put(store, fixture_session(store), &s, "A=1", &outcome);
    ck_assert_str_eq(newest(store).metrics, "{\"cycles_max\":30.0,\"cycles_mean\":20.5,\"cycles_min\":10.0}");
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("store_metric", kept_and_replaced, cycles_come_with_the_row)
