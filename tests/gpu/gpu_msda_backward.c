/*
 * Kernels of msda_backward against independent C (tests/ref/ref_msda_backward.c, which finite differences prove), on the locations of gpu_msda_reference:
 * exact borders, corners and pixel centres, half a pixel outside and beyond, NaN, infinities, 1e30; levels of one pixel, row or column.
 *
 * For each problem, value, loc, attn and grad_out and what ref_msda_backward makes of them go to .npy files, and the tool is run on them:
 *     grad_value, grad_loc, grad_attn    a space whose only variant are the reference kernels themselves, that output first and so compared with its
 *                                        file, in fp64 to 1e-12
 *     an algorithm                       the shipped search space with such shapes, compared with the reference kernels on the same inputs: a random
 *                                        sample of its variants must be ok. Buffers end at an unmapped page, so that a stray read faults
 *
 * Usage: gpu_msda_backward TOOL SOURCE_FOLDER. SEED, BUDGET (variants per problem and algorithm) and ONLY (a problem) in the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/msda_proof.h"
#include "tests/gpu/tensor_file.h"
#include "tests/ref/ref_msda_backward.h"

typedef struct backward_problem {
    problem of;
    const char *grad_dtype;
} backward_problem;

static const backward_problem problems[] = {
    {{"plain", "f16", "f32", "weights", "free", 2, 61, 2, 16, 3, 3, {7, 4, 1}, {13, 7, 3}, 0, "1e-3"}, "f32"},
    {{"one_head", "f16", "f32", "weights", "grid", 3, 131, 1, 32, 8, 2, {9, 5}, {19, 11}, 1, "1e-3"}, "f32"},
    {{"encoder", "f32", "f16", "weights", "levels", 1, 5 * 6 + 3 * 4 + 2 * 2, 4, 64, 4, 3, {5, 3, 2}, {6, 4, 2}, 0, "1e-3"}, "f32"},
    {{"rounded", "f16", "f32", "weights", "free", 2, 41, 3, 20, 4, 2, {7, 5}, {13, 6}, 5, "1e-3"}, "f16"},
    {{"bf16_pairs", "bf16", "f16", "weights", "free", 2, 41, 2, 18, 2, 2, {7, 5}, {13, 6}, 0, "1e-3"}, "bf16"},
    {{"channel_by_channel", "f32", "f32", "weights", "free", 2, 41, 3, 13, 5, 2, {7, 5}, {13, 6}, 3, "1e-3"}, "f32"},
    {{"wide", "f16", "f32", "weights", "free", 1, 29, 2, 128, 4, 2, {9, 5}, {12, 6}, 0, "1e-3"}, "f32"},
    {{"one_pixel_often", "f16", "f16", "weights", "free", 2, 97, 2, 8, 4, 1, {1}, {1}, 0, "1e-3"}, "f32"},
    {{"row_and_column", "f16", "f32", "weights", "free", 2, 53, 4, 24, 2, 2, {1, 19}, {23, 1}, 0, "1e-3"}, "f32"},
};

enum { VALUE, LOC, ATTN, GRAD_OUT, GRAD_VALUE, GRAD_LOC, GRAD_ATTN, ARRAYS };
static const char *const names[ARRAYS] = {"value", "loc", "attn", "grad_out", "grad_value", "grad_loc", "grad_attn"};
static const char *const shapes[ARRAYS] = {"N, S, M, D", "N, Lq, M, len(H), P, 2", "N, Lq, M, len(H), P", "N, Lq, M * D", "N, S, M, D", "N, Lq, M, len(H), P, 2", "N, Lq, M, len(H), P"};

typedef struct arrays {
    double *data[ARRAYS];
    size_t count[ARRAYS];
} arrays;

/* The very first point is a plain one, so that even a single point tests something. */
static void fill(const problem *p, uint64_t seed, arrays *a)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t i = 0; i < a->count[VALUE]; i++) a->data[VALUE][i] = mt_rng_uniform(&rng) - 0.5;
    for (size_t i = 0; i < a->count[GRAD_OUT]; i++) a->data[GRAD_OUT][i] = mt_rng_uniform(&rng) - 0.5;
    for (size_t i = 0; i < a->count[ATTN]; i++) {
        size_t level = i / p->points % p->levels;
        a->data[ATTN][i] = mt_rng_uniform(&rng);
        a->data[LOC][2 * i] = i ? proof_coordinate(&rng, p->width[level]) : 0.3;
        a->data[LOC][2 * i + 1] = i ? proof_coordinate(&rng, p->height[level]) : 0.8;
    }
}

static const char *file_of(const proof *self, size_t array)
{
    char file[32];
    snprintf(file, sizeof file, "%s.npy", names[array]);
    return proof_path(self, file);
}

/* Inputs in their types, gradients in f64; values with the problem's gaps. */
static void write_files(const proof *self, const problem *p, const arrays *a)
{
    size_t items_of_image = p->queries_per_image, pixels = proof_pixels(p);
    const size_t dims[ARRAYS][6] = {{p->images, pixels, p->heads, p->channels},
                                    {p->images, items_of_image, p->heads, p->levels, p->points, 2},
                                    {p->images, items_of_image, p->heads, p->levels, p->points},
                                    {p->images, items_of_image, p->heads * p->channels}};
    static const size_t ranks[] = {4, 6, 5, 3};
    for (size_t i = 0; i < ARRAYS; i++) {
        size_t as = i < GRAD_VALUE ? i : i - GRAD_VALUE; /* a gradient is laid out as what it is of */
        const char *dtype = i >= GRAD_VALUE ? "f64" : i == LOC || i == ATTN ? p->loc_dtype : p->dtype;
        void *data = i >= GRAD_VALUE ? memcpy(proof_space(a->count[i], 8), a->data[i], a->count[i] * 8) : tensor_encode(a->data[i], a->count[i], dtype);
        if (as == VALUE) data = proof_with_gaps(p, data, i == GRAD_VALUE ? 8 : strcmp(dtype, "f32") == 0 ? 4 : 2);
        tensor_write(file_of(self, i), dtype, dims[as], ranks[as], data);
        free(data);
    }
}

static void make_inputs(const proof *self, const problem *p)
{
    const struct ref_msda_shape shape = proof_shape(p);
    size_t items = p->images * p->queries_per_image * p->heads, points = items * p->levels * p->points, values = p->images * ref_msda_pixels(&shape) * p->heads * p->channels;
    arrays a = {.count = {values, 2 * points, points, items * p->channels, values, 2 * points, points}};
    for (size_t i = 0; i < ARRAYS; i++) a.data[i] = proof_space(a.count[i], sizeof(double));
    fill(p, self->seed, &a);
    for (size_t i = VALUE; i < GRAD_VALUE; i++) free(tensor_encode(a.data[i], a.count[i], i == LOC || i == ATTN ? p->loc_dtype : p->dtype)); /* rounds */
    ref_msda_backward(&shape, REF_MSDA_F32, a.data[VALUE], a.data[LOC], a.data[ATTN], a.data[GRAD_OUT],
                      (struct ref_msda_gradients){a.data[GRAD_VALUE], a.data[GRAD_LOC], a.data[GRAD_ATTN]});
    write_files(self, p, &a);
    for (size_t i = 0; i < ARRAYS; i++) free(a.data[i]);
}

/* All of them, because an expression may only name strings that some shape has (`dtype == f16`). */
static void add_shapes(mt_strbuf *text)
{
    char grad_dtype[32];
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        snprintf(grad_dtype, sizeof grad_dtype, "grad_dtype = %s\n", problems[i].grad_dtype);
        proof_add_shape(text, &problems[i].of, grad_dtype);
    }
}

static void add_input(mt_strbuf *text, size_t array)
{
    mt_strbuf_addf(text, "[arg %s]\nkind = tensor\nrole = in\ndtype = ${%s}\nshape = %s\ninit = zeros\n", names[array], array == LOC || array == ATTN ? "loc_dtype" : "dtype", shapes[array]);
}

static void add_output(mt_strbuf *text, size_t array)
{
    mt_strbuf_addf(text, "[arg %s]\nkind = tensor\nrole = out\ndtype = f64\nshape = %s\nrtol = 1e-12\n%s", names[array], shapes[array],
                   array == GRAD_VALUE ? "order = any\nspread = 1e-12\n" : "");
}

/* The kernels that judge all variants, judged themselves: `judged` is the output that is compared with its file. MT_SUPPORT is how the source is asked
 * for them. */
static const char *reference_space(const proof *self, size_t judged)
{
    mt_strbuf text = {0};
    char expected[64];
    snprintf(expected, sizeof expected, "file:%s.npy", names[judged]);
    mt_strbuf_add(&text, "[kernel]\nname = msda_backward_reference\n");
    proof_add_sources(self, &text, "msda_backward", expected);
    add_shapes(&text);
    mt_strbuf_add(&text, "[algorithm reference_kernels]\nentry = msda_backward_reference_value\noptions = -DMT_SUPPORT=1\n");
    for (size_t i = VALUE; i < GRAD_VALUE; i++) add_input(&text, i);
    add_output(&text, judged);
    for (size_t i = GRAD_VALUE; i < ARRAYS; i++)
        if (i != judged) add_output(&text, i);
    mt_strbuf_add(&text, "[launch 1]\nentry = msda_backward_reference_zero\nargs = grad_value\ngrid = ceil_div(N * S * M * D, 256)\nblock = 256\n"
                         "[launch 2]\nargs = loc, attn, grad_out, grad_value\ngrid = ceil_div(N * Lq * M * D, 256)\nblock = 256\n"
                         "[launch 3]\nentry = msda_backward_reference_points\nargs = value, loc, attn, grad_out, grad_loc, grad_attn\n"
                         "grid = ceil_div(N * Lq * M * len(H) * P, 256)\nblock = 256\n");
    proof_save(proof_path(self, "reference.ini"), &text);
    return proof_path(self, "reference.ini");
}

static void tune(proof *self, const problem *p, const char *what, const char *space, const char *workload, const char *budget)
{
    static const proof_input inputs[] = {{"value", "value.npy"}, {"loc", "loc.npy"}, {"attn", "attn.npy"}, {"grad_out", "grad_out.npy"}};
    proof_tune(self, p, what, space, workload, budget, inputs, sizeof inputs / sizeof inputs[0]);
}

static bool is_for(const char *algorithm, const problem *p)
{
    return strcmp(algorithm, "tensor") != 0 || (strcmp(p->dtype, "f16") == 0 && p->channels % 32 == 0);
}

static void prove_one(proof *self, size_t index)
{
    static const char *const algorithms[] = {"atomics", "sorted", "tiled", "tensor", "coarse_smem", "baseline", "by_pixel"};
    const problem *p = &problems[index].of;
    const char *only = getenv("ONLY");
    if (only && strcmp(only, p->name) != 0) return;
    make_inputs(self, p);
    for (size_t judged = GRAD_VALUE; judged < ARRAYS; judged++) tune(self, p, names[judged], reference_space(self, judged), "default", "1");
    for (size_t k = 0; k < sizeof algorithms / sizeof algorithms[0]; k++)
        if (is_for(algorithms[k], p))
            tune(self, p, algorithms[k], proof_derive_space(self, p, "msda_backward", "msda_backward_reference_value", algorithms[k], add_shapes), "uniform", self->budget);
}

static void prove(proof *self)
{
    proof_side_by_side(self, sizeof problems / sizeof problems[0], prove_one);
}

int main(int argc, char **argv)
{
    return proof_main(argc, argv, "4", prove);
}
