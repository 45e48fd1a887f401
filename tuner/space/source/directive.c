#include "tuner/space/source/directive.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

/* NVRTC's names may have a $ and letters of UTF-8 in them: $R"(" is no raw literal. */
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- joining lines ---- */

/* Of the end of a line that goes on; 0: something else. */
static size_t joint_length(const char *at)
{
    return *at != '\\' ? 0 : at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static size_t count_joints(const char *text)
{
    size_t count = 0;
    for (const char *at = text; (at = strchr(at, '\\')); at++) count += joint_length(at) != 0;
    return count;
}

mt_status mt_directive_open(const char *text, mt_directive_walk *walk, mt_error *err)
{
    size_t count = count_joints(text), gone = 0;
    *walk = (mt_directive_walk){.text = text, .at = text};
    if (!count) return MT_OK;
    walk->joined = mt_alloc(strlen(text) + 1, 1);
    walk->joints = mt_alloc(2 * count, sizeof *walk->joints);
    if (!walk->joined || !walk->joints) {
        mt_directive_close(walk);
        return MT_FAIL(err, MT_ERR_NO_MEMORY, "source: out of memory");
    }
    char *put = walk->joined;
    for (const char *at = text; *at;) {
        size_t length = joint_length(at);
        if (!length) {
            *put++ = *at++;
            continue;
        }
        at += length;
        gone += length;
        walk->joints[2 * walk->joint_count] = (size_t)(put - walk->joined);
        walk->joints[2 * walk->joint_count++ + 1] = gone;
    }
    walk->at = walk->joined;
    return MT_OK;
}

void mt_directive_close(mt_directive_walk *walk)
{
    mt_free(walk->joined);
    mt_free(walk->joints);
    *walk = (mt_directive_walk){0};
}

/* How many letters are gone in front of an offset, of the text or of the joined one. */
static size_t gone_before(const mt_directive_walk *walk, size_t offset, bool is_of_text)
{
    size_t low = 0, high = walk->joint_count;
    while (low < high) { /* the first joint behind it */
        size_t middle = (low + high) / 2, where = walk->joints[2 * middle] + (is_of_text ? walk->joints[2 * middle + 1] : 0);
        if (where <= offset) low = middle + 1;
        else high = middle;
    }
    return low ? walk->joints[2 * low - 1] : 0;
}

/* Where a place of the joined text is in the text. */
static const char *place_of(const mt_directive_walk *walk, const char *at)
{
    if (!walk->joined) return at;
    size_t offset = (size_t)(at - walk->joined);
    return walk->text + offset + gone_before(walk, offset, false);
}

/* And the way back. */
static const char *joined_place(const mt_directive_walk *walk, const char *place)
{
    if (!walk->joined) return place;
    size_t offset = (size_t)(place - walk->text);
    return walk->joined + offset - gone_before(walk, offset, true);
}

/* ---- what is skipped ---- */

/* Behind a comment that starts at `at`, else `at` itself. */
static const char *skip_comment(const char *at)
{
    if (at[0] != '/') return at;
    if (at[1] == '/') return at + strcspn(at, "\n");
    if (at[1] != '*') return at;
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* Blanks and comments within the line. */
const char *mt_directive_blanks(const char *at)
{
    for (;;) {
        if (*at && strchr(" \t\v\f\r", *at)) at++;
        else if (at[0] == '/' && at[1] == '*') at = skip_comment(at);
        else return at;
    }
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word(at[length])) length++;
    return length;
}

/* 0 where none begins. As the compiler takes it: with whatever letters, signs and quotes go on, 1'000, 1'z and 0xe+f alike. Behind a name a quote begins a literal: and'ab'. */
static size_t number_length(const char *at)
{
    size_t length = 0;
    if (!isdigit((unsigned char)at[*at == '.'])) return 0;
    for (;; length++) {
        const char *c = at + length;
        bool has_sign = *c && strchr("eEpP", *c) && (c[1] == '+' || c[1] == '-');
        if (!is_word(*c) && *c != '.' && !(*c == '\'' && is_word(c[1]))) return length;
        length += has_sign;
    }
}

/* Behind the name, number, literal or other letter. */
static const char *token_end(const char *at)
{
    size_t number = number_length(at), length = number ? number : word_length(at);
    return length ? at + length : *at == '"' || *at == '\'' ? mt_text_literal_end(at) : at + 1;
}

static bool is_the_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

/* Behind the raw literal whose prefix is the word at `at`; NULL: it is none. Its end is looked for in the text, where lines are not joined: R"x( … )x" */
static const char *skip_raw(const mt_directive_walk *walk, const char *at, size_t length)
{
    enum { MOST_LETTERS = 16 };
    static const char *const prefixes[] = {"R", "u8R", "uR", "UR", "LR"};
    bool is_raw = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) is_raw |= is_the_word(at, length, prefixes[i]);
    if (!is_raw || at[length] != '"') return NULL;
    const char *mark = at + length + 1;
    size_t letters = strcspn(mark, "() \\\t\v\f\n\"");
    if (letters > MOST_LETTERS || mark[letters] != '(') return NULL;
    for (const char *end = place_of(walk, mark + letters); (end = strchr(end, ')')); end++)
        if (strncmp(end + 1, mark, letters) == 0 && end[1 + letters] == '"') return joined_place(walk, end + letters + 2);
    return at + strlen(at);
}

/* ---- directives ---- */

/* Of the # that begins a directive, or the two characters that stand for it; 0: something else. */
static size_t mark_length(const char *at)
{
    return *at == '#' ? 1 : at[0] == '%' && at[1] == ':' ? 2 : 0;
}

/* Up to the letter that ends it, the line's end, or the longest path that there is: what is longer is no name, and is not looked at again and again. */
static size_t name_length(const char *name, char end)
{
    enum { LONGEST = 4096 };
    size_t length = 0;
    while (length < LONGEST && name[length] && name[length] != end && name[length] != '\n') length++;
    return length;
}

/* A file, or the macro that names one. */
bool mt_directive_name(const char *at, mt_directive *found)
{
    found->form = *at == '"' || *at == '<' ? *at : 0;
    found->name = at + (found->form != 0);
    found->length = found->form ? name_length(found->name, found->form == '<' ? '>' : '"') : word_length(at);
    found->rest = found->name + found->length;
    if (!found->length || (!found->form && isdigit((unsigned char)*at))) return false;
    if (!found->form) return true;
    return *found->rest++ == (found->form == '<' ? '>' : '"');
}

bool mt_directive_is_parameter(const char *parameters, const char *word, size_t length)
{
    if (!parameters || *parameters != '(') return false;
    if (is_the_word(word, length, "__VA_ARGS__")) return true;
    for (const char *at = parameters + 1; *(at = mt_directive_blanks(at)) && *at != ')' && *at != '\n';) {
        size_t letters = word_length(at);
        if (letters && letters == length && strncmp(at, word, length) == 0) return true;
        at += letters ? letters : 1;
    }
    return false;
}

bool mt_directive_leads_out(const char *name, size_t length)
{
    return (length >= 3 && strncmp(name, "../", 3) == 0) || memmem(name, length, "/../", 4);
}

bool mt_directive_operand(const char **at, mt_directive *found)
{
    for (;;) {
        *at = mt_directive_blanks(*at);
        if (!**at || **at == '\n' || ((*at)[0] == '/' && (*at)[1] == '/')) return false;
        bool is_found = mt_directive_name(*at, found);
        size_t length = word_length(*at);
        *at = is_found ? found->rest : *at + (length ? length : 1);
        if (is_found) return true;
    }
}

/* Behind the # that begins a directive. */
static bool read_directive(const char *at, mt_directive *found, const char **start)
{
    static const struct { const char *word; mt_directive_kind kind; } directives[] = {
        {"include", MT_DIRECTIVE_INCLUDE}, {"include_next", MT_DIRECTIVE_INCLUDE_NEXT}, {"define", MT_DIRECTIVE_DEFINE}, {"undef", MT_DIRECTIVE_UNDEFINE},
    };
    *start = mt_directive_blanks(at);
    size_t length = word_length(*start);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (!is_the_word(*start, length, directives[i].word)) continue;
        *found = (mt_directive){.kind = directives[i].kind, .rest = *start + length};
        return mt_directive_name(mt_directive_blanks(*start + length), found);
    }
    return false;
}

bool mt_directive_asks(const mt_directive_walk *walk, const char *word, size_t length)
{
    static const char part[] = "has_include";
    for (size_t i = 0; i + sizeof part - 1 <= length; i++)
        if (strncasecmp(word + i, part, sizeof part - 1) == 0) return true;
    for (size_t i = 0; i < walk->asker_count; i++)
        if (is_the_word(word, length, walk->askers[i])) return true;
    return false;
}

const char *mt_directive_line_end(const char *at)
{
    while (*(at = mt_directive_blanks(at)) && *at != '\n' && !(at[0] == '/' && at[1] == '/')) at = token_end(at);
    return at;
}

bool mt_directive_asks_in(const mt_directive_walk *walk, const char *line)
{
    for (const char *end = mt_directive_line_end(line); (line = mt_directive_blanks(line)) < end;) {
        size_t length = word_length(line);
        if (length && mt_directive_asks(walk, line, length)) return true;
        line = token_end(line);
    }
    return false;
}

/* At a word. One without ( asks nothing, such as that of #ifdef __has_include. */
static bool read_probe(const mt_directive_walk *walk, const char *at, size_t length, mt_directive *found, const char **start)
{
    const char *open = mt_directive_blanks(at + length);
    if (*open != '(' || !mt_directive_asks(walk, at, length)) return false;
    *start = mt_directive_blanks(open + 1);
    found->kind = MT_DIRECTIVE_PROBE;
    bool is_real = is_the_word(at, length, "__has_include") || is_the_word(at, length, "__has_include_next");
    if (is_real && mt_directive_name(*start, found) && found->form && *mt_directive_blanks(found->rest) == ')') return true;
    *start = at;
    *found = (mt_directive){.kind = MT_DIRECTIVE_ASK, .name = at, .length = length, .rest = open + 1};
    return true;
}

static bool read_word(const char *at, size_t length, mt_directive *found, const char **start)
{
    *start = at;
    *found = (mt_directive){.kind = MT_DIRECTIVE_WORD, .name = at, .length = length, .rest = at + length};
    return true;
}

/* One step; true: it was a directive or a probe, of which *start is the beginning. */
static bool step(mt_directive_walk *walk, mt_directive *found, const char **start)
{
    const char *at = walk->at, *behind = skip_comment(at);
    bool is_first = !walk->is_inside, is_found = false;
    size_t length = word_length(at);
    walk->is_inside = *at != '\n' && (walk->is_inside || (behind == at && !isspace((unsigned char)*at)));
    if (behind != at) {
        walk->at = behind;
    } else if (is_first && mark_length(at)) {
        is_found = read_directive(at + mark_length(at), found, start);
        walk->at = is_found ? found->rest : at + mark_length(at);
    } else if (length && !number_length(at)) {
        const char *raw = skip_raw(walk, at, length);
        is_found = !raw && (read_probe(walk, at, length, found, start) || (walk->tells_words && read_word(at, length, found, start)));
        walk->at = is_found ? found->rest : raw ? raw : at + length;
    } else {
        walk->at = token_end(at);
    }
    return is_found;
}

bool mt_directive_next(mt_directive_walk *walk, mt_directive *found)
{
    const char *start;
    while (*walk->at) {
        if (!step(walk, found, &start)) continue;
        found->start = place_of(walk, start);
        found->end = place_of(walk, found->rest);
        return true;
    }
    return false;
}
