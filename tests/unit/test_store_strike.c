/* Strikes listed, filtered and lifted. */
#include "tests/unit/store_fixture.h"

#include "db/store/query.h"

typedef struct seen {
    int count;
    char text[8][256];
    mt_subject subject[8];
} seen;

static mt_status see(void *context, const mt_strike_info *row, mt_error *err)
{
    seen *all = context;
    (void)err;
    ck_assert_int_gt(row->newest_unix_ms, 0);
    snprintf(all->text[all->count], sizeof all->text[0], "%s|%s|%s|%lld|%s", row->shape, row->variant, row->cause, (long long)row->strikes,
             row->is_quarantined ? "quarantined" : "free");
    all->subject[all->count++] = row->subject;
    return MT_OK;
}

static seen list(mt_store *store, const mt_filter *filter)
{
    seen all = {0};
    ck_ok(mt_query_strikes(store, filter, see, &all, &fixture_err));
    return all;
}

static mt_status refuse(void *context, const mt_strike_info *row, mt_error *err)
{
    (void)context;
    return MT_FAIL(err, MT_ERR_USAGE, "enough: %s", row->variant);
}

START_TEST(lists_and_filters)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store), recorded = s;
    recorded.origin = MT_ORIGIN_RECORDED;
    ck_assert_int_eq(list(store, NULL).count, 0);
    ck_ok(mt_store_strike(store, &s, "A=2", "fault_once", &fixture_err));
    ck_ok(mt_store_strike(store, &s, "A=1", "fault", &fixture_err));
    ck_ok(mt_store_strike(store, &s, "A=3", "fault_once", &fixture_err));
    ck_ok(mt_store_strike(store, &s, "A=3", "crashed", &fixture_err));
    ck_ok(mt_store_strike(store, &recorded, "A=4", "made up by a newer version", &fixture_err));
    mt_origin measured = MT_ORIGIN_MEASURED;
    mt_filter mine = {.gpu = "h100", .origin = &measured}, other = {.gpu = "b200"}, no_shape = {.shape = "nothing"};
    seen all = list(store, NULL);
    ck_assert_int_eq(all.count, 4);
    ck_assert_ptr_nonnull(strstr(all.text[0], "|A=1|faulted|1|quarantined"));
    ck_assert_ptr_nonnull(strstr(all.text[1], "|A=2|faulted, but not when it ran alone|1|free"));
    ck_assert_ptr_nonnull(strstr(all.text[2], "|A=3|faulted, but not when it ran alone, crashed the worker|2|quarantined"));
    ck_assert_ptr_nonnull(strstr(all.text[3], "|A=4|crashed the worker|1|free"));
    ck_assert_int_eq(list(store, &mine).count, 3);
    ck_assert_int_eq(list(store, &other).count, 0);
    ck_assert_int_eq(list(store, &no_shape).count, 0);
    ck_fails(mt_query_strikes(store, NULL, refuse, NULL, &fixture_err), MT_ERR_USAGE, "enough: A=1");
    mt_store_close(store);
}
END_TEST

START_TEST(lifts_what_was_listed)
{
    mt_store *store = fixture_open();
    mt_subject s = fixture_subject(store);
    int64_t lifted;
    ck_ok(mt_store_strike(store, &s, "A=1", "fault", &fixture_err));
    ck_ok(mt_store_strike(store, &s, "A=2", "timeout", &fixture_err));
    seen all = list(store, NULL);
    ck_ok(mt_store_lift_strikes(store, &all.subject[1], "A=2", &lifted, &fixture_err));
    ck_assert_int_eq(lifted, 1);
    all = list(store, NULL);
    ck_assert_int_eq(all.count, 1);
    ck_assert_ptr_nonnull(strstr(all.text[0], "|A=1|"));
    ck_ok(mt_store_strike(store, &s, "A=2", "timeout", &fixture_err)); /* it did it again */
    ck_assert_int_eq(list(store, NULL).count, 2);
    mt_store_close(store);
}
END_TEST

static mt_status count_known(void *context, const char *variant, mt_outcome_kind kind, double median_ns, double norm_error, const char *text, mt_error *err)
{
    (void)variant, (void)kind, (void)median_ns, (void)norm_error, (void)text, (void)err;
    ++*(int *)context;
    return MT_OK;
}

/* Who asks, asks for points of his space only: a row that says one was excluded is of another text of the space, or of an older recording. */
START_TEST(what_was_excluded_is_tried)
{
    mt_store *store = fixture_open();
    mt_subject measured = fixture_subject(store), replayed = measured;
    replayed.origin = MT_ORIGIN_RECORDED;
    int64_t session = fixture_session(store);
    int count = 0;
    static const mt_outcome_kind kinds[] = {MT_OUTCOME_EXCLUDED, MT_OUTCOME_NOT_RECORDED, MT_OUTCOME_COMPILER_KILLED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        mt_outcome not_run = fixture_outcome(kinds[i], 1);
        fixture_put(store, session, &measured, "A=1", &not_run);
        fixture_put(store, session, &replayed, "A=1", &not_run);
    }
    ck_ok(mt_store_known(store, &measured, MT_REUSE_ANY, count_known, &count, &fixture_err));
    ck_assert_int_eq(count, 0);
    ck_ok(mt_store_known(store, &replayed, MT_REUSE_ANY, count_known, &count, &fixture_err));
    ck_assert_int_eq(count, 0);
    mt_store_close(store);
}
END_TEST

FIXTURE_MAIN("store_strike", lists_and_filters, lifts_what_was_listed, what_was_excluded_is_tried)
