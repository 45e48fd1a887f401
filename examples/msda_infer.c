/* From a tuning database, or a pack, to a checked result: asks for msda's best variant on this GPU, loads the winner's cubin, launches it, and compares some outputs with a
 * computation on the CPU.
 *
 *     msda_infer DATABASE          exit 0: right, 1: wrong or an error, 77: no GPU, or nothing tuned for it
 *
 * libcuda is loaded with dlopen, so that the program builds and starts where there is none. One that links it needs neither `driver` nor TUNELOOKUP_CU. */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* name as in cuda.h, whose macros lead to the current version of each function */
#define DRIVER_FUNCTIONS(X)                                                                                                                       \
    X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain)     \
    X(cuCtxSetCurrent) X(cuModuleLoadData) X(cuModuleGetFunction) X(cuMemAlloc) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuCtxSynchronize) \
    X(cuFuncSetAttribute) X(cuTensorMapEncodeTiled) X(cuLaunchKernelEx)
#define DECLARE(name) __typeof__(name) *name;
static struct { DRIVER_FUNCTIONS(DECLARE) } driver;
#define TUNELOOKUP_CU(name) (driver.name)
#include <tunelookup_cuda.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static void die(int code, const char *what, const char *why)
{
    fprintf(stderr, "msda_infer: %s: %s\n", what, why);
    exit(code);
}

static void cu(CUresult code, const char *what)
{
    char text[32];
    snprintf(text, sizeof text, "CUDA error %d", (int)code);
    if (code != CUDA_SUCCESS) die(1, what, code == CUDA_ERROR_INVALID_VALUE && *tunelookup_detail() ? tunelookup_detail() : text);
}

static void ask(tunelookup_status status, const char *what)
{
    if (status) die(1, what, *tunelookup_detail() ? tunelookup_detail() : tunelookup_strerror(status));
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* ---- the device ---- */

static void load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) die(77, "no CUDA driver", dlerror());
#define LOAD(name)                                                                   \
    *(void **)(void *)&driver.name = dlsym(library, TEXT(name));                     \
    if (!driver.name) die(77, "the driver is too old", "it lacks " TEXT(name));
    DRIVER_FUNCTIONS(LOAD)
    if (driver.cuInit(0) != CUDA_SUCCESS) die(77, "cuInit", "no usable GPU");
}

/* ---- the problem: shape seed48 of search_spaces/msda.ini ---- */

enum { N = 48, M = 1, D = 32, P = 8, LQ = 15422, L = 4, S = 92 * 160 + 46 * 80 + 23 * 40 + 12 * 20 };
static const int heights[L] = { 92, 46, 23, 12 }, widths[L] = { 160, 80, 40, 20 };
static const char *const names[] = { "N", "M", "D", "P", "Lq", "H[0]", "H[1]", "H[2]", "H[3]", "W[0]", "W[1]", "W[2]", "W[3]",
                                     "S", "START[0]", "START[1]", "START[2]", "START[3]", "dtype=f16", "loc_dtype=f32", "attn=weights", "queries=grid" };
static const int64_t values[] = { N, M, D, P, LQ, 92, 46, 23, 12, 160, 80, 40, 20, S, 0, 14720, 18400, 19320 };
static const int32_t levels[L][3] = { { 92, 160, 0 }, { 46, 80, 14720 }, { 23, 40, 18400 }, { 12, 20, 19320 } }; /* what variants with run-time sizes read */

static uint64_t state = 1;

static float uniform(void) /* [0, 1) */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(state >> 40) * 0x1p-24f;
}

/* f16 of magnitudes between 2^-14 and 1, cut instead of rounded: then both sides see the same number. */
static uint16_t half_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 23 & 0xff) - 127;
    return exponent < -14 ? 0 : (uint16_t)((bits >> 16 & 0x8000) | (uint32_t)(exponent + 15) << 10 | (bits >> 13 & 0x3ff));
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double magnitude = exponent ? ldexp(1024 + (bits & 1023), exponent - 25) : ldexp(bits & 1023, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

typedef struct host_data {
    uint16_t *value, *out; /* [N][S][M][D], [N][LQ][M*D] */
    float *loc, *attn;     /* [N][LQ][M][L][P][2], [N][LQ][M][L][P] */
} host_data;

static host_data make_data(void)
{
    const size_t points = (size_t)N * LQ * M * L * P, value_count = (size_t)N * S * M * D;
    host_data h = { malloc(value_count * 2), malloc((size_t)N * LQ * M * D * 2), malloc(points * 8), malloc(points * 4) };
    if (!h.value || !h.out || !h.loc || !h.attn) die(1, "host memory", "not enough");
    for (size_t i = 0; i < value_count; i++) h.value[i] = half_bits(uniform() - 0.5f);
    for (size_t i = 0; i < 2 * points; i++) h.loc[i] = uniform();
    for (size_t i = 0; i < points; i++) h.attn[i] = uniform() / (L * P);
    return h;
}

static double pixel(const host_data *h, size_t n, size_t first, int l, int row, int column, int d)
{
    if (row < 0 || row >= heights[l] || column < 0 || column >= widths[l]) return 0;
    return half_value(h->value[((n * S + first + (size_t)row * (size_t)widths[l] + (size_t)column) * M) * D + (size_t)d]);
}

static double expected(const host_data *h, size_t n, size_t q, int d)
{
    double sum = 0;
    size_t first = 0;
    for (int l = 0; l < L; l++) {
        for (size_t p = 0; p < P; p++) {
            size_t point = ((n * LQ + q) * L + (size_t)l) * P + p;
            double x = (double)h->loc[2 * point] * widths[l] - 0.5, y = (double)h->loc[2 * point + 1] * heights[l] - 0.5;
            int column = (int)floor(x), row = (int)floor(y);
            double right = x - column, down = y - row;
            sum += (double)h->attn[point] * ((1 - down) * ((1 - right) * pixel(h, n, first, l, row, column, d) + right * pixel(h, n, first, l, row, column + 1, d)) +
                                             down * ((1 - right) * pixel(h, n, first, l, row + 1, column, d) + right * pixel(h, n, first, l, row + 1, column + 1, d)));
        }
        first += (size_t)heights[l] * (size_t)widths[l];
    }
    return sum;
}

/* Norm-wise error over some queries of all images. */
static double error_of(const host_data *h)
{
    double difference = 0, norm = 0;
    for (int i = 0; i < 2000; i++) {
        size_t n = (size_t)i % N, q = (size_t)(uniform() * LQ);
        for (int d = 0; d < D; d++) {
            double want = expected(h, n, q, d), got = half_value(h->out[(n * LQ + q) * D + (size_t)d]);
            difference += (got - want) * (got - want);
            norm += want * want;
        }
    }
    return sqrt(difference / norm);
}

/* ---- running ---- */

/* Allocates every tensor that the variant uses and copies inputs by name. Returns the index of `out`. */
static int upload(const tunelookup_result *result, const host_data *h, tunelookup_cuda_params *params)
{
    int out = -1;
    for (int i = 0; i < result->arg_count; i++) {
        tunelookup_arg_info arg;
        ask(tunelookup_arg(result, i, &arg), "argument");
        if (arg.kind != TUNELOOKUP_ARG_TENSOR || !arg.is_used) continue;
        cu(driver.cuMemAlloc(&params->tensors[i], arg.bytes ? arg.bytes : 16), "cuMemAlloc");
        const void *from = strcmp(arg.name, "value") == 0 ? (const void *)h->value : strcmp(arg.name, "loc") == 0 ? (const void *)h->loc
                         : strcmp(arg.name, "attn") == 0 ? (const void *)h->attn : strcmp(arg.name, "levels") == 0 ? (const void *)levels : NULL;
        if (from) cu(driver.cuMemcpyHtoD(params->tensors[i], from, arg.bytes), "cuMemcpyHtoD");
        else cu(driver.cuMemsetD8(params->tensors[i], arg.zero_before_each ? 0 : 0xff, arg.bytes), "cuMemsetD8");
        if (strcmp(arg.name, "out") == 0) out = i;
    }
    return out;
}

static void launch_all(const tunelookup_result *result, const tunelookup_cuda_params *params)
{
    const void *cubin;
    size_t bytes;
    CUmodule module;
    ask(tunelookup_cubin(result, &cubin, &bytes), "cubin");
    cu(driver.cuModuleLoadData(&module, cubin), "cuModuleLoadData");
    for (int i = 0; i < result->launch_count; i++) {
        tunelookup_launch_info launch;
        CUfunction function;
        ask(tunelookup_launch(result, i, &launch), "launch");
        cu(driver.cuModuleGetFunction(&function, module, tunelookup_symbol(cubin, bytes, launch.entry)), launch.entry);
        cu(tunelookup_cuda_setup(function, &launch), launch.entry);
        cu(tunelookup_cuda_launch(result, i, function, params, NULL), launch.entry);
    }
    cu(driver.cuCtxSynchronize(), "the kernels");
}

int main(int argc, char **argv)
{
    static tunelookup_cuda_params params;
    CUdevice device;
    CUcontext context;
    char name[TUNELOOKUP_CUDA_NAME], why[2048];
    tunelookup_device facts;
    tunelookup_db *db;
    tunelookup_plan *plan;
    tunelookup_result result;
    if (argc != 2) die(1, "usage", "msda_infer DATABASE");
    load_driver();
    if (driver.cuDeviceGet(&device, 0) != CUDA_SUCCESS) die(77, "cuDeviceGet", "no GPU");
    cu(driver.cuDevicePrimaryCtxRetain(&context, device), "context");
    cu(driver.cuCtxSetCurrent(context), "context");
    cu(tunelookup_cuda_device(device, name, &facts), "facts of the device");
    double start_ms = now_ms();
    ask(tunelookup_open(argv[1], TUNELOOKUP_USER_CUBINS, &db), "open");
    ask(tunelookup_prepare(db, &facts, "msda", names, sizeof names / sizeof *names, &plan), "prepare");
    ask(tunelookup_find(plan, values, &result), "find");
    double answer_ms = now_ms() - start_ms;
    tunelookup_explain(&result, why, sizeof why);
    printf("%s", why);
    if (result.match != TUNELOOKUP_MATCH_EXACT) return 77; /* only a tuned shape has code in the database; others must be compiled */
    host_data h = make_data();
    int out = upload(&result, &h, &params);
    if (out < 0) die(1, "kernel", "has no output named out");
    start_ms = now_ms();
    cu(tunelookup_cuda_pack(&result, &params), "pack");
    launch_all(&result, &params);
    double launch_ms = now_ms() - start_ms;
    printf("started:  %.1f ms from opening the file to the answer, %.1f ms from there to the end of the first launches, without what copies the inputs\n", answer_ms, launch_ms);
    cu(driver.cuMemcpyDtoH(h.out, params.tensors[out], (size_t)N * LQ * M * D * 2), "cuMemcpyDtoH");
    double error = error_of(&h);
    printf("checked:  error %.2e against the CPU: %s\n", error, error < 2e-3 ? "right" : "WRONG");
    tunelookup_close(db);
    return error < 2e-3 ? 0 : 1;
}
