/* How long it takes to make a space of 10^6 and of 10^8 combinations and to draw from it, beside a loop that evaluates all conditions at every combination.
 *
 *     space_bench [quick]        quick: small spaces, the whole loop
 *
 * Three kinds of constraints: `early` ones read neighbouring knobs, `late` ones the first and the last, `product` is a limit on a product over all knobs, as shared
 * memory is. The loop takes evenly spread blocks of combinations where there are more than it has patience for, and is scaled up; its row says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/space_internal.h"

enum { KNOBS = 8, BLOCK = 100000, BLOCKS = 40, DRAWS = 20000 };

static const mt_device_facts h100 = { .name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132, .smem_optin = 232448, .smem_per_sm = 233472 };

typedef struct constraint_kind {
    const char *name;
    const char *constraints; /* of knobs A … H */
} constraint_kind;

static const constraint_kind kinds[] = {
    { "early", "[constraint ab]\nexpr = (A + B) % 3 == 0\n[constraint cd]\nexpr = (C * D) % 4 == 0\n[constraint ef]\nexpr = E <= F\n[constraint gh]\nexpr = (G + H) % 5 == 0\n" },
    { "late", "[constraint ah]\nexpr = (A + H) % 5 == 0\n[constraint bg]\nexpr = (B * G) % 3 == 0\n[constraint cf]\nexpr = C <= F\n" },
    { "product", "[constraint fits]\nexpr = A * B * C * D * E * F * G * H <= 4000\n[constraint af]\nexpr = (A + F) % 2 == 0\n" },
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "space_bench: %s: %s\n", what, why);
    exit(1);
}

/* Knobs have `few` and `many` values in turns. */
static mt_spec *make_spec(const constraint_kind *kind, int few, int many)
{
    mt_spec *spec = NULL;
    mt_error err;
    mt_strbuf text = { 0 };
    mt_strbuf_add(&text, "[kernel]\nsource = k.cu\nreference = r\n[shape s]\nN = 128\n[algorithm v]\n[arg out]\nkind = tensor\nrole = out\ndtype = f32\nshape = N\n"
                         "[launch 1]\nargs = out\ngrid = N\nblock = 32\n");
    for (int i = 0; i < KNOBS; i++) mt_strbuf_addf(&text, "[param %c]\nvalues = 1..%d\n", 'A' + i, i % 2 ? many : few);
    mt_strbuf_add(&text, kind->constraints);
    if (mt_spec_parse("bench.ini", mt_strbuf_text(&text), strlen(mt_strbuf_text(&text)), &spec, &err) != MT_OK) die("spec", err.message);
    mt_strbuf_free(&text);
    return spec;
}

/* Of this process on the processor: other work on the machine counts less. */
static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* All conditions with the same evaluator, stopping at the first that is broken. */
static size_t loop_over(const mt_spec *spec, mt_env *env, size_t first, size_t count)
{
    size_t valid = 0;
    for (size_t code = first; code < first + count; code++) {
        size_t rest = code;
        bool is_valid = true;
        for (size_t p = spec->param_count; p-- > 0; rest /= spec->params[p].value_count) {
            int level = (int)(rest % spec->params[p].value_count);
            if (mt_env_level(env, p) != level) mt_env_set_knob(env, p, level);
        }
        for (size_t i = 0; i < spec->constraint_count && is_valid; i++) {
            mt_value value = { 0 };
            mt_expr_fault fault;
            is_valid = mt_env_run(env, &spec->constraints[i].expr, &value, &fault) == MT_PROGRAM_OK && value.number;
        }
        valid += is_valid;
    }
    return valid;
}

/* Prints and returns the seconds that all combinations take or would. */
static double time_loop(const mt_spec *spec, size_t combinations)
{
    mt_env *env = NULL;
    mt_error err;
    size_t valid = 0, looped = 0, most = (size_t)BLOCK * BLOCKS;
    if (mt_env_create(spec, &spec->shapes[0], &h100, &env, &err) != MT_OK) die("scene", err.message);
    clock_t start = clock();
    if (combinations <= most) {
        valid = loop_over(spec, env, 0, combinations);
        looped = combinations;
    }
    for (size_t i = 0; i < BLOCKS && combinations > most; i++, looped += BLOCK) valid += loop_over(spec, env, combinations / BLOCKS * i, BLOCK);
    double factor = (double)combinations / (double)looped, spent = seconds_since(start) * factor;
    printf("    %-30s %9.4f s", "loop over all combinations", spent);
    if (factor > 1) printf("  (scaled up from %.3g combinations)\n", (double)looped);
    else printf("  %zu valid points\n", valid);
    mt_env_free(env);
    return spent;
}

static void time_draws(const mt_space *space, const char *what)
{
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    size_t index;
    double sum = 0;
    clock_t start = clock();
    for (int i = 0; i < DRAWS; i++) {
        if (!mt_space_sample(space, &rng, &index)) die("sample", "none found");
        sum += (double)index;
    }
    printf("    %-30s %9.3f us  (mean index %.3g)\n", what, seconds_since(start) * 1e6 / DRAWS, sum / DRAWS);
}

static void time_making(const mt_spec *spec, const char *what, const mt_space_limits *limits, double loop_s)
{
    char count[MT_SPACE_COUNT_SIZE];
    mt_space *space = NULL;
    mt_error err;
    clock_t start = clock();
    if (mt_space_create_limited(spec, &spec->shapes[0], &h100, NULL, limits, &space, &err) != MT_OK) die("space", err.message);
    double spent = seconds_since(start);
    printf("    %-30s %9.4f s  %6.0f times faster; %s, %s points\n", what, spent, loop_s / (spent > 0 ? spent : 1e-6), mt_space_is_enumerated(space) ? "enumerated" : "sampled",
           mt_space_count_text(space, count, sizeof count));
    time_draws(space, "  a draw");
    mt_space_free(space);
}

static void bench(const constraint_kind *kind, int few, int many)
{
    /* never through the counts; by them; sampled whatever the size; sampled with few states, so that conditions are left out */
    static const mt_space_limits walked = { SIZE_MAX >> 1, UINT64_MAX, UINT64_MAX, 1 << 20 }, guided = { SIZE_MAX >> 1, 0, UINT64_MAX, 1 << 20 };
    static const mt_space_limits counted = { 0, 0, UINT64_MAX, 1 << 20 }, coarse = { 0, 0, UINT64_MAX, 2000 };
    mt_spec *spec = make_spec(kind, few, many);
    size_t combinations = 1;
    for (int i = 0; i < KNOBS; i++) combinations *= spec->params[i + 1].value_count;
    printf("%s: %d knobs of %d and %d values, %.3g combinations\n", kind->name, KNOBS, few, many, (double)combinations);
    double loop_s = time_loop(spec, combinations);
    time_making(spec, "as by default", NULL, loop_s);
    time_making(spec, "walk, pruning", &walked, loop_s);
    time_making(spec, "walk, guided by counts", &guided, loop_s);
    time_making(spec, "sampled, all states", &counted, loop_s);
    time_making(spec, "sampled, few states", &coarse, loop_s);
    mt_spec_free(spec);
}

int main(int argc, char **argv)
{
    bool is_quick = argc == 2 && strcmp(argv[1], "quick") == 0;
    if (argc > 1 && !is_quick) die("usage", "space_bench [quick]");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (is_quick) bench(&kinds[i], 3, 4);
        if (is_quick) continue;
        bench(&kinds[i], 4, 8);
        bench(&kinds[i], 10, 10);
    }
    return 0;
}
