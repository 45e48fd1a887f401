/* Coordinator and real worker code together, on the fake driver and compiler (tests/fakes): each way a variant can end, killed
 * coordinators, what a loss costs. This program is its own worker: it execs itself, as the tool does. */
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/query.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/run/eval_worker.h"
#include "tuner/run/session.h"
#include "tuner/run/worker.h"
#if MT_WITH_CUDA
#include "tuner/run/worker_main.h"
#endif

#define FAKE_CUDA BINARY_DIR "/lib/libfake_cuda.so"
#define FAKE_NVRTC BINARY_DIR "/lib/libfake_nvrtc.so"
#define OK(call) ck_assert_msg((call) == MT_OK, "%s", err.message)

/* All limits. A step takes milliseconds, but a loaded machine may hold a process up for seconds; where something hangs, it costs as much. */
enum { LIMIT_S = 6, PATIENCE_S = 200 /* for what never hangs */ };
#define LIMIT_TEXT "6 s"

static char folder[] = "/tmp/msda-worker-XXXXXX";
static char db_path[128], ini_path[128], log_path[128], cache_path[128];
static mt_error err;
static mt_session_result result;
static bool guard_pages, has_hang; /* in the space */
static double hang_limit_s = LIMIT_S;

/* The fake family with BLOCK = 32, 64 … 224 (7 variants) that behave, and for BLOCK = 64 one more for each of `behaviours`. */
static void write_space(const char *behaviours, const char *more)
{
    mt_strbuf ini = {0};
    has_hang = strstr(behaviours, "hang");
    mt_strbuf_addf(&ini,
        "[kernel]\nname = fake\nsource = %s/fake/fake.cu\nreference = fake_add_reference\n"
        "[shape small]\nN = 10000\n[shape odd]\nN = 4099\ndefault = no\n[variant fake_add]\n"
        "[param BLOCK]\nvalues = 32, 64, 96, 128, 160, 192, 224\ndefault = 128\n"
        "[param BEHAVIOUR]\nvalues = ok, %s\n"
        "[constraint one_each]\nexpr = BEHAVIOUR == ok || BLOCK == 64\n"
        "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = kernel(fake_init)\n"
        "[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(-1, 1)\n"
        "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1e-6\n"
        "[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
        "[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n%s",
        TEST_DATA_DIR, behaviours, more ? more : "");
    OK(mt_file_write_atomic(ini_path, ini.text, ini.length, &err));
    mt_strbuf_free(&ini);
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(db_path, sizeof db_path, "%s/t.sqlite", folder);
    snprintf(ini_path, sizeof ini_path, "%s/fake.ini", folder);
    snprintf(cache_path, sizeof cache_path, "%s/cache", folder);
    snprintf(log_path, sizeof log_path, "MSDA_TUNE_FAKE_LOG=%s/log", folder);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* One run of the tool. Everything in it is freed again, so that it may be called in a loop and under a leak checker. */
static mt_status tune(const mt_session_params *wishes)
{
    const char *env[] = {"MSDA_TUNE_LIBCUDA=" FAKE_CUDA, "MSDA_TUNE_NVRTC=" FAKE_NVRTC, log_path, NULL};
    const double limit_s = has_hang ? hang_limit_s : PATIENCE_S;
    mt_worker_options options = {.jobs = 2, .cache_dir = cache_path, .compile_limit_s = limit_s, .variant_limit_s = limit_s, .subject_limit_s = PATIENCE_S, .seed = 1, .guard_pages = guard_pages, .env = env};
    mt_session_params params = wishes ? *wishes : (mt_session_params){0};
    mt_spec *spec = NULL;
    mt_source source = {0};
    mt_store *store = NULL;
    mt_evaluator *evaluator = NULL;
    uv_loop_t loop;
    mt_status st;
    uv_loop_init(&loop);
    MT_TRY(mt_spec_load(ini_path, &spec, &err));
    MT_TRY(mt_source_load(spec, &source, &err));
    MT_TRY(mt_source_key(spec, &source, &params.kernel_key, &err));
    MT_TRY(mt_store_open(db_path, MT_STORE_READ_WRITE, &store, &err));
    MT_TRY(mt_eval_worker_create(&loop, spec, &source, &options, &evaluator, &err));
    params.spec = spec;
    params.source = &source;
    if (!params.strategy) params.strategy = "exhaustive";
    params.command = "test";
    MT_TRY(mt_session_run(&loop, &params, evaluator, store, &result, &err));
done:
    if (evaluator) evaluator->ops->destroy(evaluator);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    mt_store_close(store);
    mt_source_free(&source);
    mt_spec_free(spec);
    return st;
}

static char *ask_database(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK); /* may have to recover a killed writer's log */
    sqlite3_busy_timeout(db, 100000);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    char *text = sqlite3_step(statement) == SQLITE_ROW ? mt_strdup((const char *)sqlite3_column_text(statement, 0)) : NULL;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return text ? text : mt_strdup("");
}

static int64_t count(const char *sql)
{
    char *text = ask_database(sql);
    int64_t value = atoll(text);
    mt_free(text);
    return value;
}

static int64_t rows(void)
{
    return count("SELECT count(*) FROM measurement");
}

static void expect_outcome(const char *behaviour, const char *outcome, const char *words)
{
    char sql[512];
    snprintf(sql, sizeof sql, "SELECT m.outcome || ': ' || ifnull(m.text, '') FROM measurement m JOIN variant v ON v.id = m.variant_id WHERE instr(v.text || ';', 'BEHAVIOUR=%s;')", behaviour);
    char *found = ask_database(sql);
    size_t length = strlen(outcome);
    ck_assert_msg(strncmp(found, outcome, length) == 0 && found[length] == ':', "%s: %s, expected %s", behaviour, found, outcome);
    ck_assert_msg(!words || strstr(found, words), "%s: %s, expected \"%s\"", behaviour, found, words);
    mt_free(found);
}

static void sound(void)
{
    char *state = ask_database("PRAGMA integrity_check");
    ck_assert_str_eq(state, "ok");
    mt_free(state);
    ck_assert_int_eq(count("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(count("SELECT count(*) - count(DISTINCT subject_id || '/' || variant_id) FROM measurement"), 0);
}

/* behaviour, outcome, words of its text, restarts */
static const struct way {
    const char *behaviour, *outcome, *words;
    int64_t restarts;
} ways[] = {
    {"illegal_address", "gpu_fault", "ILLEGAL_ADDRESS", 1},
    {"hang", "timeout", "within " LIMIT_TEXT, 1},
    {"crash", "crashed", "SIGABRT", 1},
    {"late_fault", "gpu_fault", "ILLEGAL_ADDRESS", 1},
    {"oob", "out_of_bounds", "out", -1},
    {"one_past", "out_of_bounds", "out: wrote past its end, from byte +0", -1},
    {"even_half", "wrong_result", "5000 of 10000 elements not written, first 1", 0},
    {"stale_smem", "nondeterministic", NULL, 0},
    {"wrote_input", "wrote_input", "a", -1},
    {"wrong", "wrong_result", NULL, 0},
    {"wrong_tail", "wrong_result", NULL, 0},
    {"nan", "wrong_result", NULL, 0},
    {"nondet", "nondeterministic", NULL, 0},
    {"launch_error", "launch_error", "OUT_OF_RESOURCES", 0},
    {"load_error", "load_error", NULL, 0},
    {"compile_error", "compile_error", NULL, 0},
    {"compile_hang", "compile_timeout", LIMIT_TEXT, 2}, /* it was tried twice */
};

/* ThreadSanitizer looks at the coordinator, whose threads know nothing of how a variant ends; all ways in one session are enough for it, and a few alone. */
#ifdef __SANITIZE_THREAD__
enum { WAYS_APART = 5 };
#else
enum { WAYS_APART = 1 };
#endif
enum { WAYS = (sizeof ways / sizeof ways[0] + WAYS_APART - 1) / WAYS_APART };

/* CASES 1–3, 5, 6: one of eight ends badly; seven are fine; at most one restart; no error of the session. */
START_TEST(one_bad_of_eight)
{
    const struct way *way = &ways[_i * WAYS_APART];
    set_up();
    write_space(way->behaviour, NULL);
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    expect_outcome(way->behaviour, way->outcome, way->words);
    if (way->restarts >= 0)
        ck_assert_int_eq(result.worker_restarts, way->restarts);
    else
        ck_assert_int_le(result.worker_restarts, 1); /* memory was damaged: the worker may choose to go */
    ck_assert_int_eq(count("SELECT worker_restarts FROM session"), result.worker_restarts);
    sound();
    OK(tune(NULL)); /* what ended badly is known too */
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(result.worker_restarts, 0);
    tear_down();
}
END_TEST

START_TEST(all_ways_in_one_session)
{
    set_up();
    mt_strbuf list = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) mt_strbuf_addf(&list, "%s%s", i ? ", " : "", ways[i].behaviour);
    write_space(mt_strbuf_text(&list), NULL);
    mt_strbuf_free(&list);
    OK(tune(NULL));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) expect_outcome(ways[i].behaviour, ways[i].outcome, ways[i].words);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    ck_assert_int_eq(rows(), 7 + (int64_t)(sizeof ways / sizeof ways[0]));
    ck_assert_uint_eq(result.with_winner, 1);
    sound();
    tear_down();
}
END_TEST

/* A cubin's place on a disk that is full: the compile still reaches the device, and nothing is left in the temporary folder. */
START_TEST(full_cache_disk)
{
    char command[512], temporary[64];
    set_up();
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    ck_assert_int_eq(mkdir(temporary, 0700), 0);
    setenv("TMPDIR", temporary, 1);
    write_space("slow", NULL);
    OK(tune(NULL));
    snprintf(command, sizeof command, "cd %s && rm t.sqlite* && for f in $(find cache -name '*.cubin'); do rm ${f%%.cubin}.log && ln -sf /dev/full $f; done", folder);
    ck_assert_int_eq(system(command), 0);
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 8);
    ck_assert_int_eq(result.worker_restarts, 0);
    ck_assert_int_eq(rmdir(temporary), 0);
    unsetenv("TMPDIR");
    sound();
    tear_down();
}
END_TEST

/* While one waits to be loaded, the others wait compiled: they are compiled again, and the next worker still finds the kernels that it checks them with. */
START_TEST(emptied_cache)
{
    int status = 0;
    char command[512], gate[64];
    set_up();
    write_space("hang", NULL);
    hang_limit_s = 20; /* the first variant waits meanwhile, too */
    snprintf(gate, sizeof gate, "%s/gate", folder);
    OK(mt_file_write_atomic(gate, "", 0, &err));
    setenv("MSDA_TUNE_FAKE_GATE", gate, 1);
    pid_t remover = fork();
    if (remover == 0) { /* a compiler that writes at this moment makes a folder anew */
        snprintf(command, sizeof command, "cd %s && until [ $(find cache -name '*.cubin' 2>/dev/null | wc -l) -ge 6 ]; do sleep 0.02; done; until rm -r cache 2>/dev/null; do sleep 0.02; done; rm gate", folder);
        _exit(system(command) != 0);
    }
    OK(tune(NULL));
    unsetenv("MSDA_TUNE_FAKE_GATE");
    waitpid(remover, &status, 0);
    ck_assert_int_eq(status, 0);
    expect_outcome("hang", "timeout", NULL);
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7);
    ck_assert_int_eq(count("SELECT warnings LIKE '%gone from the compile cache%' FROM session"), 1);
    ck_assert_uint_eq(result.times.compiles.compiled + result.times.compiles.cached + result.times.compiles.shared, 8); /* and not once more for what was compiled again */
    ck_assert_int_eq(result.worker_restarts, 1);
    sound();
    tear_down();
}
END_TEST

/* Stopped once, the compiler is not blamed on what it compiled. */
START_TEST(stopped_compile_worker)
{
    char once[64];
    set_up();
    write_space("slow", NULL);
    snprintf(once, sizeof once, "%s/once", folder);
    OK(mt_file_write_atomic(once, "", 0, &err));
    setenv("MSDA_TUNE_FAKE_HANG_ONCE", once, 1);
    has_hang = true;
    OK(tune(NULL));
    unsetenv("MSDA_TUNE_FAKE_HANG_ONCE");
    ck_assert(!mt_file_exists(once));
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 8);
    ck_assert_int_eq(result.worker_restarts, 1);
    sound();
    tear_down();
}
END_TEST

/* As the out-of-memory killer does it: no verdict on the source, and the next session tries it. */
START_TEST(killed_compile_workers)
{
    set_up();
    write_space("slow", NULL);
    setenv("MSDA_TUNE_FAKE_KILLED", "slow", 1);
    OK(tune(NULL));
    unsetenv("MSDA_TUNE_FAKE_KILLED");
    expect_outcome("slow", "pruned", "SIGKILL from outside");
    ck_assert_int_eq(count("SELECT warnings LIKE '%left to a later session%' FROM session"), 1);
    ck_assert_int_eq(result.worker_restarts, 2);
    sound();
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 9);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE variant_id = (SELECT id FROM variant WHERE text LIKE '%slow%') AND outcome IN ('ok', 'censored')"), 1);
    tear_down();
}
END_TEST

/* A fault that an earlier variant may have caused is one strike, not a quarantine. */
START_TEST(fault_not_reproduced_alone)
{
    set_up();
    write_space("fault_when_used", NULL);
    OK(tune(NULL));
    expect_outcome("fault_when_used", "gpu_fault", "not reproduced alone: ended as ok");
    ck_assert_int_eq(count("SELECT count(*) FROM strike WHERE cause = 'fault_once'"), 1);
    ck_assert_int_eq(count("SELECT count(*) FROM strike WHERE cause = 'fault'"), 0);
    ck_assert_int_eq(result.worker_restarts, 1);
    sound();
    tear_down();
}
END_TEST

/* One half-writer after the other must not find its missing half in the buffer. */
START_TEST(half_writers_in_a_row)
{
    set_up();
    write_space("even_half, odd_half", NULL);
    OK(tune(NULL));
    expect_outcome("even_half", "wrong_result", "not written, first 1");
    expect_outcome("odd_half", "wrong_result", "not written, first 0");
    tear_down();
}
END_TEST

START_TEST(second_launch_is_skipped)
{
    set_up();
    write_space("skips_second", "[launch 2]\nentry = fake_second\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n");
    OK(tune(NULL));
    expect_outcome("skips_second", "wrong_result", "5000 of 10000 elements not written, first 5000");
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    tear_down();
}
END_TEST

/* Unseen in ordinary memory, a fault where buffers end at an unmapped page. */
START_TEST(read_past_the_end)
{
    set_up();
    write_space("read_past", NULL);
    guard_pages = true;
    OK(tune(NULL));
    expect_outcome("read_past", "gpu_fault", "ILLEGAL_ADDRESS");
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7); /* the slowest has no chance where it comes last */
    tear_down();
}
END_TEST

START_TEST(winner_and_its_numbers)
{
    set_up();
    write_space("slow", NULL);
    OK(tune(NULL));
    char *best = ask_database("SELECT v.text FROM best b JOIN measurement m ON m.id = b.measurement_id JOIN variant v ON v.id = m.variant_id");
    ck_assert_str_eq(best, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=224"); /* fake_add takes 30 µs + 20 ns · |BLOCK − 256| */
    mt_free(best);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE median_ns BETWEEN 30000 AND 36000"), 7);
    /* The winner's cubin is there; those of variants that led before it may be. */
    ck_assert_int_eq(count("SELECT count(*) FROM cubin c JOIN measurement m ON m.cubin_hash = c.hash JOIN best b ON b.measurement_id = m.id"), 1);
    ck_assert_int_ge(count("SELECT min(json_valid(launch_json)) FROM measurement WHERE outcome = 'ok'"), 1);
    tear_down();
}
END_TEST

START_TEST(quarantine_holds_for_other_workloads)
{
    static const char *const far[] = {"far"};
    mt_session_params params = {.workloads = far, .workload_count = 1};
    set_up();
    write_space("hang", "[workload near]\ndefault = yes\n[workload far]\nsigma = 2\n");
    OK(tune(NULL));
    expect_outcome("hang", "timeout", NULL);
    OK(tune(&params));
    ck_assert_int_eq(rows(), 16);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome = 'quarantined'"), 1);
    ck_assert_int_eq(result.worker_restarts, 0); /* it was not run */
    tear_down();
}
END_TEST

START_TEST(two_shapes)
{
    static const char *const both[] = {"small", "odd"};
    mt_session_params params = {.shapes = both, .shape_count = 2};
    set_up();
    write_space("wrong_tail", NULL);
    OK(tune(&params));
    ck_assert_uint_eq(result.with_winner, 2);
    ck_assert_int_eq(rows(), 16);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome = 'ok'"), 14);
    tear_down();
}
END_TEST

START_TEST(no_driver)
{
    const char *env[] = {"MSDA_TUNE_LIBCUDA=/nonexistent/libcuda.so", "MSDA_TUNE_NVRTC=" FAKE_NVRTC, NULL};
    mt_worker_options options = {.jobs = 1, .compile_limit_s = LIMIT_S, .variant_limit_s = LIMIT_S, .subject_limit_s = PATIENCE_S, .env = env};
    mt_spec *spec = NULL;
    mt_source source = {0};
    mt_evaluator *evaluator = NULL;
    uv_loop_t loop;
    set_up();
    write_space("slow", NULL);
    uv_loop_init(&loop);
    OK(mt_spec_load(ini_path, &spec, &err));
    OK(mt_source_load(spec, &source, &err));
    ck_assert_int_eq(mt_eval_worker_create(&loop, spec, &source, &options, &evaluator, &err), MT_ERR_NO_GPU);
    ck_assert_msg(strstr(err.message, "/nonexistent/libcuda.so"), "%s", err.message);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    mt_source_free(&source);
    mt_spec_free(spec);
    tear_down();
}
END_TEST

/* CASES 4: kill -9 of the coordinator at any instant, again and again: nothing lost, nothing twice, no strike, and no worker left. */
START_TEST(killed_and_resumed)
{
    int status = 0, kills = 0;
    int64_t before = 0;
    set_up();
    write_space("slow", "[param C]\nvalues = 1..6\n"); /* 48 variants */
    setenv("MSDA_TUNE_FAKE_LOAD_MS", "80", 1); /* four seconds: it can't be done before it is killed twice */
    for (int round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0) _exit(tune(NULL) == MT_OK ? 0 : 1);
        usleep((useconds_t)(60000 + 104729 * round % 400000));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (WIFEXITED(status)) break;
        kills++;
        int64_t now = mt_file_exists(db_path) && count("SELECT count(*) FROM sqlite_master WHERE name = 'measurement'") ? rows() : 0;
        ck_assert_int_ge(now, before); /* nothing is lost */
        before = now;
    }
    unsetenv("MSDA_TUNE_FAKE_LOAD_MS");
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 48);
    ck_assert_int_eq(count("SELECT count(*) FROM strike"), 0);
    ck_assert_int_ge(kills, 2);
    sound();
    tear_down();
}
END_TEST

/* A worker that hangs inside the driver outlives SIGKILL: the GPU is lost, what was measured is kept, and a later session goes on from there. */
START_TEST(worker_that_cannot_be_reaped)
{
    int status = 0;
    set_up();
    write_space("hang", NULL);
    pid_t child = fork();
    if (child == 0) {
        mt_worker_pretend_unkillable(true);
        _exit(tune(NULL) == MT_ERR_GPU && strstr(err.message, "is lost") ? 42 : 1);
    }
    waitpid(child, &status, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %d", status);
    expect_outcome("hang", "timeout", NULL);
    int64_t kept = rows();
    ck_assert_int_eq(count("SELECT count(*) FROM session WHERE state = 'failed'"), 1);
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_lt(kept, 8);
    ck_assert_int_eq(result.worker_restarts, 0); /* what hung is known */
    sound();
    tear_down();
}
END_TEST

/* Tunes and sends `number` as soon as something is measured. The process's exit code: 42 = the session said that it was interrupted, 43 = it did not. */
static int tune_and_signal(int number, bool is_ignored)
{
    int status = 0;
    setenv("MSDA_TUNE_FAKE_LOAD_MS", "80", 1); /* times 160, or 40: it can't be done before it is told */
    pid_t child = fork();
    if (child == 0) {
        signal(number, is_ignored ? SIG_IGN : SIG_DFL); /* instead of the test library's handler */
        mt_status st = tune(NULL);
        if (st != MT_OK) fprintf(stderr, "%s\n", err.message);
        _exit(st != MT_OK ? 1 : result.interrupted ? 42 : 43);
    }
    for (int i = 0; i < PATIENCE_S * 50; i++) { /* until it has measured something */
        usleep(20000);
        if (mt_file_exists(db_path) && count("SELECT count(*) FROM sqlite_master WHERE name = 'measurement'") && rows() > 0) break;
    }
    kill(child, number);
    waitpid(child, &status, 0);
    unsetenv("MSDA_TUNE_FAKE_LOAD_MS");
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The first Ctrl-C, and a terminal that is closed, let the running variant end and keep everything. */
static void check_interrupted_by(int number)
{
    set_up();
    write_space("slow", "[param C]\nvalues = 1..20\n");
    ck_assert_int_eq(tune_and_signal(number, false), 42);
    int64_t kept = rows();
    ck_assert_int_gt(kept, 0);
    ck_assert_int_lt(kept, 160);
    ck_assert_int_eq(count("SELECT count(*) FROM session WHERE state = 'interrupted'"), 1);
    sound();
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 160);
    sound();
    tear_down();
}

START_TEST(interrupted) { check_interrupted_by(SIGINT); } END_TEST
START_TEST(terminal_closed) { check_interrupted_by(SIGHUP); } END_TEST

START_TEST(nohup)
{
    set_up();
    write_space("slow", "[param C]\nvalues = 1..5\n");
    ck_assert_int_eq(tune_and_signal(SIGHUP, true), 43);
    ck_assert_int_eq(rows(), 40);
    sound();
    tear_down();
}
END_TEST

int main(int argc, char **argv)
{
#if MT_WITH_CUDA
    if (argc > 2 && strcmp(argv[1], "worker") == 0) return mt_worker_main(argc - 2, argv + 2);
#else
    return 77;
#endif
    if (!mt_file_exists(FAKE_CUDA)) return 77;
    Suite *suite = suite_create("worker");
    TCase *group = tcase_create("worker");
    tcase_add_loop_test(group, one_bad_of_eight, 0, WAYS);
    const TTest *const tests[] = {all_ways_in_one_session, full_cache_disk, emptied_cache, stopped_compile_worker, killed_compile_workers, fault_not_reproduced_alone, half_writers_in_a_row, second_launch_is_skipped, read_past_the_end, winner_and_its_numbers, quarantine_holds_for_other_workloads, two_shapes, no_driver, killed_and_resumed, worker_that_cannot_be_reaped, interrupted, terminal_closed, nohup};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) tcase_add_test(group, tests[i]);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
