#include "tuner/gpu/compile/compile_names.h"

#include <stdlib.h>
#include <string.h>

#include "db/cubin_names.h"
#include "tuner/base/alloc.h"
#include "tuner/base/cpp_name.h"
#include "tuner/gpu/compile/compile_log.h"
#include "tuner/space/launch/cubin.h"
#include "tuner/space/signature/signature.h"
#include "tuner/space/source/macros.h"

const char *mt_compile_name_of(const char *option)
{
    return strncmp(option, MT_NAME_OPTION, sizeof MT_NAME_OPTION - 1) == 0 ? option + sizeof MT_NAME_OPTION - 1 : NULL;
}

/* ---- asking ---- */

mt_status mt_compile_names_ask(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program program, mt_error *err)
{
    for (size_t i = 0; i < request->option_count; i++) {
        const char *name = mt_compile_name_of(request->options[i]);
        char *expression = name ? mt_cpp_expression(name) : NULL;
        if (!name) continue;
        int code = expression ? nvrtc->api.AddNameExpression(program, expression) : MT_NVRTC_SUCCESS;
        mt_free(expression);
        if (!expression) return mt_no_memory("compile", err);
        if (code != MT_NVRTC_SUCCESS) return MT_FAIL(err, MT_ERR_COMPILE, "nvrtcAddNameExpression of %s: %s", name, nvrtc->api.GetErrorString(code));
    }
    return MT_OK;
}

static const char table[] = "msda_tune_names", table_file[] = "msda-tune names";

mt_status mt_compile_names_table(const mt_compile_request *request, mt_strbuf *text, mt_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < request->option_count; i++) {
        const char *name = mt_compile_name_of(request->options[i]);
        char *expression = name ? mt_cpp_expression(name) : NULL;
        if (!name) continue;
        if (!expression) return mt_no_memory("compile", err);
        if (!count++) mt_strbuf_addf(text, "\nextern \"C\" __device__ const void *const %s[] = {\n#line 1 \"%s\"\n", table, table_file);
        mt_strbuf_addf(text, "(const void *)(%s),\n", expression);
        mt_free(expression);
    }
    if (count) mt_strbuf_add(text, "};\n");
    return MT_OK;
}

/* ---- the answer ---- */

static mt_status add_lowered(const mt_nvrtc *nvrtc, mt_nvrtc_program program, const char *name, mt_strbuf *names, mt_error *err)
{
    const char *lowered = NULL;
    char *expression = mt_cpp_expression(name);
    if (!expression) return mt_no_memory("compile", err);
    int code = nvrtc->api.GetLoweredName(program, expression, &lowered);
    mt_free(expression);
    if (code != MT_NVRTC_SUCCESS || !lowered) return MT_FAIL(err, MT_ERR_COMPILE, "nvrtcGetLoweredName of %s: %s", name, nvrtc->api.GetErrorString(code));
    mt_strbuf_add_bytes(names, name, strlen(name) + 1);
    mt_strbuf_add_bytes(names, lowered, strlen(lowered) + 1);
    return MT_OK;
}

/* Of nvcc's cubin. */
static mt_status add_from_table(const mt_strbuf *image, const char *name, size_t index, mt_strbuf *names, mt_error *err)
{
    const char *symbol = mt_pointer_read(image->text, image->length, table, index);
    if (!symbol) return MT_FAIL(err, MT_ERR_COMPILE, "the cubin of nvcc does not tell which kernel %s is: expected an extern \"C\" kernel and its name as entry, or compiler = nvrtc", name);
    mt_strbuf_add_bytes(names, name, strlen(name) + 1);
    mt_strbuf_add_bytes(names, symbol, strlen(symbol) + 1);
    return MT_OK;
}

mt_status mt_compile_names_add(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program program, mt_strbuf *image, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf names = {0};
    size_t count = 0;
    for (size_t i = 0; i < request->option_count; i++) {
        const char *name = mt_compile_name_of(request->options[i]);
        if (name) MT_TRY(program ? add_lowered(nvrtc, program, name, &names, err) : add_from_table(image, name, count++, &names, err));
    }
    mt_cpp_names_read(image->text, image->length, &names);
    if (names.length) {
        mt_strbuf_add_bytes(image, names.text, names.length);
        mt_strbuf_addf(image, MT_CUBIN_NAMES_FORMAT, names.length);
    }
    if (names.failed || image->failed) st = mt_no_memory("compile", err);
done:
    mt_strbuf_free(&names);
    return st;
}

/* ---- a name that is not found ---- */

static void add_parameters(const mt_signature *kernel, mt_strbuf *out)
{
    mt_strbuf_add_char(out, '(');
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const mt_parameter *parameter = &kernel->parameters[i];
        mt_strbuf_addf(out, "%s%s%s%s%.*s", i ? ", " : "", parameter->is_const ? "const " : "", parameter->type, parameter->pointers ? " " : "", parameter->pointers, "****");
    }
    mt_strbuf_add(out, ")\n");
}

/* One a line. */
static mt_status add_kernels(const mt_source *source, mt_strbuf *out, mt_error *err)
{
    size_t before = out->length;
    for (size_t i = 0; i < source->file_count; i++) {
        mt_signatures kernels = {0};
        mt_status st = mt_signatures_read(source->files[i].text, &kernels, err);
        for (size_t k = 0; st == MT_OK && k < kernels.count; k++) {
            mt_strbuf_addf(out, "  %s%s", kernels.items[k].entry, kernels.items[k].is_template ? "<…>" : "");
            add_parameters(&kernels.items[k], out);
        }
        mt_signatures_free(&kernels);
        if (st != MT_OK) return st;
    }
    if (out->length == before) mt_strbuf_add(out, "  none that can be seen without compiling\n");
    return MT_OK;
}

/* The name whose expression NVRTC shows behind the error; NULL: none. */
static const char *name_shown(const mt_compile_request *request, const char *error)
{
    static const char pragma[] = "#pragma nv_mangled_name ";
    const char *shown = strstr(error, pragma), *found = NULL;
    size_t length = shown ? strcspn(shown += sizeof pragma - 1, "\n") : 0;
    for (size_t i = 0; i < request->option_count && length && !found; i++) {
        const char *name = mt_compile_name_of(request->options[i]);
        char *expression = name ? mt_cpp_expression(name) : NULL;
        if (expression && strlen(expression) == length && strncmp(expression, shown, length) == 0) found = name;
        mt_free(expression);
    }
    return found;
}

/* The name of that line of nvcc's table, "msda-tune names(LINE): …"; NULL: none. */
static const char *name_of_line(const mt_compile_request *request, const char *error)
{
    if (strncmp(error, table_file, sizeof table_file - 1) != 0 || error[sizeof table_file - 1] != '(') return NULL;
    long line = strtol(error + sizeof table_file, NULL, 10);
    for (size_t i = 0; i < request->option_count; i++)
        if (mt_compile_name_of(request->options[i]) && --line == 0) return mt_compile_name_of(request->options[i]);
    return NULL;
}

mt_status mt_compile_names_hint(const mt_compile_request *request, const char *log, mt_strbuf *hints, mt_error *err)
{
    static const char file[] = "__nv_name_map(", error[] = "error: ";
    const char *first = mt_compile_first_error(log);
    if (!first) return MT_OK;
    const char *name = strncmp(first, file, sizeof file - 1) == 0 ? name_shown(request, first) : name_of_line(request, first), *why = strstr(first, error);
    if (!name || !why) return MT_OK;
    why += sizeof error - 1;
    mt_strbuf_addf(hints, "no kernel %s: %.*s. Kernels of the source:\n", name, (int)strcspn(why, "\n"), why);
    return add_kernels(request->source, hints, err);
}
