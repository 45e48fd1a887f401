/* Several GPUs of a host, on the fake driver: equal ones share the work, others get rows of their own, a lost one leaves the rest going. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/ask_database.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

#define FAKE_CUDA BINARY_DIR "/lib/libfake_cuda.so"

static char folder[] = "/tmp/msda-gpus-XXXXXX";
static const char *variant_limit = "200"; /* for hangs: a loaded machine may hold a process up for seconds */

/* `values`: of the knob BEHAVIOUR; 33 blocks each. */
static void set_up(const char *values)
{
    char ini[4096];
    mt_error err = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    setenv("HOME", folder, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("MSDA_TUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("MSDA_TUNE_NVRTC", BINARY_DIR "/lib/libfake_nvrtc.so", 1);
    setenv("MSDA_TUNE_FAKE_LOG", "log.txt", 1);
    snprintf(ini, sizeof ini, "[kernel]\nname = fake\nsource = " TEST_DATA_DIR "/fake/fake.cu\nreference = fake_add_reference\n[shape small]\nN = 1000\n[algorithm fake_add]\n"
        "[param BLOCK]\nvalues = 32..64\ndefault = 64\n[param BEHAVIOUR]\nvalues = %s\n"
        "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = kernel(fake_init)\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(-1, 1)\n"
        "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1e-6\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
        "[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n", values);
    ck_assert_msg(mt_file_write_atomic("fake.ini", ini, strlen(ini), &err) == MT_OK, "%s", err.message);
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static pid_t start(const char *gpus, char *const words[])
{
    pid_t child = fork();
    if (child != 0) return child;
    setenv("MSDA_TUNE_FAKE_GPUS", gpus, 1);
    int out = open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, 1);
    dup2(out, 2);
    execv(MT_TOOL, words);
    _exit(127);
}

static pid_t start_tool(const char *gpus, const char *list)
{
    char *words[] = {MT_TOOL, "--gpu", (char *)list, "--space", "fake.ini", "--strategy", "exhaustive", "--jobs", "2", "--variant-limit", (char *)variant_limit, "--db", "t.sqlite", NULL};
    return start(gpus, words);
}

static pid_t start_portfolio(const char *gpus)
{
    char *words[] = {MT_TOOL, "portfolio", "--measure", "--gpu", "all", "--space", "fake.ini", "--jobs", "4", "--db", "t.sqlite", NULL};
    return start(gpus, words);
}

static char *output(void)
{
    char *text = NULL;
    size_t length;
    mt_error err = {0};
    ck_assert_msg(mt_file_read("out.txt", 0, &text, &length, &err) == MT_OK, "%s", err.message);
    return text;
}

static void expect_end(pid_t tool, int wanted)
{
    int status = 0;
    waitpid(tool, &status, 0);
    char *text = output();
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == wanted, "status %d: %s", status, text);
    mt_free(text);
}

static void run_tool(const char *gpus, const char *list, int wanted)
{
    expect_end(start_tool(gpus, list), wanted);
}

static void expect_output(const char *words)
{
    char *text = output();
    ck_assert_msg(strstr(text, words), "'%s' is not in: %s", words, text);
    mt_free(text);
}

static int64_t number(const char *sql)
{
    return ask_number("t.sqlite", sql);
}

static size_t count_in(const char *file, const char *words)
{
    char *text = NULL;
    size_t length, count = 0;
    mt_error err = {0};
    ck_assert_msg(mt_file_read(file, 0, &text, &length, &err) == MT_OK, "%s", err.message);
    for (const char *at = text; (at = strstr(at, words)); at++) count++;
    mt_free(text);
    return count;
}

static size_t lines_with(const char *words)
{
    return count_in("log.txt", words);
}

/* So long that the work of one GPU is not done before another has begun, whoever of them had to wait for its turn. */
static void take_ms(const char *each_variant)
{
    setenv("MSDA_TUNE_FAKE_LOAD_MS", each_variant, 1);
}

START_TEST(equal_ones_share)
{
    set_up("ok, slow, wrong");
    take_ms("40");
    run_tool("Fake GPU,Fake GPU,Fake GPU", "all", 0);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 99); /* each once */
    ck_assert_int_eq(number("SELECT count(DISTINCT variant_id) FROM measurement"), 99);
    ck_assert_int_eq(number("SELECT count(*) FROM device"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM session"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(number("SELECT json_array_length(times_json, '$.devices') FROM session"), 3);
    ck_assert_int_eq(number("SELECT min(json_extract(value, '$.started')) >= 5 FROM session, json_each(times_json, '$.devices')"), 1);
    ck_assert_int_ge(number("SELECT sum(json_extract(value, '$.started')) FROM session, json_each(times_json, '$.devices')"), 99); /* drift references come on top */
    ck_assert_int_eq(number("SELECT json_extract(times_json, '$.compiled') + json_extract(times_json, '$.cached') FROM session"), 99);
    ck_assert_int_ge(number("SELECT json_extract(times_json, '$.compiled') FROM session"), 98); /* the reference's module is as good as the default variant's */
    ck_assert_int_le(number("SELECT json_extract(times_json, '$.device_ns') - 3 * json_extract(times_json, '$.total_ns') FROM session"), 0);
    ck_assert_int_ge(number("SELECT json_extract(times_json, '$.device_ns') - json_extract(times_json, '$.validate_ns') - json_extract(times_json, '$.time_ns') FROM session"), 0);
    ck_assert_int_le(number("SELECT json_extract(times_json, '$.database_ns') - json_extract(times_json, '$.total_ns') FROM session"), 0);
    for (int gpu = 0; gpu < 3; gpu++) {
        char words[32];
        snprintf(words, sizeof words, "gpu %d\n", gpu);
        ck_assert_uint_gt(lines_with(words), 20);
    }
    run_tool("Fake GPU,Fake GPU,Fake GPU", "2,0", 0); /* nothing is left to do, whoever is there */
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 99);
    tear_down();
}
END_TEST

/* The first `count` calls of cuInit and returns from it, in their order: "+" and "-" (see MSDA_TUNE_FAKE_INIT_MEET). */
static void read_order(const char *path, size_t count, char order[])
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    order[fread(order, 1, count, file)] = '\0';
    fclose(file);
}

/* Which GPUs there are shows without the driver: no start waits for another, each process sees one GPU, and numbers mean what they mean to the caller. */
START_TEST(visible_ones_start_at_once)
{
    char order[4];
    set_up("ok");
    setenv("CUDA_VISIBLE_DEVICES", "3,0,2", 1);
    setenv("MSDA_TUNE_FAKE_INIT_MEET", "3:met.txt", 1); /* one that waits for another's end waits in vain */
    take_ms("100");
    run_tool("Other GPU,Fake GPU,Other GPU,Other GPU", "all", 0);
    read_order("met.txt", 3, order);
    ck_assert_str_eq(order, "+++");
    unsetenv("MSDA_TUNE_FAKE_INIT_MEET");
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 33);
    ck_assert_uint_eq(lines_with("gpu 1\n"), 0);
    ck_assert(lines_with("gpu 0\n") > 0 && lines_with("gpu 2\n") > 0 && lines_with("gpu 3\n") > 0);
    ck_assert_int_eq(unlink("log.txt"), 0);
    run_tool("Fake GPU,Fake GPU,Fake GPU,Fake GPU", "1,0", 0);
    ck_assert(lines_with("gpu 0\n") > 0 && lines_with("gpu 3\n") > 0);
    ck_assert_uint_eq(lines_with("gpu 2\n"), 0);
    run_tool("Fake GPU,Fake GPU,Fake GPU,Fake GPU", "1,3", 3);
    expect_output("GPU 3: expected a number from 0 to 2");
    setenv("CUDA_VISIBLE_DEVICES", "0,1,2", 1); /* more than the driver has, as device files may be */
    run_tool("Fake GPU,Fake GPU", "all", 0);
    expect_output("GPU 2 is left out: ");
    unsetenv("CUDA_VISIBLE_DEVICES");
    tear_down();
}
END_TEST

START_TEST(a_list_leaves_the_others_alone)
{
    set_up("ok");
    take_ms("100");
    run_tool("Fake GPU,Fake GPU,Fake GPU", "2,1,2", 0);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 33);
    ck_assert_uint_eq(lines_with("gpu 0\n"), 0);
    ck_assert(lines_with("gpu 1\n") > 0 && lines_with("gpu 2\n") > 0);
    run_tool("Fake GPU,Fake GPU,Fake GPU", "1,3", 3);
    expect_output("GPU 3: expected a number from 0 to 2");
    run_tool("Fake GPU", "0,x", 2);
    expect_output("--gpu is '0,x', expected auto, all, a device number or several (0,1), or recorded:NAME");
    tear_down();
}
END_TEST

/* What each tuner says of the search space they share is said once. */
static void expect_once(const char *words)
{
    char *text = output(), *first = strstr(text, words);
    ck_assert_msg(first && !strstr(first + 1, words), "expected once: %s\n%s", words, text);
    mt_free(text);
}

START_TEST(models_get_rows_of_their_own)
{
    set_up("ok, wrong\n[param IDLE]\nvalues = 1");
    run_tool("Fake GPU,Other GPU,Fake GPU,Third GPU", "all", 0);
    ck_assert_int_eq(number("SELECT count(*) FROM device"), 3);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 3 * 66);
    ck_assert_int_eq(number("SELECT count(DISTINCT subject_id || ' ' || variant_id) FROM measurement"), 3 * 66);
    ck_assert_int_eq(number("SELECT count(*) FROM best"), 3);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE state = 'done'"), 3);
    ck_assert_int_eq(number("SELECT count(*) FROM intent"), 0);
    expect_once("warning: knob IDLE changes nothing");
    expect_output("[GPU 1,3] fake · small   on Other GPU");
    expect_output("[GPU 1,3] [GPU 3] fake · small   on Third GPU");
    tear_down();
}
END_TEST

/* A Ctrl-C reaches all of them, once. */
START_TEST(ctrl_c_reaches_the_siblings)
{
    int status = 0;
    set_up("ok, slow, wrong, nondet, oob, nan");
    take_ms("60"); /* twelve seconds in all */
    pid_t tool = start_tool("Fake GPU,Other GPU", "all");
    for (int i = 0; i < 6000; i++) {
        bool both = mt_file_exists("log.txt") && lines_with("gpu 0\n") > 0 && lines_with("gpu 1\n") > 0; /* a variant runs on each */
        if (both) break;
        usleep(10000);
    }
    kill(tool, SIGINT);
    waitpid(tool, &status, 0);
    char *text = output();
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 130, "status %d: %s", status, text);
    mt_free(text);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE state = 'interrupted'"), 2);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE warnings LIKE '%truncated after%(interrupted)%the same command completes it%'"), 2);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE truncated"), 2);
    take_ms("0");
    run_tool("Fake GPU,Other GPU", "all", 0);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 2 * 6 * 33);
    ck_assert_int_eq(number("SELECT count(*) FROM intent"), 0);
    tear_down();
}
END_TEST

START_TEST(a_lost_one_leaves_the_others)
{
    set_up("ok, slow, wrong");
    take_ms("40");
    setenv("MSDA_TUNE_FAKE_LOST", "1:gone", 1);
    run_tool("Fake GPU,Fake GPU", "all", 0);
    ck_assert(mt_file_exists("gone"));
    expect_output("GPU 1 is out, the others go on");
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 99);
    ck_assert_int_eq(number("SELECT count(DISTINCT variant_id) FROM measurement"), 99);
    ck_assert_int_eq(number("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE state = 'done' AND warnings LIKE 'GPU 1 is out%'"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'crashed'") + number("SELECT count(*) FROM strike"), 0);
    ck_assert_int_eq(number("SELECT json_extract(times_json, '$.devices[1].lost') FROM session"), 1);
    run_tool("Fake GPU,Fake GPU", "all", 0); /* it does not even start now */
    expect_output("GPU 1 is left out");
    run_tool("Fake GPU,Fake GPU", "0,1", 1);
    expect_output("GPU 1: device: CUDA_ERROR_INVALID_VALUE");
    tear_down();
}
END_TEST

/* No variant has an end of its own when the only GPU goes; it is measured once the GPU is back. */
START_TEST(the_only_one_is_lost)
{
    set_up("ok, slow, wrong");
    setenv("MSDA_TUNE_FAKE_LOST", "0:gone", 1);
    run_tool("Fake GPU", "0", 1);
    ck_assert(mt_file_exists("gone"));
    expect_output("the same command goes on from there");
    int64_t kept = number("SELECT count(*) FROM measurement");
    ck_assert_int_gt(kept, 0);
    ck_assert_int_lt(kept, 99);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'crashed'") + number("SELECT count(*) FROM strike") + number("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE state = 'failed' AND warnings LIKE 'GPU 0 is out: %'"), 1);
    unsetenv("MSDA_TUNE_FAKE_LOST");
    run_tool("Fake GPU", "0", 0);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 99);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'crashed'") + number("SELECT count(*) FROM strike"), 0);
    tear_down();
}
END_TEST

/* Everything is known, but not who is the fastest. */
static void forget_the_final(void)
{
    ck_assert_int_eq(number("UPDATE best SET final_id = NULL RETURNING 0"), 0);
    number("DELETE FROM finalist");
    number("DELETE FROM final_round");
    ck_assert_int_eq(number("SELECT (SELECT count(*) FROM finalist) + (SELECT count(*) FROM final_round)"), 0);
}

START_TEST(a_final_is_shared)
{
    set_up("ok, slow");
    take_ms("40");
    run_tool("Fake GPU,Fake GPU,Fake GPU", "all", 0);
    int64_t finalists = number("SELECT count(*) FROM finalist");
    ck_assert_int_gt(finalists, 1);
    ck_assert_int_eq(number("SELECT count(*) FROM final_round WHERE rounds = 12"), 1);
    forget_the_final();
    run_tool("Fake GPU,Fake GPU,Fake GPU", "all", 0);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement"), 66);
    ck_assert_int_eq(number("SELECT count(*) FROM final_round WHERE rounds = 12"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM finalist"), finalists);
    ck_assert_int_eq(number("SELECT sum(json_extract(value, '$.started')) FROM session, json_each(times_json, '$.devices') WHERE session.id = 2"), 12 * finalists);
    ck_assert_int_ge(number("SELECT min(json_extract(value, '$.started')) FROM session, json_each(times_json, '$.devices') WHERE session.id = 2"), finalists);
    ck_assert_int_eq(number("SELECT count(*) FROM intent"), 0);
    tear_down();
}
END_TEST

/* The rounds that it had are taken by the other. What ran when it went is not at fault. */
START_TEST(one_is_lost_in_a_final)
{
    set_up("ok, slow");
    run_tool("Fake GPU,Fake GPU", "0", 0);
    forget_the_final();
    take_ms("40");
    setenv("MSDA_TUNE_FAKE_LOST", "1:gone", 1);
    run_tool("Fake GPU,Fake GPU", "all", 0);
    ck_assert(mt_file_exists("gone"));
    expect_output("GPU 1 is out, the others go on");
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome NOT IN ('ok', 'censored')"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM strike"), 0);
    ck_assert_int_ge(number("SELECT count(*) FROM final_round WHERE rounds = 12"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM final_round WHERE rounds <> 12"), 0);
    ck_assert_int_gt(number("SELECT count(*) FROM finalist"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM finalist WHERE NOT median_ns > 0 OR NOT ratio >= 1"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(number("SELECT json_extract(times_json, '$.devices[1].lost') FROM session WHERE id = 2"), 1);
    tear_down();
}
END_TEST

/* A second's worth of variants on each: what is not spent on them is told. */
START_TEST(idle_time_has_its_reasons)
{
    set_up("ok");
    take_ms("20");
    run_tool("Fake GPU,Fake GPU", "all", 0);
    ck_assert_int_ge(number("SELECT min(json_extract(value, '$.busy_ns') - 20000000 * json_extract(value, '$.started')) FROM session, json_each(times_json, '$.devices')"), 0);
    ck_assert_int_ge(number("SELECT min(json_extract(value, '$.idle_setup_ns')) FROM session, json_each(times_json, '$.devices')"), 1);
    ck_assert_int_ge(number("SELECT min(json_extract(value, '$.idle_dispatch_ns')) FROM session, json_each(times_json, '$.devices')"), 1);
    ck_assert_int_ge(number("SELECT min(json_extract(value, '$.idle_no_compiled_ns')) FROM session, json_each(times_json, '$.devices')"), 0);
    ck_assert_int_ge(number("SELECT min(json_extract(times_json, '$.total_ns') - json_extract(value, '$.busy_ns') - json_extract(value, '$.idle_setup_ns') - json_extract(value, '$.idle_dispatch_ns') "
                            "- json_extract(value, '$.idle_no_compiled_ns')) FROM session, json_each(times_json, '$.devices')"), 0);
    ck_assert_int_ge(number("SELECT json_extract(times_json, '$.coordinator_cpu_ns') FROM session"), 1);
    tear_down();
}
END_TEST

/* One hangs in a variant: the other evaluates the rest meanwhile. */
START_TEST(a_hanging_one_delays_nobody)
{
    set_up("ok, hang");
    char command[] = "sed -i 's/^values = 32..64/values = 60..64/' fake.ini";
    ck_assert_int_eq(system(command), 0);
    variant_limit = "6";
    run_tool("Fake GPU,Fake GPU,Fake GPU,Fake GPU", "all", 0);
    ck_assert_int_gt(number("SELECT json_extract(times_json, '$.device_ns') FROM session"), 5000000000); /* five times a second or more */
    ck_assert_int_gt(number("SELECT json_extract(times_json, '$.device_ns') - json_extract(times_json, '$.total_ns') FROM session"), 0); /* side by side */
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'timeout'"), 5);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'ok'"), 5);
    ck_assert_int_eq(number("SELECT count(*) FROM strike WHERE cause = 'timeout'"), 5);
    tear_down();
}
END_TEST

/* ---- portfolio --measure ---- */

/* Six shapes, of which each was tuned with four variants of its own: 24 variants, each missing on five shapes. */
enum { SUBJECTS = 6, VARIANTS = 24 };

static void tune_apart(void)
{
    set_up("ok");
    char command[] = "sed -i 's/^values = 32..64/values = 241..264/; s/^default = 64/default = 256/; s/^\\[shape small\\]/"
                     "[shape s1]\\nN = 1001\\n[shape s2]\\nN = 2002\\n[shape s3]\\nN = 3003\\n[shape s4]\\nN = 4004\\n[shape s5]\\nN = 5005\\n[shape small]/; s/^N = 1000$/N = 6006/' fake.ini && cp fake.ini now.ini && "
                     "printf '[constraint part]\\nexpr = BLOCK %% 6 == N %% 1000 %% 6\\nwhy = each shape has its own\\n' >>fake.ini";
    ck_assert_int_eq(system(command), 0);
    run_tool("Fake GPU", "0", 0);
    ck_assert_int_eq(rename("now.ini", "fake.ini"), 0);
    ck_assert_int_eq(number("SELECT count(*) FROM subject"), SUBJECTS);
    char domain[16];
    snprintf(domain, sizeof domain, "%ld", (long)getpid());
    setenv("MSDA_TUNE_FAKE_DOMAIN", domain, 1); /* processes see the same GPUs, which no other run of this test has */
}

static void expect_all_measured(void)
{
    ck_assert_int_eq(number("SELECT count(DISTINCT subject_id || ' ' || variant_id) FROM measurement WHERE outcome = 'ok'"), SUBJECTS * VARIANTS);
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome NOT IN ('ok', 'compiler_killed')") + number("SELECT count(*) FROM strike") + number("SELECT count(*) FROM intent"), 0);
}

/* Each subject is set up once, on one GPU, which measures all of its variants; none is measured twice, and the portfolio is chosen once by each. */
START_TEST(a_portfolio_shares_its_subjects)
{
    tune_apart();
    int64_t sessions = number("SELECT count(*) FROM session");
    setenv("MSDA_TUNE_TIMES", "times.txt", 1);
    take_ms("20");
    expect_end(start_portfolio("Fake GPU,Fake GPU,Fake GPU"), 0);
    unsetenv("MSDA_TUNE_TIMES");
    expect_all_measured();
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'ok'"), SUBJECTS * VARIANTS);
    ck_assert_uint_eq(count_in("times.txt", " subject "), SUBJECTS);
    ck_assert_int_eq(number("SELECT max(n) FROM (SELECT count(DISTINCT session_id) AS n FROM measurement WHERE session_id > 1 GROUP BY subject_id)"), 1);
    ck_assert_int_eq(number("SELECT count(*) FROM session"), sessions + 3);
    ck_assert_uint_eq(count_in("times.txt", " predictor "), 3);
    ck_assert_uint_eq(count_in("out.txt", "another msda-tune"), 0);
    ck_assert_uint_eq(count_in("out.txt", "other process"), 0);
    expect_output("[GPU 1] s");
    expect_output("on 6 of 6 shapes");
    expect_end(start_portfolio("Fake GPU,Fake GPU,Fake GPU"), 0); /* nothing is left to do */
    ck_assert_int_eq(number("SELECT count(*) FROM session"), sessions + 3);
    tear_down();
}
END_TEST

static void lose_in_a_portfolio(const char *lost)
{
    tune_apart();
    take_ms("20");
    setenv("MSDA_TUNE_FAKE_LOST", lost, 1);
    expect_end(start_portfolio("Fake GPU,Fake GPU,Fake GPU"), 0);
    ck_assert(mt_file_exists("gone"));
    expect_all_measured();
    ck_assert_int_ge(number("SELECT count(*) FROM session WHERE state = 'failed'"), 1);
}

/* What it had not done is measured by the others, also where it is the GPU of the process that they help. */
START_TEST(a_portfolio_goes_on_without_a_helper)
{
    lose_in_a_portfolio("1:gone");
    tear_down();
}
END_TEST

START_TEST(a_portfolio_goes_on_without_the_first)
{
    lose_in_a_portfolio("0:gone");
    ck_assert_int_eq(number("SELECT count(*) FROM session"), 1 + 3 + 1); /* tuning, all GPUs, and one of the two for the subject that is left */
    tear_down();
}
END_TEST

START_TEST(ctrl_c_ends_a_portfolio)
{
    tune_apart();
    take_ms("100");
    pid_t tool = start_portfolio("Fake GPU,Fake GPU");
    for (int i = 0; i < 6000 && !count_in("out.txt", "[GPU 1] s"); i++) usleep(10000);
    kill(tool, SIGINT);
    expect_end(tool, 130);
    ck_assert_int_eq(number("SELECT count(*) FROM session WHERE state = 'interrupted'"), 2);
    take_ms("0");
    expect_end(start_portfolio("Fake GPU,Fake GPU"), 0);
    expect_all_measured();
    ck_assert_int_eq(number("SELECT count(*) FROM measurement WHERE outcome = 'ok'"), SUBJECTS * VARIANTS);
    tear_down();
}
END_TEST

int main(void)
{
    if (!mt_file_exists(FAKE_CUDA)) return 77;
    TCase *group = tcase_create("gpus");
    const TTest *const tests[] = {equal_ones_share, visible_ones_start_at_once, a_list_leaves_the_others_alone, models_get_rows_of_their_own, ctrl_c_reaches_the_siblings, a_lost_one_leaves_the_others, the_only_one_is_lost, a_final_is_shared, one_is_lost_in_a_final,
        idle_time_has_its_reasons, a_hanging_one_delays_nobody, a_portfolio_shares_its_subjects, a_portfolio_goes_on_without_a_helper, a_portfolio_goes_on_without_the_first, ctrl_c_ends_a_portfolio};
    return unit_run_group("gpus", group, tests, sizeof tests / sizeof tests[0]);
}
