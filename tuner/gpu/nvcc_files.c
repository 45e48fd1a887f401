#include "tuner/gpu/nvcc_files.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/gpu/compile_macros.h"
#include "tuner/gpu/compile_names.h"
#include "tuner/space/source/option_words.h"

enum { MOST_READS = 64 << 20 };

/* ---- texts ---- */

/* "-DX" is "#define X 1", "-DF(a)=a*2" is "#define F(a) a*2", "-UX" is "#undef X". Here and not on the command line, where nvcc would take quotes and blanks for its own. */
static void add_macro(const char *option, mt_strbuf *text)
{
    size_t length;
    const char *value, *name = mt_word_macro(option, &length, &value);
    if (!name) return;
    size_t letters = strlen(name), own = strcspn(name, "=");
    if (letters && strchr("\"'", name[-1]) && name[letters - 1] == name[-1]) letters--; /* -D"X=1" */
    if (!value) mt_strbuf_addf(text, "#undef %.*s\n", (int)length, name);
    else if (own >= letters) mt_strbuf_addf(text, "#define %.*s 1\n", (int)letters, name);
    else mt_strbuf_addf(text, "#define %.*s %.*s/**/\n", (int)own, name, (int)(letters - own - 1), name + own + 1); /* a backslash at the end would join the next line */
}

static void add_line_mark(const char *name, mt_strbuf *text)
{
    mt_strbuf_add(text, "#line 1 \"");
    for (const char *at = name; *at; at++) {
        if (*at == '"' || *at == '\\') mt_strbuf_add_char(text, '\\');
        mt_strbuf_add_char(text, *at);
    }
    mt_strbuf_add(text, "\"\n");
}

static mt_status text_of(const mt_compile_request *request, size_t file, mt_strbuf *text, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < request->option_count && file == 0; i++) add_macro(request->options[i], text);
    add_line_mark(request->source->files[file].name, text);
    MT_TRY(mt_compile_add_guarded(request, request->source->files[file].text, text, err));
    if (file == 0) mt_compile_add_guards(request, text);
    if (file == 0) MT_TRY(mt_compile_names_table(request, text, err));
    if (text->failed) st = mt_no_memory("source", err);
done:
    return st;
}

/* ---- places ---- */

/* How far above its folder a name leads at most. */
static size_t ups_in(const char *name)
{
    size_t ups = 0;
    for (const char *at = name; (at = strstr(at, "..")); at += 2) ups++;
    return ups;
}

/* A quoted include is looked for beside the including file first. As files are known by their names alone, one with a folder in its name gets a place where nothing else is; the others share one. */
static void add_place(const mt_source *source, size_t file, mt_strbuf *place)
{
    const char *name = source->files[file].name;
    if (!strchr(name, '/')) mt_strbuf_add(place, "plain");
    else mt_strbuf_addf(place, "%zu", file);
    for (size_t i = ups_in(name); i > 0; i--) mt_strbuf_add(place, "/in");
}

static mt_status write_header(const mt_compile_request *request, size_t file, const char *folder, mt_texts *folders, mt_error *err)
{
    const char *name = request->source->files[file].name;
    mt_strbuf place = {0}, path = {0}, text = {0};
    mt_status st = MT_OK;
    char *parent = NULL;
    if (*name == '/') return MT_FAIL(err, MT_ERR_COMPILE, "#include of %s: nvcc would read it wherever it lies then; expected its folder in [kernel] include, and an include without a folder", name);
    add_place(request->source, file, &place);
    mt_strbuf_addf(&path, "%s/%s/%s", folder, mt_strbuf_text(&place), name);
    parent = path.failed ? NULL : mt_path_folder(mt_strbuf_text(&path));
    if (!parent || place.failed) {
        st = mt_no_memory("source", err);
        goto done;
    }
    MT_TRY(mt_texts_add_once(folders, mt_strbuf_text(&place), err));
    MT_TRY(mt_dir_make_all(parent, err));
    MT_TRY(text_of(request, file, &text, err));
    st = mt_file_write_cached(mt_strbuf_text(&path), mt_strbuf_text(&text), text.length, err);
done:
    mt_free(parent);
    mt_strbuf_free(&place);
    mt_strbuf_free(&path);
    mt_strbuf_free(&text);
    return st;
}

mt_status mt_nvcc_files_write(const mt_compile_request *request, const char *folder, mt_texts *folders, mt_error *err)
{
    mt_strbuf text = {0};
    char *path = mt_path_join(folder, MT_NVCC_MAIN);
    mt_status st = path ? text_of(request, 0, &text, err) : mt_no_memory("source", err);
    if (st == MT_OK) st = mt_file_write_cached(path, mt_strbuf_text(&text), text.length, err);
    for (size_t i = 1; i < request->source->file_count && st == MT_OK; i++) st = write_header(request, i, folder, folders, err);
    mt_strbuf_free(&text);
    mt_free(path);
    return st;
}

/* ---- what was read ---- */

/* The next name of a list for make, in whose words blanks and # have a backslash, and a dollar another, in front. False: there is none. */
static bool next_read(const char **at, mt_strbuf *name)
{
    mt_strbuf_clear(name);
    for (; **at == ' ' || **at == '\n' || (**at == '\\' && (*at)[1] == '\n'); ++*at) {}
    for (; **at && **at != ' ' && **at != '\n'; ++*at) {
        if (**at == '\\' && (*at)[1] == '\n') break;
        if ((**at == '\\' && (*at)[1] && strchr(" #\\", (*at)[1])) || (**at == '$' && (*at)[1] == '$')) ++*at;
        mt_strbuf_add_char(name, **at);
    }
    return name->length > 0;
}

mt_status mt_nvcc_reads_unknown(const mt_compile_request *request, const char *folder, mt_strbuf *why, bool *is_unknown, mt_error *err)
{
    size_t length;
    mt_strbuf name = {0};
    char *list = NULL, *path = mt_path_join(folder, MT_NVCC_READS);
    mt_error missing;
    *is_unknown = false;
    if (!path) return mt_no_memory("compile", err);
    const char *at = mt_file_read(path, MOST_READS, &list, &length, &missing) == MT_OK ? list : ""; /* none: the options were wrong, or a header is not there */
    at += strcspn(at, ":");
    at += *at == ':';
    while (!*is_unknown && next_read(&at, &name)) {
        if (*mt_strbuf_text(&name) != '/' || !request->visible || mt_visible_counts(request->visible, mt_strbuf_text(&name))) continue;
        *is_unknown = true;
        mt_strbuf_addf(why, "msda-tune: nvcc reads %s, which the tool did not find in the source's includes, so that it is in no key: expected a plain #include of it; one inside #if 0 does\n", mt_strbuf_text(&name));
    }
    mt_strbuf_free(&name);
    mt_free(list);
    mt_free(path);
    return MT_OK;
}
