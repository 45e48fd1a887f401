/* Which files NVRTC read, by its own word. The key of a kernel and of its cubin is made before, from what the tool found in the texts; here what the tool overlooked becomes an error. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_request.h"
#include "tuner/gpu/compile/nvrtc.h"
#include "tuner/space/source/macros.h"

/* Adds the options by which this NVRTC lists what it reads; none where it can't. The list of the compile before is gone. */
mt_status mt_compile_reads_ask(mt_nvrtc *nvrtc, mt_options *options, mt_error *err);
/* Whether the log says that the compiler does not know these options. */
bool mt_compile_reads_refused(const char *log);
/* What is wrong with what the last compile read: a file that is neither the request's nor the toolkit's, or one of the toolkit's that does not count in request->visible. Adds a line that names it; false: nothing. */
bool mt_compile_reads_unknown(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_strbuf *why);

/* The same of what the toolkit's headers only ask for: through a macro that the source or an option defines. */
bool mt_compile_asks_unknown(const mt_compile_request *request, mt_strbuf *why);
