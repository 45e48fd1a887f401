/* JSON of the database as nodes. Its own reader: SQLite's json_tree takes ten times as long, and prepare reads some tens of kilobytes. What is nested deeper or holds more
 * values than anything that the tuner writes is refused. Texts stay where they stand in a copy of the whole: no text is longer than it is written, and the quote behind it has room for its end. */
#include "db/lookup/lookup.h"

#include <string.h>

enum { NODE_LIMIT = 200000, DEPTH_LIMIT = 32 };

typedef struct reader {
    char *at;                  /* in the copy */
    mt_lookup_arena *arena;
    uint32_t count;            /* nodes so far */
    const char *problem;       /* NULL = none */
    bool is_out_of_memory;
} reader;

static bool fail(reader *r, const char *problem)
{
    if (!r->problem) r->problem = problem;
    return false;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

/* ---- texts ---- */

static bool read_hex(const char *at, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return false;
        *code = *code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return true;
}

static char *write_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else {
        if (code >= 0x10000) *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(code >= 0x10000 ? 0x80 | (code >> 12 & 63) : 0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

/* The escape behind a backslash; an escaped NUL is refused, since nothing that is stored has one. */
static bool read_escape(reader *r, char **to)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found = *r->at ? strchr(plain, *r->at) : NULL;
    uint32_t code, low;
    if (found) {
        *(*to)++ = meant[found - plain];
        r->at++;
        return true;
    }
    if (*r->at != 'u' || !read_hex(r->at + 1, &code) || code == 0) return fail(r, "a text has a bad escape");
    r->at += 5;
    if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u' && read_hex(r->at + 2, &low) && low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
        r->at += 6;
    }
    *to = write_utf8(*to, code);
    return true;
}

/* From the opening quote on; the text, or NULL. */
static const char *read_text(reader *r)
{
    char *text = r->at + 1, *to;
    if (*r->at != '"') {
        fail(r, "a text is expected, or has no end");
        return NULL;
    }
    for (to = r->at = text + strcspn(text, "\"\\"); *r->at != '"';) {
        if (!*r->at) {
            fail(r, "a text is expected, or has no end");
            return NULL;
        }
        r->at++;
        if (!read_escape(r, &to)) return NULL;
        size_t plain = strcspn(r->at, "\"\\");
        memmove(to, r->at, plain);
        to += plain;
        r->at += plain;
    }
    r->at++;
    *to = '\0';
    return text;
}

/* ---- values ---- */

/* Not strtod, which reads by the caller's locale. Exact for what the tuner writes: up to 15 digits and small exponents. */
static double scaled(uint64_t digits, int64_t exponent)
{
    double power = 1, base = 10;
    uint64_t steps = (uint64_t)(exponent < 0 ? -exponent : exponent);
    for (steps = steps > 400 ? 400 : steps; steps; steps >>= 1, base *= base) {
        if (steps & 1) power *= base;
    }
    return digits == 0 ? 0 : exponent < 0 ? (double)digits / power : (double)digits * power;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits into *digits, as far as they count; *exponent by how much they are to be moved. Returns how many there were. */
static uint32_t read_digits(reader *r, uint64_t *digits, int64_t *exponent, bool is_fraction)
{
    uint32_t count = 0;
    for (; is_digit(*r->at); r->at++, count++) {
        bool fits = *digits <= (UINT64_MAX - 9) / 10;
        if (fits) *digits = *digits * 10 + (uint64_t)(*r->at - '0');
        *exponent += (int64_t)!fits - (int64_t)is_fraction;
    }
    return count;
}

static bool read_number(reader *r, mt_lookup_json *node)
{
    uint64_t digits = 0, written = 0;
    int64_t exponent = 0, unused = 0;
    bool is_negative = *r->at == '-', is_real = false;
    r->at += is_negative;
    if (!read_digits(r, &digits, &exponent, false)) return fail(r, "it is no JSON, or cut short");
    if (*r->at == '.') {
        is_real = true;
        r->at++;
        if (!read_digits(r, &digits, &exponent, true)) return fail(r, "a number is damaged");
    }
    if (*r->at == 'e' || *r->at == 'E') {
        bool is_small = r->at[1] == '-';
        is_real = true;
        r->at += r->at[1] == '-' || r->at[1] == '+' ? 2 : 1;
        if (!read_digits(r, &written, &unused, false)) return fail(r, "a number is damaged");
        if (written > 1000) written = 1000;
        exponent += is_small ? -(int64_t)written : (int64_t)written;
    }
    is_real = is_real || exponent != 0 || digits > INT64_MAX;
    node->kind = is_real ? MT_LOOKUP_JSON_REAL : MT_LOOKUP_JSON_INTEGER;
    node->real = scaled(digits, exponent);
    if (!is_real) node->number = (int64_t)digits;
    if (is_negative) {
        node->real = -node->real;
        node->number = -node->number;
    }
    return true;
}

static bool read_value(reader *r, int depth, mt_lookup_json *node);

static bool read_members(reader *r, int depth, mt_lookup_json *parent, char close)
{
    mt_lookup_json **place = &parent->first;
    for (r->at++, skip_blanks(r); *r->at != close || parent->count; r->at++, skip_blanks(r)) {
        mt_lookup_json *node = ++r->count < NODE_LIMIT ? mt_lookup_arena_take(r->arena, 1, sizeof *node) : NULL;
        if (r->count >= NODE_LIMIT) return fail(r, "it holds too many values");
        if (!node) return !(r->is_out_of_memory = true);
        if (close == '}') {
            if (!(node->key = read_text(r))) return false;
            skip_blanks(r);
            if (*r->at++ != ':') return fail(r, "a member has no ':'");
        }
        if (!read_value(r, depth + 1, node)) return false;
        *place = node;
        place = &node->next;
        parent->count++;
        skip_blanks(r);
        if (*r->at == close) break;
        if (*r->at != ',') return fail(r, "it is cut short, or a ',' is missing");
    }
    r->at++;
    return true;
}

static bool read_value(reader *r, int depth, mt_lookup_json *node)
{
    static const struct { const char *word; mt_lookup_json_kind kind; } words[] = { { "null", MT_LOOKUP_JSON_NULL }, { "false", MT_LOOKUP_JSON_FALSE }, { "true", MT_LOOKUP_JSON_TRUE } };
    skip_blanks(r);
    if (depth > DEPTH_LIMIT) return fail(r, "it is nested too deeply");
    if (*r->at == '{' || *r->at == '[') {
        node->kind = *r->at == '{' ? MT_LOOKUP_JSON_OBJECT : MT_LOOKUP_JSON_ARRAY;
        return read_members(r, depth, node, *r->at == '{' ? '}' : ']');
    }
    if (*r->at == '"') {
        node->kind = MT_LOOKUP_JSON_TEXT;
        return (node->text = read_text(r)) != NULL;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if (strncmp(r->at, words[i].word, length) != 0) continue;
        node->kind = words[i].kind;
        r->at += length;
        return true;
    }
    return read_number(r, node);
}

tunelookup_status mt_lookup_json_load(const char *path, const char *text, mt_lookup_arena *arena, const mt_lookup_json **root)
{
    reader r = { .at = mt_lookup_arena_text(arena, text, strlen(text)), .arena = arena };
    mt_lookup_json *node = mt_lookup_arena_take(arena, 1, sizeof *node);
    if (!node || !r.at) return mt_lookup_no_memory();
    bool is_read = read_value(&r, 0, node);
    skip_blanks(&r);
    if (r.is_out_of_memory) return mt_lookup_no_memory();
    if (is_read && *r.at) is_read = fail(&r, "something stands behind it");
    if (!is_read) return mt_lookup_fail(TUNELOOKUP_ERR_NOT_A_DATABASE, "%s: malformed JSON: %s", path, r.problem);
    *root = node;
    return TUNELOOKUP_OK;
}

const mt_lookup_json *mt_lookup_json_member(const mt_lookup_json *object, const char *key)
{
    if (!object || object->kind != MT_LOOKUP_JSON_OBJECT) return NULL;
    for (const mt_lookup_json *at = object->first; at; at = at->next) {
        if (strcmp(at->key, key) != 0) continue;
        ((mt_lookup_json *)(uintptr_t)at)->is_asked = true; /* merging: what nobody asks for has no meaning */
        return at;
    }
    return NULL;
}

const char *mt_lookup_json_text(const mt_lookup_json *object, const char *key)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    return member ? member->text : NULL;
}

int64_t mt_lookup_json_int(const mt_lookup_json *object, const char *key, int64_t otherwise)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    return member && member->kind == MT_LOOKUP_JSON_INTEGER ? member->number : otherwise;
}

bool mt_lookup_json_bool(const mt_lookup_json *object, const char *key)
{
    const mt_lookup_json *member = mt_lookup_json_member(object, key);
    return member && member->kind == MT_LOOKUP_JSON_TRUE;
}
