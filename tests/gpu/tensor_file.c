#include "tests/gpu/tensor_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* To the nearest, ties to even; overflow becomes infinite. */
static uint16_t half_of(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double size = fabs(x);
    int exponent;
    if (isnan(x)) return 0x7e00;
    if (size == 0) return sign; /* frexp knows no exponent for it */
    if (size >= 65520) return sign | 0x7c00;
    frexp(size, &exponent);
    if (exponent < -13) exponent = -13; /* subnormals share one unit */
    return (uint16_t)(sign | (unsigned)((exponent + 13) * 1024 + (int)nearbyint(ldexp(size, 11 - exponent))));
}

static double from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31) size = fraction ? NAN : INFINITY;
    return bits >> 15 ? -size : size;
}

/* The upper half of a float, to the nearest, ties to even. NaN stays NaN. */
static uint16_t bf16_of(double x)
{
    float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (isnan(x)) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double from_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float single;
    memcpy(&single, &bits, sizeof single);
    return single;
}

void *tensor_encode(double *data, size_t count, const char *dtype)
{
    bool is_half = strcmp(dtype, "f16") == 0, is_bf16 = strcmp(dtype, "bf16") == 0;
    void *out = calloc(count, is_half || is_bf16 ? 2 : 4);
    if (!out) die("calloc");
    for (size_t i = 0; i < count; i++) {
        if (is_half) {
            uint16_t bits = half_of(data[i]);
            memcpy((char *)out + 2 * i, &bits, 2);
            data[i] = from_half(bits);
        } else if (is_bf16) {
            uint16_t bits = bf16_of(data[i]);
            memcpy((char *)out + 2 * i, &bits, 2);
            data[i] = from_bf16(bits);
        } else {
            float rounded = (float)data[i];
            memcpy((char *)out + 4 * i, &rounded, 4);
            data[i] = rounded;
        }
    }
    return out;
}

void tensor_write(const char *path, const char *dtype, const size_t *dims, size_t rank, const void *data)
{
    char header[256];
    bool is_bf16 = strcmp(dtype, "bf16") == 0; /* numpy has no name for it: two raw bytes */
    size_t count = 1, bytes = is_bf16 || strcmp(dtype, "f16") == 0 ? 2 : strcmp(dtype, "f32") == 0 ? 4 : 8;
    int length = snprintf(header, sizeof header, "{'descr': '%s%zu', 'fortran_order': False, 'shape': (", is_bf16 ? "|V" : "<f", bytes);
    for (size_t i = 0; i < rank; count *= dims[i++]) length += snprintf(header + length, sizeof header - (size_t)length, "%zu, ", dims[i]);
    length += snprintf(header + length, sizeof header - (size_t)length, "), }\n");
    FILE *out = fopen(path, "wb");
    if (!out) die(path);
    fwrite("\x93NUMPY\x01\x00", 1, 8, out);
    fputc(length & 255, out);
    fputc(length >> 8, out);
    fwrite(header, 1, (size_t)length, out);
    if (fwrite(data, bytes, count, out) != count || fclose(out) != 0) die(path);
}
