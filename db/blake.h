/* BLAKE2b (RFC 7693) without a key, 32 bytes: what a pack's parts are told by. Against intent, other than XXH3. libc only; any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MT_BLAKE2B_BYTES = 32 };

void mt_blake2b(const void *data, size_t length, unsigned char digest[MT_BLAKE2B_BYTES]);
