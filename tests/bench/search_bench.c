/* How good each strategy's best is after 8, 25, 50, 100, 200 and 400 evaluations, in replay.
 *
 *     search_bench [--strategies a,b] [--seeds N] [--budget N] [--outstanding N] [--noise PERCENT] [--each yes] [--donor TABLE] [--prior rough|inverted] [--perturb pow=X]… SPACE…
 *
 * SPACE: a table's path without its ending (search_table.py makes them), or the name of a made-up space; "made" is all of those. With --outstanding, that
 * many results are always on their way, told in the order of asking. --noise: what is told is off by that much, and twice as much where racing would have stopped the variant;
 * what counts is the true time of the best of those seen fastest, as a final finds it. --each: a line a seed too. --donor: the five best points of that table are the hints. --prior: what
 * is believed of each point beforehand: its time, off by half of it or so, or the opposite of that. Each row: mean % of the
 * optimum's speed over the seeds, and in parentheses the 5th percentile. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench_space.h"
#include "tests/normal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/stats.h"
#include "tuner/search/strategy.h"

enum { MARKS = 6, DONOR_POINTS = 5, MAX_WIDTH = 64, MAX_PERTURBATIONS = 8, FINALISTS = 8, NOISE_SEED = 0x4E6F6973 };
#define RACED 1.1 /* times the best: what is slower is not timed to the end */
static const size_t marks[MARKS] = {8, 25, 50, 100, 200, 400};

struct options {
    char strategies[256];
    size_t seeds, budget, outstanding;
    double noise; /* a share */
    bool each;
    const char *donor, *prior, *perturbations[MAX_PERTURBATIONS];
    size_t perturbation_count;
};

struct tally {
    double *percent[MARKS]; /* a value a seed */
    double asked_ns, slowest_ns;
    size_t proposals;
    double *spent, *lost; /* a value a seed: the share of the budget at which the outlook was flat; how much slower its best was than the last */
};

struct pipe {
    size_t points[MAX_WIDTH];
    size_t first, count;
};

/* What a search sees of the truth. */
struct view {
    const bench_space *space;
    double noise;
    mt_rng rng;
    double seen_ns[FINALISTS], true_ns[FINALISTS]; /* of those seen fastest, best first */
    size_t count;
};

static void enter_final(struct view *view, double seen_ns, double true_ns)
{
    size_t at = view->count < FINALISTS ? view->count++ : FINALISTS;
    if (at == FINALISTS && !(seen_ns < view->seen_ns[--at])) return;
    for (; at > 0 && view->seen_ns[at - 1] > seen_ns; at--) view->seen_ns[at] = view->seen_ns[at - 1], view->true_ns[at] = view->true_ns[at - 1];
    view->seen_ns[at] = seen_ns;
    view->true_ns[at] = true_ns;
}

/* One measurement. A variant that is stopped has few samples, and is known to be slower than the best by a tenth. */
static double look(struct view *view, size_t point)
{
    double true_ns = view->space->time_ns[point], limit = view->count > 0 ? RACED * view->seen_ns[0] : INFINITY;
    if (!isfinite(true_ns)) return true_ns;
    if (!(view->noise > 0)) return enter_final(view, true_ns, true_ns), true_ns;
    double seen_ns = true_ns * exp(view->noise * draw_normal(&view->rng));
    if (seen_ns > limit) return fmax(limit, true_ns * exp(2 * view->noise * draw_normal(&view->rng)));
    enter_final(view, seen_ns, true_ns);
    return seen_ns;
}

static double best_of_final(const struct view *view)
{
    double best = INFINITY;
    for (size_t i = 0; i < view->count; i++) best = fmin(best, view->true_ns[i]);
    return best;
}

/* The same of each point each time. */
static double rough_prior(const void *context, size_t point)
{
    const bench_space *space = context;
    double chance = (double)((point + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 11) * 0x1p-53;
    return (isfinite(space->time_ns[point]) ? space->time_ns[point] : 2 * space->best_ns) * exp(chance - 0.5);
}

static double inverted_prior(const void *context, size_t point)
{
    return 1e12 / rough_prior(context, point);
}

/* One search. Fills percent[m][seed]. */
static mt_status run(const bench_space *space, const mt_strategy *strategy, const struct options *options, const size_t *hints, size_t hint_count, size_t seed, struct tally *tally, mt_error *err)
{
    void *state = NULL;
    struct pipe pipe = {{0}, 0, 0};
    size_t asked = 0, told = 0, limit = mt_space_count(space->space) < options->budget ? mt_space_count(space->space) : options->budget, mark = 0;
    double best = INFINITY, flat_best = NAN;
    struct view view = {.space = space, .noise = options->noise};
    mt_rng_seed(&view.rng, NOISE_SEED + seed);
    size_t flat_at = 0;
    mt_search_setup setup = {.space = space->space, .seed = seed, .budget = options->budget, .hints = hints, .hint_count = hint_count, .prior_context = space};
    if (options->prior) setup.prior = strcmp(options->prior, "inverted") == 0 ? inverted_prior : rough_prior;
    mt_status st = strategy->create(&setup, &state, err);
    while (st == MT_OK && told < limit) {
        size_t room = options->outstanding - pipe.count, fresh[MAX_WIDTH], given = 0;
        if (room > limit - asked) room = limit - asked;
        int64_t before = mt_clock_now_ns();
        if (room > 0) given = strategy->ask(state, fresh, room);
        double took = (double)(mt_clock_now_ns() - before);
        tally->asked_ns += took;
        tally->slowest_ns = fmax(tally->slowest_ns, took);
        tally->proposals += given;
        asked += given;
        for (size_t i = 0; i < given; i++) pipe.points[(pipe.first + pipe.count++) % MAX_WIDTH] = fresh[i];
        if (pipe.count == 0) break;
        size_t point = pipe.points[pipe.first];
        pipe.first = (pipe.first + 1) % MAX_WIDTH;
        pipe.count--;
        strategy->tell(state, point, look(&view, point));
        best = best_of_final(&view);
        told++;
        if (flat_at == 0 && strategy->outlook && strategy->outlook(state) < MT_FLAT_BELOW) flat_at = told, flat_best = best;
        while (mark < MARKS && marks[mark] == told) tally->percent[mark++][seed] = isinf(best) ? 0 : 100 * space->best_ns / best;
    }
    tally->spent[seed] = limit ? (double)(flat_at ? flat_at : told) / (double)limit : 1;
    tally->lost[seed] = flat_at ? flat_best / best - 1 : 0;
    for (; mark < MARKS; mark++) tally->percent[mark][seed] = isinf(best) ? 0 : 100 * space->best_ns / best;
    if (options->each) {
        printf("each %s|%s|%zu", space->name, strategy->name, seed);
        for (size_t m = 0; m < MARKS; m++) printf(" %.4f", tally->percent[m][seed]);
        printf("\n");
    }
    strategy->destroy(state);
    return st;
}

static int by_cost(const void *a, const void *b, void *context)
{
    const double *cost = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    return cost[i] < cost[j] ? -1 : cost[i] > cost[j] ? 1 : i < j ? -1 : 1;
}

/* The donor's best points that are valid here too. */
static mt_status find_hints(const bench_space *space, const char *donor_name, size_t *hints, size_t *count, mt_error *err)
{
    bench_space donor;
    mt_status st = bench_space_load(donor_name, &donor, err);
    if (st != MT_OK) return st;
    size_t points = mt_space_count(donor.space), *order = mt_alloc(points, sizeof *order);
    *count = 0;
    if (!order) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; order && i < points; i++) order[i] = i;
    if (order) qsort_r(order, points, sizeof *order, by_cost, donor.time_ns);
    for (size_t i = 0; order && i < DONOR_POINTS && i < points; i++) {
        mt_point point;
        mt_space_at(donor.space, order[i], &point);
        if (mt_space_find(space->space, &point, &hints[*count])) ++*count;
    }
    mt_free(order);
    bench_space_free(&donor);
    return st;
}

static void print_row(const bench_space *space, const mt_strategy *strategy, const struct options *options, struct tally *tally)
{
    printf("| %s | %s |", space->name, strategy->name);
    for (size_t m = 0; m < MARKS; m++) {
        mt_stats_sort(tally->percent[m], options->seeds);
        printf(" %.2f (%.1f) |", mt_stats_mean(tally->percent[m], options->seeds), mt_stats_quantile(tally->percent[m], options->seeds, 0.05));
    }
    printf(" %.2f | %.0f |\n", tally->proposals ? tally->asked_ns / 1e6 / (double)tally->proposals : 0, tally->slowest_ns / 1e6);
    if (strategy->outlook) {
        mt_stats_sort(tally->lost, options->seeds);
        printf("until flat: %.0f %% of the budget, %.2f %% slower than all of it (worst %.2f %%)\n", 100 * mt_stats_mean(tally->spent, options->seeds), 100 * mt_stats_mean(tally->lost, options->seeds),
               100 * tally->lost[options->seeds - 1]);
    }
    fflush(stdout);
}

static mt_status measure(const bench_space *space, const mt_strategy *strategy, const struct options *options, mt_error *err)
{
    mt_status st = MT_OK;
    struct tally tally = {0};
    size_t hints[DONOR_POINTS], hint_count = 0;
    for (size_t m = 0; m < MARKS; m++) {
        tally.percent[m] = mt_alloc(options->seeds, sizeof(double));
        if (!tally.percent[m]) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    }
    tally.spent = mt_alloc(options->seeds, sizeof(double));
    tally.lost = mt_alloc(options->seeds, sizeof(double));
    if (!tally.spent || !tally.lost) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    if (st == MT_OK && options->donor) st = find_hints(space, options->donor, hints, &hint_count, err);
    for (size_t seed = 0; st == MT_OK && seed < options->seeds; seed++) st = run(space, strategy, options, hints, hint_count, seed, &tally, err);
    if (st == MT_OK) print_row(space, strategy, options, &tally);
    for (size_t m = 0; m < MARKS; m++) mt_free(tally.percent[m]);
    mt_free(tally.spent);
    mt_free(tally.lost);
    return st;
}

static mt_status measure_all(const char *name, const struct options *options, mt_error *err)
{
    mt_status st = MT_OK;
    bench_space space;
    char names[256];
    bool is_made = false;
    for (size_t i = 0; i < bench_space_made_count(); i++) is_made = is_made || strcmp(name, bench_space_made_name(i)) == 0;
    MT_TRY(is_made ? bench_space_make(name, &space, err) : bench_space_load(name, &space, err));
    for (size_t i = 0; st == MT_OK && i < options->perturbation_count; i++) st = bench_space_perturb(&space, options->perturbations[i], err);
    snprintf(names, sizeof names, "%s", options->strategies);
    for (char *rest = names, *one; st == MT_OK && (one = strsep(&rest, ",")) != NULL;) {
        const mt_strategy *strategy = mt_strategy_find(one);
        st = strategy ? measure(&space, strategy, options, err) : MT_FAIL(err, MT_ERR_USAGE, "no strategy '%s'", one);
    }
    bench_space_free(&space);
done:
    return st;
}

static bool take_option(struct options *options, const char *name, const char *value)
{
    size_t number = strtoul(value, NULL, 10);
    if (strcmp(name, "--strategies") == 0) snprintf(options->strategies, sizeof options->strategies, "%s", value);
    else if (strcmp(name, "--seeds") == 0 && number > 0) options->seeds = number;
    else if (strcmp(name, "--budget") == 0 && number > 0) options->budget = number;
    else if (strcmp(name, "--outstanding") == 0 && number > 0 && number <= MAX_WIDTH) options->outstanding = number;
    else if (strcmp(name, "--noise") == 0 && strtod(value, NULL) > 0) options->noise = strtod(value, NULL) / 100;
    else if (strcmp(name, "--each") == 0 && strcmp(value, "yes") == 0) options->each = true;
    else if (strcmp(name, "--donor") == 0) options->donor = value;
    else if (strcmp(name, "--prior") == 0 && (strcmp(value, "rough") == 0 || strcmp(value, "inverted") == 0)) options->prior = value;
    else if (strcmp(name, "--perturb") == 0 && options->perturbation_count < MAX_PERTURBATIONS) options->perturbations[options->perturbation_count++] = value;
    else return false;
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.seeds = 100, .budget = 400, .outstanding = 1};
    mt_error err = {0};
    mt_status st = MT_OK;
    int at = 1;
    for (size_t i = 0; i < mt_strategy_count(); i++) {
        size_t length = strlen(options.strategies);
        if (strcmp(mt_strategy_at(i)->name, "exhaustive") != 0) snprintf(options.strategies + length, sizeof options.strategies - length, "%s%s", length ? "," : "", mt_strategy_at(i)->name);
    }
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (!take_option(&options, argv[at], argv[at + 1])) break;
    }
    if (at >= argc || strncmp(argv[at], "--", 2) == 0) {
        fprintf(stderr, "usage: search_bench [--strategies a,b] [--seeds N] [--budget N] [--outstanding N] [--noise PERCENT] [--each yes] [--donor TABLE] [--prior rough|inverted] [--perturb HOW]... SPACE...\n");
        return 2;
    }
    printf("| space | strategy | 8 | 25 | 50 | 100 | 200 | 400 | ms a proposal | slowest ask, ms |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (; st == MT_OK && at < argc; at++) {
        if (strcmp(argv[at], "made") != 0) st = measure_all(argv[at], &options, &err);
        else for (size_t i = 0; st == MT_OK && i < bench_space_made_count(); i++) st = measure_all(bench_space_made_name(i), &options, &err);
    }
    if (st != MT_OK) fprintf(stderr, "search_bench: %s\n", err.message);
    return st == MT_OK ? 0 : 1;
}
