#include "tests/gpu/msda_proof.h"

#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/store/query.h"
#include "tuner/base/file.h"

extern char **environ;

enum { SKIPPED = 77, NO_GPU = 3, NONE_PASSED = 4 };

void proof_fail(proof *self, const char *format, ...)
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

void *proof_space(size_t count, size_t bytes)
{
    void *data = calloc(count, bytes);
    if (!data) die("calloc");
    return data;
}

const char *proof_path(const proof *self, const char *name)
{
    static char paths[8][1024];
    static size_t next;
    char *path = paths[next++ % 8];
    if ((size_t)snprintf(path, sizeof paths[0], "%s/%s", self->folder, name) >= sizeof paths[0]) die("the folder's name is too long");
    return path;
}

struct ref_msda_shape proof_shape(const problem *p)
{
    return (struct ref_msda_shape){p->images, p->queries_per_image, p->heads, p->channels, p->levels, p->points, p->height, p->width};
}

size_t proof_pixels(const problem *p)
{
    const struct ref_msda_shape shape = proof_shape(p);
    return ref_msda_pixels(&shape) + (p->levels + 1) * p->gap;
}

/* ---- inputs ---- */

static const double wild[] = {NAN, -NAN, INFINITY, -INFINITY, 1e30, -1e30, 3e38, -3e38, 65504, -65504, 2, -1, 1e-30, -0.0};

double proof_coordinate(mt_rng *rng, size_t size)
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

void *proof_with_gaps(const problem *p, void *dense, size_t bytes)
{
    size_t pixel = p->heads * p->channels * bytes;
    char *out = proof_space(p->images * proof_pixels(p), pixel), *to = out;
    const char *from = dense;
    for (size_t image = 0; image < p->images; image++, to += p->gap * pixel) {
        for (size_t l = 0; l < p->levels; l++) {
            size_t level = p->height[l] * p->width[l] * pixel;
            memcpy(to + p->gap * pixel, from, level);
            to += p->gap * pixel + level;
            from += level;
        }
    }
    free(dense);
    return out;
}

/* ---- search spaces ---- */

static void add_list(mt_strbuf *text, const char *name, const size_t *items, size_t count)
{
    mt_strbuf_addf(text, "%s = ", name);
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(text, "%zu, ", items[i]);
    mt_strbuf_add(text, "\n");
}

void proof_add_shape(mt_strbuf *text, const problem *p, const char *more)
{
    mt_strbuf_addf(text, "\n[shape %s]\nN = %zu\nM = %zu\nD = %zu\nP = %zu\nLq = %zu\n", p->name, p->images, p->heads, p->channels, p->points, p->queries_per_image);
    add_list(text, "H", p->height, p->levels);
    add_list(text, "W", p->width, p->levels);
    mt_strbuf_addf(text, "S = dot(H, W) + %zu\nSTART = ", (p->levels + 1) * p->gap);
    for (size_t i = 0, start = p->gap; i < p->levels; start += p->height[i] * p->width[i] + p->gap, i++) mt_strbuf_addf(text, "%zu, ", start);
    mt_strbuf_addf(text, "\ndtype = %s\nloc_dtype = %s\nattn = %s\nqueries = %s\n%s", p->dtype, p->loc_dtype, p->attn, p->queries, more);
}

void proof_add_sources(const proof *self, mt_strbuf *text, const char *family, const char *reference)
{
    mt_strbuf_addf(text, "source = \"%s/kernels/%s/%s.cu\"\ninclude = \"%s/kernels/include\"\nreference = %s\n", self->source_folder, family, family, self->source_folder, reference);
}

void proof_save(const char *path, mt_strbuf *text)
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

const char *proof_derive_space(const proof *self, const problem *p, const char *family, const char *reference, const char *algorithm, void (*add_shapes)(mt_strbuf *))
{
    char *shipped, line[1024];
    bool in_shape = false;
    mt_strbuf text = {0};
    snprintf(line, sizeof line, "%s/search_spaces/%s.ini", self->source_folder, family);
    FILE *in = fopen(line, "r");
    if (!in) die(line);
    while ((shipped = fgets(line, sizeof line, in))) {
        if (*shipped == '[') in_shape = starts_with(shipped, "[shape ");
        bool replaced = starts_with(shipped, "source ") || starts_with(shipped, "include ") || starts_with(shipped, "reference ") || starts_with(shipped, "correction ");
        if (starts_with(shipped, "rtol ")) mt_strbuf_addf(&text, "rtol = %s\n", p->rtol);
        else if (!in_shape && !replaced) mt_strbuf_add(&text, shipped);
        if (starts_with(shipped, "[kernel]")) proof_add_sources(self, &text, family, reference);
    }
    fclose(in);
    add_shapes(&text);
    mt_strbuf_addf(&text, "[constraint this_algorithm]\nexpr = ALGO == %s\n", algorithm);
    proof_save(proof_path(self, "variants.ini"), &text);
    return proof_path(self, "variants.ini");
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
static int run(const proof *self, const char *log, const char *const *words)
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
static void check_outcomes(proof *self, const char *title, const char *db)
{
    const char *log = proof_path(self, "failures.txt");
    mt_error err = {0};
    mt_store *store = NULL;
    const mt_filter all = {0};
    int64_t counts[MT_OUTCOME_KIND_COUNT] = {0}, bad = 0;
    if (mt_store_open(db, MT_STORE_READ_ONLY, &store, &err) != MT_OK || mt_query_outcome_counts(store, &all, counts, &err) != MT_OK)
        proof_fail(self, "%s: %s", title, err.message);
    mt_store_close(store);
    for (size_t i = 0; i < MT_OUTCOME_KIND_COUNT; i++)
        if (i != MT_OUTCOME_OK && mt_outcome_is_run((mt_outcome_kind)i) && i != MT_OUTCOME_ILLEGAL) bad += counts[i];
    printf("%s: %lld ok, %lld illegal, %lld bad\n", title, (long long)counts[MT_OUTCOME_OK], (long long)counts[MT_OUTCOME_ILLEGAL], (long long)bad);
    if (counts[MT_OUTCOME_OK] == 0) proof_fail(self, "%s: nothing was measured", title);
    if (bad == 0) return;
    const char *const show[] = {self->tool, "show", "--failures", "--db", db, NULL};
    run(self, log, show);
    show_file(log);
    proof_fail(self, "%s: %lld variants are not ok", title, (long long)bad);
}

enum { FIXED_WORDS = 22, MAX_INPUTS = 4, WORDS = FIXED_WORDS + 2 * MAX_INPUTS + 2 + 1 };

/* A database of its own for each run: --input is no part of what tells measurements apart. */
void proof_tune(proof *self, const problem *p, const char *what, const char *space, const char *workload, const char *budget, const proof_input *inputs, size_t input_count)
{
    char title[128], db[160], seed[32], given[MAX_INPUTS][1100];
    snprintf(title, sizeof title, "%s, %s", p->name, what);
    snprintf(db, sizeof db, "%s.%s.sqlite", p->name, what);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)self->seed);
    const char *path = proof_path(self, db), *log = proof_path(self, "tune.txt");
    const char *words[WORDS] = {self->tool, "tune", "--gpu", "auto", "--space", space, "--shape", p->name, "--workload", workload, "--strategy", "random",
                                "--budget", budget, "--seed", seed, "--db", path, "--guard", "pages", "--no-race", "--quiet"};
    size_t count = FIXED_WORDS;
    assert(input_count <= MAX_INPUTS);
    for (size_t i = 0; i < input_count; i++) {
        snprintf(given[i], sizeof given[i], "%s=%s", inputs[i].arg, proof_path(self, inputs[i].file));
        words[count++] = "--input";
        words[count++] = given[i];
    }
    if (self->jobs) {
        words[count++] = "--jobs";
        words[count++] = self->jobs;
    }
    int rc = run(self, log, words);
    if (rc == 0 || rc == NONE_PASSED) {
        check_outcomes(self, title, path);
        return;
    }
    show_file(log);
    proof_fail(self, "%s: exit %d", title, rc);
}

enum { SIDE_BY_SIDE = 6 };

/* In the child: never returns. */
static void prove_apart(proof *self, size_t i, void (*prove)(proof *, size_t))
{
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/%zu", self->folder, i);
    if (mkdir(folder, 0700) != 0) die(folder);
    self->folder = folder;
    if (!freopen(proof_path(self, "said.txt"), "w", stdout)) die(folder);
    self->is_failed = false;
    self->jobs = "4";
    prove(self, i);
    fflush(stdout);
    _exit(self->is_failed);
}

/* Waits for any child; true when it found fault. */
static bool wait_for_one(void)
{
    int status = 0;
    if (wait(&status) < 0) die("wait");
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

void proof_side_by_side(proof *self, size_t count, void (*prove)(proof *, size_t))
{
    size_t running = 0;
    fflush(stdout);
    for (size_t i = 0; i < count; i++, running++) {
        if (running == SIDE_BY_SIDE) {
            self->is_failed |= wait_for_one();
            running--;
        }
        pid_t child = fork();
        if (child < 0) die("fork");
        if (child == 0) prove_apart(self, i, prove);
    }
    for (; running > 0; running--) self->is_failed |= wait_for_one();
    for (size_t i = 0; i < count; i++) {
        char said[32];
        snprintf(said, sizeof said, "%zu/said.txt", i);
        show_file(proof_path(self, said));
    }
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    return remove(path);
}

int proof_main(int argc, char **argv, const char *default_budget, void (*prove)(proof *))
{
    char folder[] = "/tmp/msda-proof-XXXXXX";
    const char *seed = getenv("SEED"), *budget = getenv("BUDGET");
    if (argc != 3) {
        fprintf(stderr, "usage: %s TOOL SOURCE_FOLDER\n", argv[0]);
        return 2;
    }
    proof self = {.tool = argv[1], .source_folder = realpath(argv[2], NULL), .folder = mkdtemp(folder)};
    self.seed = seed ? strtoull(seed, NULL, 10) : 1;
    self.budget = budget ? budget : default_budget;
    if (!self.source_folder || !self.folder) die(argv[2]);
    setenv("XDG_DATA_HOME", self.folder, 1);
    setenv("XDG_CACHE_HOME", self.folder, 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *const device[] = {self.tool, "device", NULL};
    int rc = run(&self, proof_path(&self, "device.txt"), device);
    show_file(proof_path(&self, "device.txt"));
    printf("seed %llu\n", (unsigned long long)self.seed);
    if (rc == 0) prove(&self);
    nftw(self.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(self.source_folder);
    if (rc == 0) return self.is_failed;
    return rc == NO_GPU ? SKIPPED : 1;
}
