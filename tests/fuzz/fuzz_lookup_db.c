/* libtunelookup on any file. Byte 0 says how the rest is used, so that a fuzzer need not learn SQLite's format first: 0 (mod 3) = the file itself; 1 = a good database whose
 * expressions are the rest; 2 = a good database with bytes overwritten, five bytes each: 32 bits of place (little-endian, modulo the size), value. Whatever it holds: answers or
 * errors, no crash, no endless loop. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/store/store.h"
#include "include/tunelookup.h"
#include "tests/fuzz/fuzz_rows.h"
#include "tests/fuzz/fuzz_target.h"

static char folder[] = "/tmp/fuzz_lookup.XXXXXX", good[64], path[64];

static void remove_files(void)
{
    unlink(good);
    unlink(path);
    rmdir(folder);
}

static void check(bool fine)
{
    if (!fine) abort();
}

/* One row: N = 64, H = 3,5, dtype f16. */
static void make_good(void)
{
    mt_error err;
    mt_store *store = NULL;
    sqlite3 *db = NULL;
    check(mkdtemp(folder) != NULL);
    snprintf(good, sizeof good, "%s/good.sqlite", folder);
    snprintf(path, sizeof path, "%s/t.sqlite", folder);
    atexit(remove_files);
    check(mt_store_open(good, MT_STORE_READ_WRITE, &store, &err) == MT_OK);
    mt_store_close(store);
    check(sqlite3_open(good, &db) == SQLITE_OK);
    check(sqlite3_exec(db, "PRAGMA journal_mode = DELETE;" FUZZ_ROWS("{}", "NULL"), NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static void write_file(const char *to, const void *data, size_t size)
{
    FILE *file = fopen(to, "wb");
    check(file != NULL);
    if (size) check(fwrite(data, 1, size, file) == size);
    fclose(file);
}

static size_t read_good(unsigned char *bytes, size_t size)
{
    FILE *file = fopen(good, "rb");
    check(file != NULL);
    size = fread(bytes, 1, size, file);
    fclose(file);
    return size;
}

static void write_patched(const unsigned char *patches, size_t size)
{
    static unsigned char bytes[1 << 20];
    size_t total = read_good(bytes, sizeof bytes);
    for (; size >= 5; size -= 5, patches += 5) {
        uint32_t place = patches[0] | (uint32_t)patches[1] << 8 | (uint32_t)patches[2] << 16 | (uint32_t)patches[3] << 24;
        bytes[place % total] = patches[4];
    }
    write_file(path, bytes, total);
}

static void set_expressions(const char *text, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    write_patched(NULL, 0);
    check(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    check(sqlite3_prepare_v2(db, "UPDATE kernel SET spec_json = CAST(?1 AS TEXT)", -1, &statement, NULL) == SQLITE_OK);
    sqlite3_bind_blob(statement, 1, text, (int)size, SQLITE_STATIC);
    check(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* Everything that a result offers. */
static void use(const tunelookup_result *r)
{
    char text[4096];
    int64_t number;
    const char *knob;
    const void *cubin;
    size_t bytes;
    tunelookup_explain(r, text, sizeof text);
    tunelookup_param(r, "C", &number);
    tunelookup_param_text(r, "ALGO", &knob);
    tunelookup_cubin(r, &cubin, &bytes);
    for (int i = -1; i <= r->launch_count; i++) {
        tunelookup_launch_info launch;
        tunelookup_launch(r, i, &launch);
    }
    for (int i = -1; i <= r->arg_count; i++) {
        tunelookup_arg_info arg;
        tunelookup_tensormap_info map;
        int32_t member;
        uint64_t offset;
        bool is_known = tunelookup_arg(r, i, &arg) == TUNELOOKUP_OK;
        for (int m = 0; is_known && m <= arg.member_count && m < 200; m++) tunelookup_member(r, i, m, &member, &offset);
        if (is_known && arg.kind == TUNELOOKUP_ARG_TENSORMAP) {
            for (int k = 0; k <= arg.map_count; k++) tunelookup_tensormap(r, i, k, &map);
        }
    }
}

static void ask(void)
{
    static const char *const name_sets[][5] = { { "N", "H[0]", "H[1]", "dtype=f16" }, { "N", "H[0]", "H[1]", "dtype=f16", "workload=w" }, { "N" } };
    static const size_t counts[] = { 4, 5, 1 };
    static const int64_t values[][3] = { { 64, 3, 5 }, { INT64_MAX, INT64_MIN, 0 }, { 1, -1, 1 } };
    tunelookup_device device = { .struct_size = sizeof device, .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472,
                                 .mem_bytes = 85017755648, .max_cluster = 16 };
    tunelookup_db *db = NULL;
    if (tunelookup_open(path, TUNELOOKUP_RECORDED | TUNELOOKUP_USER_CUBINS | TUNELOOKUP_COUNT_MISSES, &db) != TUNELOOKUP_OK) return;
    for (size_t i = 0; i < 3; i++) {
        tunelookup_plan *plan = NULL;
        if (tunelookup_prepare(db, &device, "toy", name_sets[i], counts[i], &plan) != TUNELOOKUP_OK) continue;
        for (size_t k = 0; k < 3; k++) {
            tunelookup_result result;
            check(tunelookup_find(plan, values[k], &result) == TUNELOOKUP_OK);
            use(&result);
        }
    }
    tunelookup_refresh(db);
    tunelookup_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*good) make_good();
    if (size == 0) return 0;
    if (data[0] % 3 == 1) set_expressions((const char *)data + 1, size - 1);
    else if (data[0] % 3 == 2) write_patched(data + 1, size - 1);
    else write_file(path, data + 1, size - 1);
    ask();
    return 0;
}
