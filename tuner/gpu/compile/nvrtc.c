/* Finding and opening NVRTC and the toolkit's headers. */
#include "tuner/gpu/compile/nvrtc_internal.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/toolkit.h"
#include "tuner/gpu/dynlib.h"

#if defined(__aarch64__)
#define MT_TARGET "sbsa-linux"
#else
#define MT_TARGET "x86_64-linux"
#endif

/* Besides the loader's own path: toolkits, then Python wheels (CUDA 13 wheels share one folder, older ones have one per library). */
static const char *const fixed_names[] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so.1[23]",
    "/usr/local/cuda-*/lib64/libnvrtc.so.1[23]",
    "/usr/local/cuda-*/targets/" MT_TARGET "/lib/libnvrtc.so.1[23]",
};
static const char *const wheel_roots[] = {
    "~/.local/lib/python3*/site-packages",
    "/usr/local/lib/python3*/site-packages",
    "/usr/local/lib/python3*/dist-packages",
    "/usr/lib/python3*/site-packages",
    "/usr/lib/python3/dist-packages",
};

typedef struct name_list {
    char *items[64];
    size_t count;
} name_list;

static void add_name(name_list *list, const char *root, const char *tail)
{
    mt_strbuf text = {0};
    if (!root || !root[0] || list->count == sizeof list->items / sizeof list->items[0]) return;
    mt_strbuf_addf(&text, "%s%s", root, tail);
    char *name = mt_strbuf_take(&text);
    if (name) list->items[list->count++] = name;
}

static void add_toolkit(name_list *list, const char *root)
{
    add_name(list, root, "/lib64/libnvrtc.so*");
    add_name(list, root, "/lib/libnvrtc.so*");
    add_name(list, root, "/targets/" MT_TARGET "/lib/libnvrtc.so*");
}

static void add_wheels(name_list *list, const char *root)
{
    add_name(list, root, "/nvidia/cu13/lib/libnvrtc.so.13");
    add_name(list, root, "/nvidia/cuda_nvrtc/lib/libnvrtc.so.1[23]");
}

static void all_names(name_list *list)
{
    for (size_t i = 0; i < 3; i++)
        add_name(list, fixed_names[i], "");
    add_toolkit(list, getenv("CUDA_HOME"));
    add_toolkit(list, getenv("CUDA_PATH"));
    for (size_t i = 3; i < sizeof fixed_names / sizeof fixed_names[0]; i++)
        add_name(list, fixed_names[i], "");
    const char *environment = getenv("VIRTUAL_ENV");
    if (environment && environment[0]) {
        mt_strbuf root = {0};
        mt_strbuf_addf(&root, "%s/lib/python3*/site-packages", environment);
        add_wheels(list, mt_strbuf_text(&root));
        mt_strbuf_free(&root);
    }
    for (size_t i = 0; i < sizeof wheel_roots / sizeof wheel_roots[0]; i++)
        add_wheels(list, wheel_roots[i]);
}

const char *mt_nvrtc_path(const mt_nvrtc *nvrtc)
{
    struct link_map *map = NULL;
    return dlinfo(nvrtc->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0] ? map->l_name : "NVRTC";
}

static mt_status load_symbols(mt_nvrtc *nvrtc, mt_error *err)
{
    mt_nvrtc_api *api = &nvrtc->api;
    const mt_dynlib_symbol symbols[] = {
#define MT_NVRTC_SYMBOL(name, parameters) {"nvrtc" #name, (void **)&api->name, true},
        MT_NVRTC_MAP(MT_NVRTC_SYMBOL)
#undef MT_NVRTC_SYMBOL
        {"nvrtcGetErrorString", (void **)&api->GetErrorString, true},
        {"nvrtcGetNumSupportedArchs", (void **)&api->GetNumSupportedArchs, false},
        {"nvrtcGetSupportedArchs", (void **)&api->GetSupportedArchs, false},
    };
    const char *missing = mt_dynlib_symbols(nvrtc->handle, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing) return MT_FAIL(err, MT_ERR_COMPILE, "%s has no %s: expected libnvrtc of CUDA 12.0 or newer", mt_nvrtc_path(nvrtc), missing);
    int major = 0, minor = 0;
    if (api->Version(&major, &minor) != MT_NVRTC_SUCCESS) return MT_FAIL(err, MT_ERR_COMPILE, "nvrtcVersion failed");
    nvrtc->version = 1000 * (int64_t)major + 10 * (int64_t)minor;
    return MT_OK;
}

void mt_nvrtc_arch_hint(const mt_nvrtc *nvrtc, const char *arch, mt_strbuf *hint)
{
    enum { LIMIT = 256 };
    const mt_nvrtc_api *api = &nvrtc->api;
    int known[LIMIT], count = 0, wanted = 0;
    if (!api->GetNumSupportedArchs || !api->GetSupportedArchs || sscanf(arch, "sm_%d", &wanted) != 1) return;
    if (api->GetNumSupportedArchs(&count) != MT_NVRTC_SUCCESS || count < 1 || count > LIMIT || api->GetSupportedArchs(known) != MT_NVRTC_SUCCESS) return;
    for (int i = 0; i < count; i++)
        if (known[i] == wanted) return;
    mt_strbuf_addf(hint, "NVRTC %d.%d does not compile for %s, only for sm_%d to sm_%d: set MSDA_TUNE_NVRTC to that of another CUDA\n", (int)(nvrtc->version / 1000),
                   (int)(nvrtc->version % 1000 / 10), arch, known[0], known[count - 1]);
}

void mt_nvrtc_builtins_hint(const mt_nvrtc *nvrtc, const char *log, mt_strbuf *hint)
{
    int major = (int)(nvrtc->version / 1000), minor = (int)(nvrtc->version % 1000 / 10);
    if (!strstr(log, "libnvrtc-builtins")) return;
    mt_strbuf_addf(hint, "msda-tune: NVRTC %d.%d does not find its part libnvrtc-builtins.so.%d.%d, which was looked for beside %s and in the loader's folders: install the package cuda-nvrtc-%d-%d or the Python wheel nvidia-cuda-nvrtc, "
                         "which have both, or set MSDA_TUNE_NVRTC to a libnvrtc.so that has it beside itself\n",
                   major, minor, major, minor, mt_nvrtc_path(nvrtc), major, minor);
}

/* NVRTC opens libnvrtc-builtins.so.MAJOR.MINOR by that name alone, which the loader finds only in its own path; one that is loaded already is taken. So the one beside
 * NVRTC is loaded first, for as long as the process lives: NVRTC keeps its handle. */
static mt_status load_builtins(const mt_nvrtc *nvrtc, const char *library_path, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf name = {0}, irregular = {0};
    mt_strbuf_addf(&name, "libnvrtc-builtins.so.%d.%d", (int)(nvrtc->version / 1000), (int)(nvrtc->version % 1000 / 10));
    char *folder = mt_path_folder(library_path), *path = folder && name.length ? mt_path_join(folder, name.text) : NULL;
    bool is_beside = path && mt_file_exists(path);
    if (!path) st = mt_no_memory("NVRTC", err);
    else if (mt_dynlib_is_irregular(nvrtc->handle, is_beside ? path : name.text, &irregular)) st = MT_FAIL(err, MT_ERR_COMPILE, "%s: is not a regular file; expected a part of %s", mt_strbuf_text(&irregular), library_path);
    else if (is_beside) dlopen(path, RTLD_NOW | RTLD_LOCAL);
    mt_strbuf_free(&name);
    mt_strbuf_free(&irregular);
    mt_free(folder);
    mt_free(path);
    return st;
}

/* What NVRTC and the compilers in it take from the environment and is in no key: options, folders, the name of the producer. PWD is where line information says that the source lies. */
static void leave_environment(void)
{
    static const char *const names[] = {"PWD", "NVRTC_APPEND_FLAGS", "NVRTCWIZ", "NV_NVVM_VERSION", "LLVM_OVERRIDE_PRODUCER", "EDG_BASE", "EDG_MODULES_PATH", "DUMP_KNOBS_TO_FILE", "AS_SECURE_LOG_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

/* Each folder once, though several variables may name it. */
static void note_searched(mt_strbuf *searched, const char *path)
{
    size_t length = strlen(path);
    for (const char *at = mt_strbuf_text(searched); *at; at += strcspn(at, ","), at += strspn(at, ", "))
        if (strcspn(at, ",") == length && memcmp(at, path, length) == 0) return;
    mt_strbuf_addf(searched, "%s%s", searched->length ? ", " : "", path);
}

/* Takes root/tail as the header folder when cuda_fp16.h is in it. */
static bool take_headers(mt_nvrtc *nvrtc, mt_strbuf *searched, const char *root, const char *tail)
{
    if (nvrtc->include_dir || !root || !root[0]) return nvrtc->include_dir != NULL;
    mt_strbuf text = {0};
    char resolved[PATH_MAX];
    mt_strbuf_addf(&text, "%s%s", root, tail);
    if (!realpath(mt_strbuf_text(&text), resolved)) {
        note_searched(searched, mt_strbuf_text(&text));
        goto done;
    }
    char *header = mt_path_join(resolved, "cuda_fp16.h");
    if (header && mt_file_exists(header)) nvrtc->include_dir = mt_strdup(resolved);
    else note_searched(searched, resolved);
    mt_free(header);
done:
    mt_strbuf_free(&text);
    return nvrtc->include_dir != NULL;
}

/* Finds the toolkit's headers: CUDA_HOME, CUDA_PATH, the prefix of the library at `library_path` (a toolkit's lib folder or a wheel's), /usr/local/cuda*. */
static mt_status find_headers(mt_nvrtc *nvrtc, const char *library_path, mt_error *err)
{
    static const char *const library_tails[] = {
        "/../include", "/../targets/" MT_TARGET "/include", "/../../include", "/../../../include",
        "/../../cuda_runtime/include", /* wheel of CUDA 12: nvidia/cuda_nvrtc/lib → nvidia/cuda_runtime/include */
        "/../../cu13/include",
    };
    mt_strbuf searched = {0};
    char resolved[PATH_MAX];
    const char *real = library_path[0] && realpath(library_path, resolved) ? resolved : library_path;
    char *folder = mt_path_folder(real);
    const char *roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), folder, "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (roots[i] == folder && folder && strcmp(folder, ".") != 0) {
            for (size_t k = 0; k < sizeof library_tails / sizeof library_tails[0]; k++)
                take_headers(nvrtc, &searched, folder, library_tails[k]);
        } else if (roots[i] != folder) {
            take_headers(nvrtc, &searched, roots[i], "/include");
            take_headers(nvrtc, &searched, roots[i], "/targets/" MT_TARGET "/include");
        }
    }
    mt_free(folder);
    if (nvrtc->include_dir) {
        char *cccl = mt_path_join(nvrtc->include_dir, "cccl");
        if (cccl && access(cccl, R_OK | X_OK) == 0) nvrtc->cccl_dir = cccl;
        else mt_free(cccl);
    }
    nvrtc->include_searched = mt_strbuf_take(&searched);
    return nvrtc->include_searched ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "header search");
}

mt_status mt_nvrtc_open(mt_nvrtc **out, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf tried = {0};
    name_list names = {.count = 0};
    Dl_info where;
    mt_nvrtc *nvrtc = mt_alloc(1, sizeof *nvrtc);
    if (!nvrtc) return MT_FAIL(err, MT_ERR_NO_MEMORY, "NVRTC");
    nvrtc->reads_fd = -1;
    leave_environment();
    all_names(&names);
    nvrtc->handle = mt_dynlib_open("MSDA_TUNE_NVRTC", (const char *const *)names.items, names.count, &tried);
    if (!nvrtc->handle) {
        st = MT_FAIL(err, MT_ERR_COMPILE, "NVRTC not found: set CUDA_HOME to a CUDA Toolkit or MSDA_TUNE_NVRTC to libnvrtc.so, or install " MT_TOOLKIT_PARTS "; tried %s", mt_strbuf_text(&tried));
        goto done;
    }
    MT_TRY(load_symbols(nvrtc, err));
    bool known = dladdr((void *)(uintptr_t)nvrtc->api.Version, &where) != 0 && where.dli_fname;
    if (known) MT_TRY(load_builtins(nvrtc, where.dli_fname, err));
    MT_TRY(find_headers(nvrtc, known ? where.dli_fname : "", err));
    *out = nvrtc;
    nvrtc = NULL;
done:
    mt_nvrtc_close(nvrtc);
    mt_strbuf_free(&tried);
    for (size_t i = 0; i < names.count; i++)
        mt_free(names.items[i]);
    return st;
}

void mt_nvrtc_close(mt_nvrtc *nvrtc)
{
    if (!nvrtc) return;
    mt_temporary_remove(&nvrtc->temporary);
    if (nvrtc->reads_fd >= 0) close(nvrtc->reads_fd);
    MT_FREE_EACH(nvrtc->include_dir, nvrtc->cccl_dir, nvrtc->include_searched);
    mt_dynlib_close(nvrtc->handle);
    mt_free(nvrtc);
}

void mt_nvrtc_header_folders(const mt_nvrtc *nvrtc, const char *folders[2])
{
    folders[0] = nvrtc->include_dir;
    folders[1] = nvrtc->cccl_dir;
}

int64_t mt_nvrtc_version(const mt_nvrtc *nvrtc)
{
    return nvrtc->version;
}

mt_status mt_nvrtc_temporary_dir(mt_nvrtc *nvrtc, mt_error *err)
{
    return nvrtc->temporary.path ? MT_OK : mt_temporary_make(mt_temporary_root(), &nvrtc->temporary, err);
}
