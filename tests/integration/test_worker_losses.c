/* Coordinator and worker together: killed or interrupted coordinators, workers that stop, are killed or can't be, a compile cache that is full or gone, no driver. */
#include <signal.h>
#include <sys/wait.h>

#include "tests/integration/worker_fixture.h"
#include "tuner/worker/worker.h"

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
    snprintf(command, sizeof command, "cd %s && rm t.sqlite* && for f in $(find cache -name '*.cubin'); do rm ${f%%-*}.log && ln -sf /dev/full $f; done", folder);
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
    write_space("crash", NULL);
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
    expect_outcome("crash", "crashed", NULL);
    ck_assert_int_eq(rows(), 8);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE outcome IN ('ok', 'censored')"), 7);
    ck_assert_int_eq(count("SELECT warnings LIKE '%gone from the compile cache%' FROM session"), 1);
    ck_assert_uint_eq(result.times.compiles.compiled + result.times.compiles.cached + result.times.compiles.shared, 8); /* and not once more for what was compiled again */
    ck_assert_int_eq(result.worker_restarts, 1);
    sound();
    tear_down();
}
END_TEST

/* Stopped once, the compiler is not held responsible for what it compiled. */
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
    expect_outcome("slow", "compiler_killed", "SIGKILL from outside");
    ck_assert_int_eq(count("SELECT warnings LIKE '%left to a later session%' FROM session"), 1);
    ck_assert_int_eq(result.worker_restarts, 2);
    sound();
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 9);
    ck_assert_int_eq(count("SELECT count(*) FROM measurement WHERE variant_id = (SELECT id FROM variant WHERE text LIKE '%slow%') AND outcome IN ('ok', 'censored')"), 1);
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

/* kill -9 of the coordinator at any instant, again and again: nothing lost, nothing twice, no strike, and no worker left. */
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
static int tune_and_signal(int number, bool is_ignored, const char *load_ms)
{
    int status = 0;
    setenv("MSDA_TUNE_FAKE_LOAD_MS", load_ms, 1); /* of each variant, and of each turn in the final: it can't be done before it is told */
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
    write_space("slow", "[param C]\nvalues = 1..5\n");
    ck_assert_int_eq(tune_and_signal(number, false, "320"), 42);
    int64_t kept = rows();
    ck_assert_int_gt(kept, 0);
    ck_assert_int_lt(kept, 40);
    ck_assert_int_eq(count("SELECT count(*) FROM session WHERE state = 'interrupted'"), 1);
    sound();
    OK(tune(NULL));
    ck_assert_int_eq(rows(), 40);
    sound();
    tear_down();
}

START_TEST(interrupted) { check_interrupted_by(SIGINT); } END_TEST
START_TEST(terminal_closed) { check_interrupted_by(SIGHUP); } END_TEST

START_TEST(nohup)
{
    set_up();
    write_space("slow", "[param C]\nvalues = 1..2\n");
    ck_assert_int_eq(tune_and_signal(SIGHUP, true, "80"), 43);
    ck_assert_int_eq(rows(), 16);
    sound();
    tear_down();
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {
        full_cache_disk, emptied_cache, stopped_compile_worker, killed_compile_workers, no_driver, killed_and_resumed, worker_that_cannot_be_reaped, interrupted, terminal_closed, nohup,
    };
    return worker_suite(argc, argv, tcase_create("losses"), tests, sizeof tests / sizeof tests[0]);
}
