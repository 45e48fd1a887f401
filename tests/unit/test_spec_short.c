/* Short forms mean what the sections mean that they stand for; includes; who is told about a mistake in them. */
#include "tests/unit/space_fixture.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/spec/spec_json.h"
#include "tuner/space/source/semantics.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- both ways mean one thing ---- */

static void must_mean_the_same(const char *one, const char *other)
{
    mt_spec *a = must_parse(one), *b = must_parse(other);
    char *texts[] = {mt_spec_semantics(a), mt_spec_semantics(b), mt_spec_json(a), mt_spec_json(b)};
    ck_assert_str_eq(texts[0], texts[1]);
    ck_assert_str_eq(texts[2], texts[3]);
    ck_assert_str_eq(a->rules_key.hex, b->rules_key.hex);
    ck_assert_uint_eq(a->shape_count, b->shape_count);
    for (size_t i = 0; i < a->shape_count; i++) {
        ck_assert_str_eq(a->shapes[i].name, b->shapes[i].name);
        ck_assert_str_eq(a->shapes[i].key, b->shapes[i].key);
        ck_assert_int_eq(a->shapes[i].is_main, b->shapes[i].is_main);
    }
    for (size_t i = 0; i < 4; i++) mt_free(texts[i]);
    mt_spec_free(a);
    mt_spec_free(b);
}

static const struct { const char *short_form, *long_form; } pairs[] = {
    { KERNEL "[shapes]\nmain = no\nT = dot(H, H)\n[shapes H | M | main]\na = 1, 2 | 3 | yes\nb = 3, 4|3|no\n[shape c]\nlike = b\nM = 4\n" VARIANT "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = M\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n",
      KERNEL "[shape a]\nH = 1, 2\nM = 3\nT = 5\n[shape b]\nH = 3, 4\nM = 3\nT = 25\nmain = no\n[shape c]\nH = 3, 4\nM = 4\nT = 25\nmain = no\n" VARIANT "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = M\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n" },
    { REST "[params]\nK = 1, 2..4\n", REST "[param K]\nvalues = 1, 2..4\n" },
    { REST "[params]\nA = 1, 2 default 2 doc \"x; y\"\nK = a, b default b when A == 2 doc \"when default\"\n",
      REST "[param A]\nvalues = 1, 2\ndefault = 2\ndoc = \"x; y\"\n[param K]\nvalues = a, b\ndefault = b\nwhen = A == 2\ndoc = \"when default\"\n" },
    { REST "[params]\nK = default, when default when\n", REST "[param K]\nvalues = default, when\ndefault = when\n" },
    { REST "[params]\nK = 1, 2\n[constraints]\nc = K == 1 why \"b; c\"\n[constraints]\nd = K <= N\n",
      REST "[param K]\nvalues = 1, 2\n[constraint c]\nexpr = K == 1\nwhy = \"b; c\"\n[constraint d]\nexpr = K <= N\n" },
    { KERNEL SHAPE VARIANT LAUNCH "[args]\nout = out f32 [N]\nx = in f16 [N, floor_div(N, 3)] uniform(-1, 1) constant c_x\ny = inout i32 [N] iota order any\nn = scalar i64 N * 2\n",
      KERNEL SHAPE VARIANT LAUNCH OUT "[arg x]\nkind = tensor\nrole = in\ndtype = f16\nshape = N, floor_div(N, 3)\ninit = uniform(-1, 1)\nconstant = c_x\n"
      "[arg y]\nkind = tensor\nrole = inout\ndtype = i32\nshape = N\ninit = iota\norder = any\n[arg n]\nkind = scalar\ndtype = i64\nvalue = N * 2\n" },
    { KERNEL "[shapes]\nmain = no\nT = dot(H, H)\n[shape a]\nH = 1, 2\nM = 3\nmain = yes\n[shape b]\nlike = a\nH = 3, 4\n[shape c]\nlike = b\nM = 4\nT = 7\n" VARIANT "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = M\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n",
      KERNEL "[shape a]\nH = 1, 2\nM = 3\nT = 5\n[shape b]\nH = 3, 4\nM = 3\nT = 25\nmain = no\n[shape c]\nH = 3, 4\nM = 4\nT = 7\nmain = no\n" VARIANT "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = M\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n" },
};

START_TEST(short_and_long_mean_the_same)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) must_mean_the_same(pairs[i].short_form, pairs[i].long_form);
}
END_TEST

START_TEST(literals_are_scalars_of_their_launch)
{
    mt_spec *spec = must_parse(KERNEL SHAPE VARIANT OUT "[params]\nK = 1, 2\n[launch 1]\nargs = out, i32(N * K), f32(0.5), i32(N * K)\ngrid = 1\nblock = 1\n");
    const mt_launch *launch = NULL, *reference = NULL;
    for (size_t i = 0; i < spec->launch_count; i++) *(spec->launches[i].algorithm ? &reference : &launch) = &spec->launches[i];
    ck_assert_uint_eq(spec->arg_count, 3);
    ck_assert_uint_eq(launch->arg_count, 4);
    ck_assert_uint_eq(launch->args[1], launch->args[3]);
    ck_assert_int_eq(spec->args[launch->args[1]].kind, MT_ARG_SCALAR);
    ck_assert_str_eq(spec->args[launch->args[2]].dtype_text, "f32");
    ck_assert(spec->args[launch->args[2]].literal == 0.5);
    ck_assert_uint_eq(reference->arg_count, 1);
    mt_spec_free(spec);
}
END_TEST

static const struct { const char *text, *part; } bad[] = {
    { KERNEL SHAPE "[variant v]\n" OUT LAUNCH, "dir/test.ini:6: [variant v]: the section is called [algorithm v]" },
    { REST "[shape b]\nlike = c\n", "test.ini:17: like = c: expected the name of a [shape] that stands above this one" },
    { REST "[shape b]\nlike = b\n", "test.ini:17: like = b: expected the name of a [shape] that stands above" },
    { REST "[shapes]\nlike = s\n", "[shapes] holds defaults" },
    { REST "[shapes N | M]\na = 1\n", "test.ini:17: [shapes N | M]: a has 1 value, expected 2 with | between them" },
    { REST "[shapes N]\na = 1 | 2\n", "[shapes N]: a has 2 values, expected 1 with | between them" },
    { REST "[shapes N]\ns = 1\n", "duplicate" },
    { REST "[shapes N | ]\na = 1 | 2\n", "" },
    { REST "[shapes]\nM = 1\n[shapes]\nK = 1\n", "duplicate section [shapes], first given in line 16" },
    { REST "[params]\nK = 1\n[param K]\nvalues = 2\n", "test.ini:18: duplicate section [param K], first given in line 17" },
    { REST "[params]\nK = 1 default 2\n", "test.ini:17: default = 2 is not among the values of K" },
    { REST "[params]\nK = 1 when L == 1\n", "test.ini:17: " },
    { REST "[constraints later]\nc = true\n", "[constraints later]: expected [constraints], with a line for each" },
    { REST "[args]\nx = in\n", "test.ini:17: x = in: it has too few words; expected ROLE DTYPE [SHAPE] INIT" },
    { REST "[args]\nx = in f32 N zeros\n", "its third word is no shape in brackets" },
    { REST "[args]\nx = in f32 [N] zeros ones\n", "a word in it is neither a key nor the only init" },
    { REST "[args]\nx = out f32 [N] rtol\n", "the last word has no value" },
    { REST "[args]\nx = in i8 [N] constant(128)\n", "expected a value that i8 can hold" },
    { REST "[args]\nx = in u8 [N] constant(0.5)\n", "expected a value that u8 can hold" },
    { REST "[arg i32(N)]\nkind = scalar\ndtype = f32\nvalue = N\n", "[arg i32(N)]: expected a name; a literal stands in the `args` of a launch" },
    { "include = x.ini\n" REST, "test.ini:1: include stands in a text that is no file" },
};

START_TEST(mistakes_in_short_forms)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mt_spec *spec = NULL;
        mt_error err = {0};
        ck_assert_msg(mt_spec_parse("dir/test.ini", bad[i].text, strlen(bad[i].text), &spec, &err) != MT_OK, "accepted: %s", bad[i].text);
        ck_assert_msg(strstr(err.message, bad[i].part) != NULL, "expected \"%s\" in \"%s\"", bad[i].part, err.message);
    }
}
END_TEST

/* A shape of a few lines that copies many values: refused, and soon. */
START_TEST(what_like_can_make_is_bounded)
{
    mt_strbuf text = {0};
    mt_spec *spec = NULL;
    mt_error err = {0};
    mt_strbuf_add(&text, KERNEL VARIANT OUT LAUNCH "[shape s0]\nN = 1\n");
    for (int i = 1; i < 300; i++) mt_strbuf_addf(&text, "[shape s%d]\nlike = s%d\nK%d = 1\n", i, i - 1, i);
    ck_assert_int_eq(mt_spec_parse("x.ini", mt_strbuf_text(&text), text.length, &spec, &err), MT_ERR_SPEC);
    must_contain(err.message, "has more than 128 keys");
    mt_strbuf_free(&text);
}
END_TEST

/* ---- include ---- */

static char folder[] = "/tmp/msda-include-XXXXXX";

static void write_text(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert(fputs(text, file) >= 0 && fclose(file) == 0);
}

static mt_status load(const char *name, mt_spec **spec, mt_error *err)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return mt_spec_load(path, spec, err);
}

static void must_fail(const char *name, const char *part)
{
    mt_spec *spec = NULL;
    mt_error err = {0};
    ck_assert_int_ne(load(name, &spec, &err), MT_OK);
    ck_assert_ptr_null(spec);
    ck_assert_msg(strstr(err.message, part) != NULL, "expected \"%s\" in \"%s\"", part, err.message);
}

static void in_folder(void)
{
    char sub[256];
    snprintf(folder, sizeof folder, "/tmp/msda-include-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(sub, sizeof sub, "mkdir %s/sub", folder);
    ck_assert_int_eq(system(sub), 0);
}

static void remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(an_included_file_stands_above)
{
    mt_spec *spec = NULL, *again = NULL;
    mt_error err = {0};
    in_folder();
    write_text("sub/rest.ini", "\xEF\xBB\xBF; comment\n" REST "[shapes]\nM = 4\n");
    write_text("sub/twice.ini", "include = rest.ini\n");
    write_text("top.ini", "include = sub/rest.ini, \"sub/twice.ini\"\n[shapes]\nM = 5\n[shape t]\nlike = s\nN = 2\n[shape u]\nN = 2\n");
    ck_assert_msg(load("top.ini", &spec, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(spec->shape_count, 3);
    ck_assert_str_eq(spec->shapes[0].key, "M=4;N=128");
    ck_assert_str_eq(spec->shapes[1].key, "M=4;N=2"); /* by like */
    ck_assert_str_eq(spec->shapes[2].key, "M=5;N=2"); /* its own file's default first */
    must_contain(spec->source, "/sub/k.cu");
    mt_place place = mt_spec_place(spec, spec->args[0].line);
    must_contain(place.path, "sub/rest.ini");
    ck_assert_int_eq(place.line, 8);
    ck_assert_msg(mt_spec_parse(spec->path, spec->text, strlen(spec->text), &again, &err) == MT_OK, "%s", err.message); /* as workers do */
    ck_assert_str_eq(again->source, spec->source);
    mt_spec_free(again);
    mt_spec_free(spec);
    remove_folder();
}
END_TEST

START_TEST(mistakes_in_included_files_name_them)
{
    in_folder();
    write_text("sub/bad.ini", REST "\n[param K]\nvalues =\n");
    write_text("a.ini", "; one\ninclude = sub/bad.ini\n[shape t]\nN = 2\n");
    must_fail("a.ini", "sub/bad.ini:18: values is empty");
    write_text("sub/open.ini", REST "[let]\nA = 1 \\\n");
    write_text("b.ini", "include = sub/open.ini\n[shape t]\nN = 2\n");
    must_fail("b.ini", "sub/open.ini:17: the file ends after a backslash");
    write_text("sub/good.ini", REST);
    write_text("c.ini", "include = sub/good.ini\n\n[shape s]\nN = 2\n");
    must_fail("c.ini", "c.ini:3: duplicate section [shape s], first given in ");
    write_text("d.ini", "include = sub/good.ini\nname = 1\n");
    must_fail("d.ini", "d.ini:2: key 'name' stands outside a section");
    remove_folder();
}
END_TEST

START_TEST(circles_and_missing_files)
{
    in_folder();
    write_text("a.ini", "; one\ninclude = b.ini\n" REST);
    write_text("b.ini", "include = sub/../a.ini\n");
    must_fail("a.ini", "b.ini:1: include = sub/../a.ini: the file includes itself, directly or through others");
    write_text("c.ini", "\ninclude = c.ini\n" REST);
    must_fail("c.ini", "c.ini:2: include = c.ini: the file includes itself");
    write_text("d.ini", "include = none.ini\n" REST);
    must_fail("d.ini", "d.ini:1: include = none.ini: expected a file");
    write_text("e.ini", "include =\n" REST);
    must_fail("e.ini", "e.ini:1: include is empty");
    remove_folder();
}
END_TEST

START_TEST(files_are_bounded)
{
    char name[32], text[64];
    in_folder();
    for (int i = 0; i < 70; i++) {
        snprintf(name, sizeof name, "f%d.ini", i);
        snprintf(text, sizeof text, "include = f%d.ini\n", i + 1);
        write_text(name, text);
    }
    must_fail("f0.ini", "f63.ini:1: include = f64.ini: more than 64 files");
    remove_folder();
}
END_TEST

/* Ten times the shapes take about ten times as long, and not a hundred. */
static int64_t cpu_ns_of(int shapes)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, KERNEL "[shapes]\nmain = no\nM = 3\n" VARIANT "[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = M\n[launch 1]\nargs = out\ngrid = 1\nblock = 1\n[shape s0]\nN = 1\n");
    for (int i = 1; i < shapes; i++) mt_strbuf_addf(&text, "[shape s%d]\nlike = s%d\nN = %d\n", i, i / 2, i + 1);
    int64_t start = mt_clock_thread_cpu_ns();
    mt_spec *spec = must_parse(mt_strbuf_text(&text));
    int64_t ns = mt_clock_thread_cpu_ns() - start;
    ck_assert_uint_eq(spec->shape_count, (size_t)shapes);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
    return ns;
}

START_TEST(many_shapes_take_linear_time)
{
    int64_t few = cpu_ns_of(900), many = cpu_ns_of(9000);
    ck_assert_msg(many < 40 * few, "%lld ns for 900 shapes, %lld ns for 9000", (long long)few, (long long)many);
}
END_TEST

UNIT_MAIN("spec_short", many_shapes_take_linear_time, short_and_long_mean_the_same, literals_are_scalars_of_their_launch, mistakes_in_short_forms, what_like_can_make_is_bounded,
                  an_included_file_stands_above, mistakes_in_included_files_name_them, circles_and_missing_files, files_are_bounded)
