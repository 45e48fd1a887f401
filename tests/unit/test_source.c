#include "tests/unit/space_fixture.h"
#include "tuner/base/file.h"
#include "tuner/space/source.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

static mt_source must_read(const mt_spec *spec)
{
    mt_source source;
    mt_error err = { 0 };
    ck_assert_msg(mt_source_load(spec, &source, &err) == MT_OK, "%s", err.message);
    return source;
}

START_TEST(includes_are_followed_once_and_comments_are_not)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_source source = must_read(spec);
    static const struct { const char *name, *path; } expected[] = {
        { "main.cu", "/source/main.cu" }, { "near.cuh", "/source/near.cuh" }, { "sub/deep.cuh", "/source/sub/deep.cuh" },
        { "inc.cuh", "/source/inc/inc.cuh" }, { "beside.cuh", "/source/sub/beside.cuh" }, { "spaced.inc", "/source/more inc/spaced.inc" },
    };
    ck_assert_uint_eq(source.file_count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < source.file_count; i++) {
        ck_assert_str_eq(source.files[i].name, expected[i].name);
        must_contain(source.files[i].path, expected[i].path);
    }
    mt_source_free(&source);
    mt_spec_free(spec);
}
END_TEST

typedef struct folder { char path[64]; } folder;

static folder make_folder(void)
{
    folder f = { "/tmp/test_source_XXXXXX" };
    ck_assert_ptr_nonnull(mkdtemp(f.path));
    return f;
}

static int drop_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    return remove(path);
}

static void drop(const folder *f)
{
    ck_assert_int_eq(nftw(f->path, drop_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void put(const folder *f, const char *name, const char *text)
{
    mt_error err = { 0 };
    char *path = mt_path_join(f->path, name), *parent = mt_path_folder(path);
    ck_assert_int_eq(mt_dir_make_all(parent, &err), MT_OK);
    ck_assert_msg(mt_file_write_atomic(path, text, strlen(text), &err) == MT_OK, "%s", err.message);
    mt_free(parent);
    mt_free(path);
}

static mt_spec *spec_in(const folder *f, const char *text)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    char *path = mt_path_join(f->path, "x.ini");
    ck_assert_msg(mt_spec_parse(path, text, strlen(text), &spec, &err) == MT_OK, "%s", err.message);
    mt_free(path);
    return spec;
}

static mt_hash key_of(const folder *f, const char *text)
{
    mt_spec *spec = spec_in(f, text);
    mt_source source = must_read(spec);
    mt_hash key;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_source_key(spec, &source, &key, &err), MT_OK);
    mt_source_free(&source);
    mt_spec_free(spec);
    return key;
}

START_TEST(the_key_changes_with_what_runs)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"a.cuh\"\n");
    put(&f, "a.cuh", "one\n");
    mt_hash base = key_of(&f, REST "[param K]\nvalues = 1, 2\n");
    ck_assert_str_eq(key_of(&f, REST "[param K]\nvalues = 1, 2\n").hex, base.hex);
    ck_assert_str_eq(key_of(&f, REST "[param K]\nvalues = 2, 1, 4\n[param Q]\nvalues = 3\n").hex, base.hex); /* CASES 7: only new variants run */
    ck_assert_str_ne(key_of(&f, REST "[let]\nT = N\n").hex, base.hex);
    ck_assert_str_ne(key_of(&f, KERNEL "options = -O1\n" SHAPE VARIANT OUT LAUNCH).hex, base.hex);
    put(&f, "a.cuh", "two\n");
    ck_assert_str_ne(key_of(&f, REST "[param K]\nvalues = 1, 2\n").hex, base.hex);
    put(&f, "a.cuh", "one\n");
    ck_assert_str_eq(key_of(&f, REST "[param K]\nvalues = 1, 2\n").hex, base.hex);
    put(&f, "k.cu", "#include \"a.cuh\"\n\n");
    ck_assert_str_ne(key_of(&f, REST "[param K]\nvalues = 1, 2\n").hex, base.hex);
    drop(&f);
}
END_TEST

START_TEST(one_name_must_mean_one_file)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"one/a.cuh\"\n#include \"two/a.cuh\"\n");
    put(&f, "one/a.cuh", "#include \"b.cuh\"\n");
    put(&f, "two/a.cuh", "#include \"b.cuh\"\n");
    put(&f, "one/b.cuh", "1\n");
    put(&f, "two/b.cuh", "2\n");
    mt_spec *spec = spec_in(&f, REST);
    mt_source source;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_source_load(spec, &source, &err), MT_ERR_SPEC);
    must_contain(err.message, "#include \"b.cuh\" means both");
    must_contain(err.message, "/one/b.cuh and");
    ck_assert_uint_eq(source.file_count, 0);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

START_TEST(cycles_end_and_odd_text_is_survived)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"a.cuh\"\n#include \"\"\n#include \"unclosed\n#include <a.cuh>\n#include MACRO\n'\"'\n\"open\n/* open #include \"b.cuh\"");
    put(&f, "a.cuh", "#include \"k.cu\"\n#include \"a.cuh\"\n");
    put(&f, "b.cuh", "b\n");
    mt_spec *spec = spec_in(&f, REST);
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 2);
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

START_TEST(a_missing_source_is_named)
{
    folder f = make_folder();
    mt_spec *spec = spec_in(&f, REST);
    mt_source source;
    mt_error err = { 0 };
    ck_assert_int_ne(mt_source_load(spec, &source, &err), MT_OK);
    must_contain(err.message, "k.cu: cannot open");
    must_contain(err.message, ".ini: [kernel] source: "); /* where it is named */
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

START_TEST(the_key_changes_with_the_expected_output)
{
    folder f = make_folder();
    static const char text[] = "[kernel]\nname = k\nsource = k.cu\nreference = file:expected.npy\n" SHAPE VARIANT OUT LAUNCH;
    put(&f, "k.cu", "\n");
    put(&f, "expected.npy", "one");
    mt_hash one = key_of(&f, text);
    ck_assert_str_eq(key_of(&f, text).hex, one.hex);
    put(&f, "expected.npy", "two");
    ck_assert_str_ne(key_of(&f, text).hex, one.hex);
    drop(&f);
}
END_TEST

UNIT_MAIN("source", includes_are_followed_once_and_comments_are_not, the_key_changes_with_what_runs, the_key_changes_with_the_expected_output, one_name_must_mean_one_file,
          cycles_end_and_odd_text_is_survived, a_missing_source_is_named)
