/* Merging: a part that is damaged, or no part, is refused by its name and leaves nothing. */
#include "tests/unit/merge_fixture.h"
#include "tuner/base/strbuf.h"

static void expect_refused(const char *path, mt_status status, const char *part)
{
    mt_store *store = NULL;
    ck_ok(mt_store_open(out_path("refusing"), MT_STORE_READ_WRITE, &store, &fixture_err));
    mt_store_close(store);
    int64_t oldest = 0;
    ck_fails(mt_merge_check(merge_out, path, &(mt_merge_expectation){0}, &oldest, &fixture_err), status, part);
}

START_TEST(refused_files)
{
    char path[192];
    make_part(0);
    fixture_sql("PRAGMA user_version = 999");
    expect_refused(part_path(0), MT_ERR_DB, "newer msda-tune");
    snprintf(path, sizeof path, "%s/text", fixture_folder);
    FILE *file = fopen(path, "w");
    fputs("this is no database, and long enough to be told so by its first bytes: 0123456789012345678901234567890123456789", file);
    fclose(file);
    expect_refused(path, MT_ERR_DB, "is not an SQLite database");
    snprintf(path, sizeof path, "%s/other.sqlite", fixture_folder);
    use_db(path);
    fixture_sql("CREATE TABLE t (x)");
    expect_refused(path, MT_ERR_DB, "another program");
    snprintf(path, sizeof path, "%s/nowhere.sqlite", fixture_folder);
    expect_refused(path, MT_ERR_NOT_FOUND, "no such database");
    expect_refused(out_path("refusing"), MT_ERR_USAGE, "merged into");
}
END_TEST

/* A row that refers to nothing is left out, with what refers to it; the others are merged. */
START_TEST(rows_that_refer_to_nothing)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    make_part(1);
    fixture_sql("PRAGMA foreign_keys = OFF; DELETE FROM toolchain");
    mt_merge *merging = begin(out_path("out"), false, &store);
    fixture_stderr_begin();
    ck_ok(merge_file(merging, merge_out, part_path(1), &counts));
    ck_assert_ptr_nonnull(strstr(fixture_stderr_end(), "part1.sqlite: row 1 of measurement is left out: it refers to row 1 of toolchain, which is not there"));
    finish(merging, store);
    use_db(merge_out);
    ck_assert_int_eq(counts.measurements, 0);
    ck_assert_int_ge(counts.rows_left_out, 8); /* seven measurements, a finalist */
    ck_assert_int_eq(fixture_number("SELECT count(*) FROM session"), 1);
}
END_TEST

/* Numbers of rows that no tuner gives, in either database. */
START_TEST(odd_numbers_of_rows)
{
    for (int i = 0; i < 2; i++) {
        mt_store *store = NULL;
        mt_merge_counts counts = {0};
        remove(part_path(1));
        make_part(1);
        fixture_sql("PRAGMA foreign_keys = OFF; UPDATE kernel SET id = -id; UPDATE subject SET kernel_id = -kernel_id; UPDATE shape SET kernel_id = -kernel_id; UPDATE variant SET kernel_id = -kernel_id;"
                    "UPDATE workload SET kernel_id = -kernel_id; UPDATE answer SET kernel_id = -kernel_id");
        remove(part_path(2));
        make_part(2);
        fixture_stderr_begin();
        mt_merge *merging = begin(part_path(1 + i), false, &store);
        ck_ok(merge_file(merging, part_path(1 + i), part_path(2 - i), &counts));
        ck_ok(mt_merge_finish(merging, &fixture_err));
        mt_merge_end(merging);
        mt_store_close(store);
        fixture_stderr_end();
    }
}
END_TEST

/* ---- a part whose bytes were changed ---- */

static size_t read_bytes(const char *path, unsigned char *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t count = fread(bytes, 1, capacity, file);
    fclose(file);
    ck_assert_uint_lt(count, capacity);
    return count;
}

static void write_bytes(const char *path, const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* A part as one file. */
static size_t sealed_part(int i, unsigned char *bytes, size_t capacity)
{
    make_part(i);
    mt_store *store = fixture_open();
    ck_ok(mt_store_seal(store, &fixture_err));
    mt_store_close(store);
    return read_bytes(part_path(i), bytes, capacity);
}

/* What a part says of variants, once it is merged. */
typedef struct meaning {
    char *text;
    double medians[64];
    int count;
    int64_t left_out; /* rows that were named */
} meaning;

static mt_status meaning_of(const char *path, meaning *is)
{
    mt_store *store = NULL;
    mt_merge_counts counts = {0};
    mt_strbuf text = {0};
    remove(out_path("meaning"));
    mt_merge *merging = begin(merge_out, false, &store);
    mt_status st = merge_file(merging, out_path("meaning"), path, &counts);
    finish(merging, store);
    *is = (meaning){.left_out = counts.rows_left_out};
    if (st != MT_OK) return st;
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open_v2(merge_out, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT k.key || h.key || d.key || v.text || m.outcome AS line, m.median_ns FROM measurement m JOIN variant v ON v.id = m.variant_id "
                                            "JOIN subject s ON s.id = m.subject_id JOIN kernel k ON k.id = s.kernel_id JOIN shape h ON h.id = s.shape_id JOIN device d ON d.id = s.device_id "
                                            "ORDER BY line", -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        ck_assert_int_lt(is->count, 64);
        is->medians[is->count++] = sqlite3_column_double(statement, 1);
        mt_strbuf_addf(&text, "%s\n", (const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    is->text = mt_strbuf_take(&text);
    return MT_OK;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 33;
}

/* Whether each line of `part`, which lists some of them, is one of `all`. */
static bool holds_only(const char *part, const char *all)
{
    for (; *part; part += strcspn(part, "\n") + 1) {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(part, "\n") + 1, part);
        if (!strstr(all, line)) return false;
    }
    return true;
}

/* Four hundred bytes: always refused, or rows are named. One: refused, or what the part says of variants is still the same, but for rows that are named. */
START_TEST(flipped_bytes)
{
    enum { CAPACITY = 1 << 20, ROUNDS = UNIT_SHARE(400), MANY = UNIT_SHARE(40) };
    static unsigned char bytes[CAPACITY], changed[CAPACITY];
    char path[192];
    int refused = 0;
    size_t count = sealed_part(1, bytes, sizeof bytes);
    meaning sound, now;
    ck_ok(meaning_of(part_path(1), &sound));
    snprintf(path, sizeof path, "%s/flipped.sqlite", fixture_folder);
    for (int round = 0; round < ROUNDS + MANY; round++) {
        uint64_t state = (uint64_t)round + 1;
        memcpy(changed, bytes, count);
        for (int i = 0; i < (round < MANY ? 400 : 1); i++) changed[next_random(&state) % count] ^= (unsigned char)(1 + next_random(&state) % 255);
        write_bytes(path, changed, count);
        mt_status st = meaning_of(path, &now);
        refused += round >= MANY && st != MT_OK;
        if (st != MT_OK) ck_assert_msg(st == MT_ERR_DB && strstr(fixture_err.message, "flipped.sqlite"), "round %d: %s", round, fixture_err.message);
        if (st != MT_OK) continue;
        ck_assert_msg(round >= MANY || now.left_out, "round %d: 400 changed bytes went unnoticed", round);
        if (now.left_out) {
            ck_assert_msg(round < MANY || holds_only(now.text, sound.text), "round %d: not noticed:\n%s", round, now.text);
            mt_free(now.text);
            continue;
        }
        ck_assert_msg(strcmp(now.text, sound.text) == 0, "round %d: not noticed:\n%s\ninstead of\n%s", round, now.text, sound.text);
        for (int i = 0; i < now.count; i++) ck_assert_msg(fabs(now.medians[i] / sound.medians[i] - 1) < 0.01, "round %d: median %g instead of %g", round, now.medians[i], sound.medians[i]);
        mt_free(now.text);
    }
    ck_assert_int_gt(refused, 0);
    mt_free(sound.text);
}
END_TEST

/* Values that fit their columns and that no tuner writes: the row is named and left out, and what refers to it; the others are merged. */
START_TEST(values_no_tuner_writes)
{
    static const char *const changes[] = {
        "UPDATE measurement SET outcome = 'okay' WHERE id = 1", "UPDATE measurement SET median_ns = median_ns * 2 WHERE id = 1", "UPDATE measurement SET median_ns = median_ns / 2 WHERE id = 1",
        "UPDATE measurement SET median_ns = -1 WHERE id = 1", "UPDATE measurement SET median_ns = 9e999 WHERE id = 1", "UPDATE measurement SET median_ns = NULL WHERE id = 1",
        "UPDATE measurement SET median_ns = 'fast' WHERE id = 1", "UPDATE measurement SET created_unix_ms = -5 WHERE id = 1", "UPDATE measurement SET sample_count = -1 WHERE id = 1",
        "UPDATE measurement SET launch_json = '{' WHERE id = 1", "UPDATE variant SET text = 'A=' || char(7) WHERE id = 1", "UPDATE session SET state = 'dome'", "UPDATE device SET facts_json = 'x' WHERE id = 1",
        "UPDATE finalist SET median_ns = 5000", "UPDATE finalist SET picked = 2", "UPDATE final_round SET method = 'guess'", "UPDATE kernel SET key = CAST(x'61620063' AS TEXT) WHERE id = 1",
        "UPDATE measurement SET median_ns = 1e-320 WHERE id = 1", "UPDATE measurement SET outcome = '' WHERE id = 1", "UPDATE measurement SET wait_ns = -1 WHERE id = 1",
        "UPDATE measurement SET samples = x'00' WHERE id = 1", "UPDATE measurement SET registers = 'many' WHERE id = 1", "UPDATE toolchain SET nvrtc_version = -1 WHERE id = 1",
        "UPDATE measurement SET launch_json = '{\"launches\":[{\"grid\":\"wide\"}]}' WHERE id = 1", "UPDATE measurement SET launch_json = '[1]' WHERE id = 1",
        "UPDATE measurement SET low_ns = 100.0005, median_ns = 100, high_ns = 99.9995 WHERE id = 1", "UPDATE finalist SET ratio_low = 1.5, ratio_high = 0.5",
        "UPDATE library_comparison SET best_ratio_low = 2, best_ratio_high = 1", "UPDATE library_comparison SET best_ratio_low = 0, best_ratio_high = 0", "UPDATE library_comparison SET best_ratio = 0, best_ratio_low = NULL",
        "UPDATE library_comparison SET first_ratio = 0", "UPDATE library_comparison SET best_ratio = 2 * best_ratio_high", "UPDATE library_comparison SET best_ns = 0", "UPDATE finalist SET ratio = 3 * ratio_high", "UPDATE finalist SET median_ns = 50000, low_ns = 50000, high_ns = 50000", "UPDATE finalist SET measurement_id = (SELECT max(id) FROM measurement)", "UPDATE device SET facts_json = '{\"cc\":90,\"cc\":80}' WHERE id = 1",
        "UPDATE session SET command = printf('%.*c', 2000000, 'x')", "UPDATE session SET warnings = printf('%.*c', 2000000, 'x')", "UPDATE measurement SET text = printf('%.*c', 2000000, 'x') WHERE id = 1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        mt_store *store = NULL;
        mt_merge_counts counts = {0};
        remove(part_path(1));
        make_part(1);
        fixture_sql(changes[i]);
        remove(out_path("out"));
        mt_merge *merging = begin(merge_out, false, &store);
        fixture_stderr_begin();
        mt_status st = merge_file(merging, merge_out, part_path(1), &counts);
        const char *said = fixture_stderr_end();
        ck_assert_msg(st == MT_OK, "%s: %s", changes[i], fixture_err.message);
        finish(merging, store);
        ck_assert_msg(strstr(said, "part1.sqlite: row 1 of ") && strstr(said, " is left out: "), "%s: %s", changes[i], said);
        ck_assert_msg(counts.rows_left_out > 0, "%s", changes[i]);
    }
}
END_TEST

FIXTURE_MAIN("merge_damage", refused_files, rows_that_refer_to_nothing, odd_numbers_of_rows, flipped_bytes, values_no_tuner_writes)
