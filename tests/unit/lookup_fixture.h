/* What the tests of libtunelookup share: a database made by the tuner's own store, and the device that asks. */
#pragma once

#include <elf.h>
#include <stddef.h>

#include "include/tunelookup.h"
#include "tests/unit/store_fixture.h"
#include "tuner/base/hash.h"

#define ck_lookup(call)                                                                                                             \
    do {                                                                                                                            \
        tunelookup_status status_ = (call);                                                                                         \
        ck_assert_msg(status_ == TUNELOOKUP_OK, "%s: %s: %s", #call, tunelookup_strerror(status_), tunelookup_detail());            \
    } while (0)
/* Fails with that status and a detail that holds `part`. */
#define ck_lookup_fails(call, wanted, part)                                                                                         \
    do {                                                                                                                            \
        tunelookup_status status_ = (call);                                                                                         \
        ck_assert_msg(status_ == (wanted), "%s: %d (%s: %s), not %d", #call, (int)status_, tunelookup_strerror(status_), tunelookup_detail(), (int)(wanted)); \
        ck_assert_msg(strstr(tunelookup_detail(), (part)) != NULL, "no \"%s\" in: %s", (part), tunelookup_detail());                \
    } while (0)

static const tunelookup_device lookup_h100 = {
    .struct_size = sizeof(tunelookup_device), .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472,
    .smem_reserved = 1024, .regs_per_sm = 65536, .threads_per_sm = 2048, .blocks_per_sm = 32, .max_cluster = 16, .l2_bytes = 52428800, .mem_bytes = 85017755648,
    .clock_mhz = 1980, .driver_version = 13000,
};
static const char lookup_gpu_key[] = "h100-sxm|cc90|sm132|80g";
static const char lookup_kernel_key[] = "00112233445566778899aabbccddeeff";

/* A toy kernel: N, a list H, a string dtype; knobs ALGO, B and (with `wide`) C. */
static const char lookup_spec[] =
    "{\"format\":1,\"regime\":\"cold\",\"shape\":[{\"name\":\"H\",\"kind\":\"list\"},{\"name\":\"N\",\"kind\":\"int\"},{\"name\":\"dtype\",\"kind\":\"string\"}],"
    "\"params\":[{\"name\":\"ALGO\",\"string\":true,\"values\":[\"plain\",\"wide\"],\"default\":0},{\"name\":\"B\",\"values\":[32,64],\"default\":0},"
    "{\"name\":\"C\",\"values\":[1,2,4],\"default\":0,\"when\":\"$ALGO \\\"wide\\\" ==\"}],"
    "\"lets\":[{\"name\":\"TOTAL\",\"value\":\"$H sum1 $N *\"},{\"name\":\"HALF\",\"value\":\"$N 2 /\"}],"
    "\"variants\":[{\"name\":\"plain\",\"entry\":\"k_plain\"},{\"name\":\"wide\",\"entry\":\"k_wide\",\"requires\":\"$device.cc 90 >=\"}],"
    "\"constraints\":[{\"name\":\"small\",\"why\":\"N must be small\",\"holds\":\"$N 1000000 <=\"},{\"name\":\"fits\",\"why\":\"\",\"holds\":\"$B $C * $device.smem_optin <=\"}],"
    "\"args\":[{\"name\":\"x\",\"kind\":\"tensor\",\"role\":\"in\",\"dtype\":\"${dtype}\",\"shape\":[\"$N\",\"$TOTAL\"]},"
    "{\"name\":\"n\",\"kind\":\"scalar\",\"dtype\":\"i32\",\"value\":\"$N\"},{\"name\":\"y\",\"kind\":\"tensor\",\"role\":\"out\",\"dtype\":\"f32\",\"shape\":[\"$N\"]}],"
    "\"launches\":[{\"number\":1,\"args\":[0,1,2],\"grid\":[\"$N $B ceil_div\"],\"block\":[\"$B\"],\"cluster\":[]}],\"prepares\":[]}";
static const char *const lookup_names[] = { "N", "H[0]", "H[1]", "dtype=f16" };
enum { LOOKUP_NAMES = 4 };

typedef struct lookup_writer {
    mt_store *store;
    int64_t session;
    mt_subject subject; /* of the last row */
} lookup_writer;

static inline lookup_writer lookup_begin(const char *spec, const char *kernel, const char *kernel_key)
{
    lookup_writer w = { .store = fixture_open() };
    mt_device_row device = { .key = lookup_gpu_key, .name = lookup_h100.name, .facts_json = "{\"cc\":90}" };
    mt_kernel_row row = { .name = kernel, .key = kernel_key, .spec_json = spec };
    mt_toolchain_row toolchain = { .nvrtc_version = 13000, .driver_version = 13000, .arch = "sm_90a" };
    ck_ok(mt_store_begin(w.store, &fixture_err));
    w.session = fixture_session(w.store);
    ck_ok(mt_store_device(w.store, &device, &w.subject.device, &fixture_err));
    ck_ok(mt_store_kernel(w.store, &row, &w.subject.kernel, &fixture_err));
    ck_ok(mt_store_toolchain(w.store, &toolchain, &w.subject.toolchain, &fixture_err));
    return w;
}

/* Makes `variant` a candidate for the shape and workload; the subject's cache state and origin are the writer's. */
static inline void lookup_put(lookup_writer *w, const char *shape, const char *workload, const char *variant, double median_ns)
{
    mt_shape_row shape_row = { .name = "shape", .key = shape }, workload_row = { .name = workload, .key = workload };
    ck_ok(mt_store_shape(w->store, w->subject.kernel, &shape_row, &w->subject.shape, &fixture_err));
    ck_ok(mt_store_workload(w->store, w->subject.kernel, &workload_row, &w->subject.workload, &fixture_err));
    fixture_put_ok(w->store, w->session, &w->subject, variant, median_ns);
    ck_ok(mt_store_refresh_best(w->store, &w->subject, &fixture_err));
}

static inline void lookup_end(lookup_writer *w)
{
    ck_ok(mt_store_commit(w->store, &fixture_err));
    mt_store_close(w->store);
    w->store = NULL;
}

/* The toy kernel with one row: N=64, H=3,5, f16 → wide. */
static inline void lookup_one_row(void)
{
    lookup_writer w = lookup_begin(lookup_spec, "toy", lookup_kernel_key);
    lookup_put(&w, "H=3,5;N=64;dtype=f16", "default", "ALGO=wide;B=32;C=2", 1000);
    lookup_end(&w);
}

/* ---- code ---- */

typedef struct lookup_cubin { Elf64_Ehdr header; Elf64_Shdr sections[2]; unsigned char code[64]; } lookup_cubin;

static inline lookup_cubin lookup_make_cubin(unsigned sm)
{
    lookup_cubin c = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 0x41, 8 }, .e_machine = 190, .e_flags = sm << 8, .e_shoff = sizeof(Elf64_Ehdr),
                                 .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2 } };
    c.sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_offset = offsetof(lookup_cubin, code), .sh_size = sizeof c.code };
    return c;
}

/* Stores the bytes as the cubin of the toy kernel's one row. */
static inline void lookup_store_cubin(const void *bytes, size_t count)
{
    mt_store *store = fixture_open();
    mt_hash hash = mt_hash_bytes(bytes, count);
    char sql[128];
    ck_ok(mt_store_cubin(store, &hash, bytes, count, &fixture_err));
    mt_store_close(store);
    snprintf(sql, sizeof sql, "UPDATE answer SET cubin_hash = '%s'", hash.hex);
    fixture_sql(sql);
}

static inline const char *lookup_explain(const tunelookup_result *result)
{
    static char text[4096];
    size_t length = tunelookup_explain(result, text, sizeof text);
    ck_assert_uint_lt(length, sizeof text);
    ck_assert_uint_eq(strlen(text), length);
    return text;
}
