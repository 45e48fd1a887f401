/* Threads and fork: 16 finders beside a refresh in a loop (what TSan is for), cubins asked for by all at once, answers in a forked child. */
#include "tests/unit/lookup_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "tuner/predictor/table.h"

enum { FINDERS = 16, REFRESHES = 10, SHAPES = 40 };

typedef struct shared {
    tunelookup_db *db;
    tunelookup_plan *plan;
    _Atomic bool stop;
    _Atomic long found, untuned, wrong;
} shared;

/* Rows give N as their launch's size: an answer put together from old and new rows would show. */
static void find_once(shared *s, int64_t n)
{
    tunelookup_result r;
    tunelookup_launch_info launch;
    tunelookup_arg_info arg;
    int64_t b;
    const int64_t values[] = { n, 3, 5 };
    tunelookup_status status = n % 2 ? tunelookup_find(s->plan, values, &r) : tunelookup_find_within(s->plan, values, 2e-4, &r); /* all rows are within that */
    if (status != TUNELOOKUP_OK) atomic_fetch_add(&s->wrong, 1);
    bool is_right = tunelookup_param(&r, "B", &b) == TUNELOOKUP_OK && tunelookup_launch(&r, 0, &launch) == TUNELOOKUP_OK && tunelookup_arg(&r, 0, &arg) == TUNELOOKUP_OK;
    is_right = is_right && launch.block[0] == (uint32_t)b && launch.grid[0] == (uint32_t)((n + b - 1) / b) && arg.dims[0] == n && arg.dims[1] == 8 * n;
    atomic_fetch_add(!is_right ? &s->wrong : r.match == TUNELOOKUP_MATCH_EXACT ? &s->found : &s->untuned, 1);
}

static void *finder(void *context)
{
    shared *s = context;
    for (int64_t n = 1; !atomic_load(&s->stop); n = n % (SHAPES + 5) + 1) {
        find_once(s, n);
        if (n == SHAPES) usleep(200); /* leaves the writer some of a small machine */
    }
    return NULL;
}

static void put_rows(int round)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int n = 1; n <= SHAPES; n++) {
        char shape[64];
        snprintf(shape, sizeof shape, "H=3,5;N=%d;dtype=f16", n);
        lookup_put(&w, shape, "default", round % 2 ? "ALGO=plain;B=32" : "ALGO=plain;B=64", 1000.0 / (round + 1)); /* each round beats the last */
        ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", "ALGO=plain;B=32", &fixture_err));
    }
    if (round % 8 == 0) ck_ok(mt_predictor_refresh_all(w.store, &fixture_err)); /* so that finders of other shapes share its cache */
    lookup_end(&w);
}

START_TEST(test_finders_beside_refresh)
{
    shared s = { 0 };
    pthread_t threads[FINDERS];
    put_rows(0);
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_COUNT_MISSES | TUNELOOKUP_ERRORS, &s.db));
    ck_lookup(tunelookup_prepare(s.db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &s.plan));
    for (int i = 0; i < FINDERS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, finder, &s), 0);
    for (int round = 1; round <= REFRESHES || !atomic_load(&s.found) || !atomic_load(&s.untuned); round++) { /* each kind of answer was given beside it */
        char misses[160];
        put_rows(round);
        ck_lookup(tunelookup_refresh(s.db));
        snprintf(misses, sizeof misses, "%s/misses", fixture_folder);
        ck_lookup(tunelookup_flush_misses(s.db, misses));
        tunelookup_plan *another;
        ck_lookup(tunelookup_prepare(s.db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &another));
    }
    atomic_store(&s.stop, true);
    for (int i = 0; i < FINDERS; i++) ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(atomic_load(&s.wrong), 0);
    ck_assert_int_gt(atomic_load(&s.found), 0);
    ck_assert_int_gt(atomic_load(&s.untuned), 0);
    tunelookup_close(s.db);
}
END_TEST

static void *cubin_asker(void *context)
{
    shared *s = context;
    tunelookup_result r;
    const void *data;
    size_t bytes;
    if (tunelookup_find(s->plan, (const int64_t[]){ 64, 3, 5 }, &r) != TUNELOOKUP_OK) atomic_fetch_add(&s->wrong, 1);
    if (tunelookup_cubin(&r, &data, &bytes) != TUNELOOKUP_ERR_NOT_FOUND) atomic_fetch_add(&s->wrong, 1);
    if (!strstr(tunelookup_detail(), "does not hold")) atomic_fetch_add(&s->wrong, 1); /* each thread has its own */
    return NULL;
}

START_TEST(test_cubins_at_once)
{
    shared s = { 0 };
    pthread_t threads[FINDERS];
    lookup_one_row();
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_USER_CUBINS, &s.db));
    ck_lookup(tunelookup_prepare(s.db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &s.plan));
    for (int i = 0; i < FINDERS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, cubin_asker, &s), 0);
    for (int i = 0; i < FINDERS; i++) ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(atomic_load(&s.wrong), 0);
    tunelookup_close(s.db);
}
END_TEST

/* Beside a writer whose disk is slow, a question that reads the file may be answered by "try again". */
static bool read_patiently(shared *s)
{
    tunelookup_plan *mine;
    for (int tries = 0; tries < 1000; tries++) {
        if (tunelookup_refresh(s->db) == TUNELOOKUP_OK && tunelookup_prepare(s->db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &mine) == TUNELOOKUP_OK) return true;
        usleep(10000);
    }
    return false;
}

/* A child goes on with what its parent opened, also with calls that read the file, while the parent does the same. */
START_TEST(test_fork)
{
    shared s = { 0 };
    put_rows(0);
    ck_lookup(tunelookup_open(fixture_db, TUNELOOKUP_ERRORS, &s.db));
    ck_lookup(tunelookup_prepare(s.db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &s.plan));
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int64_t n = 1; n <= SHAPES; n++) find_once(&s, n);
            bool fine = read_patiently(&s);
            for (int64_t n = 1; n <= SHAPES; n++) find_once(&s, n);
            _exit(fine && s.found == 2 * SHAPES && s.wrong == 0 ? 0 : 1);
        }
        put_rows(i + 1);
        ck_lookup(tunelookup_refresh(s.db));
    }
    for (int i = 0; i < 4; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 0);
    }
    tunelookup_close(s.db);
}
END_TEST

FIXTURE_MAIN("tunelookup_threads", test_finders_beside_refresh, test_cubins_at_once, test_fork)
