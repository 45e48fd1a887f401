#include "tuner/gpu/dynlib.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void note_failure(mt_strbuf *tried, const char *name, bool with_reason)
{
    const char *reason = dlerror(); /* also clears it */
    if (!tried) return;
    if (tried->length && tried->text[tried->length - 1] != '=') mt_strbuf_add(tried, ", ");
    mt_strbuf_add(tried, name);
    if (with_reason && reason) mt_strbuf_addf(tried, " (%s)", reason);
}

/* The loader would wait for the writer of a pipe for ever. */
static bool is_irregular(const char *name)
{
    struct stat info;
    return strchr(name, '/') && stat(name, &info) == 0 && !S_ISREG(info.st_mode);
}

static void *open_one(const char *name, bool with_reason, mt_strbuf *tried)
{
    if (is_irregular(name)) {
        note_failure(tried, name, false);
        if (tried) mt_strbuf_add(tried, " (is not a regular file)");
        return NULL;
    }
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) note_failure(tried, name, with_reason);
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
