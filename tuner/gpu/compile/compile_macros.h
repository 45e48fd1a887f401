/* Macros of knobs and shape values: whether they are in effect, and whether one of them broke a header. Internal to compiling. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_request.h"

/* Adds a file of the source, in which an #error stands where one of the request's macros is defined with another value or undefined: no -w and no pragma turns that off, and where the directive is
 * skipped it is too. */
mt_status mt_compile_add_guarded(const mt_compile_request *request, const char *text, mt_strbuf *out, mt_error *err);
/* Lines for the source's end, which say the same of what headers of the toolkit do. Lists and fractions, which #if can't compare, must only be defined; a list's elements have macros of their own. */
void mt_compile_add_guards(const mt_compile_request *request, mt_strbuf *text);
/* True when the log says so: adds a line that names the macro and the place. */
bool mt_compile_redefined(const mt_compile_request *request, const char *log, mt_strbuf *why);
/* Adds a line where the first error is in a header, at a line that holds the name of one of the request's macros. */
void mt_compile_macro_hint(const mt_compile_request *request, const char *log, mt_strbuf *hints);
