/* Finding nvcc, and asking it. */
#include "tuner/gpu/compile/nvcc.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/child.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"

enum { ASKING_S = 20, MOST_ANSWER = 1 << 20, OLDEST = 12000 };

/* ---- where it is ---- */

/* The last match of the pattern that can be run, which has the highest version; owned. Notes what was looked for in vain. */
static char *program_at(const char *pattern, mt_strbuf *tried)
{
    char *found = NULL;
    glob_t all;
    if (glob(pattern, 0, NULL, &all) == 0) {
        for (size_t i = all.gl_pathc; i-- > 0 && !found;)
            if (access(all.gl_pathv[i], X_OK) == 0 && !mt_dir_exists(all.gl_pathv[i])) found = mt_strdup(all.gl_pathv[i]);
        globfree(&all);
    }
    if (!found) mt_strbuf_addf(tried, "%s%s", tried->length ? ", " : "", pattern);
    return found;
}

static char *program_below(const char *root, const char *tail, mt_strbuf *tried)
{
    mt_strbuf pattern = {0};
    if (!root || !root[0]) return NULL;
    mt_strbuf_addf(&pattern, "%s%s", root, tail);
    char *found = pattern.failed ? NULL : program_at(mt_strbuf_text(&pattern), tried);
    mt_strbuf_free(&pattern);
    return found;
}

static char *program_in_path(mt_strbuf *tried)
{
    char *found = mt_path_program("nvcc");
    if (!found) mt_strbuf_addf(tried, "%sthe folders of PATH", tried->length ? ", " : "");
    return found;
}

static mt_status find(const char *nvrtc_path, char **path, mt_error *err)
{
    const char *given = getenv("MSDA_TUNE_NVCC");
    mt_strbuf tried = {0};
    char *beside = mt_path_folder(nvrtc_path);
    if (given && given[0]) {
        *path = program_at(given, &tried);
    } else {
        *path = program_below(getenv("CUDA_HOME"), "/bin/nvcc", &tried);
        if (!*path) *path = program_below(getenv("CUDA_PATH"), "/bin/nvcc", &tried);
        if (!*path) *path = program_in_path(&tried);
        if (!*path && *nvrtc_path == '/') *path = program_below(beside, "/../bin/nvcc", &tried);
        if (!*path && *nvrtc_path == '/') *path = program_below(beside, "/../../../bin/nvcc", &tried); /* of targets/x86_64-linux/lib */
        if (!*path) *path = program_at("/usr/local/cuda/bin/nvcc", &tried);
        if (!*path) *path = program_at("/usr/local/cuda-*/bin/nvcc", &tried);
    }
    mt_status st = *path ? MT_OK : MT_FAIL(err, MT_ERR_COMPILE, "nvcc not found, which [kernel] compiler = nvcc needs: set CUDA_HOME to a CUDA Toolkit or MSDA_TUNE_NVCC to nvcc, or install the package cuda-nvcc-13-0 (or of another CUDA 12 or 13); looked for %s%s", given && given[0] ? "MSDA_TUNE_NVCC=" : "", mt_strbuf_text(&tried));
    mt_strbuf_free(&tried);
    mt_free(beside);
    return st;
}

/* ---- who it is ---- */

/* What nvcc, and gcc behind it, take from the environment decides what comes out (NVCC_APPEND_FLAGS, CPATH): they get what they need to be found and started, and the choice of the host's compiler, which `identity` holds. */
static mt_status make_environment(mt_nvcc *nvcc, mt_error *err)
{
    static const char *const names[] = {"PATH", "HOME", "LD_LIBRARY_PATH", "NVCC_CCBIN"};
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        mt_strbuf_clear(&text);
        mt_strbuf_addf(&text, "%s=%s", names[i], value ? value : "");
        if (value) MT_TRY(mt_texts_add(&nvcc->env, mt_strbuf_text(&text), err));
    }
    MT_TRY(mt_texts_add(&nvcc->env, "LC_ALL=C", err));
    MT_TRY(mt_texts_add(&nvcc->env, "TMPDIR=/tmp", err));
done:
    mt_strbuf_free(&text);
    return st;
}

/* Its answer to the arguments; owned. */
static mt_status ask(const mt_nvcc *nvcc, const char *const *arguments, size_t count, char **answer, mt_error *err)
{
    mt_status st = MT_OK;
    mt_child_end end = {0};
    const char **argv = mt_alloc(count + 2, sizeof *argv), **env = mt_alloc(nvcc->env.count + 1, sizeof *env);
    mt_child child = {.argv = argv, .env = env, .limit_s = ASKING_S, .most_output = MOST_ANSWER};
    if (!argv || !env) {
        st = mt_no_memory("nvcc", err);
        goto done;
    }
    argv[0] = nvcc->path;
    memcpy(argv + 1, arguments, count * sizeof *argv);
    memcpy(env, nvcc->env.items, nvcc->env.count * sizeof *env);
    MT_TRY(mt_child_run(&child, &end, err));
    if (end.is_timeout || end.signal || end.exit_code) {
        char how[64];
        mt_child_describe(&child, &end, how);
        mt_text_defuse(end.output, strlen(end.output));
        st = MT_FAIL(err, MT_ERR_COMPILE, "%s %s: %s; expected an nvcc that works with a compiler of the host (NVCC_CCBIN names another): %.1000s", nvcc->path, arguments[0], how, end.output);
        goto done;
    }
    *answer = end.output;
    end.output = NULL;
done:
    mt_child_end_free(&end);
    mt_free(argv);
    mt_free(env);
    return st;
}

/* "Cuda compilation tools, release 13.0, V13.0.88" */
static mt_status ask_version(mt_nvcc *nvcc, mt_strbuf *identity, mt_error *err)
{
    const char *arguments[] = {"--version"};
    char *answer = NULL;
    int major = 0, minor = 0;
    mt_status st = ask(nvcc, arguments, 1, &answer, err);
    if (st != MT_OK) return st;
    const char *release = strstr(answer, "release ");
    if (release && sscanf(release, "release %d.%d", &major, &minor) == 2 && major > 0 && major < 1000) nvcc->version = 1000 * (int64_t)major + 10 * (int64_t)minor;
    if (nvcc->version < OLDEST) {
        const char *line = release ? release : answer;
        while (line > answer && line[-1] != '\n') line--;
        mt_text_defuse(answer, strlen(answer));
        st = MT_FAIL(err, MT_ERR_COMPILE, "%s is no nvcc of CUDA 12.0 or newer, which [kernel] compiler = nvcc needs: its --version says `%.*s`", nvcc->path, (int)(strcspn(line, "\n") < 200 ? strcspn(line, "\n") : 200), line);
    }
    mt_strbuf_add(identity, answer);
    mt_free(answer);
    return st;
}

/* gcc and clang list folders of headers between these lines, each behind a blank. */
static mt_status take_folders(mt_nvcc *nvcc, const char *answer, mt_error *err)
{
    static const char begin[] = "#include <...> search starts here:\n", end[] = "End of search list";
    mt_status st = MT_OK;
    const char *at = strstr(answer, begin);
    for (at = at ? at + sizeof begin - 1 : ""; st == MT_OK && *at == ' ' && strncmp(at, end, sizeof end - 1) != 0;) {
        size_t length = strcspn(++at, "\n");
        char *folder = mt_strndup(at, length);
        st = mt_texts_take(&nvcc->folders, folder, err);
        at += length + (at[length] == '\n');
    }
    return st;
}

/* What the host's compiler says of itself; its folders and commands are no part of who it is. */
static void add_host(const char *answer, mt_strbuf *identity)
{
    static const char *const lines[] = {"Target: ", "Configured with: ", "gcc version ", "clang version "};
    for (const char *at = answer; *at; at += strcspn(at, "\n"), at += *at == '\n')
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            const char *word = strstr(at, lines[i]);
            if (word && word < at + strcspn(at, "\n")) mt_strbuf_addf(identity, "%.*s\n", (int)strcspn(word, "\n"), word);
        }
}

static mt_status ask_host(mt_nvcc *nvcc, mt_strbuf *identity, mt_error *err)
{
    const char *arguments[] = {"-E", "-Xcompiler=-v", "-x", "cu", "/dev/null", "-o", "/dev/null"};
    char *answer = NULL;
    mt_status st = ask(nvcc, arguments, sizeof arguments / sizeof *arguments, &answer, err);
    if (st == MT_OK) st = take_folders(nvcc, answer, err);
    if (st == MT_OK && !nvcc->folders.count) {
        mt_text_defuse(answer, strlen(answer));
        st = MT_FAIL(err, MT_ERR_COMPILE, "%s -E -Xcompiler=-v does not say which folders headers are looked for in; expected gcc or clang behind it: %.500s", nvcc->path, answer);
    }
    if (st == MT_OK) add_host(answer, identity);
    mt_free(answer);
    return st;
}

mt_status mt_nvcc_open(const char *nvrtc_path, mt_nvcc *nvcc, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf identity = {0};
    *nvcc = (mt_nvcc){0};
    MT_TRY(find(nvrtc_path, &nvcc->path, err));
    MT_TRY(make_environment(nvcc, err));
    MT_TRY(ask_version(nvcc, &identity, err));
    MT_TRY(ask_host(nvcc, &identity, err));
    nvcc->identity = mt_strbuf_take(&identity);
    if (!nvcc->identity) st = mt_no_memory("nvcc", err);
done:
    mt_strbuf_free(&identity);
    if (st != MT_OK) mt_nvcc_close(nvcc);
    return st;
}

void mt_nvcc_close(mt_nvcc *nvcc)
{
    mt_free(nvcc->path);
    mt_free(nvcc->identity);
    mt_texts_free(&nvcc->folders);
    mt_texts_free(&nvcc->env);
    *nvcc = (mt_nvcc){0};
}
