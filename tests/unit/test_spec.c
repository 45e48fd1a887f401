#include "tests/unit/space_fixture.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/spec/spec_internal.h"
#include "tuner/space/source/semantics.h"

#include <stdio.h>

#define FORMAT_PAGE SOURCE_DIR "/docs/search_space_format.md"

/* ---- what is read ---- */

START_TEST(a_full_file)
{
    mt_spec *spec = must_load(FULL_INI);
    ck_assert_str_eq(spec->name, "full");
    must_contain(spec->source, "/ini/source/main.cu");
    ck_assert_str_eq(spec->reference, "ref");
    ck_assert_uint_eq(spec->include_count, 2);
    must_contain(spec->include_dirs[1], "/source/more inc");
    ck_assert_str_eq(spec->strategy, "anneal");
    ck_assert_int_eq(spec->budget, 50);
    ck_assert(spec->time_s == 12.5);
    ck_assert_int_eq(spec->l2, MT_L2_WARM);
    ck_assert_str_eq(spec->baseline, "direct");
    ck_assert_uint_eq(spec->param_count, 5);
    ck_assert_str_eq(spec->params[0].name, "ALGO");
    ck_assert_str_eq(spec->params[0].strings[1], "tma");
    ck_assert_uint_eq(spec->params[1].value_count, 4);
    ck_assert_int_eq(spec->params[1].numbers[3], 130);
    ck_assert_uint_eq(spec->params[1].default_level, 1);
    ck_assert(spec->params[2].has_when && !spec->params[4].has_when);
    ck_assert_str_eq(spec->algorithms[0].entry, "direct");
    ck_assert_str_eq(spec->algorithms[1].entry, "tma_main");
    ck_assert(spec->algorithms[0].bake_all && !spec->algorithms[1].bake_all);
    ck_assert_uint_eq(spec->algorithms[1].bake_count, 2);
    mt_spec_free(spec);
}
END_TEST

START_TEST(ranges)
{
    static const int64_t expected[] = {-3, 1, 5, 9, 10, 16, 32, 48, INT64_MAX - 1};
    mt_spec *spec = must_parse(REST "[param K]\nvalues = -3..11 step 4, 10, 16 .. 50  step 16, 9223372036854775806..9223372036854775807 step 9223372036854775807\n");
    ck_assert_uint_eq(spec->params[1].value_count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) ck_assert_int_eq(spec->params[1].numbers[i], expected[i]);
    mt_spec_free(spec);
}
END_TEST

/* ---- points = recorded ---- */

#define RECORDED "[kernel]\nname = r\npoints = recorded\n[shape s]\n[algorithm v]\n"

START_TEST(a_space_that_lives_on_recordings)
{
    mt_spec *spec = must_parse(RECORDED "[param F]\nvalues = \"0.5\", \"a, b\", word\ndefault = \"a, b\"\n[param K]\nvalues = 1..3\n[model]\nflops = 5\n");
    ck_assert(spec->is_recorded);
    ck_assert_ptr_null(spec->source);
    ck_assert_uint_eq(spec->arg_count + spec->launch_count, 0);
    ck_assert_uint_eq(spec->params[1].value_count, 3);
    ck_assert_str_eq(spec->params[1].strings[0], "0.5");
    ck_assert_str_eq(spec->params[1].strings[1], "a, b");
    ck_assert_uint_eq(spec->params[1].default_level, 1);
    mt_spec_free(spec);
    spec = must_parse(RECORDED "[param F]\nvalues = \"0.5\"\n"); /* one text alone */
    ck_assert_str_eq(spec->params[1].strings[0], "0.5");
    mt_spec_free(spec);
    spec = must_parse(REST "[tune]\nbudget = 5\n");
    ck_assert(!spec->is_recorded);
    mt_spec_free(spec);
}
END_TEST

START_TEST(what_such_a_space_rules_out)
{
    static const struct { const char *text, *part; } cases[] = {
        {"[kernel]\npoints = recorded\nsource = k.cu\n[shape s]\n[algorithm v]\n", "test.ini:3: `source` in a space with points = recorded: expected none"},
        {"[kernel]\npoints = recorded\noptions = -G\n[shape s]\n[algorithm v]\n", "`options` in a space"},
        {RECORDED "requires = true\n", "test.ini:6: `requires` in a space"},
        {RECORDED "[param K]\nvalues = 1\nwhen = true\n", "`when` in a space"},
        {RECORDED "[constraint c]\nexpr = true\n", "[constraint] in a space with points = recorded: expected none"},
        {RECORDED "[let]\nA = 1\n", "[let] in a space"},
        {RECORDED OUT, "[arg] in a space"},
        {RECORDED "[param F]\nvalues = \"a;b\"\n", "expected a name, a number, or a text in quotes without `;`"},
        {"[kernel]\npoints = some\n[shape s]\n[algorithm v]\n", "[arg …] section"},
        {"[kernel]\npoints = recorded\n[algorithm v]\n", "no [shape …] section"},
        {KERNEL "points = some\n" SHAPE VARIANT OUT LAUNCH, "expected one of all, recorded"},
        {"[kernel]\nreference = r\n" SHAPE VARIANT OUT LAUNCH, "[kernel] has no `source`: expected a line `source = …`"},
        {"[kernel]\nsource = r\n" SHAPE VARIANT OUT LAUNCH, "[kernel] has no `reference`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_spec *spec = NULL;
        mt_error err = { 0 };
        ck_assert_int_eq(mt_spec_parse("test.ini", cases[i].text, strlen(cases[i].text), &spec, &err), MT_ERR_SPEC);
        ck_assert_msg(strstr(err.message, cases[i].part) != NULL, "no %s in %s", cases[i].part, err.message);
    }
}
END_TEST

/* A knob's values, joined by '|'. */
static void values_are(const char *line, bool is_verbatim, const char *expected)
{
    char text[512], all[256] = "", one[64];
    snprintf(text, sizeof text, REST "[params]\nK = %s\n", line);
    mt_spec *spec = must_parse(text);
    const mt_param *param = &spec->params[1];
    for (size_t i = 0; i < param->value_count; i++) {
        if (param->is_string) snprintf(one, sizeof one, "%s|", param->strings[i]);
        else snprintf(one, sizeof one, "%lld|", (long long)param->numbers[i]);
        strcat(all, one);
    }
    ck_assert_str_eq(all, expected);
    ck_assert_msg(param->is_verbatim == is_verbatim, "%s", line);
    mt_spec_free(spec);
}

START_TEST(values_of_any_kind)
{
    values_are("2^5..2^8", false, "32|64|128|256|");
    values_are("3^0..3^3, 10^2", false, "1|3|9|27|100|");
    values_are("2^62", false, "4611686018427387904|");
    values_are("-2..1, -8", false, "-2|-1|0|1|-8|");
    values_are("fast, slow default slow", false, "fast|slow|");
    values_are("0.5, 1.5, 2 default 1.5", true, "0.5|1.5|2|");
    values_are("2, -0.25", true, "2|-0.25|");
    values_are("float4, \"unsigned int\", \"a + b, c\"", true, "float4|unsigned int|a + b, c|");
    values_are("\"\", \"--use_fast_math\" default \"\"", true, "|--use_fast_math|");
}
END_TEST

START_TEST(shapes_have_one_order_and_canonical_keys)
{
    mt_spec *spec = must_load(FULL_INI);
    const mt_shape *a = mt_spec_shape(spec, "a"), *one = mt_spec_shape(spec, "one");
    ck_assert_ptr_nonnull(a);
    ck_assert_str_eq(a->key, "D=32;H=8,4;N=2;S=160;W=16,8;dtype=f16");
    ck_assert_str_eq(one->key, "D=8;H=1,;N=1;S=1;W=1,;dtype=f32");
    ck_assert(a->is_main && !one->is_main);
    for (size_t i = 0; i < a->setting_count; i++) ck_assert_str_eq(a->settings[i].name, one->settings[i].name);
    ck_assert_uint_eq(a->workload_count, 2);
    ck_assert_str_eq(a->workloads[0], "local");
    ck_assert_uint_eq(one->workload_count, 1);
    ck_assert_str_eq(one->workloads[0], "uniform");
    ck_assert_ptr_null(mt_spec_shape(spec, "b"));
    const mt_setting *sigma = mt_settings_find(spec->workloads[0].settings, spec->workloads[0].setting_count, "sigma");
    ck_assert(sigma->number == 1.5);
    ck_assert_str_eq(sigma->text, "1.5");
    ck_assert_str_eq(spec->workloads[0].key, "kind=local;sigma=1.5");
    mt_spec_free(spec);
}
END_TEST

START_TEST(shape_values_are_expressions_of_earlier_ones)
{
    mt_spec *spec = must_parse(KERNEL VARIANT OUT LAUNCH "[shape s]\nN = 3\nT = \"3d\"\nM = (N)\nG = 5,\nH = 1, M * 2, at(G, 0)\nB = N > 2\n");
    ck_assert_str_eq(spec->shapes[0].key, "B=1;G=5,;H=1,6,5;M=3;N=3;T=3d");
    mt_spec_free(spec);
}
END_TEST

static mt_hash rules_of(const char *text)
{
    mt_spec *spec = must_parse(text);
    mt_hash key = spec->rules_key;
    mt_spec_free(spec);
    return key;
}

/* What decides which points a shape has, and nothing else. */
START_TEST(a_key_of_the_rules)
{
    static const char *const same[] = {REST "# a comment\n[param K]\nvalues   =   1, 2  ; another\n", REST "[tune]\nbudget = 7\nstrategy = random\n[param K]\nvalues = 1, 2\n",
                                       REST "[param K]\nvalues = 1, 2\n[workload w]\nsigma = 2\n"};
    static const char *const other[] = {REST "[param K]\nvalues = 1, 2, 3\n", REST "[param K]\nvalues = 2, 1\n", REST "[param L]\nvalues = 1, 2\n", REST "[param K]\nvalues = 1, 2\ndefault = 2\n",
                                        REST "[param K]\nvalues = 1, 2\n[constraint c]\nexpr = K > 0\n"};
    mt_hash key = rules_of(REST "[param K]\nvalues = 1, 2\n");
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) ck_assert_str_eq(rules_of(same[i]).hex, key.hex);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) ck_assert_str_ne(rules_of(other[i]).hex, key.hex);
}
END_TEST

START_TEST(defaults)
{
    mt_spec *spec = must_parse(REST "[param K]\nvalues = -1, 4\n");
    ck_assert_str_eq(spec->name, "test");
    ck_assert_str_eq(spec->source, "dir/k.cu");
    ck_assert_str_eq(spec->options, "");
    ck_assert_str_eq(spec->strategy, "auto");
    ck_assert_int_eq(spec->budget, 400);
    ck_assert(spec->time_s == 300);
    ck_assert_int_eq(spec->l2, MT_L2_COLD);
    ck_assert_ptr_null(spec->baseline);
    ck_assert_uint_eq(spec->workload_count, 1);
    ck_assert_str_eq(spec->workloads[0].name, "default");
    ck_assert_str_eq(spec->workloads[0].key, "");
    ck_assert_str_eq(spec->shapes[0].workloads[0], "default");
    ck_assert_int_eq(spec->params[1].numbers[0], -1);
    ck_assert(spec->args[0].rtol == 1e-3 && spec->args[0].worst == 2e-2 && spec->args[0].atol == 0 && spec->args[0].spread == 0);
    ck_assert_uint_eq(spec->launch_count, 2); /* the reference's is made */
    ck_assert_str_eq(spec->launches[1].algorithm, "reference");
    ck_assert_str_eq(spec->launches[1].grid.items[0].source, "ceil_div((N), 256)");
    mt_spec_free(spec);
}
END_TEST

START_TEST(a_reference_from_a_file)
{
    mt_spec *spec = must_parse("[kernel]\nsource = k.cu\nreference = file:expected out.npy\n" SHAPE VARIANT OUT LAUNCH);
    ck_assert_ptr_null(spec->reference);
    ck_assert_str_eq(spec->reference_file, "dir/expected out.npy");
    ck_assert_uint_eq(spec->launch_count, 1);
    mt_spec_free(spec);
}
END_TEST

START_TEST(quotes_crlf_bom_and_long_lines)
{
    mt_strbuf text = { 0 };
    mt_strbuf_add(&text, "\xef\xbb\xbf[kernel]\r\nsource = \"a path; with = signs.cu\" ; comment\r\nreference = ref\r\n" SHAPE VARIANT OUT LAUNCH "[param K]\nvalues = 0");
    for (int i = 1; i < 1500; i++) mt_strbuf_addf(&text, ", %d", i);
    mt_strbuf_add(&text, "\n");
    ck_assert_uint_gt(text.length, 5000);
    mt_spec *spec = must_parse(mt_strbuf_text(&text));
    ck_assert_str_eq(spec->source, "dir/a path; with = signs.cu");
    ck_assert_uint_eq(spec->params[1].value_count, 1500);
    mt_spec_free(spec);
    mt_strbuf_free(&text);
}
END_TEST

/* ---- what is refused ---- */

static const struct { const char *text, *part; } bad[] = {
    /* sections and keys */
    { "", "test.ini:1: no [kernel] section" },
    { KERNEL SHAPE VARIANT OUT, "no [launch …] section" },
    { REST "[paramm K]\nvalues = 1\n", "test.ini:16: unknown section [paramm], did you mean `param`?" },
    { REST "[kernel x]\n", "expected [kernel] without a name" },
    { REST "[param]\nvalues = 1\n", "expected [param NAME]" },
    { REST "[param 3x]\nvalues = 1\n", "expected [param NAME]" },
    { REST "[shape two words]\nN = 1\n", "expected [shape NAME], one word" },
    { REST "[param K]\nvalue = 1\n", "test.ini:17: unknown key `value` in [param], did you mean `values`?" },
    { REST "[constraint c]\nexpr = N > 1\nscope = search\n", "test.ini:18: constraints no longer have a scope, since the search orders by itself what is worth trying: delete the constraint if" },
    { REST "[constraints search]\nc = N > 1\n", "test.ini:16: [constraints search]: constraints no longer have a scope" },
    { REST "[constraints narrow]\nc = N > 1\n", "test.ini:16: [constraints narrow]: expected [constraints], with a line for each" },
    { REST "[param K]\ndefault = 1\n", "test.ini:16: [param K] has no `values`" },
    { REST "[param K]\nvalues = 1\nvalues = 2\n", "test.ini:18:" },
    { REST "[tune]\nbuget = 3\n", "did you mean `budget`?" },
    { "[kernel]\nsource = k.cu\n" SHAPE VARIANT OUT LAUNCH, "[kernel] has no `reference`" },
    { "[kernel]\nsource = k.cu\nreference = a b\n" SHAPE VARIANT OUT LAUNCH, "expected the name of a __global__ function, file:PATH.npy, or default" },
    { "[kernel]\nname = a/b\nsource = k.cu\nreference = r\n" SHAPE VARIANT OUT LAUNCH, "[kernel] name is `a/b`" },
    { REST "[tune]\nbudget = 0\n", "budget = 0: expected an integer of at least 1" },
    { REST "[tune]\nbudget = many\n", "budget = many: expected an integer" },
    { REST "[tune]\ntime = 0\n", "expected a number above 0" },
    { REST "[tune]\nregime = cold\n", "regime: the key is called l2" },
    { REST "[shape t]\nN = 2\ndefault = no\n", "default: the key is called main" },
    { REST "[shapes]\ndefault = no\n", "default: the key is called main" },
    { REST "[arg p]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nfloor = 1\n", "floor: the key is called atol" },
    { REST "[tune]\nl2 = hot\n", "l2 = hot is not known; expected one of cold, warm" },
    { REST "[tune]\nobjective = power\n", "objective = power is not known; expected one of time, energy, edp" },
    { REST "[tune]\ndefaults = w\n", "test.ini:17: defaults: no algorithm w" },
    { REST "[algorithm second]\n[tune]\ndefaults = v, secnd\n", "test.ini:18: defaults: no algorithm secnd, did you mean" },
    { REST "[algorithm w]\n[tune]\ndefaults = w, v\n", "test.ini:18: defaults begins with w: expected the first [algorithm], v" },
    { REST "[algorithm w]\n[tune]\ndefaults = v, w, w\n", "test.ini:18: defaults names w twice" },
    { REST "[algorithm y]\nyardstick = yes\n[tune]\ndefaults = v, y\n", "test.ini:19: defaults: y is a yardstick" },
    { REST "[tune]\ndefaults = ,\n", "test.ini:17: defaults: a name is empty" },
    { REST "[tune]\nbaseline = w\n", "baseline = w: no such algorithm or plugin; expected one of v, cublaslt" },
    /* shapes */
    { REST "[shape t]\nM = 1\n", "[shape t] has no `N`: expected the same names as in [shape s]" },
    { REST "[shape t]\nN = 1\nM = 2\n", "[shape t] has `M`, which [shape s] has not" },
    { REST "[shape t]\nN = 1,2\n", "`N` is a list in [shape t] but an integer in [shape s]" },
    { REST "[shape t]\nN =\n", "expected" },
    { REST "[shape t]\nN = 1,,2\n", "expected an integer between the commas" },
    { REST "[shape t]\nN = 9223372036854775807 + 1\n", "test.ini:17: " },
    { REST "[shape t]\nN = 7 / 0\n", "division by zero" },
    { KERNEL VARIANT OUT LAUNCH "[shape s]\nN = 1\nM = N\n", "M = N could be the string or the value of N: expected \"N\" or (N)" },
    { KERNEL VARIANT OUT LAUNCH "[shape s]\nN = 1\nM = Q + 1\n", "Q" },
    { KERNEL VARIANT OUT LAUNCH "[shape s]\nN = 1\nM = \"a b\"\n", "expected letters, digits and _" },
    { KERNEL VARIANT OUT LAUNCH "[shape s]\nN = 1\nworkload = w\n", "unknown workload `w`" },
    { KERNEL VARIANT OUT LAUNCH "[shape s]\nN = 1\nmain = maybe\n", "main = maybe: expected yes or no" },
    { REST "[workload w]\nx = a b\n", "expected a number or one word" },
    /* names */
    { REST "[param N]\nvalues = 1\n", "`N` is a knob and a shape value" },
    { REST "[param K]\nvalues = 1\n[let]\nK = 1\n", "`K` is a let and a knob (line 16)" },
    { REST "[param ALGO]\nvalues = 1\n", "`ALGO` is a knob and the implicit knob of the algorithms" },
    { REST "[let]\ndevice = 1\n", "`device` is a word of the expression language" },
    { REST "[param SHAPE_X]\nvalues = 1\n", "names that start with SHAPE_ are the tool's macros" },
    { REST "[param M]\nvalues = a, b\n[param M_a]\nvalues = 1\n", "knob M_a has the name of the macro for M = a" },
    { REST "[algorithm reference]\n", "the name is taken" },
    /* params */
    { REST "[param K]\nvalues =\n", "expected" },
    { REST "[param K]\nvalues = 1, a\n", "`a` is neither an integer nor a range a..b" },
    { REST "[param K]\nvalues = 1.0f, 2.0f\n", "`1.0f` is neither an integer nor a range a..b; expected all values of one kind; other texts stand in quotes, as \"1.0f\"" },
    { REST "[param K]\nvalues = 1,, 2\n", "`` is neither an integer nor a range a..b; expected a value between two commas, and none behind the last" },
    { REST "[param K]\nvalues = -O1, -O3\n", "`-O1` is neither an integer nor a range a..b; expected quotes around an option: \"-O3\"" },
    { REST "[param K]\nvalues = [1, 2]\n", "`[1, 2]` is neither an integer nor a range a..b; expected a list without brackets" },
    { REST "[param K]\nvalues = 0.5, a b\n", "`a b`: expected a name, a number, or a text in quotes" },
    { REST "[param K]\nvalues = 0.5, 0.5\n", "0.5 is there twice" },
    { REST "[param K]\nvalues = \"a;b\"\n", "a text in quotes without `;`" },
    { REST "[param K]\nvalues = \"${N}\", b\n", "a text in quotes without `;`" },
    { REST "[param K]\nvalues = \" a\", b\n", "blanks at its ends" },
    { REST "[param K]\nvalues = 2^5..2^3\n", "the range 2^5..2^3 is empty" },
    { REST "[param K]\nvalues = 2^5..3^6\n", "expected powers of one base, 2^5..2^10" },
    { REST "[param K]\nvalues = 2^64\n", "expected powers of one base, 2^5..2^10, that fit into 64 bits" },
    { REST "[param K]\nvalues = 2^1..2^9 step 2\n", "expected powers of one base" },
    { REST "[param K]\nvalues = list(range(1, 9))\n", "`list(range(1, 9))` is Python's; expected 1..8, whose last number is a value, too" },
    { REST "[param K]\nvalues = list(range(32, 1024+1, 32))\n", "expected 32..1024 step 32, whose last" },
    { REST "[param K]\nvalues = range(4)\n", "expected 0..3, whose last" },
    { REST "[param K]\nvalues = range(1, 10, 4)\n", "expected 1..9 step 4, whose last" },
    { REST "[param K]\nvalues = range(1, N)\n", "expected a..b, or a..b step s" },
    { REST "[param K]\nvalues = range(1, 9223372036854775807 + 1)\n", "expected a..b, or a..b step s" },
    { REST "[param K]\nvalues = 1 2\n", "expected commas between values" },
    { REST "[param K]\nvalues = a, 1\n", "`1` is no name" },
    { REST "[param K]\nvalues = 1, 2, 1\n", "1 is there twice" },
    { REST "[param K]\nvalues = a, a\n", "a is there twice" },
    { REST "[param K]\nvalues = 1..4 step 0\n", "`1..4 step 0` is neither an integer nor a range a..b; expected a..b, or a..b step s with a step of at least 1" },
    { REST "[param K]\nvalues = 1..4 step\n", "is neither" },
    { REST "[param K]\nvalues = step 1..4\n", "is neither" },
    { REST "[param K]\nvalues = 1..9 step 2, 5\n", "5 is there twice" },
    { REST "[param K]\nvalues = 1..9000 step 2\n", "more than 4096 values" },
    { REST "[param K]\nvalues = 4..1\n", "the range 4..1 is empty" },
    { REST "[param K]\nvalues = 1..1000000\n", "more than 4096 values" },
    { REST "[param K]\nvalues = 1, 2\ndefault = 3\n", "test.ini:18: default = 3 is not among the values of K" },
    { REST "[param K]\nvalues = 1\nwhen = L == 1\n[param L]\nvalues = 1\n", "when of K reads L: expected only knobs that stand before it" },
    { REST "[param K]\nvalues = 1\nwhen = K == 1\n", "when of K reads K" },
    { REST "[param K]\nvalues = 1\nwhen = T == 1\n[param L]\nvalues = 1\n[let]\nT = L\n", "when of K reads L" },
    { REST "[param K]\nvalues = 1\nwhen = N\n", "expected a condition" },
    { REST "[param K]\nvalues = 1\nwhen = ALGO == w\n", "w" },
    /* lets, constraints, variants */
    { REST "[let]\nA = B\nB = 1\n", "test.ini:17:" },
    { REST "[constraint c]\nwhy = no\n", "[constraint c] has no `expr`" },
    { REST "[constraint c]\nexpr = N + 1\n", "N + 1 is an integer: expected a condition" },
    { REST "[constraint c]\nexpr = M > 1\n", "test.ini:17: " },
    { REST "[constraint c]\nexpr = device.smem_optn > 1\n", "device.smem_optin" },
    { KERNEL SHAPE OUT LAUNCH "[algorithm v]\nbake = M\n", "bake: `M` is no shape value" },
    { KERNEL SHAPE OUT LAUNCH "[algorithm v]\noptions = -D${M}\n", "${M}: expected a shape value, a knob or a let" },
    { KERNEL SHAPE OUT LAUNCH "[algorithm v]\noptions = -D${N\n", "`${` without `}`" },
    /* arguments */
    { REST "[arg x]\nrole = in\n", "[arg x] has no `kind`" },
    { REST "[arg x]\nkind = tensr\n", "did you mean `tensor`?" },
    { REST "[arg x]\nkind = tensor\nbox = 1\n", "key `box` belongs in [arg] of kind tensormap, this is [arg] of kind tensor" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f33\nshape = N\ninit = zeros\n", "unknown dtype `f33`" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = float\nshape = N\ninit = zeros\n", "unknown dtype `float`, did you mean `f32`?" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = file(a.npy)\n", "kernel(NAME) or file:PATH.npy" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = ${N}\nshape = N\ninit = zeros\n", "N is no string" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\n", "has no `init`" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(1, 0)\n", "expected the smaller bound first" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(0, K)\n[param K]\nvalues = 1\n", "init reads K: only scratch may depend on knobs" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(0, M)\n", "unknown name 'M'" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = normal(0)\n", "expected zeros, iota, constant(VALUE), uniform(LOW, HIGH)" },
    { REST "[arg x]\nkind = tensor\nrole = scratch\ndtype = f32\nshape = N\ninit = zeros\n", "`init` of [arg x]: expected only with role in or inout" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\nrtol = 1\n", "`rtol` of [arg x]: expected only with role out or inout" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\nconstant = c\n[arg y]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\nconstant = c\n",
      "`constant` of [arg y]: the variable c is [arg x]'s" },
    { REST "[arg x]\nkind = tensor\nrole = inout\ndtype = f32\nshape = N\ninit = zeros\nconstant = c\n", "`constant` of [arg x]: expected only with role in" },
    { REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\nspread = 1\n", "`spread` of [arg x]: expected only with role out or inout" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nspread = 1e-5\n", "`spread` of [arg x]: expected only with order = any: with order = fixed two runs must give the same bits" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\norder = any\nspread = 0\n", "spread = 0: expected a number above 0" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nrtol = -1\n", "rtol = -1: expected a number of at least 0" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\nzero = always\n", "expected one of never, before_each" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = K\n[param K]\nvalues = 1\n", "shape reads K: only scratch may depend on knobs" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = T\n[let]\nT = K\n[param K]\nvalues = 1\n", "shape reads K: only scratch" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = ${K}\nshape = N\n[param K]\nvalues = f16, f32\n", "dtype reads K" },
    { REST "[arg x]\nkind = tensor\nrole = out\ndtype = f32\nshape = 1,1,1,1,1,1,1,1,1\n", "shape has 9 expressions: expected 1 to 8" },
    { REST "[arg m]\nkind = tensormap\nof = uot\ndims = N\nbox = 1\n", "of = uot: no such tensor argument, did you mean `out`?" },
    { REST "[arg m]\nkind = tensormap\nof = out\ndims = N, 1\nbox = 1, 1\n", "[arg m] has 0 strides but 2 dims" },
    { REST "[arg m]\nkind = tensormap\nof = out\ndims = N\nbox = 1, 1\n", "box has 2 lengths but dims has 1" },
    { REST "[arg m]\nkind = tensormap\nof = out\ndims = N\nbox = 1\nswizzle = 48\n", "swizzle = 48: expected none, 32, 64, 128, or an expression of knobs" },
    { REST "[arg m]\nkind = tensormap\nof = out\nfor = l < 3\ndims = N\nbox = 1\n", "expected NAME in 0..LAST" },
    { REST "[arg m]\nkind = tensormap\nof = out\nfor = N in 0..3\ndims = N\nbox = 1\n", "`N` is also a shape value" },
    { REST "[arg m]\nkind = tensormap\nof = out\nfor = l in 0..3\ndims = N\nbox = 1\n[arg q]\nkind = scalar\ndtype = i32\nvalue = l\n", "l" },
    { REST "[arg q]\nkind = scalar\ndtype = i32\nvalue = 0.5\n", "needs a floating dtype, it is i32" },
    { KERNEL SHAPE VARIANT "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n[launch 1]\nargs = x\ngrid = 1\nblock = 1\n", "no argument has role out or inout" },
    /* yardsticks */
    { KERNEL SHAPE OUT VARIANT "[launch v 1]\nargs = out\ngrid = 1\nblock = 1\n[algorithm y]\n[launch y 1]\nargs =\ngrid = 1\nblock = 1\n", "no launch of [algorithm y] takes an output" },
    { KERNEL SHAPE OUT "[args]\nother = out f32 [N]\n" VARIANT "[launch v 1]\nargs = out, other\ngrid = 1\nblock = 1\n[launch reference 1]\nargs = out\ngrid = 1\nblock = 1\n", "no launch of the reference takes the output other, so that it can't be compared: expected it in the args of [launch reference N], or role = scratch of it" },
    { KERNEL SHAPE OUT LAUNCH "[algorithm y]\nyardstick = yes\n", "[algorithm y] is the default and a yardstick: expected one that computes the outputs first" },
    { REST "[algorithm y]\nyardstick = yes\n[tune]\nbaseline = y\n", "baseline = y: that is a yardstick" },
    { REST "[algorithm a]\nyardstick = yes\n[algorithm b]\nyardstick = yes\n[algorithm c]\nyardstick = yes\n[algorithm d]\nyardstick = yes\n[algorithm e]\nyardstick = yes\n", "more than 4 yardsticks" },
    { REST "[model]\nops = K\n[param K]\nvalues = 1\n", "ops reads K: the model describes the problem" },
    { REST "[model]\nmoved_bytes = K\n[param K]\nvalues = 1\n", "moved_bytes reads K: the model describes the problem" },
    /* launches */
    { REST "[launch]\nargs = out\ngrid = 1\nblock = 1\n", "expected [launch N] or [launch ALGORITHM N]" },
    { REST "[launch v 0]\nargs = out\ngrid = 1\nblock = 1\n", "with N from 1 to 1000" },
    { REST "[launch w 1]\nargs = out\ngrid = 1\nblock = 1\n", "no [algorithm w]" },
    { REST "[prepare 1]\nargs = out\ngrid = 1\nblock = 1\n", "[prepare 1] has no `entry`: expected the kernel that it runs" },
    { REST "[finish 1]\nargs = out\ngrid = 1\nblock = 1\n", "[finish 1] has no `entry`: expected the kernel that it runs" },
    { REST "[prepare reference 1]\nargs = out\ngrid = 1\nblock = 1\n", "no [algorithm reference]" },
    { REST "[launch 2]\nargs = oot\ngrid = 1\nblock = 1\n", "args: no [arg oot], did you mean `out`?" },
    { REST "[launch 2]\nargs = out\nblock = 1\n", "[launch 2] has no `grid`" },
    { REST "[launch 2]\nargs = out\ngrid = 1,1,1,1\nblock = 1\n", "grid has 4 expressions: expected 1 to 3" },
    { REST "[launch 2]\nargs = out\ngrid = 1,\nblock = 1\n", "an expression is missing" },
    { REST "[launch 2]\nargs = out\ngrid = ALGO\nblock = 1\n", "ALGO is a string: expected an integer" },
    { KERNEL SHAPE OUT VARIANT "[algorithm w]\n[launch w 1]\nargs = out\ngrid = 1\nblock = 1\n", "[algorithm v] has no launch" },
    { REST "[launch reference 1]\nargs = out\ngrid = K\nblock = 1\n[param K]\nvalues = 1\n", "[launch reference] reads K" },
    { REST "[launch reference 1]\nargs = t\ngrid = 1\nblock = 1\n[param K]\nvalues = 1\n[arg t]\nkind = tensor\nrole = scratch\ndtype = f32\nshape = K\n", "[arg t] of [launch reference] reads K" },
    { REST "[model]\nflops = K\n[param K]\nvalues = 1\n", "flops reads K: the model describes the problem" },
    { REST "[model]\nhelper = 1\nflops = 2\n", "unknown key `helper` in [model]" },
    { REST "[model]\ntime_ns = N\nflop = 2\n", "`flop` in [model] is no key, and neither time_ns nor a line below reads it, did you mean `flops`?" },
    { REST "[model]\na = b\nb = 1\ntime_ns = a\n", "unknown name 'b'" },
    { REST "[model]\nN = 1\ntime_ns = N\n", "`N` is a line of [model] and a shape value" },
    { REST "[let]\na = 2\n[model]\na = 1\ntime_ns = a\n", "`a` is a line of [model] and a let" },
    { REST "[model]\na = 1\ntime_ns = a\n[constraint c]\nexpr = a == 1\n", "unknown name 'a'" },
    { REST "[model]\na = 1\ntime_ns = a\n[algorithm w]\noptions = -DX=${a}\n[launch w 1]\nargs = out\ngrid = 1\nblock = 1\n", "${a}: expected a shape value, a knob or a let" },
    { REST "[model]\ntime_ns = ALGO\n", "ALGO is a string: expected an integer" },
};

static void must_refuse(size_t i)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    mt_status st = mt_spec_parse("dir/test.ini", bad[i].text, strlen(bad[i].text), &spec, &err);
    ck_assert_msg(st == MT_ERR_SPEC || st == MT_ERR_SYNTAX, "accepted: %s", bad[i].text);
    ck_assert_ptr_null(spec);
    ck_assert_msg(strncmp(err.message, "dir/test.ini:", 13) == 0, "no file and line: %s", err.message);
    ck_assert_msg(strstr(err.message, bad[i].part) != NULL, "expected \"%s\" in \"%s\"", bad[i].part, err.message);
}

START_TEST(mistakes_are_told_with_file_line_and_what_was_expected)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) must_refuse(i);
}
END_TEST

START_TEST(a_missing_file)
{
    mt_spec *spec = NULL;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_spec_load(TEST_DATA_DIR "/ini/none.ini", &spec, &err), MT_ERR_NOT_FOUND);
    must_contain(err.message, "none.ini");
}
END_TEST

/* ---- semantics ---- */

static void same_semantics(const char *a, const char *b, bool same)
{
    mt_spec *left = must_parse(a), *right = must_parse(b);
    char *l = mt_spec_semantics(left), *r = mt_spec_semantics(right);
    ck_assert_msg((strcmp(l, r) == 0) == same, "%s\n----\n%s", l, r);
    mt_free(l);
    mt_free(r);
    mt_spec_free(left);
    mt_spec_free(right);
}

START_TEST(semantics_hold_what_changes_code_and_launches)
{
    const char *base = REST "[param A]\nvalues = 1, 2\n[let]\nT = A * 2\nU = N\n";
    same_semantics(base, REST "[let]\nU = N\nT = A*2 ; spaces\n[param A]\nvalues = 2, 1, 3\ndefault = 3\ndoc = x\n", true);
    same_semantics(base, KERNEL LAUNCH OUT VARIANT SHAPE "[shape t]\nN = 5\n[workload w]\nx = 1\n[param A]\nvalues = 1, 2\n[let]\nT = A * 2\nU = N\n"
                         "[constraint c]\nexpr = A > 0\n", true);
    same_semantics(base, REST "[param A]\nvalues = 1, 2\n[let]\nT = A * 3\nU = N\n", false);
    same_semantics(base, REST "[param A]\nvalues = 1, 2\n[let]\nT = A * 2\nU = N\n[model]\nhalf = ceil_div(N, 2)\ntime_ns = half * A\n", true); /* a belief changes no code */
    same_semantics(base, REST "[param A]\nvalues = 1, 2\n[let]\nT = A * 2\nU = N\n[prepare 1]\nentry = clear\nargs = out\ngrid = 1\nblock = 1\n", false);
#define IN REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = zeros\n"
    same_semantics(IN "constant = c\n", IN "constant = d\n", false);
    same_semantics(IN "constant = c\n", IN, false);
#undef IN
    same_semantics(REST, KERNEL "options = -O1\n" SHAPE VARIANT OUT LAUNCH, false);
    same_semantics(REST, KERNEL SHAPE "[algorithm v]\nbake = none\n" OUT LAUNCH, false);
    same_semantics(REST, KERNEL SHAPE "[algorithm v]\nentry = w\n" OUT LAUNCH, false);
    same_semantics(REST, KERNEL SHAPE VARIANT OUT "rtol = 1e-2\n" LAUNCH, false);
    same_semantics(REST, KERNEL SHAPE VARIANT OUT LAUNCH "smem = 16\n", false);
}
END_TEST

/* ---- memory ---- */

START_TEST(every_allocation_may_fail)
{
    char *text = NULL;
    size_t length = 0;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_file_read(FULL_INI, 0, &text, &length, &err), MT_OK);
    mt_status st = MT_ERR_NO_MEMORY;
    size_t n = 1;
    for (; st != MT_OK && n < 100000; n++) {
        mt_spec *spec = NULL;
        mt_alloc_fail_at(n);
        st = mt_spec_parse(FULL_INI, text, length, &spec, &err);
        mt_alloc_fail_at(0);
        ck_assert_msg(st == MT_OK || st == MT_ERR_NO_MEMORY, "allocation %zu: %s", n, err.message);
        mt_spec_free(spec);
    }
    ck_assert_uint_gt(n, 300);
    mt_free(text);
}
END_TEST

/* ---- the format's page ---- */

START_TEST(every_key_is_documented)
{
    char *page = NULL, needle[64];
    size_t length = 0, count;
    mt_error err = { 0 };
    ck_assert_msg(mt_file_read(FORMAT_PAGE, 0, &page, &length, &err) == MT_OK, "%s", err.message);
    for (mt_rule_set set = 0; set < MT_RULES_COUNT; set++) {
        const mt_key_rule *rules = mt_rules(set, &count);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(rules[i].key, "kind") == 0) continue; /* stands in the headings */
            snprintf(needle, sizeof needle, "\n| `%s` |", rules[i].key);
            ck_assert_msg(strstr(page, needle) != NULL, "key %s of rule set %d is not documented", rules[i].key, (int)set);
        }
    }
    for (size_t i = 0; i < MT_SECTION_COUNT; i++) {
        snprintf(needle, sizeof needle, "\n### [%s", mt_section_names[i]);
        ck_assert_msg(strstr(page, needle) != NULL, "section %s is not documented", mt_section_names[i]);
    }
    for (mt_arg_kind kind = MT_ARG_TENSOR; kind <= MT_ARG_STRUCT; kind++) {
        static const char *const names[] = { "**`kind = tensor`**", "**`kind = tensormap`**", "**`kind = scalar`**", "**`kind = struct`**" };
        must_contain(page, names[kind]);
    }
    mt_free(page);
}
END_TEST

/* Adds the sections that a fragment leaves out. */
static void complete(mt_strbuf *text)
{
    static const struct { const char *has, *else_add; } parts[] = { { "[kernel]", KERNEL }, { "[shape ", SHAPE }, { "[algorithm ", VARIANT }, { "[arg out]", OUT }, { "[launch ", LAUNCH } };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!strstr(mt_strbuf_text(text), parts[i].has)) mt_strbuf_add(text, parts[i].else_add);
    }
}

/* Returns how many of them are whole files. */
static size_t parse_examples(const char *path, size_t *blocks)
{
    char *page = NULL;
    size_t length = 0, complete_ones = 0;
    mt_error err = { 0 };
    *blocks = 0;
    ck_assert_int_eq(mt_file_read(path, 0, &page, &length, &err), MT_OK);
    for (const char *at = page; (at = strstr(at, "\n```ini\n")); ++*blocks) {
        const char *start = at + 8, *end = strstr(start, "\n```\n");
        mt_strbuf text = { 0 };
        mt_spec *spec = NULL;
        mt_strbuf_add_bytes(&text, start, (size_t)(end + 1 - start));
        if (strncmp(start, "; fragment", 10) == 0) complete(&text);
        else complete_ones++;
        ck_assert_msg(mt_spec_parse("page.ini", mt_strbuf_text(&text), text.length, &spec, &err) == MT_OK, "%s\nin:\n%s", err.message, mt_strbuf_text(&text));
        mt_spec_free(spec);
        mt_strbuf_free(&text);
        at = end;
    }
    mt_free(page);
    return complete_ones;
}

START_TEST(every_example_parses)
{
    size_t blocks;
    ck_assert_uint_ge(parse_examples(FORMAT_PAGE, &blocks), 1);
    ck_assert_uint_ge(blocks, 5);
    ck_assert_uint_eq(parse_examples(SOURCE_DIR "/docs/other_tuners.md", &blocks), 1);
}
END_TEST

UNIT_MAIN("spec", a_full_file, ranges, a_space_that_lives_on_recordings, what_such_a_space_rules_out, values_of_any_kind, shapes_have_one_order_and_canonical_keys, shape_values_are_expressions_of_earlier_ones, a_key_of_the_rules, defaults, a_reference_from_a_file,
          quotes_crlf_bom_and_long_lines, mistakes_are_told_with_file_line_and_what_was_expected, a_missing_file, semantics_hold_what_changes_code_and_launches, every_allocation_may_fail,
          every_key_is_documented, every_example_parses)
