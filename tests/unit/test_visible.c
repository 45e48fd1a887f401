/* Which macros a source sees, by the words that stand in it. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/visible.h"

static char folder[] = "/tmp/msda-visible-XXXXXX";

static void add_header(const char *name, const char *text)
{
    char path[128];
    mt_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(mt_file_write_atomic(path, text, strlen(text), &err) == MT_OK, "%s", err.message);
}

/* The options (separated by blanks) that are left of `given` for a source, in one text. */
static void expect(const char *source_text, const char *given, const char *wanted)
{
    mt_error err = {0};
    mt_visible *visible = NULL;
    mt_source_file files[] = {{(char *)"a.cu", (char *)"a.cu", (char *)source_text}, {(char *)"own.cuh", (char *)"own.cuh", (char *)"int own = OWN;"}};
    const mt_source source = {.files = files, .file_count = 2};
    const char *folders[] = {NULL, folder};
    mt_options options = {0};
    mt_strbuf left = {0};
    while (*given) {
        char *option = mt_strndup(given, strcspn(given, " "));
        ck_assert_int_eq(mt_options_add(&options, option, &err), MT_OK);
        given += strlen(option);
        given += *given == ' ';
        mt_free(option);
    }
    ck_assert_msg(mt_visible_create(&source, folders, 2, NULL, &visible, &err) == MT_OK, "%s", err.message);
    for (int round = 0; round < 2; round++) mt_visible_filter(visible, &options); /* once more changes nothing */
    for (size_t i = 0; i < options.count; i++) mt_strbuf_addf(&left, "%s%s", i ? " " : "", options.items[i]);
    ck_assert_msg(strcmp(mt_strbuf_text(&left), wanted) == 0, "%s: '%s', expected '%s'", source_text, mt_strbuf_text(&left), wanted);
    mt_strbuf_free(&left);
    mt_options_free(&options);
    mt_visible_free(visible);
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    add_header("top.h", "#pragma once\n#include <deep.h>\nint top = TOP; /* COMMENTED */\n#define PASTE(a, b) a ## b\n");
    add_header("deep.h", "#include \"top.h\"\nint deep = DEEP;\n");
    add_header("astray.h", "#include \"beside_me_only.h\"\n");
}

static void tear_down(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(words_decide)
{
    set_up();
    expect("int a = A;", "-DA=1 -DB=2 -DOWN=3", "-DA=1 -DOWN=3");
    expect("int a = A;", "-DAB=1 -D_A=2 -DA_=3", "");
    expect("#if A == A_x\n#endif", "-DA=A_y -DA_x=1 -DA_y=2 -DA_z=3", "-DA=A_y -DA_x=1 -DA_y=2"); /* also what a value says */
    expect("int a = A;", "-DC=1 -DB=C -DA=B", "-DC=1 -DB=C -DA=B");
    expect("int a = A;", "-std=c++17 -DA -DB -lineinfo", "-std=c++17 -DA -lineinfo");
    expect("int a = 1;", "-DA(x)=x", "");
    tear_down();
}
END_TEST

START_TEST(comments_do_not_count)
{
    set_up();
    expect("// A\n/* B\nB */ int c = C; // B", "-DA=1 -DB=2 -DC=3", "-DC=3");
    expect("const char *text = \"// A\"; int b = B;", "-DA=1 -DB=2 -DC=3", "-DA=1 -DB=2");
    expect("const char *text = \"\\\"/*\"; int b = B; /* C */", "-DB=2 -DC=3", "-DB=2");
    expect("const char *text = R\"(\")\"; // A", "-DA=1 -DB=2", "-DA=1"); /* too hard to tell: comments count */
    expect("int a = 1'000; // A", "-DA=1 -DB=2", "-DA=1");
    expect("char c = '\"'; int a = A; /* B */", "-DA=1 -DB=2", "-DA=1");
    tear_down();
}
END_TEST

START_TEST(headers_are_read)
{
    set_up();
    expect("#include <top.h>\n", "-DTOP=1 -DDEEP=2 -DCOMMENTED=3 -DB=4", "-DTOP=1 -DDEEP=2");
    expect("  #  include \"top.h\" // quoted\n", "-DTOP=1 -DDEEP=2 -DB=4", "-DTOP=1 -DDEEP=2");
    expect("#include \"own.cuh\"\n#include <nowhere.h>\n", "-DOWN=1 -DTOP=2", "-DOWN=1");
    tear_down();
}
END_TEST

START_TEST(where_words_cannot_tell_all_stay)
{
    set_up();
    expect("#define J(a, b) a##b\nint a = J(SHAPE_, N);", "-DSHAPE_N=1 -DB=2", "-DSHAPE_N=1 -DB=2");
    expect("#include WHAT\n", "-DA=1", "-DA=1");
    expect("#include <astray.h>\n", "-DA=1", "-DA=1");
    tear_down();
}
END_TEST

static mt_hash digest_of(const char *source_text)
{
    mt_error err = {0};
    mt_visible *visible = NULL;
    mt_source_file file = {(char *)"a.cu", (char *)"a.cu", (char *)source_text};
    const mt_source source = {.files = &file, .file_count = 1};
    const char *folders[] = {folder, NULL};
    ck_assert_msg(mt_visible_create(&source, folders, 2, NULL, &visible, &err) == MT_OK, "%s", err.message);
    mt_hash digest = *mt_visible_headers(visible);
    mt_visible_free(visible);
    return digest;
}

/* Of what the source may read, and of nothing else. */
START_TEST(the_digest_is_of_the_headers_that_count)
{
    static const char reads_all[] = "#define PASTE(a, b) a##b\n#include <named.h>\n";
    char sub[96];
    set_up();
    snprintf(sub, sizeof sub, "%s/sub", folder);
    ck_assert_int_eq(mkdir(sub, 0755), 0);
    add_header("sub/first.h", "#include \"second.h\"\n");
    add_header("sub/second.h", "int second;\n");
    add_header("named.h", "#include NAME\n");
    mt_hash none = digest_of("int a;"), top = digest_of("#include <top.h>\n"), relative = digest_of("#define J(a, b) a##b\n#include <sub/first.h>\n"), all = digest_of(reads_all);
    ck_assert_str_eq(none.hex, "");
    ck_assert_str_ne(top.hex, "");
    add_header("unrelated.h", "int other;\n");
    ck_assert_str_eq(digest_of("#include <top.h>\n").hex, top.hex);
    ck_assert_str_eq(digest_of("#define J(a, b) a##b\n#include <sub/first.h>\n").hex, relative.hex);
    ck_assert_str_ne(digest_of(reads_all).hex, all.hex); /* a macro may name it */
    add_header("deep.h", "int deep = 2 * DEEP; // edited\n");
    ck_assert_str_ne(digest_of("#include <top.h>\n").hex, top.hex);
    add_header("sub/second.h", "// only a comment\n");
    ck_assert_str_ne(digest_of("#define J(a, b) a##b\n#include <sub/first.h>\n").hex, relative.hex);
    ck_assert_str_eq(digest_of("int a;").hex, "");
    tear_down();
}
END_TEST

UNIT_MAIN("visible", words_decide, comments_do_not_count, headers_are_read, where_words_cannot_tell_all_stay, the_digest_is_of_the_headers_that_count)
