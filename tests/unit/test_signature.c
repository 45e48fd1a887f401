/* What a declaration of a kernel tells: names, types, what the body reads and writes, its name in compiled code. */
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature.h"

#include <string.h>

/* "entry symbol: TYPE parameter access, …" of each kernel; access: r, w, rw of a pointer. */
static char *described(const char *source)
{
    mt_signatures all;
    mt_error err = {0};
    mt_strbuf out = {0};
    ck_assert_int_eq(mt_signatures_read(source, &all, &err), MT_OK);
    for (size_t i = 0; i < all.count; i++) {
        const mt_signature *kernel = &all.items[i];
        mt_strbuf_addf(&out, "%s%s %s%s%s", i ? "; " : "", kernel->entry, kernel->symbol ? kernel->symbol : "?", kernel->is_template ? " template" : "", kernel->has_rows ? " rows" : "");
        for (size_t k = 0; k < kernel->take_count; k++) {
            const mt_template_parameter *take = &kernel->takes[k];
            mt_strbuf_addf(&out, " %s%s%s%s", take->is_other ? "?" : take->is_type ? "type " : take->is_bool ? "bool " : "", take->name, take->standard ? "=" : "", take->standard ? take->standard : "");
        }
        for (size_t axis = 0; axis < 3; axis++)
            if (kernel->steps[axis]) mt_strbuf_addf(&out, " %c:%s", "xyz"[axis], kernel->steps[axis]);
        for (size_t axis = 0; axis < 3; axis++) {
            int bound = kernel->rows[axis].bound;
            if (kernel->rows[axis].is_alone) mt_strbuf_addf(&out, " rows.%c%s%s%s%s", "xyz"[axis], bound >= 0 ? "<" : "", bound >= 0 ? kernel->parameters[bound].name : "", kernel->rows[axis].factor ? "*" : "", kernel->rows[axis].factor ? kernel->rows[axis].factor : "");
        }
        if (kernel->bounds) mt_strbuf_addf(&out, " bounds:%s", kernel->bounds);
        if (kernel->has_dynamic_smem) mt_strbuf_addf(&out, " smem:%d", kernel->dynamic_bytes);
        mt_strbuf_add(&out, kernel->has_grid_barrier ? " barrier:" : ":");
        for (size_t k = 0; k < kernel->parameter_count; k++) {
            const mt_parameter *p = &kernel->parameters[k];
            mt_strbuf_addf(&out, "%s %s%s%.*s %s", k ? "," : "", p->is_const && p->pointers ? "const " : "", p->dtype ? p->dtype : p->type, p->pointers, "****", p->name);
            if (p->pointers) mt_strbuf_addf(&out, " %s%s%s", p->is_read ? "r" : "", p->is_written ? "w" : "", p->is_added ? "+" : "");
            if (p->row_axes) mt_strbuf_addf(&out, " axes:%u", p->row_axes);
            if (p->pointers && p->is_index) mt_strbuf_addf(&out, " index:%d+%d", p->index_factor, p->extra);
            if (p->is_positive) mt_strbuf_add(&out, " positive");
        }
    }
    mt_signatures_free(&all);
    char *text = mt_strdup(mt_strbuf_text(&out));
    mt_strbuf_free(&out);
    return text;
}

static const struct {
    const char *source, *expected;
} cases[] = {
    {"extern \"C\" __global__ void k(const float *__restrict__ a, float *b, int n) { b[0] = a[n]; }", "k k: const f32* a r, f32* b w, i32 n"},
    {"__global__ void k(float a[], int const n) { a[n] += 1; }", "k _Z1kPfi: f32* a rw, i32 n"},
    {"__global__ void k(const float *a, const float *b, float *c) { c[0] = a[0]; }", "k _Z1kPKfS0_Pf: const f32* a r, const f32* b r, f32* c w"},
    {"__global__ void k(float *a, const float *b, float *c) { c[0] = a[0]; }", "k _Z1kPfPKfS_: f32* a r, const f32* b r, f32* c w"},
    {"__global__ void k(__nv_fp8_e4m3 *a, const __nv_fp8x4_e5m2 *b) { a[0] = f(b[0]); }", "k _Z1kP13__nv_fp8_e4m3PK15__nv_fp8x4_e5m2: f8e4m3* a w, const f8e5m2* b r"},
    {"__global__ void k(half *a, const __nv_bfloat16 *b, const half *c) { *a = *c; }", "k _Z1kP6__halfPK13__nv_bfloat16PKS_: f16* a w, const bf16* b r, const f16* c r"},
    {"static __global__ __launch_bounds__(128, 2) void k(unsigned *a, unsigned int n, long long m, size_t s) { atomicAdd(&a[0], n); }", "k _Z1kPjjxm bounds:128: u32* a rw+, u32 n, i64 m, u64 s"},
    {"__global__ void\n__launch_bounds__(N * (2))\nk(int *a) { a[threadIdx.y] = blockIdx.x; }", "k _Z1kPi rows bounds:N * (2): i32* a w"},
    {"__global__ void k(float *a, int *b, int *c) { atomicAdd(a, 1.f); atomicMax(&b[3], 1); if (atomicAdd(c, 1) == 3) c[1] = 0; }", "k _Z1kPfPiS0_: f32* a rw+, i32* b rw+, i32* c rw"},
    {"__global__ void k(float *a) { other(a); }", "k _Z1kPf: f32* a rw"},
    {"__global__ void k(float4 *a, int *b) { a[0].x = 1; b[0]++; }", "k _Z1kP6float4Pi: f32* a w, i32* b rw"},
    {"__global__ void k(float *a, float *b) { a[0] = b[0] == a[1]; }", "k _Z1kPfS_: f32* a rw, f32* b r"},
    {"__global__ void k() { }\n__global__ void l(void) { }", "k _Z1kv:; l _Z1lv:"},
    {"__global__ void k(float *, int) { }", "k _Z1kPfi: f32* arg1 rw, i32 arg2"},
    {"template <typename T, int N> __global__ void k(T *a) { *a = N; }\n__global__ void l(int *a) { *a = 1; }", "k ? template type T N: T* a w; l _Z1lPi: i32* a w"},
    {"template <class T = Pair<int, 2>, bool B = (1 > 2), unsigned int N = 3 * (2), typename... P, Mode M, template <class> class V, const int C> __global__ void k() { }\ntemplate <> void f() { }\ntemplate __global__ void k<int>();", "k ? template type T=Pair<int, 2> bool B=(1 > 2) N=3 * (2) ?P ?M ?V C:"},
    {"namespace n { __global__ void k(int *a) { *a = 1; } }\n__global__ void l(int *a) { *a = 1; }", "n::k ?: i32* a w; l _Z1lPi: i32* a w"},
    {"extern \"C\" {\n__device__ int d() { return 1; }\n__global__ void k(int *a) { *a = d(); } }\n__global__ void l(int *a) { *a = 1; }", "k k: i32* a w; l _Z1lPi: i32* a w"},
    {"// __global__ void no(int *a) {}\n/* __global__ void no(int *a) {} */\n#define NO __global__ void no(int *a) {}\nconst char *t = \"__global__ void no() {}\";\n__global__ void k(int *a);\n__global__ void k(int *a) { *a = '}'; a[1] = 2; }", "k _Z1kPi: i32* a w"},
    {"__global__ void k(const Pair<int, 3> pair, uint64_t *a) { *a = pair.x; }", "k ?: Pair<int,3> pair, u64* a w"},
    {"__global__ void k(float *a, int n = 3, bool b = (1 > 2)) { a[n] = b; }", "k _Z1kPfib: f32* a w, i32 n, u8 b"},
    {"__global__ void k(int unsigned *a, long int b, signed c) { *a = b; }", "k _Z1kPjli: u32* a w, i64 b, i32 c"},
    {"typedef __nv_bfloat16 bf16;\n#define real float // as we like\nusing index_t = long int;\ntypedef real value_type;\n__global__ void k(bf16 *a, const real *b, index_t n, value_type v) { a[n] = b[n] * v; }", "k _Z1kP13__nv_bfloat16PKflf: bf16* a w, const f32* b r, i64 n, f32 v"},
    {"typedef a b; typedef b a;\nusing x = x;\n__global__ void k(a *p, x *q) { *p = *q; }", "k ?: a* p w, x* q r"},
    /* namespaces */
    {"namespace a::b { namespace { struct S { int x; }; __global__ void k() { } } inline namespace v { __global__ void l() { } extern \"C\" __global__ void c() { } } }\nnamespace q = a::b;\n__global__ void m() { }", "a::b::k ?:; a::b::v::l ?:; c c:; m _Z1mv:"},
    {"#if 0\nnamespace n {\n# if X\n# endif\n__global__ void k() { }\n#else\n__global__ void l() { }\n#endif", "l _Z1lv:"},
    {"#if X\n__global__ void k(float *a)\n#else\n__global__ void k(double *a)\n#endif\n{ *a = 1; }", "k _Z1kPd: f64* a w"},
    /* what blocks must be */
    {"__global__ void k() { int x = blockIdx.x * TILE + threadIdx.x, y = ROWS * blockIdx.y + threadIdx.y, z = threadIdx.z + blockIdx.z * (4); }", "k _Z1kv rows x:TILE y:ROWS z:4:"},
    {"__global__ void k() { int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y, x = bx * TS + tx, y = ty + by * ROWS; }", "k _Z1kv rows x:TS y:ROWS:"},
    {"__global__ void k() { int bx = blockIdx.x, t = threadIdx.y, x = TS * bx + t, y = bx * 4 + 1; }", "k _Z1kv rows:"},
    {"__global__ void k() { int x = (blockIdx.x * 16) + threadIdx.x; }", "k _Z1kv x:16:"},
    {"__global__ void k(int n) { for (int i = threadIdx.x; i < n; i += TPB) {} }", "k _Z1ki x:TPB: i32 n"},
    {"__global__ void k(int n) { for (int i = threadIdx.x; i < n; i += TPB * gridDim.x) {} }", "k _Z1ki: i32 n"},
    {"__global__ void k(int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) {} }", "k _Z1ki: i32 n"},
    {"__global__ void k() { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y; }", "k _Z1kv rows:"},
    {"__global__ void k() { int x = blockIdx.x * TILE * WORK + threadIdx.x, y = blockIdx.y * TILE; }", "k _Z1kv rows:"},
    {"__global__ void k() { extern __shared__ __align__(16) unsigned char s[]; auto g = cg::this_grid(); }", "k _Z1kv smem:1 barrier:"},
    {"__global__ void k() { extern __shared__ float4 s[]; }\n__global__ void l() { extern __shared__ Pair s[]; }", "k _Z1kv smem:16:; l _Z1lv smem:0:"},
    /* launch bounds, wherever they stand; blocks of rows */
    {"__launch_bounds__(128) __global__ void k();\n__global__ void k() { }", "k _Z1kv:"},
    {"__launch_bounds__(128) __global__ void k() { }\n__global__ void l() { }", "k _Z1kv bounds:128:; l _Z1lv:"},
    {"__global__ void __launch_bounds__((2) * N, 3) k() { }", "k _Z1kv bounds:(2) * N:"},
    {"__global__ void k(float *a, int n, int m) { int r = blockIdx.x; a[r * n + threadIdx.x] = 1; }", "k _Z1kPfii rows.x: f32* a w, i32 n axes:1, i32 m"},
    {"__global__ void k(float *a, int n, int m) { for (int r = static_cast<int>(blockIdx.x); r < n; r += gridDim.x) a[r] = 1; }", "k _Z1kPfii rows.x<n: f32* a w, i32 n, i32 m"},
    {"__global__ void k(float *a, int n) { a += (size_t)blockIdx.y * n * D; if (n > blockIdx.x) *a = blockIdx.x; }", "k _Z1kPfi rows rows.x<n rows.y*D: f32* a rw, i32 n axes:2"},
    {"__global__ void k(float *a, int n) { int b = blockIdx.x; a[b * blockDim.x + threadIdx.x] = a[b]; }", "k _Z1kPfi: f32* a rw, i32 n"},
    {"__global__ void k(float *a, int n) { int b = blockIdx.y * gridDim.x + blockIdx.x, i = b * 32; a[i] = 1; }", "k _Z1kPfi rows: f32* a w, i32 n"},
    {"__global__ void k(float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[blockIdx.x] = i; }", "k _Z1kPfi: f32* a w, i32 n"},
    {"__global__ void k(float *a, int n) { int t = static_cast<long>(blockIdx.x) * blockDim.x; a[t + blockIdx.x] = n; }", "k _Z1kPfi: f32* a w, i32 n"},
    /* what elements are for */
    {"__global__ void k(float *a, const int *i, const int *r, const int *s, int w) { int t = r[0]; a[i[1]] = a[t * w] + a[s[w + 1] * 3]; }", "k _Z1kPfPKiS1_S1_i: f32* a rw, const i32* i r index:0+0, const i32* r r index:5+0, const i32* s r index:-1+1, i32 w"},
    {"__global__ void k(float *a, const float *b, const float *c, const float *d, const float *e) { float v = b[0]; a[0] = logf(v) / c[1] + sqrtf(1 - d[2]) + powf(2, a[1] + 1) + e[0]; }", "k _Z1kPfPKfS1_S1_S1_: f32* a rw positive, const f32* b r positive, const f32* c r positive, const f32* d r, const f32* e r"},
    {"__global__ void k(const void *a, void *b, const void *c, float *d) { *d = ((const half *)a)[0] + *static_cast<int *>(b) + f(c); }", "k ?: const f16* a r, i32* b rw, const void* c r, f32* d w"},
    {"const char *t = R\"x(\"; __global__ void no(int *a) {} )\" )x\";\n__global__ void k(int *a) { *a = 1; }", "k _Z1kPi: i32* a w"},
    {"const char *t = R\"(", ""}, {"const char *t = R\"", ""},
    {"__global__", ""}, {"__global__ void", ""}, {"__global__ void k(", ""}, {"__global__ void k(int *a) {", "k _Z1kPi: i32* a rw"}, {"__global__ void k(int *a) { a[", "k _Z1kPi: i32* a r"}, {"\"", ""}, {"/*", ""}, {"}}}}{{{{", ""}, {"", ""},
};

START_TEST(kernels_as_they_are_declared)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = described(cases[i].source);
        ck_assert_msg(strcmp(text, cases[i].expected) == 0, "%s\n  is read as %s\n  expected   %s", cases[i].source, text, cases[i].expected);
        mt_free(text);
    }
}
END_TEST

/* No cut source reads behind its end, and none stays in a loop. */
START_TEST(sources_cut_anywhere)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t length = strlen(cases[i].source); length-- > 0;) {
            char *copy = mt_strndup(cases[i].source, length), *text = described(copy);
            mt_free(text);
            mt_free(copy);
        }
}
END_TEST

UNIT_MAIN("signature", kernels_as_they_are_declared, sources_cut_anywhere)
