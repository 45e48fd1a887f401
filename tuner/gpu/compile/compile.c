/* One compile: NVRTC, its options, its log. */
#include "tuner/gpu/compile/compile.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/strbuf.h"
#include "tuner/gpu/compile/compile_cache.h"
#include "tuner/gpu/compile/compile_explain.h"
#include "tuner/gpu/compile/compile_log.h"
#include "tuner/gpu/compile/compile_macros.h"
#include "tuner/gpu/compile/compile_names.h"
#include "tuner/gpu/compile/compile_nvcc.h"
#include "tuner/gpu/compile/compile_reads.h"
#include "tuner/gpu/compile/nvrtc_internal.h"
#include "tuner/space/source/macros.h"
#include "tuner/space/source/visible.h"

extern const unsigned char mt_gpu_support_cu[], mt_gpu_support_h[];

/* NVRTC would ask the driver's own cache (~/.nv/ComputeCache), and for that start CUDA, on all GPUs, in every compile worker: while kernels are timed, and behind a lock that
 * the device workers wait for. CUDA_CACHE_DISABLE does not keep it from that. */
static const char no_cache[] = "--no-cache";

/* ptxas tells registers and spills; NVRTC 13 then keeps ptxas's errors to itself. */
static const char verbose[] = "--ptxas-options=-v";

/* How many of the options at `option` are the file's own wish for the same: in one word or in two. */
static size_t asks_for_verbose(const char *const *option, size_t count)
{
    static const char *const names[] = {"--ptxas-options", "-ptxas-options", "-Xptxas"}, *const values[] = {"-v", "--verbose"};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(option[0], names[i], length) != 0) continue;
        const char *value = option[0][length] == '=' ? option[0] + length + 1 : !option[0][length] && count > 1 ? option[1] : "";
        for (size_t k = 0; k < 2; k++)
            if (strcmp(value, values[k]) == 0) return option[0][length] == '=' ? 1 : 2;
    }
    return 0;
}

static mt_status request_options(const mt_compile_request *request, bool is_quiet, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < request->option_count; i++) {
        size_t skipped = is_quiet ? asks_for_verbose(&request->options[i], request->option_count - i) : 0;
        if (skipped) i += skipped - 1;
        else if (!mt_compile_name_of(request->options[i])) MT_TRY(mt_options_add(options, request->options[i], err));
    }
done:
    return st;
}

/* The request's options after ours, so that a file may override them; the toolkit's headers last, so that the file's own folders win. */
static mt_status all_options(mt_nvrtc *nvrtc, const mt_compile_request *request, bool is_quiet, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    if (!mt_compile_has_option(request, "-std=") && !mt_compile_has_option(request, "--std=")) MT_TRY(mt_options_add(options, "-std=c++17", err));
    mt_strbuf_addf(&text, "--gpu-architecture=%s", request->arch);
    MT_TRY(mt_options_add(options, mt_strbuf_text(&text), err));
    if (!is_quiet) MT_TRY(mt_options_add(options, verbose, err));
    if (!nvrtc->lacks_no_cache) MT_TRY(mt_options_add(options, no_cache, err));
    MT_TRY(request_options(request, is_quiet, options, err));
    MT_TRY(mt_compile_reads_ask(nvrtc, options, err)); /* behind the file's: nothing may turn it off */
    const char *folders[2];
    mt_nvrtc_header_folders(nvrtc, folders);
    for (size_t i = 0; i < 2; i++) {
        if (!folders[i]) continue;
        mt_strbuf_clear(&text);
        mt_strbuf_addf(&text, "-I%s", folders[i]);
        MT_TRY(mt_options_add(options, mt_strbuf_text(&text), err));
    }
    if (text.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "compile options");
done:
    mt_strbuf_free(&text);
    return st;
}

/* The text of that file as NVRTC gets it; owned. */
static mt_status guarded(const mt_compile_request *request, size_t file, char **out, mt_error *err)
{
    mt_strbuf text = {0};
    mt_status st = mt_compile_add_guarded(request, request->source->files[file].text, &text, err);
    if (st == MT_OK && file == 0) mt_compile_add_guards(request, &text);
    *out = st == MT_OK ? mt_strbuf_take(&text) : NULL;
    mt_strbuf_free(&text);
    return st != MT_OK || *out ? st : MT_FAIL(err, MT_ERR_NO_MEMORY, "source");
}

static mt_status program_create(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program *program, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_source *source = request->source;
    size_t count = source->file_count;
    char **texts = mt_alloc(count, sizeof *texts);
    const char **names = mt_alloc(count, sizeof *names);
    if (!texts || !names) MT_LEAVE(MT_FAIL(err, MT_ERR_NO_MEMORY, "source"));
    for (size_t i = 0; i < count; i++) {
        MT_TRY(guarded(request, i, &texts[i], err));
        names[i] = source->files[i].name;
    }
    int code = nvrtc->api.CreateProgram(program, texts[0], names[0], (int)count - 1, (const char *const *)texts + 1, names + 1);
    if (code != MT_NVRTC_SUCCESS) st = MT_FAIL(err, MT_ERR_COMPILE, "nvrtcCreateProgram: %s", nvrtc->api.GetErrorString(code));
done:
    for (size_t i = 0; texts && i < count; i++) mt_free(texts[i]);
    mt_free(texts);
    mt_free(names);
    return st;
}

/* `is_quiet`: ptxas says nothing but errors. *program is the caller's also after an error; NULL = none. */
static mt_status compile_program(mt_nvrtc *nvrtc, const mt_compile_request *request, bool is_quiet, mt_nvrtc_program *program, int *code, mt_error *err)
{
    mt_status st = MT_OK;
    mt_options options = {0};
    MT_TRY(all_options(nvrtc, request, is_quiet, &options, err));
    MT_TRY(program_create(nvrtc, request, program, err));
    MT_TRY(mt_compile_names_ask(nvrtc, request, *program, err));
    int here = mt_nvrtc_leave_folder();
    *code = nvrtc->api.CompileProgram(*program, (int)options.count, (const char *const *)options.items);
    mt_nvrtc_return_to(here);
done:
    mt_options_free(&options);
    return st;
}

/* Owned. */
static mt_status read_log(const mt_nvrtc *nvrtc, mt_nvrtc_program program, char **log, mt_error *err)
{
    size_t size = 0;
    if (nvrtc->api.GetProgramLogSize(program, &size) != MT_NVRTC_SUCCESS) size = 0;
    *log = mt_alloc(size + 1, 1);
    if (!*log) return MT_FAIL(err, MT_ERR_NO_MEMORY, "compile log");
    if (size && nvrtc->api.GetProgramLog(program, *log) != MT_NVRTC_SUCCESS) (*log)[0] = '\0';
    return MT_OK;
}

/* Compiles once more, so that ptxas says why; what that says takes the log's place. */
static mt_status ask_why(mt_nvrtc *nvrtc, const mt_compile_request *request, char **log, mt_error *err)
{
    mt_status st = MT_OK;
    mt_nvrtc_program program = NULL;
    int code = MT_NVRTC_SUCCESS;
    char *second = NULL;
    MT_TRY(compile_program(nvrtc, request, true, &program, &code, err));
    MT_TRY(read_log(nvrtc, program, &second, err));
    if (code != MT_NVRTC_SUCCESS && second[0]) {
        mt_free(*log);
        *log = second;
        second = NULL;
    }
done:
    if (program) nvrtc->api.DestroyProgram(&program);
    mt_free(second);
    return st;
}

/* NVRTC's log with our hints in front, behind what is in `text` already: the first line is what a table of failures shows. */
static mt_status take_log(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program program, int code, mt_strbuf *text, mt_compile_result *result, mt_error *err)
{
    char *log = NULL;
    mt_status st = MT_OK;
    MT_TRY(read_log(nvrtc, program, &log, err));
    if (code != MT_NVRTC_SUCCESS && !mt_compile_first_error(log)) MT_TRY(ask_why(nvrtc, request, &log, err));
    if (code != MT_NVRTC_SUCCESS) mt_nvrtc_arch_hint(nvrtc, request->arch, text);
    if (code != MT_NVRTC_SUCCESS) mt_nvrtc_builtins_hint(nvrtc, log, text);
    if (code != MT_NVRTC_SUCCESS) MT_TRY(mt_compile_explain(request, log, nvrtc->include_dir, nvrtc->include_searched, text, err));
    else mt_strbuf_add(text, log); /* read by others, who look for its names */
    result->log = mt_strbuf_take(text);
    if (!result->log) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "compile log");
done:
    mt_free(log);
    return st;
}

static mt_status take_cubin(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program program, mt_cache_entry *entry, mt_compile_result *result, mt_error *err)
{
    size_t size = 0;
    mt_status st = MT_OK;
    mt_strbuf image = {0};
    int code = nvrtc->api.GetCUBINSize(program, &size);
    if (code != MT_NVRTC_SUCCESS || size == 0)
        return MT_FAIL(err, MT_ERR_COMPILE, "NVRTC made no cubin (%s): the architecture must be a real one such as sm_90a", nvrtc->api.GetErrorString(code));
    char *cubin = mt_alloc(size, 1);
    if (!cubin) return MT_FAIL(err, MT_ERR_NO_MEMORY, "cubin of %zu bytes", size);
    code = nvrtc->api.GetCUBIN(program, cubin);
    if (code != MT_NVRTC_SUCCESS) MT_LEAVE(MT_FAIL(err, MT_ERR_COMPILE, "nvrtcGetCUBIN: %s", nvrtc->api.GetErrorString(code)));
    mt_strbuf_add_bytes(&image, cubin, size);
    MT_TRY(mt_compile_names_add(nvrtc, request, program, &image, err));
    st = mt_cache_entry_write(entry, image.text, image.length, result->log, &result->cubin, err);
done:
    mt_strbuf_free(&image);
    mt_free(cubin);
    return st;
}

/* It does not know an option: ours, or the file's. */
static mt_status was_refused(mt_nvrtc *nvrtc, mt_nvrtc_program program, int code, bool *is_refused, mt_error *err)
{
    char *log = NULL;
    mt_status st = code == MT_NVRTC_SUCCESS ? MT_OK : read_log(nvrtc, program, &log, err);
    *is_refused = code == MT_NVRTC_INVALID_OPTION || (log && mt_compile_reads_refused(log));
    mt_free(log);
    return st;
}

/* An old NVRTC lacks some of our options; which, it tells by compiling without. Where it never does it is the file's option, and NVRTC's word of it stays. */
static mt_status compile_with_what_it_knows(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_nvrtc_program *program, int *code, mt_error *err)
{
    const bool lacks_no_cache = nvrtc->lacks_no_cache, lacks_reads = nvrtc->lacks_reads;
    bool is_refused = true;
    for (int left_out = 0; left_out < 4 && is_refused; left_out++) {
        if (((left_out & 1) && lacks_reads) || ((left_out & 2) && lacks_no_cache)) continue; /* tried already */
        nvrtc->lacks_reads = lacks_reads || (left_out & 1);
        nvrtc->lacks_no_cache = lacks_no_cache || (left_out & 2);
        if (*program) nvrtc->api.DestroyProgram(program);
        *program = NULL;
        mt_status st = compile_program(nvrtc, request, false, program, code, err);
        if (st == MT_OK) st = was_refused(nvrtc, *program, *code, &is_refused, err);
        if (st != MT_OK) return st;
    }
    if (is_refused) {
        nvrtc->lacks_reads = lacks_reads;
        nvrtc->lacks_no_cache = lacks_no_cache;
    }
    return MT_OK;
}

static mt_status run_nvrtc(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_cache_entry *entry, mt_compile_result *result, mt_error *err)
{
    mt_status st = MT_OK;
    mt_nvrtc_program program = NULL;
    mt_strbuf text = {0};
    int code = MT_NVRTC_SUCCESS;
    int64_t start_ns = mt_clock_now_ns();
    MT_TRY(compile_with_what_it_knows(nvrtc, request, &program, &code, err));
    result->ok = !mt_compile_reads_unknown(nvrtc, request, &text) && !mt_compile_asks_unknown(request, &text) && code == MT_NVRTC_SUCCESS;
    MT_TRY(take_log(nvrtc, request, program, code, &text, result, err));
    if (result->ok) {
        MT_TRY(take_cubin(nvrtc, request, program, entry, result, err));
    } else if (code != MT_NVRTC_COMPILATION && !result->log[0]) {
        mt_free(result->log);
        result->log = mt_strdup(nvrtc->api.GetErrorString(code));
        if (!result->log) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "compile log");
    }
    result->compile_ns = mt_clock_now_ns() - start_ns;
done:
    if (program) nvrtc->api.DestroyProgram(&program);
    mt_strbuf_free(&text);
    return st;
}

/* What compiled and is not what was asked for: wgmma in turns, whose time says nothing of the variant. As good as not compiled. The cache keeps what the compiler made. */
static mt_status refuse_unfit(const mt_compile_request *request, mt_compile_result *result, mt_error *err)
{
    mt_strbuf text = {0};
    if (!result->ok || !mt_compile_serialized(result->log, &text)) return MT_OK;
    mt_strbuf_addf(&text, "\n%s", result->log);
    mt_free(result->log);
    result->log = mt_strbuf_take(&text);
    result->ok = false;
    return result->log ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "compile log");
}

mt_status mt_compile(mt_nvrtc *nvrtc, const mt_compile_request *request, mt_compile_result *result, mt_error *err)
{
    mt_status st = MT_OK;
    mt_cache_entry entry = {0};
    *result = (mt_compile_result){0};
    MT_TRY(mt_cache_entry_make(nvrtc, request, &entry, err));
    result->cached = request->cache_dir && mt_cache_entry_read(&entry, &result->cubin, &result->log);
    result->ok = result->cached;
    if (!result->cached) MT_TRY(request->nvcc ? mt_compile_with_nvcc(request, &entry, result, err) : run_nvrtc(nvrtc, request, &entry, result, err));
    MT_TRY(refuse_unfit(request, result, err));
    if (result->ok) {
        result->cubin_path = entry.cubin_path;
        entry.cubin_path = NULL;
    }
done:
    if (st != MT_OK) mt_compile_result_free(result);
    mt_cache_entry_free(&entry);
    return st;
}

void mt_compile_result_free(mt_compile_result *result)
{
    mt_free(result->log);
    mt_free(result->cubin_path);
    *result = (mt_compile_result){0};
}

mt_status mt_compile_headers(const mt_nvrtc *nvrtc, const mt_nvcc *nvcc, const mt_source *source, mt_visible **visible, mt_error *err)
{
    const char *folders[2];
    mt_nvrtc_header_folders(nvrtc, folders);
    mt_status st = nvcc ? mt_visible_create(source, (const char *const *)nvcc->folders.items, nvcc->folders.count, nvcc->identity, visible, err) : mt_visible_create(source, folders, 2, NULL, visible, err);
    if (st == MT_OK) mt_visible_forget_code(*visible);
    return st;
}

static bool source_file_set(mt_source_file *file, const char *name, const unsigned char *text)
{
    file->name = mt_strdup(name);
    file->path = mt_strdup(name);
    file->text = mt_strdup((const char *)text);
    return file->name && file->path && file->text;
}

mt_status mt_compile_tool_source(mt_source *source, mt_error *err)
{
    *source = (mt_source){0};
    source->files = mt_alloc(2, sizeof *source->files);
    if (source->files) source->file_count = 2;
    if (source->files && source_file_set(&source->files[0], "support.cu", mt_gpu_support_cu) &&
        source_file_set(&source->files[1], "tuner/gpu/support.h", mt_gpu_support_h))
        return MT_OK;
    mt_source_free(source);
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "the tool's own kernels");
}
