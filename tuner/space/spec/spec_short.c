/* Short forms: lines that stand for sections. They are replaced by those sections before anything else is read, so that both ways to write a
 * thing are one thing from here on. Here: knobs, constraints, arguments, and literals in launches. Shapes: spec_like.c. */
#include "tuner/space/spec/spec_short.h"

#include <string.h>

#include "tuner/base/alloc.h"

/* ---- cutting a line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at)) at++;
    return at;
}

/* Where the word begins that opens the next part of the line: behind a complete value, outside of quotes and brackets. NULL when it is not there.
 * A word behind a comma, or at the start, is a value that happens to be called so. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    int depth = 0;
    bool quoted = false;
    char before = ',';
    for (const char *at = text; *at; at++) {
        bool begins = !quoted && depth == 0 && at > text && is_blank(at[-1]) && before != ',';
        if (begins && strncmp(at, word, length) == 0 && is_blank(at[length])) return at;
        if (*at == '"') quoted = !quoted;
        if (!quoted && strchr("([", *at)) depth++;
        if (!quoted && strchr(")]", *at)) depth--;
        if (!is_blank(*at)) before = *at;
    }
    return NULL;
}

/* A text in quotes is opened by its word: `why "…"`. */
static const char *find_quoted(const char *text, const char *word)
{
    const char *found = find_word(text, word);
    return found && *skip_blanks(found + strlen(word)) == '"' ? found : NULL;
}

/* Adds the text between the two as a key of the last section. */
static mt_status add_cut(mt_short *all, const char *key, const char *from, const char *to, int line, mt_error *err)
{
    while (from < to && is_blank(*from)) from++;
    while (to > from && is_blank(to[-1])) to--;
    char *text = mt_strndup(from, (size_t)(to - from));
    mt_status st = text ? mt_ini_add_entry(&all->out, key, text, line, err) : mt_reader_no_memory(all->reader, err);
    mt_free(text);
    return st;
}

/* ---- [params], [constraints] ---- */

/* A part of a line: from its word to the next part's. */
typedef struct part {
    const char *word, *at;
    bool is_quoted;
} part;

/* Cuts "FIRST word TEXT word TEXT": words in this order, each at most once. The first part goes to `first`. */
static mt_status add_parts(mt_short *all, const mt_ini_entry *entry, const char *first, part *parts, size_t count, mt_error *err)
{
    const char *end = entry->value + strlen(entry->value);
    mt_status st = MT_OK;
    for (size_t i = count; i-- > 0;) {
        parts[i].at = parts[i].is_quoted ? find_quoted(entry->value, parts[i].word) : find_word(entry->value, parts[i].word);
        if (parts[i].at && parts[i].at > end) parts[i].at = NULL;
        if (parts[i].at) end = parts[i].at;
    }
    MT_TRY(add_cut(all, first, entry->value, end, entry->line, err));
    for (size_t i = 0; i < count; i++) {
        if (!parts[i].at) continue;
        const char *stop = parts[i].at + strlen(parts[i].at);
        for (size_t k = i + 1; k < count; k++)
            if (parts[k].at && parts[k].at < stop) stop = parts[k].at;
        MT_TRY(add_cut(all, parts[i].word, parts[i].at + strlen(parts[i].word), stop, entry->line, err));
    }
done:
    return st;
}

/* NAME = VALUES default VALUE when CONDITION doc "TEXT" */
static mt_status write_param(mt_short *all, const mt_ini_entry *entry, mt_error *err)
{
    part parts[] = { { "default", NULL, false }, { "when", NULL, false }, { "doc", NULL, true } };
    mt_status st = mt_ini_add_section(&all->out, "param", entry->key, entry->line, err);
    return st == MT_OK ? add_parts(all, entry, "values", parts, sizeof parts / sizeof *parts, err) : st;
}

/* NAME = CONDITION why "TEXT" */
static mt_status write_constraint(mt_short *all, const mt_ini_entry *entry, mt_error *err)
{
    part parts[] = { { "why", NULL, true } };
    mt_status st = MT_OK;
    MT_TRY(mt_ini_add_section(&all->out, "constraint", entry->key, entry->line, err));
    MT_TRY(add_parts(all, entry, "expr", parts, 1, err));
done:
    return st;
}

/* ---- [args] ---- */

/* Takes the next word with its brackets: `in`, `[M, N]`, `normal(0, 1)`, `"a b"`. False at the end. */
static bool next_word(const char **at, const char **from, const char **to)
{
    int depth = 0;
    bool quoted = false;
    *from = *at = skip_blanks(*at);
    for (; **at && (depth > 0 || quoted || !is_blank(**at)); (*at)++) {
        if (**at == '"') quoted = !quoted;
        if (quoted) continue;
        if (strchr("([", **at)) depth++;
        if (strchr(")]", **at)) depth--;
    }
    *to = *at;
    return *to > *from;
}

static bool is_word(const char *from, const char *to, const char *word)
{
    return (size_t)(to - from) == strlen(word) && memcmp(from, word, strlen(word)) == 0;
}

/* A key of a tensor that the line can give as `key VALUE`: all but those that have their place in it. */
static const char *tensor_key(const char *from, const char *to)
{
    static const char *const placed[] = { "kind", "role", "dtype", "shape", "init" };
    size_t count;
    const mt_key_rule *rules = mt_rules(MT_RULES_TENSOR, &count);
    for (size_t i = 0; i < count; i++) {
        bool has_place = false;
        for (size_t k = 0; k < sizeof placed / sizeof *placed; k++) has_place = has_place || strcmp(rules[i].key, placed[k]) == 0;
        if (!has_place && is_word(from, to, rules[i].key)) return rules[i].key;
    }
    return NULL;
}

static mt_status bad_arg(const mt_short *all, const mt_ini_entry *entry, const char *what, mt_error *err)
{
    return mt_reader_fail(all->reader, err, entry->line, "%s = %s: %s; expected ROLE DTYPE [SHAPE] INIT, such as in f32 [M, N] normal(0, 1), scalar DTYPE VALUE, such as scalar i32 N, or struct MEMBER, …",
                          entry->key, entry->value, what);
}

/* Behind the shape: how it is made, and `key VALUE`. */
static mt_status write_tensor_rest(mt_short *all, const mt_ini_entry *entry, const char *at, mt_error *err)
{
    mt_status st = MT_OK;
    const char *from, *to;
    bool has_init = false;
    while (st == MT_OK && next_word(&at, &from, &to)) {
        const char *key = tensor_key(from, to);
        if (key && !next_word(&at, &from, &to)) return bad_arg(all, entry, "the last word has no value", err);
        if (!key && has_init) return bad_arg(all, entry, "a word in it is neither a key nor the only init", err);
        has_init = has_init || !key;
        st = add_cut(all, key ? key : "init", from, to, entry->line, err);
    }
    return st;
}

/* Arrays among the members become their elements. */
static mt_status add_members(mt_short *all, const char *value, int line, mt_error *err)
{
    char *members;
    mt_status st = mt_members_written_out(all->reader, value, line, &members, err);
    if (st == MT_OK) st = mt_ini_add_entry(&all->out, "members", members, line, err);
    mt_free(members);
    return st;
}

/* NAME = struct MEMBERS align BYTES */
static mt_status write_struct(mt_short *all, const mt_ini_entry *entry, const char *members, mt_error *err)
{
    mt_status st;
    const char *align = find_word(members, "align");
    char *text = mt_strndup(members, align ? (size_t)(align - members) : strlen(members));
    if (!text) return mt_reader_no_memory(all->reader, err);
    MT_TRY(mt_ini_add_section(&all->out, "arg", entry->key, entry->line, err));
    MT_TRY(mt_ini_add_entry(&all->out, "kind", "struct", entry->line, err));
    MT_TRY(add_members(all, text, entry->line, err));
    if (align) MT_TRY(add_cut(all, "align", align + strlen("align"), align + strlen(align), entry->line, err));
done:
    mt_free(text);
    return st;
}

static mt_status write_arg(mt_short *all, const mt_ini_entry *entry, mt_error *err)
{
    mt_status st = MT_OK;
    const char *at = entry->value, *role, *role_end, *dtype, *dtype_end, *shape, *shape_end;
    if (next_word(&at, &role, &role_end) && is_word(role, role_end, "struct")) return write_struct(all, entry, at, err);
    if (role_end == role || !next_word(&at, &dtype, &dtype_end)) return bad_arg(all, entry, "it has too few words", err);
    MT_TRY(mt_ini_add_section(&all->out, "arg", entry->key, entry->line, err));
    bool is_scalar = is_word(role, role_end, "scalar");
    MT_TRY(mt_ini_add_entry(&all->out, "kind", is_scalar ? "scalar" : "tensor", entry->line, err));
    if (!is_scalar) MT_TRY(add_cut(all, "role", role, role_end, entry->line, err));
    MT_TRY(add_cut(all, "dtype", dtype, dtype_end, entry->line, err));
    if (is_scalar) {
        MT_TRY(add_cut(all, "value", at, at + strlen(at), entry->line, err));
        goto done;
    }
    if (!next_word(&at, &shape, &shape_end) || *shape != '[' || shape_end[-1] != ']') return bad_arg(all, entry, "its third word is no shape in brackets", err);
    MT_TRY(add_cut(all, "shape", shape + 1, shape_end - 1, entry->line, err));
    MT_TRY(write_tensor_rest(all, entry, at, err));
done:
    return st;
}

/* ---- literals in a launch's args and a struct's members ---- */

bool mt_is_literal_arg(const char *text)
{
    const char *open = strchr(text, '(');
    mt_dtype dtype;
    char name[8];
    size_t length = open ? (size_t)(open - text) : sizeof name;
    if (length >= sizeof name || text[strlen(text) - 1] != ')') return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return mt_dtype_from_name(name, &dtype) || strcmp(name, "bool") == 0;
}

static bool has_arg(const mt_ini *ini, const char *name)
{
    for (size_t i = 0; i < ini->section_count; i++)
        if (strcmp(ini->sections[i].kind, "arg") == 0 && strcmp(ini->sections[i].name, name) == 0) return true;
    return false;
}

static mt_status write_literal(mt_short *all, const char *text, int line, mt_error *err)
{
    mt_status st = MT_OK;
    const char *open = strchr(text, '(');
    if (has_arg(&all->out, text)) return MT_OK;
    MT_TRY(mt_ini_add_section(&all->out, "arg", text, line, err));
    MT_TRY(mt_ini_add_entry(&all->out, "kind", "scalar", line, err));
    MT_TRY(add_cut(all, "dtype", text, open, line, err));
    MT_TRY(add_cut(all, "value", open + 1, text + strlen(text) - 1, line, err));
done:
    return st;
}

/* Each literal is an argument of the name that it is written as; they stand behind those that the file names. */
static mt_status write_literals(mt_short *all, mt_error *err)
{
    mt_status st = MT_OK;
    size_t sections = all->out.section_count;
    for (size_t i = 0; st == MT_OK && i < sections; i++) {
        const mt_ini_section *section = &all->out.sections[i];
        bool is_launch = false;
        for (size_t phase = 0; phase < MT_LAUNCH_PHASES; phase++) is_launch = is_launch || strcmp(section->kind, mt_launch_phase_names[phase]) == 0;
        const mt_ini_entry *args = is_launch ? mt_ini_find(section, "args") : strcmp(section->kind, "arg") == 0 ? mt_ini_find(section, "members") : NULL;
        char **items = NULL;
        size_t count = 0;
        if (args) st = mt_split(args->value, &items, &count, err);
        for (size_t k = 0; st == MT_OK && k < count; k++)
            if (mt_is_literal_arg(items[k])) st = write_literal(all, items[k], args->line, err); /* moves the sections: `section` is not read again */
        mt_strings_free(items, count);
    }
    return st;
}

/* ---- all sections ---- */

static mt_status write_lines(mt_short *all, const mt_ini_section *section, mt_error *err)
{
    mt_status st = MT_OK;
    bool is_constraints = strcmp(section->kind, "constraints") == 0;
    if (is_constraints && strcmp(section->name, "search") == 0) return mt_reader_fail(all->reader, err, section->line, "[constraints search]: %s", MT_NO_SEARCH_SCOPE);
    if (*section->name) return mt_reader_fail(all->reader, err, section->line, "[%s %s]: expected [%s], with a line for each", section->kind, section->name, section->kind);
    for (size_t i = 0; st == MT_OK && i < section->entry_count; i++) {
        const mt_ini_entry *entry = &section->entries[i];
        st = is_constraints                          ? write_constraint(all, entry, err)
             : strcmp(section->kind, "params") == 0 ? write_param(all, entry, err)
                                                     : write_arg(all, entry, err);
    }
    return st;
}

static mt_status copy_section(mt_short *all, const mt_ini_section *section, mt_error *err)
{
    mt_status st = mt_ini_add_section(&all->out, section->kind, section->name, section->line, err);
    for (size_t i = 0; st == MT_OK && i < section->entry_count; i++) {
        const mt_ini_entry *entry = &section->entries[i];
        bool are_members = strcmp(section->kind, "arg") == 0 && strcmp(entry->key, "members") == 0;
        st = are_members ? add_members(all, entry->value, entry->line, err) : mt_ini_add_entry(&all->out, entry->key, entry->value, entry->line, err);
    }
    return st;
}

/* Takes over what is no section: the result is the same text to people. */
static mt_status copy_places(mt_short *all, const mt_ini *ini, mt_error *err)
{
    mt_status st = MT_OK;
    if (!(all->out.path = mt_strdup(ini->path)) || (ini->text && !(all->out.text = mt_strdup(ini->text)))) return mt_reader_no_memory(all->reader, err);
    for (size_t i = 0; st == MT_OK && i < ini->mark_count; i++)
        st = mt_ini_add_mark(&all->out, ini->marks[i].first, ini->marks[i].line, ini->marks[i].path, strlen(ini->marks[i].path), err);
    return st;
}

mt_status mt_write_out_short_forms(mt_reader *reader, mt_ini *ini, mt_error *err)
{
    mt_status st = MT_OK;
    mt_short all = { .reader = reader, .in = ini };
    MT_TRY(copy_places(&all, ini, err));
    for (size_t i = 0; i < ini->section_count; i++) {
        const mt_ini_section *section = &ini->sections[i];
        const char *kind = section->kind;
        bool is_literal = strcmp(kind, "arg") == 0 && mt_is_literal_arg(section->name);
        if (is_literal) st = mt_reader_fail(reader, err, section->line, "[arg %s]: expected a name; a literal stands in the `args` of a launch", section->name);
        if (st != MT_OK) goto done;
        if (strcmp(kind, "shapes") == 0) MT_TRY(mt_short_write_shapes(&all, section, err));
        else if (strcmp(kind, "shape") == 0) MT_TRY(mt_short_write_shape(&all, section, err));
        else if (strcmp(kind, "params") == 0 || strcmp(kind, "constraints") == 0 || strcmp(kind, "args") == 0) MT_TRY(write_lines(&all, section, err));
        else MT_TRY(copy_section(&all, section, err));
    }
    MT_TRY(write_literals(&all, err));
    mt_ini_free(ini);
    *ini = all.out;
    all.out = (mt_ini){ 0 };
done:
    mt_ini_free(&all.out);
    return st;
}
