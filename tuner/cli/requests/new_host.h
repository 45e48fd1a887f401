/* Code for the host beside a kernel: `main`, functions that launch it, and headers that only the host has. */
#pragma once

#include <stdbool.h>

/* Whether nvcc alone can compile the source: NVRTC takes no such code. Conditions are not evaluated; a source that asks for __CUDACC_RTC__ is taken to keep its own away. */
bool mt_new_has_host_code(const char *source);
