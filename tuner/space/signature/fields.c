#include "tuner/space/signature/fields.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature_constants.h"
#include "tuner/space/signature/signature_code.h"

enum { MOST_WORDS = 16 };

/* How the source says that a struct lies, beside its fields. */
typedef struct lying {
    int64_t align, pack; /* in bytes; 0 = as the fields ask */
    bool is_known;
} lying;

/* "((packed))": *at stands behind the first bracket, and comes behind the last. */
static bool read_packed(const char **at)
{
    const char *look = *at;
    mt_code_skip(at, '(', ')');
    mt_code_next(&look);
    mt_code_word word = mt_code_next(&look);
    return (mt_code_is(word, "packed") || mt_code_is(word, "__packed__")) && mt_code_is(mt_code_next(&look), ")");
}

/* "__align__(16)", "alignas(16)": *at stands behind the word. False: it says something else of how fields lie. */
static bool read_attribute(const char *source, mt_code_word word, const char **at, lying *how)
{
    const char *look = *at;
    if (mt_code_is(word, "__attribute__")) {
        how->pack = 1;
        mt_code_next(at);
        return read_packed(at);
    }
    mt_code_next(at);
    mt_code_skip(at, '(', ')');
    mt_code_next(&look);
    mt_code_word number = mt_code_next(&look);
    int64_t bytes = mt_code_is_name(number) ? mt_constant_number(source, number) : strtoll(number.at, NULL, 10);
    how->align = bytes;
    return mt_code_is(mt_code_next(&look), ")") && bytes > 0 && (bytes & (bytes - 1)) == 0;
}

static bool is_attribute(mt_code_word word)
{
    return mt_code_is(word, "__align__") || mt_code_is(word, "alignas") || mt_code_is(word, "__attribute__");
}

/* Behind the bracket that opens the fields of `struct type {` or `typedef struct … { … } type;`, looked for from *from on, which comes behind it. NULL: there is none. */
static const char *find_body(const char *source, const char **from, const char *type, lying *how)
{
    for (const char *at = *from;;) {
        mt_code_word word = mt_code_next(&at), named = {0};
        if (!word.length) return NULL;
        if (!mt_code_is(word, "struct")) continue;
        const char *look = at;
        *how = (lying){.is_known = true};
        while ((word = mt_code_next(&look)).length && !strchr("{;,)=*&:", *word.at)) {
            if (*word.at == '(') mt_code_skip(&look, '(', ')');
            else if (is_attribute(word)) how->is_known = read_attribute(source, word, &look, how) && how->is_known;
            else if (mt_code_is_name(word)) named = word;
        }
        if (!mt_code_is(word, "{")) continue;
        const char *body = look, *behind = look;
        mt_code_skip(&behind, '{', '}');
        *from = behind;
        while (is_attribute(word = mt_code_next(&behind))) how->is_known = read_attribute(source, word, &behind, how) && how->is_known;
        if ((named.length && mt_code_is(named, type)) || mt_code_is(word, type)) return body;
    }
}

/* What the directives `#pragma pack` in front of a place say; 0: nothing. */
static int64_t find_pack(const char *uncommented, size_t end)
{
    static const char directive[] = "pragma pack";
    int64_t now = 0, pushed[16] = {0};
    size_t depth = 0;
    for (const char *at = uncommented; (at = strstr(at, directive)) && at < uncommented + end;) {
        at += sizeof directive - 1;
        size_t length = strcspn(at, "\n"), digits = strcspn(at, "0123456789\n");
        bool is_push = memmem(at, length, "push", 4), is_pop = memmem(at, length, "pop", 3);
        if (is_push && depth < sizeof pushed / sizeof *pushed) pushed[depth++] = now;
        if (is_pop) now = depth ? pushed[--depth] : 0;
        else if (digits < length) now = strtoll(at + digits, NULL, 10);
        else if (!is_push) now = 0;
    }
    return now;
}

/* Directives among the fields: whether they are there can't be told. */
static bool has_directives(const char *source, const char *code, const char *from, const char *to)
{
    for (const char *at = from; at < to; at++)
        if (*at == ' ' && source[at - code] == '#') return true;
    return false;
}

static mt_status add_field(const char *source, const mt_code_word *base, size_t base_count, bool is_const, mt_code_word name, int pointers, const char *behind, mt_signature *fields, mt_error *err)
{
    const char *look = behind;
    mt_strbuf type = {0};
    for (size_t i = 0; i < base_count; i++) mt_strbuf_addf(&type, "%s%.*s", i ? " " : "", (int)base[i].length, base[i].at);
    mt_parameter *added = MT_APPEND(fields->parameters, fields->parameter_count, fields->parameter_capacity);
    if (added) *added = (mt_parameter){.name = mt_strndup(name.at, name.length), .type = mt_strbuf_take(&type), .pointers = pointers, .is_const = is_const, .elements = *mt_code_next(&look).at == '[' ? mt_count_elements(source, behind) : 1};
    mt_strbuf_free(&type);
    if (!added || !added->name || !added->type) return mt_no_memory("fields", err);
    added->dtype = mt_signature_dtype(added->type, &added->lanes);
    return MT_OK;
}

/* `sign` stands where no field has one, behind `name`. */
static void explain(mt_code_word sign, mt_code_word name, mt_strbuf *why)
{
    bool is_access = mt_code_is(name, "public") || mt_code_is(name, "private") || mt_code_is(name, "protected");
    const char *what = *sign.at == '(' ? "(…) is a function" : *sign.at == '<' ? "<…> is a template" : *sign.at == ':' && is_access ? " fields are a class's" : *sign.at == ':' ? " is a bit field" : " is no plain field";
    if (why && *sign.at == '{') mt_strbuf_add(why, "a struct or union is declared in it");
    else if (why) mt_strbuf_addf(why, "%.*s%s", (int)name.length, name.at, what);
}

/* "const float *x, *y;": *at stands at its beginning and comes behind its end. *is_plain: it is nothing but fields. */
static mt_status read_declaration(const char *source, const char **at, mt_signature *fields, bool *is_plain, mt_strbuf *why, mt_error *err)
{
    mt_code_word base[MOST_WORDS], word, name = {0};
    size_t base_count = 0;
    int pointers = 0;
    bool is_const = false, is_first = true;
    const char *behind = *at;
    mt_status st = MT_OK;
    while (st == MT_OK && *is_plain && (word = mt_code_next(at)).length) {
        if (*word.at == ',' || *word.at == ';') {
            *is_plain = name.length && (!is_first || base_count);
            if (*is_plain) st = add_field(source, base, base_count, is_const, name, pointers, behind, fields, err);
            if (*word.at == ';') return st;
            is_first = false;
            name = (mt_code_word){0};
            pointers = 0;
        } else if (*word.at == '=') {
            while (**at && **at != ',' && **at != ';' && **at != '{') mt_code_next(at);
        } else if (*word.at == '[') {
            mt_code_skip(at, '[', ']');
        } else if (*word.at == '*') {
            pointers++;
        } else if (mt_code_is(word, "const") || mt_code_is(word, "struct") || mt_code_is(word, "enum") || strncmp(word.at, "__restrict", 10) == 0) {
            is_const = is_const || (mt_code_is(word, "const") && !pointers);
        } else if (mt_code_is_name(word)) {
            if (is_first && name.length && base_count < MOST_WORDS) base[base_count++] = name;
            name = word;
            behind = *at;
        } else {
            *is_plain = false;
            explain(word, name, why);
        }
    }
    *is_plain = *is_plain && word.length;
    return st;
}

mt_status mt_fields_read(const char *source, const char *type, mt_signatures *fields, mt_strbuf *why, mt_error *err)
{
    mt_status st = MT_OK;
    char *code = mt_code_bare(source), *uncommented = mt_code_uncommented(source);
    const char *within = strrchr(type, ':'), *from = code, *rest;
    lying how = {0}, ignored;
    bool is_plain = true;
    mt_signature *all = NULL;
    *fields = (mt_signatures){0};
    if (!code || !uncommented) st = mt_no_memory("fields", err);
    if (within) type = within + 1;
    const char *at = st == MT_OK ? find_body(source, &from, type, &how) : NULL;
    rest = from;
    if (at) is_plain = how.is_known && !find_body(source, &rest, type, &ignored) && !has_directives(uncommented, code, at, from);
    if (at && !is_plain && why) mt_strbuf_add(why, "the source has several of that name, or conditions in it, or says more of how it lies than an alignment");
    if (at && !how.pack) how.pack = find_pack(uncommented, (size_t)(at - code));
    if (at && is_plain && !(all = MT_APPEND(fields->items, fields->count, fields->capacity))) st = mt_no_memory("fields", err);
    if (all) *all = (mt_signature){.name = mt_strdup(type), .align = how.align, .pack = how.pack};
    for (const char *look = at; all && st == MT_OK && is_plain; look = at) {
        if (mt_code_is(mt_code_next(&look), "}")) break;
        st = read_declaration(source, &at, all, &is_plain, why, err);
    }
    if (all && (!is_plain || !all->parameter_count)) mt_signatures_free(fields);
    mt_free(code);
    mt_free(uncommented);
    return st;
}

const char *mt_enum_dtype(const char *source, const char *type)
{
    const char *within = strrchr(type, ':'), *dtype = NULL;
    char *code = mt_code_bare(source);
    if (within) type = within + 1;
    for (const char *at = code; at && !dtype;) {
        mt_code_word word = mt_code_next(&at), name;
        if (!word.length) break;
        if (!mt_code_is(word, "enum")) continue;
        name = mt_code_next(&at);
        if (mt_code_is(name, "class") || mt_code_is(name, "struct")) name = mt_code_next(&at);
        const char *look = at;
        bool has_type = mt_code_is(name, type) && mt_code_is(mt_code_next(&look), ":");
        mt_strbuf base = {0};
        while (has_type && (word = mt_code_next(&look)).length && !strchr("{;", *word.at))
            if (!mt_code_is(word, "std") && *word.at != ':') mt_strbuf_addf(&base, "%s%.*s", base.length ? " " : "", (int)word.length, word.at);
        int lanes;
        if (mt_code_is(name, type)) dtype = has_type ? mt_signature_dtype(mt_strbuf_text(&base), &lanes) : "i32";
        mt_strbuf_free(&base);
    }
    mt_free(code);
    return dtype;
}
