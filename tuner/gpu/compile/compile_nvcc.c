#include "tuner/gpu/compile/compile_nvcc.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/child.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/leftover.h"
#include "tuner/base/text.h"
#include "tuner/gpu/compile/compile_explain.h"
#include "tuner/gpu/compile/compile_names.h"
#include "tuner/gpu/compile/compile_reads.h"
#include "tuner/gpu/compile/nvcc_files.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/source/source_folder.h"

#define CUBIN "out.cubin"

enum { MOST_OUTPUT = 4 << 20 };

/* ---- the command ---- */

static mt_status add_option(mt_texts *argv, const char *option, mt_error *err)
{
    size_t length;
    const char *value;
    if (mt_compile_name_of(option) || mt_word_macro(option, &length, &value)) return MT_OK; /* lines of the main file */
    return mt_texts_add(argv, option, err);
}

static mt_status add_joined(mt_texts *argv, const char *prefix, const char *text, mt_error *err)
{
    mt_strbuf joined = {0};
    mt_strbuf_addf(&joined, "%s%s", prefix, text);
    return mt_texts_take(argv, mt_strbuf_take(&joined), err);
}

/* Ours before the file's, so that a file may override them; its own folders before all others. */
static mt_status make_command(const mt_compile_request *request, const mt_texts *folders, mt_texts *argv, mt_error *err)
{
    static const char *const last[] = {"-Xcompiler=-MD,-MF," MT_NVCC_READS, "-x", "cu", "-o", CUBIN, MT_SOURCE_MAIN};
    mt_status st = MT_OK;
    MT_TRY(mt_texts_add(argv, request->nvcc->path, err));
    MT_TRY(mt_texts_add(argv, "-cubin", err));
    MT_TRY(add_joined(argv, "-arch=", request->arch, err));
    if (!mt_compile_has_option(request, "-std=") && !mt_compile_has_option(request, "--std=")) MT_TRY(mt_texts_add(argv, "-std=c++17", err));
    MT_TRY(mt_texts_add(argv, "-Xptxas=-v", err));
    for (size_t i = 0; i < request->option_count; i++) MT_TRY(add_option(argv, request->options[i], err));
    for (size_t i = 0; i < folders->count; i++) MT_TRY(add_joined(argv, "-I", folders->items[i], err));
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) MT_TRY(mt_texts_add(argv, last[i], err));
done:
    return st;
}

/* ---- what it said ---- */

/* "k.cu:3:12: fatal error: x.h: No such file or directory" is of gcc, which preprocesses; NVRTC, whose words the tool knows, writes k.cu(3): catastrophic error: cannot open source file "x.h". False: another line. */
static bool add_as_nvrtc(const char *line, size_t length, mt_strbuf *out)
{
    static const char missing[] = ": No such file or directory", fatal[] = "fatal error: ";
    for (const char *colon = line; (colon = memchr(colon, ':', (size_t)(line + length - colon))); colon++) {
        size_t digits = strspn(colon + 1, "0123456789"), column = colon[1 + digits] == ':' ? strspn(colon + 2 + digits, "0123456789") : 0;
        const char *text = colon + 2 + digits + column;
        if (!digits || !column || strncmp(text, ": ", 2) != 0) continue;
        text += 2;
        size_t left = length - (size_t)(text - line), name = left - (sizeof fatal - 1) - (sizeof missing - 1);
        mt_strbuf_addf(out, "%.*s(%.*s): ", (int)(colon - line), line, (int)digits, colon + 1);
        bool is_missing = left > sizeof fatal + sizeof missing && strncmp(text, fatal, sizeof fatal - 1) == 0 && strncmp(text + left - (sizeof missing - 1), missing, sizeof missing - 1) == 0;
        if (is_missing) mt_strbuf_addf(out, "catastrophic error: cannot open source file \"%.*s\"\n", (int)name, text + sizeof fatal - 1);
        else mt_strbuf_addf(out, "%.*s\n", (int)left, text);
        return true;
    }
    return false;
}

/* Files of the temporary folder have other names in every compile: "/tmp/x/tmpxft_0000f2_00000000-6_main.ptx" is main.ptx. */
static void add_without_folder(const char *line, size_t length, const char *folder, mt_strbuf *out)
{
    for (const char *end = line + length; line < end;) {
        const char *found = memmem(line, (size_t)(end - line), folder, strlen(folder));
        mt_strbuf_add_bytes(out, line, (size_t)((found ? found : end) - line));
        if (!found) break;
        line = found + strlen(folder);
        line += *line == '/';
        if (strncmp(line, "tmpxft_", 7) == 0) {
            const char *name = memchr(line, '-', (size_t)(end - line));
            name = name ? memchr(name, '_', (size_t)(end - name)) : NULL;
            if (name) line = name + 1;
        }
    }
    mt_strbuf_add_char(out, '\n');
}

static void add_log(char *output, const char *folder, mt_strbuf *log)
{
    mt_text_defuse(output, strlen(output));
    for (const char *line = output; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (!add_as_nvrtc(line, length, log)) add_without_folder(line, length, folder, log);
        line += length;
    }
}

/* ---- its end ---- */

/* Where the system took it, or a part of it, the source is not to blame: this process ends in the same way, as it would if NVRTC had been taken in it. */
static void share_the_kill(const mt_child_end *end)
{
    if (end->signal == SIGKILL || strstr(end->output, "died due to signal 9")) raise(SIGKILL);
}

static mt_status run(const mt_compile_request *request, const mt_temporary *folder, const mt_texts *argv, mt_strbuf *log, bool *is_good, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_texts *env = &request->nvcc->env;
    mt_strbuf temporary = {0};
    mt_child_end end = {0};
    const char **command = mt_alloc(argv->count + 1, sizeof *command), **environment = mt_alloc(env->count + 1, sizeof *environment);
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    const mt_child child = {.argv = command, .env = environment, .folder = folder->path, .most_output = MOST_OUTPUT, .memory_bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0};
    mt_strbuf_addf(&temporary, "TMPDIR=%s", folder->path);
    if (!command || !environment || temporary.failed) {
        st = mt_no_memory("compile", err);
        goto done;
    }
    memcpy(command, argv->items, argv->count * sizeof *command);
    memcpy(environment, env->items, env->count * sizeof *environment);
    environment[env->count - 1] = mt_strbuf_text(&temporary);
    MT_TRY(mt_child_run(&child, &end, err));
    share_the_kill(&end);
    add_log(end.output, folder->path, log);
    *is_good = !end.signal && !end.exit_code;
    char how[64];
    mt_child_describe(&child, &end, how);
    if (end.is_cut) mt_strbuf_addf(log, "[cut: nvcc printed more than %d MiB]\n", MOST_OUTPUT >> 20);
    if (end.signal) mt_strbuf_addf(log, "nvcc error   : nvcc ended by %s\n", how);
    else if (!*is_good && !log->length) mt_strbuf_addf(log, "nvcc error   : nvcc said nothing, and ended with %s\n", how);
done:
    mt_child_end_free(&end);
    mt_strbuf_free(&temporary);
    mt_free(command);
    mt_free(environment);
    return st;
}

static mt_status take_cubin(const mt_compile_request *request, const mt_temporary *folder, mt_cache_entry *entry, mt_compile_result *result, mt_error *err)
{
    static const char elf[] = "\177ELF";
    mt_status st = MT_OK;
    mt_strbuf image = {0};
    size_t size = 0;
    char *cubin = NULL, *path = mt_path_join(folder->path, CUBIN);
    mt_error missing;
    if (!path) st = mt_no_memory("compile", err);
    else if (mt_file_read(path, 0, &cubin, &size, &missing) != MT_OK || size < sizeof elf || memcmp(cubin, elf, sizeof elf - 1) != 0) st = MT_FAIL(err, MT_ERR_COMPILE, "%s ended well and made no cubin: expected an nvcc of NVIDIA's", request->nvcc->path);
    if (st != MT_OK) goto done;
    mt_strbuf_add_bytes(&image, cubin, size);
    MT_TRY(mt_compile_names_add(NULL, request, NULL, &image, err));
    st = mt_cache_entry_write(entry, image.text, image.length, result->log, &result->cubin, err);
done:
    mt_strbuf_free(&image);
    mt_free(cubin);
    mt_free(path);
    return st;
}

mt_status mt_compile_with_nvcc(const mt_compile_request *request, mt_cache_entry *entry, mt_compile_result *result, mt_error *err)
{
    mt_status st = MT_OK;
    mt_temporary folder = {0};
    mt_texts folders = {0}, argv = {0};
    mt_strbuf log = {0}, text = {0};
    bool is_good = false, is_unknown = false;
    int64_t start_ns = mt_clock_now_ns();
    MT_TRY(mt_temporary_make(mt_temporary_root(), &folder, err)); /* its own: a worker that is killed between compiles leaves none */
    MT_TRY(mt_nvcc_files_write(request, folder.path, &folders, err));
    MT_TRY(make_command(request, &folders, &argv, err));
    MT_TRY(run(request, &folder, &argv, &log, &is_good, err));
    MT_TRY(mt_nvcc_reads_unknown(request, folder.path, &text, &is_unknown, err));
    result->ok = !is_unknown && !mt_compile_asks_unknown(request, &text) && is_good;
    if (is_good) mt_strbuf_add(&text, mt_strbuf_text(&log));
    else MT_TRY(mt_compile_explain(request, mt_strbuf_text(&log), "the folders that nvcc looks in", "", &text, err));
    result->log = log.failed ? NULL : mt_strbuf_take(&text);
    if (!result->log) st = mt_no_memory("compile log", err);
    else if (result->ok) st = take_cubin(request, &folder, entry, result, err);
    result->compile_ns = mt_clock_now_ns() - start_ns;
done:
    mt_temporary_remove(&folder);
    mt_texts_free(&folders);
    mt_texts_free(&argv);
    mt_strbuf_free(&log);
    mt_strbuf_free(&text);
    return st;
}
