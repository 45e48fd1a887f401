#include "tuner/search/features.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { ORDERED, INDICATOR, SUM, DIFFERENCE, PRIOR, TWOS };
enum { LOOKED_AT = 4096, MOST_INDICATORS = 8, MOST_PAIRS = 15, MOST_DERIVED = 2 * MOST_PAIRS + MT_MAX_PARAMS + 1, KNOWN_PRIORS = 8192 };

struct mt_known_prior {
    size_t point; /* + 1; 0: none */
    double prior;
};

struct pair {
    uint16_t a, b;
    size_t weight; /* how many combinations the two span */
};

/* A knob's value as a number, the text of a fraction too; NAN: it is a name. */
static double number_of(const mt_param *param, size_t level)
{
    double number = NAN;
    if (!param->is_string) return (double)param->numbers[level];
    return mt_text_double(param->strings[level], &number) ? number : NAN;
}

static bool is_numeric(const mt_param *param)
{
    for (size_t k = 0; k < param->value_count; k++)
        if (isnan(number_of(param, k))) return false;
    return true;
}

/* numbers: NULL for names, which stand in the file's order. */
static void place_by(const double *numbers, size_t count, float *place, float *logs)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t k = 0; numbers && k < count; k++) least = fmin(least, numbers[k]), most = fmax(most, numbers[k]);
    for (size_t k = 0; k < count; k++) {
        size_t below = 0; /* the place in the values' order, which the file's order need not be */
        for (size_t i = 0; i < count; i++) below += numbers ? numbers[i] < numbers[k] : i < k;
        float order = (float)below / (float)(count - 1);
        place[k] = logs && most > least ? (order + (float)(log2(numbers[k] / least) / log2(most / least))) / 2 : order;
        if (logs) logs[k] = (float)log2(numbers[k]);
    }
}

static mt_status place_levels(mt_features *features, size_t knob, mt_error *err)
{
    const mt_param *param = &mt_space_spec(features->space)->params[knob];
    size_t count = param->value_count;
    double *numbers = mt_alloc(count, sizeof *numbers);
    float *place = features->place[knob] = mt_alloc(count, sizeof *place), *logs = NULL;
    bool has_numbers = is_numeric(param), has_logs = has_numbers;
    for (size_t k = 0; numbers && k < count; k++) {
        numbers[k] = number_of(param, k);
        has_logs = has_logs && numbers[k] > 0;
    }
    if (has_logs) logs = features->logs[knob] = mt_alloc(count, sizeof *logs);
    bool is_full = !numbers || !place || (has_logs && !logs);
    if (!is_full) place_by(has_numbers ? numbers : NULL, count, place, logs);
    mt_free(numbers);
    return is_full ? MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory") : MT_OK;
}

static bool is_categorical(const mt_param *param)
{
    return !is_numeric(param) && param->value_count > 2 && param->value_count <= MOST_INDICATORS;
}

static int by_weight(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    if (p->weight != q->weight) return p->weight > q->weight ? -1 : 1;
    return p->a != q->a ? p->a - q->a : p->b - q->b;
}

/* The pairs with most combinations, of numeric knobs with more than two values. */
static size_t choose_pairs(const mt_features *features, struct pair *pairs)
{
    const mt_spec *spec = mt_space_spec(features->space);
    size_t count = 0;
    for (size_t a = 0; a < spec->param_count; a++) {
        if (!features->logs[a] || spec->params[a].value_count < 3) continue;
        for (size_t b = a + 1; b < spec->param_count; b++) {
            if (features->logs[b] && spec->params[b].value_count >= 3)
                pairs[count++] = (struct pair){(uint16_t)a, (uint16_t)b, spec->params[a].value_count * spec->params[b].value_count};
        }
    }
    qsort(pairs, count, sizeof *pairs, by_weight);
    return count < MOST_PAIRS ? count : MOST_PAIRS;
}

/* Whether factors of two tell values apart that their size does not: of powers of two alone they are the size. */
static bool has_odd_parts(const mt_param *param)
{
    bool has = false;
    for (size_t k = 0; !param->is_string && k < param->value_count; k++) has = has || (param->numbers[k] & (param->numbers[k] - 1)) != 0;
    return has && param->value_count > 2;
}

static mt_status list_features(mt_features *features, mt_error *err)
{
    const mt_spec *spec = mt_space_spec(features->space);
    size_t most = MOST_DERIVED;
    for (size_t i = 0; i < spec->param_count; i++) most += is_categorical(&spec->params[i]) ? spec->params[i].value_count : 1;
    struct pair *pairs = mt_alloc(MT_MAX_PARAMS * MT_MAX_PARAMS / 2, sizeof *pairs);
    features->items = mt_alloc(most, sizeof *features->items);
    if (!pairs || !features->items) {
        mt_free(pairs);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < spec->param_count; i++) {
        mt_feature item = {.knob = (uint16_t)i, .other = (uint16_t)i, .scale = 1};
        if (spec->params[i].value_count < 2) continue;
        if (!is_categorical(&spec->params[i])) features->items[features->count++] = item;
        else
            for (item.kind = INDICATOR; (size_t)item.level < spec->params[i].value_count; item.level++) features->items[features->count++] = item;
    }
    features->plain_count = features->count;
    size_t pair_count = choose_pairs(features, pairs);
    for (size_t i = 0; i < pair_count; i++) {
        for (int8_t kind = SUM; kind <= DIFFERENCE; kind++)
            features->items[features->count++] = (mt_feature){.knob = pairs[i].a, .other = pairs[i].b, .kind = kind, .scale = 1};
    }
    for (size_t i = 0; i < spec->param_count; i++)
        if (features->logs[i] && has_odd_parts(&spec->params[i])) features->items[features->count++] = (mt_feature){.knob = (uint16_t)i, .other = (uint16_t)i, .kind = TWOS, .scale = 1};
    if (features->prior) features->items[features->count++] = (mt_feature){.kind = PRIOR, .scale = 1};
    mt_free(pairs);
    return MT_OK;
}

double mt_features_prior(const mt_features *features, size_t point)
{
    if (!features->prior) return NAN;
    struct mt_known_prior *known = &features->known_priors[(point * UINT64_C(0x9E3779B97F4A7C15)) >> 51];
    if (known->point != point + 1) *known = (struct mt_known_prior){point + 1, features->prior(features->prior_context, point)};
    return known->prior;
}

/* NAN where the prior has no idea. */
static float prior_of(const mt_features *features, const mt_feature *item, size_t index)
{
    double prior = mt_features_prior(features, index);
    return prior > 0 && isfinite(prior) ? ((float)log2(prior) - item->low) * item->scale : NAN;
}

static float value_of(const mt_features *features, const mt_feature *item, const mt_point *point)
{
    int a = point->level[item->knob], b = point->level[item->other];
    if (a == MT_INACTIVE || b == MT_INACTIVE) return 0.5f;
    switch (item->kind) {
    case ORDERED: return features->place[item->knob][a];
    case INDICATOR: return a == item->level ? 0.75f : 0.25f; /* two different strings are as far apart as the ends of an ordered knob */
    case SUM: return (features->logs[item->knob][a] + features->logs[item->other][b] - item->low) * item->scale;
    case TWOS: return ((float)__builtin_ctzll((unsigned long long)mt_space_spec(features->space)->params[item->knob].numbers[a]) - item->low) * item->scale;
    default: return (features->logs[item->knob][a] - features->logs[item->other][b] - item->low) * item->scale;
    }
}

/* Least and greatest of the derived features over the valid points, or over a sample of them. One that never changes is dropped. */
static void scale_derived(mt_features *features, mt_rng *rng)
{
    float low[MOST_DERIVED], high[MOST_DERIVED];
    size_t derived = features->count - features->plain_count, kept = features->plain_count;
    bool looks_at_all = mt_space_is_enumerated(features->space) && mt_space_count(features->space) <= LOOKED_AT;
    size_t looks = looks_at_all ? mt_space_count(features->space) : LOOKED_AT;
    for (size_t i = 0; i < derived; i++) low[i] = INFINITY, high[i] = -INFINITY;
    for (size_t look = 0; look < looks; look++) {
        mt_point point;
        size_t index = look;
        if (!looks_at_all && !mt_space_sample(features->space, rng, &index)) break;
        mt_space_at(features->space, index, &point);
        for (size_t i = 0; i < derived; i++) {
            const mt_feature *item = &features->items[features->plain_count + i];
            bool is_prior = item->kind == PRIOR;
            if (!is_prior && (point.level[item->knob] == MT_INACTIVE || point.level[item->other] == MT_INACTIVE)) continue;
            float value = is_prior ? prior_of(features, item, index) : value_of(features, item, &point);
            low[i] = fminf(low[i], value);
            high[i] = fmaxf(high[i], value);
        }
    }
    for (size_t i = 0; i < derived; i++) {
        mt_feature item = features->items[features->plain_count + i];
        if (!(high[i] > low[i])) continue;
        item.low = low[i];
        item.scale = 1 / (high[i] - low[i]);
        if (item.kind == PRIOR) features->prior_feature = kept;
        features->items[kept++] = item;
    }
    features->count = kept;
}

mt_status mt_features_init(mt_features *features, const mt_space *space, mt_prior *prior, const void *prior_context, mt_rng *rng, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = mt_space_spec(space);
    *features = (mt_features){.space = space, .prior = prior, .prior_context = prior_context, .prior_feature = SIZE_MAX};
    if (prior && !(features->known_priors = mt_alloc(KNOWN_PRIORS, sizeof *features->known_priors))) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    for (size_t i = 0; st == MT_OK && i < spec->param_count; i++) {
        if (spec->params[i].value_count > 1) st = place_levels(features, i, err);
    }
    if (st == MT_OK) st = list_features(features, err);
    if (st == MT_OK) scale_derived(features, rng);
    if (st != MT_OK) mt_features_free(features);
    return st;
}

void mt_features_of(const mt_features *features, size_t index, float *out)
{
    mt_point point;
    mt_space_at(features->space, index, &point);
    for (size_t i = 0; i < features->count; i++) {
        const mt_feature *item = &features->items[i];
        if (item->kind != PRIOR) out[i] = value_of(features, item, &point);
        else out[i] = prior_of(features, item, index), out[i] = isnan(out[i]) ? 0.5f : fminf(fmaxf(out[i], -1), 2);
    }
}

void mt_features_free(mt_features *features)
{
    for (size_t i = 0; i < MT_MAX_PARAMS; i++) {
        mt_free(features->place[i]);
        mt_free(features->logs[i]);
    }
    mt_free(features->known_priors);
    mt_free(features->items);
    *features = (mt_features){0};
}
