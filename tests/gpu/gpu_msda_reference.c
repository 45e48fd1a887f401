/*
 * Kernels of msda against independent C (tests/ref/ref_msda.c), on locations that random inputs never hold: exact borders, corners and pixel
 * centres, half a pixel outside and beyond, NaN, infinities, 1e30; levels of one pixel, row or column.
 *
 * For each problem, value, loc and attn and what ref_msda makes of them go to .npy files, and the tool is run on them:
 *     variants     the shipped search space with such shapes and `reference = file:expected.npy`, one algorithm at a time: a random
 *                  sample of its variants must be ok. Buffers end at an unmapped page, so that a stray read faults
 *     reference    a space whose only variant is the reference kernel itself, in fp64 to 1e-12
 *
 * Usage: gpu_msda_reference TOOL SOURCE_FOLDER. SEED and BUDGET (variants per problem and algorithm) in the environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/msda_proof.h"
#include "tests/gpu/tensor_file.h"

static const problem problems[] = {
    {"logits", "f16", "f32", "logits", "grid", 3, 131, 1, 32, 8, 3, {9, 5, 3}, {19, 11, 4}, 1, "1e-3"},
    {"logits_odd", "f32", "f16", "logits", "free", 2, 41, 3, 13, 5, 2, {7, 5}, {13, 6}, 3, "1e-3"},
    {"bf16", "bf16", "f32", "weights", "grid", 3, 131, 1, 32, 8, 2, {9, 5}, {19, 11}, 2, "1e-3"},
    {"bf16_pairs", "bf16", "f16", "logits", "free", 2, 41, 2, 18, 2, 2, {7, 5}, {13, 6}, 0, "1e-3"},
    {"quads", "f16", "f32", "logits", "free", 2, 41, 3, 20, 4, 2, {7, 5}, {13, 6}, 5, "1e-3"},
    {"wide", "f16", "f32", "weights", "free", 1, 29, 2, 128, 4, 2, {9, 5}, {12, 6}, 0, "1e-3"},
    {"encoder", "f32", "f16", "weights", "levels", 1, 5 * 6 + 3 * 4 + 2 * 2, 4, 64, 4, 3, {5, 3, 2}, {6, 4, 2}, 0, "1e-3"},
    {"one_pixel_f16", "f16", "f32", "weights", "free", 1, 1, 1, 8, 1, 1, {1}, {1}, 0, "2e-3"},
    {"one_pixel_f32", "f32", "f16", "weights", "free", 1, 1, 1, 8, 1, 1, {1}, {1}, 0, "1e-3"},
    {"one_pixel_often", "f16", "f16", "weights", "free", 2, 97, 2, 8, 4, 1, {1}, {1}, 0, "1e-3"},
    {"odd_f16", "f16", "f32", "weights", "free", 2, 61, 2, 16, 3, 3, {7, 4, 1}, {13, 7, 3}, 0, "1e-3"},
    {"odd_f32", "f32", "f32", "weights", "free", 1, 61, 2, 16, 3, 3, {7, 4, 1}, {13, 7, 3}, 0, "1e-3"},
    {"odd_loc16", "f32", "f16", "weights", "free", 2, 61, 2, 16, 3, 3, {7, 4, 2}, {13, 7, 3}, 0, "1e-3"},
    {"row_and_column", "f16", "f32", "weights", "free", 2, 53, 4, 24, 2, 2, {1, 19}, {23, 1}, 0, "1e-3"},
    {"one_query", "f16", "f32", "weights", "free", 1, 1, 8, 32, 4, 2, {9, 5}, {11, 6}, 0, "2e-3"},
    {"one_head", "f16", "f32", "weights", "grid", 3, 131, 1, 32, 8, 2, {9, 5}, {19, 11}, 0, "1e-3"},
};

typedef struct arrays {
    double *value, *loc, *attn, *out;
    size_t values, weights, outs;
} arrays;

/* The very first point is a plain one, so that even a single point tests something. */
static void fill(const problem *p, uint64_t seed, arrays *a)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t i = 0; i < a->values; i++) a->value[i] = mt_rng_uniform(&rng) - 0.5;
    for (size_t i = 0; i < a->weights; i++) {
        size_t level = i / p->points % p->levels;
        a->attn[i] = strcmp(p->attn, "logits") == 0 ? 20 * mt_rng_uniform(&rng) - 10 : mt_rng_uniform(&rng);
        a->loc[2 * i] = i ? proof_coordinate(&rng, p->width[level]) : 0.3;
        a->loc[2 * i + 1] = i ? proof_coordinate(&rng, p->height[level]) : 0.8;
    }
}

static void write_files(const proof *self, const problem *p, arrays *a)
{
    const struct ref_msda_shape shape = proof_shape(p);
    const size_t value_dims[] = {p->images, proof_pixels(p), p->heads, p->channels};
    const size_t loc_dims[] = {p->images, p->queries_per_image, p->heads, p->levels, p->points, 2};
    const size_t out_dims[] = {p->images, p->queries_per_image, p->heads * p->channels};
    void *value = tensor_encode(a->value, a->values, p->dtype), *loc = tensor_encode(a->loc, 2 * a->weights, p->loc_dtype), *attn = tensor_encode(a->attn, a->weights, p->loc_dtype);
    if (strcmp(p->attn, "logits") == 0) ref_softmax(a->attn, a->weights / (p->levels * p->points), p->levels * p->points);
    ref_msda(&shape, a->value, a->loc, a->attn, a->out); /* of the rounded numbers */
    value = proof_with_gaps(p, value, strcmp(p->dtype, "f32") == 0 ? 4 : 2);
    tensor_write(proof_path(self, "value.npy"), p->dtype, value_dims, 4, value);
    tensor_write(proof_path(self, "loc.npy"), p->loc_dtype, loc_dims, 6, loc);
    tensor_write(proof_path(self, "attn.npy"), p->loc_dtype, loc_dims, 5, attn);
    tensor_write(proof_path(self, "expected.npy"), "f64", out_dims, 3, a->out);
    free(value);
    free(loc);
    free(attn);
}

static void make_inputs(const proof *self, const problem *p)
{
    const struct ref_msda_shape shape = proof_shape(p);
    size_t items = p->images * p->queries_per_image * p->heads;
    arrays a = {.values = p->images * ref_msda_pixels(&shape) * p->heads * p->channels, .weights = items * p->levels * p->points, .outs = items * p->channels};
    a.value = proof_space(a.values, sizeof(double));
    a.loc = proof_space(2 * a.weights, sizeof(double));
    a.attn = proof_space(a.weights, sizeof(double));
    a.out = proof_space(a.outs, sizeof(double));
    fill(p, self->seed, &a);
    write_files(self, p, &a);
    free(a.value);
    free(a.loc);
    free(a.attn);
    free(a.out);
}

/* All of them, because an expression may only name strings that some shape has (`dtype == f16`). */
static void add_shapes(mt_strbuf *text)
{
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) proof_add_shape(text, &problems[i], "");
}

static void add_input(mt_strbuf *text, const char *name, const char *dtype, const char *shape)
{
    mt_strbuf_addf(text, "[arg %s]\nkind = tensor\nrole = in\ndtype = ${%s}\nshape = %s\ninit = zeros\n", name, dtype, shape);
}

/* The kernel that judges all variants, judged itself. MT_SUPPORT is how the source is asked for it. */
static const char *reference_space(const proof *self)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, "[kernel]\nname = msda_reference\n");
    proof_add_sources(self, &text, "msda", "file:expected.npy");
    add_shapes(&text);
    mt_strbuf_add(&text, "[algorithm reference_kernel]\nentry = msda_reference\noptions = -DMT_SUPPORT=1\n");
    add_input(&text, "value", "dtype", "N, S, M, D");
    add_input(&text, "loc", "loc_dtype", "N, Lq, M, len(H), P, 2");
    add_input(&text, "attn", "loc_dtype", "N, Lq, M, len(H), P");
    mt_strbuf_add(&text, "[arg out]\nkind = tensor\nrole = out\ndtype = f64\nshape = N, Lq, M * D\nrtol = 1e-12\n"
                         "[launch 1]\nargs = value, loc, attn, out\ngrid = ceil_div(N * Lq * M * D, 256)\nblock = 256\n");
    proof_save(proof_path(self, "reference.ini"), &text);
    return proof_path(self, "reference.ini");
}

static void tune(proof *self, const problem *p, const char *what, const char *space, const char *workload, const char *budget)
{
    static const proof_input inputs[] = {{"value", "value.npy"}, {"loc", "loc.npy"}, {"attn", "attn.npy"}};
    proof_tune(self, p, what, space, workload, budget, inputs, sizeof inputs / sizeof inputs[0]);
}

static void prove_one(proof *self, const problem *p)
{
    static const char *const algorithms[] = {"coarse_smem", "baseline", "direct", "smem_cluster"};
    make_inputs(self, p);
    tune(self, p, "reference", reference_space(self), "default", "1");
    bool has_whole_pieces = p->heads * p->channels * (strcmp(p->dtype, "f32") == 0 ? 4 : 2) % 16 == 0; /* what coarse_smem copies */
    for (size_t i = has_whole_pieces ? 0 : 1; i < sizeof algorithms / sizeof algorithms[0]; i++)
        tune(self, p, algorithms[i], proof_derive_space(self, p, "msda", "file:expected.npy", algorithms[i], add_shapes), "uniform", self->budget);
}

static void prove(proof *self)
{
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) prove_one(self, &problems[i]);
}

int main(int argc, char **argv)
{
    return proof_main(argc, argv, "20", prove);
}
