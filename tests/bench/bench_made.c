/* Made-up spaces: plateaus, needles, ruggedness, knobs that hold for one algorithm only, failures, and costs built the way a GPU's are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench_space.h"
#include "tuner/base/alloc.h"

static const char frame[] = "[kernel]\nsource = none.cu\nreference = none\n[shape s]\nN = 64\n%s\n[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n"
                            "[launch 1]\nargs = out\ngrid = N\nblock = 64\n%s\n";
#define ONE "[algorithm plain]"
#define SIX_KNOBS \
    "[param A]\nvalues = 1,2,4,8,16,32\n[param B]\nvalues = 1,2,3,4,6\n[param C]\nvalues = 16,32,64,128,256\n[param D]\nvalues = 1,2,4,8\n[param E]\nvalues = 0..5\n[param F]\nvalues = 0,1,2\n"
#define GPU_KNOBS \
    "[param BX]\nvalues = 16,32,48,64,96,128,256\n[param BY]\nvalues = 1,2,4,8,16\n[param TX]\nvalues = 1,2,3,4,6,8\n[param TY]\nvalues = 1,2,4,8\n" \
    "[param UNROLL]\nvalues = 1,2,4,8\n[param VEC]\nvalues = 1,2,4\n[param SMEM]\nvalues = 0,1\n[param PAD]\nvalues = 0,1\n" \
    "[constraint threads]\nexpr = BX * BY <= 1024 && BX * BY >= 32\n[constraint work]\nexpr = TX * TY * VEC <= 32\n[constraint pad]\nexpr = SMEM == 1 || PAD == 0\n"

/* A number in [0, 1) that belongs to (seed, a, b, c). */
static double hashed(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    mt_rng rng;
    mt_rng_seed(&rng, seed * 0x9E3779B97F4A7C15u ^ a * 1000003u ^ b * 10007u ^ c * 101u);
    mt_rng_next(&rng);
    return mt_rng_uniform(&rng);
}

static double at(const mt_spec *spec, const mt_point *point, size_t knob)
{
    return point->level[knob] == MT_INACTIVE ? 0 : (double)point->level[knob] / (double)(spec->params[knob].value_count - 1);
}

static bool fails(uint64_t seed, const mt_point *point, size_t a, size_t b, size_t c, double share)
{
    uint64_t levels = ((uint64_t)(point->level[a] + 1) * 64 + (uint64_t)(point->level[b] + 1)) * 64 + (uint64_t)(point->level[c] + 1);
    return hashed(seed, 77, levels, 5) < share;
}

/* A bowl seen through coarse stairs: most Hamming neighbours tie. */
static double cost_steps(const mt_spec *spec, const mt_point *point, uint64_t seed)
{
    double sum = 0;
    for (size_t i = 1; i < spec->param_count; i++) {
        double centre = hashed(seed, i, 1, 0), x = at(spec, point, i) - centre;
        sum += x * x * (0.5 + hashed(seed, i, 2, 0));
        for (size_t j = 1; j < i; j++) sum += 0.8 * x * (at(spec, point, j) - hashed(seed, j, 1, 0)) * (hashed(seed, i, j, 3) - 0.5);
    }
    if (fails(seed, point, 1, 3, 5, 0.1)) return INFINITY;
    double stairs = floor(8 * sqrt(fmax(sum, 0))) + (fmax(sum, 0) < 0.02 ? -0.5 : 0);
    return 1e6 * (1 + 0.25 * stairs);
}

/* A smooth bowl, and far from its ground a narrow hole that is twice as deep. */
static double cost_needle(const mt_spec *spec, const mt_point *point, uint64_t seed)
{
    double sum = 0, hole = 0;
    for (size_t i = 1; i < spec->param_count; i++) {
        double centre = hashed(seed, i, 1, 0), x = at(spec, point, i) - centre, far = at(spec, point, i) - (centre > 0.5 ? 0.2 : 0.8);
        sum += x * x;
        hole += far * far;
    }
    if (fails(seed, point, 2, 3, 4, 0.04)) return INFINITY;
    return 1e6 * (1 + sum - (hole < 0.15 ? 0.6 * (1 - hole / 0.15) + 0.55 * sum : 0));
}

/* Every pair of adjacent knobs has a table of random effects (an NK landscape, K = 2). */
static double cost_rugged(const mt_spec *spec, const mt_point *point, uint64_t seed)
{
    double sum = 0;
    size_t count = spec->param_count - 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t a = (uint64_t)point->level[1 + i], b = (uint64_t)point->level[1 + (i + 1) % count], c = (uint64_t)point->level[1 + (i + 2) % count];
        sum += hashed(seed, i + 100, a * 64 + b, c);
    }
    if (fails(seed, point, 1, 2, 6, 0.05)) return INFINITY;
    return 1e6 * exp(2 * sum / (double)count);
}

/* Three algorithms with knobs of their own; the one that is best at its defaults is not the one with the best point. */
static double cost_conditional(const mt_spec *spec, const mt_point *point, uint64_t seed)
{
    double sum = 0;
    uint64_t algo = (uint64_t)point->level[0];
    for (size_t i = 1; i < spec->param_count; i++) {
        if (point->level[i] == MT_INACTIVE) continue;
        double x = at(spec, point, i) - hashed(seed, i, algo, 1);
        sum += (0.3 + 0.4 * (double)algo) * x * x + 0.15 * hashed(seed, i, (uint64_t)point->level[i], algo + 9);
    }
    if (fails(seed, point, 0, 1, 2 + (size_t)algo, 0.3)) return INFINITY;
    return 1e6 * (1.3 - 0.15 * (double)algo + sum);
}

/* Time of a stencil-like kernel from occupancy, waves, traffic, divergence and spills, with coefficients that belong to the seed. */
static double cost_gpu(const mt_spec *spec, const mt_point *point, uint64_t seed)
{
    double k[9], h[12];
    for (size_t i = 1; i <= 8; i++) k[i] = (double)spec->params[i].numbers[point->level[i]];
    for (size_t i = 0; i < 12; i++) h[i] = hashed(seed, 500 + i, 0, 0);
    double threads = k[1] * k[2], work = k[3] * k[4] * k[6], radius = floor(1 + 6 * h[0]);
    double regs = 18 + 10 * h[1] + work * (1.5 + 3 * h[2]) + (k[5] > 1 ? k[5] * (1 + 3 * h[3]) : 0) + 4 * k[6];
    double tile = (k[1] * k[3] * k[6] + 2 * radius + k[8]) * (k[2] * k[4] + 2 * radius) * 4;
    double spill = fmax(0, regs - 255) / 64, limit = 49152 * (h[4] > 0.5 ? 2 : 1);
    if (k[7] == 1 && tile > limit) return INFINITY;
    if (ceil(regs / 8) * 8 * threads > 65536 && h[5] > 0.5) return INFINITY;
    double blocks = fmin(32, floor(2048 / threads));
    blocks = fmin(blocks, fmax(1, floor(65536 / (threads * ceil(fmin(regs, 255) / 8) * 8))));
    if (k[7] == 1) blocks = fmin(blocks, floor(163840 / tile));
    double occupancy = blocks * ceil(threads / 32) * 32 / 2048, parallel = occupancy * (1 + 0.35 * log2(work) + 0.2 * log2(k[5]));
    double busy = parallel / (parallel + 0.1 + 0.4 * h[6]);
    double grid = ceil(4096 / (k[1] * k[3] * k[6])) * ceil(4096 / (k[2] * k[4])), slots = 108 * blocks;
    double tail = ceil(grid / slots) * slots / grid, lanes = ceil(threads / 32) * 32 / threads;
    double per_point = (1 + 2 * radius) * (1 + 0.6 * h[7] / k[5] + 0.5 * h[8] / work) * (k[7] == 1 ? 0.55 + 0.3 * h[9] : 1);
    if (k[7] == 1 && k[8] == 0 && fmod(k[1] * k[3] * k[6], 32) == 0) per_point *= 1.15 + 0.5 * h[10];
    double halo = tile / (4 * k[1] * k[3] * k[6] * k[2] * k[4]);
    double traffic = (4 + 12 * h[11]) * (k[7] == 1 ? halo : fmin(halo * 1.6, 1 + radius)) * (k[1] * k[6] < 32 ? 1.8 : 1) * (k[3] > 4 ? 1.25 : 1);
    return 1e5 * fmax(per_point * lanes * tail / busy, traffic * tail / sqrt(busy)) * (1 + spill) + 3e3 * grid / 1e3;
}

static const struct made {
    const char *name, *variants, *knobs;
    double (*cost)(const mt_spec *spec, const mt_point *point, uint64_t seed);
    uint64_t seed;
} made[] = {
    {"steps", ONE, SIX_KNOBS, cost_steps, 1},
    {"steps2", ONE, SIX_KNOBS, cost_steps, 2},
    {"needle", ONE, SIX_KNOBS, cost_needle, 3},
    {"rugged", ONE, SIX_KNOBS, cost_rugged, 4},
    {"cond", "[algorithm a]\n[algorithm b]\n[algorithm c]",
     "[param T]\nvalues = 32,64,128,256,512\n[param U]\nvalues = 1,2,4,8\n"
     "[param A1]\nvalues = 1..6\nwhen = ALGO == \"a\"\n[param A2]\nvalues = 1,2,4,8\nwhen = ALGO == \"a\"\n[param A3]\nvalues = x,y,z\nwhen = ALGO == \"a\"\n"
     "[param B1]\nvalues = 1,2,4,8,16\nwhen = ALGO == \"b\"\n[param B2]\nvalues = 1..8\nwhen = ALGO == \"b\"\n[param B3]\nvalues = 0,1\nwhen = ALGO == \"b\"\n[param B4]\nvalues = 1,2,4\nwhen = ALGO == \"b\" && B3 == 1\n"
     "[param C1]\nvalues = 1..9\nwhen = ALGO == \"c\"\n[param C2]\nvalues = 1..5\nwhen = ALGO == \"c\"\n[param C3]\nvalues = 1..4\nwhen = ALGO == \"c\"\n", cost_conditional, 5},
    {"gpu1", ONE, GPU_KNOBS, cost_gpu, 11},
    {"gpu2", ONE, GPU_KNOBS, cost_gpu, 12},
    {"gpu3", ONE, GPU_KNOBS, cost_gpu, 13},
    {"gpu4", ONE, GPU_KNOBS, cost_gpu, 14},
};
enum { MADE_COUNT = sizeof made / sizeof made[0] };

size_t bench_space_made_count(void)
{
    return MADE_COUNT;
}

const char *bench_space_made_name(size_t index)
{
    return made[index].name;
}

static mt_status build(const struct made *m, bench_space *out, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_device_facts facts = {.name = "made up", .cc = 80, .sm_count = 108};
    char text[4096];
    snprintf(text, sizeof text, frame, m->variants, m->knobs);
    MT_TRY(mt_spec_parse("made.ini", text, strlen(text), &out->spec, err));
    MT_TRY(mt_space_create(out->spec, &out->spec->shapes[0], &facts, &out->space, err));
    size_t count = mt_space_count(out->space);
    out->time_ns = mt_alloc(count, sizeof *out->time_ns);
    if (!out->time_ns) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
        goto done;
    }
    out->best_ns = INFINITY;
    for (size_t i = 0; i < count; i++) {
        mt_point point;
        mt_space_at(out->space, i, &point);
        out->time_ns[i] = m->cost(out->spec, &point, m->seed);
        out->best_ns = fmin(out->best_ns, out->time_ns[i]);
    }
done:
    if (st != MT_OK) bench_space_free(out);
    return st;
}

mt_status bench_space_make(const char *name, bench_space *out, mt_error *err)
{
    char names[256] = "";
    *out = (bench_space){0};
    snprintf(out->name, sizeof out->name, "%s", name);
    for (size_t i = 0; i < MADE_COUNT; i++) {
        size_t length = strlen(names);
        if (strcmp(made[i].name, name) == 0) return build(&made[i], out, err);
        snprintf(names + length, sizeof names - length, " %s", made[i].name);
    }
    return MT_FAIL(err, MT_ERR_NOT_FOUND, "no made-up space '%s', there are:%s", name, names);
}
