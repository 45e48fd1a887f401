/* Identity of a kernel. */
#include "tuner/space/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/points/reference_knobs.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/source/semantics.h"

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const mt_source_file *const *)a)->name, (*(const mt_source_file *const *)b)->name);
}

/* `where`: what names the file in the search space; `what`: what it is in the key. */
static mt_status add_contents(const char *path, mt_place place, const char *where, const char *what, mt_strbuf *text, mt_error *err)
{
    char *bytes = NULL;
    size_t count = 0;
    mt_status st = mt_file_read(path, 0, &bytes, &count, err);
    if (st != MT_OK) return mt_error_prefix(err, st, "%s:%d: [%s", place.path, place.line, where);
    mt_hash hash = mt_hash_bytes(bytes, count);
    mt_strbuf_addf(text, "%s %s\n", what, hash.hex);
    mt_free(bytes);
    return MT_OK;
}

/* With another expected output an old verdict says nothing, and with another input an old time may not. */
static mt_status add_files(const mt_spec *spec, mt_strbuf *text, mt_error *err)
{
    mt_strbuf where = {0};
    char *path = NULL;
    mt_status st = MT_OK;
    for (size_t i = 0; spec->reference_file && i < mt_reference_count(spec); i++) {
        mt_free(path);
        MT_TRY(mt_reference_file(spec, i, &path, err));
        MT_TRY(add_contents(path, mt_spec_place(spec, spec->reference_line), "kernel] reference", "expected", text, err));
    }
    for (size_t i = 0; i < spec->arg_count; i++) {
        const mt_arg *arg = &spec->args[i];
        if (!arg->init_file) continue;
        mt_strbuf_clear(&where);
        mt_strbuf_addf(&where, "arg %s] init", arg->name);
        MT_TRY(add_contents(arg->init_file, mt_spec_place(spec, arg->line), mt_strbuf_text(&where), arg->name, text, err));
    }
done:
    mt_free(path);
    mt_strbuf_free(&where);
    return st;
}

mt_status mt_source_key(const mt_spec *spec, const mt_source *source, mt_hash *key, mt_error *err)
{
    mt_strbuf text = { 0 };
    mt_status st = add_files(spec, &text, err);
    if (st != MT_OK) {
        mt_strbuf_free(&text);
        return st;
    }
    char *semantics = mt_spec_semantics(spec), *options = mt_words_without_files(spec->options);
    const mt_source_file **sorted = mt_alloc(source->file_count, sizeof *sorted);
    if (semantics && options && sorted) {
        for (size_t i = 0; i < source->file_count; i++) sorted[i] = &source->files[i];
        qsort(sorted, source->file_count, sizeof *sorted, by_name);
        for (size_t i = 0; i < source->file_count; i++) { /* lengths keep one file's end from reading as the next one's start */
            mt_strbuf_addf(&text, "file %s %zu\n", sorted[i]->name, strlen(sorted[i]->text));
            mt_strbuf_add(&text, sorted[i]->text);
        }
        mt_strbuf_addf(&text, "options %s\nsemantics\n%s", options, semantics);
    }
    bool ok = semantics && options && sorted && !text.failed;
    if (ok) *key = mt_hash_bytes(text.text, text.length);
    MT_FREE_EACH(sorted, semantics, options);
    mt_strbuf_free(&text);
    return ok ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}
