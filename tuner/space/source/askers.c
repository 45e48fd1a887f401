#include "tuner/space/source/askers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/source/option_words.h"
#include "tuner/space/ini/split.h"

enum { MOST_ASKERS = 100, MOST_MACROS = 1000 /* in what is asked for once */ };

/* ---- definitions ---- */

static mt_status add_definition(mt_askers *self, const char *name, size_t length, const char *body, bool is_of_options, mt_error *err)
{
    mt_definition *one = MT_APPEND(self->definitions, self->definition_count, self->definition_capacity);
    if (!one) return mt_no_memory("source", err);
    *one = (mt_definition){mt_strndup(name, length), mt_strndup(body, (size_t)(mt_directive_line_end(body) - body)), is_of_options};
    return one->name && one->body ? MT_OK : mt_no_memory("source", err);
}

static mt_status add_of_text(mt_askers *self, const char *text, mt_error *err)
{
    mt_directive_walk walk;
    mt_directive what;
    mt_status st = mt_directive_open(text, &walk, err);
    while (st == MT_OK && mt_directive_next(&walk, &what))
        if (what.kind == MT_DIRECTIVE_DEFINE) st = add_definition(self, what.name, what.length, what.rest, false, err);
    mt_directive_close(&walk);
    return st;
}

static mt_status add_of_options(mt_askers *self, const char *options, mt_error *err)
{
    mt_word word;
    mt_status st;
    while ((st = mt_word_next(&options, &word, err)) == MT_OK && word.kind != MT_WORD_END) {
        size_t length;
        const char *value = NULL, *name = mt_word_macro(word.text, &length, &value);
        if (name && value) st = add_definition(self, name, length, value, true, err);
        mt_free(word.text);
        if (st != MT_OK) return st;
    }
    return st;
}

/* A knob's values define its macro, one at a time (macros.c). None may ask by itself, wherever it lands: behind -D in the options, as the macro or in another one. */
static mt_status add_of_knob(mt_askers *self, const mt_spec *spec, const mt_param *param, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; param->is_string && i < param->value_count && st == MT_OK; i++) {
        if (strcasestr(param->strings[i], "has_include"))
            return MT_FAIL(err, MT_ERR_SPEC, "%s: knob %s: value %s: the tool can't see which file this asks for; expected it in the source", spec->path, param->name, param->strings[i]);
        mt_strbuf value = {0};
        mt_strbuf_addf(&value, "%s%s%s", param->is_verbatim ? "" : param->macro, param->is_verbatim ? "" : "_", param->strings[i]);
        st = add_definition(self, param->macro, strlen(param->macro), mt_strbuf_text(&value), true, err);
        mt_strbuf_free(&value);
    }
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const mt_definition *)a)->name, ((const mt_definition *)b)->name);
}

static mt_status collect(mt_askers *self, const mt_spec *spec, const mt_source *source, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < source->file_count; i++) MT_TRY(add_of_text(self, source->files[i].text, err));
    MT_TRY(add_of_options(self, spec->options, err));
    for (size_t i = 0; i < spec->algorithm_count; i++) MT_TRY(add_of_options(self, spec->algorithms[i].options, err));
    for (size_t i = 0; i < spec->param_count; i++) MT_TRY(add_of_knob(self, spec, &spec->params[i], err));
    if (self->definition_count) qsort(self->definitions, self->definition_count, sizeof *self->definitions, by_name);
done:
    return st;
}

const mt_definition *mt_askers_definitions(const mt_askers *self, const char *name, size_t length, size_t *count)
{
    size_t low = 0, high = self->definition_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strncmp(self->definitions[middle].name, name, length) < 0) low = middle + 1;
        else high = middle;
    }
    for (*count = 0; low + *count < self->definition_count && strlen(self->definitions[low + *count].name) == length && strncmp(self->definitions[low + *count].name, name, length) == 0;) ++*count;
    return &self->definitions[low];
}

/* ---- which macros ask ---- */

static mt_status add_asker(mt_askers *self, const char *name, mt_error *err)
{
    char **grown = mt_realloc(self->names, self->count + 1, sizeof *grown), *copy = mt_strdup(name);
    if (grown) self->names = grown;
    if (!grown || !copy) {
        mt_free(copy);
        return mt_no_memory("source", err);
    }
    grown[self->count++] = copy;
    return self->count <= MOST_ASKERS ? MT_OK : MT_FAIL(err, MT_ERR_SPEC, "%s: more than %d macros ask for files by __has_include", name, MOST_ASKERS);
}

/* Adds the macros that are made of those from `first` to `end`, and, as all are, of what has has_include in its name. */
static mt_status add_askers(mt_askers *self, size_t first, size_t end, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t i = 0; i < self->definition_count && st == MT_OK; i++) {
        const mt_definition *one = &self->definitions[i];
        mt_directive_walk fresh = {.askers = end ? self->names + first : NULL, .asker_count = end - first}, all = {.askers = self->names, .asker_count = self->count};
        if (mt_directive_asks_in(&fresh, one->body) && !mt_directive_asks(&all, one->name, strlen(one->name))) st = add_asker(self, one->name, err);
    }
    return st;
}

/* The word may go on in the next line. */
static mt_status look_for_askers(const mt_source *source, bool *asks, mt_error *err)
{
    mt_status st = MT_OK;
    *asks = false;
    for (size_t i = 0; i < source->file_count && !*asks && st == MT_OK; i++) {
        mt_directive_walk walk;
        st = mt_directive_open(source->files[i].text, &walk, err);
        *asks = st == MT_OK && strcasestr(walk.at, "has_include");
        mt_directive_close(&walk);
    }
    return st;
}

mt_status mt_askers_find(const mt_spec *spec, const mt_source *source, mt_askers *askers, mt_error *err)
{
    mt_askers_free(askers);
    bool asks = false;
    mt_status st = collect(askers, spec, source, err);
    if (st == MT_OK) st = look_for_askers(source, &asks, err);
    for (size_t first = 0, end = 0; st == MT_OK && (asks || first < end); asks = false) {
        st = add_askers(askers, first, end, err);
        first = end;
        end = askers->count;
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
    for (size_t i = 0; i < askers->definition_count; i++) {
        mt_free(askers->definitions[i].name);
        mt_free(askers->definitions[i].body);
    }
    mt_free(askers->definitions);
    mt_strings_free(askers->names, askers->count);
    *askers = (mt_askers){0};
}

/* ---- what they ask for ---- */

static bool is_name_only(const mt_askers *self, const char *text, char end, const char *parameters, int *looked_up);
static bool has_open(const mt_askers *self, const char *body, int *looked_up);

static bool is_same(const char *word, size_t length, const char *other, size_t other_length)
{
    return length == other_length && strncmp(word, other, length) == 0;
}

/* All definitions of the word stand for names alone. A word that no macro of the user's has stays what it is; __FILE__ is what a #line says. */
static bool stands_for_names(const mt_askers *self, const mt_directive *word, const char *parameters, int *looked_up)
{
    size_t count;
    if (is_same(word->name, word->length, "__FILE__", 8) || is_same(word->name, word->length, "__BASE_FILE__", 13)) return false;
    if (mt_directive_is_parameter(parameters, word->name, word->length)) return true;
    const mt_definition *all = mt_askers_definitions(self, word->name, word->length, &count);
    for (size_t i = 0; i < count; i++)
        if (++*looked_up > MOST_MACROS || all[i].body[0] == '(' || !is_name_only(self, all[i].body, '\n', NULL, looked_up)) return false;
    return true;
}

/* <DIR/x.h> in a macro, or in what one is given, is more than a name where DIR is a macro. */
static bool stays(const mt_askers *self, const mt_directive *file, const char *parameters)
{
    mt_directive word;
    if (memchr(file->name, '"', file->length)) return false; /* a comparison, and a name in it */
    for (const char *at = file->name, *end = at + file->length; at < end; at = word.length ? word.rest : at + 1) {
        size_t count;
        word.length = 0;
        if (!isalpha((unsigned char)*at) && *at != '_') continue;
        mt_directive_name(at, &word);
        mt_askers_definitions(self, word.name, word.length, &count);
        if (count || mt_directive_is_parameter(parameters, word.name, word.length)) return false;
    }
    return true;
}

/* Up to `end`, ")" or the line's end, there are but names, words that stand for names, and numbers: no # and no call makes another name of them. */
static bool is_name_only(const mt_askers *self, const char *text, char end, const char *parameters, int *looked_up)
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
        if (!what.form && !stands_for_names(self, &what, parameters, looked_up)) return false;
        text = what.rest;
    }
}

static mt_status refuse_at(const mt_source_file *file, const char *place, const char *shown, int length, const char *reason, const char *expected, mt_error *err)
{
    int line = 1;
    for (const char *at = file->text; at < place; at++) line += *at == '\n';
    return MT_FAIL(err, MT_ERR_SPEC, "%s:%d: %.*s: %s, so that the file that this asks for may not be in the kernel's key; expected %s", file->path, line, length, shown, reason, expected);
}

static mt_status refuse(const mt_source_file *file, const mt_directive *what, const char *expected, mt_error *err)
{
    const char *shown = what->kind == MT_DIRECTIVE_PROBE ? what->name - 1 : what->name;
    return refuse_at(file, what->start, shown, (int)strcspn(shown, "\n"), "the tool expands no macros", expected, err);
}

/* ---- what asks unseen ---- */

/* Without parentheses behind it the word may be handed on to where some are: __has_include itself, a macro with parameters, and what stands for one of them. Of words without a definition in the source
 * those of the compiler and the toolkit count, which begin with _: a has_included is somebody's variable. */
static bool is_open(const mt_askers *self, const char *word, size_t length, int *looked_up)
{
    const mt_directive_walk own = {.askers = self->names, .asker_count = self->count};
    size_t count;
    const mt_definition *all = mt_askers_definitions(self, word, length, &count);
    if (!mt_directive_asks(&own, word, length)) return false;
    bool is_found = count == 0 && *word == '_';
    for (size_t i = 0; i < count && !is_found; i++) is_found = all[i].body[0] == '(' || ++*looked_up > MOST_MACROS || has_open(self, all[i].body, looked_up);
    return is_found;
}

/* With parentheses behind it, a macro that makes such a word: what that asks for stands in the next ones. */
static bool makes_open(const mt_askers *self, const char *word, size_t length, int *looked_up)
{
    size_t count;
    bool is_found = false;
    const mt_definition *all = mt_askers_definitions(self, word, length, &count);
    for (size_t i = 0; i < count && !is_found; i++) is_found = all[i].body[0] == '(' && has_open(self, all[i].body, looked_up);
    return is_found;
}

static bool has_open(const mt_askers *self, const char *body, int *looked_up)
{
    mt_directive_walk walk = {.text = body, .at = body, .is_inside = true, .tells_words = true}; /* a body is one line already */
    mt_directive what;
    mt_askers_know(self, &walk);
    while (mt_directive_next(&walk, &what))
        if (what.kind == MT_DIRECTIVE_WORD && is_open(self, what.name, what.length, looked_up)) return true;
    return false;
}

/* `before`: the word in front, "defined", as in `defined(__has_include)`, or that of #ifdef. */
static bool is_only_looked_for(const mt_directive *before, const mt_directive *word)
{
    static const char *const words[] = {"defined", "ifdef", "ifndef", "elifdef", "elifndef"};
    const char *between = before->rest;
    bool is_there = false;
    for (size_t i = 0; before->name && i < sizeof words / sizeof *words; i++) is_there |= is_same(before->name, before->length, words[i], strlen(words[i]));
    while (is_there && between < word->name && strchr(" \t(", *between)) between++;
    return is_there && between == word->name;
}

/* The words that `##` could make of pieces, and which of their beginnings the words of the source make. */
static const char pasted[] = "__has_include_next";
enum { PASTED = sizeof pasted - 1, PASTED_SHORT = PASTED - 5 };

typedef struct pieces {
    uint32_t ends[PASTED]; /* of pieces that begin there: a bit each */
} pieces;

static void add_piece(pieces *self, const char *word, size_t length)
{
    for (size_t i = 0; i + length <= PASTED; i++)
        if (strncmp(pasted + i, word, length) == 0 && !(i == 0 && length >= PASTED_SHORT)) self->ends[i] |= UINT32_C(1) << (i + length);
}

static void add_pieces_of(pieces *self, const char *body)
{
    mt_directive_walk walk = {.text = body, .at = body, .is_inside = true, .tells_words = true};
    mt_directive what;
    while (mt_directive_next(&walk, &what))
        if (what.kind == MT_DIRECTIVE_WORD) add_piece(self, what.name, what.length);
}

static bool make_the_word(const pieces *self)
{
    uint32_t reached = 1;
    for (size_t i = 0; i < PASTED; i++)
        if (reached >> i & 1) reached |= self->ends[i];
    return reached >> PASTED & 1 || reached >> PASTED_SHORT & 1;
}

static mt_status check_pieces(const mt_source *source, const mt_askers *self, mt_error *err)
{
    pieces all = {{0}};
    mt_status st = MT_OK;
    for (size_t i = 0; i < self->definition_count; i++)
        if (self->definitions[i].is_of_options) add_pieces_of(&all, self->definitions[i].body);
    for (size_t i = 0; i < source->file_count && st == MT_OK; i++) {
        mt_directive_walk walk;
        mt_directive what;
        st = mt_directive_open(source->files[i].text, &walk, err);
        walk.tells_words = true;
        while (st == MT_OK && mt_directive_next(&walk, &what)) {
            if (what.kind == MT_DIRECTIVE_WORD) add_piece(&all, what.name, what.length);
            if (what.kind == MT_DIRECTIVE_WORD && make_the_word(&all)) st = refuse(&source->files[i], &what, "__has_include written out, and not pasted of words of the source, of which this is one", err);
        }
        mt_directive_close(&walk);
    }
    return st;
}

/* ---- the check ---- */

static mt_status check_text(const mt_askers *self, const mt_source_file *file, mt_error *err)
{
    mt_directive_walk walk;
    mt_directive what, before = {0};
    const char *parameters = NULL, *end = NULL; /* of the last macro that was defined */
    mt_status st = mt_directive_open(file->text, &walk, err);
    mt_askers_know(self, &walk);
    walk.tells_words = true;
    while (st == MT_OK && mt_directive_next(&walk, &what)) {
        int looked_up = 0;
        bool is_good = true, is_in_macro = end && what.rest <= end;
        const char *expected = "a name, or a macro that stands for one without ..";
        if (what.kind == MT_DIRECTIVE_DEFINE) end = mt_directive_line_end(parameters = what.rest);
        if (what.kind == MT_DIRECTIVE_ASK) is_good = !makes_open(self, what.name, what.length, &looked_up) && is_name_only(self, what.rest, ')', is_in_macro ? parameters : NULL, &looked_up);
        if (what.kind == MT_DIRECTIVE_PROBE && what.form == '<' && is_in_macro) is_good = stays(self, &what, parameters);
        if (what.kind == MT_DIRECTIVE_WORD && !is_in_macro) {
            is_good = !is_open(self, what.name, what.length, &looked_up) || is_only_looked_for(&before, &what);
            expected = "the file's name in parentheses behind it";
        }
        if (!is_good) st = refuse(file, &what, expected, err);
        before = what;
    }
    mt_directive_close(&walk);
    return st;
}

/* ---- texts that standards read differently ---- */

/* Which of them the options ask for. A text that is no plain -std=c++17 may be any: a knob's, or a word of another option. */
static void find_standard(const char *options, bool *may_have_trigraphs, bool *may_lack_separators)
{
    while ((options = strstr(options, "std"))) {
        options += 3;
        options += strspn(options, "= \t\"'");
        bool is_new = strncmp(options, "c++17", 5) == 0 || strncmp(options, "c++2", 4) == 0;
        *may_have_trigraphs |= !is_new;
        *may_lack_separators |= !is_new && strncmp(options, "c++14", 5) != 0;
    }
}

/* Of the text: what the standard reads otherwise than this file does; NULL: nothing. */
static const char *find_doubtful(const char *text, bool has_trigraphs, bool lacks_separators)
{
    for (const char *at = text; *at; at++) {
        if (has_trigraphs && at[0] == '?' && at[1] == '?' && at[2] && strchr("=/'", at[2])) return at;
        if (lacks_separators && isxdigit((unsigned char)at[0]) && at[1] == '\'' && (isalnum((unsigned char)at[2]) || at[2] == '_')) return at;
    }
    return NULL;
}

static mt_status check_standard(const mt_spec *spec, const mt_source *source, bool asks, mt_error *err)
{
    bool has_trigraphs = false, lacks_separators = false;
    find_standard(spec->options, &has_trigraphs, &lacks_separators);
    for (size_t i = 0; i < spec->algorithm_count; i++) find_standard(spec->algorithms[i].options, &has_trigraphs, &lacks_separators);
    for (size_t i = 0; i < source->file_count; i++) {
        const char *at = find_doubtful(source->files[i].text, has_trigraphs, lacks_separators && asks);
        if (at) return refuse_at(&source->files[i], at, at, 3, "what -std asks for reads this as other letters", "-std=c++17 or later, or a source without it", err);
    }
    return MT_OK;
}

mt_status mt_askers_check(const mt_spec *spec, const mt_source *source, const mt_askers *askers, mt_error *err)
{
    bool asks = false;
    mt_status st = look_for_askers(source, &asks, err);
    if (st == MT_OK) st = check_standard(spec, source, asks, err);
    if (st == MT_OK) st = check_pieces(source, askers, err);
    for (size_t i = 0; i < source->file_count && st == MT_OK && asks; i++) st = check_text(askers, &source->files[i], err);
    return st;
}
