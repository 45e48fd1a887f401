#include "tuner/space/signature/signature_constants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature.h"
#include "tuner/space/signature/signature_code.h"

static bool is_same(mt_code_word a, mt_code_word b)
{
    return a.length == b.length && strncmp(a.at, b.at, a.length) == 0;
}

/* "NAME = 16", of a constant or in an enum; 0 where there is none, or several. */
static int64_t value_of_constant(const char *text, mt_code_word name)
{
    int64_t found = 0;
    for (mt_code_word word, before = {"", 0}; (word = mt_code_next(&text)).length; before = word) {
        const char *look = text;
        bool is_declared = mt_code_is_name(before) || (before.length && strchr("{,", *before.at));
        if (!is_same(word, name) || !is_declared || !mt_code_is(mt_code_next(&look), "=")) continue;
        mt_code_word value = mt_code_next(&look), next = mt_code_next(&look);
        if (found || !next.length || !strchr(";,}", *next.at)) return 0;
        found = strtoll(value.at, NULL, 10);
    }
    return found;
}

/* "#define NAME 600" or (600): 0 where there is no such line, or several numbers. */
static int64_t value_of_macro(const char *text, mt_code_word name)
{
    int64_t found = 0;
    for (const char *at = text; (at = strstr(at, "define")) != NULL;) {
        at += strlen("define");
        const char *look = at, *line = at + strcspn(at, "\n");
        mt_code_word macro = mt_code_next(&look), value = mt_code_next(&look);
        if (!is_same(macro, name)) continue;
        bool is_bracketed = mt_code_is(value, "(");
        if (is_bracketed) value = mt_code_next(&look);
        if (is_bracketed && !mt_code_is(mt_code_next(&look), ")")) return 0;
        if (found || value.at >= line || mt_code_next(&look).at < line) return 0;
        found = strtoll(value.at, NULL, 10);
    }
    return found;
}

int64_t mt_constant_number(const char *text, mt_code_word name)
{
    int64_t found = value_of_macro(text, name);
    return found ? found : value_of_constant(text, name);
}

int64_t mt_count_elements(const char *text, const char *at)
{
    int64_t product = 1;
    for (mt_code_word word; (word = mt_code_next(&at)).length && *word.at != ';' && *word.at != ',';) {
        int64_t value = *word.at >= '0' && *word.at <= '9' ? strtoll(word.at, NULL, 10) : mt_code_is_name(word) ? mt_constant_number(text, word) : 1;
        bool is_number = mt_code_is_name(word) || (*word.at >= '0' && *word.at <= '9');
        if (!is_number && !strchr("[]*()", *word.at)) return 0;
        if (value <= 0 || __builtin_mul_overflow(product, value, &product)) return 0;
    }
    return product;
}

/* Behind `__constant__`: "static const float4 name[12][3];". Of several behind commas the first counts. */
static mt_status read_declaration(const char *text, const char *at, const char *path, mt_constants *constants, mt_error *err)
{
    static const char *const dropped[] = {"const", "static", "extern", "volatile", "struct", "alignas"};
    mt_code_word word, name = {"", 0}, type = {"", 0};
    const char *behind = at;
    mt_strbuf spelled = {0};
    mt_constant constant = {.lanes = 1};
    while ((word = mt_code_next(&at)).length && !strchr("[;={,", *word.at)) {
        bool is_dropped = strncmp(word.at, "__", 2) == 0;
        if (*word.at == '(') mt_code_skip(&at, '(', ')'); /* alignas(16) */
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) is_dropped = is_dropped || mt_code_is(word, dropped[i]);
        if (is_dropped || !mt_code_is_name(word)) continue;
        if (name.length) mt_strbuf_addf(&spelled, "%s%.*s", type.length ? " " : "", (int)name.length, name.at), type = name;
        name = word;
        behind = at;
    }
    const char *end = behind;
    while ((word = mt_code_next(&end)).length && !strchr(";={", *word.at)) continue;
    bool has_values = !mt_code_is(word, ";");
    mt_status st = MT_OK;
    if (name.length && type.length && !has_values && name.length < sizeof constant.name) {
        snprintf(constant.name, sizeof constant.name, "%.*s", (int)name.length, name.at);
        snprintf(constant.entry, sizeof constant.entry, "%s%s", path, constant.name);
        constant.dtype = mt_signature_dtype(mt_strbuf_text(&spelled), &constant.lanes);
        constant.elements = mt_count_elements(text, behind);
        mt_constant *added = MT_APPEND(constants->items, constants->count, constants->capacity);
        if (added) *added = constant;
        else st = mt_no_memory("source", err);
    }
    mt_strbuf_free(&spelled);
    return st;
}

/* `#ifndef FILE_H` around a whole file is no condition. */
static bool is_guard(const char *at)
{
    mt_code_word name = mt_code_next(&at), again;
    if (!mt_code_is(mt_code_next(&at), "#") || !mt_code_is(mt_code_next(&at), "define")) return false;
    again = mt_code_next(&at);
    return name.length == again.length && strncmp(name.at, again.at, name.length) == 0 && at[strspn(at, " \t\r")] == '\n';
}

/* How many conditions stand around what follows a directive, of which `at` stands behind the #. */
static size_t depth_after(const char *at, size_t depth, bool *is_in_guard)
{
    mt_code_word word = mt_code_next(&at);
    bool opens = strncmp(word.at, "if", 2) == 0, is_end = mt_code_is(word, "endif");
    if (opens && depth == 0 && !*is_in_guard && mt_code_is(word, "ifndef") && is_guard(at)) *is_in_guard = true;
    else if (opens) depth++;
    else if (is_end && depth) depth--;
    return depth;
}

mt_status mt_constants_read(const char *source, mt_constants *constants, mt_error *err)
{
    char *text = mt_code_uncommented(source);
    mt_status st = text ? MT_OK : mt_no_memory("source", err);
    size_t first = constants->count, depth = 0;
    bool is_in_guard = false;
    mt_code_word before = {"", 0};
    mt_code_path path = {0};
    const char *at = text;
    for (mt_code_word word; st == MT_OK && (word = mt_code_next(&at)).length; before = word) {
        mt_code_path_follow(&path, word, at);
        if (mt_code_is(word, "#")) depth = depth_after(at, depth, &is_in_guard);
        if (mt_code_is(word, "__constant__") && !mt_code_is(before, "extern")) {
            st = read_declaration(text, at, mt_strbuf_text(&path.text), constants, err);
            at += strcspn(at, ";"); /* what stands there is no use */
        }
        for (size_t i = first; i < constants->count && depth == 0; i++)
            if (mt_code_is(word, constants->items[i].name)) constants->items[i].is_used = true;
    }
    if (st == MT_OK && path.text.failed) st = mt_no_memory("source", err);
    mt_strbuf_free(&path.text);
    mt_free(text);
    return st;
}
