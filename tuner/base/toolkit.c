#include "tuner/base/toolkit.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tuner/base/log.h"

/* Whether the folder gives anything that compiling asks it for (tuner/gpu/nvrtc.c): headers or NVRTC, in a toolkit's or a wheel's layout. */
static bool holds_toolkit(const char *root)
{
    static const char *const parts[] = {"include/cuda_fp16.h", "targets/*/include/cuda_fp16.h", "lib64/libnvrtc.so*", "lib/libnvrtc.so*", "targets/*/lib/libnvrtc.so*"};
    bool is_found = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !is_found; i++) {
        mt_strbuf pattern = {0};
        glob_t found;
        mt_strbuf_addf(&pattern, "%s/%s", root, parts[i]);
        is_found = !pattern.failed && glob(mt_strbuf_text(&pattern), GLOB_NOSORT, NULL, &found) == 0;
        if (is_found) globfree(&found);
        mt_strbuf_free(&pattern);
    }
    return is_found;
}

void mt_toolkit_ignored(mt_strbuf *text)
{
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *root = getenv(names[i]);
        struct stat info;
        if (!root || !root[0] || holds_toolkit(root)) continue;
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
