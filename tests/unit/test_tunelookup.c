/* What libtunelookup answers: names, matches, refusals, workloads, origins, overlays, cubins, refresh, misses. */
#include "tests/unit/lookup_fixture.h"
#include "tuner/predictor/table.h"

#include <errno.h>
#include <fcntl.h>

#include "db/lookup/lookup.h"
#include "tuner/base/hash.h"

static const int64_t asked[] = { 64, 3, 5 }; /* N, H[0], H[1] */

static tunelookup_db *open_db(unsigned flags)
{
    tunelookup_db *db = NULL;
    ck_lookup(tunelookup_open(fixture_db, flags, &db));
    return db;
}

static tunelookup_plan *prepare(tunelookup_db *db, const char *kernel)
{
    tunelookup_plan *plan = NULL;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, kernel, lookup_names, LOOKUP_NAMES, &plan));
    return plan;
}

static tunelookup_result find(const tunelookup_plan *plan, int64_t n, int64_t h0, int64_t h1)
{
    tunelookup_result result;
    const int64_t values[] = { n, h0, h1 };
    memset(&result, 0xee, sizeof result);
    ck_lookup(tunelookup_find(plan, values, &result));
    return result;
}

START_TEST(test_exact)
{
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_int_eq(r.validated, 1);
    ck_assert(r.median_ns == 1000 && r.low_ns == 995 && r.high_ns > 1004 && r.expected_slowdown == 1 && r.norm_error == 1.25e-4);
    ck_assert_str_eq(r.variant, "ALGO=wide;B=32;C=2");
    ck_assert_str_eq(r.kernel_key, lookup_kernel_key);
    int64_t value;
    const char *text;
    ck_lookup(tunelookup_param(&r, "C", &value));
    ck_assert_int_eq(value, 2);
    ck_lookup(tunelookup_param_text(&r, "ALGO", &text));
    ck_assert_str_eq(text, "wide");
    ck_lookup_fails(tunelookup_param(&r, "ALGO", &value), TUNELOOKUP_ERR_NOT_FOUND, "wide");
    ck_lookup_fails(tunelookup_param(&r, "X", &value), TUNELOOKUP_ERR_NOT_FOUND, "X");
    tunelookup_launch_info launch;
    ck_assert_int_eq(r.launch_count, 1);
    ck_lookup(tunelookup_launch(&r, 0, &launch));
    ck_assert_str_eq(launch.entry, "k_wide");
    ck_assert_uint_eq(launch.grid[0], 2);
    ck_assert_uint_eq(launch.block[0], 32);
    ck_assert_int_eq(launch.carveout_percent, -1);
    ck_lookup_fails(tunelookup_launch(&r, 1, &launch), TUNELOOKUP_ERR_ARGUMENT, "launch 1 of 1");
    tunelookup_arg_info arg;
    ck_lookup(tunelookup_arg(&r, 0, &arg));
    ck_assert_int_eq((int)arg.dtype, TUNELOOKUP_F16);
    ck_assert_int_eq(arg.dims[1], 64 * 8);
    ck_assert_uint_eq(arg.bytes, 64 * 64 * 8 * 2);
    ck_lookup(tunelookup_arg(&r, 1, &arg));
    ck_assert_int_eq(arg.scalar[0], 64);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "exact:    tuned for h100-sxm|cc90|sm132|80g"));
    tunelookup_close(db);
}
END_TEST

START_TEST(test_names)
{
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
#define PREPARE(...) tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), &plan)
    ck_lookup(PREPARE("dtype=f16", "H[1]", "workload=default", "N", "H[0]")); /* any order */
    tunelookup_result r;
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 5, 64, 3 }, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_lookup_fails(PREPARE("N", "H[0]", "H[1]"), TUNELOOKUP_ERR_NAMES, "shape values are missing: dtype=…");
    ck_lookup_fails(PREPARE("N", "H[0]", "H[1]", "dtype=f16", "Q"), TUNELOOKUP_ERR_NAMES, "Q: the kernel has no such shape value; it has: H[0] …, N, dtype=…");
    ck_lookup_fails(PREPARE("Q=3", "N"), TUNELOOKUP_ERR_NAMES, "Q=3: the kernel has no such shape value; it has: H[0] …, N, dtype=…");
    ck_lookup_fails(PREPARE("workload=default"), TUNELOOKUP_ERR_NAMES, "shape values are missing: H[0] …, N, dtype=…"); /* all at once */
    ck_lookup_fails(PREPARE("N", "N", "H[0]", "H[1]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "given twice");
    ck_lookup_fails(PREPARE("N", "H[0]", "H[0]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "twice");
    ck_lookup_fails(PREPARE("N", "H[0]", "H[2]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "missing between");
    ck_lookup_fails(PREPARE("N", "H", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "is a list");
    ck_lookup_fails(PREPARE("N[0]", "H[0]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "no list");
    ck_lookup_fails(PREPARE("N=64", "H[0]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "no string");
    ck_lookup_fails(PREPARE("N", "H[0]", "dtype"), TUNELOOKUP_ERR_NAMES, "bind it as");
    ck_lookup_fails(PREPARE("N", "H[-1]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "NAME[k]");
    ck_lookup_fails(PREPARE("N", "H[0", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "NAME[k]");
    ck_lookup_fails(PREPARE("N", "H[99999999999999999999]", "dtype=f16"), TUNELOOKUP_ERR_NAMES, "NAME[k]");
    ck_lookup_fails(PREPARE("N", "H[0]", "dtype=f16", "workload=a", "workload=b"), TUNELOOKUP_ERR_NAMES, "twice");
    ck_lookup_fails(PREPARE("N", NULL), TUNELOOKUP_ERR_ARGUMENT, "names[1]");
    ck_lookup(PREPARE("N", "H[0]", "H[1]", "H[2]", "dtype=f16")); /* no list of that length was tuned */
    ck_lookup(tunelookup_find(plan, (const int64_t[]){ 64, 3, 5, 1 }, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

START_TEST(test_arguments)
{
    lookup_one_row();
    tunelookup_db *db = (tunelookup_db *)1;
    tunelookup_plan *plan = NULL;
    tunelookup_result r;
    tunelookup_device device = lookup_h100;
    ck_lookup_fails(tunelookup_open(fixture_db, 0x80, &db), TUNELOOKUP_ERR_ARGUMENT, "flags");
    ck_assert_ptr_null(db);
    ck_lookup_fails(tunelookup_open(NULL, 0, NULL), TUNELOOKUP_ERR_ARGUMENT, "NULL");
    db = open_db(0);
    device.struct_size = 0;
    ck_lookup_fails(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_ARGUMENT, "struct_size");
    device = lookup_h100;
    device.name = NULL;
    ck_lookup_fails(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_ARGUMENT, "name");
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, NULL, lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_ARGUMENT, "NULL");
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "msda", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_UNKNOWN_KERNEL, "no kernel msda");
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "toy@12", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_UNKNOWN_KERNEL, "32 hex");
    ck_lookup_fails(tunelookup_prepare(db, &lookup_h100, "toy@ffffffffffffffffffffffffffffffff", lookup_names, LOOKUP_NAMES, &plan), TUNELOOKUP_ERR_UNKNOWN_KERNEL, "ffff");
    ck_assert_ptr_null(plan);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy@00112233445566778899AABBCCDDEEFF", lookup_names, LOOKUP_NAMES, &plan)); /* as people paste them */
    ck_assert_str_eq(find(plan, 64, 3, 5).kernel_key, lookup_kernel_key);
    ck_assert_int_eq(tunelookup_find(NULL, asked, &r), TUNELOOKUP_ERR_ARGUMENT);
    r = find(prepare(db, "toy@00112233445566778899aabbccddeeff"), 2000000, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NONE);
    int64_t value;
    const void *cubin;
    size_t bytes;
    tunelookup_launch_info launch;
    tunelookup_arg_info arg;
    tunelookup_tensormap_info map;
    ck_assert_int_eq(tunelookup_param(&r, "B", &value), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_launch(&r, 0, &launch), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_arg(&r, 0, &arg), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_tensormap(&r, 0, 0, &map), TUNELOOKUP_ERR_ARGUMENT);
    ck_assert_int_eq(tunelookup_cubin(&r, &cubin, &bytes), TUNELOOKUP_ERR_ARGUMENT);
    r = find(prepare(db, "toy"), 64, 3, 5);
    ck_lookup_fails(tunelookup_tensormap(&r, 0, 0, &map), TUNELOOKUP_ERR_ARGUMENT, "no tensor map");
    ck_lookup_fails(tunelookup_arg(&r, 3, &arg), TUNELOOKUP_ERR_ARGUMENT, "argument 3 of 3");
    ck_assert_int_eq(tunelookup_refresh(NULL), TUNELOOKUP_ERR_ARGUMENT);
    tunelookup_close(db);
    tunelookup_close(NULL);
    int number;
    ck_assert_str_eq(tunelookup_version(&number), "1.0.0");
    ck_assert_int_eq(number, 10000);
    for (int i = 0; i <= TUNELOOKUP_ERR_OLDER_SCHEMA; i++) {
        for (int k = 0; k <= TUNELOOKUP_ERR_OLDER_SCHEMA; k++) ck_assert_int_eq(strcmp(tunelookup_strerror((tunelookup_status)i), tunelookup_strerror((tunelookup_status)k)) == 0, i == k);
    }
    ck_assert_str_eq(tunelookup_strerror((tunelookup_status)99), "unknown status");
    ck_assert_int_eq(TUNELOOKUP_ERR_OLDER_SCHEMA, 16); /* pinned */
}
END_TEST

START_TEST(test_no_row_says_why)
{
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, "toy"), 65, 3, 5), none;
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "this shape was not tuned on h100-sxm"));
    ck_assert_ptr_nonnull(strstr((none = find(prepare(db, "toy"), 2000000, 3, 5), lookup_explain(&none)), "asked:    H=3,5;N=2000000;dtype=f16"));
    tunelookup_device other = lookup_h100;
    tunelookup_plan *plan;
    other.name = "NVIDIA H100 PCIe";
    other.sm_count = 114;
    ck_lookup(tunelookup_prepare(db, &other, "toy", lookup_names, LOOKUP_NAMES, &plan));
    r = find(plan, 64, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "h100-pcie"));
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "winners on: h100-sxm"));
    char small[10];
    size_t length = tunelookup_explain(&r, small, sizeof small);
    ck_assert_uint_gt(length, sizeof small);
    ck_assert_uint_eq(strlen(small), sizeof small - 1);
    ck_assert_uint_eq(tunelookup_explain(&r, NULL, 0), length);
    tunelookup_close(db);
}
END_TEST

/* What the caller does not know of its device: key parts are not compared, expressions that need it refuse the row. */
START_TEST(test_unknown_facts)
{
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
    tunelookup_device device = lookup_h100;
    device.sm_count = device.mem_bytes = 0;
    ck_lookup(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_assert_int_eq(find(plan, 64, 3, 5).match, TUNELOOKUP_MATCH_EXACT);
    device.smem_optin = 0;
    ck_lookup(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    tunelookup_result r = find(plan, 64, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "needs device.smem_optin, which the caller did not give"));
    device = lookup_h100;
    device.struct_size = (uint32_t)(offsetof(tunelookup_device, sm_count) + sizeof device.sm_count); /* a caller with an older header */
    ck_lookup(tunelookup_prepare(db, &device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_assert_int_eq(find(plan, 64, 3, 5).match, TUNELOOKUP_MATCH_DEFAULT);
    tunelookup_close(db);
}
END_TEST

/* A row that the space, as it is now, no longer allows is never returned. */
START_TEST(test_refused_rows)
{
    static const struct { const char *variant, *shape, *why; int64_t n; } cases[] = {
        { "ALGO=wide;B=32;C=2", "H=3,5;N=2000000;dtype=f16", "breaks constraint small here: N must be small", 2000000 },
        { "ALGO=wide;B=32", "H=3,5;N=1;dtype=f16", "has no C, which is active here", 1 },
        { "ALGO=plain;B=32;C=1", "H=3,5;N=2;dtype=f16", "has C, which is inactive here", 2 },
        { "ALGO=gone;B=32", "H=3,5;N=3;dtype=f16", "its algorithm is not among the kernel's", 3 },
        { "ALGO=plain;B=32;Z=1", "H=3,5;N=4;dtype=f16", "a knob that the kernel no longer has", 4 },
        { "ALGO=plain;B=x", "H=3,5;N=5;dtype=f16", "has another value", 5 },
        { "", "H=3,5;N=6;dtype=f16", "its algorithm is not", 6 },
        { "ALGO=plain;B=4096", "H=3,5;N=7;dtype=f16", "larger than the hardware allows", 7 },
    };
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) lookup_put(&w, cases[i].shape, "default", cases[i].variant, 10);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, "toy");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tunelookup_result r = find(plan, cases[i].n, 3, 5);
        ck_assert_int_eq(r.match, cases[i].n == 2000000 ? TUNELOOKUP_MATCH_NONE : TUNELOOKUP_MATCH_DEFAULT); /* the constraint excludes the default too */
        ck_assert_msg(strstr(lookup_explain(&r), cases[i].why) != NULL, "no \"%s\" in: %s", cases[i].why, lookup_explain(&r));
    }
    tunelookup_close(db);
}
END_TEST

/* a wins workload one by far, b wins workload two by a little: b is the better answer to both. */
START_TEST(test_workloads)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16", a[] = "ALGO=plain;B=32", b[] = "ALGO=plain;B=64";
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, shape, "one", a, 100);
    lookup_put(&w, shape, "one", b, 110);
    lookup_put(&w, shape, "two", a, 200);
    lookup_put(&w, shape, "two", b, 100);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert_str_eq(r.variant, b);
    ck_assert(r.expected_slowdown > 1.0999 && r.expected_slowdown < 1.1001);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "expected: 1.100 × the best time of a workload, where it does worst of 2\n"));
    tunelookup_plan *plan;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "dtype=f16", "workload=one" }, 5, &plan));
    r = find(plan, 64, 3, 5);
    ck_assert_str_eq(r.variant, a);
    ck_assert(r.expected_slowdown == 1);
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "dtype=f16", "workload=three" }, 5, &plan));
    ck_assert_ptr_nonnull(strstr((r = find(plan, 64, 3, 5), lookup_explain(&r)), "no row here is of workload three; rows of other workloads answer"));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_str_eq(r.variant, b);
    ck_assert(r.expected_slowdown > 1.0999 && r.expected_slowdown < 1.1001); /* over the other workloads */
    tunelookup_close(db);
}
END_TEST

/* A shape that was tuned for other workloads than the asked one is answered by these, not predicted: their variants were run on it. */
START_TEST(test_other_workloads_of_a_shape)
{
    static const char small[] = "H=3,5;N=64;dtype=f16", large[] = "H=3,5;N=65;dtype=f16", both[] = "H=3,5;N=66;dtype=f16", a[] = "ALGO=plain;B=32", b[] = "ALGO=plain;B=64";
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, small, "one", a, 100);
    lookup_put(&w, large, "two", b, 100);
    lookup_put(&w, both, "two", b, 100);
    lookup_put(&w, both, "one", a, 900);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan;
    ck_lookup(tunelookup_prepare(db, &lookup_h100, "toy", (const char *const[]){ "N", "H[0]", "H[1]", "dtype=f16", "workload=one" }, 5, &plan));
    tunelookup_result r = find(plan, 64, 3, 5);
    ck_assert_str_eq(r.variant, a);
    ck_assert(r.expected_slowdown == 1);
    ck_assert_ptr_null(strstr(lookup_explain(&r), "other workloads"));
    r = find(plan, 65, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_str_eq(r.variant, b);
    ck_assert(isnan(r.expected_slowdown));
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "expected: unknown for workload one; with workload two it is the best\n"));
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "note:     no row of this shape answers for workload one; its row of other workloads does\n"));
    r = find(plan, 66, 3, 5);
    ck_assert(strcmp(r.variant, a) == 0 && r.median_ns == 900);
    tunelookup_close(db);
}
END_TEST

static void put_censored(lookup_writer *w, const char *shape, const char *workload, const char *variant, double median_ns)
{
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_CENSORED, median_ns);
    lookup_put(w, shape, workload, "ALGO=plain;B=32", 1000); /* makes the subject current */
    fixture_put(w->store, w->session, &w->subject, variant, &outcome);
}

/* No winner was measured on all workloads: the one that was measured on most answers, whatever order they come in, also where it was stopped early on one. */
START_TEST(test_partly_measured)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16", a[] = "ALGO=plain;B=64", b[] = "ALGO=wide;B=32;C=1", c[] = "ALGO=wide;B=64;C=1";
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, shape, "one", a, 100);
    put_censored(&w, shape, "three", a, 130);
    lookup_put(&w, shape, "three", c, 100);
    lookup_put(&w, shape, "two", a, 120);
    lookup_put(&w, shape, "two", b, 100);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    ck_assert_str_eq(r.variant, a);
    ck_assert(isnan(r.expected_slowdown));
    ck_assert_msg(strstr(lookup_explain(&r), "expected: unknown, because no winner was timed on all 3 workloads, this one on 2 of them; on the worst of those it takes 1.300 × the best time\n"),
                  "%s", lookup_explain(&r));
    tunelookup_close(db);
}
END_TEST

START_TEST(test_origins)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16";
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    w.subject.origin = MT_ORIGIN_RECORDED;
    lookup_put(&w, shape, "default", "ALGO=plain;B=32", 10);
    w.subject.origin = MT_ORIGIN_IMPORTED;
    lookup_put(&w, shape, "default", "ALGO=plain;B=32", 1);
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_DEFAULT);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "1 row of recorded GPUs is left out"));
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "1 imported row is left out"));
    tunelookup_close(db);
    db = open_db(TUNELOOKUP_RECORDED);
    r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert(r.match == TUNELOOKUP_MATCH_EXACT && r.median_ns == 10 && r.recorded);
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "exact:    recorded on "));
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "recorded: 10 ns"));
    ck_assert_ptr_nonnull(strstr(lookup_explain(&r), "a recorded GPU"));
    tunelookup_close(db);
    w = lookup_begin(lookup_spec, "toy", lookup_kernel_key); /* a measured row wins, however slow */
    lookup_put(&w, shape, "default", "ALGO=plain;B=64", 1000);
    lookup_end(&w);
    db = open_db(TUNELOOKUP_RECORDED);
    r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert(r.median_ns == 1000 && !r.recorded);
    tunelookup_close(db);
}
END_TEST

/* A row whose newest run failed, and a failed row, are no answers. */
START_TEST(test_only_valid_rows)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16";
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, shape, "default", "ALGO=plain;B=32", 10);
    fixture_put(w.store, w.session, &w.subject, "ALGO=plain;B=32", &(mt_outcome){ .kind = MT_OUTCOME_WRONG_RESULT });
    ck_ok(mt_store_refresh_best(w.store, &w.subject, &fixture_err));
    lookup_end(&w);
    tunelookup_db *db = open_db(0);
    ck_assert_int_eq(find(prepare(db, "toy"), 64, 3, 5).match, TUNELOOKUP_MATCH_NONE); /* the default itself computed wrong results */
    tunelookup_close(db);
}
END_TEST

START_TEST(test_newest_source)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16", other_key[] = "ffeeddccbbaa99887766554433221100";
    lookup_writer w = lookup_begin(lookup_spec, "toy", other_key);
    lookup_put(&w, shape, "default", "ALGO=plain;B=32", 10);
    lookup_end(&w);
    w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, shape, "default", "ALGO=plain;B=64", 20);
    lookup_end(&w);
    fixture_sql("UPDATE answer SET updated_unix_ms = subject_id");
    tunelookup_db *db = open_db(0);
    tunelookup_result r = find(prepare(db, "toy"), 64, 3, 5);
    ck_assert_str_eq(r.kernel_key, lookup_kernel_key);
    ck_assert(r.median_ns == 20);
    r = find(prepare(db, "toy@ffeeddccbbaa99887766554433221100"), 64, 3, 5);
    ck_assert(r.median_ns == 10);
    tunelookup_close(db);
    fixture_sql("UPDATE kernel SET spec_json = '{}' WHERE key = '00112233445566778899aabbccddeeff'"); /* nothing can be evaluated */
    db = open_db(0);
    ck_assert_str_eq(find(prepare(db, "toy"), 64, 3, 5).kernel_key, other_key);
    tunelookup_close(db);
}
END_TEST

START_TEST(test_refresh)
{
    static const char shape[] = "H=3,5;N=64;dtype=f16";
    lookup_one_row();
    tunelookup_db *db = open_db(0);
    tunelookup_plan *plan = prepare(db, "toy");
    tunelookup_result before = find(plan, 64, 3, 5);
    ck_lookup(tunelookup_refresh(db)); /* nothing changed */
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, shape, "default", "ALGO=plain;B=64", 500);
    lookup_end(&w);
    ck_assert(find(plan, 64, 3, 5).median_ns == 1000);
    ck_lookup(tunelookup_refresh(db));
    ck_assert(find(plan, 64, 3, 5).median_ns == 500);
    int64_t value;
    ck_lookup(tunelookup_param(&before, "C", &value)); /* the old result still stands */
    ck_assert_int_eq(value, 2);
    ck_assert_int_eq(truncate(fixture_db, 5000), 0);
    ck_assert_int_eq(tunelookup_refresh(db), TUNELOOKUP_ERR_NOT_A_DATABASE);
    ck_assert(find(plan, 64, 3, 5).median_ns == 500);
    ck_assert_int_eq(unlink(fixture_db), 0);
    ck_assert_int_eq(tunelookup_refresh(db), TUNELOOKUP_ERR_NOT_FOUND);
    ck_assert(find(plan, 64, 3, 5).median_ns == 500);
    tunelookup_close(db);
}
END_TEST

/* Every allocation of open, prepare and refresh fails once: a status, no leak (a sanitizer tells), and the next try works. */
START_TEST(test_no_memory)
{
    tunelookup_result r;
    size_t failed = 0;
    lookup_one_row();
    for (size_t n = 1;; n++) {
        tunelookup_db *db = NULL;
        tunelookup_plan *plan = NULL;
        mt_lookup_fail_at(n);
        tunelookup_status st = tunelookup_open(fixture_db, TUNELOOKUP_COUNT_MISSES, &db);
        if (st == TUNELOOKUP_OK) st = tunelookup_prepare(db, &lookup_h100, "toy", lookup_names, LOOKUP_NAMES, &plan);
        if (st == TUNELOOKUP_OK) db->files[0].stamp.bytes++; /* as if it had changed */
        if (st == TUNELOOKUP_OK) st = tunelookup_refresh(db);
        mt_lookup_fail_at(0);
        if (plan) ck_assert_int_eq((r = find(plan, 64, 3, 5)).match, TUNELOOKUP_MATCH_EXACT);
        tunelookup_close(db);
        if (st == TUNELOOKUP_OK) break;
        ck_assert_int_eq(st, TUNELOOKUP_ERR_NO_MEMORY);
        failed++;
    }
    ck_assert_uint_gt(failed, 20);
}
END_TEST

/* ---- cubins ---- */

static tunelookup_status ask_cubin(unsigned flags, const tunelookup_device *device, const void **data, size_t *bytes, tunelookup_db **kept)
{
    tunelookup_db *db = open_db(flags);
    tunelookup_plan *plan;
    tunelookup_result r;
    ck_lookup(tunelookup_prepare(db, device, "toy", lookup_names, LOOKUP_NAMES, &plan));
    ck_lookup(tunelookup_find(plan, asked, &r));
    ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
    tunelookup_status st = tunelookup_cubin(&r, data, bytes);
    if (kept) {
        const void *again;
        ck_lookup(tunelookup_cubin(&r, &again, bytes));
        ck_assert_ptr_eq(again, *data);
        *kept = db;
    } else {
        char detail[1024];
        snprintf(detail, sizeof detail, "%s", tunelookup_detail());
        tunelookup_close(db);
        ck_assert_str_eq(detail, tunelookup_detail());
    }
    return st;
}

START_TEST(test_cubin)
{
    lookup_cubin cubin = lookup_make_cubin(90);
    const void *data = NULL;
    size_t bytes = 0;
    tunelookup_db *db;
    tunelookup_device device = lookup_h100;
    lookup_one_row();
    ck_lookup_fails(ask_cubin(TUNELOOKUP_USER_CUBINS, &device, &data, &bytes, NULL), TUNELOOKUP_ERR_NOT_FOUND, "does not hold");
    lookup_store_cubin(&cubin, sizeof cubin);
    ck_lookup_fails(ask_cubin(0, &device, &data, &bytes, NULL), TUNELOOKUP_ERR_CUBIN_NOT_ALLOWED, "USER_CUBINS");
    ck_lookup(ask_cubin(TUNELOOKUP_USER_CUBINS, &device, &data, &bytes, &db));
    ck_assert_uint_eq(bytes, sizeof cubin);
    ck_assert_mem_eq(data, &cubin, bytes);
    tunelookup_close(db);
    device.driver_version = 12080;
    ck_lookup_fails(ask_cubin(TUNELOOKUP_USER_CUBINS, &device, &data, &bytes, NULL), TUNELOOKUP_ERR_DRIVER_TOO_OLD, "CUDA 13.0, the driver offers 12.8");
    device.driver_version = 0;
    ck_lookup(ask_cubin(TUNELOOKUP_USER_CUBINS, &device, &data, &bytes, &db));
    tunelookup_close(db);
    fixture_sql("UPDATE cubin SET bytes = zeroblob(size_bytes)");
    ck_lookup_fails(ask_cubin(TUNELOOKUP_USER_CUBINS, &device, &data, &bytes, NULL), TUNELOOKUP_ERR_CUBIN_DAMAGED, "does not have that hash");
    fixture_sql("UPDATE answer SET cubin_hash = NULL");
    ck_lookup_fails(ask_cubin(TUNELOOKUP_USER_CUBINS, &device, &data, &bytes, NULL), TUNELOOKUP_ERR_NOT_FOUND, "no cubin was stored");
}
END_TEST

/* A shape without code of its own gets another's where nothing that is compiled in differs. */
START_TEST(test_cubin_of_another_shape)
{
    static const struct { const char *bakes; bool serves; } cases[] = { { NULL, false }, { "[]", true }, { "[\"dtype\"]", true }, { "[\"H\"]", true }, { "[\"N\"]", false }, { "[\"what\"]", false }, { "7", false } };
    lookup_cubin cubin = lookup_make_cubin(90);
    const void *data = NULL;
    size_t bytes = 0;
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    for (int i = 0; i < 2; i++) {
        lookup_put(&w, i ? "H=3,5;N=128;dtype=f16" : "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000 + 1000 * i);
        lookup_put(&w, i ? "H=3,5;N=128;dtype=f16" : "H=3,5;N=64;dtype=f16", "default", "ALGO=plain;B=32", 3000);
        ck_ok(mt_store_comparison_point(w.store, &w.subject, "default", "ALGO=plain;B=32", &fixture_err));
    }
    ck_ok(mt_predictor_refresh_all(w.store, &fixture_err));
    lookup_end(&w);
    lookup_store_cubin(&cubin, sizeof cubin);
    fixture_sql("UPDATE answer SET cubin_hash = NULL WHERE shape_key LIKE '%N=128;%'");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[160];
        snprintf(sql, sizeof sql, "UPDATE kernel SET spec_json = json_set(spec_json, '$.variants[1].bakes', json('%s'))", cases[i].bakes ? cases[i].bakes : "null");
        fixture_sql(sql);
        tunelookup_db *db = open_db(TUNELOOKUP_USER_CUBINS);
        tunelookup_result r = find(prepare(db, "toy"), 128, 3, 5);
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_EXACT);
        ck_assert_int_eq(tunelookup_cubin(&r, &data, &bytes), cases[i].serves ? TUNELOOKUP_OK : TUNELOOKUP_ERR_NOT_FOUND);
        if (cases[i].serves) ck_assert_mem_eq(data, &cubin, sizeof cubin);
        r = find(prepare(db, "toy"), 100, 3, 5); /* a shape that nobody tuned */
        ck_assert_int_eq(r.match, TUNELOOKUP_MATCH_NEAREST);
        ck_assert_str_eq(r.variant, "ALGO=wide;B=32;C=2");
        ck_assert_int_eq(tunelookup_cubin(&r, &data, &bytes), cases[i].serves ? TUNELOOKUP_OK : TUNELOOKUP_ERR_NOT_FOUND);
        tunelookup_close(db);
    }
}
END_TEST

START_TEST(test_bad_cubins)
{
    const void *data = NULL;
    size_t bytes = 0;
    lookup_one_row();
#define REFUSED(part) ck_lookup_fails(ask_cubin(TUNELOOKUP_USER_CUBINS, &lookup_h100, &data, &bytes, NULL), TUNELOOKUP_ERR_CUBIN_DAMAGED, part)
    lookup_cubin cubin = lookup_make_cubin(100);
    lookup_store_cubin(&cubin, sizeof cubin);
    REFUSED("another architecture");
    cubin = lookup_make_cubin(90);
    lookup_store_cubin(&cubin, sizeof cubin - 1);
    REFUSED("cut short");
    lookup_store_cubin(&cubin, 40);
    REFUSED("shorter than an ELF header");
    cubin.header.e_machine = EM_X86_64;
    lookup_store_cubin(&cubin, sizeof cubin);
    REFUSED("no code for NVIDIA GPUs");
    cubin = lookup_make_cubin(90);
    cubin.header.e_shoff = UINT64_MAX - 10;
    lookup_store_cubin(&cubin, sizeof cubin);
    REFUSED("cut short");
    cubin = lookup_make_cubin(90);
    cubin.sections[1].sh_size = UINT64_MAX;
    lookup_store_cubin(&cubin, sizeof cubin);
    REFUSED("cut short");
    lookup_store_cubin("not an image, but long enough to be taken for one if nobody looked at it properly", 80);
    REFUSED("no 64-bit ELF image");
}
END_TEST

/* ---- misses ---- */

START_TEST(test_misses)
{
    char path[192], text[4096] = "";
    lookup_one_row();
    snprintf(path, sizeof path, "%s/misses.jsonl", fixture_folder);
    tunelookup_db *db = open_db(TUNELOOKUP_COUNT_MISSES);
    tunelookup_plan *plan = prepare(db, "toy");
    for (int i = 0; i < 5; i++) find(plan, 65, 3, 5);
    find(plan, 66, 3, 5);
    find(plan, 64, 3, 5); /* a hit */
    ck_lookup(tunelookup_flush_misses(db, path));
    ck_lookup(tunelookup_flush_misses(db, path)); /* nothing new */
    FILE *file = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    ck_assert_ptr_nonnull(strstr(text, "{\"kernel\":\"toy\",\"key\":\"00112233445566778899aabbccddeeff\",\"gpu\":\"h100-sxm|cc90|sm132|80g\",\"shape\":"
                                       "{\"H\":[3,5],\"N\":65,\"dtype\":\"f16\"},\"count\":5,"));
    ck_assert_ptr_nonnull(strstr(text, "\"N\":66,"));
    ck_assert_ptr_null(strstr(text, "\"N\":64,"));
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0600);
    for (int i = 0; i < 100000; i++) find(plan, 1000 + i, 3, 5); /* more than the table holds */
    ck_lookup(tunelookup_flush_misses(db, path));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    ck_lookup_fails(tunelookup_flush_misses(db, path), TUNELOOKUP_ERR_IO, "can't be written");
    ck_lookup_fails(tunelookup_flush_misses(db, fixture_folder), TUNELOOKUP_ERR_IO, "can't be written");
    tunelookup_close(db);
}
END_TEST

FIXTURE_MAIN("tunelookup", test_exact, test_names, test_arguments, test_no_row_says_why, test_unknown_facts, test_refused_rows, test_workloads, test_other_workloads_of_a_shape, test_partly_measured, test_origins,
             test_only_valid_rows, test_newest_source, test_refresh, test_no_memory, test_cubin, test_cubin_of_another_shape, test_bad_cubins, test_misses)
