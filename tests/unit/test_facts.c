#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/space/facts.h"
#include "tuner/space/ini.h"

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
}
END_TEST

START_TEST(an_unknown_device_is_answered_with_the_known_ones)
{
    mt_device_facts facts;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_facts_load(DEVICES, "h1000", &facts, &err), MT_ERR_NOT_FOUND);
    ck_assert(strstr(err.message, "h100-sxm") && strstr(err.message, "rtx5070"));
    ck_assert_ptr_nonnull(strstr(err.message, "no [device h1000] (did you mean 'h100'?)"));
    ck_assert_int_eq(mt_facts_load(DEVICES, "nope", &facts, &err), MT_ERR_NOT_FOUND);
    ck_assert_ptr_null(strstr(err.message, "did you mean"));
}
END_TEST

/* Every section must load, be found under each of its names, and none of them may mean two devices. */
START_TEST(the_shipped_file_is_consistent)
{
    char *text = NULL;
    size_t length = 0;
    mt_ini ini = { 0 };
    mt_error err = { 0 };
    ck_assert_int_eq(mt_file_read(DEVICES, 0, &text, &length, &err), MT_OK);
    ck_assert_msg(mt_ini_parse(DEVICES, text, length, &ini, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_ge(ini.section_count, 14);
    for (size_t i = 0; i < ini.section_count; i++) {
        const mt_ini_section *section = &ini.sections[i];
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
        ck_assert_int_eq(facts.smem_optin + facts.smem_reserved, facts.smem_per_sm);
        ck_assert_int_eq(facts.regs_per_sm, 65536);
        ck_assert_int_eq(facts.max_cluster > 1, facts.cc >= 90);
    }
    mt_ini_free(&ini);
    mt_free(text);
}
END_TEST

static const char *load_text(const char *text, mt_error *err)
{
    char path[] = "/tmp/test_facts_XXXXXX";
    mt_device_facts facts;
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(mt_fd_write_all(fd, text, strlen(text)), 0);
    close(fd);
    ck_assert_int_ne(mt_facts_load(path, "x", &facts, err), MT_OK);
    unlink(path);
    return err->message;
}

START_TEST(mistakes_are_named)
{
    mt_error err = { 0 };
    ck_assert(strstr(load_text("[device x]\nname = X\nsm_cuont = 3\n", &err), ":3: unknown key `sm_cuont`"));
    ck_assert(strstr(err.message, "did you mean `sm_count`?"));
    ck_assert(strstr(load_text("[device x]\nname = X\ncc = ninety\n", &err), ":3: cc = ninety: expected a positive integer"));
    ck_assert(strstr(load_text("[device x]\nname = X\ncc = 90\n", &err), "has no `sm_count`"));
    ck_assert(strstr(load_text("[device x]\ncc = 90\n", &err), "has no `name`"));
    ck_assert(strstr(load_text("[gpu x]\nname = X\n", &err), "expected [device NAME]"));
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
          the_shipped_file_is_consistent, mistakes_are_named, architectures)
