/* A number for every combination of a variant's knobs: mixed radix, ALGO slowest, in the order of the enumeration. Knobs that a variant never has take no digit;
 * knobs that may be inactive in it have a digit for that. So ranks are made and decoded without evaluating anything. */
#include "tuner/base/alloc.h"
#include "tuner/space/points/space_internal.h"

static uint64_t digits_of(const mt_space *space, size_t variant, size_t param)
{
    switch ((mt_activity)space->activities[variant * space->spec->param_count + param]) {
    case MT_ACTIVE_NO: return 1;
    case MT_ACTIVE_YES: return space->spec->params[param].value_count;
    case MT_ACTIVE_DEPENDS: break;
    }
    return space->spec->params[param].value_count + 1;
}

mt_status mt_ranks_make(mt_space *space, mt_error *err)
{
    const mt_spec *spec = space->spec;
    uint64_t next = 0;
    space->base = mt_alloc(spec->algorithm_count + 1, sizeof *space->base);
    space->place = mt_alloc(spec->algorithm_count * spec->param_count, sizeof *space->place);
    if (!space->base || !space->place) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    space->has_ranks = true;
    for (size_t v = 0; v < spec->algorithm_count; v++) {
        uint64_t product = 1;
        bool overflows = false;
        for (size_t p = spec->param_count; p-- > 1;) {
            space->place[v * spec->param_count + p] = product;
            overflows = __builtin_mul_overflow(product, digits_of(space, v, p), &product) || overflows;
        }
        space->base[v] = (size_t)next;
        overflows = __builtin_add_overflow(next, product, &next) || overflows || next > INT64_MAX;
        if (overflows) space->has_ranks = false;
    }
    space->base[spec->algorithm_count] = (size_t)next;
    return MT_OK;
}

size_t mt_rank_of(const mt_space *space, const mt_point *point, uint64_t knobs)
{
    size_t params = space->spec->param_count, variant = (size_t)point->level[0];
    const uint64_t *place = space->place + variant * params;
    const unsigned char *activity = space->activities + variant * params;
    uint64_t rank = space->base[variant];
    for (uint64_t left = knobs & ~UINT64_C(1); left; left &= left - 1) {
        size_t p = (size_t)__builtin_ctzll(left);
        if (p >= params) break;
        if (activity[p] == MT_ACTIVE_YES) rank += place[p] * (uint64_t)point->level[p];
        if (activity[p] == MT_ACTIVE_DEPENDS) rank += place[p] * (uint64_t)(point->level[p] + 1);
    }
    return (size_t)rank;
}

void mt_rank_decode(const mt_space *space, size_t rank, mt_point *point)
{
    size_t params = space->spec->param_count, variant = 0;
    while (rank >= space->base[variant + 1]) variant++;
    uint64_t rest = rank - space->base[variant];
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) point->level[i] = MT_INACTIVE;
    point->level[0] = (int16_t)variant;
    for (size_t p = 1; p < params; p++) {
        uint64_t place = space->place[variant * params + p], digit = rest / place;
        mt_activity activity = (mt_activity)space->activities[variant * params + p];
        rest -= digit * place;
        if (activity != MT_ACTIVE_NO) point->level[p] = (int16_t)(activity == MT_ACTIVE_YES ? (int)digit : (int)digit - 1);
    }
}

size_t mt_rank_digits(const mt_space *space, size_t param)
{
    uint64_t most = 1;
    if (param == 0) return space->spec->algorithm_count;
    for (size_t v = 0; v < space->spec->algorithm_count; v++) {
        uint64_t digits = digits_of(space, v, param);
        if (digits > most) most = digits;
    }
    return (size_t)most;
}
