/* Identity of a kernel. */
#include "tuner/space/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/source/semantics.h"

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const mt_source_file *const *)a)->name, (*(const mt_source_file *const *)b)->name);
}

/* With another expected output an old verdict says nothing. */
static mt_status add_expected(const mt_spec *spec, mt_strbuf *text, mt_error *err)
{
    char *bytes = NULL;
    size_t count = 0;
    if (!spec->reference_file) return MT_OK;
    mt_status st = mt_file_read(spec->reference_file, 0, &bytes, &count, err);
    mt_place place = mt_spec_place(spec, spec->reference_line);
    if (st != MT_OK) return mt_error_prefix(err, st, "%s:%d: [kernel] reference", place.path, place.line);
    mt_hash hash = mt_hash_bytes(bytes, count);
    mt_strbuf_addf(text, "expected %s\n", hash.hex);
    mt_free(bytes);
    return MT_OK;
}

mt_status mt_source_key(const mt_spec *spec, const mt_source *source, mt_hash *key, mt_error *err)
{
    mt_strbuf text = { 0 };
    mt_status st = add_expected(spec, &text, err);
    if (st != MT_OK) return st;
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
    mt_free(sorted);
    mt_free(semantics);
    mt_free(options);
    mt_strbuf_free(&text);
    return ok ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}
