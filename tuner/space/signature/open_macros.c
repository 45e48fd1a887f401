#include "tuner/space/signature/open_macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/signature/signature_code.h"

enum { DEEPEST = 32, MOST_NAMES = 4096 /* a source has a few hundred */, MOST_PARAMETERS = 16 };

/* What is known of a name so far. */
typedef struct name {
    mt_open_macro macro;
    bool is_declared;  /* as a macro, or as something that is none */
    bool is_used;      /* as a value; conditions do not count: there a macro that is not defined is 0 */
    size_t alias;      /* 1 + the name that it stands for, "#define CACHE read_only"; 0: none */
    size_t region;     /* of `#ifndef GUARD` that gave it a value; 0: none */
} name;

/* An open #if. */
typedef struct region {
    mt_code_word guard; /* of #ifndef */
    size_t id, defines;
    bool has_else, has_other; /* a definition that is no number */
} region;

typedef struct reader {
    name *names; size_t count, capacity;
    region regions[DEEPEST]; size_t depth, region_count;
    mt_code_word parameters[MOST_PARAMETERS]; size_t parameter_count; /* of the macro whose body is read */
    const char *others;
    char guard[MT_OPEN_MACRO_NAME];
} reader;

static bool is_one_of(mt_code_word word, const char *const *words)
{
    for (; *words; words++)
        if (mt_code_is(word, *words)) return true;
    return false;
}

static bool is_number(mt_code_word word)
{
    return word.length && *word.at >= '0' && *word.at <= '9';
}

/* Whether people write macros like this: in capitals, or with an underscore. Names that belong to languages, types and headers are none. */
static bool may_be_macro(mt_code_word word)
{
    static const char *const taken[] = {"NULL", "NAN", "INFINITY", "HUGE_VAL", "HUGE_VALF", "EOF", "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "static_assert", "thread_local", "nv_bfloat16", "nv_bfloat162",
                                        "cooperative_groups", "size_t", "ptrdiff_t", NULL};
    static const char *const ends[] = {"8_t", "16_t", "32_t", "64_t", "ptr_t", "_MAX", "_MIN", "_EPSILON", "_DIG"}, *const begins[] = {"__", "CUDA", "CUDART_", "cuda", "M_", "FLT_", "DBL_", "defined"};
    bool is_capital = true, has_underscore = false;
    if (!mt_code_is_name(word) || word.length < 2 || word.length >= MT_OPEN_MACRO_NAME || is_one_of(word, taken)) return false;
    for (size_t i = 0; i < word.length; i++) {
        is_capital = is_capital && !(word.at[i] >= 'a' && word.at[i] <= 'z');
        has_underscore = has_underscore || word.at[i] == '_';
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (word.length > strlen(ends[i]) && strncmp(word.at + word.length - strlen(ends[i]), ends[i], strlen(ends[i])) == 0) return false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(word.at, begins[i], strlen(begins[i])) == 0) return false;
    return is_capital || has_underscore;
}

/* NULL: none that may be a macro, one of the parameters, or memory ran out. */
static name *find(reader *r, mt_code_word word)
{
    if (!may_be_macro(word)) return NULL;
    for (size_t i = 0; i < r->parameter_count; i++)
        if (r->parameters[i].length == word.length && strncmp(r->parameters[i].at, word.at, word.length) == 0) return NULL;
    for (size_t i = 0; i < r->count; i++)
        if (mt_code_is(word, r->names[i].macro.name)) return &r->names[i];
    name *added = r->count < MOST_NAMES ? MT_APPEND(r->names, r->count, r->capacity) : NULL;
    if (!added) return NULL;
    *added = (name){.macro.value = -1};
    snprintf(added->macro.name, sizeof added->macro.name, "%.*s", (int)word.length, word.at);
    added->is_declared = mt_text_has_word(r->others, added->macro.name);
    return added;
}

/* ---- code ---- */

/* Whether a name behind `before` (the last word first) and in front of `at` is something else than a value that is read: a type, a function, an array, a member, a variable that is declared or assigned. */
static bool is_no_value(const mt_code_word before[2], const char *at, bool in_declaration)
{
    static const char *const values[] = {"return", "case", "else", "do", "sizeof", NULL}, *const others[] = {"[", "(", ".", "{", NULL}, *const listed[] = {",", ";", "=", "[", "(", "{", ")", NULL};
    mt_code_word next = mt_code_next(&at);
    char second = *at;
    if (mt_code_is_name(before[0]) && !is_one_of(before[0], values)) return true; /* `int x` */
    if (mt_code_is_name(next) || is_one_of(next, others)) return true;            /* `T x`, `f(`, `a[` */
    if (mt_code_is(before[0], ".") || (mt_code_is(before[0], ">") && mt_code_is(before[1], "-")) || (mt_code_is(before[0], ":") && mt_code_is(before[1], ":"))) return true;
    if (mt_code_is(next, "=")) return second != '=';
    if (next.length && strchr("+-*/|&^%", *next.at) && second == '=') return true;
    if (next.length && strchr("+-:", *next.at) && second == *next.at) return true; /* `x++`, `n::` */
    if (mt_code_is(next, "-") && second == '>') return true;
    return in_declaration && mt_code_is(before[0], ",") && is_one_of(next, listed);
}

/* Statements. In one that begins with two names, such as a type and a variable, further variables stand behind commas; in the braces of an enum all names are declared. */
static void read_code(reader *r, const char *at)
{
    mt_code_word before[2] = {{"", 0}, {"", 0}};
    bool declares[DEEPEST] = {false}, is_enum = false;
    size_t depth = 0, angles = 0; /* of arguments of templates, where commas declare nothing */
    for (mt_code_word word; (word = mt_code_next(&at)).length;) {
        bool opens = strchr("({[", *word.at) != NULL, closes = strchr(")}]", *word.at) != NULL;
        if (closes && depth) depth--;
        if (strchr(";{}", *word.at)) declares[depth] = false, angles = 0;
        if (*word.at == '<' && mt_code_is_name(before[0])) angles++;
        if (*word.at == '>' && angles) angles--;
        if (opens && depth + 1 < DEEPEST) declares[++depth] = false;
        if (strchr(";}", *word.at)) is_enum = false;
        if (mt_code_is(word, "enum")) is_enum = true;
        if (mt_code_is_name(word)) {
            declares[depth] = declares[depth] || (mt_code_is_name(before[0]) && !mt_code_is(before[0], "return"));
            name *found = find(r, word);
            if (found && (is_enum || is_no_value(before, at, declares[depth] && !angles))) found->is_declared = true;
            else if (found) found->is_used = true;
        }
        before[1] = before[0];
        before[0] = word;
    }
}

/* ---- directives ---- */

/* A number alone. */
static long number_of(const char *at)
{
    char *behind;
    mt_code_word word = mt_code_next(&at);
    if (!is_number(word)) return -1;
    long value = strtol(word.at, &behind, 10);
    return behind == at && !mt_code_next(&at).length && value < 65536 ? value : -1;
}

static void read_define(reader *r, const char *at)
{
    mt_code_word defined = mt_code_next(&at);
    name *found = find(r, defined);
    long value = number_of(at);
    region *inner = r->depth && r->depth <= DEEPEST ? &r->regions[r->depth - 1] : NULL;
    bool is_own = found && inner && mt_code_is(inner->guard, found->macro.name);
    if (found && is_own && value >= 0) found->macro.value = value;
    else if (found) found->is_declared = true;
    if (inner) inner->defines++, inner->has_other = inner->has_other || value < 0 || !found;
    if (found && inner && inner->guard.length && !is_own && value >= 0) found->region = inner->id, found->macro.value = value;
    if (*at == '(') {
        mt_code_next(&at);
        for (mt_code_word word; (word = mt_code_next(&at)).length && *word.at != ')';)
            if (mt_code_is_name(word) && r->parameter_count < MOST_PARAMETERS) r->parameters[r->parameter_count++] = word;
    }
    const char *look = at;
    mt_code_word first = mt_code_next(&look);
    size_t own = found ? (size_t)(found - r->names) : 0;
    name *stands_for = found && !mt_code_next(&look).length ? find(r, first) : NULL;
    if (stands_for) r->names[own].alias = (size_t)(stands_for - r->names) + 1;
    read_code(r, at);
    r->parameter_count = 0;
}

static void add_compared(name *found, long value)
{
    mt_open_macro *macro = &found->macro;
    size_t place = 0;
    while (place < macro->compared_count && macro->compared[place] < value) place++;
    if ((place < macro->compared_count && macro->compared[place] == value) || macro->compared_count == MT_OPEN_MACRO_COMPARED) return;
    memmove(macro->compared + place + 1, macro->compared + place, (macro->compared_count++ - place) * sizeof *macro->compared);
    macro->compared[place] = value;
}

/* What a line that follows a condition begins with, where it says what a type is. */
static bool chooses_type(const char *at)
{
    static const char *const types[] = {"float", "double", "half", "__half", "__nv_bfloat16", "int", "unsigned", "long", "short", "char", NULL};
    mt_code_word word = mt_code_next(&at);
    if (mt_code_is(word, "typedef") || mt_code_is(word, "using")) return true;
    if (!mt_code_is(word, "#") || !mt_code_is(mt_code_next(&at), "define")) return false;
    mt_code_next(&at);
    return is_one_of(mt_code_next(&at), types);
}

/* What the source asks for by #ifdef or defined() may be left out. */
static void note_optional(reader *r, mt_code_word word)
{
    name *found = find(r, word);
    if (found) found->is_declared = true;
}

/* Of #if and #elif: NAME == NUMBER. */
static void read_condition(reader *r, const char *at, const char *next)
{
    bool is_of_types = chooses_type(next);
    for (mt_code_word word; (word = mt_code_next(&at)).length;) {
        const char *look = at;
        if (mt_code_is(word, "defined")) {
            if (mt_code_is(word = mt_code_next(&at), "(")) word = mt_code_next(&at);
            note_optional(r, word);
            continue;
        }
        name *found = find(r, word);
        if (!found) continue;
        if (found->alias) found = &r->names[found->alias - 1];
        found->macro.is_of_types = found->macro.is_of_types || is_of_types;
        if (!mt_code_is(mt_code_next(&look), "=") || !mt_code_is(mt_code_next(&look), "=")) continue;
        mt_code_word number = mt_code_next(&look);
        if (is_number(number)) add_compared(found, strtol(number.at, NULL, 10));
    }
}

static void open_region(reader *r, mt_code_word guard)
{
    if (r->depth < DEEPEST) r->regions[r->depth] = (region){.guard = guard, .id = ++r->region_count};
    r->depth++;
}

/* `#ifndef kernel_tuner` around values of other names: with the guard they are open. One name alone is more likely a slip of the pen, as `#ifndef PRECSION` around PRECISION was. */
static void close_region(reader *r)
{
    if (!r->depth || --r->depth >= DEEPEST) return;
    const region closed = r->regions[r->depth];
    bool is_guard = closed.defines > 1 && !closed.has_else && !closed.has_other;
    name *guard = is_guard ? find(r, closed.guard) : NULL; /* a name of the compiler's is none */
    is_guard = guard && !guard->is_declared;
    for (size_t i = 0; i < r->count; i++) {
        name *one = &r->names[i];
        if (one->region != closed.id) continue;
        one->region = 0;
        if (is_guard) one->is_declared = false;
        else one->macro.value = -1;
    }
    if (!is_guard) return;
    guard->is_declared = true;
    snprintf(r->guard, sizeof r->guard, "%s", guard->macro.name);
}

static void read_pragma(reader *r, const char *at)
{
    if (!mt_code_is(mt_code_next(&at), "unroll")) return;
    for (mt_code_word word; (word = mt_code_next(&at)).length;) {
        name *found = find(r, word);
        if (found) found->is_used = found->macro.is_unroll = true;
    }
}

/* `at`: behind the #; `next`: the line below. */
static void read_directive(reader *r, const char *at, const char *next)
{
    mt_code_word word = mt_code_next(&at);
    const char *look = at;
    if (mt_code_is(word, "define")) read_define(r, at);
    else if (mt_code_is(word, "pragma")) read_pragma(r, at);
    else if (mt_code_is(word, "ifndef")) open_region(r, mt_code_next(&look));
    else if (mt_code_is(word, "ifdef") || mt_code_is(word, "if")) open_region(r, (mt_code_word){"", 0});
    else if (mt_code_is(word, "endif")) close_region(r);
    else if (r->depth && r->depth <= DEEPEST && strncmp(word.at, "el", 2) == 0) r->regions[r->depth - 1].has_else = true;
    if (mt_code_is(word, "if") || mt_code_is(word, "elif")) read_condition(r, at, next);
    if (mt_code_is(word, "ifdef")) note_optional(r, mt_code_next(&at));
}

static const char *line_end(const char *at)
{
    while (*at && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
    return at;
}

static void read_lines(reader *r, char *text)
{
    for (char *line = text; *line;) {
        char *end = text + (line_end(line) - text), *first = line + strspn(line, " \t"), *next = end + (*end != '\0');
        *end = '\0';
        for (char *at = first; *first == '#' && *at; at++)
            if (*at == '\\') *at = ' '; /* a line that goes on */
        if (*first == '#') read_directive(r, first + 1, next);
        line = next;
    }
}

mt_status mt_open_macros_read(const char *source, const char *others, mt_open_macros *macros, mt_error *err)
{
    reader r = {.others = others};
    char *text = mt_code_uncommented(source), *code = mt_code_bare(source);
    bool is_good = text && code;
    *macros = (mt_open_macros){0};
    if (is_good) read_lines(&r, text);
    if (is_good) read_code(&r, code);
    for (size_t i = 0; i < r.count && is_good; i++) {
        const name *one = &r.names[i];
        if (one->is_declared || !(one->is_used || one->macro.compared_count)) continue;
        mt_open_macro *added = MT_APPEND(macros->items, macros->count, macros->capacity);
        is_good = added != NULL;
        if (added) *added = one->macro;
    }
    snprintf(macros->guard, sizeof macros->guard, "%s", r.guard);
    MT_FREE_EACH(r.names, text, code);
    return is_good ? MT_OK : mt_no_memory("source", err);
}

void mt_open_macros_free(mt_open_macros *macros)
{
    mt_free(macros->items);
    *macros = (mt_open_macros){0};
}
