/* Hints for headers that a compile did not find or could not take. Internal to compiling. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_request.h"

/* Adds what the log of a compile that failed lets one do about headers. Who includes a header decides: what a file of the source asks for can be put beside it, what the toolkit's own headers ask for can't.
 * include_dir: the toolkit's headers, or NULL; `searched`: where they were looked for. */
void mt_compile_header_hints(const mt_compile_request *request, const char *log, const char *include_dir, const char *searched, mt_strbuf *hints);
