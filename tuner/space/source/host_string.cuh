/* <string.h> for NVRTC, which has memcpy and memset itself. */
__device__ inline void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *out = static_cast<unsigned char *>(to);
    const unsigned char *in = static_cast<const unsigned char *>(from);
    if (out < in)
        for (size_t i = 0; i < count; i++) out[i] = in[i];
    else
        for (size_t i = count; i-- > 0;) out[i] = in[i];
    return to;
}

__device__ inline int memcmp(const void *a, const void *b, size_t count)
{
    const unsigned char *left = static_cast<const unsigned char *>(a), *right = static_cast<const unsigned char *>(b);
    for (size_t i = 0; i < count; i++)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

__device__ inline size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

__device__ inline int strncmp(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char left = static_cast<unsigned char>(a[i]), right = static_cast<unsigned char>(b[i]);
        if (left != right) return left < right ? -1 : 1;
        if (!left) return 0;
    }
    return 0;
}

__device__ inline int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, ~size_t(0));
}
