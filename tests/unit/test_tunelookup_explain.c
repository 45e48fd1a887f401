/* What libtunelookup says where it can't answer or knows little: GPU keys, device facts, names and values, damaged rows. */
#include "db/row_rules.h"
#include "tests/unit/lookup_fixture.h"

static const int64_t asked[] = { 64, 3, 5 }; /* N, H[0], H[1] */

static tunelookup_db *open_db(unsigned flags)
{
    tunelookup_db *db = NULL;
    ck_lookup(tunelookup_open(fixture_db, flags, &db));
    return db;
}

static tunelookup_result find(tunelookup_db *db, const tunelookup_device *device)
{
    tunelookup_plan *plan = NULL;
    tunelookup_result r;
    ck_lookup(tunelookup_prepare(db, device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_lookup(tunelookup_find(plan, asked, &r));
    return r;
}

static void ck_says(const tunelookup_result *r, const char *part)
{
    ck_assert_msg(strstr(lookup_explain(r), part) != NULL, "no \"%s\" in: %s", part, lookup_explain(r));
}

static void ck_silent(const tunelookup_result *r, const char *part)
{
    ck_assert_msg(strstr(lookup_explain(r), part) == NULL, "\"%s\" in: %s", part, lookup_explain(r));
}

/* ---- the GPU's key ---- */

/* The key is the row's, not one made of the caller's zeros. */
START_TEST(test_key_of_the_row)
{
    tunelookup_device device = lookup_h100;
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    device.sm_count = device.mem_bytes = 0;
    tunelookup_result r = find(db, &device);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_says(&r, "exact:    tuned for h100-sxm|cc90|sm132|80g and this shape");
    tunelookup_close(db);
}
END_TEST

START_TEST(test_key_as_far_as_known)
{
    static const struct { int64_t sm_count, mem_bytes; const char *key; } cases[] = {
        { 0, 0, "tuned on a100-sxm|cc80;" }, { 108, 0, "tuned on a100-sxm|cc80|sm108;" }, { 0, 85017755648, "tuned on a100-sxm|cc80|80g;" },
        { 108, 85017755648, "tuned on a100-sxm|cc80|sm108|80g;" },
    };
    tunelookup_device device = lookup_h100;
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    device.name = "NVIDIA A100-SXM4-80GB";
    device.cc = 80;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        device.sm_count = cases[i].sm_count;
        device.mem_bytes = cases[i].mem_bytes;
        tunelookup_result r = find(db, &device);
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
        ck_says(&r, cases[i].key);
        ck_says(&r, "winners on: h100-sxm|cc90|sm132|80g\n");
    }
    tunelookup_close(db);
}
END_TEST

START_TEST(test_key_in_the_miss_file)
{
    char path[192], text[4096] = "";
    tunelookup_device device = lookup_h100;
    tunelookup_plan *plan;
    tunelookup_result r;
    lookup_one_row();
    tunelookup_db *db = open_db(TUNELOOKUP_COUNT_MISSES);
    device.sm_count = device.mem_bytes = 0;
    ck_lookup(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 1, 2, 3 }, &r));
    device.name = "NVIDIA H200";
    ck_lookup(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_lookup(tunelookup_find(plan, asked, &r));
    snprintf(path, sizeof path, "%s/misses.jsonl", fixture_folder);
    ck_lookup(tunelookup_flush_misses(db, path));
    FILE *file = fopen(path, "r");
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_msg(strstr(text, "\"gpu\":\"h100-sxm|cc90|sm132|80g\"") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "\"gpu\":\"h200|cc90\"") != NULL, "%s", text);
    tunelookup_close(db);
}
END_TEST

/* ---- device facts ---- */

START_TEST(test_nonsense_facts)
{
    tunelookup_device device = lookup_h100;
    tunelookup_plan *plan;
    lookup_one_row();
    tunelookup_db *db = open_db(0);
#define REFUSED(part) ck_lookup_fails(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_ARGUMENT, part)
    int64_t *const facts[] = { &device.sm_count, &device.smem_optin, &device.smem_per_sm, &device.smem_reserved, &device.regs_per_sm, &device.threads_per_sm,
                               &device.blocks_per_sm, &device.max_cluster, &device.l2_bytes, &device.mem_bytes, &device.clock_mhz, &device.driver_version };
    static const char *const names[] = { "sm_count", "smem_optin", "smem_per_sm", "smem_reserved", "regs_per_sm", "threads_per_sm", "blocks_per_sm", "max_cluster",
                                         "l2_bytes", "mem_bytes", "clock_mhz", "driver_version" };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        int64_t sound = *facts[i];
        char part[64];
        snprintf(part, sizeof part, "device.%s is -1, expected 0 (not known) to", names[i]);
        *facts[i] = -1;
        REFUSED(part);
        snprintf(part, sizeof part, "device.%s is 9223372036854775807", names[i]);
        *facts[i] = INT64_MAX;
        REFUSED(part);
        *facts[i] = sound;
    }
    device.cc = 9;
    REFUSED("device.cc is 9, expected 10 (90 for 9.0)");
    device.name = "";
    device.l2_bytes = -5;
    REFUSED("device.name is missing"); /* and in the same breath: */
    ck_assert_ptr_nonnull(strstr(tunelookup_detail(), "device.cc is 9"));
    ck_assert_ptr_nonnull(strstr(tunelookup_detail(), "device.l2_bytes is -5"));
    tunelookup_close(db);
}
END_TEST

/* Facts that expressions read and the caller did not give: all of them, not the first. */
START_TEST(test_missing_facts_at_once)
{
    char spec[sizeof lookup_spec + 64];
    const char *at = strstr(lookup_spec, "$N 1000000 <=");
    tunelookup_device device = lookup_h100;
    snprintf(spec, sizeof spec, "%.*s$N $device.sm_count <=%s", (int)(at - lookup_spec), lookup_spec, at + strlen("$N 1000000 <="));
    lookup_writer w = lookup_begin(spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(db, &device);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_silent(&r, "missing:");
    device.sm_count = device.smem_optin = device.l2_bytes = 0; /* nothing reads the last */
    r = find(db, &device);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NONE);
    ck_says(&r, "constraint small can't be decided here: needs device.sm_count, which the caller did not give");
    ck_says(&r, "missing:  device.sm_count, device.smem_optin: read by the kernel's expressions and not given by the caller\n");
    tunelookup_close(db);
}
END_TEST

/* ---- values and counts ---- */

START_TEST(test_unknown_string)
{
    tunelookup_plan *plan;
    tunelookup_result r;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_put(&w, "H=3,5;N=65;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_put(&w, "H=3,5;N=64;dtype=bf16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "dtype=zzz" }, 4, &plan));
    ck_lookup(tunelookup_find(plan, asked, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NONE);
    ck_says(&r, "unknown:  dtype=zzz is in no stored shape; known are: ");
    ck_assert(strstr(lookup_explain(&r), "known are: f16, bf16\n") || strstr(lookup_explain(&r), "known are: bf16, f16\n"));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "H[2]", "dtype=f16" }, 5, &plan));
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 64, 3, 5, 7 }, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT); /* a list's length, as a number, is no string: it need not be known */
    ck_says(&r, "no shape like this was tuned");
    ck_says(&r, "3 rows there are of other strings or list lengths");
    ck_assert_ptr_null(strstr(lookup_explain(&r), "in no stored shape"));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "dtype=f16", "workload=defualt" }, 5, &plan));
    ck_lookup(tunelookup_find(plan, asked, &r));
    ck_says(&r, "known workloads: default\n");
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "dtype=f16", "workload=default" }, 5, &plan));
    ck_lookup(tunelookup_find(plan, asked, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_ARGUMENT, "the kernel's name is empty");
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "@00112233445566778899aabbccddeeff", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_ARGUMENT, "the kernel's name is empty");
    tunelookup_close(db);
}
END_TEST

/* ---- damaged rows ---- */

/* Columns that hold what no tuner writes: such a row is never returned, and explain counts it. A row that is left out does not hide one that is sound. */
START_TEST(test_damaged_rows)
{
    static const char *const updates[] = {
        "median_ns = 'abc'", "median_ns = -5", "median_ns = 0", "median_ns = 9e999", "median_ns = NULL", "median_ns = x'00'", "low_ns = -1", "low_ns = -9e999", "low_ns = 'x'",
        "high_ns = 9e999", "high_ns = -3", "norm_error = -0.1", "norm_error = 'small'", "norm_error = 9e999", "variant_id = 1.5", "variant_id = 'one'", "variant_id = -1",
        "workload_id = 1.5", "workload_id = x'01'", "measurement_id = 'm'", "toolchain_id = 2.5", "created_unix_ms = 'now'", "created_unix_ms = -1", "shape_name = x'41'",
        "cubin_hash = x'41'", "carveouts = x'41'", "origin = x'6d65617375726564'", "regime = x'636f6c64'", "shape_key = CAST(shape_key AS BLOB)", "regime = 'foo'",
        "carveouts = '999,abc'", "carveouts = '50,abc'", "carveouts = '50,'", "carveouts = '101'", "carveouts = '50;50'",
    };
    lookup_one_row();
    fixture_sql("CREATE TABLE sound AS SELECT * FROM answer");
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "DELETE FROM answer; INSERT INTO answer SELECT * FROM sound; UPDATE answer SET %s", updates[i]);
        fixture_sql(sql);
        tunelookup_db *db = open_db(0);
        tunelookup_result r = find(db, &lookup_h100);
        ck_assert_msg(r.match == TUNELOOKUP_MATCH_DEFAULT, "%s: %s", updates[i], lookup_explain(&r));
        ck_says(&r, "note:     1 damaged row is left out");
        ck_says(&r, strncmp(updates[i], "shape_key", 9) == 0 ? "no shape like this was tuned on" : "the row of this GPU and shape is left out, as it or what it refers to is damaged: row 1 of answer: ");
        tunelookup_close(db);
    }
    fixture_sql("DELETE FROM answer; INSERT INTO answer SELECT * FROM sound; UPDATE answer SET low_ns = NULL, high_ns = NULL, norm_error = NULL, carveouts = NULL, cubin_hash = NULL");
    static const char *const toolchains[] = { "nvrtc_version = 'new'", "nvrtc_version = -13000", "nvrtc_version = 1.5", "driver_version = 1000000", "driver_version = x'31'" };
    for (size_t i = 0; i < sizeof toolchains / sizeof *toolchains; i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "UPDATE toolchain SET nvrtc_version = 13000, driver_version = 13000; UPDATE toolchain SET %s", toolchains[i]);
        fixture_sql(sql);
        tunelookup_db *damaged = open_db(0);
        tunelookup_result none = find(damaged, &lookup_h100);
        ck_assert_msg(none.match == TUNELOOKUP_MATCH_DEFAULT, "%s: %s", toolchains[i], lookup_explain(&none));
        ck_says(&none, "note:     1 damaged row is left out");
        ck_says(&none, "the row of this GPU and shape is left out, as it or what it refers to is damaged: row 1 of toolchain: its versions are damaged");
        tunelookup_close(damaged);
    }
    fixture_sql("UPDATE toolchain SET nvrtc_version = 0, driver_version = 13000");
    fixture_sql("UPDATE answer SET carveouts = '-1,28'");
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(db, &lookup_h100); /* what may be missing may be missing */
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert(isnan(r.norm_error) && isnan(r.low_ns) && r.median_ns == 1000);
    tunelookup_close(db);
}
END_TEST

/* ---- what answers rest on ---- */

static mt_status count_winner(void *context, const mt_measurement_row *row, mt_error *err)
{
    (void)row, (void)err;
    ++*(int *)context;
    return MT_OK;
}

/* As `show` has it. */
static int winners(void)
{
    mt_store *store = NULL;
    int count = 0;
    fixture_stderr_begin();
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
    ck_ok(mt_query_best(store, NULL, count_winner, &count, &fixture_err));
    mt_store_close(store);
    fixture_stderr_end();
    return count;
}

/* A row of `table` is damaged: the lookup answers from it where the tool still shows a winner, and nowhere else. */
static void expect_as_shown(const char *table, const char *damage, int *left_out)
{
    char sql[512];
    snprintf(sql, sizeof sql, "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; CREATE TABLE kept AS SELECT * FROM %s; %s", table, damage);
    fixture_sql(sql);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
    tunelookup_result r = { .match = TUNELOOKUP_MATCH_NONE };
    bool is_prepared = tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan) == TUNELOOKUP_OK;
    if (is_prepared) ck_lookup(tunelookup_find(plan, (const int64_t[]){ 64, 3, 5 }, &r));
    bool is_shown = winners() == 1, is_exact = r.match == TUNELOOKUP_MATCH_EXACT;
    *left_out += !is_shown;
    ck_assert_msg(is_exact == is_shown, "%s: exact %d, shown %d: %s", damage, is_exact, is_shown, is_prepared ? lookup_explain(&r) : tunelookup_detail());
    if (is_prepared && !is_exact && strcmp(table, "device") != 0 && !strstr(damage, " kernel_id = ") && !strstr(damage, "answer")) ck_says(&r, "note:     1 damaged row is left out");
    tunelookup_close(db);
    snprintf(sql, sizeof sql, "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; DELETE FROM %s; INSERT INTO %s SELECT * FROM kept; DROP TABLE kept", table, table);
    fixture_sql(sql);
}

START_TEST(test_what_answers_rest_on)
{
    static const char *const tables[] = { "measurement", "subject", "session", "variant", "workload", "toolchain", "best" };
    static const char *const values[] = { "-1", "9e999", "'okay'", "x'00ff'", "NULL" };
    int left_out = 0, tried = 0;
    lookup_one_row();
    ck_assert_int_eq(winners(), 1);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        char damage[256];
        size_t count;
        const mt_row_column *columns = mt_row_columns(tables[t], &count);
        snprintf(damage, sizeof damage, "DELETE FROM %s", tables[t]);
        expect_as_shown(tables[t], damage, &left_out);
        for (size_t i = 0; i < count * (sizeof values / sizeof *values); i++) {
            const mt_row_column *column = &columns[i % count];
            const char *value = values[i / count];
            bool is_name = column->kind == MT_ROW_NAME || column->kind == MT_ROW_LINE || column->kind == MT_ROW_LABEL || column->kind == MT_ROW_SHORT || column->kind == MT_ROW_VARIANT;
            if (strcmp(column->name, "subject_id") == 0 && column->kind == MT_ROW_ID && strcmp(tables[t], "best") == 0 && *value != '-') continue; /* the row's number */
            if ((is_name && *value != 'x') || (column->is_required && *value == 'N')) continue; /* another name is no damage; the schema refuses no value at all */
            snprintf(damage, sizeof damage, "UPDATE OR IGNORE %s SET %s = %s", tables[t], column->name, value);
            expect_as_shown(tables[t], damage, &left_out);
            tried++;
        }
    }
    expect_as_shown("measurement", "UPDATE measurement SET outcome = 'censored'; DELETE FROM best", &left_out);
    ck_assert_int_gt(tried, 150);
    ck_assert_int_gt(left_out, tried / 2);
}
END_TEST

/* One subject, whose two variants a final compared, and another. */
static void tune_with_final(void)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    mt_final_row final = { .method = "interleaved", .rounds = 3, .confidence = 0.95 };
    mt_finalist_row rows[2] = { { .measurement = 2, .median_ns = 1001, .low_ns = 1000, .high_ns = 1002, .ratio = 1, .ratio_low = 1, .ratio_high = 1, .is_tied = true, .is_picked = true },
                                { .measurement = 3, .median_ns = 1010, .low_ns = 1009, .high_ns = 1011, .ratio = 1.01, .ratio_low = 1, .ratio_high = 1.02, .is_tied = true } };
    remove(fixture_db);
    lookup_end(&w);
    w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=32;dtype=f16", "default", "ALGO=plain;B=32", 1000);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=64", 1010);
    ck_ok(mt_store_final(w.store, w.session, &w.subject, &final, rows, 2, &fixture_err));
    ck_ok(mt_store_refresh_best(w.store, &w.subject, &fixture_err));
    lookup_end(&w);
}

/* Rows that each keep the rules, and say what others contradict: the tool names them and does not show them, the lookup does not answer from them. */
START_TEST(test_contradictions)
{
    static const struct { const char *sql, *told; bool is_shown; } cases[] = {
        { "UPDATE subject SET regime = regime", NULL, true },
        { "UPDATE best SET measurement_id = 3 WHERE subject_id = 2", "row 2 of best is left out: row 1 of final_round: its pick is another measurement", false },
        { "UPDATE best SET measurement_id = 1, final_id = NULL WHERE subject_id = 2", "row 2 of best is left out: row 1 of measurement: it is of another subject", false },
        { "UPDATE best SET measurement_id = 3, final_id = NULL WHERE subject_id = 2", "row 2 of answer is left out: row 2 of best: another measurement is the winner", true },
        { "UPDATE finalist SET median_ns = 15000, low_ns = 15000, high_ns = 15000 WHERE picked", "row 1 of finalist is left out: row 1 of final_round: its finalist has a median_ns that its measurement contradicts", false },
        { "UPDATE finalist SET median_ns = 2000, low_ns = 2000, high_ns = 2000 WHERE picked; UPDATE answer SET median_ns = 2000 WHERE subject_id = 2", "its pick is far slower than another finalist", false },
        { "UPDATE final_round SET subject_id = 1", "it is of another subject than its finalist", false },
        { "UPDATE finalist SET measurement_id = 1 WHERE picked", "it is of another subject", false },
        { "UPDATE measurement SET outcome = 'wrong_result' WHERE id = 2", "its outcome is not ok", false },
        { "UPDATE answer SET median_ns = 500, low_ns = NULL, high_ns = NULL WHERE subject_id = 2", "row 2 of answer is left out: row 2 of answer: its median_ns is neither its measurement's nor its final's", true },
        { "UPDATE answer SET variant_id = 1 WHERE subject_id = 2", "row 2 of answer is left out: row 2 of measurement: it is of another variant", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tune_with_final();
        fixture_sql("PRAGMA foreign_keys = OFF");
        fixture_sql(cases[i].sql);
        mt_store *store = NULL;
        int count = 0;
        fixture_stderr_begin();
        ck_ok(mt_store_open(fixture_db, MT_STORE_READ_ONLY, &store, &fixture_err));
        ck_ok(mt_query_best(store, NULL, count_winner, &count, &fixture_err));
        mt_store_close(store);
        const char *said = fixture_stderr_end();
        ck_assert_msg(cases[i].told ? strstr(said, cases[i].told) != NULL : !*said, "%s: %s", cases[i].sql, said);
        ck_assert_msg(count == 1 + cases[i].is_shown, "%s: %d winners", cases[i].sql, count);
        tunelookup_db *db = open_db(0);
        tunelookup_result r = find(db, &lookup_h100);
        ck_assert_msg((r.match == TUNELOOKUP_MATCH_EXACT) == !cases[i].told, "%s: %s", cases[i].sql, lookup_explain(&r));
        if (!cases[i].told) ck_assert(r.median_ns == 1001);
        tunelookup_close(db);
    }
}
END_TEST

/* A value that is longer than SQLite may read takes its row with it, wherever it stands, and no other. */
START_TEST(test_values_without_end)
{
    static const char *const updates[] = { "answer SET shape_name", "measurement SET samples", "session SET warnings", "variant SET text" };
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        char sql[300];
        remove(fixture_db);
        lookup_one_row();
        lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
        lookup_put(&w, "H=3,5;N=32;dtype=f16", "default", "ALGO=plain;B=64", 1000);
        lookup_put(&w, "H=3,5;N=128;dtype=f16", "default", "ALGO=plain;B=32", 1000);
        lookup_end(&w);
        snprintf(sql, sizeof sql, "PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON; UPDATE %s = CAST(zeroblob(17000000) AS TEXT) WHERE %s = 2", updates[i], updates[i][0] == 'a' ? "subject_id" : "id");
        fixture_sql(sql);
        tunelookup_db *db = open_db(0);
        tunelookup_plan *plan;
        tunelookup_result r;
        ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
        for (int64_t n = 32; n <= 128; n *= 2) {
            ck_lookup(tunelookup_find(plan, (const int64_t[]){ n, 3, 5 }, &r));
            bool is_out = n == 32 || (n == 128 && strncmp(updates[i], "session", 7) == 0); /* of which both are */
            ck_assert_msg((r.match == TUNELOOKUP_MATCH_EXACT) != is_out, "%s, N=%d: %s", updates[i], (int)n, lookup_explain(&r));
            if (is_out) ck_says(&r, "a value is longer than 16 MiB");
        }
        tunelookup_close(db);
    }
}
END_TEST

/* ---- detail ---- */

/* The words of a failure do not outlive the next success. */
START_TEST(test_detail_of_the_last_call)
{
    tunelookup_plan *plan;
    int64_t number;
    const char *text;
    tunelookup_launch_info launch;
    tunelookup_arg_info arg;
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(db, &lookup_h100);
#define CLEARS(call)                                                                       \
    do {                                                                                   \
        ck_lookup_fails(tunelookup_param(&r, "NO", &number), TUNELOOKUP_ERR_NOT_FOUND, "NO"); \
        ck_lookup(call);                                                                   \
        ck_assert_str_eq(tunelookup_detail(), "");                                         \
    } while (0)
    CLEARS(tunelookup_param(&r, "B", &number));
    CLEARS(tunelookup_param_text(&r, "ALGO", &text));
    CLEARS(tunelookup_launch(&r, 0, &launch));
    CLEARS(tunelookup_arg(&r, 0, &arg));
    CLEARS(tunelookup_refresh(db));
    CLEARS(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
    tunelookup_close(db);
    ck_lookup_fails(tunelookup_open("", 0, &db), TUNELOOKUP_ERR_ARGUMENT, "empty");
    ck_lookup(tunelookup_open(fixture_db, 0, &db));
    ck_assert_str_eq(tunelookup_detail(), "");
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_explain", test_key_of_the_row, test_key_as_far_as_known, test_key_in_the_miss_file, test_nonsense_facts, test_missing_facts_at_once, test_unknown_string,
             test_damaged_rows, test_what_answers_rest_on, test_contradictions, test_values_without_end, test_detail_of_the_last_call)
