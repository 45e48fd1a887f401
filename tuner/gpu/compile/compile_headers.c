#include "tuner/gpu/compile/compile_headers.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/toolkit.h"
#include "tuner/gpu/compile/compile_log.h"
#include "tuner/space/source/host_header.h"

/* A line of the log, "FILE(LINE): …". */
static const char *line_of(const char *log, const char *at)
{
    while (at > log && at[-1] != '\n') at--;
    return at;
}

/* The header that was not found, owned, and the line that says so; NULL: it is not for that that the compile failed.
 * NVRTC 13.0 says `could not open source file "x.h" (no directories in search list)` without folders, and `cannot open source file "x.h"` with some. */
static char *missing_header(const char *log, const char **line)
{
    static const char text[] = "open source file \"";
    const char *found = strstr(log, text);
    if (!found) return NULL;
    *line = line_of(log, found);
    found += sizeof text - 1;
    return mt_strndup(found, strcspn(found, "\"\n"));
}

/* ---- asked for by the toolkit ---- */

/* What to write in the place of a header of the toolkit that is for the host. */
static const char *expected_for(const char *line)
{
    size_t length = strcspn(line, "(\n");
    if (memmem(line, length, "/cub/", 5) || memmem(line, length, "/thrust/", 8)) return "of CUB <cub/cub.cuh>, or those of cub/block/ and cub/warp/; of Thrust none";
    if (length > 7 && strncmp(line + length - 7, "/cuda.h", 7) == 0) return "no #include of it, a declaration of what the kernel takes, such as struct alignas(64) CUtensorMap { char bytes[128]; }, or [kernel] compiler = nvcc";
    return "a header for kernels, or #ifndef __CUDACC_RTC__ around the #include";
}

static bool is_of_the_host(const char *name)
{
    mt_strbuf stub = {0};
    bool is_known = mt_host_header_stub(name, &stub) || mt_host_header_instead(name);
    mt_strbuf_free(&stub);
    return is_known;
}

static void tell_of_toolkit(const char *line, const char *name, const char *include_dir, mt_strbuf *hints)
{
    mt_strbuf_addf(hints, "msda-tune: %.*s, a header of the toolkit, includes ", (int)strcspn(line, "(\n"), line);
    if (is_of_the_host(name)) mt_strbuf_addf(hints, "the host's %s, which code for the GPU can't: expected %s\n", name, expected_for(line));
    else mt_strbuf_addf(hints, "%s, which is not in %s: expected a CUDA_HOME whose include folder has both\n", name, include_dir ? include_dir : "any folder of the toolkit");
}

/* ---- asked for by the source ---- */

/* Between the letters of an include's name, in a text of the source or in an option: then no macro made it. */
static bool is_spelled(const mt_compile_request *request, const char *name)
{
    bool is_found = false;
    mt_strbuf forms[2] = {{0}, {0}};
    mt_strbuf_addf(&forms[0], "<%s>", name);
    mt_strbuf_addf(&forms[1], "\"%s\"", name);
    for (size_t f = 0; f < 2; f++) {
        for (size_t i = 0; i < request->source->file_count; i++) is_found |= strstr(request->source->files[i].text, mt_strbuf_text(&forms[f])) != NULL;
        for (size_t i = 0; i < request->option_count; i++) is_found |= strstr(request->options[i], mt_strbuf_text(&forms[f])) != NULL;
        mt_strbuf_free(&forms[f]);
    }
    return is_found;
}

/* What of that name lies beside the source, where only quotes reach; owned. NULL: nothing. */
static char *beside_the_source(const mt_compile_request *request, const char *name)
{
    char *folder = mt_path_folder(request->source->files[0].path), *path = folder ? mt_path_join(folder, name) : NULL;
    mt_free(folder);
    if (path && mt_file_exists(path)) return path;
    mt_free(path);
    return NULL;
}

static void tell_of_source(const mt_compile_request *request, const mt_source_file *includer, const char *name, const char *include_dir, const char *searched, mt_strbuf *hints)
{
    const char *instead = request->nvcc ? NULL : mt_host_header_instead(name), *stub = mt_source_stub_name(includer);
    char *beside = beside_the_source(request, name);
    if (beside && mt_dir_exists(beside)) mt_strbuf_addf(hints, "msda-tune: %s is a folder: expected the name of a header in it\n", beside);
    else if (!is_spelled(request, name))
        mt_strbuf_addf(hints, "msda-tune: %s is a name that macros make, which the tool does not expand: expected a plain #include of it too; one inside #if 0 does\n", name);
    else if (beside)
        mt_strbuf_addf(hints, "msda-tune: <%s> is not looked for beside the source, where %s is: expected #include \"%s\", or that file's folder in [kernel] include\n", name, beside, name);
    else if (instead)
        mt_strbuf_addf(hints, "msda-tune: %s is a header of the host, which code for the GPU can't include: expected %s, or [kernel] compiler = nvcc\n", name, instead);
    else if (!stub && !request->nvcc && is_of_the_host(includer->name))
        mt_strbuf_addf(hints, "msda-tune: %s is a header of the host, which code for the GPU can't include: expected no folder of the host's headers in [kernel] include or -I\n", includer->path);
    else if (!include_dir)
        mt_strbuf_addf(hints, "msda-tune: no CUDA headers found for %s: set CUDA_HOME to the toolkit whose include folder has it, or install " MT_TOOLKIT_PARTS " (searched %s)\n", name, searched);
    else if (stub)
        mt_strbuf_addf(hints, "msda-tune: <%s> needs the toolkit's <%s>, which is not in %s: expected a CUDA_HOME whose include folder has it, or its cccl folder\n", stub, name, include_dir);
    else mt_strbuf_addf(hints, "msda-tune: %s is neither beside the source, nor in a folder of [kernel] include, nor in %s\n", name, include_dir);
    mt_free(beside);
}

static void tell_hidden_files(const mt_compile_request *request, mt_strbuf *hints)
{
    for (size_t i = 1; i < request->source->file_count; i++) {
        const char *stub = mt_source_stub_name(&request->source->files[i]);
        char *path = stub ? beside_the_source(request, stub) : NULL;
        if (path && !mt_dir_exists(path)) mt_strbuf_addf(hints, "msda-tune: <%s> is the tool's own header and not %s: expected #include \"%s\", or that file's folder in [kernel] include\n", stub, path, stub);
        mt_free(path);
    }
}

/* `/cuda/include/cufft.h(154): error: A function without execution space annotations …`, `k.cu(3): error: A function explicitly marked as a __host__ function is not allowed in JIT mode`, `… error: A namespace scope variable without …` */
static void tell_host_code(const mt_compile_request *request, const char *log, mt_strbuf *hints)
{
    const char *line = mt_compile_first_error(log), *error = line ? strstr(line, "): error: A ") : NULL;
    if (!error || !memmem(line, strcspn(line, "\n"), "JIT mode", 8)) return;
    if (mt_source_file_of(request->source, line)) mt_strbuf_addf(hints, "msda-tune: %.*s is code for the host, which is not compiled here: expected #ifndef __CUDACC_RTC__ around it, __device__ in front of it, or [kernel] compiler = nvcc\n", (int)(error + 1 - line), line);
    else mt_strbuf_addf(hints, "msda-tune: %.*s, a header of the toolkit, declares functions of the host, which code for the GPU can't: expected %s\n", (int)strcspn(line, "(\n"), line, expected_for(line));
}

/* Of the textures that CUDA 12 took away: `k.cu(1): error: texture is not a template`. */
static void tell_texture(const char *log, mt_strbuf *hints)
{
    const char *line = mt_compile_first_error(log);
    size_t length = line ? strcspn(line, "\n") : 0;
    if (line && (memmem(line, length, "texture is not a template", 25) || memmem(line, length, "surface is not a template", 25)))
        mt_strbuf_addf(hints, "msda-tune: %.*s: %s\n", (int)strcspn(line, ":\n"), line, MT_NO_TEXTURES);
}

void mt_compile_header_hints(const mt_compile_request *request, const char *log, const char *include_dir, const char *searched, mt_strbuf *hints)
{
    const char *line;
    char *name = missing_header(log, &line);
    const mt_source_file *includer = name ? mt_source_file_of(request->source, line) : NULL;
    if (includer) tell_of_source(request, includer, name, include_dir, searched, hints);
    else if (name) tell_of_toolkit(line, name, include_dir, hints);
    else tell_host_code(request, log, hints);
    tell_hidden_files(request, hints);
    tell_texture(log, hints);
    mt_free(name);
}
