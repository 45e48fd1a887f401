/* Whether a body takes blockIdx.x for an index by itself: a block for each row, and not for each so many threads. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/signature/signature_internal.h"
#include "tuner/space/signature/signature_code.h"

typedef struct watcher {
    mt_signature *signature;
    mt_code_word names[3];                 /* variables that hold blockIdx.x, .y, .z and nothing else */
    mt_code_word factors[3];               /* constants in the lengths of rows */
    bool is_index[3], is_stepped[3];
} watcher;

/* "blockIdx.x": 0; *at comes behind it. -1: something else. */
static int read_axis(mt_code_word word, const char **at)
{
    const char *look = *at;
    if (!mt_code_is(word, "blockIdx") || !mt_code_is(mt_code_next(&look), ".")) return -1;
    mt_code_word axis = mt_code_next(&look);
    if (axis.length != 1 || *axis.at < 'x' || *axis.at > 'z') return -1;
    *at = look;
    return *axis.at - 'x';
}

/* Behind "=": of "blockIdx.x;" or "(size_t)blockIdx.x," the axis, and *at comes in front of its end. */
static int read_alone(const char **at)
{
    const char *look = *at;
    int axis = -1, depth = 0;
    for (mt_code_word word; (word = mt_code_next(&look)).length && !strchr(";,", *word.at); *at = look) {
        int found = read_axis(word, &look);
        depth += (strchr("(<", *word.at) != NULL) - (strchr(")>", *word.at) != NULL);
        bool is_cast = strchr("(<)>", *word.at) || mt_code_is(word, "static_cast") || (depth && mt_code_is_name(word));
        if (found < 0 ? !is_cast : axis >= 0) return -1;
        if (found >= 0) axis = found;
    }
    return axis;
}

/* Which parameter the word is, by value; -1: none. */
static int find_number(const watcher *w, mt_code_word word)
{
    for (size_t i = 0; i < w->signature->parameter_count; i++)
        if (!w->signature->parameters[i].pointers && mt_code_is(word, w->signature->parameters[i].name)) return (int)i;
    return -1;
}

/* What stands at *at, behind the casts in front of it. */
static mt_code_word read_operand(const char **at)
{
    mt_code_word word = mt_code_next(at);
    while (mt_code_is(word, "(")) {
        const char *look = *at;
        mt_code_word inner = mt_code_next(&look);
        bool is_cast = mt_code_is(mt_code_next(&look), ")");
        if (is_cast) *at = look;
        word = is_cast ? mt_code_next(at) : inner;
    }
    return word;
}

/* Numbers that come with the kernel are the lengths of rows; others count blocks in steps. */
static void note_factor(watcher *w, int axis, mt_code_word factor)
{
    int place = find_number(w, factor);
    if (place < 0) w->is_stepped[axis] = true;
    else w->is_index[axis] = true, w->signature->parameters[place].row_axes |= 1u << axis;
}

/* Behind "*": of "n * D" the first factor tells what is counted; a constant among the others makes rows longer. */
static void note_product(watcher *w, int axis, const char *at)
{
    mt_code_word factor = read_operand(&at);
    note_factor(w, axis, factor);
    while (mt_code_is(mt_code_next(&at), "*")) {
        int place = find_number(w, factor = read_operand(&at));
        if (place >= 0) w->signature->parameters[place].row_axes |= 1u << axis;
        else if (!w->factors[axis].length) w->factors[axis] = factor;
    }
}

static void note_bound(watcher *w, int axis, mt_code_word bound)
{
    int place = find_number(w, bound);
    if (place < 0) return;
    w->is_index[axis] = true;
    w->signature->rows[axis].bound = place;
}

/* The index, or its name, stands between before[0] and `at`. */
static void note_use(watcher *w, int axis, const mt_code_word before[3], const char *at)
{
    const char *look = at;
    mt_code_word next = mt_code_next(&look);
    if (mt_code_is(before[0], "[") && strchr("]+-", *next.at)) w->is_index[axis] = true;
    if (mt_code_is(before[0], "(") && mt_code_is(next, ")")) next = mt_code_next(&look); /* static_cast<long>(blockIdx.x) * n */
    bool is_doubled = next.length && *look == *next.at, is_less = mt_code_is(next, "<") || mt_code_is(next, ">");
    size_t back = mt_code_is(before[0], "=") ? 1 : 0;
    if (mt_code_is(before[0], "*")) note_factor(w, axis, before[1]);
    if (mt_code_is(before[back], "<") || mt_code_is(before[back], ">")) note_bound(w, axis, before[back + 1]);
    if (mt_code_is(next, "*")) note_product(w, axis, look);
    else if (mt_code_is(next, "/") || mt_code_is(next, "%")) w->is_index[axis] = true;
    else if (is_less && is_doubled) w->is_stepped[axis] = true;
    else if (is_less) look += *look == '=', note_bound(w, axis, read_operand(&look));
    else if (mt_code_is(next, "+") && *look != '=') { /* to count all blocks */
        mt_code_word operand = read_operand(&look);
        w->is_stepped[axis] = w->is_stepped[axis] || mt_code_is(operand, "gridDim") || mt_code_is(operand, "blockIdx");
    }
}

mt_status mt_signature_read_blocks(const char *at, const char *end, mt_signature *signature, mt_error *err)
{
    watcher w = {.signature = signature};
    mt_code_word before[3] = {{"", 0}, {"", 0}, {"", 0}}, word;
    for (int axis = 0; axis < 3; axis++) signature->rows[axis].bound = -1;
    while ((word = mt_code_next(&at)).length && word.at < end) {
        bool is_member = mt_code_is(before[0], ".") || (mt_code_is(before[0], ">") && mt_code_is(before[1], "-"));
        const char *look = at;
        int axis = read_axis(word, &at), named = mt_code_is(word, "=") && mt_code_is_name(before[0]) ? read_alone(&look) : -1;
        if (named >= 0) w.names[named] = before[0], at = look;
        for (int i = 0; axis < 0 && !is_member && i < 3; i++)
            if (w.names[i].length && w.names[i].length == word.length && strncmp(w.names[i].at, word.at, word.length) == 0) axis = i;
        if (axis >= 0) note_use(&w, axis, before, at);
        memmove(before + 1, before, 2 * sizeof *before);
        before[0] = word;
    }
    for (int axis = 0; axis < 3; axis++) {
        signature->rows[axis].is_alone = w.is_index[axis] && !w.is_stepped[axis];
        if (!signature->rows[axis].is_alone || !w.factors[axis].length) continue;
        if (!(signature->rows[axis].factor = mt_strndup(w.factors[axis].at, w.factors[axis].length))) return mt_no_memory("signature", err);
    }
    return MT_OK;
}
