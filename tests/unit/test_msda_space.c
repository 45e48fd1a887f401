/* The shipped space of msda: the search reaches every value of every knob, and the points that are known to be good. */
#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/space.h"

static mt_space *space_of(const mt_spec *spec, const char *shape)
{
    mt_space *space = NULL;
    mt_error err = { 0 };
    ck_assert_msg(mt_space_create(spec, mt_spec_shape(spec, shape), &h100, &space, &err) == MT_OK, "%s: %s", shape, err.message);
    return space;
}

/* ---- decoders: few queries, which smaller blocks and other groups of heads spread better ---- */

#define REST_OF_POINT "ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=plain;EXCHANGE=smem;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;ORDER=tiles;RECORD=8;" \
                      "SCHEDULE=grid;STORE_HINT=streaming;SUM=8;TRIM=off;UNROLL=4;VEC=8;"

START_TEST(decoders_reach_their_good_points)
{
    static const char *const shapes[] = {"detr_dec_b4", "dino_dec"};
    static const char *const points[] = {
        REST_OF_POINT "THREADS=128;MIN_BLOCKS=8;HEADS=4;PREP=4;PREFETCH=bulk;VALUE_HINT=none", REST_OF_POINT "THREADS=128;MIN_BLOCKS=8;HEADS=4;PREP=2;PREFETCH=bulk;VALUE_HINT=none",
        REST_OF_POINT "THREADS=128;MIN_BLOCKS=8;HEADS=4;PREP=4;PREFETCH=off;VALUE_HINT=none",  REST_OF_POINT "THREADS=256;MIN_BLOCKS=4;HEADS=4;PREP=2;PREFETCH=bulk;VALUE_HINT=fetch_128",
    };
    mt_spec *spec = must_load(SOURCE_DIR "/tests/spaces/msda.ini");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        mt_space *space = space_of(spec, shapes[i]);
        for (size_t k = 0; k < sizeof points / sizeof points[0]; k++) {
            mt_point point = must_point(spec, points[k]);
            size_t index;
            ck_assert_msg(mt_space_find(space, &point, &index), "%s does not have %s", shapes[i], points[k]);
        }
        mt_space_free(space);
    }
    mt_spec_free(spec);
}
END_TEST

/* ---- every knob ---- */

enum { MOST_VALUES = 32 };

/* Of a few thousand points; what they lack is looked for: the first point with the value, of any variant. */
static void see(const mt_space *space, bool seen[MT_MAX_PARAMS][MOST_VALUES])
{
    const mt_spec *spec = mt_space_spec(space);
    mt_rng rng;
    mt_rng_seed(&rng, 1);
    for (size_t i = 0, index; i < 4096 && mt_space_sample(space, &rng, &index); i++) {
        mt_point point;
        mt_space_at(space, index, &point);
        for (size_t p = 0; p < spec->param_count; p++)
            if (point.level[p] >= 0 && point.level[p] < MOST_VALUES) seen[p][point.level[p]] = true;
    }
    for (size_t p = 0; p < spec->param_count; p++)
        for (size_t v = 0; v < spec->params[p].value_count && v < MOST_VALUES; v++)
            for (size_t algo = 0, index; algo < spec->algorithm_count && !seen[p][v]; algo++) seen[p][v] = mt_space_first_with(space, algo, p, (int)v, &index);
}

static void add_unseen(const mt_param *param, const bool *seen, mt_strbuf *text)
{
    for (size_t v = 0; v < param->value_count; v++) {
        if (seen[v]) continue;
        if (param->is_string) mt_strbuf_addf(text, " %s=%s", param->name, param->strings[v]);
        else mt_strbuf_addf(text, " %s=%lld", param->name, (long long)param->numbers[v]);
    }
}

/* The search on some of `shapes` (`count` of them) reaches every value of every knob of the space. */
static void must_reach_all(const char *path, const char *const *shapes, size_t count)
{
    bool seen[MT_MAX_PARAMS][MOST_VALUES] = { 0 };
    mt_spec *spec = must_load(path);
    mt_strbuf unseen = {0};
    for (size_t i = 0; i < count; i++) {
        mt_space *space = space_of(spec, shapes[i]);
        see(space, seen);
        mt_space_free(space);
    }
    for (size_t p = 0; p < spec->param_count; p++) add_unseen(&spec->params[p], seen[p], &unseen);
    ck_assert_msg(unseen.length == 0, "%s: no shape's search reaches%s", path, mt_strbuf_text(&unseen));
    mt_strbuf_free(&unseen);
    mt_spec_free(spec);
}
#define MUST_REACH_ALL(file, shapes) must_reach_all(SOURCE_DIR "/" file, shapes, sizeof(shapes) / sizeof(shapes)[0])

START_TEST(every_value_of_every_knob_is_searched)
{
    static const char *const msda[] = {"seed48", "seed48_f32", "detr_enc_b1", "odd", "odd_d9", "odd_d18", "odd_d128", "odd_d20", "odd_grid"};
    static const char *const staged[] = {"seed48", "odd", "odd_f32", "odd_d64"};
    static const char *const staging[] = {"maps768"};
    MUST_REACH_ALL("tests/spaces/msda.ini", msda);
    MUST_REACH_ALL("search_spaces/msda_staged.ini", staged);
    MUST_REACH_ALL("search_spaces/staging.ini", staging);
}
END_TEST

/* ---- msda_staged: what does not fit or cannot run is no point, and every rule says why ---- */

#define MAP_POINT "ALGO=smem_cluster;SCHEDULE=persistent;STAGING=cp_async;"
#define TILE_POINT "ALGO=tma_tile;BARRIERS=warp;BLOCKS_PER_SM=2;ISSUE_EVERY=1;ITEMS=1;SCHEDULE=tile;STAGES=2;THREADS=128;"

START_TEST(staged_points_that_cannot_run_are_excluded)
{
    static const struct {
        const char *point;
        bool is_valid;
    } cases[] = {
        { MAP_POINT "BLOCKS_PER_SM=1;CLUSTER=1;CPB=2;STAGES=2;THREADS=1024", true },   /* two maps of 78 KB */
        { MAP_POINT "BLOCKS_PER_SM=1;CLUSTER=8;FILL=most;CPB=4;STAGES=1;THREADS=1024", true },   /* one of 156 KB */
        { MAP_POINT "BLOCKS_PER_SM=1;CLUSTER=8;FILL=most;CPB=4;STAGES=2;THREADS=1024", false },  /* two of them */
        { MAP_POINT "BLOCKS_PER_SM=2;CLUSTER=8;FILL=most;CPB=2;STAGES=2;THREADS=512", false },   /* four maps per SM */
        { MAP_POINT "BLOCKS_PER_SM=1;CLUSTER=16;FILL=most;CPB=4;STAGES=1;THREADS=1024", false }, /* 64 channels of 32 */
        { MAP_POINT "BLOCKS_PER_SM=1;CLUSTER=8;FILL=most;CPB=1;STAGES=1;THREADS=1024", false },  /* 2 bytes per pixel */
        { "ALGO=smem_cluster;SCHEDULE=tile;STAGING=cp_async;BLOCKS_PER_SM=1;CLUSTER=1;CPB=2;STAGES=2;THREADS=1024", false }, /* no next map */
        { TILE_POINT "BOX_C=32;BOX_X=2;BOX_Y=2", true },
        { TILE_POINT "BOX_C=16;BOX_X=2;BOX_Y=1", false }, /* 64 bytes */
        { TILE_POINT "BOX_C=64;BOX_X=2;BOX_Y=2", false }, /* more channels than there are */
    };
    mt_spec *spec = must_load(SOURCE_DIR "/search_spaces/msda_staged.ini");
    mt_space *space = space_of(spec, "seed48");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_point point = must_point(spec, cases[i].point);
        size_t index;
        ck_assert_msg(mt_space_find(space, &point, &index) == cases[i].is_valid, "%s: %s", cases[i].point, cases[i].is_valid ? "missing" : "valid");
    }
    for (size_t i = 0; i < spec->constraint_count; i++) ck_assert_msg(spec->constraints[i].why, "constraint %s has no reason", spec->constraints[i].name);
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* What the ablation table compares: an encoder's best with its queries in a row, or in wide tiles. */
START_TEST(tiles_are_compared_on_real_shapes)
{
    static const char *const points[] = {
        "ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=parity;EXCHANGE=smem;HEADS=1;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;MIN_BLOCKS=2;PREFETCH=off;PREP=2;RECORD=8;RUN=4;"
        "SCHEDULE=persistent;STORE_HINT=streaming;SUM=8;TAIL=whole;THREADS=512;UNROLL=2;VALUE_HINT=fetch_256;VEC=8;TILE_W=0;TRIM=off;SWAPPED=bit",
        "ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=parity;EXCHANGE=smem;HEADS=1;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;MIN_BLOCKS=2;PREFETCH=off;PREP=2;RECORD=8;"
        "SCHEDULE=grid;STORE_HINT=streaming;SUM=8;THREADS=512;UNROLL=2;VALUE_HINT=fetch_256;VEC=8;TILE_W=32;TRIM=off;FOLD=off;SWAPPED=bit",
    };
    mt_spec *spec = must_load(SOURCE_DIR "/tests/spaces/msda.ini");
    mt_space *space = space_of(spec, "seed48");
    for (size_t k = 0; k < sizeof points / sizeof points[0]; k++) {
        mt_point point = must_point(spec, points[k]);
        size_t index;
        ck_assert_msg(mt_space_find(space, &point, &index), "seed48 does not have %s", points[k]);
    }
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

/* ---- TRIM, FOLD and SWAPPED: each alone, where the code has it ---- */

#define BEST_OF_SEED48 "ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=parity;EXCHANGE=smem;HEADS=1;LANES=4;LOAD_HINT=no_allocate;MIN_BLOCKS=1;PREFETCH=off;PREP=2;RECORD=8;RUN=16;" \
                       "SCHEDULE=persistent;STORE_HINT=streaming;SUM=8;TAIL=split;THREADS=512;TILE_W=4;UNROLL=8;VALUE_HINT=fetch_256;VEC=8;"

START_TEST(trimming_is_searched_knob_by_knob)
{
    static const struct {
        const char *point;
        bool is_point;
    } cases[] = {
        { BEST_OF_SEED48 "LEVELS=baked;TRIM=off;FOLD=off;SWAPPED=bit", true },
        { BEST_OF_SEED48 "LEVELS=baked;TRIM=on;FOLD=on;SWAPPED=sign", true },
        { BEST_OF_SEED48 "LEVELS=baked;TRIM=on;FOLD=off;SWAPPED=sign", true },
        { BEST_OF_SEED48 "LEVELS=baked;TRIM=on;FOLD=on;SWAPPED=bit", true },
        { BEST_OF_SEED48 "LEVELS=baked;TRIM=off;FOLD=on;SWAPPED=bit", true },
        { BEST_OF_SEED48 "LEVELS=baked;TRIM=off;FOLD=off;SWAPPED=sign", false },
        { BEST_OF_SEED48 "LEVELS=runtime;TRIM=on;FOLD=on;SWAPPED=sign", false },
    };
    mt_spec *spec = must_load(SOURCE_DIR "/tests/spaces/msda.ini");
    mt_space *space = space_of(spec, "seed48");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mt_point point = must_point(spec, cases[i].point);
        size_t index;
        ck_assert_msg(mt_space_find(space, &point, &index) == cases[i].is_point, "%s", cases[i].point);
    }
    mt_space_free(space);
    mt_spec_free(spec);
}
END_TEST

UNIT_MAIN("msda_space", decoders_reach_their_good_points, every_value_of_every_knob_is_searched, staged_points_that_cannot_run_are_excluded, tiles_are_compared_on_real_shapes,
          trimming_is_searched_knob_by_knob)
