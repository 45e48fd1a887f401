/* Several tasks on one space: parts of it, islands that know what others found, and starting again. */
#include "tests/unit/session_fixture.h"

static mt_store *stores[4];

static void open_parts(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[128];
        mt_error err = {0};
        snprintf(path, sizeof path, "%s/part-%zu.sqlite", folder, i + 1);
        ck_assert_msg(mt_store_open(path, MT_STORE_READ_WRITE, &stores[i], &err) == MT_OK && mt_store_relax(stores[i], &err) == MT_OK, "%s", err.message);
    }
}

static void close_parts(size_t count)
{
    for (size_t i = 0; i < count; i++) mt_store_close(stores[i]);
}

/* Tunes HUNDRED into another store than the fixture's. */
static void tune_into(mt_store *part, const char *keys)
{
    mt_store *own = store;
    store = part;
    tune_ok(keys, HUNDRED);
    store = own;
}

START_TEST(parts_are_disjoint)
{
    size_t points = 0;
    open_parts(3);
    for (size_t i = 0; i < 3; i++) {
        params.shard = (mt_shard){i, 3};
        tune_into(stores[i], "strategy = exhaustive\n");
        points += last.evaluated;
        ck_assert_uint_eq(last.known, 0);
        ck_assert_uint_eq(totals, last.evaluated);
        ck_assert_int_eq(scalar(stores[i], "SELECT count(*) FROM variant v WHERE v.id IN (SELECT variant_id FROM measurement)"), (int64_t)last.evaluated);
    }
    ck_assert_uint_eq(points, 100); /* the default point is one shard's too */
    /* Started again, nothing is left to do. */
    tune_into(stores[2], "strategy = exhaustive\n");
    ck_assert_uint_eq(last.measured, 0);
    ck_assert_uint_eq(evaluator.starts, 0);
    close_parts(3);
}
END_TEST

/* A budget that covers the part makes "auto" exhaustive for all parts alike; a smaller one for none. */
START_TEST(automatic_covers_parts)
{
    open_parts(2);
    params.shard = (mt_shard){1, 3};
    params.budget = 34;
    params.budget_given = true;
    tune_into(stores[0], "");
    ck_assert_uint_eq(last.evaluated, 33);
    params.budget = 33;
    tune_into(stores[1], "");
    ck_assert_uint_eq(last.evaluated, 33);
    ck_assert_int_gt(scalar(stores[1], "SELECT count(*) FROM measurement m JOIN variant v ON v.id = m.variant_id WHERE m.evaluation = 1 AND v.text LIKE 'A=5;%'"), 0); /* an island begins with the default point */
    close_parts(2);
}
END_TEST

/* Rows of other parts in one's own database neither count nor stop anything. */
START_TEST(other_parts_do_not_count)
{
    open_parts(1);
    params.shard = (mt_shard){0, 2};
    tune_into(stores[0], "strategy = exhaustive\n");
    params.shard = (mt_shard){1, 2};
    tune_into(stores[0], "strategy = exhaustive\n");
    ck_assert_uint_eq(last.measured, 50);
    ck_assert_uint_eq(last.known, 0);
    ck_assert_int_eq(scalar(stores[0], "SELECT count(DISTINCT variant_id) FROM measurement"), 100);
    close_parts(1);
}
END_TEST

START_TEST(islands_share_what_is_known)
{
    open_parts(2);
    params.shard = (mt_shard){0, 2};
    params.strategy = "local";
    params.budget = 30;
    params.budget_given = true;
    tune_into(stores[0], "");
    ck_assert_uint_eq(last.measured, 30);
    params.shard = (mt_shard){1, 2};
    params.shared = stores[0];
    tune_into(stores[1], "");
    ck_assert_uint_eq(last.known, 30); /* and they do not eat up the budget */
    ck_assert_uint_eq(last.measured, 30);
    ck_assert_int_eq(scalar(stores[1], "SELECT count(*) FROM measurement"), 30); /* what others measured stays theirs */
    /* Started again when the merged file knows the island's own rows as well: they are its own, and it is done. */
    tune_into(stores[1], "");
    ck_assert_uint_eq(last.known, 60);
    ck_assert_uint_eq(last.measured, 0);
    close_parts(2);
}
END_TEST

START_TEST(parts_skip_what_is_shared)
{
    open_parts(2);
    params.budget = 40;
    params.budget_given = true;
    tune_into(stores[0], "strategy = random\n");
    params.shard = (mt_shard){0, 2};
    params.shared = stores[0];
    params.budget = 0;
    params.budget_given = false;
    tune_into(stores[1], "strategy = exhaustive\n");
    ck_assert_uint_eq(last.evaluated, 50);
    ck_assert_uint_gt(last.known, 5);
    ck_assert_uint_lt(last.known, 40);
    close_parts(2);
}
END_TEST

/* More tasks than points: some have nothing to do, which is no failure. */
START_TEST(empty_part)
{
    mt_error err = {0};
    size_t evaluated = 0;
    for (size_t i = 0; i < 16; i++) {
        params.shard = (mt_shard){i, 16};
        ck_assert_msg(tune("strategy = exhaustive\n", TEN, &err) == MT_OK, "%s", err.message);
        evaluated += last.measured;
    }
    ck_assert_uint_eq(evaluated, 10);
    ck_assert_int_eq(rows(), 10);
}
END_TEST

START_TEST(batch_jobs_are_named)
{
    setenv("SLURM_JOB_ID", "4714", 1);
    tune_ok("strategy = exhaustive\n", TEN);
    setenv("SLURM_ARRAY_JOB_ID", "4711", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    tune_ok("strategy = exhaustive\n", TEN);
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_ARRAY_JOB_ID");
    tune_ok("strategy = exhaustive\n", TEN);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE id = 1 AND job = 'slurm 4714'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE id = 2 AND job = 'slurm 4711_3'"), 1);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM session WHERE id = 3 AND job IS NULL"), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {parts_are_disjoint, automatic_covers_parts, other_parts_do_not_count, islands_share_what_is_known, parts_skip_what_is_shared, empty_part, batch_jobs_are_named};
    TCase *group = tcase_create("session shards");
    tcase_add_checked_fixture(group, set_up, tear_down);
    return unit_run_group("session shards", group, tests, sizeof tests / sizeof *tests);
}
