/* Shapes by their values. */
#include "tuner/space/spec/adhoc.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/hash.h"

static const char ini_text[] =
    "[kernel]\nname = k\nsource = k.cu\nreference = r\n"
    "[shape first]\nN = 4\nH = 8, 4\ndtype = f16\nLq = dot(H, H)\n[shape second]\nN = 4\nH = 7,\ndtype = f32\nLq = 3\n"
    "[workload even]\nspread = 1\ndefault = yes\n[workload local]\nspread = 2\n"
    "[algorithm v]\n[arg x]\nkind = tensor\nrole = out\ndtype = ${dtype}\nshape = N\nrtol = 1e-3\n[launch 1]\nargs = x\ngrid = N\nblock = 32\n";
static mt_error adhoc_err;

static mt_spec *parse(void)
{
    mt_spec *spec = NULL;
    ck_assert_msg(mt_spec_parse("k.ini", ini_text, strlen(ini_text), &spec, &adhoc_err) == MT_OK, "%s", adhoc_err.message);
    return spec;
}

START_TEST(shapes_of_the_file)
{
    mt_spec *spec = parse();
    mt_strbuf sections = {0};
    static const char *const same[] = {"H=8,4;Lq=80;N=4;dtype=f16", "N = 4; H = 8, 4 ; dtype = f16; Lq = 0x50", ";N=4;;dtype=f16;H=8,4;Lq=80;"};
    for (size_t i = 0; i < 3; i++) {
        char *name;
        ck_assert_msg(mt_adhoc_add(spec, same[i], NULL, &sections, &name, &adhoc_err) == MT_OK, "%s: %s", same[i], adhoc_err.message);
        ck_assert_str_eq(name, "first");
        mt_free(name);
    }
    ck_assert_uint_eq(sections.length, 0);
    mt_spec_free(spec);
}
END_TEST

START_TEST(new_shapes)
{
    mt_spec *spec = parse(), *with = NULL;
    mt_strbuf sections = {0}, text = {0};
    char *name, *again, expected[64];
    ck_assert_int_eq(mt_adhoc_add(spec, "N=5;H=9;dtype=f32;Lq=-1", "local, even", &sections, &name, &adhoc_err), MT_OK); /* a list of one may do without its comma */
    ck_assert_int_eq(mt_adhoc_add(spec, "Lq=-1;dtype=f32;H=9,;N=5", NULL, &sections, &again, &adhoc_err), MT_OK);
    snprintf(expected, sizeof expected, "shape-%.8s", mt_hash_text("H=9,;Lq=-1;N=5;dtype=f32").hex);
    ck_assert_str_eq(name, expected);
    ck_assert_str_eq(again, expected);
    mt_strbuf_addf(&text, "%s\n%s", ini_text, mt_strbuf_text(&sections));
    ck_assert_msg(mt_spec_parse("k.ini", text.text, text.length, &with, &adhoc_err) == MT_OK, "%s", adhoc_err.message);
    const mt_shape *shape = mt_spec_shape(with, name);
    ck_assert_ptr_nonnull(shape);
    ck_assert_uint_eq(with->shape_count, 3); /* given twice, there once */
    ck_assert_str_eq(shape->key, "H=9,;Lq=-1;N=5;dtype=f32");
    ck_assert(!shape->is_main);
    ck_assert_uint_eq(shape->workload_count, 2);
    ck_assert_str_eq(shape->workloads[0], "local");
    mt_free(name);
    mt_free(again);
    mt_strbuf_free(&sections);
    mt_strbuf_free(&text);
    mt_spec_free(with);
    mt_spec_free(spec);
}
END_TEST

START_TEST(refused)
{
    static const struct { const char *text, *workloads, *part; } cases[] = {
        {"N=5;H=9,9;dtype=f32", NULL, "has no `Lq`"},
        {"N=5;H=9,9;dtype=f32;Lq=1;M=2", NULL, "unknown name `M`"},
        {"n=5", NULL, "did you mean `N`"},
        {"N=5;N=6", NULL, "N is given twice"},
        {"N=5.5;H=9,9;dtype=f32;Lq=1", NULL, "not an integer in `N`"},
        {"N=;H=9,9;dtype=f32;Lq=1", NULL, "not an integer in `N`"},
        {"N=99999999999999999999", NULL, "not an integer in `N`"},
        {"H=9,,9", NULL, "not a list"},
        {"H=", NULL, "not a list"},
        {"H=f16", NULL, "not a list"},
        {"dtype=bf16", NULL, "expected f16 or f32"},
        {"dtype=f16\n[kernel]", NULL, "expected f16 or f32"},
        {"dtype=\"f16\"", NULL, "expected f16 or f32"},
        {"N", NULL, "no value in `N`"},
        {"", NULL, "has no `N`"},
        {"N=5;H=9,9;dtype=f32;Lq=1", "nowhere", "no workload `nowhere`"},
        {"N=5;H=9,9;dtype=f32;Lq=1", "even\n[let]", "no workload"},
    };
    mt_spec *spec = parse();
    mt_strbuf sections = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name;
        ck_assert_msg(mt_adhoc_add(spec, cases[i].text, cases[i].workloads, &sections, &name, &adhoc_err) == MT_ERR_SPEC, "%s", cases[i].text);
        ck_assert_msg(strstr(adhoc_err.message, cases[i].part) != NULL, "%s: %s", cases[i].text, adhoc_err.message);
        ck_assert_ptr_null(name);
    }
    ck_assert_uint_eq(sections.length, 0);
    mt_spec_free(spec);
}
END_TEST

UNIT_MAIN("adhoc", shapes_of_the_file, new_shapes, refused)
