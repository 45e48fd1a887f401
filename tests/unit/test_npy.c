#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tuner/space/spec/npy.h"

static unsigned char bytes[4096];

/* A version-1 file with this dictionary and `data` bytes behind it; returns its length. */
static size_t make(const char *dictionary, size_t data)
{
    size_t header = strlen(dictionary);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)(header & 255);
    bytes[9] = (unsigned char)(header >> 8);
    memcpy(bytes + 10, dictionary, header);
    memset(bytes + 10 + header, 1, data);
    return 10 + header + data;
}

static mt_status parse(size_t length, mt_npy *npy, mt_error *err)
{
    *err = (mt_error){0};
    return mt_npy_parse("x.npy", bytes, length, length, npy, err);
}

static void refuses(size_t length, const char *part)
{
    mt_npy npy;
    mt_error err;
    ck_assert_int_eq(parse(length, &npy, &err), MT_ERR_SYNTAX);
    ck_assert_msg(strstr(err.message, part) && strncmp(err.message, "x.npy: ", 7) == 0, "%s", err.message);
}

START_TEST(reads_shapes_and_types)
{
    static const struct {
        const char *dictionary;
        mt_dtype dtype;
        size_t rank, data;
    } files[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", MT_F32, 2, 24},
        {"{'shape': (5,), 'fortran_order': False, 'descr': '<f2'}", MT_F16, 1, 10},
        {"{\"descr\": \"|u1\", \"fortran_order\": False, \"shape\": ()}", MT_U8, 0, 1},
        {"{'descr': '|V1', 'fortran_order': False, 'shape': (3,)}", MT_U8, 1, 3},
        {"{'descr': '<V2', 'fortran_order': False, 'shape': (0, 7)}", MT_BF16, 2, 0},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,2)}", MT_I64, 8, 16},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        mt_npy npy;
        mt_error err;
        ck_assert_msg(parse(make(files[i].dictionary, files[i].data), &npy, &err) == MT_OK, "%s", err.message);
        ck_assert_int_eq(npy.dtype, files[i].dtype);
        ck_assert_uint_eq(npy.rank, files[i].rank);
        ck_assert_uint_eq(npy.elements * mt_dtype_bytes(npy.dtype), files[i].data);
        ck_assert_uint_eq(npy.data_offset, 10 + strlen(files[i].dictionary));
    }
}
END_TEST

START_TEST(refuses_with_what_was_expected)
{
    refuses(make("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8), "little-endian");
    refuses(make("{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", 4), "big-endian (>u2): expected little-endian data");
    refuses(make("{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}", 8), "dtype |f4: expected one of f2 f4 f8");
    refuses(make("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -1)}", 8), "malformed");
    refuses(make("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16), "C order");
    refuses(make("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 16), "expected one of");
    refuses(make("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7), "expected 2 elements of 4 bytes");
    refuses(make("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9), "9 bytes of data");
    refuses(make("{'descr': '<f4', 'shape': (2,)}", 8), "malformed");
    refuses(make("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4), "at most 8 dimensions");
    refuses(make("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 8), "malformed");
    refuses(make("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}", 8), "expected 4611686018427387904");
    refuses(make("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8), "malformed");
    refuses(9, "not a .npy file");
    size_t length = make("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
    refuses(30, "cut short within its header: 30 bytes, expected 65 and the data");
    refuses(64, "cut short");
    refuses(65, "0 bytes of data: expected 2 elements of 4 bytes");
    bytes[6] = 9;
    refuses(length, "version 9");
}
END_TEST

START_TEST(compares_with_what_a_tensor_wants)
{
    const mt_npy npy = {.dtype = MT_F32, .rank = 2, .dims = {4, 5}};
    const int64_t same[] = {4, 5}, turned[] = {5, 4};
    mt_error err = {0};
    ck_assert_int_eq(mt_npy_expect(&npy, "v.npy", "value", MT_F32, same, 2, &err), MT_OK);
    ck_assert_int_eq(mt_npy_expect(&npy, "v.npy", "value", MT_F16, same, 2, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds f32[4,5]: expected f16[4,5]");
    ck_assert_int_eq(mt_npy_expect(&npy, "v.npy", "value", MT_F32, turned, 2, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds f32[4,5]: expected f32[5,4]");
    ck_assert_int_eq(mt_npy_expect(&npy, "v.npy", "value", MT_F32, same, 1, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds f32[4,5]: expected f32[4]");
    ck_assert_int_eq(mt_npy_expect(&(mt_npy){.dtype = MT_F32}, "v.npy", "value", MT_F32, same, 2, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds f32[]: expected f32[4,5]");
    ck_assert_int_eq(mt_npy_expect(&(mt_npy){.dtype = MT_U8, .rank = 2, .dims = {4, 5}}, "v.npy", "value", MT_F8E4M3, same, 2, &err), MT_OK);
    ck_assert_int_eq(mt_npy_expect(&(mt_npy){.dtype = MT_I8, .rank = 2, .dims = {4, 5}}, "v.npy", "value", MT_F8E5M2, same, 2, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds i8[4,5]: expected f8e5m2[4,5]");
    static const mt_dtype floats[] = {MT_F64, MT_F32, MT_F16}; /* an expected output */
    for (size_t i = 0; i < 3; i++) ck_assert_int_eq(mt_npy_expect_output(&(mt_npy){.dtype = floats[i], .rank = 2, .dims = {4, 5}}, "v.npy", "value", MT_BF16, same, 2, &err), MT_OK);
    ck_assert_int_eq(mt_npy_expect_output(&(mt_npy){.dtype = MT_I32, .rank = 2, .dims = {4, 5}}, "v.npy", "value", MT_F32, same, 2, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds i32[4,5]: expected f64, f32 or f16, of the shape [4,5]");
    ck_assert_int_eq(mt_npy_expect_output(&(mt_npy){.dtype = MT_F32, .rank = 1, .dims = {20}}, "v.npy", "value", MT_F16, same, 2, &err), MT_ERR_SPEC);
    ck_assert_str_eq(err.message, "value: v.npy holds f32[20]: expected f32[4,5]");
    ck_assert_int_eq(mt_npy_expect_output(&(mt_npy){.dtype = MT_F32, .rank = 2, .dims = {4, 5}}, "v.npy", "value", MT_I32, same, 2, &err), MT_ERR_SPEC);
}
END_TEST

START_TEST(maps_files)
{
    char path[] = "/tmp/mt-npy-XXXXXX";
    int fd = mkstemp(path);
    size_t length = make("{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}", 12);
    ck_assert_int_eq((int)write(fd, bytes, length), (int)length);
    close(fd);
    mt_npy_file file;
    mt_error err = {0};
    ck_assert_int_eq(mt_npy_open(path, &file, &err), MT_OK);
    ck_assert_int_eq(((const unsigned char *)file.data)[11], 1);
    mt_npy_close(&file);
    ck_assert_int_eq(truncate(path, (off_t)length - 1), 0);
    ck_assert_int_eq(mt_npy_open(path, &file, &err), MT_ERR_SYNTAX);
    ck_assert_msg(strncmp(err.message, path, strlen(path)) == 0 && strstr(err.message, "11 bytes of data: expected 3 elements of 4 bytes"), "%s", err.message);
    ck_assert_ptr_null(file.mapping);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(mt_npy_open(path, &file, &err), MT_ERR_SYNTAX);
    unlink(path);
    ck_assert_int_eq(mt_npy_open(path, &file, &err), MT_ERR_NOT_FOUND);
    ck_assert_int_eq(mt_npy_open("/tmp", &file, &err), MT_ERR_IO);
}
END_TEST

UNIT_MAIN("npy", reads_shapes_and_types, refuses_with_what_was_expected, compares_with_what_a_tensor_wants, maps_files)
