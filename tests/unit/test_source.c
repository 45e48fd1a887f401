#include "tests/unit/space_fixture.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/source.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
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
    ck_assert_str_eq(key_of(&f, REST "[param K]\nvalues = 2, 1, 4\n[param Q]\nvalues = 3\n").hex, base.hex); /* a value more: the same key, so only the new variants run */
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

static void has_file(const mt_source *source, const char *name, const char *text)
{
    for (size_t i = 0; i < source->file_count; i++) {
        if (strcmp(source->files[i].name, name) != 0) continue;
        ck_assert_str_eq(source->files[i].text, text);
        return;
    }
    ck_abort_msg("no file %s", name);
}

/* NVRTC knows headers by name alone, compilers by place. */
START_TEST(files_of_one_name_get_names_of_their_own)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"one/a.cuh\"\n#include \"two/a.cuh\"\n");
    put(&f, "one/a.cuh", "#include \"b.cuh\"\n");
    put(&f, "two/a.cuh", "#  include /* here */ \"b.cuh\" // mine\n");
    put(&f, "one/b.cuh", "1\n");
    put(&f, "two/b.cuh", "2\n");
    mt_spec *spec = spec_in(&f, REST);
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 5);
    has_file(&source, "one/a.cuh", "#include \"b.cuh\"\n");
    has_file(&source, "b.cuh", "1\n");
    has_file(&source, "two/a.cuh", "#  include \"two/b.cuh\" // mine\n");
    has_file(&source, "two/b.cuh", "2\n");
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

START_TEST(spellings_of_one_file_are_one)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"p.h\"\n#include \"sub/../p.h\"\n#include \"link.h\"\n#if __has_include(\"link.h\")\n#endif\n");
    put(&f, "p.h", "\xEF\xBB\xBF#pragma once\n"); /* with the mark of other systems' editors */
    put(&f, "sub/x", "");
    char *link = mt_path_join(f.path, "link.h");
    ck_assert_int_eq(symlink("p.h", link), 0);
    mt_free(link);
    mt_spec *spec = spec_in(&f, REST);
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 2);
    has_file(&source, "k.cu", "#include \"p.h\"\n#include \"p.h\"\n#include \"p.h\"\n#if __has_include(\"p.h\")\n#endif\n");
    has_file(&source, "p.h", "#pragma once\n");
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

#define KERNEL_WITH(options) KERNEL options SHAPE VARIANT OUT LAUNCH

/* All ways in which a header may come to the compiler: the key is of its contents, and not of where it lies. */
static const struct { const char *source, *lines; } ways[] = {
    {"#include \"x.h\"\n", "include = inc\n"},
    {"#include <x.h>\n", "include = inc\n"},
    {"#include <x.h>\n", "options = -Iinc\n"},
    {"#include <x.h>\n", "options = -O2x -I inc\n"},
    {"#include <x.h>\n", "options = --include-path=inc\n"},
    {"#include <x.h>\n", "options = -I\"with blank\" -Iinc\n"},
    {"#include \"x.h\"\n", "options = '-Iinc'\n"},
    {"", "options = -include=inc/x.h\n"},
    {"", "options = -include=x.h -Iinc\n"},
    {"", "options = --pre-include=inc/x.h\n"},
    {"#if __has_include(<x.h>)\n#include <x.h>\n#endif\n", "options = -Iinc\n"},
    {"#define HEADER <x.h>\n#include HEADER\n", "include = inc\n"},
    {"#define FAST \"inc/x.h\"\n#define HEADER FAST\n#include HEADER\n", ""},
    {"#include HEADER\n", "options = -DHEADER=<x.h> -Iinc\n"},
    {"#include HEADER\n", "options = -D HEADER=\"inc/x.h\"\n"},
    {"#include HEADER\n", "options = --define-macro HEADER=\"inc/x.h\"\n"},
    {"#if 0\n#include \\\n  \"inc/x.h\"\n#endif\n", ""},
    {"%:include \"inc/x.h\"\n", ""},
    {" %: /* so */ include <x.h>\n", "options = -Iinc\n"},
    {"#inc\\\nlude \"inc/x.h\"\n", ""},
    {"#\\\r\nin\\\nclude\\\n\"inc/x.h\"\n", ""},
    {"#include \"inc\\\n/x\\\r\n.h\"\n", ""},
    {"#define HEADER \"inc/x\\\n.h\"\n#include HEADER\n", ""},
    {"\f# \v include\f\"inc/x.h\"\n", ""},
    {"#define EMPTY\n#include EMPTY \"inc/x.h\"\n", ""},
    {"#define EMPTY\n#define HEADER EMPTY <x.h>\n#include EMPTY HEADER EMPTY\n", "options = -Iinc\n"},
    {"#define SAME(x) x\n#include SAME(SAME(\"inc/x.h\"))\n", ""},
    {"const char *text = R\"x(/* )\" )x\";\n#include \"inc/x.h\"\n", ""},
    {"const char *text = u8R\"(\\\n\" // )\";\n#include \"inc/x.h\"\n", ""},
    {"#if 0\n it's // so \\\n far\n#endif\n#include \"inc/x.h\"\n", ""},
    {"#define HAS(x) __has_include(x)\n#if HAS(\"inc/x.h\")\n#endif\n", ""},
    {"#define EMPTY\n#if __has_include(EMPTY \"inc/x.h\")\n#endif\n", ""},
    {"#if __has_include_next(<x.h>)\n#endif\n", "options = -Iinc\n"},
    {"#define ASK __has_include\n#define NAME \"inc/x.h\"\n#if ASK(NAME)\n#endif\n", ""},
    {"#define INNER(x) __has_include(x)\n#define OUTER(what, x) (what && INNER(x))\nstatic_assert(OUTER(1, \"inc/x.h\"), \"\");\n", ""},
    {"#define THERE __has_include(\"inc/x.h\")\n#if THERE\n#endif\n", ""},
    {"#define NAME /* \n */ \"inc/x.h\"\n#if __has_include(NAME)\n#endif\n", ""},
    {"#define NAME \"inc/x.h\"\n#if _CCCL_HAS_INCLUDE(NAME)\n#endif\n", ""},
    {"#if __has_include/* ( */(/* x */ \"inc/x.h\" /* ) */)\n#endif\n", ""},
    {"#if __has_include(NAME)\n#endif\n", "options = -DNAME=<x.h> -Iinc\n"},
};

/* What __has_include is asked for in no word of the text: whether it is there would be in no key. */
static const struct { const char *source, *lines, *words; } askers[] = {
    {"#define TEXT(x) #x\n#if __has_include(TEXT(/x.h))\n", "", "k.cu:2: __has_include(TEXT(/x.h)): the tool expands no macros"},
    {"#define HAS(x) __has_include(#x)\n", "", "k.cu:1: __has_include(#x)"},
    {"#define HAS(x) __has_include(<x>)\n", "", "k.cu:1: <x>)"},
    {"#define HAS(x) \"/*\" /* \n */ __has_include(<x>)\n", "", "k.cu:2: <x>)"},
    {"#define HAS(x) __has_include(x)\n#define TEXT(x) #x\n\n#if HAS(TEXT(/x.h))\n", "", "k.cu:4: HAS(TEXT(/x.h))"},
    {"#define HAS(x) __has_include(x)\n#define DIR /x\n#if HAS(<DIR/x.h>)\n", "", "k.cu:3: HAS(<DIR/x.h>)"},
    {"#define DIR /x\n#define NAME <DIR/x.h>\n#if __has_include(NAME)\n", "", "k.cu:3: __has_include(NAME)"},
    {"#define LESS <\n#define MORE >\n#if __has_include(LESS/x.h MORE)\n", "", "k.cu:3: __has_include(LESS/x.h MORE)"},
    {"#define NAME(x) </usr/lib##x/x.h>\n#if __has_include(NAME(64))\n", "", "k.cu:2: __has_include(NAME(64))"},
    {"#define HAS(what, x) __has_include(x)\n#if HAS(1 < 2, \"/x.h\" > 1)\n", "", "k.cu:2: HAS(1 < 2"},
    {"#if __has_include(__FILE__)\n", "", "k.cu:1: __has_include(__FILE__)"},
    {"#define NAME <../../x.h>\n#if __has_include(NAME)\n", "", "k.cu:2: __has_include(NAME)"},
    {"#define TEXT(x) #x\nstatic_assert(__has_include(TEXT(/x.h)), \"\");\n", "", "k.cu:2: __has_include(TEXT"},
    {"#define ASK __has_include\n#define TEXT(x) #x\n#if ASK(TEXT(/x.h))\n", "", "k.cu:3: ASK(TEXT"},
    {"#if _CCCL_HAS_INCLUDE(TEXT(/x.h))\n", "", "k.cu:1: _CCCL_HAS_INCLUDE(TEXT"},
    {"#define F 1\n#include \"inc/x.h\"\n", "", "inc/x.h:1: __has_include(NAME(F))"},
    {"", "options = -DASK=__has_include(\"/x.h\")\n", "[kernel] options: -DASK=__has_include(\"/x.h\"): the tool can't see which file this asks for"},
    {"#define P() __has_include\n#if P()(\"/x.h\")\n", "", "k.cu:2: P()"},
    {"#define HAS(x) __has_include(x)\n#define P() HAS\n#define Q P()\n#if Q(\"/x.h\")\n", "", "k.cu:3: P()"},
    {"#define L (\n#if __has_include L \"/x.h\")\n", "", "k.cu:2: __has_include L"},
    {"#define L (\n#define HAS __has_include\n#if HAS L \"/x.h\")\n", "", "k.cu:3: HAS L"},
    {"#define HAS(x) __has_include(x)\n#define CALL(f, x) f x\n#if CALL(HAS, (\"/x.h\"))\n", "", "k.cu:3: HAS, ("},
    {"#define HAS(x) __has_include(x)\n#define CALL(f, x) f x\n#define ASK CALL(HAS, (\"/x.h\"))\n#if ASK\n", "", "k.cu:4: ASK"},
    {"#define A __has_include(\"x.h\")\n#define B A A A A\n#define C B B B B B B B B\n#define D C C C C C C C C\n#define E D D D D D D D D D\n#if E\n", "", "k.cu:6: E"},
    {"#define CAT(a, b) a##b\n#if CAT(__has_include,)(\"/x.h\")\n", "", "k.cu:2: __has_include,"},
    {"#define CAT(a, b) a##b\n#if CAT(__has,_include)(\"/x.h\")\n", "", "k.cu:2: _include"},
    {"#define CAT(a, b) a##b\n#if CAT(__has,\\\n_include)(\"/x.h\")\n", "", "k.cu:3: _include"},
    {"#if CAT(_,CAT(_h,as_incl))CAT(u,CAT(de_,next))(\"/x.h\")\n", "", "k.cu:1: next"},
    {"#define CAT(a, b) a##b\n#define CALL(a, b) CAT(a, b)\n#if CALL(__has, END)(\"/x.h\")\n", "options = -DEND=_include\n", "k.cu:3: __has"},
    {"#define CAT(a, b) a##b\n#define CALL(a, b) CAT(a, b)\n#if CALL(__has, END)(\"/x.h\")\n", "[param END]\nvalues = \"_include\"\n", "k.cu:3: __has"},
    {"#if X(\"/x.h\")\n", "[param X]\nvalues = \"__has_include\", \"f\"\n", "knob X: value __has_include: the tool can't see which file this asks for"},
    {"#if ASK(\"/x.h\")\n", "options = -DASK=${X}\n[param X]\nvalues = \"__has_include\"\n", "knob X: value __has_include"},
    {"#if __has_\\\ninclude(TEXT(/x.h))\n", "", "k.cu:1: __has_include(TEXT"},
    {"#define F(x)\n#if 1 and'ab' and __has_include(TEXT(/x.h))\n", "", "k.cu:2: __has_include(TEXT"},
    {"#define F(x) 1\n#if F(1'z) and __has_include(TEXT(/x.h))\n", "", "k.cu:2: __has_include(TEXT"},
    {"#define F(x) 1\n#if F(0'/*') and __has_include(TEXT(/x.h))\n#endif // */\n", "", "k.cu:2: __has_include(TEXT"},
    {"#define F(x)\nF($R\"(\")\n#if __has_include(TEXT(/x.h)) //)\"\n", "", "k.cu:3: __has_include(TEXT"},
    {"#if __has_?\?/\ninclude(\"/x.h\")\n", "options = -std=c++14\n", "k.cu:1: ?\?/: what -std asks for reads this as other letters"},
    {"?\?=if 1\n", "options = -std c++03\n", "k.cu:1: ?\?="},
    {"#if 1'0 == 1 && __has_include(\"x.h\")\n", "options = --std=c++11\n", "k.cu:1: 1'0: what -std"},
    {"#include NAME\n", "options = -DNAME=\"x${NUMBER}.h\"\n", "options: NAME=\"x${NUMBER}.h\": a knob makes the name of an include"},
};

START_TEST(what_macros_ask_for_is_refused)
{
    folder f = make_folder();
    mt_strbuf text = {0};
    mt_source source;
    mt_error err = {0};
    mt_strbuf_addf(&text, KERNEL "%s" SHAPE VARIANT "[param NUMBER]\nvalues = 1\n" OUT LAUNCH, askers[_i].lines);
    put(&f, "k.cu", askers[_i].source);
    put(&f, "inc/x.h", "#if __has_include(NAME(F))\n#endif\n");
    mt_spec *spec = spec_in(&f, mt_strbuf_text(&text));
    ck_assert_int_eq(mt_source_load(spec, &source, &err), MT_ERR_SPEC);
    must_contain(err.message, askers[_i].words);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
    drop(&f);
}
END_TEST

/* Whether the compiler can be asked, names that only look alike, and words that make no whole. */
START_TEST(what_asks_for_nothing_is_taken)
{
    folder f = make_folder();
    put(&f, "k.cu", "#ifdef __has_include\n#if defined(__has_include) && defined __has_include\n#if __has_include(\"inc/x.h\") && !defined ( __has_include_next )\n#endif\n#endif\n#endif\n"
                    "#define HAS(x) __has_include(x)\n#define THERE HAS(\"inc/x.h\")\n#define ALSO (THERE && 1)\n#if ALSO && THERE && HAS(\"y.h\")\n#endif\n#ifdef HAS\n#undef HAS\n#endif\n"
                    "#define FLAG has_included_points\nint has_included_points, _, __h, _include_; // __has _include\nconst char *a = \"__has\", *b = FLAG ? R\"(_include)\" : \"\";\n");
    put(&f, "inc/x.h", "\n");
    mt_spec *spec = spec_in(&f, KERNEL SHAPE VARIANT OUT LAUNCH);
    mt_source source = must_read(spec);
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

/* Two files by the same name: that of the option is found from the .ini's folder, that of the source beside it. */
START_TEST(a_header_of_the_options_is_not_its_neighbour)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"p.h\"\n");
    put(&f, "p.h", "beside\n");
    put(&f, "inc/p.h", "of the option\n");
    mt_spec *spec = spec_in(&f, KERNEL_WITH("options = -include inc/p.h\n"));
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 3);
    has_file(&source, "k.cu", "#include \"p.h\"\n#line 1 \"k.cu\"\n#include \"2/p.h\"\n");
    has_file(&source, "p.h", "of the option\n");
    has_file(&source, "2/p.h", "beside\n");
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

START_TEST(every_way_to_a_header_is_in_the_key)
{
    folder f = make_folder(), elsewhere = make_folder();
    mt_strbuf text = {0};
    const folder *both[] = {&f, &elsewhere};
    mt_strbuf_addf(&text, KERNEL "%s" SHAPE VARIANT OUT LAUNCH, ways[_i].lines);
    for (int i = 0; i < 2; i++) {
        put(both[i], "k.cu", ways[_i].source);
        put(both[i], "with blank/y.h", "");
        put(both[i], "inc/x.h", "one\n");
    }
    mt_hash one = key_of(&f, mt_strbuf_text(&text));
    ck_assert_str_eq(key_of(&elsewhere, mt_strbuf_text(&text)).hex, one.hex);
    put(&f, "inc/x.h", "#error edited\n");
    ck_assert_str_ne(key_of(&f, mt_strbuf_text(&text)).hex, one.hex);
    put(&f, "inc/x.h", "one\n");
    ck_assert_str_eq(key_of(&f, mt_strbuf_text(&text)).hex, one.hex);
    mt_strbuf_free(&text);
    drop(&f);
    drop(&elsewhere);
}
END_TEST

/* Not the folder's name, nor how many there are. */
START_TEST(paths_are_not_in_the_key)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include <x.h>\n");
    put(&f, "inc/x.h", "one\n");
    put(&f, "deep/in/x.h", "one\n");
    put(&f, "deep/other/y.h", "one\n");
    mt_hash key = key_of(&f, KERNEL_WITH("options = -O2x -Iinc\n"));
    ck_assert_str_eq(key_of(&f, KERNEL_WITH("options = -Ideep/other -O2x -I deep/in\n")).hex, key.hex);
    ck_assert_str_eq(key_of(&f, KERNEL_WITH("options = -O2x\ninclude = deep/in\n")).hex, key.hex);
    ck_assert_str_ne(key_of(&f, KERNEL_WITH("options = -O2x -Ideep/other\n")).hex, key.hex);
    drop(&f);
}
END_TEST

START_TEST(folders_shadow_in_their_order)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include <cuda_fp16.h>\n#include <x.h>\n#include_next <x.h>\n");
    put(&f, "one/x.h", "#include_next <x.h>\n");
    put(&f, "two/x.h", "second\n");
    put(&f, "two/cuda_fp16.h", "#include_next <cuda_fp16.h>\n");
    mt_spec *spec = spec_in(&f, KERNEL_WITH("include = one\noptions = -Itwo\n"));
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 4);
    has_file(&source, "cuda_fp16.h", "#include <./cuda_fp16.h>\n"); /* the toolkit's */
    has_file(&source, "x.h", "#include \"2/x.h\"\n");
    has_file(&source, "2/x.h", "second\n");
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

START_TEST(a_header_named_by_a_macro_has_that_name_too)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include \"sub/a.h\"\n#define A \"a.h\"\n");
    put(&f, "sub/a.h", "#pragma once\n");
    put(&f, "sub/b.h", "#include A\n");
    mt_spec *spec = spec_in(&f, KERNEL_WITH("options = -include=sub/b.h\n"));
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 4);
    has_file(&source, "k.cu", "#include \"b.h\"\n#line 1 \"k.cu\"\n#include \"sub/a.h\"\n#define A \"a.h\"\n");
    has_file(&source, "a.h", "#include \"sub/a.h\"\n");
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

/* Which headers the toolkit has, the compiler knows. */
START_TEST(an_option_includes_what_the_source_could)
{
    folder f = make_folder();
    put(&f, "k.cu", "\n");
    mt_spec *spec = spec_in(&f, KERNEL_WITH("options = -include=cuda_fp16.h -include cstdint\n"));
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 2);
    has_file(&source, "k.cu", "#include <cuda_fp16.h>\n#include \"cstdint\"\n#line 1 \"k.cu\"\n\n");
    ck_assert_str_eq(mt_source_stub_name(&source.files[1]), "cstdint");
    mt_source_free(&source);
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

/* What the tool could not follow is refused by name. */
START_TEST(options_that_open_other_files_are_refused)
{
    static const struct { const char *lines, *words; } cases[] = {
        {"options = @more\n" SHAPE VARIANT, "[kernel] options: @more: the tool can't see which files"},
        {"options = --use-pch=x\n" SHAPE VARIANT, "--use-pch=x: the tool can't see which files"},
        {"options = -Xcudafe=--preinclude=x\n" SHAPE VARIANT, "expected options written out, and headers by -I, -include or [kernel] include"},
        {"options = -fdevice-time-trace=x\n" SHAPE VARIANT, "[kernel] options: -fdevice-time-trace=x: this writes a file, and compiles have no place for one"},
        {"options = -arch=sm_80\n" SHAPE VARIANT, "[kernel] options: -arch=sm_80: the GPU, or --arch, says what is compiled for"},
        {SHAPE "[algorithm v]\noptions = --pch\n", "[algorithm v] options: --pch: this writes a file"},
        {"options = -Inowhere\n" SHAPE VARIANT, "[kernel] options: nowhere: no such folder"},
        {"options = -include=/nowhere.h\n" SHAPE VARIANT, "-include=/nowhere.h: no such file"},
        {"options = -include=../nowhere.h\n" SHAPE VARIANT, "-include=../nowhere.h: no such file"},
        {"options = -Iinc_${MODE}\n" SHAPE VARIANT, "inc_${MODE}: a folder that depends on a knob can't be part of the kernel's key"},
        {SHAPE "[algorithm v]\noptions = -Iinc\n", "[algorithm v] options: inc: all variants share one source; expected folders and headers in [kernel]"},
    };
    folder f = make_folder();
    put(&f, "k.cu", "\n");
    put(&f, "inc/x.h", "\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_strbuf text = {0};
        mt_source source;
        mt_error err = {0};
        mt_strbuf_addf(&text, KERNEL "%s" OUT LAUNCH "[param MODE]\nvalues = a, b\n", cases[i].lines);
        mt_spec *spec = spec_in(&f, mt_strbuf_text(&text));
        ck_assert_int_eq(mt_source_load(spec, &source, &err), MT_ERR_SPEC);
        must_contain(err.message, cases[i].words);
        ck_assert_uint_eq(source.file_count, 0);
        mt_spec_free(spec);
        mt_strbuf_free(&text);
    }
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
    must_contain(err.message, ".ini:2: [kernel] source: "); /* where it is named */
    mt_spec_free(spec);
    drop(&f);
}
END_TEST

static size_t files_of(const folder *f, const char *text)
{
    mt_spec *spec = spec_in(f, text);
    mt_source source = must_read(spec);
    size_t count = source.file_count;
    mt_source_free(&source);
    mt_spec_free(spec);
    return count;
}

/* NVRTC has no headers of the host: a stub of such a name is a file of the source, and with that part of the key. */
START_TEST(headers_of_the_host_are_files_of_the_source)
{
    folder f = make_folder();
    put(&f, "k.cu", "#include <cstdint>\n#include <cmath>\n#include \"math.h\"\n#include <iostream>\n#include <cuda_fp16.h>\n");
    mt_spec *spec = spec_in(&f, REST);
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 4);
    has_file(&source, "cstdint", "#pragma once\n#include <cuda/std/cstdint>\nnamespace std { using namespace cuda::std; }\n");
    ck_assert_str_eq(source.files[2].name, "cmath");
    ck_assert_str_eq(source.files[3].name, "math.h");
    must_contain(source.files[2].text, "#include <math.h>");
    mt_source_free(&source);
    mt_spec_free(spec);
    put(&f, "k.cu", "#define HEADER <limits>\n#include HEADER\n#if __has_include(<tuple>)\n#endif\n");
    ck_assert_uint_eq(files_of(&f, REST), 3);
    put(&f, "k.cu", "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n");
    ck_assert_uint_eq(files_of(&f, REST), 1);
    drop(&f);
}
END_TEST

START_TEST(a_header_of_the_users_comes_before_the_hosts)
{
    folder f = make_folder();
    static const char folders[] = KERNEL "include = inc\n" SHAPE VARIANT OUT LAUNCH;
    put(&f, "k.cu", "#include <math.h>\n#include <cmath>\n");
    put(&f, "inc/math.h", "#include_next <math.h>\n#define MINE 1\n");
    mt_spec *spec = spec_in(&f, folders);
    mt_source source = must_read(spec);
    ck_assert_uint_eq(source.file_count, 4);
    has_file(&source, "math.h", "#include \"2/math.h\"\n#define MINE 1\n");
    mt_source_free(&source);
    mt_spec_free(spec);
    mt_hash mine = key_of(&f, folders);
    put(&f, "inc/math.h", "#define MINE 1\n");
    ck_assert_uint_eq(files_of(&f, folders), 3);
    ck_assert_str_ne(key_of(&f, folders).hex, mine.hex);
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

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *cases = tcase_create("source");
    tcase_add_test(cases, includes_are_followed_once_and_comments_are_not);
    tcase_add_test(cases, the_key_changes_with_what_runs);
    tcase_add_test(cases, the_key_changes_with_the_expected_output);
    tcase_add_test(cases, headers_of_the_host_are_files_of_the_source);
    tcase_add_test(cases, a_header_of_the_users_comes_before_the_hosts);
    tcase_add_test(cases, files_of_one_name_get_names_of_their_own);
    tcase_add_test(cases, spellings_of_one_file_are_one);
    tcase_add_loop_test(cases, every_way_to_a_header_is_in_the_key, 0, sizeof ways / sizeof *ways);
    tcase_add_test(cases, paths_are_not_in_the_key);
    tcase_add_test(cases, folders_shadow_in_their_order);
    tcase_add_test(cases, a_header_named_by_a_macro_has_that_name_too);
    tcase_add_test(cases, options_that_open_other_files_are_refused);
    tcase_add_test(cases, an_option_includes_what_the_source_could);
    tcase_add_test(cases, what_asks_for_nothing_is_taken);
    tcase_add_test(cases, cycles_end_and_odd_text_is_survived);
    tcase_add_test(cases, a_missing_source_is_named);
    tcase_add_loop_test(cases, what_macros_ask_for_is_refused, 0, sizeof askers / sizeof *askers);
    tcase_add_test(cases, a_header_of_the_options_is_not_its_neighbour);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
