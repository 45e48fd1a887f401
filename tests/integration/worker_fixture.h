/* What the programs test_worker* share: coordinator and real worker code together, on the fake driver and compiler (tests/fakes). Such a program is its own worker: it execs itself,
 * as the tool does. There are several, so that their waits overlap. */
#pragma once

#include <unistd.h>

#include "tests/unit/ask_database.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/evaluate/eval_worker.h"
#include "tuner/session/session.h"
#if MT_WITH_CUDA
#include "tuner/worker/worker_main.h"
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

/* The fake family with BLOCK = 32, 64 … 224 (7 variants) that behave, and for BLOCK = 64 one more for each of `behaviours`. */
static void write_space(const char *behaviours, const char *more)
{
    mt_strbuf ini = {0};
    has_hang = strstr(behaviours, "hang");
    mt_strbuf_addf(&ini,
        "[kernel]\nname = fake\nsource = %s/fake/fake.cu\nreference = fake_add_reference\n"
        "[shape small]\nN = 10000\n[shape odd]\nN = 4099\nmain = no\n[algorithm fake_add]\n"
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
    const double limit_s = has_hang ? LIMIT_S : PATIENCE_S;
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

static int64_t count(const char *sql)
{
    return ask_number(db_path, sql);
}

static int64_t rows(void)
{
    return count("SELECT count(*) FROM measurement");
}

static void expect_outcome(const char *behaviour, const char *outcome, const char *words)
{
    char sql[512];
    snprintf(sql, sizeof sql, "SELECT m.outcome || ': ' || ifnull(m.text, '') FROM measurement m JOIN variant v ON v.id = m.variant_id WHERE instr(v.text || ';', 'BEHAVIOUR=%s;')", behaviour);
    char *found = ask_database(db_path, sql);
    size_t length = strlen(outcome);
    ck_assert_msg(strncmp(found, outcome, length) == 0 && found[length] == ':', "%s: %s, expected %s", behaviour, found, outcome);
    ck_assert_msg(!words || strstr(found, words), "%s: %s, expected \"%s\"", behaviour, found, words);
    mt_free(found);
}

static void sound(void)
{
    char *state = ask_database(db_path, "PRAGMA integrity_check");
    ck_assert_str_eq(state, "ok");
    mt_free(state);
    ck_assert_int_eq(count("SELECT count(*) FROM intent"), 0);
    ck_assert_int_eq(count("SELECT count(*) - count(DISTINCT subject_id || '/' || variant_id) FROM measurement"), 0);
}

/* The program's main: as a worker what it is told to do, else its tests. */
static int worker_suite(int argc, char **argv, TCase *group, const TTest *const *tests, size_t count)
{
#if MT_WITH_CUDA
    if (argc > 2 && strcmp(argv[1], "worker") == 0) return mt_worker_main(argc - 2, argv + 2);
    if (mt_file_exists(FAKE_CUDA)) return unit_run_group("worker", group, tests, count);
#endif
    return 77;
}
