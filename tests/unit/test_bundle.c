#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/toy.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/worker/bundle.h"
#include "tuner/evaluate/facts_json.h"

static char folder[] = "/tmp/msda-bundle-XXXXXX";
static char ini[64];

static void write_file(const char *name, const char *text)
{
    char path[128];
    mt_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(mt_file_write_atomic(path, text, strlen(text), &err) == MT_OK, "%s", err.message);
}

static mt_spec *open_toy(mt_source *source)
{
    char text[4096];
    mt_spec *spec = NULL;
    mt_error err = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(ini, sizeof ini, "%s/toy.ini", folder);
    toy_text(text, sizeof text, "", "[param A]\nvalues = 1, 2\n");
    write_file("toy.ini", text);
    write_file("toy.cu", "#include \"toy.cuh\"\nextern \"C\" __global__ void plain(float *out) {}\n");
    write_file("toy.cuh", "/* included */\n");
    ck_assert_msg(mt_spec_load(ini, &spec, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_source_load(spec, source, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(source->file_count, 2);
    return spec;
}

static void remove_toy(mt_spec *spec, mt_source *source)
{
    char command[128];
    mt_source_free(source);
    mt_spec_free(spec);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(there_and_back)
{
    mt_source source = {0};
    mt_spec *spec = open_toy(&source), *again = NULL;
    mt_bundle bundle;
    mt_error err = {0};
    int fd = -1;
    ck_assert_msg(mt_bundle_make(spec, &source, &fd, &err) == MT_OK, "%s", err.message);
    for (int round = 0; round < 2; round++) { /* as two workers do: the offset they share must not move */
        ck_assert_msg(mt_bundle_open(fd, &bundle, &err) == MT_OK, "%s", err.message);
        ck_assert_str_eq(bundle.path, ini);
        ck_assert_uint_eq(bundle.source.file_count, 2);
        ck_assert_str_eq(bundle.source.files[0].text, source.files[0].text);
        ck_assert_str_eq(bundle.source.files[1].name, "toy.cuh");
        ck_assert_int_eq(mt_spec_parse(bundle.path, bundle.text, strlen(bundle.text), &again, &err), MT_OK);
        ck_assert_str_eq(again->name, "toy");
        mt_spec_free(again);
        mt_bundle_free(&bundle);
    }
    close(fd);
    remove_toy(spec, &source);
}
END_TEST

/* Workers get what was read and hashed, whatever an editor has saved since. */
START_TEST(an_edit_changes_nothing)
{
    mt_source source = {0};
    mt_spec *spec = open_toy(&source);
    mt_bundle bundle;
    char text[4096];
    mt_error err = {0};
    int fd = -1;
    toy_text(text, sizeof text, "", "[param A]\nvalues = 1, 2\n[let]\nM = N * 2\n");
    write_file("toy.ini", text);
    ck_assert_msg(mt_bundle_make(spec, &source, &fd, &err) == MT_OK, "%s", err.message);
    ck_assert_msg(mt_bundle_open(fd, &bundle, &err) == MT_OK, "%s", err.message);
    ck_assert_ptr_null(strstr(bundle.text, "[let]"));
    mt_bundle_free(&bundle);
    close(fd);
    remove_toy(spec, &source);
}
END_TEST

START_TEST(damaged)
{
    mt_source source = {0};
    mt_spec *spec = open_toy(&source);
    mt_bundle bundle;
    mt_error err = {0};
    int fd = -1;
    ck_assert_int_eq(mt_bundle_make(spec, &source, &fd, &err), MT_OK);
    off_t size = lseek(fd, 0, SEEK_END);
    for (off_t cut = size - 1; cut >= 0; cut -= 37) {
        ck_assert_int_eq(ftruncate(fd, cut), 0);
        ck_assert_int_ne(mt_bundle_open(fd, &bundle, &err), MT_OK);
        mt_bundle_free(&bundle);
    }
    close(fd);
    ck_assert_int_eq(mt_bundle_open(-1, &bundle, &err), MT_ERR_WORKER);
    remove_toy(spec, &source);
}
END_TEST

START_TEST(facts_json)
{
    mt_device_facts facts = toy_facts(), back;
    mt_error err = {0};
    char *json = mt_facts_to_json(&facts);
    ck_assert_ptr_nonnull(strstr(json, "{\"cc\":90,\"sm_count\":132,"));
    ck_assert_int_eq(mt_facts_from_json(json, &back, &err), MT_OK);
    for (size_t i = 0; i < mt_facts_count(); i++) ck_assert_int_eq(mt_facts_value(&back, i), mt_facts_value(&facts, i));
    mt_free(json);
    ck_assert_int_eq(mt_facts_from_json(" { \"new_fact\" : 3 , \"cc\" : 100 } ", &back, &err), MT_OK);
    ck_assert_int_eq(back.cc, 100);
    ck_assert_int_eq(back.sm_count, 0);
    static const char *const bad[] = {"", "{}", "[]", "{\"cc\":}", "{\"cc\":90", "{\"cc\":\"90\"}", "{\"cc\" 90}", "{\"cc\":9 0}", "{cc:90}", "{\"cc\":90,,}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) ck_assert_msg(mt_facts_from_json(bad[i], &back, &err) == MT_ERR_DB, "%s", bad[i]);
}
END_TEST

UNIT_MAIN("bundle", there_and_back, an_edit_changes_nothing, damaged, facts_json)
