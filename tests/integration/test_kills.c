/* The tool is killed at 200 random instants (recorded GPU and fake driver) and started again. Nothing is lost, nothing is there twice, and the rows are those of a run
 * that nobody disturbed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/store/store.h"
#include "tests/unit/ask_database.h"
#include "tests/unit/unit.h"
#include "tests/unit/sound_fixture.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/rng.h"
#include "tuner/base/strbuf.h"

#define FAKE_CUDA BINARY_DIR "/lib/libfake_cuda.so"
/* All 200 and more in the plain builds. */
enum { RECORDED_KILLS = UNIT_SHARE(120), LEARNING_KILLS = UNIT_SHARE(10), FAKE_KILLS = UNIT_SHARE(80), TWO_GPU_KILLS = UNIT_SHARE(40), MAX_WORDS = 24 };

static char folder[] = "/tmp/msda-kills-XXXXXX";
static mt_rng rng;

/* Starts the tool in the scratch folder; kills it after delay_us (< 0: waits). True when it ended by itself. */
static bool run_tool(const char *const words[], int64_t delay_us)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        char *argv[MAX_WORDS + 2] = {(char *)MT_TOOL};
        for (size_t i = 0; words[i]; i++) argv[i + 1] = (char *)words[i];
        int out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(out, 1);
        dup2(out, 2);
        execv(MT_TOOL, argv);
        _exit(127);
    }
    if (delay_us >= 0) {
        usleep((useconds_t)delay_us);
        kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) return false;
    char *text = NULL;
    size_t length;
    if (WEXITSTATUS(status) != 0) mt_file_read("out.txt", 0, &text, &length, NULL);
    ck_assert_msg(WEXITSTATUS(status) == 0, "exit %d: %s", WEXITSTATUS(status), text ? text : "");
    return true;
}

/* All rows, twins included, in an order of their own. */
static char *rows_of(const char *path)
{
    return ask_database(path, "SELECT group_concat(line, char(10)) FROM (SELECT h.name || ' ' || w.name || ' ' || v.text || ' ' || m.outcome || ' ' || ifnull(round(m.median_ns, 1), '-') AS line "
                              "FROM measurement m JOIN subject s ON s.id = m.subject_id JOIN shape h ON h.id = s.shape_id JOIN workload w ON w.id = s.workload_id JOIN variant v ON v.id = m.variant_id "
                              "ORDER BY line)");
}

static void expect_text(const char *path, const char *sql, const char *wanted)
{
    char *found = ask_database(path, sql);
    ck_assert_msg(strcmp(found, wanted) == 0, "%s: %s, expected %s", sql, found, wanted);
    mt_free(found);
}

static void expect_whole(const char *path, const char *rows)
{
    mt_error err = {0};
    mt_store *store = NULL;
    ck_assert_msg(mt_store_open(path, MT_STORE_READ_WRITE, &store, &err) == MT_OK && fixture_check(store, &err) == MT_OK, "%s", err.message);
    mt_store_close(store);
    expect_text(path, "PRAGMA integrity_check", "ok");
    expect_text(path, "SELECT count(*) FROM pragma_foreign_key_check", "0");
    expect_text(path, "SELECT count(*) FROM intent", "0");
    expect_text(path, "SELECT count(*) FROM strike", "0");
    char *found = rows_of(path);
    ck_assert_msg(strcmp(found, rows) == 0, "%s: after kills:\n%.1500s\n\nundisturbed:\n%.1500s", path, found, rows);
    mt_free(found);
}

static void remove_database(const char *path)
{
    char name[128];
    unlink(path);
    snprintf(name, sizeof name, "%s-wal", path);
    unlink(name);
    snprintf(name, sizeof name, "%s-shm", path);
    unlink(name);
}

/* `words` end with --db and a place for the file. */
static void kill_again_and_again(const char *words[], size_t db_at, int wanted)
{
    int kills = 0, lives = 0;
    words[db_at] = "whole.sqlite";
    run_tool(words, -1); /* compiles, so that the cache is warm for both */
    char *rows = rows_of("whole.sqlite");
    ck_assert_uint_gt(strlen(rows), 0);
    remove_database("whole.sqlite");
    int64_t before = mt_clock_now_ns();
    run_tool(words, -1);
    int64_t whole_us = (mt_clock_now_ns() - before) / 1000;
    expect_whole("whole.sqlite", rows);
    words[db_at] = "killed.sqlite";
    while (kills < wanted) {
        bool ended = false, is_fresh = true;
        while (kills < wanted && !ended) {
            before = mt_clock_now_ns();
            ended = run_tool(words, (int64_t)(mt_rng_uniform(&rng) * 0.9 * (double)whole_us));
            kills += !ended;
            if (ended && is_fresh) whole_us = (mt_clock_now_ns() - before) / 1000; /* the machine has less to do now: else most runs would end before their kill */
            is_fresh = false;
        }
        if (!ended) run_tool(words, -1);
        expect_whole("killed.sqlite", rows);
        remove_database("killed.sqlite");
        lives++;
    }
    printf("%d kills in %d databases; a run that nobody disturbs takes %lld ms\n", kills, lives, (long long)(whole_us / 1000));
    mt_free(rows);
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    setenv("HOME", folder, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    mt_rng_seed(&rng, 20260);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(recorded)
{
    const char *const import[] = {"import", "--as", "recorded", "--db", "rec.sqlite", TEST_DATA_DIR "/cli/demo.small.jsonl", TEST_DATA_DIR "/cli/demo.large.jsonl", NULL};
    const char *tune[MAX_WORDS] = {"--gpu", "recorded:h100", "--recordings", "rec.sqlite", "--space", TEST_DATA_DIR "/cli/demo.ini", "--strategy", "exhaustive", "--quiet", "--db", NULL};
    set_up();
    run_tool(import, -1);
    kill_again_and_again(tune, 10, RECORDED_KILLS);
    tear_down();
}
END_TEST

/* What these ask for depends on what they were told, and when: the one that was killed catches up before it goes on. */
START_TEST(learning_strategies)
{
    const char *const import[] = {"import", "--as", "recorded", "--db", "rec.sqlite", SOURCE_DIR "/db/recordings/msda.seed48.h100.jsonl.zst", NULL};
    const char *tune[MAX_WORDS] = {"--gpu", "recorded:h100", "--recordings", "rec.sqlite", "--space", SOURCE_DIR "/search_spaces/msda.ini", "--shape", "seed48", "--budget", "150",
        "--quiet", "--strategy", "mixed", "--db", NULL};
    set_up();
    run_tool(import, -1);
    kill_again_and_again(tune, 14, LEARNING_KILLS);
    tune[12] = "genetic";
    remove_database("whole.sqlite");
    kill_again_and_again(tune, 14, LEARNING_KILLS);
    tear_down();
}
END_TEST

static void set_up_fake(void)
{
    mt_error err = {0};
    set_up();
    const char *ini = "[kernel]\nname = fake\nsource = " TEST_DATA_DIR "/fake/fake.cu\nreference = fake_add_reference\n[shape small]\nN = 1000\n[algorithm fake_add]\n"
        "[param BLOCK]\nvalues = 32, 64, 96, 128\ndefault = 128\n[param BEHAVIOUR]\nvalues = ok, slow, wrong, nondet, compile_error\n"
        "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = kernel(fake_init)\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(-1, 1)\n"
        "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1e-6\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
        "[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n";
    ck_assert_msg(mt_file_write_atomic("fake.ini", ini, strlen(ini), &err) == MT_OK, "%s", err.message);
    setenv("MSDA_TUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("MSDA_TUNE_NVRTC", BINARY_DIR "/lib/libfake_nvrtc.so", 1);
}

START_TEST(fake_driver)
{
    const char *tune[MAX_WORDS] = {"--space", "fake.ini", "--strategy", "exhaustive", "--jobs", "1", "--shape", "small", "--quiet", "--db", NULL};
    if (!mt_file_exists(FAKE_CUDA)) return;
    set_up_fake();
    kill_again_and_again(tune, 10, FAKE_KILLS);
    tear_down();
}
END_TEST

/* Two that share the work: each has an intent of its own. What is stopped early depends on what was seen before, and so on who is faster: nothing is. */
START_TEST(two_gpus)
{
    const char *tune[MAX_WORDS] = {"--space", "fake.ini", "--strategy", "exhaustive", "--jobs", "2", "--gpu", "all", "--no-race", "--quiet", "--db", NULL};
    if (!mt_file_exists(FAKE_CUDA)) return;
    set_up_fake();
    setenv("MSDA_TUNE_FAKE_GPUS", "Fake GPU,Fake GPU", 1);
    kill_again_and_again(tune, 11, TWO_GPU_KILLS);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kills");
    TCase *group = tcase_create("kills");
    tcase_set_timeout(group, 2 * UNIT_CASE_S); /* integration programs have twice the time of others */
    tcase_add_test(group, recorded);
    tcase_add_test(group, learning_strategies);
    tcase_add_test(group, fake_driver);
    tcase_add_test(group, two_gpus);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
