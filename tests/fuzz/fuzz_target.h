/* The entry point that libFuzzer and the regression driver share. */
#ifndef MT_TESTS_FUZZ_TARGET_H
#define MT_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
