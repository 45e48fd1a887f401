#include "tuner/cpu/build.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/child.h"
#include "tuner/base/file.h"
#include "tuner/base/text.h"
#include "tuner/cpu/rewrite.h"
#include "tuner/space/source/source_folder.h"

extern const unsigned char mt_cpu_shim_block[], mt_cpu_shim_math_constants[], mt_cpu_shim_cuda_fp8[], mt_cpu_shim_cooperative_groups[], mt_cpu_shim_cuda_runtime[], mt_cpu_shim_small_float[], mt_cpu_shim_cuda_fp16[], mt_cpu_shim_cuda_bf16[], mt_cpu_shim_support_cpu[], mt_cpu_support_cu[], mt_cpu_support_h[];

static const struct {
    const char *name;
    const unsigned char *text;
} shims[] = {
    {"shim/block.h", mt_cpu_shim_block}, {"shim/cuda_runtime.h", mt_cpu_shim_cuda_runtime}, {"shim/small_float.h", mt_cpu_shim_small_float}, {"shim/cuda_fp16.h", mt_cpu_shim_cuda_fp16}, {"shim/cuda_bf16.h", mt_cpu_shim_cuda_bf16},
    {"shim/cuda_fp8.h", mt_cpu_shim_cuda_fp8}, {"shim/cooperative_groups.h", mt_cpu_shim_cooperative_groups}, {"shim/math_constants.h", mt_cpu_shim_math_constants},
    {"shim/support_cpu.cpp", mt_cpu_shim_support_cpu}, {"shim/support.cu", mt_cpu_support_cu}, {"shim/tuner/gpu/support.h", mt_cpu_support_h},
};

/* Headers of the toolkit whose contents the shim has in cuda_runtime.h. */
static const char *const parts[] = {"builtin_types.h", "cuda_runtime_api.h", "device_functions.h", "device_launch_parameters.h", "driver_types.h", "host_defines.h", "math_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h", "vector_functions.h", "vector_types.h"};

/* Besides accesses out of bounds: conversions and shifts for which C++ gives any number, and a GPU a certain one. */
static const char sanitizer[] = "-fsanitize=address,float-cast-overflow,shift";

enum { MOST_OUTPUT = 1 << 20 };

/* ---- the compiler ---- */

static mt_status find_compiler(mt_cpu_builder *self, mt_error *err)
{
    static const char *const names[] = {"c++", "g++", "clang++"};
    const char *given = getenv("CXX");
    if (given && *given == '/' && access(given, X_OK) == 0) self->compiler = mt_strdup(given);
    else if (given && *given && !strpbrk(given, " /")) self->compiler = mt_path_program(given);
    if (given && *given && !self->compiler) return MT_FAIL(err, MT_ERR_COMPILE, "CXX=%s: there is no such program; expected a C++ compiler, without options", given);
    for (size_t i = 0; i < sizeof names / sizeof *names && !self->compiler; i++) self->compiler = mt_path_program(names[i]);
    return self->compiler ? MT_OK : MT_FAIL(err, MT_ERR_COMPILE, "check --run needs a C++ compiler of the host: expected c++, g++ or clang++ in PATH, or CXX that names one");
}

/* Whether what the arguments name behind -o is there. */
static bool has_made(const mt_cpu_builder *self, const mt_texts *arguments)
{
    bool is_made = true;
    for (size_t i = 0; i + 1 < arguments->count; i++) {
        char *path = strcmp(arguments->items[i], "-o") == 0 ? mt_path_join(self->folder.path, arguments->items[i + 1]) : NULL;
        is_made = is_made && (!path || access(path, F_OK) == 0);
        mt_free(path);
    }
    return is_made;
}

/* With the arguments, in the folder. */
static mt_status compile(const mt_cpu_builder *self, const mt_texts *arguments, bool *is_good, mt_strbuf *why, mt_error *err)
{
    mt_status st = MT_OK;
    mt_child_end end = {0};
    mt_strbuf path = {0}, temporary = {0}, home = {0};
    const char **argv = mt_alloc(arguments->count + 2, sizeof *argv);
    mt_strbuf_addf(&path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    mt_strbuf_addf(&home, "HOME=%s", getenv("HOME") ? getenv("HOME") : "/");
    mt_strbuf_addf(&temporary, "TMPDIR=%s", self->folder.path);
    const char *env[] = {mt_strbuf_text(&path), mt_strbuf_text(&home), mt_strbuf_text(&temporary), "LC_ALL=C", NULL};
    mt_child child = {.argv = argv, .env = env, .folder = self->folder.path, .limit_s = self->limit_s, .most_output = MOST_OUTPUT, .stop = self->stop};
    if (!argv || path.failed || temporary.failed || home.failed) {
        st = mt_no_memory("check --run", err);
        goto done;
    }
    argv[0] = self->compiler;
    memcpy(argv + 1, arguments->items, arguments->count * sizeof *argv);
    MT_TRY(mt_child_run(&child, &end, err));
    bool is_well = !end.is_timeout && !end.signal && !end.exit_code;
    *is_good = is_well && has_made(self, arguments);
    char how[64];
    mt_child_describe(&child, &end, how);
    mt_text_defuse(end.output, strlen(end.output));
    if (!*is_good) mt_strbuf_add(why, end.output);
    if (is_well && !*is_good) mt_strbuf_addf(why, "%s ended well, and made nothing: it is no compiler\n", self->compiler);
    else if (!*is_good && !*end.output) mt_strbuf_addf(why, "%s: %s\n", self->compiler, how);
done:
    mt_child_end_free(&end);
    mt_free(argv);
    mt_strbuf_free(&path);
    mt_strbuf_free(&home);
    mt_strbuf_free(&temporary);
    return st;
}

static mt_status add_all(mt_texts *arguments, const char *const *words, size_t count, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < count && st == MT_OK; i++) st = mt_texts_add(arguments, words[i], err);
    return st;
}

/* That of the source's options, or what its own compiler has without one. */
static mt_status add_standard(mt_texts *arguments, const mt_options *options, mt_error *err)
{
    const char *standard = "-std=c++17";
    for (size_t i = 0; options && i < options->count; i++)
        if (strncmp(options->items[i], "-std=", 5) == 0 || strncmp(options->items[i], "--std=", 6) == 0) standard = options->items[i] + (options->items[i][1] == '-');
    if (strcmp(standard, "-std=c++11") == 0 || strcmp(standard, "-std=c++14") == 0) standard = "-std=c++17"; /* the tool's own part needs it */
    return mt_texts_add(arguments, standard, err);
}

/* How everything is made: CUDA's code reads the same bytes as several types, and its signed numbers wrap. Lines are all that is asked of debug information, and the rest of it would take as long as the code. */
static mt_status add_code_options(const mt_cpu_builder *self, mt_texts *arguments, mt_error *err)
{
    static const char *const words[] = {"-O1", "-g1", "-w", "-fpermissive", "-fno-strict-aliasing", "-fwrapv", "-fno-omit-frame-pointer", "-ffp-contract=fast", "-fno-pie"};
    mt_status st = add_all(arguments, words, sizeof words / sizeof *words, err);
    return st == MT_OK && self->has_sanitizer ? mt_texts_add(arguments, sanitizer, err) : st;
}

/* ---- its own part ---- */

static mt_status write_file(const mt_cpu_builder *self, const char *name, const char *text, mt_error *err)
{
    char *path = mt_path_join(self->folder.path, name), *parent = path ? mt_path_folder(path) : NULL;
    mt_status st = parent ? mt_dir_make_all(parent, err) : mt_no_memory("check --run", err);
    if (st == MT_OK) st = mt_file_write_cached(path, text, strlen(text), err);
    mt_free(parent);
    mt_free(path);
    return st;
}

static mt_status write_part(const mt_cpu_builder *self, const char *name, mt_error *err)
{
    mt_strbuf path = {0};
    mt_strbuf_addf(&path, "shim/%s", name);
    mt_status st = write_file(self, mt_strbuf_text(&path), "#pragma once\n#include \"cuda_runtime.h\"\n", err);
    mt_strbuf_free(&path);
    return st;
}

/* Where the sanitizer's library is missing the program is made without. */
static mt_status compile_support(mt_cpu_builder *self, mt_error *err)
{
    static const char *const words[] = {"-std=c++17", "-Ishim", "-c", "shim/support_cpu.cpp", "-o", "support.o"}, *const probe[] = {sanitizer, "-x", "c++", "probe.cpp", "-o", "probe"};
    mt_status st = MT_OK;
    mt_texts arguments = {0};
    mt_strbuf why = {0};
    bool is_good = false;
    MT_TRY(write_file(self, "probe.cpp", "int main() { return 0; }\n", err));
    MT_TRY(add_all(&arguments, probe, sizeof probe / sizeof *probe, err));
    MT_TRY(compile(self, &arguments, &self->has_sanitizer, &why, err));
    mt_strbuf_clear(&why);
    mt_texts_free(&arguments);
    MT_TRY(add_code_options(self, &arguments, err));
    MT_TRY(add_all(&arguments, words, sizeof words / sizeof *words, err));
    MT_TRY(compile(self, &arguments, &is_good, &why, err));
    if (!is_good) st = MT_FAIL(err, MT_ERR_COMPILE, "%s does not compile the tool's own part of check --run; expected g++ 9 or clang++ 9 or newer: %.1200s", self->compiler, mt_strbuf_text(&why));
done:
    mt_texts_free(&arguments);
    mt_strbuf_free(&why);
    return st;
}

static mt_status write_source(mt_cpu_builder *self, const mt_source *source, mt_error *err)
{
    mt_status st = MT_OK;
    char **texts = mt_alloc(source->file_count, sizeof *texts);
    for (size_t i = 0; texts && i < source->file_count; i++) {
        mt_strbuf text = {0};
        if (i == 0) mt_strbuf_add(&text, "#include \"macros.h\"\n");
        mt_source_add_line_mark(source->files[i].name, &text);
        mt_strbuf_add(&text, source->files[i].text);
        if (!(texts[i] = mt_strbuf_take(&text))) st = mt_no_memory("source", err);
    }
    if (!texts) st = mt_no_memory("source", err);
    if (st == MT_OK) st = mt_source_write(source, texts, self->folder.path, &self->source_folders, err);
    for (size_t i = 0; texts && i < source->file_count; i++) mt_free(texts[i]);
    mt_free(texts);
    return st;
}

mt_status mt_cpu_build_open(const mt_source *source, double limit_s, mt_cpu_builder *builder, mt_error *err)
{
    mt_status st = MT_OK;
    *builder = (mt_cpu_builder){.limit_s = limit_s, .stop = builder->stop, .folder.lock = -1};
    MT_TRY(find_compiler(builder, err));
    MT_TRY(mt_temporary_make(mt_temporary_root(), &builder->folder, err));
    for (size_t i = 0; i < sizeof shims / sizeof *shims; i++) MT_TRY(write_file(builder, shims[i].name, (const char *)shims[i].text, err));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) MT_TRY(write_part(builder, parts[i], err));
    MT_TRY(write_source(builder, source, err));
    MT_TRY(compile_support(builder, err));
done:
    return st;
}

void mt_cpu_build_close(mt_cpu_builder *builder)
{
    mt_temporary_remove(&builder->folder);
    mt_texts_free(&builder->source_folders);
    mt_free(builder->compiler);
    *builder = (mt_cpu_builder){.folder.lock = -1};
}

/* ---- the source ---- */

/* What the GPU's compiler says of itself; main() is the program's own. Behind the shim, whose headers are the host's. */
static void add_compiler_macros(const mt_source *source, mt_strbuf *macros)
{
    mt_strbuf_addf(macros, "#define main mt_cpu_main_of_source\n#define __CUDACC__ 1\n#define %s 1\n", source->is_for_nvcc ? "__NVCC__" : "__CUDACC_RTC__");
    mt_strbuf_add(macros, "#define __CUDACC_VER_MAJOR__ 13\n#define __CUDACC_VER_MINOR__ 0\n#define __CUDACC_VER_BUILD__ 0\n");
}

static mt_status preprocess(mt_cpu_builder *self, const mt_source *source, const mt_options *options, bool *is_good, mt_strbuf *why, mt_error *err)
{
    static const char *const last[] = {"-Ishim", MT_SOURCE_MAIN, "-o", "source.ii"}, *const first[] = {"-E", "-w", "-x", "c++", "-include", "shim/cuda_runtime.h"};
    mt_status st = MT_OK;
    mt_texts arguments = {0};
    mt_strbuf macros = {0};
    add_compiler_macros(source, &macros);
    for (size_t i = 0; i < options->count; i++) mt_source_add_macro(options->items[i], &macros);
    MT_TRY(macros.failed ? mt_no_memory("check --run", err) : write_file(self, "macros.h", mt_strbuf_text(&macros), err));
    MT_TRY(add_all(&arguments, first, sizeof first / sizeof *first, err));
    MT_TRY(add_standard(&arguments, options, err));
    if (self->has_sanitizer) MT_TRY(mt_texts_add(&arguments, sanitizer, err)); /* it defines a macro */
    for (size_t i = 0; i < self->source_folders.count; i++) {
        MT_TRY(mt_texts_add(&arguments, "-I", err));
        MT_TRY(mt_texts_add(&arguments, self->source_folders.items[i], err));
    }
    MT_TRY(add_all(&arguments, last, sizeof last / sizeof *last, err));
    MT_TRY(compile(self, &arguments, is_good, why, err));
done:
    mt_texts_free(&arguments);
    mt_strbuf_free(&macros);
    return st;
}

mt_status mt_cpu_build_text(mt_cpu_builder *builder, const mt_source *source, const mt_options *options, char **text, mt_strbuf *why, mt_error *err)
{
    bool is_good = false;
    char *path = NULL, *read = NULL;
    size_t length;
    mt_strbuf rewritten = {0};
    *text = NULL;
    mt_status st = preprocess(builder, source, options, &is_good, why, err);
    if (st != MT_OK || !is_good) return st;
    path = mt_path_join(builder->folder.path, "source.ii");
    st = path ? mt_file_read(path, 0, &read, &length, err) : mt_no_memory("check --run", err);
    if (st == MT_OK) mt_cpu_rewrite(source, read, &rewritten);
    if (st == MT_OK && !(*text = mt_strbuf_take(&rewritten))) st = mt_no_memory("check --run", err);
    mt_strbuf_free(&rewritten);
    mt_free(read);
    mt_free(path);
    return st;
}

mt_status mt_cpu_build_program(mt_cpu_builder *builder, const char *name, const char *text, const mt_options *options, bool *is_made, mt_strbuf *why, mt_error *err)
{
    mt_status st = MT_OK;
    mt_texts arguments = {0};
    const char *const last[] = {"-x", "c++-cpp-output", "program.ii", "-x", "none", "support.o", "-no-pie", "-o", name} /* at fixed addresses, which the sanitizer finds the lines of */;
    MT_TRY(write_file(builder, "program.ii", text, err));
    MT_TRY(add_standard(&arguments, options, err));
    MT_TRY(add_code_options(builder, &arguments, err));
    MT_TRY(add_all(&arguments, last, sizeof last / sizeof *last, err));
    MT_TRY(compile(builder, &arguments, is_made, why, err));
done:
    mt_texts_free(&arguments);
    return st;
}
