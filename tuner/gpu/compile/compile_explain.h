/* What a compile that failed says, with the tool's hints in front. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_request.h"

bool mt_compile_has_option(const mt_compile_request *request, const char *prefix);
/* Adds both. The first line is what a table of failures shows. include_dir, searched: of the toolkit's headers (compile_headers.h). */
mt_status mt_compile_explain(const mt_compile_request *request, const char *log, const char *include_dir, const char *searched, mt_strbuf *text, mt_error *err);
