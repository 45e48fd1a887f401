/* The whole life of variants on the fake driver. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/evaluate_fixture.h"
#include "tests/unit/fakes.h"
#include "tests/unit/unit.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/trial/evaluate.h"
#include "tuner/space/source/macros.h"

static mt_outcome evaluate(bench *b, const char *behaviour)
{
    char text[96];
    mt_outcome outcome;
    snprintf(text, sizeof text, "ALGO=fake_add;BEHAVIOUR=%s;BLOCK=128", behaviour);
    GOOD(try_point(b, text, &outcome));
    return outcome;
}

static void expect(bench *b, const char *behaviour, mt_outcome_kind kind, const char *part)
{
    mt_outcome outcome = evaluate(b, behaviour);
    ck_assert_msg(outcome.kind == kind, "%s: %s: %s", behaviour, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    ck_assert_msg(!part || strstr(outcome.text, part), "%s: %s", behaviour, outcome.text ? outcome.text : "");
    ck_assert_int_eq(b->sticky, kind == MT_OUTCOME_GPU_FAULT);
    ck_assert((kind == MT_OUTCOME_OK) == (outcome.sample_ns != NULL));
    mt_outcome_free(&outcome);
}

/* After each misbehaving variant a good one must still be good: nothing of the damage may stay. */
START_TEST(every_behaviour_has_its_outcome)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "small");
    static const struct {
        const char *behaviour, *part;
        mt_outcome_kind kind;
    } cases[] = {
        {"wrong", "out: ‖out − ref‖/‖ref‖ = 0.1 (limit 1e-06), worst element", MT_OUTCOME_WRONG_RESULT},
        {"wrong_tail", "128 of 10000 elements not written, first 9872", MT_OUTCOME_WRONG_RESULT},
        {"nan", "first 7: nan instead of", MT_OUTCOME_WRONG_RESULT},
        {"oob", "out: wrote past its end, from byte +0", MT_OUTCOME_OUT_OF_BOUNDS},
        {"wrote_input", "changed a", MT_OUTCOME_WROTE_INPUT},
        {"nondet", "two runs differ in 1 of 10000 elements, first 0", MT_OUTCOME_NONDETERMINISTIC},
        {"launch_error", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", MT_OUTCOME_LAUNCH_ERROR},
        {"load_error", "CUDA_ERROR_INVALID_IMAGE", MT_OUTCOME_LOAD_ERROR},
        {"slow", NULL, MT_OUTCOME_OK},
    };
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(b, cases[i].behaviour, cases[i].kind, cases[i].part);
        expect(b, "ok", MT_OUTCOME_OK, NULL);
    }
    expect(b, "illegal_address", MT_OUTCOME_GPU_FAULT, "CUDA_ERROR_ILLEGAL_ADDRESS");
    close_bench(b);
}
END_TEST

/* A space of fake_add, with more keys for `out`. */
#define LITTLE_SPACE(shape, out)                                                                                                                              \
    "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape " shape "]\nN = 100000\n[algorithm fake_add]\n[param BLOCK]\nvalues = 128\n"     \
    "[param BEHAVIOUR]\nvalues = ok, oob, wrong, nondet\n[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = kernel(fake_init)\n"                    \
    "[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = normal(0, 1)\n[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = 1e-6\n" \
    out "[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n"

/* Bounds that the shape says arrive in the inputs: N .. N are all N. */
START_TEST(bounds_of_an_init_are_of_the_shape)
{
    bench *b = &(bench){0};
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add]\n[params]\nBLOCK = 128\nBEHAVIOUR = ok, wrong\n"
                  "[args]\na = in f32 [N] uniform(N, N)\nb = in f32 [N] zeros\nout = out f32 [N]\ncount = scalar u64 N\n[launch 1]\nargs = a, b, out, count\ngrid = 8\nblock = BLOCK\n",
               "s");
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    expect(b, "wrong", MT_OUTCOME_WRONG_RESULT, "instead of 1000 ");
    close_bench(b);
}
END_TEST

/* One bit changes: no bits may, no bound at all, a bound above that and one below. */
START_TEST(two_runs_by_bits_or_within_a_spread)
{
    static const struct { const char *ini, *part; } cases[] = {
                 {LITTLE_SPACE("s", ""), "out: two runs differ in 1 of 100000 elements"}, {LITTLE_SPACE("s", "order = any\n"), NULL},
                 {LITTLE_SPACE("s", "order = any\nspread = 1e-7\n"), NULL},
                 {LITTLE_SPACE("s", "order = any\nspread = 1e-13\n"), "out: two runs differ: ‖second − first‖/‖first‖ = "}};
    bench *b = &(bench){0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_bench(b, cases[i].ini, "s");
        expect(b, "nondet", cases[i].part ? MT_OUTCOME_NONDETERMINISTIC : MT_OUTCOME_OK, cases[i].part);
        close_bench(b);
    }
}
END_TEST

START_TEST(an_ok_outcome_is_complete)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "small");
    mt_outcome ok = evaluate(b, "ok");
    ck_assert_double_eq_tol(ok.timing.median_ns, 33560, 1); /* the launch's 1 µs included */
    ck_assert_uint_eq(ok.timing.samples, 10);
    ck_assert_uint_eq(ok.timing.batch, 1);
    ck_assert_double_eq_tol(ok.timing.sm_mhz, 1980, 1);
    ck_assert_str_eq(ok.accuracy.output, "out");
    ck_assert(ok.accuracy.norm_error > 0 && ok.accuracy.norm_error < 1e-7);
    ck_assert_uint_eq(ok.resources.registers, 32);
    ck_assert_uint_eq(ok.resources.blocks_per_sm, 16);
    ck_assert_int_eq(ok.resources.carveout_percent, 7); /* 16 × 1 KiB reserved: the split at 16 of 228 KiB */
    ck_assert_str_eq(mt_gpu_launch_json(b->gpu), "{\"launches\":[{\"entry\":\"fake_add\",\"grid\":[79,1,1],\"block\":[128,1,1],\"smem\":0,\"carveout\":7}]}");
    static const mt_stage stages[] = {MT_STAGE_PREPARE_INPUTS, MT_STAGE_REFERENCE, MT_STAGE_PREPARE_INPUTS, MT_STAGE_REFERENCE, MT_STAGE_PREPARE_INPUTS,
                                      MT_STAGE_LOAD, MT_STAGE_VALIDATE, MT_STAGE_TIME, MT_STAGE_VALIDATE, MT_STAGE_DONE};
    ck_assert_uint_eq(b->stage_count, sizeof stages / sizeof stages[0]);
    for (size_t i = 0; i < b->stage_count; i++) ck_assert_int_eq(b->stages[i], stages[i]);
    mt_outcome again = evaluate(b, "ok"), slow = evaluate(b, "slow");
    ck_assert_double_eq(again.timing.median_ns, ok.timing.median_ns);
    ck_assert_uint_eq(b->stage_count, 5); /* inputs were kept */
    ck_assert_double_eq_tol(slow.timing.median_ns, 326600, 1);
    mt_outcome_free(&ok), mt_outcome_free(&again), mt_outcome_free(&slow);
    close_bench(b);
}
END_TEST

/* A tuner tells its workers a path that leads to a descriptor: the same file has others, and the same path another file. */
START_TEST(inputs_are_kept_by_the_file_not_by_its_path)
{
    bench *b = &(bench){0};
    char folder[] = "/tmp/mt-support-XXXXXX", path[64], *cubin = NULL;
    size_t bytes;
    open_bench(b, NULL, "small");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/support", folder);
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    ck_assert_int_eq(symlink(b->support.cubin_path, path), 0);
    b->subject.support_cubin = path;
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    ck_assert_uint_eq(b->stage_count, 5);
    GOOD(mt_file_read(b->support.cubin_path, 0, &cubin, &bytes, &b->err));
    GOOD(mt_file_write_atomic(path, cubin, bytes, &b->err));
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    ck_assert_uint_gt(b->stage_count, 5);
    mt_free(cubin);
    ck_assert(unlink(path) == 0 && rmdir(folder) == 0);
    close_bench(b);
}
END_TEST

/* Stopped after three samples, with what was seen; a variant that is close is timed to the end. */
START_TEST(racing_stops_the_hopeless)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "small");
    b->timing.race_factor = 1.1;
    b->timing.race_ns = 33000;
    mt_outcome slow = evaluate(b, "slow"), ok = evaluate(b, "ok");
    ck_assert_int_eq(slow.kind, MT_OUTCOME_CENSORED);
    ck_assert_uint_eq(slow.timing.samples, 3);
    ck_assert_double_eq_tol(slow.timing.median_ns, 326600, 1);
    ck_assert_ptr_nonnull(slow.sample_ns);
    ck_assert_str_eq(slow.accuracy.output, "out"); /* validated before it was timed */
    ck_assert_str_eq(slow.text, "stopped after 3 samples: 326.60 µs at best, the incumbent 33.00 µs");
    ck_assert_int_eq(ok.kind, MT_OUTCOME_OK);
    ck_assert_uint_eq(ok.timing.samples, 10);
    b->timing.race_ns = 30000; /* 33.56 is less than 1.25 times that, but its whole interval is above 1.1 times */
    mt_outcome close = evaluate(b, "ok");
    ck_assert_int_eq(close.kind, MT_OUTCOME_CENSORED);
    ck_assert_uint_eq(close.timing.samples, 6);
    mt_outcome_free(&slow), mt_outcome_free(&ok), mt_outcome_free(&close);
    close_bench(b);
}
END_TEST

/* A re-timing is loaded and timed only: what was validated before is not validated again. */
START_TEST(retiming_only_times)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "small");
    mt_outcome first = evaluate(b, "ok");
    b->is_retime = true;
    b->timing.min_samples = b->timing.max_samples = 5;
    mt_outcome again = evaluate(b, "ok"), unchecked = evaluate(b, "wrong");
    ck_assert_int_eq(again.kind, MT_OUTCOME_OK);
    ck_assert_uint_eq(again.timing.samples, 5);
    ck_assert_double_eq(again.timing.median_ns, first.timing.median_ns);
    ck_assert_str_eq(again.accuracy.output, "");
    ck_assert_int_eq(unchecked.kind, MT_OUTCOME_OK);
    static const mt_stage stages[] = {MT_STAGE_LOAD, MT_STAGE_TIME, MT_STAGE_DONE};
    ck_assert_uint_eq(b->stage_count, 3);
    for (size_t i = 0; i < 3; i++) ck_assert_int_eq(b->stages[i], stages[i]);
    expect(b, "illegal_address", MT_OUTCOME_GPU_FAULT, "timing"); /* a fault is one all the same */
    mt_outcome_free(&first), mt_outcome_free(&again), mt_outcome_free(&unchecked);
    close_bench(b);
}
END_TEST

START_TEST(short_kernels_are_batched)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "odd");
    mt_outcome cold = evaluate(b, "short");
    ck_assert_double_eq_tol(cold.timing.median_ns, 4256, 1);
    ck_assert_uint_gt(cold.timing.batch, 20);
    b->timing.l2 = MT_L2_WARM;
    mt_outcome warm = evaluate(b, "short");
    ck_assert_double_eq_tol(warm.timing.median_ns, 4256, 1);
    ck_assert_uint_gt(warm.timing.batch, 20);
    ck_assert_int_eq(warm.timing.l2, MT_L2_WARM);
    mt_outcome_free(&cold), mt_outcome_free(&warm);
    close_bench(b);
}
END_TEST

/* With room for one set of inputs, each seed's is made again: slower, same verdicts. */
START_TEST(little_memory_is_enough)
{
    bench *b = &(bench){0};
    setenv("MSDA_TUNE_FAKE_MEMORY", "7", 1); /* MiB */
    open_bench(b, LITTLE_SPACE("big", ""), "big");
    for (int i = 0; i < 2; i++) expect(b, "ok", MT_OUTCOME_OK, NULL);
    ck_assert_uint_gt(b->stage_count, 5); /* inputs and references were made in between */
    expect(b, "oob", MT_OUTCOME_OUT_OF_BOUNDS, NULL), expect(b, "wrong", MT_OUTCOME_WRONG_RESULT, NULL);
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    close_bench(b);
}
END_TEST

START_TEST(guard_pages_fault)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "odd");
    b->subject.guard_pages = true;
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    fflush(NULL);
    pid_t child = fork(); /* the fake's memory really ends there */
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(0); /* a sanitizer would tell its story */
        mt_outcome outcome = evaluate(b, "oob");
        mt_outcome_free(&outcome);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    close_bench(b);
}
END_TEST

static void write_npy(const char *path, const char *descr, size_t count, size_t bytes)
{
    char header[128];
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }\n", descr, count);
    fwrite("\x93NUMPY\x01\x00", 1, 8, out);
    fputc(length & 255, out);
    fputc(length >> 8, out);
    fwrite(header, 1, (size_t)length, out);
    for (size_t i = 0; i < bytes; i++) fputc(0, out);
    fclose(out);
}

START_TEST(inputs_from_files)
{
    bench *b = &(bench){0};
    char path[] = "/tmp/mt-input-XXXXXX.npy";
    close(mkstemps(path, 4));
    mt_outcome outcome;
    open_bench(b, NULL, "odd");
    mt_input_file file = {"a", path};
    b->subject.inputs = &file;
    b->subject.input_count = 1;
    write_npy(path, "<f4", 4099, 4 * 4099);
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    b->subject.seed = 2; /* another subject: the file is read again */
    write_npy(path, "<f4", 4098, 4 * 4098);
    ck_assert_int_eq(try_point(b, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128", &outcome), MT_ERR_SPEC);
    ck_assert_ptr_nonnull(strstr(b->err.message, "f32[4098]: expected f32[4099]"));
    mt_outcome_free(&outcome);
    file.arg = "nope";
    ck_assert_int_eq(try_point(b, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128", &outcome), MT_ERR_USAGE);
    mt_outcome_free(&outcome);
    unlink(path);
    close_bench(b);
}
END_TEST

START_TEST(parameters_must_fit_the_kernel)
{
    bench *b = &(bench){0};
    mt_outcome outcome;
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add]\n[param BLOCK]\nvalues = 128\n"
                  "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
                  "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
                  "[launch 1]\nargs = a, b, out\ngrid = 8\nblock = BLOCK\n[launch reference 1]\nargs = a, b, out, count\ngrid = 4\nblock = 256\n",
               "s");
    GOOD(try_point(b, "ALGO=fake_add;BLOCK=128", &outcome));
    ck_assert_int_eq(outcome.kind, MT_OUTCOME_LOAD_ERROR);
    ck_assert_str_eq(outcome.text, "fake_add has 4 parameters, the launch lists 3");
    mt_outcome_free(&outcome);
    close_bench(b);
}
END_TEST

START_TEST(cycles_of_the_blocks)
{
    bench *b = &(bench){0};
    mt_outcome outcome;
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add_counting]\n[param BLOCK]\nvalues = 100\n"
                  "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
                  "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
                  "[arg cycles]\nkind = tensor\nrole = scratch\ndtype = u64\nshape = ceil_div(N, BLOCK)\ncycles = yes\n"
                  "[launch 1]\nargs = a, b, out, count, cycles\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n",
               "s");
    GOOD(try_point(b, "ALGO=fake_add_counting;BLOCK=100", &outcome));
    ck_assert_msg(outcome.kind == MT_OUTCOME_OK, "%s", outcome.text ? outcome.text : "");
    ck_assert_uint_eq(outcome.cycles.blocks, 9); /* of 10; one wrote no counter */
    ck_assert_uint_eq(outcome.cycles.min, 1000);
    ck_assert_uint_eq(outcome.cycles.max, 1080);
    ck_assert_double_eq_tol(outcome.cycles.mean, 1040, 1e-9);
    mt_outcome_free(&outcome);
    close_bench(b);
}
END_TEST

/* It does half of the work: wrong for a variant, a fact for a yardstick. */
START_TEST(a_yardstick_is_timed_and_not_compared)
{
    bench *b = &(bench){0};
    mt_outcome outcome;
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add]\n[algorithm half]\nentry = fake_second\nyardstick = yes\n"
                  "[param BLOCK]\nvalues = 128\n[param BEHAVIOUR]\nvalues = ok, illegal_address\n"
                  "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
                  "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
                  "[launch 1]\nargs = a, b, out, count\ngrid = ceil_div(N, BLOCK)\nblock = BLOCK\n",
               "s");
    GOOD(try_point(b, "ALGO=half;BLOCK=128;BEHAVIOUR=ok", &outcome));
    ck_assert_msg(outcome.kind == MT_OUTCOME_YARDSTICK, "%s", outcome.text ? outcome.text : "");
    ck_assert(outcome.timing.median_ns > 0 && outcome.timing.samples > 0);
    ck_assert_str_eq(outcome.accuracy.output, "");
    mt_outcome_free(&outcome);
    GOOD(try_point(b, "ALGO=fake_add;BLOCK=128;BEHAVIOUR=ok", &outcome));
    ck_assert_int_eq(outcome.kind, MT_OUTCOME_OK);
    mt_outcome_free(&outcome);
    close_bench(b);
}
END_TEST

/* Illegal with that text; ok where it is NULL. */
static void expect_illegal(bench *b, const char *variant, const char *text)
{
    mt_outcome outcome;
    GOOD(try_point(b, variant, &outcome));
    ck_assert_msg(outcome.kind == (text ? MT_OUTCOME_ILLEGAL : MT_OUTCOME_OK), "%s: %s: %s", variant, mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    if (text) ck_assert_str_eq(outcome.text, text);
    mt_outcome_free(&outcome);
}

/* What the planner can't know: the compiled kernel's registers. A persistent grid that does not fit would hang, so it is not run. */
/* What the hardware can't hold is refused, and the largest that it can is named; 16 blocks are opted into. */
START_TEST(clusters_must_fit)
{
    static const struct {
        const char *variant, *text;
    } cases[] = {
        {"ALGO=fake_add;CLUSTER=16;CLUSTER_DIMS=0;GROUP=16", NULL},
        {"ALGO=fake_add;CLUSTER=8;CLUSTER_DIMS=0;GROUP=16", NULL},
        {"ALGO=fake_add;CLUSTER=8;CLUSTER_DIMS=8;GROUP=16", NULL},
        {"ALGO=fake_add;CLUSTER=16;CLUSTER_DIMS=8;GROUP=16", "fake_add: cluster 16×1×1: its __cluster_dims__ say 8×1×1"},
        {"ALGO=fake_add;CLUSTER=1;CLUSTER_DIMS=8;GROUP=16", NULL},
        {"ALGO=fake_add;CLUSTER=1;CLUSTER_DIMS=3;GROUP=16", "fake_add: of its __cluster_dims__ cluster.x 3 does not divide grid.x 16: the largest up to it that does is 2"},
        {"ALGO=fake_add;CLUSTER=8;CLUSTER_DIMS=0;GROUP=1", "fake_add: no cluster of 8 blocks with 1024 threads and 0 bytes of shared memory each can be resident; the largest cluster that fits has 2"},
        {"ALGO=fake_add;CLUSTER=16;CLUSTER_DIMS=0;GROUP=3", "fake_add: no cluster of 16 blocks with 1024 threads and 0 bytes of shared memory each can be resident; the largest cluster that fits has 6"},
    };
    bench *b = &(bench){0};
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add]\n[param CLUSTER]\nvalues = 1, 8, 16\n[param CLUSTER_DIMS]\nvalues = 0, 3, 8\n"
                  "[param GROUP]\nvalues = 1, 3, 16\n[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
                  "[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n"
                  "[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n[launch 1]\nargs = a, b, out, count\ngrid = 16\nblock = 1024\ncluster = CLUSTER\n",
               "s");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_illegal(b, cases[i].variant, cases[i].text);
    close_bench(b);
}
END_TEST

START_TEST(residency_by_the_compiled_kernel)
{
    static const struct {
        const char *variant, *text;
    } cases[] = {
        {"ALGO=fake_add;PER_SM=2;REGS=128", NULL},
        {"ALGO=fake_add;PER_SM=3;REGS=128", "fake_add: counts on 3 blocks per SM, 2 fit (128 registers a thread, 256 threads, 0 bytes of shared memory)"},
        {"ALGO=fake_add;PER_SM=3;REGS=32", NULL},
        {"ALGO=persistent;PER_SM=2;REGS=128", NULL},
        {"ALGO=persistent;PER_SM=3;REGS=128", "fake_add: a persistent grid must be resident at once: 396 blocks, 264 fit"},
        {"ALGO=together;PER_SM=3;REGS=128", "fake_add: a cooperative grid must be resident at once: 396 blocks, 264 fit"},
        {"ALGO=together;PER_SM=3;REGS=64", NULL},
    };
    bench *b = &(bench){0};
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add]\n[algorithm persistent]\nentry = fake_add\n"
                  "[algorithm together]\nentry = fake_add\n[param REGS]\nvalues = 32, 64, 128\n[param PER_SM]\nvalues = 2, 3\n"
                  "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
                  "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
                  "[launch fake_add 1]\nargs = a, b, out, count\ngrid = 8\nblock = 256\nblocks_per_sm = PER_SM\n"
                  "[launch persistent 1]\nargs = a, b, out, count\ngrid = PER_SM * device.sm_count\nblock = 256\nresident = yes\n"
                  "[launch together 1]\nargs = a, b, out, count\ngrid = PER_SM * device.sm_count\nblock = 256\ncooperative = yes\n",
               "s");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) expect_illegal(b, cases[i].variant, cases[i].text);
    close_bench(b);
}
END_TEST

/* Neither the first launch's nor the last one's: a kernel that zeroes its output first, and rounds it at the end, is the one in the middle. */
START_TEST(resources_are_the_worst_over_launches)
{
    bench *b = &(bench){0};
    mt_outcome outcome;
    open_bench(b, "[kernel]\nname = fake\nsource = fake.cu\nreference = fake_add_reference\n[shape s]\nN = 1000\n[algorithm fake_add]\n[param REGS]\nvalues = 64\n"
                  "[arg a]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[arg b]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
                  "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n[arg count]\nkind = scalar\ndtype = u64\nvalue = N\n"
                  "[launch 1]\nargs = a, b, out, count\ngrid = 8\nblock = 256\n"
                  "[launch 2]\nargs = a, b, out, count\ngrid = 8\nblock = 128\nsmem = 100000\ncarveout = 100\n"
                  "[launch 3]\nargs = a, b, out, count\ngrid = 16\nblock = 128\ncluster = 8\n",
               "s");
    GOOD(try_point(b, "ALGO=fake_add;REGS=64", &outcome));
    ck_assert_msg(outcome.kind == MT_OUTCOME_OK, "%s", outcome.text ? outcome.text : "");
    ck_assert_uint_eq(outcome.resources.registers, 64);
    ck_assert_uint_eq(outcome.resources.dynamic_smem_bytes, 100000);
    ck_assert_uint_eq(outcome.resources.blocks_per_sm, 2);
    ck_assert_int_eq(outcome.resources.carveout_percent, 100);
    ck_assert_uint_gt(outcome.resources.active_clusters, 0);
    mt_outcome_free(&outcome);
    close_bench(b);
}
END_TEST

/* The n-th allocation fails: an error and nothing left behind (sanitizer builds look for leaks), and the next try works. */
START_TEST(running_out_of_memory_is_an_error)
{
    bench *b = &(bench){0};
    mt_point point;
    mt_options options = {0};
    open_bench(b, NULL, "odd");
    GOOD(mt_point_parse(b->spec, "ALGO=fake_add;BEHAVIOUR=ok;BLOCK=128", &point, &b->err));
    GOOD(mt_env_set_point(b->env, &point, &b->err));
    GOOD(mt_options_variant(b->env, &options, &b->err));
    mt_compile_result variant = compile(b, &b->source, &options);
    mt_options_free(&options);
    const mt_evaluate_request request = {.subject = &b->subject, .point = &point, .cubin_path = variant.cubin_path, .timing = b->timing};
    size_t failures = 0, good_in_a_row = 0;
    for (size_t n = 1; good_in_a_row < 20; n++) {
        mt_outcome outcome;
        mt_alloc_fail_at(n);
        mt_status st = mt_gpu_evaluate(b->gpu, &request, NULL, NULL, &outcome, &b->sticky, &b->err);
        mt_alloc_fail_at(0);
        good_in_a_row = st == MT_OK ? good_in_a_row + 1 : 0;
        failures += st != MT_OK;
        mt_outcome_free(&outcome);
    }
    ck_assert_uint_gt(failures, 20);
    mt_compile_result_free(&variant);
    expect(b, "ok", MT_OUTCOME_OK, NULL);
    close_bench(b);
}
END_TEST

static mt_energy energy_of(bench *b, const char *words)
{
    mt_outcome outcome = evaluate(b, "ok");
    ck_assert_msg(outcome.kind == MT_OUTCOME_OK && outcome.timing.median_ns > 0, "%s", outcome.text);
    ck_assert(words ? outcome.text && strstr(outcome.text, words) : !outcome.text);
    mt_energy energy = outcome.energy;
    mt_outcome_free(&outcome);
    return energy;
}

/* By the counter, else by power, else said; in both cache states. Real time passes at the power that the fake NVML gives. */
START_TEST(energy_is_measured)
{
    bench *b = &(bench){0};
    setenv("MSDA_TUNE_FAKE_ENERGY", "437:2", 1);
    open_bench(b, NULL, "small");
    ck_assert_int_eq(mt_gpu_energy_source(b->gpu), MT_ENERGY_COUNTER);
    b->is_retime = true;
    ck_assert_int_eq(energy_of(b, NULL).source, MT_ENERGY_NONE); /* not asked for */
    b->energy_ns = 60000000;
    for (int l2 = MT_L2_COLD; l2 <= MT_L2_WARM; l2++) {
        b->timing.l2 = (mt_l2)l2;
        mt_energy energy = energy_of(b, NULL);
        ck_assert_int_eq(energy.source, MT_ENERGY_COUNTER);
        ck_assert_double_eq_tol(energy.power_w, 437, 1 + 437 * energy.error_uj / energy.run_uj); /* the error knows how busy this host is */
        ck_assert(energy.loop_ms >= 60 && energy.period_ms > 0 && energy.runs > 0 && energy.error_uj > 0);
        ck_assert_double_eq_tol(energy.run_uj, energy.power_w * energy.loop_ms * 1e3 / (double)energy.runs, 1e-6 * energy.run_uj);
    }
    setenv("MSDA_TUNE_FAKE_ENERGY", "437:0", 1); /* it never moves, and there is no power to read */
    ck_assert_int_eq(energy_of(b, "counter does not move").source, MT_ENERGY_NONE);
    setenv("MSDA_TUNE_FAKE_POWER", "321000", 1);
    mt_energy by_power = energy_of(b, NULL);
    ck_assert_int_eq(by_power.source, MT_ENERGY_POWER);
    ck_assert_double_eq_tol(by_power.power_w, 321, 1e-6);
    ck_assert_double_eq_tol(by_power.error_uj, 0.05 * by_power.run_uj, 1e-6 * by_power.run_uj);
    unsetenv("MSDA_TUNE_FAKE_ENERGY");
    ck_assert_int_eq(mt_gpu_energy_source(b->gpu), MT_ENERGY_POWER);
    unsetenv("MSDA_TUNE_FAKE_POWER");
    ck_assert_int_eq(mt_gpu_energy_source(b->gpu), MT_ENERGY_NONE);
    close_bench(b);
}
END_TEST

static mt_outcome by_baseline(bench *b, const char *name, uint32_t algorithm)
{
    b->baseline = name;
    b->algorithm = algorithm;
    mt_outcome outcome = evaluate(b, "ok");
    b->baseline = NULL;
    return outcome;
}

static void expect_baseline(bench *b, uint32_t algorithm, mt_outcome_kind kind, const char *part)
{
    mt_outcome outcome = by_baseline(b, "cublaslt", algorithm);
    ck_assert_msg(outcome.kind == kind && outcome.text && strstr(outcome.text, part), "%s: %s", mt_outcome_name(outcome.kind), outcome.text ? outcome.text : "");
    mt_outcome_free(&outcome);
}

/* Validated and timed in a variant's place, by the same rules; the variant is none the worse for it. */
START_TEST(a_baseline_takes_a_variants_place)
{
    bench *b = &(bench){0};
    char *plugin = fakes_path("libfake_cuda.so");
    setenv("MSDA_TUNE_BASELINE", plugin, 1);
    open_bench(b, NULL, "small");
    mt_outcome right = by_baseline(b, "cublaslt", 0), variant = evaluate(b, "ok");
    ck_assert_int_eq(right.kind, MT_OUTCOME_OK);
    ck_assert_str_eq(right.text, "fake algorithm 0 of 3");
    ck_assert_double_eq_tol(right.timing.median_ns, 20000, 1);
    ck_assert_str_eq(right.accuracy.output, "out");
    ck_assert_double_eq_tol(variant.timing.median_ns, 33560, 1);
    expect_baseline(b, 1, MT_OUTCOME_WRONG_RESULT, "1 of 10000 elements not written");
    expect_baseline(b, 2, MT_OUTCOME_LAUNCH_ERROR, "baseline cublaslt: fake algorithm 2 of 3: its error 7");
    expect_baseline(b, 3, MT_OUTCOME_LOAD_ERROR, "baseline cublaslt has 3 algorithms here");
    b->is_retime = true;
    expect_baseline(b, 0, MT_OUTCOME_OK, "fake algorithm 0");
    mt_outcome_free(&right), mt_outcome_free(&variant);
    close_bench(b);
    open_bench(b, NULL, "odd"); /* the plugin refuses it, and says why */
    expect_baseline(b, 0, MT_OUTCOME_LOAD_ERROR, "baseline cublaslt: only for 5000 elements and more, not for 4099");
    close_bench(b);
    unsetenv("MSDA_TUNE_BASELINE");
    mt_free(plugin);
}
END_TEST

START_TEST(a_plugin_that_is_not_there_is_an_outcome)
{
    bench *b = &(bench){0};
    open_bench(b, NULL, "small");
    mt_outcome none = by_baseline(b, "nobody", 0), variant = evaluate(b, "ok");
    ck_assert_int_eq(none.kind, MT_OUTCOME_LOAD_ERROR);
    ck_assert_msg(strstr(none.text, "no plugin for baseline nobody: ") && strstr(none.text, "/lib/msda-tune/baseline_nobody.so"), "%s", none.text);
    ck_assert_int_eq(variant.kind, MT_OUTCOME_OK);
    mt_outcome_free(&none), mt_outcome_free(&variant);
    setenv("MSDA_TUNE_BASELINE", getenv("MSDA_TUNE_NVRTC"), 1); /* a library, but no plugin */
    expect_baseline(b, 0, MT_OUTCOME_LOAD_ERROR, "has no msda_baseline_get");
    unsetenv("MSDA_TUNE_BASELINE");
    close_bench(b);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_behaviour_has_its_outcome, bounds_of_an_init_are_of_the_shape, two_runs_by_bits_or_within_a_spread, an_ok_outcome_is_complete, inputs_are_kept_by_the_file_not_by_its_path, racing_stops_the_hopeless, retiming_only_times, short_kernels_are_batched, little_memory_is_enough,
                                  guard_pages_fault, inputs_from_files, parameters_must_fit_the_kernel, clusters_must_fit, residency_by_the_compiled_kernel, resources_are_the_worst_over_launches, cycles_of_the_blocks, a_yardstick_is_timed_and_not_compared, running_out_of_memory_is_an_error, energy_is_measured, a_baseline_takes_a_variants_place, a_plugin_that_is_not_there_is_an_outcome};
    fakes_select(), fakes_select_nvml();
    return unit_run("evaluate", tests, sizeof tests / sizeof tests[0]);
}
