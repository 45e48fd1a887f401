/* What a body takes the elements of its arrays for: indices into arrays, or what a logarithm, a root or a division needs. */
#include <string.h>

#include "tuner/space/signature/signature_internal.h"
#include "tuner/space/signature/signature_code.h"

enum { MOST_LOCALS = 32, MOST_PLACES = 64 };

typedef struct watcher {
    mt_signature *signature;
    struct {
        mt_code_word name;
        size_t place;     /* the parameter of which it holds an element */
        bool is_all;      /* … and nothing is added to that */
    } locals[MOST_LOCALS];
    size_t local_count;
    int subscripts, round; /* open brackets */
    int call;              /* how many round ones were open before that of sqrt( or log(; -1: none is */
    bool has_minus;        /* in that call */
    uint64_t called;       /* the parameters in it, a bit each */
} watcher;

static bool needs_positive(mt_code_word word)
{
    static const char *const names[] = {"sqrt", "sqrtf", "rsqrt", "rsqrtf", "log", "logf", "__logf", "log2", "log2f", "__log2f", "log10", "log10f", "__log10f", "pow", "powf", "__powf", "hsqrt", "hrsqrt", "hlog"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mt_code_is(word, names[i])) return true;
    return false;
}

/* Which pointer the word is, where an element of it follows; MOST_PLACES: none. *at comes behind its index; *extra: the number of "row + 1" in that. */
static size_t read_element(const watcher *w, mt_code_word word, const char **at, int *extra)
{
    size_t place = 0;
    const char *look = *at;
    while (place < w->signature->parameter_count && !(w->signature->parameters[place].pointers && mt_code_is(word, w->signature->parameters[place].name))) place++;
    if (place >= w->signature->parameter_count || place >= MOST_PLACES || !mt_code_is(mt_code_next(&look), "[")) return MOST_PLACES;
    const char *index = look;
    mt_code_skip(&look, '[', ']');
    *at = look;
    mt_code_next(&index);
    bool adds = mt_code_is(mt_code_next(&index), "+");
    mt_code_word number = mt_code_next(&index);
    *extra = adds && number.length == 1 && *number.at >= '1' && *number.at <= '9' && mt_code_is(mt_code_next(&index), "]") ? *number.at - '0' : 0;
    return place;
}

/* "name = idx[i] + 1;": `name` holds an element from here on. `at` stands behind the "=". */
static void note_local(watcher *w, mt_code_word name, const char *at)
{
    int extra;
    size_t place = read_element(w, mt_code_next(&at), &at, &extra);
    if (place == MOST_PLACES || w->local_count == MOST_LOCALS) return;
    mt_code_word next = mt_code_next(&at);
    w->locals[w->local_count].name = name;
    w->locals[w->local_count].place = place;
    w->locals[w->local_count++].is_all = next.length && strchr(";,", *next.at);
}

/* How large an index may be depends on what it is multiplied with: row[i] * width. */
static void note_index(const watcher *w, mt_parameter *parameter, const char *at)
{
    const char *look = at;
    parameter->is_index = true;
    if (!mt_code_is(mt_code_next(&look), "*")) return;
    mt_code_word factor = mt_code_next(&look);
    parameter->index_factor = -1;
    for (size_t i = 0; i < w->signature->parameter_count; i++)
        if (!w->signature->parameters[i].pointers && mt_code_is(factor, w->signature->parameters[i].name)) parameter->index_factor = (int)i + 1;
}

/* An element stands between before[0] and `behind`. */
static void note_element(watcher *w, size_t place, mt_code_word before, const char *behind, bool is_all)
{
    mt_parameter *parameter = &w->signature->parameters[place];
    bool is_cast = mt_code_is(before, ")");
    if (w->subscripts && !is_cast) note_index(w, parameter, behind);
    if (!w->subscripts && mt_code_is(before, "/")) parameter->is_positive = true;
    if (!w->subscripts && w->call >= 0 && is_all) w->called |= UINT64_C(1) << place;
}

/* x[row * width]: the width is part of an index. */
static void note_number(const watcher *w, mt_code_word word, mt_code_word before)
{
    for (size_t i = 0; w->subscripts && !mt_code_is(before, ".") && i < w->signature->parameter_count; i++)
        if (!w->signature->parameters[i].pointers && mt_code_is(word, w->signature->parameters[i].name)) w->signature->parameters[i].is_index = true;
}

/* Brackets, and the calls that they belong to: a minus within one makes what it needs of its elements uncertain. */
static void note_bracket(watcher *w, mt_code_word word, mt_code_word before)
{
    if (mt_code_is(word, "(") && w->call < 0 && needs_positive(before)) w->call = w->round, w->called = 0, w->has_minus = false;
    w->round += mt_code_is(word, "(") - mt_code_is(word, ")");
    w->subscripts += mt_code_is(word, "[") - mt_code_is(word, "]");
    w->has_minus = w->has_minus || mt_code_is(word, "-");
    if (w->call < 0 || w->round > w->call) return;
    for (size_t i = 0; i < w->signature->parameter_count && i < MOST_PLACES && !w->has_minus; i++)
        if (w->called >> i & 1) w->signature->parameters[i].is_positive = true;
    w->call = -1;
}

/* "(const float *)name" and "static_cast<const float *>(name)" tell what a void * points to. */
static void note_cast(mt_signature *signature, mt_code_word word, const mt_code_word before[4])
{
    bool is_named = mt_code_is(before[0], "(") && mt_code_is(before[1], ">") && mt_code_is(before[2], "*"), is_plain = mt_code_is(before[0], ")") && mt_code_is(before[1], "*");
    for (size_t i = 0; (is_named || is_plain) && i < signature->parameter_count; i++) {
        mt_parameter *parameter = &signature->parameters[i];
        mt_code_word type = before[is_named ? 3 : 2];
        char name[32] = "";
        if (parameter->dtype || parameter->pointers != 1 || strcmp(parameter->type, "void") != 0 || !mt_code_is(word, parameter->name) || type.length >= sizeof name) continue;
        memcpy(name, type.at, type.length);
        parameter->dtype = mt_signature_dtype(name, &parameter->lanes);
        parameter->is_alias = true;
    }
}

void mt_signature_read_elements(const char *at, const char *end, mt_signature *signature)
{
    watcher w = {.signature = signature, .call = -1};
    mt_code_word word, before[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    while ((word = mt_code_next(&at)).length && word.at < end) {
        const char *behind = at;
        int extra = 0;
        size_t place = mt_code_is(before[0], ".") ? MOST_PLACES : read_element(&w, word, &behind, &extra);
        if (place < MOST_PLACES && extra > signature->parameters[place].extra) signature->parameters[place].extra = extra;
        if (place < MOST_PLACES) note_element(&w, place, before[0], behind, true);
        for (size_t i = 0; i < w.local_count && !mt_code_is(before[0], "."); i++)
            if (w.locals[i].name.length == word.length && strncmp(w.locals[i].name.at, word.at, word.length) == 0) note_element(&w, w.locals[i].place, before[0], at, w.locals[i].is_all);
        note_number(&w, word, before[0]);
        note_bracket(&w, word, before[0]);
        if (mt_code_is(word, "=") && mt_code_is_name(before[0])) note_local(&w, before[0], at);
        note_cast(signature, word, before);
        memmove(before + 1, before, 3 * sizeof *before);
        before[0] = word;
    }
}
