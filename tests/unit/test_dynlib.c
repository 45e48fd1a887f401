#include <stdlib.h>
#include <string.h>

#include "tests/unit/fakes.h"
#include "tests/unit/unit.h"
#include "tuner/gpu/device/api.h"
#include "tuner/gpu/dynlib.h"

START_TEST(names_what_was_tried)
{
    static const char *const names[] = {"libnot_there_either.so.1", "/nowhere/lib*/libnot.so"};
    mt_strbuf tried = {0};
    unsetenv("MSDA_TUNE_TEST_LIB");
    ck_assert_ptr_null(mt_dynlib_open("MSDA_TUNE_TEST_LIB", names, 2, &tried));
    ck_assert_str_eq(mt_strbuf_text(&tried), "libnot_there_either.so.1, /nowhere/lib*/libnot.so");
    mt_strbuf_free(&tried);
}
END_TEST

START_TEST(a_variable_is_not_replaced_by_another_library)
{
    static const char *const names[] = {"libc.so.6"};
    mt_strbuf tried = {0};
    setenv("MSDA_TUNE_TEST_LIB", "/nowhere/libx.so", 1);
    ck_assert_ptr_null(mt_dynlib_open("MSDA_TUNE_TEST_LIB", names, 1, &tried));
    ck_assert_ptr_nonnull(strstr(mt_strbuf_text(&tried), "MSDA_TUNE_TEST_LIB=/nowhere/libx.so"));
    mt_strbuf_free(&tried);
    setenv("MSDA_TUNE_TEST_LIB", "libc.so.6", 1);
    void *handle = mt_dynlib_open("MSDA_TUNE_TEST_LIB", NULL, 0, NULL);
    ck_assert_ptr_nonnull(handle);
    mt_dynlib_close(handle);
}
END_TEST

START_TEST(required_and_optional_symbols)
{
    static const char *const names[] = {"libc.so.6"};
    void *malloc_address = NULL, *absent = &absent;
    void *handle = mt_dynlib_open(NULL, names, 1, NULL);
    const mt_dynlib_symbol optional[] = {{"malloc", &malloc_address, true}, {"no_such_symbol", &absent, false}};
    ck_assert_ptr_null(mt_dynlib_symbols(handle, optional, 2));
    ck_assert_ptr_nonnull(malloc_address);
    ck_assert_ptr_null(absent);
    const mt_dynlib_symbol required[] = {{"no_such_symbol", &absent, true}};
    ck_assert_str_eq(mt_dynlib_symbols(handle, required, 1), "no_such_symbol");
    mt_dynlib_close(handle);
}
END_TEST

START_TEST(the_fake_driver_answers_the_whole_list)
{
    mt_cuda_api api;
    mt_error err = {0};
    ck_assert_int_eq(mt_cuda_open(&api, &err), MT_OK);
#define CHECK_FUNCTION(name, version) ck_assert_msg(api.name != NULL, #name);
    MT_CUDA_MAP(CHECK_FUNCTION)
    MT_CUDA_OPTIONAL_MAP(CHECK_FUNCTION)
    ck_assert_str_eq(mt_cuda_error_name(&api, CUDA_ERROR_ILLEGAL_ADDRESS), "CUDA_ERROR_ILLEGAL_ADDRESS");
    ck_assert_str_eq(mt_cuda_error_name(&api, (CUresult)12345), "unknown CUDA error");
    mt_cuda_close(&api);
    ck_assert_ptr_null(api.handle);
}
END_TEST

START_TEST(no_driver_is_no_gpu)
{
    mt_cuda_api api;
    mt_error err = {0};
    setenv("MSDA_TUNE_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    ck_assert_int_eq(mt_cuda_open(&api, &err), MT_ERR_NO_GPU);
    ck_assert_ptr_nonnull(strstr(err.message, "/nowhere/libcuda.so.1"));
    setenv("MSDA_TUNE_LIBCUDA", "libc.so.6", 1); /* a library, but no driver */
    ck_assert_int_eq(mt_cuda_open(&api, &err), MT_ERR_NO_GPU);
    ck_assert_ptr_nonnull(strstr(err.message, "CUDA 12.0"));
}
END_TEST

START_TEST(which_errors_break_the_context)
{
    static const CUresult sticky[] = {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_ASSERT,
                                      CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_UNKNOWN};
    static const CUresult harmless[] = {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                                        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_NOT_FOUND, CUDA_ERROR_INVALID_CLUSTER_SIZE};
    for (size_t i = 0; i < sizeof sticky / sizeof sticky[0]; i++) ck_assert_msg(mt_cuda_is_sticky(sticky[i]), "%d", (int)sticky[i]);
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) ck_assert_msg(!mt_cuda_is_sticky(harmless[i]), "%d", (int)harmless[i]);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {names_what_was_tried, a_variable_is_not_replaced_by_another_library, required_and_optional_symbols,
                                  the_fake_driver_answers_the_whole_list, no_driver_is_no_gpu, which_errors_break_the_context};
    fakes_select();
    return unit_run("dynlib", tests, sizeof tests / sizeof tests[0]);
}
