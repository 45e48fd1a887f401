#include "tuner/gpu/compile/compile_reads.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/gpu/compile/nvrtc_internal.h"
#include "tuner/space/source/directive.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/source/visible.h"

/* Neither is documented. The front end has had them for decades, and one that lacks them says so. */
static const char list_names[] = "--trace_includes", list_place[] = "--error_output";

enum { MOST_BYTES = 64 << 20 };

/* "/proc/self/fd/N" of a file in memory; false: there is none. */
static bool open_list(mt_nvrtc *nvrtc, mt_strbuf *path)
{
    if (nvrtc->reads_fd < 0) nvrtc->reads_fd = memfd_create("msda-tune reads", MFD_CLOEXEC);
    mt_strbuf_addf(path, "/proc/self/fd/%d", nvrtc->reads_fd);
    return nvrtc->reads_fd >= 0 && !path->failed && ftruncate(nvrtc->reads_fd, 0) == 0 && access(mt_strbuf_text(path), W_OK) == 0;
}

mt_status mt_compile_reads_ask(mt_nvrtc *nvrtc, mt_options *options, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf path = {0}, text = {0};
    if (nvrtc->lacks_reads) return MT_OK;
    if (!open_list(nvrtc, &path)) {
        nvrtc->lacks_reads = true;
        goto done;
    }
    mt_strbuf_addf(&text, "-Xcudafe=%s", list_names);
    MT_TRY(mt_options_add(options, mt_strbuf_text(&text), err));
    mt_strbuf_clear(&text);
    mt_strbuf_addf(&text, "-Xcudafe=%s=%s", list_place, mt_strbuf_text(&path));
    MT_TRY(mt_options_add(options, mt_strbuf_text(&text), err));
done:
    mt_strbuf_free(&path);
    mt_strbuf_free(&text);
    return st;
}

bool mt_compile_reads_refused(const char *log)
{
    static const char start[] = "Command-line error: invalid option: ";
    const char *option = strncmp(log, start, sizeof start - 1) == 0 ? log + sizeof start - 1 : "";
    return strncmp(option, list_names, sizeof list_names - 1) == 0 || strncmp(option, list_place, sizeof list_place - 1) == 0;
}

/* Below the folder, by the letters alone: a toolkit may be made of links. */
static bool is_below(const char *path, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;
    if (!length || strncmp(path, folder, length) != 0 || path[length] != '/') return false;
    int depth = 0;
    for (const char *part = path + length; *part && depth >= 0;) {
        part += strspn(part, "/");
        size_t letters = strcspn(part, "/");
        if (letters == 2 && strncmp(part, "..", 2) == 0) depth--;
        else if (letters && !(letters == 1 && *part == '.')) depth++;
        part += letters;
    }
    return depth > 0;
}

static bool is_of_the_request(const mt_compile_request *request, const char *name)
{
    for (size_t i = 0; i < request->source->file_count; i++)
        if (strcmp(request->source->files[i].name, name) == 0) return true;
    return false;
}

/* NVRTC puts more blanks in front the deeper an #include is, and a name may begin with blanks: with so many at most. */
static const char *name_in(const mt_compile_request *request, const char *line, size_t most_blanks)
{
    size_t blanks = strspn(line, " ");
    const char *name = blanks > most_blanks ? line + blanks - most_blanks : line;
    while (*name == ' ' && !is_of_the_request(request, name)) name++;
    return name;
}

static size_t most_blanks_of(const mt_compile_request *request)
{
    size_t most = 0;
    for (size_t i = 0; i < request->source->file_count; i++) {
        size_t blanks = strspn(request->source->files[i].name, " ");
        if (blanks > most) most = blanks;
    }
    return most;
}

/* NVRTC's own texts have names without a folder: __nv_nvrtc_builtin_header.h, __nv_name_map. */
static bool is_of_the_compiler(const char *name)
{
    return strncmp(name, "__nv_", 5) == 0 && !strchr(name, '/');
}

static bool tell_unknown(const mt_nvrtc *nvrtc, const mt_compile_request *request, const char *name, mt_strbuf *why)
{
    if (is_of_the_compiler(name) || is_of_the_request(request, name)) return false;
    if (!is_below(name, nvrtc->include_dir) && !is_below(name, nvrtc->cccl_dir)) {
        mt_strbuf_addf(why, "msda-tune: the compiler reads %s, which the tool did not find in the source's includes, so that it is not in the kernel's key: expected a plain #include of it; one inside #if 0 does\n", name);
        return true;
    }
    if (!request->visible || mt_visible_counts(request->visible, name)) return false;
    mt_strbuf_addf(why, "msda-tune: the compiler reads %s of the toolkit, which the tool did not find in the source's includes, so that it is not in the cache's key: expected a plain #include of it; one inside #if 0 does\n", name);
    return true;
}

bool mt_compile_reads_unknown(const mt_nvrtc *nvrtc, const mt_compile_request *request, mt_strbuf *why)
{
    char *list = NULL, *rest = NULL;
    size_t length = 0, most_blanks = most_blanks_of(request);
    bool is_told = false;
    mt_error ignored;
    if (nvrtc->lacks_reads || lseek(nvrtc->reads_fd, 0, SEEK_SET) != 0 || mt_file_read_fd(nvrtc->reads_fd, MOST_BYTES, "list of files", &list, &length, &ignored) != MT_OK) return false;
    for (char *line = strtok_r(list, "\n", &rest); line && !is_told; line = strtok_r(NULL, "\n", &rest))
        is_told = tell_unknown(nvrtc, request, name_in(request, line, most_blanks), why);
    mt_free(list);
    return is_told;
}

/* ---- what is only asked for ---- */

static bool is_the_macro(const char *macro, const char *name, size_t length)
{
    return name && strlen(macro) == length && strncmp(macro, name, length) == 0;
}

static bool file_defines(const mt_source_file *file, const char *macro)
{
    mt_directive_walk walk;
    mt_directive what;
    mt_error ignored;
    bool defines = false;
    if (mt_directive_open(file->text, &walk, &ignored) != MT_OK) return false;
    while (!defines && mt_directive_next(&walk, &what)) defines = what.kind == MT_DIRECTIVE_DEFINE && is_the_macro(macro, what.name, what.length);
    mt_directive_close(&walk);
    return defines;
}

/* What of the user's defines the macro, for a person; NULL: nothing. */
static const char *definer(const mt_compile_request *request, const char *macro)
{
    const char *found = NULL;
    for (size_t i = 0; i < request->option_count && !found; i++) {
        size_t length = 0;
        const char *value = NULL, *name = mt_word_macro(request->options[i], &length, &value);
        if (value && is_the_macro(macro, name, length)) found = request->options[i];
    }
    for (size_t i = 0; i < request->source->file_count && !found; i++)
        if (file_defines(&request->source->files[i], macro)) found = request->source->files[i].name;
    return found;
}

bool mt_compile_asks_unknown(const mt_compile_request *request, mt_strbuf *why)
{
    size_t count = 0;
    char *const *asked = request->visible ? mt_visible_asked(request->visible, &count) : NULL;
    const char *where = NULL;
    for (size_t i = 0; i < count && !where; i++) {
        where = definer(request, asked[i]);
        if (where) mt_strbuf_addf(why, "msda-tune: a header of the toolkit asks by __has_include for the file that the macro %s names, which %s defines, so that this file may not be in the cache's key: expected no definition of %s\n", asked[i], where, asked[i]);
    }
    return where;
}
