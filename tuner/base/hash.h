/* Content hashing: XXH3-128 as 32 hex digits. For identity of content, not for security. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MT_HASH_HEX_SIZE = 33 };
typedef struct mt_hash {
    char hex[MT_HASH_HEX_SIZE];
} mt_hash;

mt_hash mt_hash_bytes(const void *bytes, size_t count);
mt_hash mt_hash_text(const char *text);
uint64_t mt_hash_u64(const void *bytes, size_t count, uint64_t seed);
