/* What the programs share that prove kernels of multi-scale deformable attention against independent C (tests/ref): problems with their wild
 * locations, search spaces derived from the shipped ones, and runs of the tool on them. What cannot be done ends the program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/ref/ref_msda.h"
#include "tuner/base/rng.h"
#include "tuner/base/strbuf.h"

enum { MAX_LEVELS = 3 };

typedef struct problem {
    const char *name, *dtype, *loc_dtype, *attn, *queries;
    size_t images, queries_per_image, heads, channels, points, levels;
    size_t height[MAX_LEVELS], width[MAX_LEVELS];
    size_t gap; /* pixels before each level and after the last */
    const char *rtol; /* of the variants; one output element more or less rounded is much of a small norm */
} problem;

typedef struct proof {
    const char *tool, *budget; /* variants per problem and algorithm */
    const char *jobs;          /* compile workers of a run; NULL = as many as cores */
    char *source_folder, *folder;
    uint64_t seed;
    bool is_failed;
} proof;

/* A file of the proof. */
typedef struct proof_input {
    const char *arg, *file;
} proof_input;

/* The whole program: `prove` once there is a GPU. Its exit code; 77 without one. SEED and BUDGET (else `budget`) from the environment. */
int proof_main(int argc, char **argv, const char *budget, void (*prove)(proof *));

/* Calls `prove` for 0 … count - 1 in processes of their own, some at a time, each with a folder of its own; what they print comes one after the other. */
void proof_side_by_side(proof *self, size_t count, void (*prove)(proof *, size_t));

void proof_fail(proof *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Zeros; the caller frees them. */
void *proof_space(size_t count, size_t bytes);
/* "FOLDER/NAME"; one of a few static buffers. */
const char *proof_path(const proof *self, const char *name);

struct ref_msda_shape proof_shape(const problem *p);
/* Pixels of an image, gaps included. */
size_t proof_pixels(const problem *p);
/* One coordinate of a location on a level that is `size` pixels long: inside, at borders and centres, outside, NaN, infinite, huge. */
double proof_coordinate(mt_rng *rng, size_t size);
/* The same values (elements of `bytes`) with p->gap pixels of zeros before each level of each image, and after the last. Frees `dense`. */
void *proof_with_gaps(const problem *p, void *dense, size_t bytes);

/* Adds a [shape] for the problem, with `more` lines of the family's own. */
void proof_add_shape(mt_strbuf *text, const problem *p, const char *more);
/* Adds source, include and `reference = …` of a family. */
void proof_add_sources(const proof *self, mt_strbuf *text, const char *family, const char *reference);
/* Writes and frees `text`. */
void proof_save(const char *path, mt_strbuf *text);
/* The shipped space of `family`, judged by `reference`, with the shapes that add_shapes adds instead of its own, each rtol replaced by the problem's, and one algorithm only. */
const char *proof_derive_space(const proof *self, const problem *p, const char *family, const char *reference, const char *algorithm, void (*add_shapes)(mt_strbuf *));
/* A random sample of a space, at most `budget` variants; each must be ok, and there must be some. `what` names the run. */
void proof_tune(proof *self, const problem *p, const char *what, const char *space, const char *workload, const char *budget, const proof_input *inputs, size_t input_count);
