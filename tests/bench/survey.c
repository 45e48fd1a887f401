/* Times many variants on many shapes, for the correction of a cost model: survey SPACE JOBS OUT CACHE WORKERS SECONDS
 *
 * JOBS, lines: "SHAPE<tab>VARIANT", a shape of SPACE by name, with the first of its workloads, those of one shape together, the ones believed fastest first. OUT, lines: the same, then outcome, median in nanoseconds and samples.
 * Each variant is compiled once for all shapes that bake the same. Nothing is validated, so only variants that are known to be right belong here. A variant that breaks the context, or hangs, costs
 * its process, and the next one goes on behind it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile.h"
#include "tuner/gpu/trial/evaluate.h"
#include "tuner/space/source/macros.h"

enum { PATH_BYTES = 512, MOST_DEATHS = 25 };
static const int64_t HANGS_NS = INT64_C(20000000000);
static const double GIVE_UP = 1.6; /* times the best of the shape so far */

typedef struct job { char *shape, *variant, *code; size_t compile; } job;
static struct {
    mt_spec *spec;
    mt_source source;
    mt_nvrtc *nvrtc;
    mt_device_facts facts;
    const char *cache, *out;
    job *jobs;
    size_t count, capacity, compile_count;
    size_t *leads;                 /* [compile_count]: the first job of each */
    int64_t end_ns;
    struct { size_t next_compile, at; } *shared; /* by all processes */
    char (*cubins)[PATH_BYTES];    /* shared; "" = it does not compile */
} all;
static mt_error err;

static void must(mt_status st, const char *what)
{
    if (st == MT_OK) return;
    fprintf(stderr, "survey: %s: %s\n", what, err.message);
    exit(1);
}

static void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    return memory;
}

static bool has_time(void)
{
    return mt_clock_now_ns() < all.end_ns;
}

/* ---- jobs ---- */

/* What the compiled code depends on: all options. */
static mt_options options_of(const job *j)
{
    mt_env *env;
    mt_point point;
    mt_options options = {0};
    const mt_shape *shape = mt_spec_shape(all.spec, j->shape);
    if (!shape) must(MT_FAIL(&err, MT_ERR_NOT_FOUND, "there is no such shape"), j->shape);
    must(mt_env_create(all.spec, shape, &all.facts, &env, &err), j->shape);
    must(mt_point_parse(all.spec, j->variant, &point, &err), j->variant);
    must(mt_env_set_point(env, &point, &err), j->variant);
    must(mt_options_variant(env, &options, &err), j->variant);
    mt_env_free(env);
    return options;
}

static void read_jobs(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    if (!file) must(MT_ERR_IO, path);
    while (getline(&line, &size, file) > 0) {
        char *tab = strchr(line, '\t');
        if (!tab) continue;
        *tab = tab[1 + strcspn(tab + 1, "\n")] = '\0';
        job *added = MT_APPEND(all.jobs, all.count, all.capacity);
        *added = (job){.shape = mt_strdup(line), .variant = mt_strdup(tab + 1)};
    }
    free(line);
    fclose(file);
}

static int by_code(const void *a, const void *b)
{
    const job *x = *(job *const *)a, *y = *(job *const *)b;
    int order = strcmp(x->code, y->code);
    return order ? order : (x > y) - (x < y);
}

static void group_jobs(void)
{
    job **sorted = mt_alloc(all.count + 1, sizeof *sorted);
    all.leads = mt_alloc(all.count + 1, sizeof *all.leads);
    for (size_t i = 0; i < all.count; i++) {
        mt_strbuf code = {0};
        mt_options options = options_of(&all.jobs[i]);
        for (size_t k = 0; k < options.count; k++) mt_strbuf_addf(&code, "%s ", options.items[k]);
        all.jobs[i].code = mt_strbuf_take(&code);
        mt_options_free(&options);
        sorted[i] = &all.jobs[i];
    }
    qsort(sorted, all.count, sizeof *sorted, by_code);
    for (size_t i = 0; i < all.count; i++) {
        if (i == 0 || strcmp(sorted[i]->code, sorted[i - 1]->code) != 0) all.leads[all.compile_count++] = (size_t)(sorted[i] - all.jobs);
        sorted[i]->compile = all.compile_count - 1;
    }
    mt_free(sorted);
}

/* ---- compiling ---- */

static char *compile(const mt_source *source, const mt_options *options)
{
    mt_compile_result result;
    const mt_compile_request request = {.source = source, .options = options ? (const char *const *)options->items : NULL, .option_count = options ? options->count : 0, .arch = "sm_90a", .cache_dir = all.cache};
    must(mt_compile(all.nvrtc, &request, &result, &err), "compile");
    char *path = result.ok ? mt_strdup(result.cubin_path) : NULL;
    mt_compile_result_free(&result);
    return path;
}

static void compile_share(void)
{
    must(mt_nvrtc_open(&all.nvrtc, &err), "NVRTC");
    for (size_t i; (i = __sync_fetch_and_add(&all.shared->next_compile, 1)) < all.compile_count && has_time();) {
        mt_options options = options_of(&all.jobs[all.leads[i]]);
        char *path = compile(&all.source, &options);
        if (path) snprintf(all.cubins[i], PATH_BYTES, "%s", path);
        mt_free(path);
        mt_options_free(&options);
    }
}

/* ---- timing ---- */

static mt_subject_request subject_of(const char *name)
{
    mt_env *env;
    mt_options options = {0};
    const mt_shape *shape = mt_spec_shape(all.spec, name);
    mt_subject_request subject = {.spec = all.spec, .source = &all.source, .shape = shape, .workload = mt_spec_workload(all.spec, shape->workload_count ? shape->workloads[0] : "default"), .seed = 1};
    must(mt_env_create(all.spec, subject.shape, &all.facts, &env, &err), name);
    must(mt_options_support(env, subject.workload, 0, &options, &err), name);
    subject.support_cubin = compile(&all.source, &options);
    mt_options_free(&options);
    mt_env_free(env);
    return subject;
}

static mt_gpu *open_gpu(void)
{
    mt_gpu *gpu;
    mt_source tool;
    must(mt_nvrtc_open(&all.nvrtc, &err), "NVRTC");
    must(mt_gpu_open(0, &gpu, &all.facts, &err), "GPU");
    must(mt_gpu_make_context(gpu, &err), "context");
    must(mt_compile_tool_source(&tool, &err), "tool");
    must(mt_gpu_load_tool(gpu, compile(&tool, NULL), &err), "tool");
    return gpu;
}

/* From the job where the process before stopped. */
static void time_jobs(void)
{
    mt_gpu *gpu = open_gpu();
    FILE *out = fopen(all.out, "a");
    mt_subject_request subject = {0};
    const char *shape = "";
    double best = 0;
    bool is_broken = false;
    for (; all.shared->at < all.count && has_time() && !is_broken; all.shared->at++) {
        const job *j = &all.jobs[all.shared->at];
        mt_outcome outcome;
        mt_point point;
        if (!all.cubins[j->compile][0]) continue;
        if (strcmp(shape, j->shape) != 0) {
            subject = subject_of(shape = j->shape);
            best = 0;
        }
        must(mt_point_parse(all.spec, j->variant, &point, &err), j->variant);
        const mt_evaluate_request request = {.subject = &subject, .point = &point, .cubin_path = all.cubins[j->compile], .is_retime = true,
            .timing = {.l2 = all.spec->l2, .interval = 0.01, .min_samples = 4, .max_samples = 8, .max_ns = 20000000, .graph_below_ns = 100000, .race_ns = best, .race_factor = GIVE_UP}};
        must(mt_gpu_evaluate(gpu, &request, NULL, NULL, &outcome, &is_broken, &err), j->variant);
        fprintf(out, "%s\t%s\t%s\t%.1f\t%u\n", j->shape, j->variant, mt_outcome_name(outcome.kind), outcome.timing.median_ns, outcome.timing.samples);
        fflush(out);
        if (outcome.kind == MT_OUTCOME_OK && (best == 0 || outcome.timing.median_ns < best)) best = outcome.timing.median_ns;
        mt_outcome_free(&outcome);
    }
    fclose(out);
}

/* True while it made progress; what it died or hung in is passed over. */
static bool watch(pid_t child)
{
    size_t seen = SIZE_MAX;
    int status;
    for (int64_t since = 0; waitpid(child, &status, WNOHANG) == 0; usleep(20000)) {
        bool moves = all.shared->at != seen;
        if (moves) since = mt_clock_now_ns();
        seen = all.shared->at;
        if (mt_clock_now_ns() - since > HANGS_NS) kill(child, SIGKILL);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    fprintf(stderr, "survey: died at %s %s\n", all.jobs[all.shared->at].shape, all.jobs[all.shared->at].variant);
    all.shared->at++;
    return false;
}

/* In a process of its own, since a context must not be inherited. */
static void learn_facts(void)
{
    mt_device_facts *facts = share(sizeof *facts);
    int status;
    if (fork() == 0) {
        mt_gpu *gpu;
        must(mt_gpu_open(0, &gpu, facts, &err), "GPU");
        _exit(0);
    }
    if (wait(&status) < 0 || status != 0) exit(1);
    all.facts = *facts;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: survey SPACE JOBS OUT CACHE WORKERS SECONDS\n");
        return 2;
    }
    all.out = argv[3];
    all.cache = argv[4];
    all.end_ns = mt_clock_now_ns() + (int64_t)(atof(argv[6]) * 1e9);
    must(mt_spec_load(argv[1], &all.spec, &err), argv[1]);
    must(mt_source_load(all.spec, &all.source, &err), argv[1]);
    learn_facts();
    read_jobs(argv[2]);
    group_jobs();
    all.shared = share(sizeof *all.shared);
    all.cubins = share((all.compile_count + 1) * PATH_BYTES);
    for (int w = 0; w < atoi(argv[5]); w++) {
        if (fork() != 0) continue;
        compile_share();
        _exit(0);
    }
    while (wait(NULL) > 0) {}
    for (int deaths = 0; all.shared->at < all.count && has_time() && deaths < MOST_DEATHS;) {
        pid_t child = fork();
        if (child == 0) {
            time_jobs();
            _exit(0);
        }
        deaths += !watch(child);
    }
    fprintf(stderr, "survey: %zu of %zu\n", all.shared->at, all.count);
    return 0;
}
