#include "tuner/space/dtype.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
    bool is_float;
} dtypes[MT_DTYPE_COUNT] = {
    [MT_F16] = { "f16", 2, true }, [MT_BF16] = { "bf16", 2, true }, [MT_F32] = { "f32", 4, true },  [MT_F64] = { "f64", 8, true },
    [MT_I8] = { "i8", 1, false },  [MT_U8] = { "u8", 1, false },    [MT_I16] = { "i16", 2, false }, [MT_U16] = { "u16", 2, false },
    [MT_I32] = { "i32", 4, false }, [MT_U32] = { "u32", 4, false }, [MT_I64] = { "i64", 8, false }, [MT_U64] = { "u64", 8, false },
};

bool mt_dtype_from_name(const char *name, mt_dtype *dtype)
{
    for (size_t i = 0; i < MT_DTYPE_COUNT; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *dtype = (mt_dtype)i;
            return true;
        }
    }
    return false;
}

const char *mt_dtype_name(mt_dtype dtype)
{
    assert((size_t)dtype < MT_DTYPE_COUNT);
    return dtypes[dtype].name;
}

size_t mt_dtype_bytes(mt_dtype dtype)
{
    assert((size_t)dtype < MT_DTYPE_COUNT);
    return dtypes[dtype].bytes;
}

bool mt_dtype_is_float(mt_dtype dtype)
{
    assert((size_t)dtype < MT_DTYPE_COUNT);
    return dtypes[dtype].is_float;
}
