#include "tuner/gpu/compile/compile_explain.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/cpp_name.h"
#include "tuner/gpu/compile/compile_headers.h"
#include "tuner/gpu/compile/compile_log.h"
#include "tuner/gpu/compile/compile_macros.h"
#include "tuner/gpu/compile/compile_names.h"

bool mt_compile_has_option(const mt_compile_request *request, const char *prefix)
{
    for (size_t i = 0; i < request->option_count; i++)
        if (strncmp(request->options[i], prefix, strlen(prefix)) == 0) return true;
    return false;
}

/* What went wrong stands in front of warnings that came before it. */
static mt_status add_failed_log(const char *log, mt_strbuf *text, mt_error *err)
{
    const char *error = mt_compile_first_error(log);
    char *before = mt_strndup(log, error ? (size_t)(error - log) : 0);
    if (before) mt_cpp_names_in(error ? error : log, text);
    if (before) mt_cpp_names_in(before, text);
    mt_free(before);
    return before ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "compile log");
}

mt_status mt_compile_explain(const mt_compile_request *request, const char *log, const char *include_dir, const char *searched, mt_strbuf *text, mt_error *err)
{
    mt_status st = mt_compile_names_hint(request, log, text, err);
    if (st != MT_OK) return st;
    if (!mt_compile_redefined(request, log, text)) {
        mt_compile_macro_hint(request, log, text);
        mt_compile_header_hints(request, log, include_dir, searched, text);
        mt_compile_hints(log, text);
        mt_compile_standard_hint(log, request->options, request->option_count, text);
    }
    return add_failed_log(log, text, err);
}
