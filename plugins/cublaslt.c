/* The baseline `cublaslt`: D = alpha * A * B + beta * C by cuBLASLt. Its first heuristic, and all others that it returns for the workspace.
 *
 * Shape values: M, N, K, dtype (f16, bf16), layout (two letters, R or C: how A and B lie), accumulate (f32, f16), beta (zero, any). Arguments: tensors a, b, c
 * and d or d16, scalars alpha and beta_value. Leading dimensions are the lengths of the rows, rounded up to 8; C and D are row-major.
 *
 * Optional: BATCH matrices, one behind the other; fuse: bias and bias_gelu (a tensor bias of N elements). cuBLASLt has no silu_gate.
 *
 * fp8: dtype and dtype_b (f8e4m3, f8e5m2), out (f16, bf16), layout RC, scales (tensor, block), accumulate (f32, fast: CUBLASLT_MATMUL_DESC_FAST_ACCUM). Tensors a, b, scale_a,
 * scale_b and d or d_fast; leading dimensions rounded up to 16. Scales of blocks: f32 [K / 128][M] of A, [N / 128][K / 128] of B, the rows' lengths rounded up to 4.
 *
 * cuBLASLt knows column-major only. A row-major D is a column-major D^T = B^T * A^T, so B goes first; what is row-major is its own transpose. */
#include "msda_baseline.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

#define FUNCTIONS(X)                                                                                                                       \
    X(Create) X(Destroy) X(Matmul) X(MatmulAlgoGetHeuristic) X(MatmulAlgoConfigGetAttribute) X(MatmulDescCreate) X(MatmulDescDestroy)     \
    X(MatmulDescSetAttribute) X(MatrixLayoutCreate) X(MatrixLayoutDestroy) X(MatrixLayoutSetAttribute) X(MatmulPreferenceCreate) X(MatmulPreferenceDestroy)           \
    X(MatmulPreferenceSetAttribute)

typedef struct library {
    void *handle;
#define FIELD(name) __typeof__(&cublasLt##name) name;
    FUNCTIONS(FIELD)
#undef FIELD
} library;

typedef struct problem {
    library lt;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t first, second, result; /* B, A, D */
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found[MOST];
    int count;
    int sums_in_f16, reads_c, is_fp8, has_bias, batch;
    const char *result_name;                       /* of the argument D */
    unsigned long long workspace;
    size_t workspace_bytes;
} problem;

static int open_library(library *lt, char *why, size_t size)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !lt->handle; i++) lt->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lt->handle) {
        snprintf(why, size, "cuBLASLt is not there: %s", dlerror());
        return 0;
    }
#define LOAD(name)                                                                                     \
    *(void **)&lt->name = dlsym(lt->handle, "cublasLt" #name);                                         \
    if (!lt->name) {                                                                                   \
        snprintf(why, size, "cuBLASLt has no cublasLt%s", #name);                                      \
        return 0;                                                                                      \
    }
    FUNCTIONS(LOAD)
#undef LOAD
    return 1;
}

static const msda_baseline_value *find_value(const msda_baseline_problem *asked, const char *name)
{
    for (size_t i = 0; i < asked->value_count; i++)
        if (strcmp(asked->values[i].name, name) == 0) return &asked->values[i];
    return NULL;
}

static int is_text(const msda_baseline_problem *asked, const char *name, const char *text)
{
    const msda_baseline_value *value = find_value(asked, name);
    return value && value->text && strcmp(value->text, text) == 0;
}

static long long number_of(const msda_baseline_problem *asked, const char *name)
{
    const msda_baseline_value *value = find_value(asked, name);
    return value && !value->text ? value->number : 0;
}

static int is_fp8_name(const msda_baseline_problem *asked, const char *name)
{
    return is_text(asked, name, "f8e4m3") || is_text(asked, name, "f8e5m2");
}

static cudaDataType type_of(const msda_baseline_problem *asked, const char *name)
{
    if (is_fp8_name(asked, name)) return is_text(asked, name, "f8e4m3") ? CUDA_R_8F_E4M3 : CUDA_R_8F_E5M2;
    return is_text(asked, name, "bf16") ? CUDA_R_16BF : CUDA_R_16F;
}

/* rows × columns as the problem sees it, `batch` times. Row-major ones are told as their column-major transpose. */
static int make_layout(problem *self, cudaDataType type, int is_row_major, long long rows, long long columns, cublasLtMatrixLayout_t *layout)
{
    long long height = is_row_major ? columns : rows, width = is_row_major ? rows : columns, unit = type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2 ? 16 : 8;
    int64_t leading = (height + unit - 1) / unit * unit, stride = leading * width;
    int32_t count = self->batch;
    if (self->lt.MatrixLayoutCreate(layout, type, (uint64_t)height, (uint64_t)width, leading) != CUBLAS_STATUS_SUCCESS) return 0;
    return self->lt.MatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count) == CUBLAS_STATUS_SUCCESS &&
           self->lt.MatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride) == CUBLAS_STATUS_SUCCESS;
}

static int set_operation(problem *self, cublasLtMatmulDescAttributes_t which, int is_transposed)
{
    cublasOperation_t operation = is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    return self->lt.MatmulDescSetAttribute(self->operation, which, &operation, sizeof operation) == CUBLAS_STATUS_SUCCESS;
}

static int set_attribute(problem *self, cublasLtMatmulDescAttributes_t which, const void *value, size_t size)
{
    return self->lt.MatmulDescSetAttribute(self->operation, which, value, size) == CUBLAS_STATUS_SUCCESS;
}

/* Device addresses, as a heuristic may ask for them too. B goes first. */
static int set_scales(problem *self, unsigned long long of_a, unsigned long long of_b)
{
    return set_attribute(self, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &of_b, sizeof of_b) && set_attribute(self, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &of_a, sizeof of_a);
}

static int describe_fp8(problem *self, const msda_baseline_problem *asked)
{
    int8_t is_fast = is_text(asked, "accumulate", "fast");
    if (!set_attribute(self, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &is_fast, sizeof is_fast) || !set_scales(self, self->workspace, self->workspace)) return 0;
    if (!is_text(asked, "scales", "block")) return 1;
#if CUBLAS_VERSION >= 120900
    int32_t of_b = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, of_a = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
    return set_attribute(self, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &of_b, sizeof of_b) && set_attribute(self, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &of_a, sizeof of_a);
#else
    return 0; /* headers of before block scales */
#endif
}

/* The bias is along the columns of D, the rows of its transpose. */
static int set_bias(problem *self, unsigned long long bias)
{
    return set_attribute(self, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
}

static int describe_bias(problem *self, const msda_baseline_problem *asked)
{
    cublasLtEpilogue_t epilogue = is_text(asked, "fuse", "bias_gelu") ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return set_attribute(self, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) && set_bias(self, self->workspace);
}

static int describe_problem(problem *self, const msda_baseline_problem *asked)
{
    long long m = number_of(asked, "M"), n = number_of(asked, "N"), k = number_of(asked, "K");
    const char *layout = find_value(asked, "layout")->text;
    int is_a_row = layout[0] == 'R', is_b_row = layout[1] == 'R';
    cudaDataType of_a = type_of(asked, "dtype"), of_b = self->is_fp8 ? type_of(asked, "dtype_b") : of_a, of_d = self->is_fp8 ? type_of(asked, "out") : of_a;
    cublasComputeType_t compute = self->sums_in_f16 ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F;
    if (self->lt.MatmulDescCreate(&self->operation, compute, self->sums_in_f16 ? CUDA_R_16F : CUDA_R_32F) != CUBLAS_STATUS_SUCCESS) return 0;
    /* B^T is asked for: a row-major B is that already, a column-major one is transposed. */
    return set_operation(self, CUBLASLT_MATMUL_DESC_TRANSA, !is_b_row) && set_operation(self, CUBLASLT_MATMUL_DESC_TRANSB, !is_a_row) &&
           make_layout(self, of_b, is_b_row, k, n, &self->first) && make_layout(self, of_a, is_a_row, m, k, &self->second) && make_layout(self, of_d, 1, m, n, &self->result) &&
           (!self->is_fp8 || describe_fp8(self, asked)) && (!self->has_bias || describe_bias(self, asked));
}

static int choose(problem *self)
{
    if (self->lt.MatmulPreferenceCreate(&self->preference) != CUBLAS_STATUS_SUCCESS) return 0;
    if (self->lt.MatmulPreferenceSetAttribute(self->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &self->workspace_bytes, sizeof self->workspace_bytes) != CUBLAS_STATUS_SUCCESS) return 0;
    return self->lt.MatmulAlgoGetHeuristic(self->handle, self->operation, self->first, self->second, self->result, self->result, self->preference, MOST, self->found, &self->count) ==
               CUBLAS_STATUS_SUCCESS && self->count > 0;
}

static void close_problem(void *opened)
{
    problem *self = opened;
    if (self->preference) self->lt.MatmulPreferenceDestroy(self->preference);
    if (self->first) self->lt.MatrixLayoutDestroy(self->first);
    if (self->second) self->lt.MatrixLayoutDestroy(self->second);
    if (self->result) self->lt.MatrixLayoutDestroy(self->result);
    if (self->operation) self->lt.MatmulDescDestroy(self->operation);
    if (self->handle) self->lt.Destroy(self->handle);
    free(self); /* the library stays: it does not survive being opened twice everywhere */
}

static const char *problem_fault(const msda_baseline_problem *asked)
{
    const msda_baseline_value *layout = find_value(asked, "layout");
    if (number_of(asked, "M") <= 0 || number_of(asked, "N") <= 0 || number_of(asked, "K") <= 0) return "expected shape values M, N and K";
    if (!layout || !layout->text || strlen(layout->text) != 2) return "expected a shape value layout of two letters";
    if (!is_text(asked, "dtype", "f16") && !is_text(asked, "dtype", "bf16") && !is_fp8_name(asked, "dtype")) return "expected dtype f16, bf16, f8e4m3 or f8e5m2";
    if (is_fp8_name(asked, "dtype") && !is_fp8_name(asked, "dtype_b")) return "expected dtype_b f8e4m3 or f8e5m2";
    if (is_fp8_name(asked, "dtype") && is_text(asked, "scales", "block") && number_of(asked, "M") % 4) return "M is no multiple of 4: the rows of the scales of A would lie elsewhere";
    if (find_value(asked, "BATCH") && (number_of(asked, "BATCH") <= 0 || number_of(asked, "BATCH") > INT32_MAX)) return "BATCH is no number of matrices";
    if (is_text(asked, "fuse", "silu_gate")) return "cuBLASLt has no gate: a product alone is no silu_gate";
    if (number_of(asked, "N") % 8) return "N is no multiple of 8: what is behind the end of D's rows would stay as it was, and has to be zero";
    return NULL;
}

static void *open_problem(const msda_baseline_problem *asked, char *why, size_t size)
{
    const char *fault = problem_fault(asked);
    problem *self = fault ? NULL : calloc(1, sizeof *self);
    if (!self) {
        snprintf(why, size, "%s", fault ? fault : "out of memory");
        return NULL;
    }
    self->sums_in_f16 = is_text(asked, "accumulate", "f16");
    self->is_fp8 = is_fp8_name(asked, "dtype");
    self->result_name = self->sums_in_f16 ? "d16" : is_text(asked, "accumulate", "fast") ? "d_fast" : "d";
    self->reads_c = is_text(asked, "beta", "any");
    self->has_bias = is_text(asked, "fuse", "bias") || is_text(asked, "fuse", "bias_gelu");
    self->batch = find_value(asked, "BATCH") ? (int)number_of(asked, "BATCH") : 1;
    self->workspace = asked->workspace;
    self->workspace_bytes = asked->workspace_bytes;
    if (open_library(&self->lt, why, size)) {
        if (self->lt.Create(&self->handle) != CUBLAS_STATUS_SUCCESS) snprintf(why, size, "cublasLtCreate failed");
        else if (!describe_problem(self, asked) || !choose(self)) snprintf(why, size, "cuBLASLt has no algorithm for this problem");
        else return self;
    }
    close_problem(self);
    return NULL;
}

static size_t count_algorithms(const void *opened)
{
    return (size_t)((const problem *)opened)->count;
}

static unsigned config_of(const problem *self, size_t algorithm, cublasLtMatmulAlgoConfigAttributes_t which)
{
    uint32_t value = 0;
    size_t written;
    self->lt.MatmulAlgoConfigGetAttribute(&self->found[algorithm].algo, which, &value, sizeof value, &written);
    return value;
}

/* Numbers as cublasLt.h's enums have them: their names are too many, and change. */
static void describe_algorithm(const void *opened, size_t algorithm, char *text, size_t size)
{
    const problem *self = opened;
    if (algorithm >= (size_t)self->count) return;
    snprintf(text, size, "heuristic %zu (algorithm %u, tile %u, stages %u, split-K %u)", algorithm + 1, config_of(self, algorithm, CUBLASLT_ALGO_CONFIG_ID),
             config_of(self, algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID), config_of(self, algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
             config_of(self, algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
}

/* Exact for the few bits that scalars of a search space have; others are cut off. */
static unsigned short half_of(double number)
{
    float single = (float)number;
    unsigned bits;
    memcpy(&bits, &single, sizeof bits);
    int exponent = (int)(bits >> 23 & 255) - 112;
    if (exponent <= 0) return (unsigned short)(bits >> 16 & 0x8000);
    if (exponent >= 31) return (unsigned short)((bits >> 16 & 0x8000) | 0x7c00);
    return (unsigned short)((bits >> 16 & 0x8000) | (unsigned)exponent << 10 | (bits >> 13 & 0x3ff));
}

static const msda_baseline_arg *find_arg(const msda_baseline_arg *args, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(args[i].name, name) == 0) return &args[i];
    return NULL;
}

static void *device(unsigned long long address)
{
    return (void *)(size_t)address;
}

static int run_algorithm(void *opened, size_t algorithm, const msda_baseline_arg *args, size_t count, void *stream)
{
    problem *self = opened;
    const msda_baseline_arg *a = find_arg(args, count, "a"), *b = find_arg(args, count, "b"), *c = find_arg(args, count, "c");
    const msda_baseline_arg *scale_a = find_arg(args, count, "scale_a"), *scale_b = find_arg(args, count, "scale_b");
    const msda_baseline_arg *d = find_arg(args, count, self->result_name), *alpha = find_arg(args, count, "alpha"), *beta = find_arg(args, count, "beta_value");
    if (!a || !b || !d || (self->reads_c && !c) || algorithm >= (size_t)self->count) return CUBLAS_STATUS_INVALID_VALUE;
    if (self->is_fp8 && (!scale_a || !scale_b || !set_scales(self, scale_a->address, scale_b->address))) return CUBLAS_STATUS_INVALID_VALUE;
    const msda_baseline_arg *bias = find_arg(args, count, "bias");
    if (self->has_bias && (!bias || !set_bias(self, bias->address))) return CUBLAS_STATUS_INVALID_VALUE;
    double factor = alpha ? alpha->number : 1, kept = self->reads_c && beta ? beta->number : 0;
    float single[2] = {(float)factor, (float)kept};
    unsigned short half[2] = {half_of(factor), half_of(kept)};
    const void *scale[2] = {&single[0], &single[1]};
    if (self->sums_in_f16) {
        scale[0] = &half[0];
        scale[1] = &half[1];
    }
    return (int)self->lt.Matmul(self->handle, self->operation, scale[0], device(b->address), self->first, device(a->address), self->second, scale[1],
                                device(self->reads_c ? c->address : d->address), self->result, device(d->address), self->result, &self->found[algorithm].algo,
                                device(self->workspace), self->workspace_bytes, (cudaStream_t)stream);
}

__attribute__((visibility("default"))) const msda_baseline *msda_baseline_get(void)
{
    static const msda_baseline plugin = {MSDA_BASELINE_ABI, open_problem, count_algorithms, describe_algorithm, run_algorithm, close_problem};
    return &plugin;
}
