/* The shipped space of msda: the search reaches every value of every knob, and the points that are known to be good; and the spaces stay small. */
#include "tests/unit/space_fixture.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/space.h"

static mt_space *space_of(const mt_spec *spec, const char *shape)
{
    mt_space *space = NULL;
    mt_error err = { 0 };
    ck_assert_msg(mt_space_create(spec, mt_spec_shape(spec, shape), &h100, &space, &err) == MT_OK, "%s: %s", shape, err.message);
    ck_assert_msg(mt_space_is_enumerated(space), "%s is not enumerated", shape);
    return space;
}

/* ---- decoders: HEADS, PREFETCH and VALUE_HINT are not unusual for few queries, nor are blocks of 128 threads ---- */

#define REST_OF_POINT "ALGO=direct;BLEND=half2;BORDER=clamp;CARVEOUT=exact;CORNERS=plain;EXCHANGE=smem;LANES=4;LEVELS=baked;LOAD_HINT=no_allocate;ORDER=tiles;RECORD=8;" \
                      "SCHEDULE=grid;STORE_HINT=streaming;SUM=8;UNROLL=4;VEC=8;"

START_TEST(decoders_reach_their_good_points)
{
    static const char *const shapes[] = {"detr_dec_b4", "dino_dec"};
    static const char *const points[] = {
        REST_OF_POINT "THREADS=128;MIN_BLOCKS=8;HEADS=4;PREP=4;PREFETCH=bulk;VALUE_HINT=none", REST_OF_POINT "THREADS=128;MIN_BLOCKS=8;HEADS=4;PREP=2;PREFETCH=bulk;VALUE_HINT=none",
        REST_OF_POINT "THREADS=128;MIN_BLOCKS=8;HEADS=4;PREP=4;PREFETCH=off;VALUE_HINT=none",  REST_OF_POINT "THREADS=256;MIN_BLOCKS=4;HEADS=4;PREP=2;PREFETCH=bulk;VALUE_HINT=fetch_128",
    };
    mt_spec *spec = must_load(SOURCE_DIR "/search_spaces/msda.ini");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        mt_space *space = space_of(spec, shapes[i]);
        for (size_t k = 0; k < sizeof points / sizeof points[0]; k++) {
            mt_point point = must_point(spec, points[k]);
            size_t index;
            ck_assert_msg(mt_space_find(space, &point, &index), "%s does not have %s", shapes[i], points[k]);
        }
        ck_assert_msg(mt_space_count(space) <= 6000, "%s has %zu points", shapes[i], mt_space_count(space));
        mt_space_free(space);
    }
    mt_spec_free(spec);
}
END_TEST

UNIT_MAIN("msda_space", decoders_reach_their_good_points)
