#include "tuner/space/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"

enum { FILE_LIMIT = 1000, SIZE_LIMIT = 16 << 20 };

/* ---- scanning ---- */

/* Behind a comment that starts at `at`, else `at` itself. */
static const char *skip_comment(const char *at)
{
    if (at[0] != '/') return at;
    if (at[1] == '/') return at + strcspn(at, "\n");
    if (at[1] != '*') return at;
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* Behind a string or character literal that starts at `at`; an unclosed one ends with its line. */
static const char *skip_literal(const char *at)
{
    char quote = *at++;
    for (; *at && *at != quote && *at != '\n'; at++) {
        if (*at == '\\' && at[1]) at++;
    }
    return *at == quote ? at + 1 : at;
}

static const char *skip_blanks(const char *at)
{
    for (;;) {
        while (*at == ' ' || *at == '\t') at++;
        const char *behind = skip_comment(at);
        if (behind == at || at[1] == '/') return at;
        at = behind;
    }
}

/* The name of `#include "name"` when the directive's # stands at `at`. NULL when it is another directive. */
static const char *include_name(const char *at, size_t *length)
{
    at = skip_blanks(at + 1);
    if (strncmp(at, "include", 7) != 0) return NULL;
    at = skip_blanks(at + 7);
    if (*at != '"') return NULL; /* <…> and macros are left to the compiler */
    *length = strcspn(at + 1, "\"\n");
    return at[1 + *length] == '"' && *length ? at + 1 : NULL;
}

/* The next `#include "name"` at or behind *at; moves *at behind it. Conditions are not evaluated: a file that some macro might
 * include belongs to the kernel's identity. */
static const char *next_include(const char **at, size_t *length, bool *line_start)
{
    while (**at) {
        const char *behind = skip_comment(*at);
        if (behind != *at) {
            *at = behind;
        } else if (**at == '#' && *line_start) {
            const char *name = include_name(*at, length);
            *line_start = false;
            *at = name ? name + *length + 1 : *at + 1;
            if (name) return name;
        } else if (**at == '"' || **at == '\'') {
            *at = skip_literal(*at);
            *line_start = false;
        } else {
            if (**at == '\n') *line_start = true;
            else if (!isspace((unsigned char)**at)) *line_start = false;
            (*at)++;
        }
    }
    return NULL;
}

/* ---- finding ---- */

/* Where `name` is, included by the file at `from`: beside it, beside the source, in the include folders. *path is NULL when nowhere. */
static mt_status find_file(const mt_spec *spec, const char *from, const char *name, char **path, mt_error *err)
{
    *path = NULL;
    for (size_t i = 0; i < 2 + spec->include_count; i++) {
        char *folder = i == 0 ? mt_path_folder(from) : i == 1 ? mt_path_folder(spec->source) : mt_strdup(spec->include_dirs[i - 2]);
        char *candidate = folder ? mt_path_join(folder, name) : NULL;
        mt_free(folder);
        if (!candidate) return MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
        if (mt_file_exists(candidate)) {
            *path = candidate;
            return MT_OK;
        }
        mt_free(candidate);
    }
    return MT_OK;
}

static mt_status add_file(mt_source *source, size_t *capacity, char *name, char *path, mt_error *err)
{
    mt_status st = MT_OK;
    mt_source_file file = { .name = name, .path = path };
    size_t length;
    mt_source_file *grown = name && path ? mt_grow(source->files, source->file_count, capacity, sizeof *grown) : NULL;
    if (!grown) {
        st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
        goto done;
    }
    source->files = grown;
    if (source->file_count == FILE_LIMIT) {
        st = MT_FAIL(err, MT_ERR_SPEC, "%s: more than %d included files", source->files[0].path, FILE_LIMIT);
        goto done;
    }
    MT_TRY(mt_file_read_regular(path, SIZE_LIMIT, &file.text, &length, err));
    if (strlen(file.text) != length) {
        st = MT_FAIL(err, MT_ERR_SPEC, "%s holds NUL bytes: expected source text", path);
        goto done;
    }
    grown[source->file_count++] = file;
    return MT_OK;
done:
    mt_free(file.text);
    mt_free(name);
    mt_free(path);
    return st;
}

static bool same_path(const char *a, const char *b)
{
    char *left = realpath(a, NULL), *right = realpath(b, NULL);
    bool same = left && right ? strcmp(left, right) == 0 : strcmp(a, b) == 0;
    free(left);
    free(right);
    return same;
}

/* Takes one include into the set, if it is new. NVRTC knows headers by name alone, so a name must mean one file. */
static mt_status take_include(const mt_spec *spec, mt_source *source, size_t *capacity, size_t from, const char *name, mt_error *err)
{
    char *path = NULL;
    mt_status st = find_file(spec, source->files[from].path, name, &path, err);
    if (st != MT_OK || !path) return st;
    for (size_t i = 0; i < source->file_count; i++) {
        if (strcmp(source->files[i].name, name) != 0) continue;
        if (!same_path(source->files[i].path, path)) {
            st = MT_FAIL(err, MT_ERR_SPEC, "%s: #include \"%s\" means both %s and %s: expected different names", source->files[from].path,
                         name, source->files[i].path, path);
        }
        mt_free(path);
        return st;
    }
    return add_file(source, capacity, mt_strdup(name), path, err);
}

static mt_status scan_file(const mt_spec *spec, mt_source *source, size_t *capacity, size_t index, mt_error *err)
{
    const char *at = source->files[index].text; /* stays where it is when the array grows */
    const char *found;
    size_t length;
    bool line_start = true;
    while ((found = next_include(&at, &length, &line_start))) {
        char *name = mt_strndup(found, length);
        mt_status st = name ? take_include(spec, source, capacity, index, name, err) : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
        mt_free(name);
        if (st != MT_OK) return st;
    }
    return MT_OK;
}

static mt_status no_folder(const mt_spec *spec, const char *folder, mt_error *err)
{
    mt_place place = mt_spec_place(spec, spec->include_line);
    return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: include: %s: no such folder", place.path, place.line, folder);
}

/* A folder that is not there would only show as a header that the compiler does not find. */
static mt_status check_folders(const mt_spec *spec, mt_error *err)
{
    for (size_t i = 0; i < spec->include_count; i++) {
        if (!mt_dir_exists(spec->include_dirs[i])) return no_folder(spec, spec->include_dirs[i], err);
    }
    return MT_OK;
}

mt_status mt_source_load(const mt_spec *spec, mt_source *source, mt_error *err)
{
    mt_status st = MT_OK;
    size_t capacity = 0;
    *source = (mt_source){ 0 };
    if (spec->is_recorded) return MT_FAIL(err, MT_ERR_SPEC, "%s: points = recorded: there is nothing to compile; expected `msda-tune tune --gpu recorded:NAME`", spec->path);
    const char *slash = strrchr(spec->source, '/');
    mt_error reason;
    MT_TRY(check_folders(spec, err));
    st = add_file(source, &capacity, mt_strdup(slash ? slash + 1 : spec->source), mt_strdup(spec->source), &reason);
    if (st != MT_OK) {
        MT_FAIL(err, st, "%s: [kernel] source: %s", spec->path, reason.message);
        goto done;
    }
    for (size_t i = 0; i < source->file_count; i++) MT_TRY(scan_file(spec, source, &capacity, i, err));
done:
    if (st != MT_OK) mt_source_free(source);
    return st;
}

void mt_source_free(mt_source *source)
{
    for (size_t i = 0; i < source->file_count; i++) {
        mt_free(source->files[i].name);
        mt_free(source->files[i].path);
        mt_free(source->files[i].text);
    }
    mt_free(source->files);
    *source = (mt_source){ 0 };
}

/* ---- identity ---- */

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
    if (st != MT_OK) return mt_error_prefix(err, st, "%s: [kernel] reference", spec->path);
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
    char *semantics = mt_spec_semantics(spec);
    const mt_source_file **sorted = mt_alloc(source->file_count, sizeof *sorted);
    if (semantics && sorted) {
        for (size_t i = 0; i < source->file_count; i++) sorted[i] = &source->files[i];
        qsort(sorted, source->file_count, sizeof *sorted, by_name);
        for (size_t i = 0; i < source->file_count; i++) { /* lengths keep one file's end from reading as the next one's start */
            mt_strbuf_addf(&text, "file %s %zu\n", sorted[i]->name, strlen(sorted[i]->text));
            mt_strbuf_add(&text, sorted[i]->text);
        }
        mt_strbuf_addf(&text, "options %s\nsemantics\n%s", spec->options, semantics);
    }
    bool ok = semantics && sorted && !text.failed;
    if (ok) *key = mt_hash_bytes(text.text, text.length);
    mt_free(sorted);
    mt_free(semantics);
    mt_strbuf_free(&text);
    return ok ? MT_OK : MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
}
