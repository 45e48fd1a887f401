/* The .npy header parser on any bytes: no fault, and what it accepts keeps its promises. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_target.h"
#include "tuner/space/spec/npy.h"

static void require(int holds)
{
    if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mt_npy npy;
    mt_error err = {0};
    if (mt_npy_parse("fuzz.npy", data, size, size, &npy, &err) != MT_OK) {
        require(strncmp(err.message, "fuzz.npy: ", 10) == 0);
        return 0;
    }
    uint64_t elements = 1;
    require(npy.rank <= MT_MAX_RANK && npy.dtype < MT_DTYPE_COUNT);
    for (size_t i = 0; i < npy.rank; i++) {
        require(npy.dims[i] >= 0);
        elements *= (uint64_t)npy.dims[i];
    }
    require(elements == npy.elements && npy.data_offset + elements * mt_dtype_bytes(npy.dtype) == size);
    return 0;
}
