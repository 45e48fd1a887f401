#include "tuner/space/askers.h"

#include <ctype.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/option_words.h"
#include "tuner/space/split.h"

enum { DEEPEST = 8 /* macros that stand for macros */ };

static mt_status no_memory(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "source: out of memory");
}

/* ---- which macros ask ---- */

static mt_status add(mt_askers *askers, const mt_directive *macro, mt_error *err)
{
    char **grown = mt_realloc(askers->names, askers->count + 1, sizeof *grown), *name = mt_strndup(macro->name, macro->length);
    if (grown) askers->names = grown;
    if (!grown || !name) {
        mt_free(name);
        return no_memory(err);
    }
    grown[askers->count++] = name;
    return MT_OK;
}

static mt_status find_in(const char *text, mt_askers *askers, mt_error *err)
{
    mt_directive_walk walk;
    mt_directive what;
    mt_status st = mt_directive_open(text, &walk, err);
    for (mt_askers_know(askers, &walk); st == MT_OK && mt_directive_next(&walk, &what); mt_askers_know(askers, &walk))
        if (what.kind == MT_DIRECTIVE_DEFINE && !mt_directive_asks(&walk, what.name, what.length) && mt_directive_asks_in(&walk, what.rest)) st = add(askers, &what, err);
    mt_directive_close(&walk);
    return st;
}

mt_status mt_askers_find(const mt_source *source, mt_askers *askers, mt_error *err)
{
    mt_status st = MT_OK;
    bool is_asked = false;
    for (size_t i = 0; i < source->file_count; i++) is_asked |= strcasestr(source->files[i].text, "has_include") != NULL;
    for (size_t before = SIZE_MAX; is_asked && before != askers->count && st == MT_OK;) {
        before = askers->count;
        for (size_t i = 0; i < source->file_count && st == MT_OK; i++) st = find_in(source->files[i].text, askers, err);
    }
    return st;
}

void mt_askers_know(const mt_askers *askers, mt_directive_walk *walk)
{
    walk->askers = askers->names;
    walk->asker_count = askers->count;
}

void mt_askers_free(mt_askers *askers)
{
    mt_strings_free(askers->names, askers->count);
    *askers = (mt_askers){0};
}

/* ---- what they ask for ---- */

typedef struct checker {
    const mt_spec *spec;
    const mt_source *source;
    int depth;
    mt_status st;
    mt_error *err;
} checker;

static bool is_name_only(checker *self, const char *text, char end, const char *parameters);

static bool is_same(const char *word, size_t length, const char *other, size_t other_length)
{
    return length == other_length && strncmp(word, other, length) == 0;
}

/* Of the macro whose name ends at `parameters`, "(x, y) …". */
static bool is_parameter(const char *parameters, const char *word, size_t length)
{
    if (!parameters || *parameters != '(') return false;
    if (is_same(word, length, "__VA_ARGS__", 11)) return true;
    mt_directive one;
    for (const char *at = parameters + 1; *(at = mt_directive_blanks(at)) && *at != ')' && *at != '\n'; at = one.length ? one.rest : at + 1) {
        one.length = 0;
        if (isalpha((unsigned char)*at) || *at == '_') mt_directive_name(at, &one);
        if (one.length && is_same(one.name, one.length, word, length)) return true;
    }
    return false;
}

/* Takes what stands behind a macro's name in one of its definitions: whether it stands for names alone. */
static bool definition(checker *self, const char *rest)
{
    return *rest != '(' && is_name_only(self, rest, '\n', NULL);
}

static bool option_definitions(checker *self, const char *options, const mt_directive *word, size_t *count)
{
    mt_word option;
    bool are_names = true;
    while (self->st == MT_OK && (self->st = mt_word_next(&options, &option, self->err)) == MT_OK && option.kind != MT_WORD_END) {
        size_t length;
        const char *value = NULL, *name = mt_word_macro(option.text, &length, &value);
        if (name && value && is_same(name, length, word->name, word->length)) {
            ++*count;
            are_names = are_names && definition(self, value);
        }
        mt_free(option.text);
    }
    return are_names;
}

static bool text_definitions(checker *self, const char *text, const mt_directive *word, size_t *count)
{
    mt_directive_walk walk;
    mt_directive what;
    bool are_names = true;
    self->st = mt_directive_open(text, &walk, self->err);
    while (self->st == MT_OK && mt_directive_next(&walk, &what)) {
        if (what.kind != MT_DIRECTIVE_DEFINE || !is_same(what.name, what.length, word->name, word->length)) continue;
        ++*count;
        are_names = are_names && definition(self, what.rest);
    }
    mt_directive_close(&walk);
    return are_names;
}

/* All definitions of the word stand for names alone; *count: how many there are. */
static bool definitions(checker *self, const mt_directive *word, size_t *count)
{
    bool are_names = ++self->depth <= DEEPEST;
    *count = 0;
    for (size_t i = 0; i < self->source->file_count && self->st == MT_OK && are_names; i++) are_names = text_definitions(self, self->source->files[i].text, word, count);
    are_names = are_names && option_definitions(self, self->spec->options, word, count);
    for (size_t i = 0; i < self->spec->algorithm_count && are_names; i++) are_names = option_definitions(self, self->spec->algorithms[i].options, word, count);
    self->depth--;
    return are_names;
}

/* A word that no macro of the user's has stays what it is; __FILE__ is what a #line says. */
static bool is_name_of_one(checker *self, const mt_directive *word, const char *parameters)
{
    size_t count;
    if (is_same(word->name, word->length, "__FILE__", 8) || is_same(word->name, word->length, "__BASE_FILE__", 13)) return false;
    return is_parameter(parameters, word->name, word->length) || definitions(self, word, &count);
}

/* <DIR/x.h> in a macro, or in what one is given, is more than a name where DIR is a macro. */
static bool stays(checker *self, const mt_directive *file, const char *parameters)
{
    mt_directive word;
    for (const char *at = file->name, *end = at + file->length; at < end; at = word.length ? word.rest : at + 1) {
        size_t count = 0;
        word.length = 0;
        if (!isalpha((unsigned char)*at) && *at != '_') continue;
        mt_directive_name(at, &word);
        if (is_parameter(parameters, word.name, word.length) || !definitions(self, &word, &count) || count) return false;
    }
    return true;
}

/* Up to `end`, ")" or the line's end, there are but names, words that stand for names, and numbers: no # and no call makes another name of them. */
static bool is_name_only(checker *self, const char *text, char end, const char *parameters)
{
    mt_directive what;
    for (;;) {
        text = mt_directive_blanks(text);
        bool ends_line = !*text || *text == '\n' || (text[0] == '/' && text[1] == '/');
        if (ends_line || *text == end) return ends_line == (end == '\n');
        if (*text == ',' || isdigit((unsigned char)*text)) {
            text += *text == ',' ? 1 : strspn(text, "0123456789");
            continue;
        }
        if (!mt_directive_name(text, &what) || memmem(what.name, what.length, "${", 2) || mt_directive_leads_out(what.name, what.length)) return false;
        if (what.form == '<' && !stays(self, &what, parameters)) return false;
        if (!what.form && !is_name_of_one(self, &what, parameters)) return false;
        text = what.rest;
    }
}

static bool is_in_line(const char *line, const char *at)
{
    return line && !memchr(line, '\n', (size_t)(at - line));
}

static mt_status refuse(const mt_source_file *file, const mt_directive *what, mt_error *err)
{
    int line = 1;
    for (const char *at = file->text; at < what->start; at++) line += *at == '\n';
    const char *shown = what->kind == MT_DIRECTIVE_ASK ? what->name : what->name - 1;
    return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: %.*s: the tool expands no macros, so that the file that this asks for may not be in the kernel's key; expected a name, or a macro that stands for one without ..", file->path,
                   line, (int)strcspn(shown, "\n"), shown);
}

static mt_status check_text(checker *self, const mt_source_file *file, const mt_askers *askers)
{
    mt_directive_walk walk;
    mt_directive what;
    const char *parameters = NULL; /* of the last macro that was defined */
    self->st = mt_directive_open(file->text, &walk, self->err);
    mt_askers_know(askers, &walk);
    while (self->st == MT_OK && mt_directive_next(&walk, &what)) {
        bool is_good = true, is_in_macro = is_in_line(parameters, what.rest);
        if (what.kind == MT_DIRECTIVE_DEFINE) parameters = what.rest;
        if (what.kind == MT_DIRECTIVE_ASK) is_good = is_name_only(self, what.rest, ')', is_in_macro ? parameters : NULL);
        if (what.kind == MT_DIRECTIVE_PROBE && what.form == '<' && is_in_macro) is_good = stays(self, &what, parameters);
        if (!is_good && self->st == MT_OK) self->st = refuse(file, &what, self->err);
    }
    mt_directive_close(&walk);
    return self->st;
}

mt_status mt_askers_check(const mt_spec *spec, const mt_source *source, const mt_askers *askers, mt_error *err)
{
    checker self = {.spec = spec, .source = source, .err = err};
    for (size_t i = 0; i < source->file_count && self.st == MT_OK; i++)
        if (askers->count || strcasestr(source->files[i].text, "has_include")) check_text(&self, &source->files[i], askers);
    return self.st;
}
