/* What a difference in one value of the shape is worth, learned from the tuned shapes. Each variant's slowdown is taken for a Gaussian process over the shapes (kriging), all of one covariance, which falls with the
 * weighted distance; the weights are those under which the measured slowdowns are most likely. A normal law on the weights' logarithms pulls them towards those they start from: a value that never varied, or
 * hardly, keeps its weight. */
#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/predictor/predictor_internal.h"

enum { LEAST_SHAPES = 5, SWEEPS = 7 };
enum { NUGGET = MT_RULE_FEATURES, SILL, OFFSET, SCALES }; /* logarithms of factors by which the values' weights differ from what they were to begin with; behind them those of three variances */
static const double MEAN = 0.2;        /* log2 slowdown of a variant of which nothing is known */
static const double MOST = 0.7;        /* of what is worse, how much worse does not matter */
static const double RANGE = 4;         /* octaves */
static const double SPREAD = 2;        /* of the logarithms before anything is measured */
static const double VARIANCE[3] = {0.001, 0.06, 0.04}; /* to begin with: of a measurement, of what the shape decides, of a variant's mean */
static const double FIRST_STEP = 1.4; /* of a logarithm */

typedef struct process {
    const mt_predictor_data *data;
    size_t shapes[MT_RULE_SHAPES], shape_count, name_count;
    double *parts;       /* [shape_count²][name_count]: of the squared distance, in units of RANGE */
    double *covariance;  /* [shape_count²] */
    double *factor;      /* [shape_count²]: of the shapes that a group of variants has times on */
} process;

static size_t name_count(const mt_predictor_data *data)
{
    return data->feature_count ? data->name[data->feature_count - 1] + 1 : 0;
}

/* Of two features over the shapes, 0 … 1; a text is compared by whether it equals the first shape's. */
static double correlation(const mt_predictor_data *data, const bool *is_left_out, size_t a, size_t b)
{
    double n = 0, of_a = 0, of_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < data->shape_count; i++) {
        const double *row = data->shapes + i * data->feature_count;
        if (!mt_predictor_has(is_left_out, i)) continue;
        double x = data->is_text[a] ? row[a] == data->shapes[a] : row[a], y = data->is_text[b] ? row[b] == data->shapes[b] : row[b];
        n++;
        of_a += x;
        of_b += y;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    double spread_a = n * aa - of_a * of_a, spread_b = n * bb - of_b * of_b;
    return spread_a > 1e-9 * n * aa && spread_b > 1e-9 * n * bb ? fabs(n * ab - of_a * of_b) / sqrt(spread_a * spread_b) : 0;
}

void mt_predictor_prior(const mt_predictor_data *data, const bool *is_left_out, mt_rule_feature *features)
{
    double shares[MT_RULE_FEATURES], of_name[MT_RULE_FEATURES] = {0};
    mt_rule_prior(data->name, data->is_text, data->feature_count, features);
    for (size_t i = 0; i < data->feature_count; i++) {
        shares[i] = 1; /* with itself and the other features of its value */
        for (size_t k = 0; k < data->feature_count; k++) {
            double together = data->name[k] == data->name[i] ? 0 : correlation(data, is_left_out, i, k);
            shares[i] += features[k].weight * together * together * together * together; /* half of a likeness is none */
        }
    }
    for (size_t i = 0; i < data->feature_count; i++) of_name[data->name[i]] += features[i].weight / shares[i]; /* stored per value, not per feature */
    for (size_t i = 0; i < data->feature_count; i++) features[i].weight *= of_name[data->name[i]];
}

/* ---- likelihood ---- */

static void fill_parts(process *p, const mt_rule_feature *features)
{
    size_t width = p->data->feature_count;
    for (size_t pair = 0; pair < p->shape_count * p->shape_count; pair++) {
        const double *a = p->data->shapes + p->shapes[pair / p->shape_count] * width, *b = p->data->shapes + p->shapes[pair % p->shape_count] * width;
        double *out = p->parts + pair * p->name_count;
        memset(out, 0, p->name_count * sizeof *out);
        for (size_t i = 0; i < width; i++) {
            double difference = p->data->is_text[i] ? (a[i] == b[i] ? 0 : MT_RULE_TEXT_OCTAVES) : a[i] - b[i];
            out[p->data->name[i]] += features[i].weight * difference * difference / (2 * RANGE * RANGE);
        }
    }
}

static void fill_covariance(process *p, const double *scales)
{
    double factors[MT_RULE_FEATURES], nugget = VARIANCE[0] * exp(scales[NUGGET]), sill = VARIANCE[1] * exp(scales[SILL]), offset = VARIANCE[2] * exp(scales[OFFSET]);
    for (size_t n = 0; n < p->name_count; n++) factors[n] = exp(scales[n]);
    for (size_t i = 0; i < p->shape_count; i++) {
        for (size_t k = 0; k <= i; k++) {
            const double *parts = p->parts + (i * p->shape_count + k) * p->name_count;
            double sum = 0;
            for (size_t n = 0; n < p->name_count; n++) sum += factors[n] * parts[n];
            p->covariance[i * p->shape_count + k] = offset + sill * exp(-sum) + (i == k ? nugget : 0);
        }
    }
}

static double time_of(const process *p, size_t index, size_t variant)
{
    return mt_predictor_cell(p->data, p->shapes[index], variant);
}

/* They have times on the same shapes. */
static bool are_alike(const process *p, size_t a, size_t b)
{
    for (size_t i = 0; i < p->shape_count; i++) {
        if (isfinite(time_of(p, i, a)) != isfinite(time_of(p, i, b))) return false;
    }
    return true;
}

/* Cholesky's factor L of the covariance of those shapes, in p->factor. */
static void decompose(process *p, const size_t *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double *row = p->factor + i * count;
        for (size_t k = 0; k <= i; k++) {
            const double *other = p->factor + k * count;
            double sum = p->covariance[known[i] * p->shape_count + known[k]];
            for (size_t j = 0; j < k; j++) sum -= row[j] * other[j];
            row[k] = i == k ? sqrt(fmax(sum, 1e-12)) : sum / other[k];
        }
    }
}

/* Half the square of L⁻¹ (times − MEAN). */
static double misfit(const process *p, const size_t *known, size_t count, size_t variant)
{
    double rest[MT_RULE_SHAPES], sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double *row = p->factor + i * count;
        rest[i] = fmin(time_of(p, known[i], variant), MOST) - MEAN;
        for (size_t k = 0; k < i; k++) rest[i] -= row[k] * rest[k];
        rest[i] /= row[i];
        sum += rest[i] * rest[i];
    }
    return sum / 2;
}

/* Minus the logarithm of how likely the times and the scales are. */
static double unlikeliness(process *p, const double *scales)
{
    bool is_done[MT_RULE_VARIANTS] = {false};
    double sum = 0;
    for (size_t i = 0; i < SCALES; i++) sum += scales[i] * scales[i] / (2 * SPREAD * SPREAD);
    fill_covariance(p, scales);
    for (size_t v = 0; v < p->data->variant_count; v++) {
        size_t known[MT_RULE_SHAPES], count = 0;
        double determinant = 0;
        for (size_t i = 0; i < p->shape_count && !is_done[v]; i++) {
            if (isfinite(time_of(p, i, v))) known[count++] = i;
        }
        if (!count) continue;
        decompose(p, known, count);
        for (size_t i = 0; i < count; i++) determinant += log(p->factor[i * count + i]);
        for (size_t other = v; other < p->data->variant_count; other++) {
            if (is_done[other] || !are_alike(p, v, other)) continue;
            is_done[other] = true;
            sum += determinant + misfit(p, known, count, other);
        }
    }
    return sum;
}

/* ---- search ---- */

static bool is_scale(const process *p, size_t index)
{
    return index < p->name_count || index >= NUGGET;
}

/* Along one scale after the other, with steps that halve where neither direction helps. */
static void descend(process *p, double *scales)
{
    double steps[SCALES], least = unlikeliness(p, scales);
    for (size_t i = 0; i < SCALES; i++) steps[i] = FIRST_STEP;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t i = 0; i < SCALES; i++) {
            double kept = scales[i], value = INFINITY;
            for (int sign = -1; is_scale(p, i) && sign <= 1 && !(value < least); sign += 2) {
                scales[i] = kept + sign * steps[i];
                value = unlikeliness(p, scales);
            }
            if (value < least) {
                least = value;
            } else {
                scales[i] = kept;
                steps[i] /= 2;
            }
        }
    }
}

static bool take_memory(process *p)
{
    size_t pairs = p->shape_count * p->shape_count;
    p->parts = mt_alloc(pairs * p->name_count + 1, sizeof *p->parts);
    p->covariance = mt_alloc(pairs + 1, sizeof *p->covariance);
    p->factor = mt_alloc(pairs + 1, sizeof *p->factor);
    return p->parts && p->covariance && p->factor;
}

static bool varies(const process *p, size_t name)
{
    for (size_t pair = 0; pair < p->shape_count * p->shape_count; pair++) {
        if (p->parts[pair * p->name_count + name] > 0) return true;
    }
    return false;
}

/* Distances stay octaves of an average value: only what the values weigh against each other is learned, so those that never varied keep their weight. */
static void apply(const process *p, const double *scales, mt_rule_feature *features)
{
    double factors[MT_RULE_FEATURES], sum = 0;
    size_t count = 0;
    for (size_t n = 0; n < p->name_count; n++) {
        bool is_learned = varies(p, n);
        factors[n] = is_learned ? exp(scales[n]) : 0;
        sum += factors[n];
        count += is_learned;
    }
    for (size_t i = 0; i < p->data->feature_count; i++) {
        double factor = factors[p->data->name[i]];
        if (factor > 0) features[i].weight *= factor * (double)count / sum;
    }
}

bool mt_predictor_learn(const mt_predictor_data *data, const bool *is_left_out, mt_rule_feature *features, bool *is_learned)
{
    process p = {.data = data, .name_count = name_count(data)};
    double scales[SCALES] = {0};
    for (size_t i = 0; i < data->shape_count; i++) {
        if (mt_predictor_has(is_left_out, i)) p.shapes[p.shape_count++] = i;
    }
    *is_learned = p.shape_count >= LEAST_SHAPES;
    if (!*is_learned) return true;
    bool has_memory = take_memory(&p);
    if (has_memory) {
        fill_parts(&p, features);
        descend(&p, scales);
        apply(&p, scales, features);
    }
    MT_FREE_EACH(p.parts, p.covariance, p.factor);
    return has_memory;
}
