/* What a session leaves for the lookup library: the kernel's programs and the winner's cubin. */
#include "include/tunelookup.h"
#include "tests/unit/session_fixture.h"
#include "tuner/space/spec/spec_json.h"

static tunelookup_status ask_cubin(unsigned flags, const void **data, size_t *size, tunelookup_db **db)
{
    static const char *const names[] = {"N"};
    static const int64_t values[] = {64};
    mt_device_facts facts = toy_facts();
    tunelookup_device device = {.struct_size = sizeof device, .name = facts.name, .cc = facts.cc, .sm_count = facts.sm_count, .smem_optin = facts.smem_optin, .driver_version = 13000};
    tunelookup_plan *plan = NULL;
    tunelookup_result found;
    ck_assert_msg(tunelookup_open(mt_store_path(store), flags, db) == TUNELOOKUP_OK, "%s", tunelookup_detail());
    ck_assert_msg(tunelookup_prepare(*db, &device, "toy", names, 1, &plan) == TUNELOOKUP_OK, "%s", tunelookup_detail());
    ck_assert_int_eq(tunelookup_find(plan, values, &found), TUNELOOKUP_OK);
    ck_assert_int_eq(found.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_str_eq(found.variant, "A=10;ALGO=plain");
    return tunelookup_cubin(&found, data, size);
}

/* What the session keeps of the winner is what the lookup library hands out, under its rules of trust. */
START_TEST(winners_cubin_is_kept)
{
    mt_error err = {0};
    char *bytes = NULL;
    const void *data = NULL;
    size_t length, size = 0;
    tunelookup_db *db = NULL;
    set_up();
    snprintf(evaluator.cubin, sizeof evaluator.cubin, TEST_DATA_DIR "/fake/o.cubin");
    ck_assert_int_eq(mt_file_read(evaluator.cubin, 0, &bytes, &length, &err), MT_OK);
    evaluator.cubin_hash = mt_hash_bytes(bytes, length);
    tune_ok("", TEN);
    ck_assert_int_eq(scalar(store, "SELECT count(*) FROM cubin"), 1);
    ck_assert_int_eq(ask_cubin(0, &data, &size, &db), TUNELOOKUP_ERR_CUBIN_NOT_ALLOWED);
    tunelookup_close(db);
    ck_assert_msg(ask_cubin(TUNELOOKUP_USER_CUBINS, &data, &size, &db) == TUNELOOKUP_OK, "%s", tunelookup_detail());
    ck_assert_uint_eq(size, length);
    ck_assert_mem_eq(data, bytes, length);
    tunelookup_close(db);
    mt_free(bytes);
    tear_down();
}
END_TEST

/* The session writes what the lookup evaluates; where an older tool or an import left nothing, too. */
START_TEST(programs_are_kept)
{
    sqlite3 *db = NULL;
    char *sql;
    set_up();
    mt_spec *spec = toy_spec("", TEN);
    char *programs = mt_spec_json(spec);
    mt_spec_free(spec);
    sql = sqlite3_mprintf("SELECT count(*) FROM kernel WHERE spec_json = %Q", programs);
    tune_ok("", TEN);
    ck_assert_int_eq(scalar(store, sql), 1);
    ck_assert_int_eq(sqlite3_open(mt_store_path(store), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE kernel SET spec_json = '{}'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    tune_ok("", TEN);
    ck_assert_int_eq(scalar(store, sql), 1);
    ck_assert_int_eq(rows(), 10);
    sqlite3_free(sql);
    mt_free(programs);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_lookup");
    TCase *group = tcase_create("session_lookup");
    tcase_add_test(group, winners_cubin_is_kept);
    tcase_add_test(group, programs_are_kept);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
