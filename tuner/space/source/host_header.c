#include "tuner/space/source/host_header.h"

#include <stddef.h>
#include <string.h>

extern const unsigned char mt_host_math[], mt_host_cmath[], mt_host_string[], mt_host_float[], mt_host_cub[];

typedef struct stub {
    const char *name, *included; /* NULL: nothing */
    const char *code;            /* behind it; NULL: nothing */
} stub;

/* The names of cuda/std in std. NVRTC's own std::move and std::forward go in front. */
#define IN_STD "namespace std { using namespace cuda::std; }\n"
#define STRING_IN_STD "namespace std { using ::size_t; using ::memcpy; using ::memset; using ::memmove; using ::memcmp; using ::strlen; using ::strcmp; using ::strncmp; }\n"
/* That of cuda/std is no constant. */
#define CONSTANT_OFFSET "#undef offsetof\n#define offsetof(type, member) static_cast<size_t>(__INTADDR__(&((type *)0)->member))\n"

static const stub stubs[] = {
    {"assert.h", NULL, NULL}, /* NVRTC has assert, printf, malloc, bool without a header */
    {"cassert", NULL, NULL},
    {"stdio.h", NULL, NULL},
    {"cstdio", NULL, "namespace std { using ::printf; }\n"},
    {"stdbool.h", NULL, NULL},
    {"stdlib.h", NULL, NULL},
    {"cstdlib", NULL, "namespace std { using ::size_t; using ::abs; using ::labs; using ::llabs; using ::malloc; using ::free; }\n"},
    {"stddef.h", "cuda/std/cstddef", CONSTANT_OFFSET "using cuda::std::max_align_t;\n"},
    {"cstddef", "cuda/std/cstddef", CONSTANT_OFFSET IN_STD},
    {"stdint.h", "cuda/std/cstdint", NULL},
    {"cstdint", "cuda/std/cstdint", IN_STD},
    {"limits.h", "cuda/std/climits", NULL},
    {"climits", "cuda/std/climits", NULL},
    {"float.h", NULL, (const char *)mt_host_float},
    {"cfloat", "float.h", NULL},
    {"math.h", NULL, (const char *)mt_host_math},
    {"cmath", "math.h", (const char *)mt_host_cmath},
    {"string.h", NULL, (const char *)mt_host_string},
    {"cstring", "string.h", STRING_IN_STD},
    {"iso646.h", NULL, NULL}, /* and, or and not are words of C++ */
    {"ciso646", NULL, NULL},
    {"new", NULL, NULL}, /* as above */
    {"version", "cuda/std/version", NULL},
    {"algorithm", "cuda/std/__algorithm_", IN_STD},
    {"cub/cub.cuh", NULL, (const char *)mt_host_cub}, /* in the toolkit, and half of it for the host */
};

/* Those that cuda/std has by the same name. */
static const char *const same_name[] = {
    "array", "atomic", "barrier", "bit", "bitset", "chrono", "concepts", "expected", "functional", "initializer_list", "iterator", "latch", "limits", "mdspan", "memory",
    "numbers", "numeric", "optional", "ranges", "ratio", "semaphore", "source_location", "span", "tuple", "type_traits", "utility", "variant",
};

static const struct {
    const char *name, *instead;
} others[] = {
    {"iostream", "printf, which needs no header"}, {"ostream", "printf, which needs no header"}, {"sstream", "printf, which needs no header"},
    {"iomanip", "printf, which needs no header"}, {"vector", "<array>, or a pointer that an argument gives"}, {"string", "const char *"}, {"string_view", "const char *"},
    {"random", "<curand_kernel.h>"}, {"complex", "<cuda/std/complex>"}, {"complex.h", "<cuComplex.h>"}, {"mutex", "<atomic>"}, {"thread", "<atomic>"}, {"stdexcept", "assert"}, {"exception", "assert"},
    {"time.h", "clock64()"}, {"ctime", "clock64()"}, {"stdarg.h", "a template with a parameter pack"}, {"cstdarg", "a template with a parameter pack"},
    {"map", "<array>"}, {"unordered_map", "<array>"}, {"set", "<array>"}, {"list", "<array>"}, {"deque", "<array>"}, {"queue", "<array>"}, {"stack", "<array>"}, {"any", "<variant>"}, {"fenv.h", "intrinsics such as __fadd_rn"}, {"cfenv", "intrinsics such as __fadd_rn"}, {"inttypes.h", "<stdint.h>"}, {"cinttypes", "<cstdint>"},
    {"fstream", NULL}, {"future", NULL}, {"filesystem", NULL}, {"unistd.h", NULL}, {"errno.h", NULL}, {"cerrno", NULL}, {"ctype.h", NULL}, {"cctype", NULL}, {"signal.h", NULL},
    {"locale", NULL}, {"regex", NULL}, {"compare", NULL}, {"charconv", NULL}, {"typeinfo", NULL}, {"immintrin.h", NULL}, {"sys/types.h", NULL}, {"sys/time.h", NULL}, {"pthread.h", NULL}, {"omp.h", NULL}, {"mpi.h", NULL},
};

bool mt_host_header_stub(const char *name, mt_strbuf *text)
{
    for (size_t i = 0; i < sizeof stubs / sizeof stubs[0]; i++) {
        if (strcmp(stubs[i].name, name) != 0) continue;
        mt_strbuf_add(text, "#pragma once\n");
        if (stubs[i].included) mt_strbuf_addf(text, "#include <%s>\n", stubs[i].included);
        if (stubs[i].code) mt_strbuf_add(text, stubs[i].code);
        return true;
    }
    for (size_t i = 0; i < sizeof same_name / sizeof same_name[0]; i++) {
        if (strcmp(same_name[i], name) != 0) continue;
        mt_strbuf_addf(text, "#pragma once\n#include <cuda/std/%s>\n%s", name, IN_STD);
        return true;
    }
    return false;
}

const char *mt_host_header_instead(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].name, name) == 0) return others[i].instead ? others[i].instead : "#ifndef __CUDACC_RTC__ around the #include";
    return NULL;
}
