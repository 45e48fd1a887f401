/* Points as vectors of numbers in about [0, 1], for the models.
 *
 * An ordered knob is the mean of its value's place in the order and its place on a log scale; a knob of few strings becomes one indicator a
 * string. Pairs of numeric knobs add the sum and the difference of their logs: threads per block, work per thread and aspect ratios are such
 * sums, and are what a kernel's time follows. An inactive knob is neutral (½): it moves nothing. */
#pragma once

#include "tuner/base/rng.h"
#include "tuner/space/points/space.h"

typedef struct mt_feature {
    uint16_t knob, other; /* other: of a derived feature, else = knob */
    int16_t level;        /* of an indicator: the level that it stands for */
    int8_t kind;          /* 0: ordered, 1: indicator, 2: sum of logs, 3: difference of logs, 4: log of the prior, 5: factors of two */
    float low, scale;     /* of a derived one: what makes it [0, 1] over the points looked at */
} mt_feature;

/* Nanoseconds that a point is believed to take before anything was measured, by a model that the space's author wrote; NAN: no idea. Only ratios count. One thread at a time; fast, as it is asked of
 * thousands of points. */
typedef double mt_prior(const void *context, size_t point);

typedef struct mt_features {
    const mt_space *space;
    mt_prior *prior; /* NULL: none */
    const void *prior_context;
    size_t prior_feature; /* which of the items is its logarithm; SIZE_MAX: none is */
    struct mt_known_prior *known_priors; /* of points asked lately */
    mt_feature *items;
    size_t count, plain_count; /* the first plain_count are not derived */
    float *place[MT_MAX_PARAMS]; /* of an ordered knob: by level */
    float *logs[MT_MAX_PARAMS];  /* log2 of the values of a numeric, positive knob; NULL: not one */
} mt_features;

/* `rng` draws the points that scale the derived features where the space is too large to look at all. */
mt_status mt_features_init(mt_features *features, const mt_space *space, mt_prior *prior, const void *prior_context, mt_rng *rng, mt_error *err);
/* What the prior says of a point, remembered for a while; NAN without one. One thread at a time. */
double mt_features_prior(const mt_features *features, size_t point);
/* Writes features->count numbers. */
void mt_features_of(const mt_features *features, size_t point, float *out);
void mt_features_free(mt_features *features);
