#include "tuner/search/gp.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tuner/base/alloc.h"

#define SQRT5 2.23606797749979
#define APART 0.5f /* of two names */

bool mt_gp_init(mt_gp *gp, size_t width, size_t limit, size_t pool)
{
    size_t size = (pool + MT_GP_BLOCK - 1) / MT_GP_BLOCK * MT_GP_BLOCK;
    *gp = (mt_gp){.width = width, .limit = limit, .pool_size = size, .nugget = 1e-3};
    gp->inverse_length = mt_alloc(width, sizeof *gp->inverse_length);
    gp->may_lack_order = mt_alloc(width, sizeof *gp->may_lack_order);
    gp->lacks_order = mt_alloc(width, sizeof *gp->lacks_order);
    gp->is_optional = mt_alloc(width, sizeof *gp->is_optional);
    gp->is_unused = mt_alloc(width, sizeof *gp->is_unused);
    gp->rows = mt_alloc(limit * width, sizeof *gp->rows);
    gp->factor = mt_alloc(limit * (limit + 1) / 2, sizeof *gp->factor);
    gp->ones = mt_alloc(limit, sizeof *gp->ones);
    gp->centred = mt_alloc(limit, sizeof *gp->centred);
    gp->columns = mt_alloc(width * size, sizeof *gp->columns);
    gp->whitened = mt_alloc(limit * size, sizeof *gp->whitened);
    gp->explained = mt_alloc(size, sizeof *gp->explained);
    gp->means = mt_alloc(size, sizeof *gp->means);
    gp->deviations = mt_alloc(size, sizeof *gp->deviations);
    if (!gp->inverse_length || !gp->may_lack_order || !gp->lacks_order || !gp->is_optional || !gp->is_unused || !gp->rows || !gp->factor || !gp->ones || !gp->centred || !gp->columns || !gp->whitened || !gp->explained || !gp->means || !gp->deviations) return false;
    for (size_t j = 0; j < width; j++) gp->inverse_length[j] = 2;
    return true;
}

void mt_gp_free(mt_gp *gp)
{
    MT_FREE_EACH(gp->inverse_length, gp->may_lack_order, gp->lacks_order, gp->is_optional, gp->is_unused, gp->rows, gp->factor);
    MT_FREE_EACH(gp->ones, gp->centred, gp->columns, gp->whitened, gp->explained, gp->means, gp->deviations);
    *gp = (mt_gp){0};
}

void mt_gp_set_pool(mt_gp *gp, const float *rows, size_t count)
{
    assert(count <= gp->pool_size);
    gp->count = 0;
    gp->pool_count = count;
    memset(gp->explained, 0, gp->pool_size * sizeof *gp->explained);
    for (size_t j = 0; j < gp->width; j++) {
        float *column = gp->columns + j * gp->pool_size;
        for (size_t c = 0; c < count; c++) column[c] = rows[c * gp->width + j];
    }
}

/* ---- the kernel ---- */

float mt_gp_distance(const mt_gp *gp, size_t feature, float a, float b)
{
    if (!gp->lacks_order[feature]) return fabsf(a - b);
    return a < b || b < a ? APART : 0;
}

static double kernel(const mt_gp *gp, const float *a, const float *b)
{
    double product = 1, sum = 0;
    for (size_t j = 0; j < gp->width; j++) {
        if (gp->is_unused[j]) continue;
        double distance = SQRT5 * (double)mt_gp_distance(gp, j, a[j], b[j]) * gp->inverse_length[j];
        product *= 1 + distance + distance * distance / 3;
        sum += distance;
    }
    return product * exp(-sum);
}

/* e^−x for x ≥ 0, to about 1e−6 of the result: 2^i by the exponent's bits, 2^f by a polynomial. The constant trip count lets a compiler vectorise without being told more. */
static void exp_minus(const float *restrict x, float *restrict out)
{
    int32_t bits[MT_GP_BLOCK];
    float power[MT_GP_BLOCK];
    for (int c = 0; c < MT_GP_BLOCK; c++) {
        float t = x[c] > 80.0f ? 115.0f : x[c] * 1.44269504f;
        int32_t whole = (int32_t)t;
        float f = ((float)whole - t) * 0.69314718f; /* in (−ln 2, 0] */
        out[c] = 1 + f * (1 + f * (0.5f + f * (0.16666667f + f * (0.041666667f + f * (0.0083333333f + f * 0.0013888889f)))));
        bits[c] = (127 - whole) * (1 << 23);
    }
    memcpy(power, bits, sizeof power);
    for (int c = 0; c < MT_GP_BLOCK; c++) out[c] *= power[c];
}

/* Covariances of one point with a block of the pool. */
static void kernel_block(const mt_gp *gp, const float *row, size_t from, float *restrict out)
{
    float product[MT_GP_BLOCK], sum[MT_GP_BLOCK];
    for (int c = 0; c < MT_GP_BLOCK; c++) product[c] = 1, sum[c] = 0;
    for (size_t j = 0; j < gp->width; j++) {
        if (gp->is_unused[j]) continue;
        const float *restrict column = gp->columns + j * gp->pool_size + from;
        float at = row[j], scale = (float)(SQRT5 * gp->inverse_length[j]);
        bool has_order = !gp->lacks_order[j];
        for (int c = 0; c < MT_GP_BLOCK; c++) {
            float gap = fabsf(column[c] - at), distance = (has_order ? gap : gap > 0 ? APART : 0.0f) * scale;
            product[c] *= 1 + distance + distance * distance * 0.33333333f;
            sum[c] += distance;
        }
    }
    exp_minus(sum, out);
    for (int c = 0; c < MT_GP_BLOCK; c++) out[c] *= product[c];
}

/* ---- appending ---- */

static void append_factor_row(mt_gp *gp, const float *row)
{
    size_t n = gp->count;
    double *line = gp->factor + n * (n + 1) / 2, rest = 1 + gp->nugget;
    for (size_t i = 0; i < n; i++) {
        const double *other = gp->factor + i * (i + 1) / 2;
        double value = kernel(gp, row, gp->rows + i * gp->width);
        for (size_t k = 0; k < i; k++) value -= line[k] * other[k];
        line[i] = value / other[i];
        rest -= line[i] * line[i];
    }
    line[n] = sqrt(fmax(rest, 1e-9));
    memcpy(gp->rows + n * gp->width, row, gp->width * sizeof *row);
    gp->count++;
}

/* value −= Σ weights · rows, four rows at a time, `stride` apart. */
static void subtract(float *restrict value, const float *restrict rows, size_t stride, const double *weights, size_t count)
{
    size_t i = 0;
    for (; i + 3 < count; i += 4) {
        const float *a = rows + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        float wa = (float)weights[i], wb = (float)weights[i + 1], wc = (float)weights[i + 2], wd = (float)weights[i + 3];
        for (int k = 0; k < MT_GP_BLOCK; k++) value[k] -= wa * a[k] + wb * b[k] + (wc * c[k] + wd * d[k]);
    }
    for (; i < count; i++) {
        const float *a = rows + i * stride;
        float wa = (float)weights[i];
        for (int k = 0; k < MT_GP_BLOCK; k++) value[k] -= wa * a[k];
    }
}

static void scale(float *restrict value, float *restrict squares, float factor)
{
    for (int k = 0; k < MT_GP_BLOCK; k++) {
        value[k] *= factor;
        squares[k] += value[k] * value[k];
    }
}

/* Rows first … count − 1 of `whitened`, for one block of the pool. */
static void whiten_block(mt_gp *gp, size_t first, size_t from)
{
    for (size_t r = first; r < gp->count; r++) {
        const double *line = gp->factor + r * (r + 1) / 2;
        float *value = gp->whitened + r * gp->pool_size + from;
        kernel_block(gp, gp->rows + r * gp->width, from, value);
        subtract(value, gp->whitened + from, gp->pool_size, line, r);
        scale(value, gp->explained + from, (float)(1 / line[r]));
    }
}

void mt_gp_append(mt_gp *gp, const float *rows, size_t count)
{
    size_t first = gp->count;
    assert(first + count <= gp->limit);
    for (size_t i = 0; i < count; i++) append_factor_row(gp, rows + i * gp->width);
    for (size_t from = 0; from < gp->pool_count; from += MT_GP_BLOCK) whiten_block(gp, first, from);
}

/* ---- predicting ---- */

/* out = L⁻¹ right */
static void solve(const mt_gp *gp, const double *right, double *out)
{
    for (size_t i = 0; i < gp->count; i++) {
        const double *line = gp->factor + i * (i + 1) / 2;
        double value = right ? right[i] : 1;
        for (size_t k = 0; k < i; k++) value -= line[k] * out[k];
        out[i] = value / line[i];
    }
}

static void condition(mt_gp *gp, const double *targets)
{
    double cross = 0, square = 0.01, rest = 1; /* a mean of 0 and a variance of 1 weigh a little: few points can't run away */
    solve(gp, NULL, gp->ones);
    solve(gp, targets, gp->centred);
    for (size_t i = 0; i < gp->count; i++) {
        cross += gp->ones[i] * gp->centred[i];
        square += gp->ones[i] * gp->ones[i];
    }
    gp->mean = cross / square;
    for (size_t i = 0; i < gp->count; i++) {
        gp->centred[i] -= gp->mean * gp->ones[i];
        rest += gp->centred[i] * gp->centred[i];
    }
    gp->variance = rest / (double)(gp->count + 1);
}

void mt_gp_predict(mt_gp *gp, const double *targets)
{
    condition(gp, targets);
    for (size_t from = 0; from < gp->pool_count; from += MT_GP_BLOCK) {
        float sum[MT_GP_BLOCK] = {0};
        subtract(sum, gp->whitened + from, gp->pool_size, gp->centred, gp->count);
        for (size_t c = 0; c < MT_GP_BLOCK && from + c < gp->pool_count; c++) {
            gp->means[from + c] = gp->mean - (double)sum[c];
            gp->deviations[from + c] = sqrt(gp->variance * fmax(1 - (double)gp->explained[from + c], 1e-8));
        }
    }
}

void mt_gp_at(const mt_gp *gp, const float *row, double *scratch, double *mean, double *deviation)
{
    double left = 1, sum = gp->mean;
    for (size_t i = 0; i < gp->count; i++) {
        const double *line = gp->factor + i * (i + 1) / 2;
        double value = kernel(gp, row, gp->rows + i * gp->width);
        for (size_t k = 0; k < i; k++) value -= line[k] * scratch[k];
        scratch[i] = value / line[i];
        left -= scratch[i] * scratch[i];
        sum += scratch[i] * gp->centred[i];
    }
    *mean = sum;
    *deviation = sqrt(gp->variance * fmax(left, 1e-8));
}
