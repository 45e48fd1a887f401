/* What the tests of db/ share: a scratch folder, a store in it, a subject and outcomes to put there. */
#pragma once

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/store/query.h"
#include "tests/unit/ask_database.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/log.h"

#define ck_ok(call) ck_assert_msg((call) == MT_OK, "%s: %s", #call, fixture_err.message)
/* The call fails with a message that names the path and holds `part`. */
#define ck_fails(call, status_, part)                                                                        \
    do {                                                                                                     \
        fixture_err.message[0] = '\0';                                                                       \
        ck_assert_int_eq((call), (status_));                                                                 \
        ck_assert_msg(strstr(fixture_err.message, (part)) != NULL, "no \"%s\" in: %s", (part), fixture_err.message);     \
    } while (0)

static mt_error fixture_err;
static char fixture_folder[64], fixture_db[128];

static inline void fixture_setup(void)
{
    strcpy(fixture_folder, "/tmp/mt_test_store.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(fixture_folder));
    snprintf(fixture_db, sizeof fixture_db, "%s/t.sqlite", fixture_folder);
}

static inline void fixture_teardown(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture_folder);
    ck_assert_int_eq(system(command), 0);
}

/* What is written to stderr in between; at most 4 KiB of it. */
static int fixture_kept_stderr = -1;
static inline void fixture_stderr_begin(void)
{
    char path[160];
    snprintf(path, sizeof path, "%s/stderr", fixture_folder);
    fflush(stderr);
    mt_log_forget_warnings();
    fixture_kept_stderr = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(freopen(path, "w", stderr));
}

static inline const char *fixture_stderr_end(void)
{
    static char text[4096];
    char path[160];
    snprintf(path, sizeof path, "%s/stderr", fixture_folder);
    fflush(stderr);
    ck_assert_int_ge(dup2(fixture_kept_stderr, STDERR_FILENO), 0);
    close(fixture_kept_stderr);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static inline mt_store *fixture_open(void)
{
    mt_store *store = NULL;
    ck_ok(mt_store_open(fixture_db, MT_STORE_READ_WRITE, &store, &fixture_err));
    return store;
}

static inline mt_subject fixture_subject_of(mt_store *store, const char *gpu_key, const char *gpu_name, const char *kernel_key,
                                            const char *shape_key, int64_t nvrtc, mt_origin origin)
{
    mt_subject s = {.l2 = MT_L2_COLD, .origin = origin};
    mt_device_row device = {.key = gpu_key, .name = gpu_name, .facts_json = "{\"cc\": 90, \"sm_count\": 132}"};
    mt_kernel_row kernel = {.name = "msda", .key = kernel_key, .spec_json = "{\"format\": 1, \"launch\": [\"$N 8 ceil_div\"]}"};
    mt_shape_row shape = {.name = shape_key, .key = shape_key}, workload = {.name = "local15", .key = "sigma=1.5"};
    mt_toolchain_row toolchain = {.nvrtc_version = nvrtc, .driver_version = 13000, .arch = "sm_90a"};
    ck_ok(mt_store_device(store, &device, &s.device, &fixture_err));
    ck_ok(mt_store_kernel(store, &kernel, &s.kernel, &fixture_err));
    ck_ok(mt_store_shape(store, s.kernel, &shape, &s.shape, &fixture_err));
    ck_ok(mt_store_workload(store, s.kernel, &workload, &s.workload, &fixture_err));
    ck_ok(mt_store_toolchain(store, &toolchain, &s.toolchain, &fixture_err));
    return s;
}

static inline mt_subject fixture_subject(mt_store *store)
{
    return fixture_subject_of(store, "h100-sxm|cc90|sm132|80g", "NVIDIA H100 80GB HBM3", "00112233445566778899aabbccddeeff", "N=48;dtype=f16",
                              13000, MT_ORIGIN_MEASURED);
}

static inline int64_t fixture_session(mt_store *store)
{
    int64_t id = 0;
    mt_session_row row = {.command = "msda-tune", .boot_id = "boot-1", .tool_version = "0.1.0", .strategy = "auto", .seed = 7};
    ck_ok(mt_store_session_begin(store, &row, &id, &fixture_err));
    ck_assert_int_gt(id, 0);
    return id;
}

/* An outcome with every member set; sample_ns and text are borrowed. */
static inline mt_outcome fixture_outcome(mt_outcome_kind kind, double median_ns)
{
    mt_outcome o = {.kind = kind};
    o.timing = (mt_timing){.median_ns = median_ns, .low_ns = median_ns * 0.995, .high_ns = median_ns * 1.005, .min_ns = median_ns * 0.98,
                           .mean_ns = median_ns * 1.001, .stddev_ns = 3.25, .sm_mhz = 1755, .prepare_ns = 12.5, .samples = 3, .dropped = 1,
                           .batch = 2, .l2 = MT_L2_COLD};
    o.accuracy = (mt_accuracy){.output = "out", .norm_error = 1.25e-4, .worst_error = 0.01, .worst_relative = 0.002, .worst_index = 123456789012,
                               .worst_value = NAN, .worst_reference = -INFINITY, .nan_mismatches = 2};
    o.resources = (mt_resources){.registers = 64, .spill_bytes = 8, .static_smem_bytes = 1024, .dynamic_smem_bytes = 65536,
                                 .carveout_percent = -1, .blocks_per_sm = 3, .active_clusters = 16};
    strcpy(o.cubin.hex, "0123456789abcdef0123456789abcdef");
    o.cubin_cached = true;
    o.compile_ns = 190000000;
    o.wait_ns = 1000;
    o.validate_ns = 2000;
    o.time_ns = 3000;
    return o;
}

static inline void fixture_put(mt_store *store, int64_t session, const mt_subject *subject, const char *variant, const mt_outcome *outcome)
{
    mt_result result = {.subject = subject, .variant = variant, .launch_json = "{\"launches\": [{\"grid\": [1, 2, 3], \"cluster\": [2, 1, 1]}]}",
                        .model_flops = 1.4212915200e10, .model_dram_bytes = NAN, .model_floor_ns = 1e5, .evaluation = 1, .outcome = outcome};
    ck_ok(mt_store_step(store, session, &result, NULL, &fixture_err));
}

static inline void fixture_put_ok(mt_store *store, int64_t session, const mt_subject *subject, const char *variant, double median_ns)
{
    mt_outcome outcome = fixture_outcome(MT_OUTCOME_OK, median_ns);
    fixture_put(store, session, subject, variant, &outcome);
}

/* One number by SQL on a handle of its own. */
static inline int64_t fixture_number(const char *sql)
{
    return ask_number(fixture_db, sql);
}

/* Whether another user may come to the fixture's folder: root's / may be closed to others, as in a chroot of a folder that mktemp made. Tells where not. */
static inline bool fixture_is_in_reach(void)
{
    char folder[512];
    struct stat info;
    snprintf(folder, sizeof folder, "%s", fixture_folder);
    for (char *slash; (slash = strrchr(folder, '/')) != NULL && folder[1];) {
        slash[slash == folder] = '\0';
        if (stat(folder, &info) == 0 && (info.st_mode & S_IXOTH)) continue;
        fprintf(stderr, "not tried: %s is closed to other users\n", folder);
        return false;
    }
    return true;
}

static inline void fixture_sql(const char *sql)
{
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open_v2(fixture_db, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), SQLITE_OK);
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message ? message : "");
    sqlite3_close(db);
}

static inline int fixture_run(const char *name, const TTest *const *tests, size_t count)
{
    TCase *group = tcase_create(name);
    tcase_add_checked_fixture(group, fixture_setup, fixture_teardown);
    return unit_run_group(name, group, tests, count);
}

#define FIXTURE_MAIN(name, ...)                                             \
    int main(void)                                                          \
    {                                                                       \
        const TTest *const tests[] = {__VA_ARGS__};                         \
        return fixture_run(name, tests, sizeof tests / sizeof tests[0]);    \
    }
