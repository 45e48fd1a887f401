/* Headers of the host's C and C++ libraries, which NVRTC has none of: a source that names one gets a stub, which leads to the toolkit's cuda/std or to NVRTC's own functions. So does
 * <cub/cub.cuh>, of which NVRTC can compile the parts alone. */
#pragma once

#include <stdbool.h>

#include "tuner/base/strbuf.h"

/* Adds the stub's text; false: there is none for that name ("cstdint", "math.h"). */
bool mt_host_header_stub(const char *name, mt_strbuf *text);
/* What code for the GPU takes in place of a host's header that has no stub, behind the word `expected`; NULL: not known to be one. Lives as long as the program. */
const char *mt_host_header_instead(const char *name);
