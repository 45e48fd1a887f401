/* Macros of knobs and shape values: whether they are in effect, and whether one of them broke a header. Internal to compiling. */
#ifndef MT_GPU_COMPILE_MACROS_H
#define MT_GPU_COMPILE_MACROS_H

#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile_request.h"

/* Lines for the source's end, which refuse to compile where one of the request's macros has another value by then. Lists and fractions, which #if can't compare, have none; a list's elements have macros of their
 * own. One that is undefined by then was perhaps cleaned up, and passes. */
void mt_compile_add_guards(const mt_compile_request *request, mt_strbuf *text);
/* True when the log says that a macro of the request was defined again, by a guard or by NVRTC's warning 47: adds a line that names it and the place. */
bool mt_compile_redefined(const mt_compile_request *request, const char *log, mt_strbuf *why);
/* Adds a line where the first error is in a header, at a line that holds the name of one of the request's macros. */
void mt_compile_macro_hint(const mt_compile_request *request, const char *log, mt_strbuf *hints);
/* Adds a line where a file was not found whose name a macro with arguments made: the tool can't have handed that over. */
void mt_compile_include_hint(const char *log, mt_strbuf *hints);

#endif
