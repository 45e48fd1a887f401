/* What the log of a compile says: resources, and hints for errors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/strbuf.h"

/* The worst of what ptxas said of the entries (lines of a text; "" = of all) in the log: false when the log has no such lines. */
bool mt_compile_resources(const char *log, const char *entries, uint32_t *registers, uint32_t *spill_bytes, uint32_t *static_smem_bytes);

/* The line of a log that says why the compile failed: the first of NVRTC's front end or of ptxas that begins with what failed ("k.cu(3): error: …", "ptxas fatal   : …"). NULL: none does. */
const char *mt_compile_first_error(const char *log);
/* True when ptxas says that it serialised wgmma (C7510 to C7518): adds a line that says so and why. */
bool mt_compile_serialized(const char *log, mt_strbuf *why);
/* Adds lines that tell what to do: an instruction that needs another target, a name that nvcc alone knows, numbers and limit of what is too large. */
void mt_compile_hints(const char *log, mt_strbuf *hints);
/* Adds a line that names the language standard which NVRTC does not know, and those that it does. */
void mt_compile_standard_hint(const char *log, const char *const *options, size_t count, mt_strbuf *hints);
