#include "tuner/space/source/visible.h"

#include <ctype.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tuner/base/alloc.h"
#include "tuner/base/file.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/text.h"
#include "tuner/space/source/directive.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/source/toolkit_asks.h"

enum { MOST_FILES = 1000, MOST_BYTES = 64 << 20 }; /* of headers: beyond, looking costs more than it saves */

struct known {
    char *name;
    bool is_seen;
};

struct header {
    char *path;
    char *text; /* NULL: its includes were followed, or it can't be read */
    dev_t device;
    ino_t inode; /* with the device: which file it is, however it is spelled */
};

struct mt_visible {
    mt_strbuf code;          /* of all files, without comments */
    bool sees_all;
    struct known *known;     /* names that were looked for */
    size_t known_count, known_capacity;
    const char *const *folders;
    size_t folder_count;
    struct header *headers;  /* that were read, in the order of their code */
    size_t header_count, header_capacity;
    mt_strbuf read;          /* their names and contents, hashed one by one */
    bool reads_more;         /* a macro names a header, or there are too many: the folders count as a whole */
    mt_hash digest;
    mt_toolkit_asks asks;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- comments ---- */

/* Raw strings and digit separators would need a lexer: their file keeps its comments. */
static bool is_plain(const char *text)
{
    if (strstr(text, "R\"")) return false;
    for (const char *at = text; (at = strchr(at, '\'')); at++) {
        if (at > text && isxdigit((unsigned char)at[-1]) && isxdigit((unsigned char)at[1]) && at[1] && at[2] != '\'') return false;
    }
    return true;
}

static const char *behind_comment(const char *at)
{
    if (at[1] == '/') return at + strcspn(at, "\n");
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* Literals stay: what is in them counts, and what looks like a comment in them is none. */
static void add_code(mt_strbuf *code, const char *text)
{
    bool is_plain_text = is_plain(text);
    char quote = 0;
    for (const char *at = text; *at;) {
        bool is_comment = is_plain_text && !quote && at[0] == '/' && (at[1] == '/' || at[1] == '*');
        if (is_comment) {
            at = behind_comment(at);
            mt_strbuf_add_char(code, ' ');
            continue;
        }
        if (quote && *at == '\\' && at[1]) mt_strbuf_add_char(code, *at++);
        else if (*at == quote || *at == '\n') quote = 0;
        else if (!quote && (*at == '"' || *at == '\'')) quote = *at;
        mt_strbuf_add_char(code, *at++);
    }
    mt_strbuf_add_char(code, '\n');
}

/* ---- includes ---- */

static bool was_read(const mt_visible *self, const char *path)
{
    for (size_t i = 0; i < self->header_count; i++) {
        if (strcmp(self->headers[i].path, path) == 0) return true;
    }
    return false;
}

static void add_to_digest(mt_strbuf *read, const char *name, const char *text, size_t length)
{
    mt_hash hash = mt_hash_bytes(text, length);
    mt_strbuf_addf(read, "%s %s\n", hash.hex, name);
}

/* The compiler would wait for the writer of a pipe for ever. */
static mt_status refuse_irregular(const char *path, mt_error *err)
{
    return MT_FAIL(err, MT_ERR_IO, "%s: is not a regular file; expected a header of the toolkit", path);
}

/* Takes the path; `name`: as it is known in its folder. */
static mt_status read_header(mt_visible *self, char *path, const char *name, mt_error *err)
{
    char *text = NULL;
    size_t length;
    mt_error ignored;
    struct header *headers = mt_grow(self->headers, self->header_count, &self->header_capacity, sizeof *headers);
    if (!headers) {
        mt_free(path);
        return mt_no_memory("macros of the source", err);
    }
    self->headers = headers;
    struct stat info = {0};
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        mt_status st = refuse_irregular(path, err);
        mt_free(path);
        return st;
    }
    bool is_read = mt_file_read(path, 0, &text, &length, &ignored) == MT_OK;
    if (is_read) add_to_digest(&self->read, name, text, length);
    if (is_read) add_code(&self->code, text);
    if (!is_read || self->header_count > MOST_FILES || self->code.length > MOST_BYTES) self->sees_all = self->reads_more = true;
    headers[self->header_count++] = (struct header){path, text, info.st_dev, info.st_ino};
    return self->code.failed || self->read.failed ? mt_no_memory("macros of the source", err) : MT_OK;
}

/* The header beside `neighbour`, which includes it by quotes, or in the first folder that has it, as for the compiler. */
static char *find_header(const mt_visible *self, const char *neighbour, const char *name)
{
    char *folder = neighbour ? mt_path_folder(neighbour) : NULL, *path = folder ? mt_path_join(folder, name) : NULL;
    mt_free(folder);
    for (size_t i = 0; i <= self->folder_count; i++) {
        if (path && mt_file_exists(path)) return path;
        mt_free(path);
        path = i < self->folder_count && self->folders[i] ? mt_path_join(self->folders[i], name) : NULL;
    }
    mt_free(path);
    return NULL;
}

/* What is found nowhere the compiler does not find either. `header`: the including one; NULL: the source. */
static mt_status follow(mt_visible *self, const char *header, const char *name, bool is_quoted, bool is_read, mt_error *err)
{
    char *path = find_header(self, is_quoted ? header : NULL, name);
    if (path && !was_read(self, path)) return read_header(self, path, name, err);
    if (!path) self->sees_all |= is_quoted && is_read && header;
    mt_free(path);
    return MT_OK;
}

static bool is_of_source(const mt_source *source, const char *name)
{
    for (size_t i = 0; i < source->file_count; i++) {
        if (strcmp(source->files[i].name, name) == 0) return true;
    }
    return false;
}

/* A header of the folders that goes on to the next of its name: all there are, since which the first one was is not kept. */
static mt_status follow_next(mt_visible *self, const char *name, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < self->folder_count && st == MT_OK; i++) {
        char *path = self->folders[i] ? mt_path_join(self->folders[i], name) : NULL;
        if (path && mt_file_exists(path) && !was_read(self, path)) st = read_header(self, path, name, err);
        else mt_free(path);
    }
    return st;
}

/* `header`: whose text it is; NULL: a file of the source. A macro that names a file of the source's own is followed there (source.c); here it may name any. */
static mt_status follow_text(mt_visible *self, const mt_source *source, const char *header, const char *text, mt_error *err)
{
    mt_directive_walk walk;
    mt_directive what;
    mt_status st = mt_directive_open(text, &walk, err);
    while (st == MT_OK && !self->reads_more && mt_directive_next(&walk, &what)) {
        if (what.kind == MT_DIRECTIVE_DEFINE || what.kind == MT_DIRECTIVE_UNDEFINE || (what.kind == MT_DIRECTIVE_ASK && header)) continue; /* what the toolkit's own macros ask for, its headers include too */
        if (!what.form) {
            self->reads_more = self->sees_all = true;
            continue;
        }
        char *name = mt_strndup(what.name, what.length);
        if (!name) st = mt_no_memory("macros of the source", err);
        else if (header && what.kind == MT_DIRECTIVE_INCLUDE_NEXT) st = follow_next(self, name, err);
        else if (header || !is_of_source(source, name)) st = follow(self, header, name, what.form == '"' && what.kind != MT_DIRECTIVE_INCLUDE_NEXT, what.kind != MT_DIRECTIVE_PROBE, err);
        mt_free(name);
    }
    mt_directive_close(&walk);
    return st;
}

/* The headers become more while they are walked over. */
static mt_status follow_includes(mt_visible *self, const mt_source *source, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < source->file_count && st == MT_OK; i++) st = follow_text(self, source, NULL, source->files[i].text, err);
    for (size_t i = 0; i < self->header_count && st == MT_OK; i++) {
        char *text = self->headers[i].text;
        self->headers[i].text = NULL;
        if (text) st = follow_text(self, source, self->headers[i].path, text, err);
        mt_free(text);
    }
    return st;
}

/* ---- the headers' digest ---- */

/* The paths of all files below a folder, without the folder; links to folders are not followed. */
static mt_status list_files(const char *folder, char ***paths, size_t *count, mt_error *err)
{
    mt_status st = MT_OK;
    char *roots[] = {(char *)folder, NULL};
    size_t capacity = 0, root_length = strlen(folder) + 1;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk && st == MT_OK && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_DEFAULT) st = refuse_irregular(entry->fts_path, err);
        if (entry->fts_info != FTS_F) continue;
        char *copy = mt_strdup(entry->fts_path + root_length), **added = copy ? MT_APPEND(*paths, *count, capacity) : NULL;
        if (added) *added = copy;
        else mt_free(copy), st = mt_no_memory("macros of the source", err);
    }
    if (walk) fts_close(walk);
    return st;
}

static mt_status read_folder(mt_visible *self, const char *folder, mt_error *err)
{
    char **paths = NULL;
    size_t count = 0;
    mt_status st = list_files(folder, &paths, &count, err);
    if (count) qsort(paths, count, sizeof *paths, mt_text_order);
    for (size_t i = 0; i < count; i++) {
        char *path = mt_path_join(folder, paths[i]), *text = NULL;
        size_t length;
        mt_error ignored;
        if (st == MT_OK && path && mt_file_read(path, 0, &text, &length, &ignored) == MT_OK) {
            add_to_digest(&self->read, paths[i], text, length);
            st = mt_toolkit_asks_add(&self->asks, text, err);
        }
        MT_FREE_EACH(text, path, paths[i]);
    }
    mt_free(paths);
    return st == MT_OK && self->read.failed ? mt_no_memory("macros of the source", err) : st;
}

static mt_status make_digest(mt_visible *self, const char *identity, mt_error *err)
{
    mt_status st = MT_OK;
    if (self->reads_more) mt_strbuf_clear(&self->read);
    if (identity) add_to_digest(&self->read, "", identity, strlen(identity));
    for (size_t i = 0; self->reads_more && i < self->folder_count; i++)
        if (self->folders[i]) MT_TRY(read_folder(self, self->folders[i], err));
    if (self->read.length) self->digest = mt_hash_bytes(self->read.text, self->read.length);
done:
    return st;
}

bool mt_visible_counts(const mt_visible *self, const char *path)
{
    struct stat info;
    if (self->reads_more || was_read(self, path)) return true;
    bool is_there = stat(path, &info) == 0, counts = false;
    for (size_t i = 0; i < self->header_count && is_there && !counts; i++) counts = self->headers[i].inode == info.st_ino && self->headers[i].device == info.st_dev;
    return counts;
}

char *const *mt_visible_asked(const mt_visible *self, size_t *count)
{
    *count = self->asks.macros.count;
    return self->asks.macros.items;
}

void mt_visible_forget_code(mt_visible *self)
{
    mt_strbuf_free(&self->code);
    self->sees_all = true;
}

const mt_hash *mt_visible_headers(const mt_visible *self)
{
    return &self->digest;
}

/* ---- deciding ---- */

mt_status mt_visible_create(const mt_source *source, const char *const *folders, size_t folder_count, const char *identity, mt_visible **visible, mt_error *err)
{
    mt_status st = MT_OK;
    mt_visible *self = mt_alloc(1, sizeof *self);
    if (!self) return mt_no_memory("macros of the source", err);
    self->folders = folders;
    self->folder_count = folder_count;
    for (size_t i = 0; i < source->file_count; i++) add_code(&self->code, source->files[i].text);
    if (self->code.failed) MT_LEAVE(mt_no_memory("macros of the source", err));
    self->sees_all = strstr(mt_strbuf_text(&self->code), "##") != NULL; /* of the toolkit's own pastings none makes a knob's name */
    size_t own = self->code.length;
    MT_TRY(follow_includes(self, source, err));
    MT_TRY(mt_toolkit_asks_add(&self->asks, mt_strbuf_text(&self->code) + own, err));
    self->sees_all |= self->reads_more;
    MT_TRY(make_digest(self, identity, err));
    *visible = self;
    self = NULL;
done:
    if (self) mt_visible_free(self);
    else (*visible)->folders = NULL;
    return st;
}

/* Looked for once: the names are few, the text is long. */
static bool is_seen(mt_visible *self, const char *name)
{
    for (size_t i = 0; i < self->known_count; i++) {
        if (strcmp(self->known[i].name, name) == 0) return self->known[i].is_seen;
    }
    bool found = mt_text_has_word(mt_strbuf_text(&self->code), name);
    struct known *known = mt_grow(self->known, self->known_count, &self->known_capacity, sizeof *known);
    char *copy = mt_strdup(name);
    if (known) self->known = known;
    if (known && copy) self->known[self->known_count++] = (struct known){copy, found};
    else mt_free(copy);
    return found;
}

static bool is_macro(const char *option)
{
    return strncmp(option, "-D", 2) == 0 && is_word(option[2]);
}

/* However the option defines its macro; "" where it defines none. */
static const char *value_of(const char *option)
{
    size_t length;
    const char *value = NULL;
    return mt_word_macro(option, &length, &value) && value ? value : "";
}

/* By the source, or by the value of one that is. */
static bool is_wanted(mt_visible *self, const mt_options *options, const bool *keeps, size_t which)
{
    const char *option = options->items[which];
    char *name = mt_strndup(option + 2, strcspn(option + 2, "=("));
    bool found = !name || is_seen(self, name);
    for (size_t i = 0; i < options->count && !found; i++) {
        if (keeps[i]) found = mt_text_has_word(value_of(options->items[i]), name);
    }
    mt_free(name);
    return found;
}

void mt_visible_filter(mt_visible *self, mt_options *options)
{
    bool *keeps = self->sees_all ? NULL : mt_alloc(options->count + 1, sizeof *keeps);
    size_t kept = 0;
    if (!keeps) return;
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t i = 0; i < options->count; i++) {
            if (keeps[i] || (is_macro(options->items[i]) && !is_wanted(self, options, keeps, i))) continue;
            keeps[i] = grows = true;
        }
    }
    size_t macros = options->macro_count;
    for (size_t i = 0; i < options->count; i++) {
        if (!keeps[i] && i < macros) options->macro_count--;
        if (keeps[i]) options->items[kept++] = options->items[i];
        else mt_free(options->items[i]);
    }
    options->count = kept;
    mt_free(keeps);
}

void mt_visible_free(mt_visible *self)
{
    if (!self) return;
    for (size_t i = 0; i < self->known_count; i++) mt_free(self->known[i].name);
    for (size_t i = 0; i < self->header_count; i++) {
        mt_free(self->headers[i].path);
        mt_free(self->headers[i].text);
    }
    mt_free(self->known);
    mt_free(self->headers);
    mt_strbuf_free(&self->code);
    mt_strbuf_free(&self->read);
    mt_toolkit_asks_free(&self->asks);
    mt_free(self);
}
