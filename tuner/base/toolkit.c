#include "tuner/base/toolkit.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tuner/base/log.h"

/* What compiling asks such a folder for (tuner/gpu/compile/nvrtc.c), in a toolkit's or a wheel's layout. */
static const char *const header_parts[] = {"include/cuda_fp16.h", "targets/*/include/cuda_fp16.h"}, *const nvrtc_parts[] = {"lib64/libnvrtc.so*", "lib/libnvrtc.so*", "targets/*/lib/libnvrtc.so*"};
enum { HEADER_PARTS = sizeof header_parts / sizeof *header_parts, NVRTC_PARTS = sizeof nvrtc_parts / sizeof *nvrtc_parts };

static bool holds(const char *root, const char *const *parts, size_t count)
{
    bool is_found = false;
    for (size_t i = 0; i < count && !is_found && root && root[0]; i++) {
        mt_strbuf pattern = {0};
        glob_t found;
        mt_strbuf_addf(&pattern, "%s/%s", root, parts[i]);
        is_found = !pattern.failed && glob(mt_strbuf_text(&pattern), GLOB_NOSORT, NULL, &found) == 0;
        if (is_found) globfree(&found);
        mt_strbuf_free(&pattern);
    }
    return is_found;
}

static bool is_anywhere(const char *const *parts, size_t count)
{
    return holds(getenv("CUDA_HOME"), parts, count) || holds(getenv("CUDA_PATH"), parts, count) || holds("/usr/local/cuda", parts, count);
}

bool mt_toolkit_has_headers(void)
{
    return is_anywhere(header_parts, HEADER_PARTS);
}

bool mt_toolkit_has_nvrtc(void)
{
    return is_anywhere(nvrtc_parts, NVRTC_PARTS);
}

void mt_toolkit_ignored(mt_strbuf *text)
{
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *root = getenv(names[i]);
        struct stat info;
        if (!root || !root[0] || holds(root, header_parts, HEADER_PARTS) || holds(root, nvrtc_parts, NVRTC_PARTS)) continue;
        bool is_folder = stat(root, &info) == 0 && S_ISDIR(info.st_mode);
        mt_strbuf_addf(text, "%s%s=%s is ignored: %s", text->length ? "; " : "", names[i], root,
                       is_folder ? "it holds neither CUDA's headers (include/cuda_fp16.h) nor NVRTC (lib64/libnvrtc.so)" : "there is no such folder");
    }
}

void mt_toolkit_warn_ignored(void)
{
    mt_strbuf text = {0};
    mt_toolkit_ignored(&text);
    if (text.length) mt_log_warn("%s", mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}
