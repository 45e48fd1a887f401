#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/launch/plan_internal.h"

#include <stdio.h>

typedef struct fixture {
    mt_spec *spec;
    mt_env *env;
    mt_plan plan;
    char *illegal;
} fixture;

static fixture start_on(mt_spec *spec, const char *shape, const mt_device_facts *facts, const char *point)
{
    fixture f = { .spec = spec };
    mt_error err = { 0 };
    f.env = must_env(spec, mt_spec_shape(spec, shape), facts);
    must_set(f.env, point);
    ck_assert_msg(mt_plan_make(f.env, &f.plan, &f.illegal, &err) == MT_OK, "%s", err.message);
    if (f.illegal) ck_assert_ptr_null(f.plan.args);
    if (!f.illegal) f.illegal = mt_plan_illegal(f.env, &f.plan);
    return f;
}

static void stop(fixture *f)
{
    mt_plan_free(&f->plan);
    mt_free(f->illegal);
    mt_env_free(f->env);
    mt_spec_free(f->spec);
}

static const mt_plan_arg *arg_of(const fixture *f, const char *name)
{
    for (size_t i = 0; i < f->spec->arg_count; i++) {
        if (strcmp(f->spec->args[i].name, name) == 0) return &f->plan.args[i];
    }
    ck_abort_msg("no argument %s", name);
    return NULL;
}

/* ---- numbers ---- */

START_TEST(tensors_scalars_and_general_launches)
{
    fixture f = start_on(must_load(FULL_INI), "a", &h100, "ALGO=direct;THREADS=64;REGS=255;MODE=fast");
    ck_assert_ptr_null(f.illegal);
    const mt_plan_arg *value = arg_of(&f, "value");
    ck_assert_int_eq(value->tensor.dtype, MT_F16);
    ck_assert_uint_eq(value->tensor.rank, 3);
    ck_assert_int_eq(value->tensor.dims[1], 160);
    ck_assert_uint_eq(value->tensor.elements, 2 * 160 * 32);
    ck_assert_uint_eq(value->tensor.bytes, 2 * 2 * 160 * 32);
    ck_assert(value->used && !arg_of(&f, "maps")->used && !arg_of(&f, "partial")->used);
    ck_assert_uint_eq(arg_of(&f, "maps")->map_count, 0);
    ck_assert_uint_eq(arg_of(&f, "out")->tensor.elements, 2 * 160 * 32);
    const unsigned char quarter[8] = { 0, 0, 0x80, 0x3e }, count[8] = { 0x40, 0x01 };
    ck_assert_mem_eq(arg_of(&f, "scale")->scalar, quarter, 8);
    ck_assert_mem_eq(arg_of(&f, "count")->scalar, count, 8);
    ck_assert_uint_eq(f.plan.launch_count, 1);
    const mt_plan_launch *launch = &f.plan.launches[0];
    ck_assert_str_eq(launch->entry, "direct");
    ck_assert(launch->grid[0] == 3 && launch->grid[1] == 2 && launch->grid[2] == 1 && launch->block[0] == 64 && launch->block[1] == 1);
    ck_assert(launch->cluster[0] == 0 && launch->smem_bytes == 0 && launch->carveout_percent == -1);
    stop(&f);
}
END_TEST

START_TEST(a_variant_s_launches_replace_the_general_ones)
{
    fixture f = start_on(must_load(FULL_INI), "a", &h100, "ALGO=tma;CPB=8;THREADS=128;MODE=fast");
    ck_assert_uint_eq(f.plan.launch_count, 3);
    ck_assert_str_eq(f.plan.launches[0].entry, "border");
    ck_assert_int_eq(f.plan.launches[0].from->phase, MT_LAUNCH_PREPARE);
    ck_assert_str_eq(f.plan.launches[1].entry, "tma_main");
    ck_assert_str_eq(f.plan.launches[2].entry, "finish");
    ck_assert(f.plan.launches[1].cluster[0] == 8 && f.plan.launches[1].cluster[1] == 1);
    ck_assert_uint_eq(f.plan.launches[1].smem_bytes, 32768);
    ck_assert_int_eq(f.plan.launches[1].carveout_percent, 50);
    ck_assert(f.plan.launches[2].from->programmatic && f.plan.launches[2].block[1] == 4);
    ck_assert(arg_of(&f, "partial")->used && arg_of(&f, "value")->used && !arg_of(&f, "scale")->used);
    ck_assert_uint_eq(arg_of(&f, "state")->tensor.elements, 2); /* in, out and inout are there, used or not */
    stop(&f);
    f = start_on(must_load(FULL_INI), "a", &h100, "ALGO=tma;CPB=8;THREADS=128;MODE=slow");
    ck_assert_uint_eq(f.plan.launch_count, 2); /* `when` */
    stop(&f);
}
END_TEST

START_TEST(arrays_of_tensor_maps_are_in_bytes)
{
    fixture f = start_on(must_load(FULL_INI), "a", &h100, "ALGO=tma;CPB=4;THREADS=128;MODE=slow");
    const mt_plan_arg *maps = arg_of(&f, "maps");
    ck_assert_uint_eq(maps->map_count, 2);
    ck_assert_int_eq(maps->map_dtype, MT_F16);
    const mt_plan_map *map = &maps->maps[1];
    ck_assert_uint_eq(map->offset_bytes, 8 * 16 * 32 * 2);
    ck_assert_uint_eq(map->rank, 4);
    ck_assert(map->dims[0] == 32 && map->dims[1] == 8 && map->dims[2] == 4 && map->dims[3] == 2);
    ck_assert(map->stride_bytes[0] == 64 && map->stride_bytes[1] == 512 && map->stride_bytes[2] == 160 * 32 * 2);
    ck_assert(map->box[0] == 8 && map->box[1] == 4 && map->box[2] == 1);
    ck_assert_uint_eq(maps->maps[0].offset_bytes, 0);
    stop(&f);
}
END_TEST

START_TEST(the_reference_s_default_launch)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_plan plan;
    mt_error err = { 0 };
    ck_assert_msg(mt_plan_reference(env, 0, &plan, &err) == MT_OK, "%s", err.message);
    ck_assert_uint_eq(plan.launch_count, 1);
    ck_assert_str_eq(plan.launches[0].entry, "ref");
    ck_assert(plan.launches[0].grid[0] == 40 && plan.launches[0].block[0] == 256); /* 2·160·32 elements */
    const char *expected[] = { "value", "scale", "count", "state", "out" };
    ck_assert_uint_eq(plan.launches[0].from->arg_count, 5);
    for (size_t i = 0; i < 5; i++) ck_assert_str_eq(spec->args[plan.launches[0].from->args[i]].name, expected[i]);
    mt_plan_free(&plan);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

START_TEST(more_than_2_to_the_31_elements)
{
    mt_spec *spec = must_parse(KERNEL VARIANT OUT "[shape s]\nN = 6442450944\n[launch 1]\nargs = out\ngrid = ceil_div(N, 1024)\nblock = 1024\n");
    fixture f = start_on(spec, "s", &h100, "ALGO=v");
    ck_assert_ptr_null(f.illegal);
    ck_assert_uint_eq(f.plan.args[0].tensor.elements, UINT64_C(6442450944));
    ck_assert_uint_eq(f.plan.args[0].tensor.bytes, UINT64_C(25769803776));
    stop(&f);
}
END_TEST

/* ---- scalars ---- */

START_TEST(scalars_are_rounded_to_nearest_even_and_checked)
{
    static const struct { mt_dtype dtype; double value; bool fits; uint64_t bits; } rows[] = {
        { MT_F16, 1, true, 0x3c00 }, { MT_F16, -2, true, 0xc000 }, { MT_F16, 0, true, 0 }, { MT_F16, -0.0, true, 0x8000 }, { MT_F16, 65504, true, 0x7bff },
        { MT_F16, 65519, true, 0x7bff }, { MT_F16, 65520, false, 0 }, { MT_F16, 5.9604644775390625e-8, true, 1 }, { MT_F16, 1e-9, true, 0 },
        { MT_F16, 6.103515625e-5, true, 0x0400 }, { MT_F16, 6.1e-5, true, 0x03ff }, { MT_F16, 2049, true, 0x6800 }, { MT_F16, 2051, true, 0x6802 },
        { MT_BF16, 1, true, 0x3f80 }, { MT_BF16, 3.140625, true, 0x4049 }, { MT_BF16, 257, true, 0x4380 }, { MT_BF16, 259, true, 0x4382 }, { MT_BF16, 1e39, false, 0 },
        { MT_F8E4M3, 1.5, true, 0x3c }, { MT_F8E4M3, -448, true, 0xfe }, { MT_F8E4M3, 480, false, 0 }, { MT_F8E5M2, 57344, true, 0x7b }, { MT_F8E5M2, 65536, false, 0 },
        { MT_F32, 0.1, true, 0x3dcccccd }, { MT_F32, 1e39, false, 0 }, { MT_F64, 0.5, true, UINT64_C(0x3fe0000000000000) }, { MT_I32, 1, false, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char bytes[8] = { 0 };
        uint64_t bits;
        ck_assert_msg(mt_scalar_from_double(rows[i].dtype, rows[i].value, bytes) == rows[i].fits, "row %zu", i);
        memcpy(&bits, bytes, 8);
        if (rows[i].fits) ck_assert_msg(bits == rows[i].bits, "row %zu: %llx", i, (unsigned long long)bits);
    }
    static const struct { mt_dtype dtype; int64_t value; bool fits; } whole[] = {
        { MT_I8, 127, true }, { MT_I8, 128, false }, { MT_I8, -128, true }, { MT_I8, -129, false }, { MT_U8, 255, true }, { MT_U8, 256, false }, { MT_U8, -1, false },
        { MT_I32, INT32_MAX, true }, { MT_I32, INT64_C(1) << 31, false }, { MT_U32, UINT32_MAX, true }, { MT_U32, INT64_C(1) << 32, false },
        { MT_I64, INT64_MIN, true }, { MT_U64, INT64_MAX, true }, { MT_U64, -1, false }, { MT_F16, 65504, true }, { MT_F16, 70000, false },
    };
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        unsigned char bytes[8];
        ck_assert_msg(mt_scalar_from_int(whole[i].dtype, whole[i].value, bytes) == whole[i].fits, "row %zu", i);
    }
}
END_TEST

/* ---- rules of launches ---- */

#define LAUNCH_OF(keys) KERNEL VARIANT OUT "[shape s]\nN = 128\n[launch 1]\nargs = out\n" keys

static const struct { const char *text, *rule; } launches[] = {
    { LAUNCH_OF("grid = 1\nblock = 1024\nsmem = 102400\n"), NULL }, /* 100 KiB: more than without opting in */
    { LAUNCH_OF("grid = 1\nblock = 1024\nsmem = 232448\n"), NULL },
    { LAUNCH_OF("grid = 1\nblock = 1024\nsmem = 300 * 1024\n"), "[launch 1] dynamic shared memory 307200 bytes: the limit is 232448 (device.smem_optin)" },
    { LAUNCH_OF("grid = 1\nblock = 1\nsmem = 0 - 4\n"), "dynamic shared memory is -4 bytes: must not be negative" },
    { LAUNCH_OF("grid = 1\nblock = 1\nsmem = 8589934592\n"), "dynamic shared memory is 8589934592 bytes" },
    { LAUNCH_OF("grid = N - 128\nblock = 1\n"), "[launch 1] grid.x is 0: must be at least 1" },
    { LAUNCH_OF("grid = 1, 65536\nblock = 1\n"), "grid.y is 65536: the hardware's limit is 65535" },
    { LAUNCH_OF("grid = 2147483648\nblock = 1\n"), "grid.x is 2147483648: the hardware's limit is 2147483647" },
    { LAUNCH_OF("grid = 2147483647\nblock = 1\n"), NULL },
    { LAUNCH_OF("grid = 1\nblock = 2048\n"), "block.x is 2048: the hardware's limit is 1024" },
    { LAUNCH_OF("grid = 1\nblock = 1, 1, 128\n"), "block.z is 128: the hardware's limit is 64" },
    { LAUNCH_OF("grid = 1\nblock = 64, 32\n"), "block 64×32×1 has 2048 threads: the limit is 1024" },
    { LAUNCH_OF("grid = 1\nblock = 32\ncarveout = 101\n"), "carveout is 101: must be a percentage from 0 to 100" },
    /* clusters: what fits, and the largest that would */
    { LAUNCH_OF("grid = 128\nblock = 32\ncluster = 16\n"), NULL },
    { LAUNCH_OF("grid = 128\nblock = 32\ncluster = 32\n"), "cluster 32×1×1 has 32 blocks: device.max_cluster is 16, the largest that fits" },
    { LAUNCH_OF("grid = 128, 8\nblock = 32\ncluster = 8, 4\n"), "cluster 8×4×1 has 32 blocks" },
    { LAUNCH_OF("grid = 128\nblock = 32\ncluster = 3\n"), "cluster.x 3 does not divide grid.x 128: the largest up to it that does is 2" },
    { LAUNCH_OF("grid = 7\nblock = 32\ncluster = 4\n"), "the largest up to it that does is 1" },
    { LAUNCH_OF("grid = 768\nblock = 32\ncluster = 8\nsmem = 200 * 1024\n"), NULL },
    { LAUNCH_OF("grid = 128\nblock = 32\ncluster = N - 128\n"), "cluster.x is 0: must be at least 1" },
    { LAUNCH_OF("grid = 132 * 16\nblock = 128\ncooperative = yes\n"), NULL },
    { LAUNCH_OF("grid = 132 * 16 + 1\nblock = 128\ncooperative = yes\n"), "cooperative grid of 2113 blocks: at most 2112 can be resident (16 per SM, device.sm_count is 132)" },
    { LAUNCH_OF("grid = 132 * 16\nblock = 128\nresident = yes\n"), NULL },
    { LAUNCH_OF("grid = 132 * 16 + 1\nblock = 128\nresident = yes\n"), "resident grid of 2113 blocks: at most 2112 can be resident" },
    { LAUNCH_OF("grid = 9\nblock = 512\nblocks_per_sm = 4\n"), NULL },
    { LAUNCH_OF("grid = 9\nblock = 512\nblocks_per_sm = 5\n"), "counts on 5 blocks per SM: at most 4 of 512 threads" },
    { LAUNCH_OF("grid = 9\nblock = 32\nsmem = 100 * 1024\nblocks_per_sm = 3\n"), "counts on 3 blocks per SM: at most 2" },
    { LAUNCH_OF("grid = 9\nblock = 32\nblocks_per_sm = 0\n"), "blocks_per_sm is 0: must be from 1 to 64" },
    { LAUNCH_OF("grid = 133\nblock = 128\nsmem = 200 * 1024\ncooperative = yes\n"), "at most 132 can be resident (1 per SM" },
    { LAUNCH_OF("grid = 1\nblock = 1\nwhen = N == 1\n"), "no launch of variant v remains: every `when` is false" },
    { LAUNCH_OF("grid = 1\nblock = 1\n[prepare 1]\nentry = clear\nargs = out\ngrid = 1\nblock = 1025\n"), "[prepare 1] block.x is 1025" },
    { KERNEL VARIANT SHAPE OUT "[arg q]\nkind = scalar\ndtype = i8\nvalue = N\n[launch 1]\nargs = q, out\ngrid = 1\nblock = 1\n", "[arg q] value 128 does not fit i8" },
    { KERNEL VARIANT SHAPE OUT "[arg t]\nkind = tensor\nrole = scratch\ndtype = f32\nshape = 127 - N\n[launch 1]\nargs = t, out\ngrid = 1\nblock = 1\n",
      "[arg t] dimension 0 is -1: must not be negative" },
    { KERNEL VARIANT SHAPE OUT "[arg t]\nkind = tensor\nrole = scratch\ndtype = f32\nshape = 128 - N\n[launch 1]\nargs = t, out\ngrid = 1\nblock = 1\n", NULL },
};

static void rule_is(const char *text, const mt_device_facts *facts, const char *rule)
{
    fixture f = start_on(must_parse(text), "s", facts, "ALGO=v");
    if (rule) must_contain(f.illegal, rule);
    else ck_assert_msg(!f.illegal, "%s\n%s", f.illegal, text);
    stop(&f);
}

START_TEST(rules_of_launches)
{
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) rule_is(launches[i].text, &h100, launches[i].rule);
}
END_TEST

START_TEST(older_and_smaller_gpus)
{
    mt_device_facts a100 = h100, portable = h100, consumer = h100;
    a100.cc = 80;
    a100.max_cluster = 1;
    a100.smem_optin = 166912;
    portable.max_cluster = 8;
    consumer.cc = 120;
    consumer.smem_optin = 101376;
    rule_is(LAUNCH_OF("grid = 128\nblock = 32\ncluster = 2\n"), &a100, "cluster of 2 blocks: this GPU has no thread-block clusters (device.max_cluster is 1");
    rule_is(LAUNCH_OF("grid = 128\nblock = 32\ncluster = 1\n"), &a100, NULL); /* every launch has clusters of one */
    rule_is(LAUNCH_OF("grid = 128\nblock = 32\ncluster = 16\n"), &portable, "device.max_cluster is 8, the largest that fits");
    rule_is(LAUNCH_OF("grid = 1\nblock = 32\nsmem = 102400\n"), &consumer, "the limit is 101376 (device.smem_optin)");
}
END_TEST

/* ---- rules of tensor maps ---- */

#define MAP_OF(keys)                                                                                                                  \
    KERNEL VARIANT OUT "[shape s]\nN = 4096\n[arg x]\nkind = tensor\nrole = in\ndtype = f16\nshape = 4096, 4096\ninit = zeros\n"      \
                       "[arg m]\nkind = tensormap\nof = x\n" keys "[launch 1]\nargs = m, out\ngrid = 1\nblock = 128\n"

static const struct { const char *text, *rule; } maps[] = {
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 64, 256\nswizzle = 128\n"), NULL },
    /* TMA boxes: each limit by the name of its rule */
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 6, 8\n"), "[arg m] TMA box: inner dimension 12 bytes, must be a multiple of 16" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 8, 512\n"), "[arg m] TMA box: dimension 1 has 512 elements, the limit is 256" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 512, 8\n"), "TMA box: dimension 0 has 512 elements" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 128, 8\nswizzle = 128\n"), "128B swizzle needs an inner box of at most 128 bytes, it is 256" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 64, 8\nswizzle = 2 * 64\n"), NULL },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 64, 8\nswizzle = 32 + 16\n"), "swizzle is 48: must be 0, 32, 64 or 128" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 128, 8\nswizzle = 2 * 64\n"), "128B swizzle needs an inner box of at most 128 bytes, it is 256" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 32, 8\nswizzle = 32\n"), "32B swizzle needs an inner box of at most 32 bytes, it is 64" },
    { MAP_OF("dims = 4096, 4096\nstrides = 4096\nbox = 128, 8\n"), NULL },
    { MAP_OF("dims = 4090, 4096\nstrides = 4090\nbox = 8, 8\n"), "stride of dimension 1 is 8180 bytes, must be a multiple of 16" },
    { MAP_OF("dims = 8, 1\nstrides = 549755813888\nbox = 8, 1\n"), "stride of dimension 1 is 1099511627776 bytes, must be below 2^40" },
    { MAP_OF("offset = 4\ndims = 4096\nbox = 8\n"), "the offset is 8 bytes, must be a multiple of 16" },
    { MAP_OF("offset = 0 - 8\ndims = 4096\nbox = 8\n"), "offset is -8: must not be negative" },
    { MAP_OF("dims = N - 4096\nbox = 8\n"), "dims of dimension 0 is 0: must be at least 1" },
    { MAP_OF("dims = 4096\nbox = N - 4096\n"), "box of dimension 0 is 0: must be at least 1" },
    { MAP_OF("dims = 4096, 4097\nstrides = 4096\nbox = 8, 8\n"), "reaches element 16781311 of x, which has 16777216" },
    { MAP_OF("dims = 4096, 9223372036854775807\nstrides = 9223372036854775807\nbox = 8, 8\n"), "reaches element" },
    { MAP_OF("dims = 256, 4096, 16\nstrides = 4096, 256\nbox = 128, 32, 32\n"), "TMA box: 262144 bytes do not fit shared memory, the limit is 232448 (device.smem_optin)" },
    { MAP_OF("for = l in 0..255\ndims = 4096\nbox = 8\n"), "[arg m] has 256 maps: must be 1 to 255" },
    { MAP_OF("for = l in 0..N-4097\ndims = 4096\nbox = 8\n"), "[arg m] has 0 maps" },
    { MAP_OF("for = l in 0..3\noffset = l * 12\ndims = 4096\nbox = 8\n"), "[arg m] map 1 TMA: the offset is 24 bytes" },
    { MAP_OF("for = l in 0..254\ndims = 4096\nbox = 8\n"), NULL },
    { KERNEL VARIANT SHAPE OUT "[arg x]\nkind = tensor\nrole = in\ndtype = u8\nshape = 4096\ninit = zeros\n"
      "[arg m]\nkind = tensormap\nof = x\ndims = 4096\nbox = 16\nfill = nan\n[launch 1]\nargs = m, out\ngrid = 1\nblock = 1\n",
      "[arg m] fill = nan needs a floating dtype of 16 bits or more, it is u8" },
};

START_TEST(rules_of_tensor_maps)
{
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) rule_is(maps[i].text, &h100, maps[i].rule);
    mt_device_facts ada = h100;
    ada.cc = 89;
    rule_is(maps[0].text, &ada, "[arg m] tensor maps need compute capability 9.0, this GPU has 8.9");
}
END_TEST

START_TEST(parameters_have_a_limit)
{
    mt_strbuf text = { 0 };
    mt_device_facts old = h100;
    old.driver_version = 12000;
    mt_strbuf_add(&text, MAP_OF("for = l in 0..40\ndims = 4096\nbox = 8\n"));
    rule_is(mt_strbuf_text(&text), &h100, NULL);
    rule_is(mt_strbuf_text(&text), &old, "parameters of v take 5256 bytes: the limit is 4096"); /* 41 maps of 128 and a pointer */
    old.driver_version = 12010;
    rule_is(mt_strbuf_text(&text), &old, NULL);
    mt_strbuf_free(&text);
}
END_TEST

/* ---- errors of the file, not of a point ---- */

static void error_is(const char *text, const char *part)
{
    mt_spec *spec = must_parse(text);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_plan plan;
    char *illegal = NULL;
    mt_error err = { 0 };
    must_set(env, "ALGO=v");
    ck_assert_int_eq(mt_plan_make(env, &plan, &illegal, &err), MT_ERR_SPEC);
    ck_assert_ptr_null(illegal);
    must_contain(err.message, "dir/test.ini:");
    must_contain(err.message, part);
    mt_env_free(env);
    mt_spec_free(spec);
}

START_TEST(what_no_point_can_mend_is_an_error)
{
    error_is(KERNEL VARIANT "[shape s]\nN = 0\n" OUT LAUNCH, "[arg out] dimension 0 (N) is 0 for shape s: expected at least 1");
    error_is(KERNEL VARIANT "[shape s]\nN = 9223372036854775807\n" OUT LAUNCH, "[arg out] dimension 0 (N) is 9223372036854775807 for shape s, which makes more elements than the limit of 2^59");
    error_is(REST "[arg x]\nkind = tensor\nrole = in\ndtype = f32\nshape = N\ninit = uniform(N, N - 1)\n", "[arg x] init is uniform(128, 127) for shape s: expected the smaller bound first");
    error_is(LAUNCH_OF("grid = N * 9223372036854775807\nblock = 1\n"), "integer overflow");
    error_is(LAUNCH_OF("grid = N / 3\nblock = 1\n"), "result is not an integer (shape s, at ALGO=v); floor_div(a, b) rounds down, ceil_div(a, b) up");
    error_is(LAUNCH_OF("grid = K\nblock = 1\n[param K]\nvalues = 1\nwhen = N == 1\n"), "K: reads a parameter that is inactive");
}
END_TEST

START_TEST(a_reference_that_can_t_run_is_an_error)
{
    mt_spec *spec = must_parse(REST "[launch reference 1]\nargs = out\ngrid = N - 128\nblock = 1\n");
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_plan plan;
    mt_error err = { 0 };
    ck_assert_int_eq(mt_plan_reference(env, 0, &plan, &err), MT_ERR_SPEC);
    must_contain(err.message, "the reference can't run for shape s: [launch reference 1] grid.x is 0");
    ck_assert_ptr_null(plan.args);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    mt_spec *spec = must_load(FULL_INI);
    mt_env *env = must_env(spec, &spec->shapes[0], &h100);
    mt_status st = MT_ERR_NO_MEMORY;
    size_t n = 1;
    must_set(env, "ALGO=tma;CPB=4;THREADS=128;MODE=fast");
    for (; st != MT_OK && n < 10000; n++) {
        mt_plan plan = { 0 };
        char *illegal = NULL;
        mt_error err = { 0 };
        mt_alloc_fail_at(n);
        st = mt_plan_make(env, &plan, &illegal, &err);
        mt_alloc_fail_at(0);
        ck_assert_msg(st == MT_OK || st == MT_ERR_NO_MEMORY, "allocation %zu: %s", n, err.message);
        ck_assert_ptr_null(illegal);
        mt_plan_free(&plan);
    }
    ck_assert_uint_gt(n, 5);
    mt_env_free(env);
    mt_spec_free(spec);
}
END_TEST

static void check_code(uint64_t threads, uint64_t bytes, mt_kernel_code code, int64_t cc, const char *rule)
{
    const mt_device_facts facts = {.cc = cc, .regs_per_sm = 65536, .smem_optin = 232448};
    const mt_plan_launch launch = {.entry = "k", .grid = {6, 6, 6}, .block = {(uint32_t)threads, 1, 1}, .smem_bytes = (uint32_t)bytes};
    char *illegal = mt_plan_code_illegal(&launch, &code, &facts);
    ck_assert_msg(rule ? illegal && strstr(illegal, rule) : !illegal, "expected %s, got %s", rule ? rule : "legal", illegal ? illegal : "legal");
    mt_free(illegal);
}

/* Registers by cuda_occupancy.h: to warps by 256, and as if to all four parts of an SM. */
START_TEST(what_only_compiled_code_tells)
{
    check_code(1024, 0, (mt_kernel_code){.registers = 64}, 90, NULL);
    check_code(1024, 0, (mt_kernel_code){.registers = 65, .static_smem_bytes = 0, .most_threads = 0}, 90, "k: a block of 1024 threads with 65 registers each: the 65536 registers of an SM allow 896 threads");
    check_code(384, 0, (mt_kernel_code){.registers = 168, .static_smem_bytes = 0, .most_threads = 0}, 90, NULL);
    check_code(385, 0, (mt_kernel_code){.registers = 168, .static_smem_bytes = 0, .most_threads = 0}, 90, "allow 384 threads");
    check_code(320, 0, (mt_kernel_code){.registers = 200, .static_smem_bytes = 0, .most_threads = 0}, 60, NULL);
    check_code(320, 0, (mt_kernel_code){.registers = 200, .static_smem_bytes = 0, .most_threads = 0}, 80, "allow 256 threads");
    check_code(256, 0, (mt_kernel_code){.registers = 255, .static_smem_bytes = 0, .most_threads = 256}, 90, NULL);
    check_code(1024, 0, (mt_kernel_code){0}, 90, NULL);
    check_code(128, 0, (mt_kernel_code){.registers = 16, .static_smem_bytes = 0, .most_threads = 64}, 90, "k: a block of 128 threads: its launch bounds allow 64");
    check_code(64, 232448 - 1024, (mt_kernel_code){.registers = 16, .static_smem_bytes = 1024, .most_threads = 64}, 90, NULL);
    check_code(64, 232448 - 1023, (mt_kernel_code){.registers = 16, .static_smem_bytes = 1024, .most_threads = 64}, 90, "k: 1024 bytes of static and 231425 of dynamic shared memory: the limit is 232448 in all");
}
END_TEST

/* Launches of 8×6×6 blocks. */
START_TEST(clusters_of_the_code)
{
    static const struct { uint32_t stated[3], code[3]; int64_t most; const char *rule; } cases[] = {
        {{0}, {0}, 8, NULL}, {{2, 1, 1}, {0}, 8, NULL}, {{0}, {2, 1, 1}, 8, NULL}, {{0}, {2, 2, 2}, 8, NULL}, {{2, 2, 2}, {2, 2, 2}, 8, NULL},
        {{0}, {3, 1, 1}, 8, "k: of its __cluster_dims__ cluster.x 3 does not divide grid.x 8: the largest up to it that does is 2"},
        {{0}, {2, 4, 1}, 8, "k: of its __cluster_dims__ cluster.y 4 does not divide grid.y 6: the largest up to it that does is 3"},
        {{0}, {2, 3, 2}, 8, "k: of its __cluster_dims__ cluster 2×3×2 has 12 blocks: device.max_cluster is 8"},
        {{0}, {2, 1, 1}, 1, "k: of its __cluster_dims__ cluster of 2 blocks: this GPU has no thread-block clusters"},
        {{4, 1, 1}, {2, 1, 1}, 8, "k: cluster 4×1×1: its __cluster_dims__ say 2×1×1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mt_device_facts facts = {.cc = 90, .max_cluster = cases[i].most};
        mt_plan_launch launch = {.entry = "k", .grid = {8, 6, 6}, .block = {32, 1, 1}};
        mt_kernel_code code = {.registers = 16};
        memcpy(launch.cluster, cases[i].stated, sizeof launch.cluster);
        memcpy(code.cluster, cases[i].code, sizeof code.cluster);
        char *illegal = mt_plan_code_illegal(&launch, &code, &facts);
        ck_assert_msg(cases[i].rule ? illegal && strstr(illegal, cases[i].rule) : !illegal, "%zu: expected %s, got %s", i, cases[i].rule ? cases[i].rule : "legal", illegal ? illegal : "legal");
        mt_free(illegal);
    }
}
END_TEST

UNIT_MAIN("plan", what_only_compiled_code_tells, clusters_of_the_code, tensors_scalars_and_general_launches, a_variant_s_launches_replace_the_general_ones, arrays_of_tensor_maps_are_in_bytes, the_reference_s_default_launch,
          more_than_2_to_the_31_elements, scalars_are_rounded_to_nearest_even_and_checked, rules_of_launches, older_and_smaller_gpus, rules_of_tensor_maps,
          parameters_have_a_limit, what_no_point_can_mend_is_an_error, a_reference_that_can_t_run_is_an_error, every_allocation_may_fail)
