/* Misses: nothing is lost between finders and flushes, processes share a file, shapes that are no longer asked for make room. */
#include "tests/unit/lookup_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PROCESSES = 4, THREADS = 3, ROUNDS = 2000, SHAPES = 97, FLUSHES = 20 };

typedef struct counting {
    tunelookup_plan *plan;
    _Atomic int running;
} counting;

static char misses_path[160];

static void *finder(void *context)
{
    counting *c = context;
    tunelookup_result r;
    for (int i = 0; i < ROUNDS; i++)
        if (tunelookup_find(c->plan, (const int64_t[]){ 1000 + i % SHAPES, 3, 5 }, &r) != TUNELOOKUP_OK || r.match == TUNELOOKUP_MATCH_EXACT) abort();
    atomic_fetch_sub(&c->running, 1);
    return NULL;
}

static tunelookup_db *open_counting(tunelookup_plan **plan)
{
    tunelookup_db *db;
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_COUNT_MISSES, &db));
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, plan));
    snprintf(misses_path, sizeof misses_path, "%s/misses.jsonl", fixture_folder);
    return db;
}

/* One process: threads that find beside a loop that flushes. */
static void count_and_flush(void)
{
    counting c = { .running = THREADS };
    pthread_t threads[THREADS];
    tunelookup_db *db = open_counting(&c.plan);
    for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, finder, &c), 0);
    for (int i = 0; i < FLUSHES || atomic_load(&c.running); i++) {
        ck_lookup(tunelookup_flush_misses(db, misses_path));
        usleep(100);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    ck_lookup(tunelookup_flush_misses(db, misses_path));
    tunelookup_close(db);
}

/* Adds up a member of all lines by SQLite's JSON functions; each line must be JSON by itself. */
static int64_t sum_of(const char *member)
{
    char line[8192], sql[256];
    int64_t sum = 0;
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    FILE *file = fopen(misses_path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT json_valid(?1), ifnull(json_extract(?1, '$.%s'), 0)", member);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!*line) continue;
        sqlite3_bind_text(statement, 1, line, -1, SQLITE_TRANSIENT);
        ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
        ck_assert_msg(sqlite3_column_int(statement, 0) == 1, "not JSON: %s", line);
        sum += sqlite3_column_int64(statement, 1);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    fclose(file);
    return sum;
}

START_TEST(test_processes_and_threads)
{
    lookup_one_row();
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            count_and_flush();
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    snprintf(misses_path, sizeof misses_path, "%s/misses.jsonl", fixture_folder);
    ck_assert_int_eq(sum_of("count") + sum_of("dropped"), PROCESSES * THREADS * ROUNDS);
}
END_TEST

/* Far more shapes than the table has places, a few at a time: each gets its line. */
START_TEST(test_old_shapes_make_room)
{
    enum { BATCHES = 60, EACH = 20 };
    tunelookup_plan *plan;
    tunelookup_result r;
    lookup_one_row();
    tunelookup_db *db = open_counting(&plan);
    for (int64_t batch = 0; batch < BATCHES; batch++) {
        for (int64_t i = 0; i < EACH; i++) ck_lookup(tunelookup_find(plan, (const int64_t[]){ 100000 + batch * EACH + i, 3, 5 }, &r));
        ck_lookup(tunelookup_flush_misses(db, misses_path));
    }
    tunelookup_close(db);
    ck_assert_int_eq(sum_of("count"), BATCHES * EACH);
    ck_assert_int_eq(sum_of("dropped"), 0);
}
END_TEST

/* A table that is full says how much it left out. */
START_TEST(test_dropped_are_told)
{
    enum { MANY = 5000 };
    tunelookup_plan *plan;
    tunelookup_result r;
    lookup_one_row();
    tunelookup_db *db = open_counting(&plan);
    for (int64_t i = 0; i < MANY; i++) ck_lookup(tunelookup_find(plan, (const int64_t[]){ 100000 + i, 3, 5 }, &r));
    ck_lookup(tunelookup_flush_misses(db, misses_path));
    int64_t counted = sum_of("count"), dropped = sum_of("dropped");
    ck_assert_int_gt(counted, 0);
    ck_assert_int_le(counted, 256);
    ck_assert_int_eq(counted + dropped, MANY);
    ck_lookup(tunelookup_flush_misses(db, misses_path));
    ck_assert_int_eq(sum_of("dropped"), dropped); /* told once */
    tunelookup_close(db);
}
END_TEST

/* What a full disk left behind does not swallow the next line. */
START_TEST(test_cut_line)
{
    tunelookup_plan *plan;
    tunelookup_result r;
    char line[256] = "";
    lookup_one_row();
    tunelookup_db *db = open_counting(&plan);
    FILE *file = fopen(misses_path, "w");
    fputs("{\"kernel\":\"toy\",\"ke", file);
    fclose(file);
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 100000, 3, 5 }, &r));
    ck_lookup(tunelookup_flush_misses(db, misses_path));
    tunelookup_close(db);
    file = fopen(misses_path, "r");
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    ck_assert_ptr_nonnull(strstr(line, "\"N\":100000"));
    fclose(file);
}
END_TEST

/* However the folder is spelled, and whether the file is there or not. */
START_TEST(test_misses_replace_nothing)
{
    static const char *const places[] = {"share/msda-tune-shipped/devices.ini", "share/msda-tune-shipped/new", "share/msda-tune-shipped/search_spaces/x", "link/devices.ini", "share/./x/../msda-tune-shipped/new"};
    static const char *const folders[] = {"share", "share/x", "share/msda-tune-shipped", "share/msda-tune-shipped/search_spaces"};
    char path[256], target[256], database[256];
    struct stat before, after;
    tunelookup_plan *plan;
    tunelookup_result r;
    lookup_one_row();
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", fixture_folder, folders[i]);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
    snprintf(target, sizeof target, "%s/share/msda-tune-shipped", fixture_folder);
    snprintf(path, sizeof path, "%s/link", fixture_folder);
    ck_assert_int_eq(symlink(target, path), 0);
    tunelookup_db *db = open_counting(&plan);
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 65, 3, 5 }, &r));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", fixture_folder, places[i]);
        ck_lookup_fails(tunelookup_flush_misses(db, path), TUNELOOKUP_ERR_ARGUMENT, "never written");
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    snprintf(database, sizeof database, "%s", fixture_db);
    ck_assert_int_eq(stat(database, &before), 0);
    ck_lookup_fails(tunelookup_flush_misses(db, database), TUNELOOKUP_ERR_ARGUMENT, "is an SQLite database");
    ck_assert_int_eq(stat(database, &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    ck_lookup(tunelookup_flush_misses(db, misses_path)); /* the count was kept */
    ck_assert_int_eq(stat(misses_path, &after), 0);
    ck_assert_int_gt(after.st_size, 0);
    tunelookup_close(db);
}
END_TEST

/* Plans end in any order; one that has counted waits for its flush. */
START_TEST(test_released)
{
    tunelookup_plan *plans[3], *counted;
    tunelookup_result r;
    tunelookup_db *db;
    struct stat info;
    lookup_one_row();
    ck_lookup(tunelookup_open(fixture_db, 0, &db));
    for (int i = 0; i < 3; i++) ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plans[i]));
    tunelookup_release(NULL);
    tunelookup_release(plans[1]);
    fixture_sql("UPDATE session SET host = 'elsewhere'");
    ck_lookup(tunelookup_refresh(db));
    tunelookup_release(plans[0]);
    ck_lookup(tunelookup_find(plans[2], (const int64_t[]){ 1000, 3, 5 }, &r));
    tunelookup_release(plans[2]);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plans[0]));
    ck_lookup(tunelookup_find(plans[0], (const int64_t[]){ 1000, 3, 5 }, &r));
    tunelookup_close(db);
    db = open_counting(&counted);
    ck_lookup(tunelookup_find(counted, (const int64_t[]){ 1000, 3, 5 }, &r));
    tunelookup_release(counted);
    ck_lookup(tunelookup_flush_misses(db, misses_path));
    ck_assert_int_eq(stat(misses_path, &info), 0);
    ck_assert_int_gt(info.st_size, 0);
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup_misses", test_released, test_processes_and_threads, test_old_shapes_make_room, test_dropped_are_told, test_cut_line, test_misses_replace_nothing)
