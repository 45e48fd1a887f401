/* How long a proposal takes in a space of any size, where no recording is needed: times are made up, smooth in the knobs with a little noise.
 *
 *     proposal_bench SPACE.ini SHAPE [BUDGET [STRATEGY]]
 *
 * Prints how many points there are, how long the space and the strategy took to make, and for each fifth of the budget (400) the mean and the
 * longest time of a proposal, in milliseconds of the processor. One result at a time, an H100's facts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tuner/search/strategy.h"

enum { PARTS = 5 };

static const mt_device_facts h100 = {.name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .max_cluster = 16, .smem_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024, .threads_per_sm = 2048,
                                     .clock_mhz = 1980, .l2_bytes = 52428800};

/* Each knob has a level that is best, and each pair of neighbouring knobs a combination that is bad. */
static double made_up_ns(const mt_space *space, size_t index)
{
    const mt_spec *spec = mt_space_spec(space);
    mt_point point;
    double cost = 1;
    mt_space_at(space, index, &point);
    for (size_t i = 0; i < spec->param_count; i++) {
        double levels = (double)spec->params[i].value_count, best = (double)((i * 7 + 3) % spec->params[i].value_count), level = point.level[i] == MT_INACTIVE ? levels : (double)point.level[i];
        cost += 0.1 * fabs(level - best) / levels;
        if (i > 0 && point.level[i] > point.level[i - 1]) cost += 0.05;
    }
    return 1e5 * cost * (1 + 0.01 * (double)((index * UINT64_C(0x9E3779B97F4A7C15)) >> 54) / 1024);
}

/* The processor's seconds: others may share it. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static mt_status measure(const mt_space *space, const mt_strategy *strategy, size_t budget, mt_error *err)
{
    mt_search_setup setup = {.space = space, .budget = budget};
    void *state = NULL;
    double start = seconds();
    mt_status st = strategy->create(&setup, &state, err);
    if (st != MT_OK) return st;
    printf("%s made in %.3f s; ms a proposal, mean (longest):", strategy->name, seconds() - start);
    double best = INFINITY, sum = 0, longest = 0;
    size_t part = 1, first = 0, point;
    for (size_t told = 0; told < budget; told++) {
        start = seconds();
        if (strategy->ask(state, &point, 1) == 0) break;
        double took = (seconds() - start) * 1e3, cost = made_up_ns(space, point);
        sum += took;
        longest = fmax(longest, took);
        best = fmin(best, cost);
        strategy->tell(state, point, cost);
        if (told + 1 < part * budget / PARTS) continue;
        printf(" %.2f (%.1f)", sum / (double)(told + 1 - first), longest);
        first = told + 1;
        part++;
        sum = longest = 0;
    }
    printf("; best %.0f ns\n", best);
    strategy->destroy(state);
    return MT_OK;
}

int main(int argc, char **argv)
{
    mt_error err = {0};
    mt_spec *spec = NULL;
    mt_space *space = NULL;
    if (argc < 3) return fprintf(stderr, "usage: proposal_bench SPACE.ini SHAPE [BUDGET [STRATEGY]]\n"), 2;
    size_t budget = argc > 3 ? strtoul(argv[3], NULL, 10) : 400;
    const mt_strategy *strategy = mt_strategy_find(argc > 4 ? argv[4] : "mixed");
    mt_status st = mt_spec_load(argv[1], &spec, &err);
    const mt_shape *shape = st == MT_OK ? mt_spec_shape(spec, argv[2]) : NULL;
    if (st == MT_OK && (!shape || !strategy || budget < PARTS)) st = MT_FAIL(&err, MT_ERR_USAGE, "expected a shape of %s, a strategy, and a budget of at least %d", argv[1], PARTS);
    double start = seconds();
    if (st == MT_OK) st = mt_space_create(spec, shape, &h100, &space, &err);
    if (st == MT_OK) {
        char text[MT_SPACE_COUNT_SIZE];
        printf("%s, %s: %s points, %s, made in %.3f s\n", spec->name, shape->name, mt_space_count_text(space, text, sizeof text), mt_space_is_enumerated(space) ? "enumerated" : "sampled", seconds() - start);
        st = measure(space, strategy, budget, &err);
    }
    if (st != MT_OK) fprintf(stderr, "proposal_bench: %s\n", err.message);
    mt_space_free(space);
    mt_spec_free(spec);
    return st == MT_OK ? 0 : 1;
}
