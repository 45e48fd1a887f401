/* Spaces from tables, and what may be done to them. */
#include "tests/bench/bench_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/normal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

/* The tables were measured on GPUs that large; only `when`s are evaluated with these facts. */
static const mt_device_facts facts = {
    .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472, .smem_reserved = 1024,
    .regs_per_sm = 65536, .threads_per_sm = 2048, .blocks_per_sm = 32, .max_cluster = 16, .l2_bytes = 52428800, .mem_bytes = 85017493504,
    .clock_mhz = 1980,
};

struct table {
    mt_point *points;
    double *costs;
    size_t count, capacity, cost_capacity;
    char shape[64];
};

static mt_status add_line(const mt_spec *spec, struct table *table, char *line, mt_error *err)
{
    char *tab = strchr(line, '\t');
    if (!tab) return MT_FAIL(err, MT_ERR_SYNTAX, "'%s': expected a point, a tab and nanoseconds or \"fail\"", line);
    *tab = '\0';
    if (strcmp(line, "#shape") == 0) {
        snprintf(table->shape, sizeof table->shape, "%s", tab + 1);
        return MT_OK;
    }
    mt_point *points = mt_grow(table->points, table->count, &table->capacity, sizeof *points);
    if (points) table->points = points;
    double *costs = mt_grow(table->costs, table->count, &table->cost_capacity, sizeof *costs);
    if (costs) table->costs = costs;
    if (!points || !costs) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    table->costs[table->count] = strncmp(tab + 1, "fail", 4) == 0 ? INFINITY : strtod(tab + 1, NULL);
    return mt_point_parse(spec, line, &table->points[table->count++], err);
}

static mt_status read_table(const mt_spec *spec, const char *path, struct table *table, mt_error *err)
{
    char line[4096];
    mt_status st = MT_OK;
    FILE *file = fopen(path, "r");
    if (!file) return MT_FAIL(err, MT_ERR_IO, "%s: cannot be opened", path);
    while (st == MT_OK && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        st = add_line(spec, table, line, err);
    }
    fclose(file);
    return st;
}

static void find_best(bench_space *space)
{
    space->best_ns = INFINITY;
    for (size_t i = 0; i < mt_space_count(space->space); i++) space->best_ns = fmin(space->best_ns, space->time_ns[i]);
}

/* A list's points are sorted when they become a space: every cost moves to where its point is now. costs[i] is that of points[i]. */
static mt_status place_costs(const mt_space *space, const mt_point *points, const double *costs, size_t count, double **out, mt_error *err)
{
    double *placed = *out = mt_alloc(mt_space_count(space), sizeof *placed);
    if (!placed) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++) {
        size_t index;
        if (!mt_space_find(space, &points[i], &index)) return MT_FAIL(err, MT_ERR_NOT_FOUND, "point %zu of the table is not in the space made of it", i);
        placed[index] = costs[i];
    }
    return MT_OK;
}

mt_status bench_space_load(const char *name, bench_space *out, mt_error *err)
{
    mt_status st = MT_OK;
    struct table table = {0};
    char path[1024];
    const char *slash = strrchr(name, '/');
    *out = (bench_space){0};
    snprintf(out->name, sizeof out->name, "%.63s", slash ? slash + 1 : name);
    snprintf(path, sizeof path, "%s.ini", name);
    MT_TRY(mt_spec_load(path, &out->spec, err));
    snprintf(path, sizeof path, "%s.tsv", name);
    MT_TRY(read_table(out->spec, path, &table, err));
    const mt_shape *shape = &out->spec->shapes[0];
    for (size_t i = 0; i < out->spec->shape_count; i++) {
        if (strcmp(out->spec->shapes[i].name, table.shape) == 0) shape = &out->spec->shapes[i];
    }
    MT_TRY(mt_space_create_recorded(out->spec, shape, &facts, table.points, table.count, &out->space, err));
    MT_TRY(place_costs(out->space, table.points, table.costs, table.count, &out->time_ns, err));
    find_best(out);
done:
    mt_free(table.points);
    mt_free(table.costs);
    if (st != MT_OK) bench_space_free(out);
    return st;
}

void bench_space_free(bench_space *space)
{
    mt_space_free(space->space);
    mt_spec_free(space->spec);
    mt_free(space->time_ns);
    *space = (bench_space){0};
}

/* ---- perturbing ---- */

/* Costs move to the point whose levels are permuted, where that one exists; numeric knobs lose their order by it. */
static mt_status shuffle(bench_space *space, uint64_t seed, mt_error *err)
{
    const mt_spec *spec = space->spec;
    size_t count = mt_space_count(space->space);
    static int16_t order[MT_MAX_PARAMS][1024];
    mt_rng rng;
    mt_rng_seed(&rng, seed);
    for (size_t i = 1; i < spec->param_count; i++) {
        for (size_t k = 0; k < spec->params[i].value_count; k++) {
            size_t other = (size_t)mt_rng_below(&rng, k + 1);
            order[i][k] = order[i][other];
            order[i][other] = (int16_t)k;
        }
    }
    mt_point *points = mt_alloc(count, sizeof *points);
    mt_space *shuffled = NULL;
    if (!points) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t at = 0; at < count; at++) {
        mt_space_at(space->space, at, &points[at]);
        for (size_t i = 1; i < spec->param_count; i++) {
            if (points[at].level[i] != MT_INACTIVE) points[at].level[i] = order[i][points[at].level[i]];
        }
    }
    space->spec->is_recorded = true; /* a point with permuted levels need not be valid: as one of a recording it counts, and no constraint is asked */
    space->spec->constraint_count = 0;
    mt_status st = mt_space_create_recorded(spec, mt_space_shape(space->space), &facts, points, count, &shuffled, err);
    double *costs = NULL;
    if (st == MT_OK) st = place_costs(shuffled, points, space->time_ns, count, &costs, err);
    mt_free(points);
    if (st != MT_OK) {
        mt_space_free(shuffled);
        mt_free(costs);
        return st;
    }
    mt_space_free(space->space);
    mt_free(space->time_ns);
    space->space = shuffled;
    space->time_ns = costs;
    return MT_OK;
}

/* How many knobs that have other values too stand at one that is no power of two. */
static double odd_knobs(const bench_space *space, size_t index)
{
    const mt_spec *spec = mt_space_spec(space->space);
    mt_point point;
    size_t count = 0;
    mt_space_at(space->space, index, &point);
    for (size_t i = 1; i < spec->param_count; i++) {
        int64_t value = spec->params[i].is_string || point.level[i] == MT_INACTIVE ? 1 : spec->params[i].numbers[point.level[i]];
        count += (value & (value - 1)) != 0;
    }
    return (double)count;
}

mt_status bench_space_perturb(bench_space *space, const char *how, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = mt_space_count(space->space), length = strlen(space->name);
    const char *value = strchr(how, '=');
    if (!value) return MT_FAIL(err, MT_ERR_USAGE, "'%s': expected pow=X, shuffle=SEED, noise=PERCENT, fail=PERCENT or odd=X", how);
    double number = strtod(value + 1, NULL);
    mt_rng rng;
    mt_rng_seed(&rng, 99);
    if (strncmp(how, "shuffle=", 8) == 0) st = shuffle(space, (uint64_t)number, err);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(how, "pow=", 4) == 0) space->time_ns[i] = pow(space->time_ns[i], number);
        if (strncmp(how, "noise=", 6) == 0) space->time_ns[i] *= 1 + number / 100 * fabs(draw_normal(&rng));
        if (strncmp(how, "fail=", 5) == 0 && mt_rng_uniform(&rng) < number / 100) space->time_ns[i] = INFINITY;
        if (strncmp(how, "odd=", 4) == 0) space->time_ns[i] *= pow(number, odd_knobs(space, i));
    }
    find_best(space);
    snprintf(space->name + length, sizeof space->name - length, " %s", how);
    return st;
}
