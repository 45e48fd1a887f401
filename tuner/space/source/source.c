#include "tuner/space/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/ini/split.h"
#include "tuner/space/source/askers.h"
#include "tuner/space/source/directive.h"
#include "tuner/space/source/host_header.h"
#include "tuner/space/source/nvcc_words.h"
#include "tuner/space/source/option_words.h"

enum { FILE_LIMIT = 4000, SIZE_LIMIT = 16 << 20, MOST_MACROS = 1000 /* that may name a file, of one file */, NO_FOLDER = -1 };

/* Beside each file of the source. */
typedef struct place {
    char *real;  /* its one path; NULL: a text of ours */
    int folder;  /* of loader.folders, that it was found in; NO_FOLDER: beside another */
} place;

typedef struct loader {
    const mt_spec *spec;
    bool is_for_host; /* its compiler reads the files too: nvcc, or that of the host */
    mt_source *source;
    place *places;
    size_t file_capacity, place_capacity;
    char **folders; /* of [kernel] include, then of -I */
    size_t folder_count;
    char **headers; /* of -include */
    size_t header_count;
    mt_askers askers;
} loader;

/* ---- what the options name ---- */

/* Takes the text. */
static mt_status append(char ***items, size_t *count, char *text, mt_error *err)
{
    char **grown = text ? mt_realloc(*items, *count + 1, sizeof *grown) : NULL;
    if (!grown) {
        mt_free(text);
        return mt_no_memory("source", err);
    }
    *items = grown;
    grown[(*count)++] = text;
    return MT_OK;
}

static mt_status refuse_word(const mt_spec *spec, const char *where, const mt_word *word, const char *expected, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_SPEC, "%s: %s options: %s: %s", spec->path, where, word->text, expected);
}

/* A folder that is not there would only show as a header that the compiler does not find. */
static mt_status add_folder(loader *self, const mt_word *word, mt_error *err)
{
    if (strstr(word->text, "${")) return refuse_word(self->spec, "[kernel]", word, "a folder that depends on a knob can't be part of the kernel's key; expected a fixed one, and an #if in the source", err);
    char *base = mt_path_folder(self->spec->path), *folder = base ? mt_path_join(base, word->text) : NULL;
    mt_free(base);
    mt_status st = folder && !mt_dir_exists(folder) ? refuse_word(self->spec, "[kernel]", word, "no such folder", err) : MT_OK;
    if (st == MT_OK) return append(&self->folders, &self->folder_count, folder, err);
    mt_free(folder);
    return st;
}

static mt_status check_plain_word(const mt_spec *spec, const char *where, const mt_word *word, mt_error *err)
{
    const char *refusal = spec->is_for_nvcc && !strstr(word->text, "${") ? mt_nvcc_word_refusal(word->text) : NULL; /* what a knob makes of it is checked where it does */
    if (refusal) return refuse_word(spec, where, word, refusal, err);
    return strcasestr(word->text, "has_include") ? refuse_word(spec, where, word, "the tool can't see which file this asks for; expected it in the source", err) : MT_OK;
}

static mt_status take_kernel_words(loader *self, mt_error *err)
{
    mt_word word;
    mt_status st;
    for (const char *at = self->spec->options; (st = mt_word_next(&at, &word, err)) == MT_OK && word.kind != MT_WORD_END;) {
        const char *refusal = mt_word_refusal(word.kind);
        if (refusal) st = refuse_word(self->spec, "[kernel]", &word, refusal, err);
        if (word.kind == MT_WORD_PLAIN) st = check_plain_word(self->spec, "[kernel]", &word, err);
        if (word.kind == MT_WORD_FOLDER) st = add_folder(self, &word, err);
        if (word.kind == MT_WORD_HEADER) {
            st = append(&self->headers, &self->header_count, word.text, err);
            word.text = NULL;
        }
        mt_free(word.text);
        if (st != MT_OK) return st;
    }
    return st;
}

static mt_status check_variant_words(const mt_spec *spec, const mt_algorithm *variant, mt_error *err)
{
    mt_word word;
    mt_status st;
    for (const char *at = variant->options; (st = mt_word_next(&at, &word, err)) == MT_OK && word.kind != MT_WORD_END;) {
        mt_strbuf where = {0};
        mt_strbuf_addf(&where, "[algorithm %s]", variant->name);
        const char *refusal = mt_word_refusal(word.kind);
        if (word.kind != MT_WORD_PLAIN) st = refuse_word(spec, mt_strbuf_text(&where), &word, refusal ? refusal : "all variants share one source; expected folders and headers in [kernel], and an #if in the source", err);
        else st = check_plain_word(spec, mt_strbuf_text(&where), &word, err);
        mt_strbuf_free(&where);
        mt_free(word.text);
        if (st != MT_OK) return st;
    }
    return st;
}

static mt_status find_folders(loader *self, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_spec *spec = self->spec;
    for (size_t i = 0; i < spec->include_count; i++) {
        if (!mt_dir_exists(spec->include_dirs[i])) return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: include: %s: no such folder", spec->path, spec->include_line, spec->include_dirs[i]);
        MT_TRY(append(&self->folders, &self->folder_count, mt_strdup(spec->include_dirs[i]), err));
    }
    MT_TRY(take_kernel_words(self, err));
    for (size_t i = 0; i < spec->algorithm_count; i++) MT_TRY(check_variant_words(spec, &spec->algorithms[i], err));
done:
    return st;
}

/* ---- files ---- */

static size_t file_named(const mt_source *source, const char *name)
{
    size_t i = 0;
    while (i < source->file_count && strcmp(source->files[i].name, name) != 0) i++;
    return i;
}

/* Editors of other systems put a mark in front, which NVRTC takes for code. */
static void drop_mark(char *text)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (strncmp(text, mark, sizeof mark - 1) == 0) memmove(text, text + sizeof mark - 1, strlen(text) - (sizeof mark - 1) + 1);
}

/* Takes name, path, text and real. */
static mt_status add_text(loader *self, mt_source_file file, char *real, int folder, mt_error *err)
{
    mt_status st = MT_OK;
    mt_source *source = self->source;
    mt_source_file *files = mt_grow(source->files, source->file_count, &self->file_capacity, sizeof *files);
    if (files) source->files = files;
    place *places = mt_grow(self->places, source->file_count, &self->place_capacity, sizeof *places);
    if (places) self->places = places;
    if (!files || !places || !file.name || !file.path || !file.text) st = mt_no_memory("source", err);
    else if (source->file_count == FILE_LIMIT) st = MT_FAIL(err, MT_ERR_SPEC, "%s: more than %d included files", files[0].path, FILE_LIMIT);
    if (st != MT_OK) {
        MT_FREE_EACH(file.name, file.path, file.text);
        free(real);
        return st;
    }
    places[source->file_count] = (place){real, folder};
    files[source->file_count++] = file;
    return MT_OK;
}

/* Takes name and path. */
static mt_status add_file(loader *self, char *name, char *path, int folder, mt_error *err)
{
    mt_source_file file = {.name = name, .path = path};
    size_t length = 0;
    mt_status st = name && path ? mt_file_read(path, SIZE_LIMIT, &file.text, &length, err) : mt_no_memory("source", err);
    if (st == MT_OK && strlen(file.text) != length) st = MT_FAIL(err, MT_ERR_SPEC, "%s holds NUL bytes: expected source text", path);
    if (st != MT_OK) {
        MT_FREE_EACH(file.text, name, path);
        return st;
    }
    drop_mark(file.text);
    return add_text(self, file, realpath(path, NULL), folder, err);
}

/* A folder's name is none of a file. */
static bool is_there(const char *path)
{
    return mt_file_exists(path) && !mt_dir_exists(path);
}

/* The first of the folders from `first` on that has it; NULL: none. *folder says which. */
static mt_status look_in_folders(const loader *self, const char *name, size_t first, char **path, int *folder, mt_error *err)
{
    for (size_t i = first; i < self->folder_count; i++) {
        char *candidate = mt_path_join(self->folders[i], name);
        if (!candidate) return mt_no_memory("source", err);
        *folder = (int)i;
        if (is_there(candidate)) {
            *path = candidate;
            return MT_OK;
        }
        mt_free(candidate);
    }
    return MT_OK;
}

static mt_status look_beside(const char *neighbour, const char *name, char **path, mt_error *err)
{
    char *folder = mt_path_folder(neighbour), *candidate = folder ? mt_path_join(folder, name) : NULL;
    mt_free(folder);
    if (!candidate) return mt_no_memory("source", err);
    if (is_there(candidate)) *path = candidate;
    else mt_free(candidate);
    return MT_OK;
}

static mt_status find_file(const loader *self, size_t from, const mt_directive *what, const char *name, char **path, int *folder, mt_error *err)
{
    mt_status st = MT_OK;
    size_t first = what->kind == MT_DIRECTIVE_INCLUDE_NEXT ? (size_t)(self->places[from].folder + 1) : 0;
    *path = NULL;
    *folder = NO_FOLDER;
    if (*name == '/' || (what->kind != MT_DIRECTIVE_INCLUDE_NEXT && what->form == '"')) {
        MT_TRY(look_beside(self->source->files[from].path, name, path, err));
        if (!*path) MT_TRY(look_beside(self->spec->source, name, path, err));
    }
    if (!*path && *name != '/') MT_TRY(look_in_folders(self, name, first, path, folder, err));
done:
    return st;
}

/* NVRTC knows headers in memory by name alone. A name that another file has already gets the including file's folder in front, or a number. */
static char *free_name(const loader *self, size_t from, const char *name)
{
    mt_strbuf text = {0};
    const char *includer = self->source->files[from].name, *slash = strrchr(includer, '/');
    mt_strbuf_add(&text, name);
    if (file_named(self->source, name) < self->source->file_count && slash) {
        mt_strbuf_clear(&text);
        mt_strbuf_addf(&text, "%.*s/%s", (int)(slash - includer), includer, name);
    }
    for (int number = 2; !text.failed && file_named(self->source, mt_strbuf_text(&text)) < self->source->file_count; number++) {
        mt_strbuf_clear(&text);
        mt_strbuf_addf(&text, "%d/%s", number, name);
    }
    char *out = mt_strbuf_take(&text);
    mt_strbuf_free(&text);
    return out;
}

/* The file of the source that lies at `path`, which is taken; a new one is called `name`, where that is free. */
static mt_status take_path(loader *self, size_t from, char *path, int folder, const char *name, size_t *index, mt_error *err)
{
    char *real = realpath(path, NULL);
    *index = 0;
    while (*index < self->source->file_count && !(real && self->places[*index].real && strcmp(self->places[*index].real, real) == 0)) ++*index;
    free(real);
    if (*index == self->source->file_count) return add_file(self, free_name(self, from, name), path, folder, err);
    mt_free(path);
    return MT_OK;
}

static const char stub_mark[] = "msda-tune: "; /* in front of the name where others have a path */

const char *mt_source_stub_name(const mt_source_file *file)
{
    return strncmp(file->path, stub_mark, sizeof stub_mark - 1) == 0 ? file->path + sizeof stub_mark - 1 : NULL;
}

/* NVRTC has no headers of the host's libraries; the stub of one is a file of the source like any other. *index stays where there is none. */
static mt_status take_stub(loader *self, size_t from, const char *name, size_t *index, mt_error *err)
{
    mt_strbuf text = {0}, path = {0};
    for (size_t i = 0; i < self->source->file_count; i++) {
        const char *known = self->places[i].real ? NULL : mt_source_stub_name(&self->source->files[i]);
        if (!known || strcmp(known, name) != 0) continue;
        *index = i;
        return MT_OK;
    }
    if (self->is_for_host || !mt_host_header_stub(name, &text)) return MT_OK; /* there the host's own is found */
    *index = self->source->file_count;
    mt_strbuf_addf(&path, "%s%s", stub_mark, name);
    return add_text(self, (mt_source_file){free_name(self, from, name), mt_strbuf_take(&path), mt_strbuf_take(&text)}, NULL, NO_FOLDER, err);
}

/* The index of the file that `name` means there; SIZE_MAX: one of the toolkit's, or none. */
static mt_status resolve(loader *self, size_t from, const mt_directive *what, const char *name, size_t *index, mt_error *err)
{
    char *path = NULL;
    int folder;
    *index = SIZE_MAX;
    mt_status st = find_file(self, from, what, name, &path, &folder, err);
    if (st != MT_OK) return st;
    return path ? take_path(self, from, path, folder, name, index, err) : take_stub(self, from, name, index, err);
}

/* ---- following ---- */

/* What stands in the rewritten text in the directive's place; nothing where it may stay. */
static void name_anew(const loader *self, const mt_directive *what, const char *name, size_t index, mt_strbuf *out)
{
    bool is_next = what->kind == MT_DIRECTIVE_INCLUDE_NEXT, is_probe = what->kind == MT_DIRECTIVE_PROBE, goes_on = memchr(what->start, '\n', (size_t)(what->end - what->start)) != NULL;
    const char *word = is_probe ? "" : "include ", *own = index == SIZE_MAX ? name : self->source->files[index].name;
    if (index == SIZE_MAX && is_next && self->is_for_host) return; /* on the disk there is a next one */
    if (index == SIZE_MAX && is_next) mt_strbuf_addf(out, "%s<./%s>", word, name); /* the toolkit's: in memory there is no next one, and by this name none at all */
    else if (index == SIZE_MAX && is_probe && (mt_directive_leads_out(name, strlen(name)) || what->form == '"')) mt_strbuf_addf(out, mt_directive_leads_out(name, strlen(name)) || strchr(name, '>') ? "\"msda-tune: none of the source's files\"" : "<%s>", name); /* on the disk there may be one */
    else if (index == SIZE_MAX && goes_on) mt_strbuf_addf(out, "%s%c%s%c", word, what->form, name, what->form == '<' ? '>' : '"');
    else if (index != SIZE_MAX && (is_next || goes_on || strcmp(own, name) != 0)) mt_strbuf_addf(out, "%s\"%s\"", word, own);
    for (const char *at = what->start; out->length && at < what->end; at++)
        if (*at == '\n') mt_strbuf_add(out, " \\\n"); /* lines keep their numbers */
}

static mt_status follow(loader *self, size_t from, const mt_directive *what, mt_strbuf *out, mt_error *err)
{
    size_t index;
    char *name = mt_strndup(what->name, what->length);
    if (!name) return mt_no_memory("source", err);
    mt_status st = resolve(self, from, what, name, &index, err);
    if (st == MT_OK) name_anew(self, what, name, index, out);
    mt_free(name);
    return st;
}

static mt_status scan_file(loader *self, size_t index, mt_error *err)
{
    mt_status st = MT_OK;
    const char *text = self->source->files[index].text, *copied = text; /* stays where it is when the array grows */
    mt_directive_walk walk;
    mt_directive what;
    mt_strbuf rewritten = {0}, operand = {0};
    MT_TRY(mt_directive_open(text, &walk, err));
    while (mt_directive_next(&walk, &what)) {
        if (!what.form) continue;
        mt_strbuf_clear(&operand);
        MT_TRY(follow(self, index, &what, &operand, err));
        if (!operand.length) continue;
        mt_strbuf_add_bytes(&rewritten, copied, (size_t)(what.start - copied));
        mt_strbuf_add(&rewritten, mt_strbuf_text(&operand));
        copied = what.end;
    }
    if (copied == text) goto done;
    mt_strbuf_add(&rewritten, copied);
    char *taken = rewritten.failed || operand.failed ? NULL : mt_strbuf_take(&rewritten);
    if (!taken) MT_LEAVE(mt_no_memory("source", err));
    mt_free(self->source->files[index].text);
    self->source->files[index].text = taken;
done:
    mt_directive_close(&walk);
    mt_strbuf_free(&rewritten);
    mt_strbuf_free(&operand);
    return st;
}

/* ---- names that macros give ---- */

/* Macros that may name a file, of one file of the source. */
typedef struct followed {
    size_t from;
    char **macros;
    size_t count;
    const char *line_end; /* of what was asked for last */
} followed;

/* The macro's text is not rewritten: a file that has another name already gets this one too, as a file that includes it. */
static mt_status follow_named(loader *self, size_t from, const mt_directive *what, mt_error *err)
{
    size_t index, taken;
    mt_status st = MT_OK;
    mt_source_file *files;
    mt_strbuf text = {0};
    char *name = mt_strndup(what->name, what->length);
    if (!name) return mt_no_memory("source", err);
    MT_TRY(resolve(self, from, what, name, &index, err));
    files = self->source->files;
    taken = file_named(self->source, name);
    if (index == SIZE_MAX || taken == index) goto done;
    mt_strbuf_addf(&text, "#include \"%s\"\n", files[index].name);
    if (taken == self->source->file_count) {
        st = add_text(self, (mt_source_file){mt_strdup(name), mt_strdup(files[index].path), mt_strbuf_take(&text)}, NULL, NO_FOLDER, err);
    } else if (strcmp(files[taken].text, mt_strbuf_text(&text)) != 0) {
        st = MT_FAIL(err, MT_ERR_SPEC, "%s: an #include whose name a macro gives, \"%s\", means both %s and %s: expected different names", files[from].path, name, files[taken].path, files[index].path);
    }
done:
    mt_strbuf_free(&text);
    mt_free(name);
    return st;
}

static bool was_followed(const followed *self, const char *macro, size_t length)
{
    for (size_t i = 0; i < self->count; i++)
        if (strlen(self->macros[i]) == length && strncmp(self->macros[i], macro, length) == 0) return true;
    return false;
}

/* All files and macros in a line of tokens: which of them the name is made of, expanding would tell. What is no file is none of any compiler's either. */
static mt_status follow_tokens(loader *self, followed *all, const char *line, mt_error *err)
{
    mt_status st = MT_OK;
    mt_directive what = {.kind = MT_DIRECTIVE_INCLUDE};
    while (st == MT_OK && mt_directive_operand(&line, &what)) {
        if (what.form) st = follow_named(self, all->from, &what, err);
        else if (!was_followed(all, what.name, what.length)) st = append(&all->macros, &all->count, mt_strndup(what.name, what.length), err);
    }
    return st;
}

/* All definitions count, as all includes do. */
static mt_status follow_macro(loader *self, followed *all, const char *macro, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count;
    const mt_definition *definitions = mt_askers_definitions(&self->askers, macro, strlen(macro), &count);
    for (size_t i = 0; i < count && st == MT_OK; i++) {
        bool is_of_a_knob = definitions[i].is_of_options && strstr(definitions[i].body, "${") && strpbrk(definitions[i].body, "<\"");
        if (is_of_a_knob) st = MT_FAIL(err, MT_ERR_SPEC, "%s: options: %s=%s: a knob makes the name of an include, which is not in the kernel's key; expected all names in the source, each behind an #if", self->spec->path, macro, definitions[i].body);
        else st = follow_tokens(self, all, definitions[i].body, err);
    }
    return st;
}

/* What a directive that is no plain #include may name. */
static mt_status follow_directive(loader *self, followed *all, const mt_directive *what, mt_error *err)
{
    if (what->form || what->kind == MT_DIRECTIVE_DEFINE || what->kind == MT_DIRECTIVE_UNDEFINE) return MT_OK;
    if (what->kind != MT_DIRECTIVE_ASK) return follow_tokens(self, all, what->name, err);
    if (all->line_end && what->rest < all->line_end) return MT_OK; /* followed with the rest of its line */
    all->line_end = mt_directive_line_end(what->rest);
    return follow_tokens(self, all, what->rest, err);
}

static mt_status follow_macros_of(loader *self, size_t index, mt_error *err)
{
    followed all = {.from = index};
    mt_directive_walk walk;
    mt_directive what;
    mt_status st = mt_directive_open(self->source->files[index].text, &walk, err);
    mt_askers_know(&self->askers, &walk);
    while (st == MT_OK && mt_directive_next(&walk, &what)) st = follow_directive(self, &all, &what, err);
    for (size_t i = 0; st == MT_OK && i < all.count && i < MOST_MACROS; i++) { /* they become more */
        char *macro = mt_strdup(all.macros[i]);
        st = macro ? follow_macro(self, &all, macro, err) : mt_no_memory("source", err);
        mt_free(macro);
    }
    mt_directive_close(&walk);
    mt_strings_free(all.macros, all.count);
    return st;
}

/* A file that a macro names may define what names another. */
static mt_status follow_all(loader *self, mt_error *err)
{
    mt_status st = MT_OK;
    size_t scanned = 0, before;
    do {
        for (; scanned < self->source->file_count; scanned++) MT_TRY(scan_file(self, scanned, err));
        before = self->source->file_count;
        MT_TRY(mt_askers_find(self->spec, self->source, &self->askers, err));
        for (size_t i = 0; i < before; i++) MT_TRY(follow_macros_of(self, i, err));
    } while (before < self->source->file_count);
    st = mt_askers_check(self->spec, self->source, &self->askers, err);
done:
    return st;
}

/* ---- loading ---- */

/* Named from the folder of the .ini, as -I is, or as by #include "…" in the source, or of the toolkit. `text`: what includes it. */
static mt_status add_header(loader *self, const char *name, mt_strbuf *text, mt_error *err)
{
    const mt_directive what = {.kind = MT_DIRECTIVE_INCLUDE, .form = '"'};
    const char *slash = strrchr(name, '/');
    char *path = NULL;
    size_t index = SIZE_MAX;
    int folder = NO_FOLDER;
    mt_status st = look_beside(self->spec->path, name, &path, err);
    if (st == MT_OK && !path) st = find_file(self, 0, &what, name, &path, &folder, err);
    if (st == MT_OK && !path && (*name == '/' || mt_directive_leads_out(name, strlen(name)))) st = MT_FAIL(err, MT_ERR_SPEC, "%s: [kernel] options: -include=%s: no such file", self->spec->path, name);
    if (st == MT_OK) st = path ? take_path(self, 0, path, folder, slash ? slash + 1 : name, &index, err) : take_stub(self, 0, name, &index, err);
    if (st == MT_OK && index == SIZE_MAX) mt_strbuf_addf(text, "#include <%s>\n", name); /* the toolkit's, or none: the compiler knows */
    else if (st == MT_OK) mt_strbuf_addf(text, "#include \"%s\"\n", self->source->files[index].name);
    return st;
}

static mt_status add_headers(loader *self, mt_strbuf *text, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < self->header_count && st == MT_OK; i++) st = add_header(self, self->headers[i], text, err);
    return st;
}

/* What nvcc and the host's compiler include by themselves: told, it counts in the keys like what the source includes. Both have guards. */
static const char included_unasked[] = "#include <cuda_runtime.h>\n#if __has_include(<stdc-predef.h>)\n#include <stdc-predef.h>\n#endif\n";

/* -include: lines of the main file, which the compiler does not count. They come when all is resolved, since they name files of the source as they are called there. */
static mt_status include_first(loader *self, mt_strbuf *text, mt_error *err)
{
    if (self->is_for_host) mt_strbuf_add(text, included_unasked);
    if (!text->length) return MT_OK;
    mt_source_file *main_file = &self->source->files[0];
    mt_strbuf_addf(text, "#line 1 \"%s\"\n%s", main_file->name, main_file->text);
    char *taken = mt_strbuf_take(text);
    if (!taken) return mt_no_memory("source", err);
    mt_free(main_file->text);
    main_file->text = taken;
    return MT_OK;
}

static void free_loader(loader *self)
{
    for (size_t i = 0; i < self->source->file_count; i++) free(self->places[i].real);
    mt_free(self->places);
    mt_strings_free(self->folders, self->folder_count);
    mt_strings_free(self->headers, self->header_count);
    mt_askers_free(&self->askers);
}

static mt_status load(const mt_spec *spec, bool is_for_host, mt_source *source, mt_error *err)
{
    mt_status st = MT_OK;
    loader self = {.spec = spec, .is_for_host = is_for_host, .source = source};
    mt_strbuf first = {0};
    *source = (mt_source){.is_for_nvcc = spec->is_for_nvcc};
    if (spec->is_recorded) return MT_FAIL(err, MT_ERR_SPEC, "%s: points = recorded: there is nothing to compile; expected `msda-tune tune --gpu recorded:NAME`", spec->path);
    const char *slash = strrchr(spec->source, '/');
    mt_error reason;
    MT_TRY(find_folders(&self, err));
    st = add_file(&self, mt_strdup(slash ? slash + 1 : spec->source), mt_strdup(spec->source), NO_FOLDER, &reason);
    if (st != MT_OK) {
        mt_place named_in = mt_spec_place(spec, spec->source_line);
        MT_FAIL(err, st, "%s:%d: [kernel] source: %s", named_in.path, named_in.line, reason.message);
        goto done;
    }
    MT_TRY(add_headers(&self, &first, err));
    MT_TRY(follow_all(&self, err));
    MT_TRY(include_first(&self, &first, err));
done:
    mt_strbuf_free(&first);
    free_loader(&self);
    if (st != MT_OK) mt_source_free(source);
    return st;
}

mt_status mt_source_load(const mt_spec *spec, mt_source *source, mt_error *err)
{
    return load(spec, spec->is_for_nvcc, source, err);
}

mt_status mt_source_load_for_host(const mt_spec *spec, mt_source *source, mt_error *err)
{
    return load(spec, true, source, err);
}

const mt_source_file *mt_source_file_of(const mt_source *source, const char *line)
{
    for (size_t i = 0; i < source->file_count; i++) {
        size_t length = strlen(source->files[i].name);
        if (strncmp(line, source->files[i].name, length) == 0 && line[length] == '(') return &source->files[i];
    }
    return NULL;
}

void mt_source_free(mt_source *source)
{
    for (size_t i = 0; i < source->file_count; i++) {
        MT_FREE_EACH(source->files[i].name, source->files[i].path, source->files[i].text);
    }
    mt_free(source->files);
    *source = (mt_source){ 0 };
}
