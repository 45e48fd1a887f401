#include "tuner/gpu/compile/nvcc_files.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/gpu/compile/compile_macros.h"
#include "tuner/gpu/compile/compile_names.h"
#include "tuner/space/source/source_folder.h"

enum { MOST_READS = 64 << 20 };

static char *text_of(const mt_compile_request *request, size_t file, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    for (size_t i = 0; i < request->option_count && file == 0; i++) mt_source_add_macro(request->options[i], &text);
    mt_source_add_line_mark(request->source->files[file].name, &text);
    MT_TRY(mt_compile_add_guarded(request, request->source->files[file].text, &text, err));
    if (file == 0) mt_compile_add_guards(request, &text);
    if (file == 0) MT_TRY(mt_compile_names_table(request, &text, err));
    if (text.failed) st = mt_no_memory("source", err);
done:
    if (st != MT_OK) mt_strbuf_free(&text);
    return st == MT_OK ? mt_strbuf_take(&text) : NULL;
}

mt_status mt_nvcc_files_write(const mt_compile_request *request, const char *folder, mt_texts *folders, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = request->source->file_count;
    char **texts = mt_alloc(count, sizeof *texts);
    if (!texts) st = mt_no_memory("source", err);
    for (size_t i = 0; i < count && st == MT_OK; i++)
        if (!(texts[i] = text_of(request, i, err))) st = MT_ERR_NO_MEMORY;
    if (st == MT_OK) st = mt_source_write(request->source, texts, folder, folders, err);
    for (size_t i = 0; texts && i < count; i++) mt_free(texts[i]);
    mt_free(texts);
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
