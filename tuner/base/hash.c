#include "tuner/base/hash.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

mt_hash mt_hash_bytes(const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    XXH128_canonical_t canonical; /* big-endian on every machine, so that a stored hash travels */
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, count));
    mt_hash hash;
    for (size_t i = 0; i < sizeof canonical.digest; i++) {
        hash.hex[2 * i] = digits[canonical.digest[i] >> 4];
        hash.hex[2 * i + 1] = digits[canonical.digest[i] & 15];
    }
    hash.hex[MT_HASH_HEX_SIZE - 1] = '\0';
    return hash;
}

mt_hash mt_hash_text(const char *text)
{
    return mt_hash_bytes(text, strlen(text));
}

uint64_t mt_hash_u64(const void *bytes, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, count, seed);
}
