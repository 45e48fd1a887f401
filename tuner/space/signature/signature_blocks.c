/* Whether a body takes blockIdx.x for an index by itself: a block for each row; or counts it in steps of as many threads as a block has. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/signature/signature_internal.h"
#include "tuner/space/signature/signature_code.h"

typedef struct watcher {
    mt_signature *signature;
    mt_code_word names[3], threads[3];     /* variables that hold blockIdx.x, .y, .z and nothing else; those of threadIdx */
    mt_code_word steps[3];                 /* "TILE" of blockIdx.x * TILE + threadIdx.x */
    mt_code_word factors[3];               /* constants in the lengths of rows */
    bool is_index[3], is_stepped[3];
} watcher;

static bool is_same(mt_code_word a, mt_code_word b)
{
    return a.length && a.length == b.length && strncmp(a.at, b.at, a.length) == 0;
}

/* "blockIdx.x": 0; *at comes behind it. -1: something else. */
static int read_axis(const char *base, mt_code_word word, const char **at)
{
    const char *look = *at;
    if (!mt_code_is(word, base) || !mt_code_is(mt_code_next(&look), ".")) return -1;
    mt_code_word axis = mt_code_next(&look);
    if (axis.length != 1 || *axis.at < 'x' || *axis.at > 'z') return -1;
    *at = look;
    return *axis.at - 'x';
}

/* Behind "=": of "blockIdx.x;" or "(size_t)blockIdx.x," the axis, and *at comes in front of its end. */
static int read_alone(const char *base, const char **at)
{
    const char *look = *at;
    int axis = -1, depth = 0;
    for (mt_code_word word; (word = mt_code_next(&look)).length && !strchr(";,", *word.at); *at = look) {
        int found = read_axis(base, word, &look);
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
        bool is_closed = mt_code_is(mt_code_next(&look), ")");
        const char *behind = look;
        mt_code_word operand = mt_code_next(&behind);
        bool is_cast = is_closed && mt_code_is_name(inner) && (mt_code_is_name(operand) || mt_code_is(operand, "("));
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

/* "blockIdx.x * TILE + threadIdx.x", whatever stands first. */
static void note_step(watcher *w, int axis, const mt_code_word before[4], const char *at)
{
    const char axis_name[] = {(char)('x' + axis), '\0'};
    const char *look = at;
    bool is_first = mt_code_is(mt_code_next(&look), "*"), is_second = mt_code_is(before[0], "*");
    if (is_first == is_second || w->steps[axis].length) return;
    mt_code_word step = is_first ? read_operand(&look) : before[1], next, added = before[is_first ? 1 : 3];
    bool is_behind = mt_code_is(before[is_first ? 0 : 2], "+") && (mt_code_is(added, axis_name) || is_same(added, w->threads[axis]));
    if (!is_first) look = at;
    while (mt_code_is(next = mt_code_next(&look), ")")) continue;
    if (mt_code_is(next, "+")) next = mt_code_next(&look);
    else next.length = 0;
    bool is_number = (mt_code_is_name(step) && find_number(w, step) < 0) || (*step.at >= '0' && *step.at <= '9');
    if (is_number && (is_behind || mt_code_is(next, "threadIdx") || is_same(next, w->threads[axis]))) w->steps[axis] = step;
}

/* The index, or its name, stands between before[0] and `at`. */
static void note_use(watcher *w, int axis, const mt_code_word before[4], const char *at)
{
    const char *look = at;
    note_step(w, axis, before, at);
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

/* Behind "name =": what it holds from here on. *at comes behind that. */
static void note_name(watcher *w, mt_code_word name, const char **at)
{
    const char *look = *at;
    int thread = read_alone("threadIdx", &look), block = thread < 0 ? (look = *at, read_alone("blockIdx", &look)) : -1;
    if (thread >= 0) w->threads[thread] = name;
    if (block >= 0) w->names[block] = name, *at = look;
}

static mt_status take(mt_code_word word, char **out, mt_error *err)
{
    return !word.length || (*out = mt_strndup(word.at, word.length)) ? MT_OK : mt_no_memory("signature", err);
}

mt_status mt_signature_read_blocks(const char *at, const char *end, mt_signature *signature, mt_error *err)
{
    watcher w = {.signature = signature};
    mt_code_word before[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}}, word;
    mt_status st = MT_OK;
    for (int axis = 0; axis < 3; axis++) signature->rows[axis].bound = -1;
    while ((word = mt_code_next(&at)).length && word.at < end) {
        bool is_member = mt_code_is(before[0], ".") || (mt_code_is(before[0], ">") && mt_code_is(before[1], "-"));
        int axis = read_axis("blockIdx", word, &at);
        if (mt_code_is(word, "=") && mt_code_is_name(before[0])) note_name(&w, before[0], &at);
        for (int i = 0; axis < 0 && !is_member && i < 3; i++)
            if (is_same(w.names[i], word)) axis = i;
        if (axis >= 0) note_use(&w, axis, before, at);
        memmove(before + 1, before, 3 * sizeof *before);
        before[0] = word;
    }
    for (int axis = 0; st == MT_OK && axis < 3; axis++) {
        signature->rows[axis].is_alone = w.is_index[axis] && !w.is_stepped[axis];
        st = take(w.steps[axis], &signature->steps[axis], err);
        if (st == MT_OK && signature->rows[axis].is_alone) st = take(w.factors[axis], &signature->rows[axis].factor, err);
    }
    return st;
}
