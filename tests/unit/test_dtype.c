#include "tests/unit/unit.h"
#include "tuner/space/dtype.h"

START_TEST(names_and_sizes)
{
    static const struct { const char *name; mt_dtype dtype; size_t bytes; bool is_float; } rows[] = {
        { "f16", MT_F16, 2, true }, { "bf16", MT_BF16, 2, true }, { "f32", MT_F32, 4, true }, { "f64", MT_F64, 8, true },
        { "i8", MT_I8, 1, false }, { "u8", MT_U8, 1, false }, { "i16", MT_I16, 2, false }, { "u16", MT_U16, 2, false },
        { "i32", MT_I32, 4, false }, { "u32", MT_U32, 4, false }, { "i64", MT_I64, 8, false }, { "u64", MT_U64, 8, false },
        { "f8e4m3", MT_F8E4M3, 1, true }, { "f8e5m2", MT_F8E5M2, 1, true },
    };
    ck_assert_uint_eq(sizeof rows / sizeof rows[0], MT_DTYPE_COUNT);
    for (size_t i = 0; i < MT_DTYPE_COUNT; i++) {
        mt_dtype dtype = MT_DTYPE_COUNT;
        ck_assert(mt_dtype_from_name(rows[i].name, &dtype));
        ck_assert_int_eq(dtype, rows[i].dtype);
        ck_assert_str_eq(mt_dtype_name(dtype), rows[i].name);
        ck_assert_uint_eq(mt_dtype_bytes(dtype), rows[i].bytes);
        ck_assert_int_eq(mt_dtype_is_float(dtype), rows[i].is_float);
    }
}
END_TEST

START_TEST(unknown_names)
{
    mt_dtype dtype = MT_I8;
    ck_assert(!mt_dtype_from_name("half", &dtype));
    ck_assert(!mt_dtype_from_name("F16", &dtype));
    ck_assert(!mt_dtype_from_name("", &dtype));
    ck_assert_int_eq(dtype, MT_I8);
}
END_TEST

UNIT_MAIN("dtype", names_and_sizes, unknown_names)
