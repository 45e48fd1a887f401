#include "db/key.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/space/facts.h"
#include "tuner/space/ini/ini.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICES SOURCE_DIR "/db/devices.ini"

static mt_device_facts load(const char *name)
{
    mt_device_facts facts;
    mt_error err = { 0 };
    ck_assert_msg(mt_facts_load(DEVICES, name, &facts, &err) == MT_OK, "%s", err.message);
    return facts;
}

START_TEST(fields_in_order)
{
    mt_device_facts facts = load("h100-sxm");
    ck_assert_uint_eq(mt_facts_count(), 12);
    ck_assert_str_eq(mt_facts_name(0), "cc");
    ck_assert_int_eq(mt_facts_value(&facts, 0), 90);
    ck_assert_str_eq(mt_facts_name(1), "sm_count");
    ck_assert_int_eq(mt_facts_value(&facts, 1), 132);
    ck_assert_str_eq(mt_facts_name(11), "clock_mhz");
    ck_assert_int_eq(mt_facts_value(&facts, 11), 1980);
}
END_TEST

START_TEST(a_device_is_known_by_name_alias_and_driver_name)
{
    ck_assert_str_eq(load("h100-sxm").name, "NVIDIA H100 80GB HBM3");
    ck_assert_str_eq(load("H100").name, "NVIDIA H100 80GB HBM3");
    ck_assert_str_eq(load("h100-sxm5").name, "NVIDIA H100 80GB HBM3");
    ck_assert_str_eq(load("NVIDIA H100 80GB HBM3").name, "NVIDIA H100 80GB HBM3");
    ck_assert_int_eq(load("h100-pcie").sm_count, 114);
    ck_assert_int_eq(load("b200").cc, 100);
    ck_assert_int_eq(load("rtx5070").smem_optin, 101376);
    ck_assert_str_eq(load("v100").name, "Tesla V100-SXM2-16GB");
    ck_assert_str_eq(load("4070-ti").name, "NVIDIA GeForce RTX 4070 Ti");
    ck_assert_str_eq(load("rtx4070ti-super").name, "NVIDIA GeForce RTX 4070 Ti SUPER");
}
END_TEST

/* What the issue that asked for them names, as people write it. */
START_TEST(gpus_that_people_have_are_known)
{
    static const char *const names[] = {
        "a10", "a16", "a2", "a30", "a800", "h800", "l20", "rtx2080super", "rtx3050", "rtx3070ti", "rtx3090ti", "rtx4050", "rtx5050", "a40", "l4", "l40", "l40s", "v100-sxm2-16g", "v100-sxm2-32g", "v100-pcie-16g", "v100-pcie-32g", "t4", "rtx2080ti", "rtx3060", "rtx3090", "rtx4060", "rtx4070",
        "rtx4080", "rtx4090", "rtx5060", "rtx5070", "rtx5080", "rtx5090", "a6000", "a5000", "a4000", "rtx6000ada", "rtxpro6000", "h20", "h100", "h200", "gh200", "b200", "b300", "gb200", "orin", "thor",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) ck_assert_int_gt(load(names[i]).sm_count, 0);
}
END_TEST

/* CUDA Programming Guide, "Technical Specifications per Compute Capability": KiB of shared memory per SM and per block, resident threads and blocks per SM; 64 K registers everywhere. */
static const struct {
    int64_t cc, smem_per_sm_kib, smem_per_block_kib, threads, blocks, cluster;
} guide[] = {
    { 70, 96, 96, 2048, 32, 1 }, { 75, 64, 64, 1024, 16, 1 }, { 80, 164, 163, 2048, 32, 1 }, { 86, 100, 99, 1536, 16, 1 }, { 87, 164, 163, 1536, 16, 1 }, { 89, 100, 99, 1536, 24, 1 },
    { 90, 228, 227, 2048, 32, 16 }, { 100, 228, 227, 2048, 32, 16 }, { 103, 228, 227, 2048, 32, 16 }, { 110, 228, 227, 1536, 24, 16 }, { 120, 100, 99, 1536, 24, 8 }, { 121, 100, 99, 1536, 24, 8 },
};

static void ck_is_as_the_guide_says(const mt_device_facts *facts)
{
    size_t i = 0;
    while (i < sizeof guide / sizeof *guide && guide[i].cc != facts->cc) i++;
    ck_assert_msg(i < sizeof guide / sizeof *guide, "%s: no row for compute capability %lld", facts->name, (long long)facts->cc);
    ck_assert_int_eq(facts->smem_per_sm, guide[i].smem_per_sm_kib * 1024);
    ck_assert_int_eq(facts->smem_optin, guide[i].smem_per_block_kib * 1024);
    ck_assert_int_eq(facts->smem_reserved, facts->smem_per_sm - facts->smem_optin);
    ck_assert_int_eq(facts->regs_per_sm, 65536);
    ck_assert_int_eq(facts->threads_per_sm, guide[i].threads);
    ck_assert_int_eq(facts->blocks_per_sm, guide[i].blocks);
    ck_assert_int_eq(facts->max_cluster, guide[i].cluster);
}

START_TEST(an_unknown_device_is_answered_with_the_known_ones)
{
    mt_device_facts facts;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_facts_load(DEVICES, "h1000", &facts, &err), MT_ERR_NOT_FOUND);
    ck_assert(strstr(err.message, "h100-sxm") && strstr(err.message, "rtx5070"));
    ck_assert_ptr_nonnull(strstr(err.message, "unknown GPU 'h1000' (did you mean 'h100'?)"));
    ck_assert_int_eq(mt_facts_load(DEVICES, "nope", &facts, &err), MT_ERR_NOT_FOUND);
    ck_assert_ptr_null(strstr(err.message, "did you mean"));
}
END_TEST

static bool is_device(const mt_ini_section *section)
{
    return strcmp(section->kind, "device") == 0;
}

/* The section must load, and be found under each of its names. */
static mt_device_facts ck_section(const mt_ini_section *section)
{
    const char *driver = mt_ini_find(section, "name")->value;
    char *aliases = mt_strdup(mt_ini_find(section, "aliases")->value), *rest = aliases;
    mt_device_facts facts = load(section->name);
    ck_assert_str_eq(facts.name, driver);
    ck_assert_str_eq(load(driver).name, driver);
    for (char *alias; (alias = strsep(&rest, ","));) {
        alias += strspn(alias, " ");
        ck_assert_str_eq(load(alias).name, driver);
    }
    mt_free(aliases);
    return facts;
}

/* None of the names may mean two devices, and no two devices are one to the database. */
START_TEST(the_shipped_file_is_consistent)
{
    char *text = NULL, keys[128][128];
    size_t length = 0, count = 0;
    mt_ini ini = { 0 };
    mt_error err = { 0 };
    ck_assert_int_eq(mt_file_read(DEVICES, 0, &text, &length, &err), MT_OK);
    ck_assert_msg(mt_ini_parse(DEVICES, text, length, &ini, &err) == MT_OK, "%s", err.message);
    for (size_t i = 0; i < ini.section_count; i++) {
        if (!is_device(&ini.sections[i])) continue;
        mt_device_facts facts = ck_section(&ini.sections[i]);
        ck_is_as_the_guide_says(&facts);
        ck_assert_uint_lt(count, 128);
        mt_key_gpu(facts.name, facts.cc, facts.sm_count, facts.mem_bytes, facts.clock_mhz, keys[count], sizeof keys[count]);
        for (size_t j = 0; j < count; j++) ck_assert_str_ne(keys[j], keys[count]);
        count++;
    }
    ck_assert_uint_ge(count, 14);
    mt_ini_free(&ini);
    mt_free(text);
}
END_TEST

static mt_status load_from(const char *text, mt_device_facts *facts, mt_error *err)
{
    char path[] = "/tmp/test_facts_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(mt_fd_write_all(fd, text, strlen(text)), 0);
    close(fd);
    mt_status st = mt_facts_load(path, "x", facts, err);
    unlink(path);
    return st;
}

static const char *load_text(const char *text, mt_error *err)
{
    mt_device_facts facts;
    ck_assert_int_ne(load_from(text, &facts, err), MT_OK);
    return err->message;
}

static mt_device_facts load_good(const char *text)
{
    mt_device_facts facts;
    mt_error err = { 0 };
    ck_assert_msg(load_from(text, &facts, &err) == MT_OK, "%s", err.message);
    return facts;
}

START_TEST(mistakes_are_named)
{
    mt_error err = { 0 };
    ck_assert(strstr(load_text("[device x]\nname = X\nsm_cuont = 3\n", &err), ":3: unknown key `sm_cuont`"));
    ck_assert(strstr(err.message, "did you mean `sm_count`?"));
    ck_assert(strstr(load_text("[device x]\nname = X\ncc = ninety\n", &err), ":3: cc = ninety: expected a positive integer"));
    ck_assert(strstr(load_text("[device x]\nname = X\ncc = 90\n", &err), "has no `sm_count`"));
    ck_assert(strstr(load_text("[device x]\ncc = 90\n", &err), "has no `name`"));
    ck_assert(strstr(load_text("[gpu x]\nname = X\n", &err), "expected [device NAME] or [limits CC]"));
    ck_assert(strstr(load_text("[limits 90]\nname = X\n[device x]\nname = X\ncc = 90\n", &err), ":2: unknown key `name` in a [limits] section; expected a fact such as smem_optin"));
    ck_assert(strstr(load_text("[device x]\nname = X\ncc = 90\nregs_per_sm = 0\n", &err), ":4: regs_per_sm = 0: expected a positive integer"));
    ck_assert(strstr(load_text("[device x]\nname = X\ncc = 90\nsmem_reserved = -1\n", &err), ":4: smem_reserved = -1: expected a positive integer or 0"));
}
END_TEST

#define MODEL "[device x]\nname = X\ncc = 90\nsm_count = 3\nl2_bytes = 4\nmem_bytes = 5\nclock_mhz = 6\n"
#define LIMITS(cc) "[limits " cc "]\nsmem_optin = 11\nsmem_per_sm = 12\nsmem_reserved = 0\nregs_per_sm = 13\nthreads_per_sm = 14\nblocks_per_sm = 15\nmax_cluster = 16\n"

START_TEST(a_device_has_the_limits_of_its_compute_capability)
{
    mt_error err = { 0 };
    mt_device_facts facts;
    ck_assert(strstr(load_text(MODEL LIMITS("89"), &err), "[device x] has no `smem_optin`; every fact must be given, here or in [limits 90]"));
    facts = load_good(LIMITS("89") MODEL LIMITS("90"));
    ck_assert_int_eq(facts.smem_optin, 11);
    ck_assert_int_eq(facts.smem_reserved, 0);
    ck_assert_int_eq(facts.max_cluster, 16);
    facts = load_good(MODEL "blocks_per_sm = 7\n" LIMITS("90")); /* the device's own word counts */
    ck_assert_int_eq(facts.blocks_per_sm, 7);
    ck_assert_int_eq(facts.regs_per_sm, 13);
}
END_TEST

START_TEST(architectures)
{
    char out[16];
    static const struct { int64_t cc; const char *arch; } rows[] = { { 80, "sm_80" }, { 89, "sm_89" }, { 90, "sm_90a" }, { 100, "sm_100a" }, { 120, "sm_120a" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mt_facts_arch(rows[i].cc, out, sizeof out);
        ck_assert_str_eq(out, rows[i].arch);
    }
}
END_TEST

UNIT_MAIN("facts", fields_in_order, a_device_is_known_by_name_alias_and_driver_name, an_unknown_device_is_answered_with_the_known_ones,
          gpus_that_people_have_are_known, the_shipped_file_is_consistent, mistakes_are_named, a_device_has_the_limits_of_its_compute_capability, architectures)
