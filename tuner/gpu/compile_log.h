/* Hints for compile errors; internal to compiling. */
#ifndef MT_GPU_COMPILE_LOG_H
#define MT_GPU_COMPILE_LOG_H

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile.h"

/* Adds lines that tell what to do: an instruction that needs another target, a header that was not found. include_dir may be NULL. */
/* True when ptxas says that it serialised wgmma (C7510 to C7518): adds a line that says so and why. */
bool mt_compile_serialized(const char *log, mt_strbuf *why);
void mt_compile_hints(const char *log, const char *include_dir, const char *searched, mt_strbuf *hints);

#endif
