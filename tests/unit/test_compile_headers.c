/* Hints for headers: by who includes what is not there. That these are the real compiler's texts, tests/integration/check_reasons.sh holds. */
#include "tests/unit/unit.h"
#include "tuner/gpu/compile/compile_headers.h"

#include "tuner/base/strbuf.h"
#include "tuner/base/toolkit.h"

#define NO_FILE(includer, name) includer "(1): catastrophic error: cannot open source file \"" name "\"\n"

START_TEST(by_who_includes)
{
    static const struct {
        const char *log, *include_dir, *expected;
    } cases[] = {
        {"x.cu(1): catastrophic error: could not open source file \"mine.cuh\" (no directories in search list)\n", NULL,
         "msda-tune: no CUDA headers found for mine.cuh: set CUDA_HOME to the toolkit whose include folder has it, or install " MT_TOOLKIT_PARTS " (searched /a, /b)\n"},
        {"x.cu(1): catastrophic error: could not open source file \"mine.cuh\" (no directories in search list)\n", "/c/include",
         "msda-tune: mine.cuh is neither beside the source, nor in a folder of [kernel] include, nor in /c/include\n"},
        {NO_FILE("x.cu", "mine.cuh"), "/c/include", "msda-tune: mine.cuh is neither beside the source, nor in a folder of [kernel] include, nor in /c/include\n"},
        {NO_FILE("sub/y.cuh", "mine.cuh"), "/c/include", "msda-tune: mine.cuh is neither beside the source, nor in a folder of [kernel] include, nor in /c/include\n"},
        {NO_FILE("x.cu", "made.cuh"), "/c/include", "msda-tune: made.cuh is a name that macros make, which the tool does not expand: expected a plain #include of it too; one inside #if 0 does\n"},
        {NO_FILE("x.cu", "vector"), "/c/include", "msda-tune: vector is a header of the host, which code for the GPU can't include: expected <array>, or a pointer that an argument gives, or [kernel] compiler = nvcc\n"},
        {NO_FILE("stdint.h", "bits/a.h"), "/c/include", "msda-tune: /usr/include/stdint.h is a header of the host, which code for the GPU can't include: expected no folder of the host's headers in [kernel] include or -I\n"},
        {NO_FILE("cstdint", "cuda/std/cstdint"), "/c/include",
         "msda-tune: <cstdint> needs the toolkit's <cuda/std/cstdint>, which is not in /c/include: expected a CUDA_HOME whose include folder has it, or its cccl folder\n"},
        {"1 catastrophic error\n" NO_FILE("/c/include/cub/device/device_for.cuh", "cstdint"), "/c/include",
         "msda-tune: /c/include/cub/device/device_for.cuh, a header of the toolkit, includes the host's cstdint, which code for the GPU can't: expected of CUB <cub/cub.cuh>, or those of cub/block/ and cub/warp/; of Thrust none\n"},
        {NO_FILE("/c/include/cuda.h", "stdlib.h"), "/c/include",
         "msda-tune: /c/include/cuda.h, a header of the toolkit, includes the host's stdlib.h, which code for the GPU can't: expected no #include of it, a declaration of what the kernel takes, such as struct alignas(64) CUtensorMap { char bytes[128]; }, or [kernel] compiler = nvcc\n"},
        {NO_FILE("/c/include/cublas_api.h", "vector"), "/c/include",
         "msda-tune: /c/include/cublas_api.h, a header of the toolkit, includes the host's vector, which code for the GPU can't: expected a header for kernels, or #ifndef __CUDACC_RTC__ around the #include\n"},
        {NO_FILE("/c/include/mma.h", "crt/mma.h"), "/c/include",
         "msda-tune: /c/include/mma.h, a header of the toolkit, includes crt/mma.h, which is not in /c/include: expected a CUDA_HOME whose include folder has both\n"},
        {"/c/include/cufft.h(9): error: A function explicitly marked as a __host__ function is not allowed in JIT mode\n", "/c/include",
         "msda-tune: /c/include/cufft.h, a header of the toolkit, declares functions of the host, which code for the GPU can't: expected a header for kernels, or #ifndef __CUDACC_RTC__ around the #include\n"},
        {"x.cu(9): error: A function explicitly marked as a __host__ function is not allowed in JIT mode\n", "/c/include",
         "msda-tune: x.cu(9) is code for the host, which is not compiled here: expected #ifndef __CUDACC_RTC__ around it, __device__ in front of it, or [kernel] compiler = nvcc\n"},
        {"/c/include/cufft.h(8): error: expected an identifier\n/c/include/cufft.h(9): error: A function explicitly marked as a __host__ function is not allowed in JIT mode\n", "/c/include", ""},
        {"/c/include/cufft.h(9): error: A function that is not there\n", "/c/include", ""},
        {"x.cu(1): error: identifier \"y\" is undefined\n", "/c/include", ""},
    };
    mt_source_file files[] = {{"x.cu", "/there/x.cu", "#include \"mine.cuh\"\n#include <vector>\n"}, {"sub/y.cuh", "/there/sub/y.cuh", ""}, {"cstdint", "msda-tune: cstdint", "#include <cuda/std/cstdint>\n"}, {"stdint.h", "/usr/include/stdint.h", "#include <bits/a.h>\n"}};
    const mt_source source = {.files = files, .file_count = 4};
    const mt_compile_request request = {.source = &source};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mt_strbuf text = {0};
        mt_compile_header_hints(&request, cases[i].log, cases[i].include_dir, "/a, /b", &text);
        ck_assert_str_eq(mt_strbuf_text(&text), cases[i].expected);
        mt_strbuf_free(&text);
    }
}
END_TEST

UNIT_MAIN("compile_headers", by_who_includes)
