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
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/query.h"
#include "tests/gpu/tensor_file.h"
#include "tests/ref/ref_msda.h"
#include "tuner/base/file.h"
#include "tuner/base/rng.h"
#include "tuner/base/strbuf.h"

extern char **environ;

enum { MAX_LEVELS = 3, SKIPPED = 77, NO_GPU = 3, NONE_PASSED = 4 };

typedef struct problem {
    const char *name, *dtype, *loc_dtype, *attn, *queries;
    size_t images, queries_per_image, heads, channels, points, levels;
    size_t height[MAX_LEVELS], width[MAX_LEVELS];
    size_t gap; /* pixels before each level and after the last */
    const char *rtol; /* of the variants; one output element more or less rounded is much of a small norm */
} problem;

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

typedef struct context {
    const char *tool;
    char *source_folder, *folder;
    uint64_t seed;
    const char *budget;
    bool is_failed;
} context;

static void fail(context *self, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(context *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("FAILED: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    self->is_failed = true;
}

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void *space_for(size_t count, size_t bytes)
{
    void *data = calloc(count, bytes);
    if (!data) die("calloc");
    return data;
}

/* "FOLDER/NAME"; one of a few static buffers. */
static const char *in_folder(const context *self, const char *name)
{
    static char paths[8][1024];
    static size_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", self->folder, name);
    return path;
}

/* ---- inputs ---- */

static const double wild[] = {NAN, -NAN, INFINITY, -INFINITY, 1e30, -1e30, 3e38, -3e38, 65504, -65504, 2, -1, 1e-30, -0.0};

/* One coordinate of a location on a level that is `size` pixels long. */
static double coordinate(mt_rng *rng, size_t size)
{
    double pixel = 1.0 / (double)size, random = mt_rng_uniform(rng);
    bool at_end = mt_rng_below(rng, 2);
    switch (mt_rng_below(rng, 12)) {
    case 0: return wild[mt_rng_below(rng, sizeof wild / sizeof wild[0])];
    case 1: return at_end;                                                                     /* the border */
    case 2: return ((double)mt_rng_below(rng, size) + 0.5) * pixel;                            /* a pixel's centre */
    case 3: return (double)mt_rng_below(rng, size + 1) * pixel;                                /* between two pixels */
    case 4: return at_end ? 1 + 0.5 * pixel : -0.5 * pixel;                                    /* where the last share ends */
    case 5: return (at_end ? 1 + 0.5 * pixel : -0.5 * pixel) + (random - 0.5) * 1e-3 * pixel;  /* on both sides of that */
    case 6: return at_end ? 1 + random * pixel : -random * pixel;                              /* up to a pixel outside */
    default: return random;
    }
}

typedef struct arrays {
    double *value, *loc, *attn, *out;
    size_t values, weights, outs;
} arrays;

static struct ref_msda_shape shape_of(const problem *p)
{
    return (struct ref_msda_shape){p->images, p->queries_per_image, p->heads, p->channels, p->levels, p->points, p->height, p->width};
}

/* The very first point is a plain one, so that even a single point tests something. */
static void fill(const problem *p, uint64_t seed, arrays *a)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t i = 0; i < a->values; i++) a->value[i] = mt_rng_uniform(&rng) - 0.5;
    for (size_t i = 0; i < a->weights; i++) {
        size_t level = i / p->points % p->levels;
        a->attn[i] = strcmp(p->attn, "logits") == 0 ? 20 * mt_rng_uniform(&rng) - 10 : mt_rng_uniform(&rng);
        a->loc[2 * i] = i ? coordinate(&rng, p->width[level]) : 0.3;
        a->loc[2 * i + 1] = i ? coordinate(&rng, p->height[level]) : 0.8;
    }
}

/* The same values with p->gap pixels of zeros before each level of each image, and after the last. Frees `dense`. */
static void *with_gaps(const problem *p, void *dense)
{
    const struct ref_msda_shape shape = shape_of(p);
    size_t pixel = p->heads * p->channels * (strcmp(p->dtype, "f32") == 0 ? 4 : 2), all = ref_msda_pixels(&shape) + (p->levels + 1) * p->gap;
    char *out = space_for(p->images * all, pixel), *to = out;
    const char *from = dense;
    for (size_t image = 0; image < p->images; image++, to += p->gap * pixel) {
        for (size_t l = 0; l < p->levels; l++) {
            size_t bytes = p->height[l] * p->width[l] * pixel;
            memcpy(to + p->gap * pixel, from, bytes);
            to += p->gap * pixel + bytes;
            from += bytes;
        }
    }
    free(dense);
    return out;
}

static void write_files(const context *self, const problem *p, arrays *a)
{
    const struct ref_msda_shape shape = shape_of(p);
    size_t pixels = ref_msda_pixels(&shape) + (p->levels + 1) * p->gap;
    const size_t value_dims[] = {p->images, pixels, p->heads, p->channels};
    const size_t loc_dims[] = {p->images, p->queries_per_image, p->heads, p->levels, p->points, 2};
    const size_t out_dims[] = {p->images, p->queries_per_image, p->heads * p->channels};
    void *value = tensor_encode(a->value, a->values, p->dtype), *loc = tensor_encode(a->loc, 2 * a->weights, p->loc_dtype), *attn = tensor_encode(a->attn, a->weights, p->loc_dtype);
    if (strcmp(p->attn, "logits") == 0) ref_softmax(a->attn, a->weights / (p->levels * p->points), p->levels * p->points);
    ref_msda(&shape, a->value, a->loc, a->attn, a->out); /* of the rounded numbers */
    value = with_gaps(p, value);
    tensor_write(in_folder(self, "value.npy"), p->dtype, value_dims, 4, value);
    tensor_write(in_folder(self, "loc.npy"), p->loc_dtype, loc_dims, 6, loc);
    tensor_write(in_folder(self, "attn.npy"), p->loc_dtype, loc_dims, 5, attn);
    tensor_write(in_folder(self, "expected.npy"), "f64", out_dims, 3, a->out);
    free(value);
    free(loc);
    free(attn);
}

static void make_inputs(const context *self, const problem *p)
{
    const struct ref_msda_shape shape = shape_of(p);
    size_t items = p->images * p->queries_per_image * p->heads;
    arrays a = {.values = p->images * ref_msda_pixels(&shape) * p->heads * p->channels, .weights = items * p->levels * p->points, .outs = items * p->channels};
    a.value = space_for(a.values, sizeof(double));
    a.loc = space_for(2 * a.weights, sizeof(double));
    a.attn = space_for(a.weights, sizeof(double));
    a.out = space_for(a.outs, sizeof(double));
    fill(p, self->seed, &a);
    write_files(self, p, &a);
    free(a.value);
    free(a.loc);
    free(a.attn);
    free(a.out);
}

/* ---- search spaces ---- */

static void add_list(mt_strbuf *text, const char *name, const size_t *items, size_t count)
{
    mt_strbuf_addf(text, "%s = ", name);
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(text, "%zu, ", items[i]);
    mt_strbuf_add(text, "\n");
}

static void add_shape(mt_strbuf *text, const problem *p)
{
    mt_strbuf_addf(text, "\n[shape %s]\nN = %zu\nM = %zu\nD = %zu\nP = %zu\nLq = %zu\n", p->name, p->images, p->heads, p->channels, p->points, p->queries_per_image);
    add_list(text, "H", p->height, p->levels);
    add_list(text, "W", p->width, p->levels);
    mt_strbuf_addf(text, "S = dot(H, W) + %zu\nSTART = ", (p->levels + 1) * p->gap);
    for (size_t i = 0, start = p->gap; i < p->levels; start += p->height[i] * p->width[i] + p->gap, i++) mt_strbuf_addf(text, "%zu, ", start);
    mt_strbuf_addf(text, "\ndtype = %s\nloc_dtype = %s\nattn = %s\nqueries = %s\n", p->dtype, p->loc_dtype, p->attn, p->queries);
}

/* All of them, because an expression may only name strings that some shape has (`dtype == f16`). */
static void add_shapes(mt_strbuf *text)
{
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) add_shape(text, &problems[i]);
}

static void add_sources(mt_strbuf *text, const context *self)
{
    mt_strbuf_addf(text, "source = \"%s/kernels/msda/msda.cu\"\ninclude = \"%s/kernels/include\"\nreference = file:expected.npy\n", self->source_folder, self->source_folder);
}

static void save(const char *path, mt_strbuf *text)
{
    mt_error err = {0};
    if (text->failed || mt_file_write_atomic(path, mt_strbuf_text(text), text->length, &err) != MT_OK) {
        printf("%s: %s\n", path, err.message);
        exit(2);
    }
    mt_strbuf_free(text);
}

static bool starts_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* The shipped space without its shapes, with ours, sources by their full paths, this problem's tolerance and one algorithm only. */
static const char *derive_space(const context *self, const problem *p, const char *algorithm)
{
    char *shipped, line[1024];
    bool in_shape = false;
    mt_strbuf text = {0};
    snprintf(line, sizeof line, "%s/search_spaces/msda.ini", self->source_folder);
    FILE *in = fopen(line, "r");
    if (!in) die(line);
    while ((shipped = fgets(line, sizeof line, in))) {
        if (*shipped == '[') in_shape = starts_with(shipped, "[shape ");
        bool replaced = starts_with(shipped, "source ") || starts_with(shipped, "include ") || starts_with(shipped, "reference ");
        if (starts_with(shipped, "rtol ")) mt_strbuf_addf(&text, "rtol = %s\n", p->rtol);
        else if (!in_shape && !replaced) mt_strbuf_add(&text, shipped);
        if (starts_with(shipped, "[kernel]")) add_sources(&text, self);
    }
    fclose(in);
    add_shapes(&text);
    mt_strbuf_addf(&text, "[constraint this_algorithm]\nexpr = ALGO == %s\n", algorithm);
    save(in_folder(self, "variants.ini"), &text);
    return in_folder(self, "variants.ini");
}

static void add_input(mt_strbuf *text, const char *name, const char *dtype, const char *shape)
{
    mt_strbuf_addf(text, "[arg %s]\nkind = tensor\nrole = in\ndtype = ${%s}\nshape = %s\ninit = zeros\n", name, dtype, shape);
}

/* The kernel that judges all variants, judged itself. MT_SUPPORT is how the source is asked for it. */
static const char *reference_space(const context *self)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, "[kernel]\nname = msda_reference\n");
    add_sources(&text, self);
    add_shapes(&text);
    mt_strbuf_add(&text, "[variant reference_kernel]\nentry = msda_reference\noptions = -DMT_SUPPORT=1\n");
    add_input(&text, "value", "dtype", "N, S, M, D");
    add_input(&text, "loc", "loc_dtype", "N, Lq, M, len(H), P, 2");
    add_input(&text, "attn", "loc_dtype", "N, Lq, M, len(H), P");
    mt_strbuf_add(&text, "[arg out]\nkind = tensor\nrole = out\ndtype = f64\nshape = N, Lq, M * D\nrtol = 1e-12\n"
                         "[launch 1]\nargs = value, loc, attn, out\ngrid = ceil_div(N * Lq * M * D, 256)\nblock = 256\n");
    save(in_folder(self, "reference.ini"), &text);
    return in_folder(self, "reference.ini");
}

/* ---- running the tool ---- */

static void show_file(const char *path)
{
    char line[1024];
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in)) fputs(line, stdout);
    if (in) fclose(in);
}

/* Exit status of the tool; its output goes to `log`. */
static int run(const context *self, const char *log, const char *const *words)
{
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int rc = posix_spawn(&pid, self->tool, &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0 || waitpid(pid, &status, 0) != pid) die(self->tool);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Every measurement must be ok and there must be some. A variant that the hardware's rules refuse beforehand is no measurement. */
static void check_outcomes(context *self, const char *title, const char *db)
{
    const char *log = in_folder(self, "failures.txt");
    mt_error err = {0};
    mt_store *store = NULL;
    const mt_filter all = {0};
    int64_t counts[MT_OUTCOME_KIND_COUNT] = {0}, bad = 0;
    if (mt_store_open(db, MT_STORE_READ_ONLY, &store, &err) != MT_OK || mt_query_outcome_counts(store, &all, counts, &err) != MT_OK)
        fail(self, "%s: %s", title, err.message);
    mt_store_close(store);
    for (size_t i = 0; i < MT_OUTCOME_KIND_COUNT; i++)
        if (i != MT_OUTCOME_OK && i != MT_OUTCOME_PRUNED && i != MT_OUTCOME_ILLEGAL) bad += counts[i];
    printf("%s: %lld ok, %lld illegal, %lld bad\n", title, (long long)counts[MT_OUTCOME_OK], (long long)counts[MT_OUTCOME_ILLEGAL], (long long)bad);
    if (counts[MT_OUTCOME_OK] == 0) fail(self, "%s: nothing was measured", title);
    if (bad == 0) return;
    const char *const show[] = {self->tool, "show", "--failures", "--db", db, NULL};
    run(self, log, show);
    show_file(log);
    fail(self, "%s: %lld variants are not ok", title, (long long)bad);
}

/* A database of its own for each run: --input is no part of what tells measurements apart. */
static void tune(context *self, const problem *p, const char *what, const char *space, const char *workload, const char *budget)
{
    char title[128], db[160], value[1100], loc[1100], attn[1100], seed[32];
    snprintf(title, sizeof title, "%s, %s", p->name, what);
    snprintf(db, sizeof db, "%s.%s.sqlite", p->name, what);
    snprintf(value, sizeof value, "value=%s", in_folder(self, "value.npy"));
    snprintf(loc, sizeof loc, "loc=%s", in_folder(self, "loc.npy"));
    snprintf(attn, sizeof attn, "attn=%s", in_folder(self, "attn.npy"));
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)self->seed);
    const char *path = in_folder(self, db), *log = in_folder(self, "tune.txt");
    const char *const words[] = {self->tool, "tune", "--gpu", "auto", "--space", space, "--shape", p->name, "--workload", workload,
                                 "--strategy", "random", "--budget", budget, "--seed", seed, "--input", value, "--input", loc, "--input", attn,
                                 "--guard", "pages", "--no-race", "--db", path, "--quiet", NULL};
    int rc = run(self, log, words);
    if (rc == 0 || rc == NONE_PASSED) {
        check_outcomes(self, title, path);
        return;
    }
    show_file(log);
    fail(self, "%s: exit %d", title, rc);
}

static void prove(context *self, const problem *p)
{
    static const char *const algorithms[] = {"coarse_smem", "baseline", "direct", "smem_cluster"};
    make_inputs(self, p);
    tune(self, p, "reference", reference_space(self), "default", "1");
    bool has_whole_pieces = p->heads * p->channels * (strcmp(p->dtype, "f32") == 0 ? 4 : 2) % 16 == 0; /* what coarse_smem copies */
    for (size_t i = has_whole_pieces ? 0 : 1; i < sizeof algorithms / sizeof algorithms[0]; i++) tune(self, p, algorithms[i], derive_space(self, p, algorithms[i]), "uniform", self->budget);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    return remove(path);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/msda-reference-XXXXXX";
    const char *seed = getenv("SEED"), *budget = getenv("BUDGET");
    if (argc != 3) {
        fprintf(stderr, "usage: %s TOOL SOURCE_FOLDER\n", argv[0]);
        return 2;
    }
    context self = {.tool = argv[1], .source_folder = realpath(argv[2], NULL), .folder = mkdtemp(folder)};
    self.seed = seed ? strtoull(seed, NULL, 10) : 1;
    self.budget = budget ? budget : "20";
    if (!self.source_folder || !self.folder) die(argv[2]);
    setenv("XDG_DATA_HOME", self.folder, 1);
    setenv("XDG_CACHE_HOME", self.folder, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *const device[] = {self.tool, "device", NULL};
    int rc = run(&self, in_folder(&self, "device.txt"), device);
    show_file(in_folder(&self, "device.txt"));
    printf("seed %llu\n", (unsigned long long)self.seed);
    for (size_t i = 0; rc == 0 && i < sizeof problems / sizeof problems[0]; i++) prove(&self, &problems[i]);
    nftw(self.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(self.source_folder);
    if (rc == 0) return self.is_failed;
    return rc == NO_GPU ? SKIPPED : 1;
}
