#include "tuner/gpu/dynlib.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"

static void note_failure(mt_strbuf *tried, const char *name, bool with_reason)
{
    const char *reason = dlerror(); /* also clears it */
    if (!tried) return;
    if (tried->length && tried->text[tried->length - 1] != '=') mt_strbuf_add(tried, ", ");
    mt_strbuf_add(tried, name);
    if (with_reason && reason) mt_strbuf_addf(tried, " (%s)", reason);
}

/* The folders in which the loader looks for the library's own; NULL: it does not tell. */
static Dl_serinfo *search_folders(void *handle)
{
    Dl_serinfo size, *folders = NULL;
    void *program = handle ? NULL : dlopen(NULL, RTLD_LAZY), *asked = handle ? handle : program;
    if (asked && dlinfo(asked, RTLD_DI_SERINFOSIZE, &size) == 0) folders = mt_alloc(size.dls_size, 1);
    if (folders && (dlinfo(asked, RTLD_DI_SERINFOSIZE, folders) != 0 || dlinfo(asked, RTLD_DI_SERINFO, folders) != 0)) {
        mt_free(folders);
        folders = NULL;
    }
    mt_dynlib_close(program);
    return folders;
}

static bool is_irregular(const char *path, mt_strbuf *which)
{
    struct stat info;
    bool is_found = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    if (is_found) mt_strbuf_add(which, path);
    return is_found;
}

/* In the folders for newer processors, which the loader looks at before. */
static bool has_irregular_caps(const char *folder, const char *name, mt_strbuf *which)
{
    mt_strbuf pattern = {0};
    glob_t found = {0};
    mt_strbuf_addf(&pattern, "%s/glibc-hwcaps/*/%s", folder, name);
    bool has_any = !pattern.failed && glob(mt_strbuf_text(&pattern), 0, NULL, &found) == 0, is_found = false;
    for (size_t i = 0; has_any && i < found.gl_pathc && !is_found; i++) is_found = is_irregular(found.gl_pathv[i], which);
    globfree(&found);
    mt_strbuf_free(&pattern);
    return is_found;
}

bool mt_dynlib_is_irregular(void *handle, const char *name, mt_strbuf *which)
{
    if (strchr(name, '/')) return is_irregular(name, which);
    Dl_serinfo *folders = search_folders(handle);
    bool is_found = false, is_there = false;
    for (unsigned i = 0; folders && i < folders->dls_cnt && !is_there && !is_found; i++) {
        char *path = mt_path_join(folders->dls_serpath[i].dls_name, name);
        is_found = has_irregular_caps(folders->dls_serpath[i].dls_name, name, which) || (path && is_irregular(path, which));
        is_there = path && mt_file_exists(path); /* which the loader takes */
        mt_free(path);
    }
    mt_free(folders);
    return is_found;
}

static void *open_one(const char *name, bool with_reason, mt_strbuf *tried)
{
    mt_strbuf which = {0};
    bool is_refused = mt_dynlib_is_irregular(NULL, name, &which);
    void *handle = is_refused ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) note_failure(tried, name, with_reason);
    if (is_refused && tried) mt_strbuf_addf(tried, " (%s is not a regular file)", strchr(name, '/') ? "that" : mt_strbuf_text(&which));
    mt_strbuf_free(&which);
    return handle;
}

/* glob sorts ascending, so the last match has the highest version. */
static void *open_pattern(const char *pattern, mt_strbuf *tried)
{
    void *handle = NULL;
    glob_t found;
    if (glob(pattern, GLOB_TILDE, NULL, &found) != 0) {
        note_failure(tried, pattern, false);
        return NULL;
    }
    for (size_t i = found.gl_pathc; i-- > 0 && !handle;)
        handle = open_one(found.gl_pathv[i], true, tried);
    globfree(&found);
    return handle;
}

void *mt_dynlib_open(const char *variable, const char *const *names, size_t count, mt_strbuf *tried)
{
    const char *given = variable ? getenv(variable) : NULL;
    if (given && given[0]) {
        if (tried) mt_strbuf_addf(tried, "%s=", variable);
        return open_one(given, true, tried);
    }
    for (size_t i = 0; i < count; i++) {
        void *handle = strchr(names[i], '/') ? open_pattern(names[i], tried) : open_one(names[i], false, tried);
        if (handle) return handle;
    }
    return NULL;
}

const char *mt_dynlib_symbols(void *handle, const mt_dynlib_symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *symbols[i].target = dlsym(handle, symbols[i].name);
        if (!*symbols[i].target && symbols[i].required) return symbols[i].name;
    }
    return NULL;
}

void mt_dynlib_close(void *handle)
{
    if (handle) dlclose(handle);
}
