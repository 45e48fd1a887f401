/* The C++ names of a cubin's kernels and variables. What a source calls ns::conv<float, 4> has another name in compiled code, which only the compiler can tell; the tool writes both behind
 * the code, where no reader of ELF files looks:
 *
 *   the cubin, then NAME NUL SYMBOL NUL for each, then "%08x msda-tune names\n" with the bytes of the names
 *
 * Shared by the tool, whose compile workers write them, and libtunelookup; libc only. */
#pragma once

#include <stddef.h>

enum { MT_CUBIN_NAMES_FOOTER = 25 };
#define MT_CUBIN_NAMES_FORMAT "%08zx msda-tune names\n"

/* The name in compiled code: of the cubin's text, or `name` itself where the cubin tells of no other, as of extern "C" functions. */
const char *mt_cubin_symbol(const void *cubin, size_t bytes, const char *name);
