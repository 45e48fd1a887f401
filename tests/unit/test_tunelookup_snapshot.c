/* tunelookup_snapshot_id: equal where the contents are, another one as soon as anything that a find may depend on is. */
#include "tests/unit/lookup_fixture.h"
#include "db/lookup/lookup.h"

#include <fcntl.h>
#include <sys/stat.h>

static tunelookup_db *open_at(const char *path, unsigned flags)
{
    tunelookup_db *db = NULL;
    ck_lookup(tunelookup_open(path, flags, &db));
    return db;
}

/* Of a file as it is now; until the next call. */
static const char *id_of(const char *path, unsigned flags)
{
    static char id[TUNELOOKUP_SNAPSHOT_ID];
    tunelookup_db *db = open_at(path, flags);
    ck_lookup(tunelookup_snapshot_id(db, id));
    ck_assert_uint_eq(strspn(id, "0123456789abcdef"), TUNELOOKUP_SNAPSHOT_ID - 1);
    tunelookup_close(db);
    return id;
}

static void copy(const char *to)
{
    char command[512];
    fixture_sql("PRAGMA wal_checkpoint(TRUNCATE)");
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod 600 '%s'", fixture_db, to, to);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(test_same_contents)
{
    char other[192], id[TUNELOOKUP_SNAPSHOT_ID];
    lookup_one_row();
    snprintf(other, sizeof other, "%s/elsewhere.sqlite", fixture_folder);
    copy(other);
    strcpy(id, id_of(fixture_db, 0));
    ck_assert_str_eq(id_of(other, 0), id);
    ck_assert_str_eq(id_of(fixture_db, TUNELOOKUP_COUNT_MISSES), id); /* counting decides nothing */
    ck_assert_str_ne(id_of(fixture_db, TUNELOOKUP_RECORDED), id);
    ck_assert_str_ne(id_of(fixture_db, TUNELOOKUP_USER_CUBINS), id);
    /* other pages, and who measured: the same answers */
    fixture_sql("UPDATE session SET host = 'elsewhere', command = 'another', warnings = 'none'; UPDATE measurement SET text = 'a word', wait_ns = 77");
    fixture_sql("PRAGMA wal_checkpoint(TRUNCATE); VACUUM");
    ck_assert_str_eq(id_of(fixture_db, 0), id);
    /* a session that measured nothing: rows are as before, but written again */
    fixture_sql("UPDATE best SET updated_unix_ms = updated_unix_ms + 1000; UPDATE answer SET updated_unix_ms = updated_unix_ms + 1000; UPDATE portfolio SET updated_unix_ms = updated_unix_ms + 1000");
    ck_assert_str_eq(id_of(fixture_db, 0), id);
}
END_TEST

/* Of two sources of a kernel the one that was tuned last answers: which one that is counts, not when. */
START_TEST(test_the_newest_source)
{
    char before[TUNELOOKUP_SNAPSHOT_ID];
    lookup_one_row();
    fixture_sql("INSERT INTO kernel (id, name, key, spec_json) SELECT 77, name, 'ffeeddccbbaa99887766554433221100', spec_json FROM kernel LIMIT 1; "
                "CREATE TEMP TABLE other AS SELECT * FROM answer; UPDATE other SET kernel_id = 77, updated_unix_ms = updated_unix_ms - 10; INSERT INTO answer SELECT * FROM other");
    strcpy(before, id_of(fixture_db, 0));
    fixture_sql("UPDATE answer SET updated_unix_ms = updated_unix_ms + 9 WHERE kernel_id = 77");
    ck_assert_str_eq(id_of(fixture_db, 0), before);
    fixture_sql("UPDATE answer SET updated_unix_ms = updated_unix_ms + 9 WHERE kernel_id = 77");
    ck_assert_str_ne(id_of(fixture_db, 0), before);
}
END_TEST

/* One statement for each table that db/lookup/ reads. */
static const struct change { const char *table, *sql; } changes[] = {
    {"device", "UPDATE device SET key = 'h100-sxm|cc90|sm114|80g'"},
    {"kernel", "UPDATE kernel SET spec_json = replace(spec_json, '1000000', '2000000')"},
    {"shape", "UPDATE shape SET key = 'H=3,5;N=65;dtype=f16'"},
    {"workload", "UPDATE workload SET name = 'other'"},
    {"toolchain", "UPDATE toolchain SET driver_version = 12080"},
    {"variant", "UPDATE variant SET text = 'ALGO=wide;B=64;C=2'"},
    {"subject", "UPDATE subject SET regime = 'warm'"},
    {"measurement", "UPDATE measurement SET outcome = 'wrong_result'"},
    {"strike", "INSERT INTO strike (device_id, shape_id, variant_id, origin, cause, created_unix_ms) SELECT device_id, shape_id, 1, origin, 'timeout', 1 FROM subject"},
    {"answer", "UPDATE answer SET median_ns = median_ns + 1"},
    {"best", "UPDATE best SET measurement_id = 2"},
    {"final_round", "INSERT INTO final_round (id, session_id, subject_id, created_unix_ms, method, rounds, confidence) VALUES (77, 1, 1, 1, 'intervals', 0, 0.95)"},
    {"finalist", "INSERT INTO finalist (final_id, measurement_id, median_ns, low_ns, high_ns, ratio, ratio_low, ratio_high, tied, picked) VALUES (77, 1, 1, 1, 1, 1, 1, 1, 1, 1)"},
    {"portfolio", "INSERT INTO portfolio (kernel_id, device_id, regime, origin, is_asked, max_count, within, worst, unserved_count, is_exact, held_out_count, rule_json, updated_unix_ms) "
                  "SELECT kernel_id, device_id, 'warm', origin, 0, 4, 1.1, 1, 0, 1, 0, '{}', 1 FROM subject"},
    {"portfolio_shape", "INSERT INTO portfolio_shape (portfolio_id, subject_id, workload_id, shape_key, shape_name, best_ns) SELECT 77, id, workload_id, 'H=1', 'x', 1 FROM subject"},
    {"portfolio_variant", "INSERT INTO portfolio_variant VALUES (77, 1, 1)"},
    {"portfolio_cell", "UPDATE portfolio SET cells = NULL; INSERT OR REPLACE INTO portfolio_cell (portfolio_id, subject_id, variant_id, outcome, measurement_id, toolchain_id, created_unix_ms) "
                       "SELECT p.id, s.id, 77, 'ok', 1, 1, 1 FROM portfolio p, subject s"},
    {"cubin", "INSERT INTO cubin VALUES ('00112233445566778899aabbccddeeff', 'raw', 1, x'00')"},
};

START_TEST(test_each_table_counts)
{
    char before[TUNELOOKUP_SNAPSHOT_ID];
    lookup_one_row();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        strcpy(before, id_of(fixture_db, 0));
        fixture_sql(changes[i].sql);
        ck_assert_msg(strcmp(id_of(fixture_db, 0), before) != 0, "the id stays when table %s changes", changes[i].table);
    }
}
END_TEST

static bool is_covered(const char *table)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i].table, table) == 0) return true;
    return false;
}

/* A table that some query of the library begins to read needs its line above, and in lookup_snapshot.c. */
START_TEST(test_no_table_is_forgotten)
{
    char table[64];
    int found = 0;
    FILE *tables = popen("cat '" SOURCE_DIR "'/db/lookup/*.c '" SOURCE_DIR "'/db/row_relations.h | grep -oE '(FROM|JOIN) (main[.])?[a-z_]+' | sed 's/.*[ .]//' | sort -u", "r");
    ck_assert_ptr_nonnull(tables);
    for (; fscanf(tables, "%63s", table) == 1; found++) ck_assert_msg(is_covered(table), "db/lookup/ reads table %s, and no id depends on it", table);
    pclose(tables);
    ck_assert_int_ge(found, 10);
}
END_TEST

START_TEST(test_a_file_that_changes)
{
    char id[TUNELOOKUP_SNAPSHOT_ID] = "x";
    tunelookup_plan *plan;
    lookup_one_row();
    tunelookup_db *db = open_at(fixture_db, 0);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan));
    fixture_sql("UPDATE answer SET median_ns = 2000; UPDATE measurement SET median_ns = 2000, low_ns = NULL, high_ns = NULL");
    ck_lookup_fails(tunelookup_snapshot_id(db, id), TUNELOOKUP_ERR_IO, "changed since it was opened or refreshed");
    ck_assert_str_eq(id, "");
    ck_lookup(tunelookup_refresh(db));
    ck_lookup(tunelookup_snapshot_id(db, id));
    ck_assert_str_eq(id, id_of(fixture_db, 0));
    ck_assert_int_eq(tunelookup_snapshot_id(NULL, id), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_snapshot_id(db, NULL), TUNELOOKUP_ERR_ARGUMENT);
    tunelookup_close(db);
}
END_TEST

/* Opening a -wal touches it where we are root (SQLite sets its owner): that is no change. A byte more is one, and so is a file that begins anew with as many bytes and the same time. */
START_TEST(test_a_wal_that_waits)
{
    char id[TUNELOOKUP_SNAPSHOT_ID], wal[192];
    struct stat info, later;
    sqlite3 *writer = NULL;
    lookup_one_row();
    ck_assert_int_eq(sqlite3_open(fixture_db, &writer), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(writer, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE session SET host = 'a'", NULL, NULL, NULL), SQLITE_OK);
    snprintf(wal, sizeof wal, "%s-wal", fixture_db);
    ck_assert_int_eq(stat(wal, &info), 0);
    ck_assert_int_gt(info.st_size, 0);
    tunelookup_db *db = open_at(fixture_db, 0);
    ck_assert_int_eq(chmod(wal, info.st_mode & 07777), 0); /* another ctime, as fchown gives it */
    ck_lookup(tunelookup_snapshot_id(db, id));
    ck_lookup(tunelookup_snapshot_id(db, id));
    ck_assert_int_eq(sqlite3_exec(writer, "UPDATE session SET host = 'b'", NULL, NULL, NULL), SQLITE_OK);
    ck_lookup_fails(tunelookup_snapshot_id(db, id), TUNELOOKUP_ERR_IO, "changed since it was opened or refreshed");
    ck_lookup(tunelookup_refresh(db));
    ck_assert_int_eq(stat(wal, &info), 0);
    mt_lookup_stamp stamp = mt_lookup_stamp_of(fixture_db), now;
    ck_assert_int_eq(sqlite3_exec(writer, "PRAGMA wal_checkpoint(RESTART); UPDATE session SET host = 'c'", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(truncate(wal, info.st_size), 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, wal, (struct timespec[]){ info.st_atim, info.st_mtim }, 0), 0);
    ck_assert_int_eq(stat(wal, &later), 0);
    now = mt_lookup_stamp_of(fixture_db);
    ck_assert(later.st_ino == info.st_ino && later.st_size == info.st_size && now.wal_mtime_ns == stamp.wal_mtime_ns);
    ck_assert_uint_ne(now.wal_salts, stamp.wal_salts);
    ck_assert(!mt_lookup_stamp_equal(&now, &stamp));
    sqlite3_close(writer);
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_snapshot", test_same_contents, test_the_newest_source, test_a_wal_that_waits, test_each_table_counts, test_no_table_is_forgotten, test_a_file_that_changes)
