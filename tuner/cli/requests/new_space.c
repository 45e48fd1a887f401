#include "tuner/cli/requests/new_space.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/signature/signature_code.h"

enum { NAME_SIZE = 64, MOST_SIZES = 16 };

typedef struct writer {
    const char *source;
    char *code;                       /* without comments and directives */
    const mt_signature *kernel;
    char sizes[MOST_SIZES][NAME_SIZE]; size_t size_count; /* shape values: the integer parameters, else N */
    char block[2][NAME_SIZE];         /* knobs: threads of a block; [1] "" = one row */
    mt_strbuf params;                 /* lines of [params] */
    mt_strbuf *out;
} writer;

static bool is_size(const mt_parameter *parameter)
{
    return !parameter->pointers && parameter->dtype && (*parameter->dtype == 'i' || *parameter->dtype == 'u') && strcmp(parameter->type, "bool") != 0;
}

/* ---- sizes ---- */

static void name_sizes(writer *w)
{
    for (size_t i = 0; i < w->kernel->parameter_count && w->size_count < MOST_SIZES; i++) {
        const mt_parameter *parameter = &w->kernel->parameters[i];
        if (!is_size(parameter)) continue;
        char *name = w->sizes[w->size_count++];
        snprintf(name, NAME_SIZE, "%s", parameter->name);
        for (char *at = name; *at; at++) *at = (char)toupper((unsigned char)*at);
    }
    if (w->size_count == 0) snprintf(w->sizes[w->size_count++], NAME_SIZE, "N");
}

/* The product of all sizes; of a square one alone, its square. */
static void add_total(const writer *w, mt_strbuf *out)
{
    for (size_t i = 0; i < w->size_count; i++) mt_strbuf_addf(out, "%s%s", i ? " * " : "", w->sizes[i]);
    if (w->size_count == 1 && w->kernel->has_rows) mt_strbuf_addf(out, " * %s", w->sizes[0]);
}

static void write_shape(const writer *w)
{
    static const int each[] = {1048576, 1024, 256, 32};
    size_t places = w->size_count + (w->size_count == 1 && w->kernel->has_rows);
    mt_strbuf_add(w->out, "\n; Guess: sizes. Say what your program asks for; several [shape NAME] are tuned one after the other.\n[shape example]\n");
    for (size_t i = 0; i < w->size_count; i++) mt_strbuf_addf(w->out, "%s = %d\n", w->sizes[i], each[places < 4 ? places - 1 : 3]);
}

/* ---- knobs ---- */

/* The line behind `at`, as "#  word name rest": false where it is another directive. */
static bool read_directive(const char *at, const char *word, char name[NAME_SIZE], const char **rest)
{
    size_t length = 0;
    at += strspn(at, " \t");
    if (*at++ != '#') return false;
    at += strspn(at, " \t");
    if (strncmp(at, word, strlen(word)) != 0) return false;
    at += strlen(word);
    at += strspn(at, " \t");
    while (at[length] && mt_text_is_identifier(at, length + 1)) length++;
    if (!length || length >= NAME_SIZE) return false;
    snprintf(name, NAME_SIZE, "%.*s", (int)length, at);
    *rest = at + length;
    return true;
}

static bool is_block(const char *name, long value)
{
    return value >= 32 && value <= 1024 && value % 32 == 0 && (strcasestr(name, "block") || strcasestr(name, "thread"));
}

static void add_knob(writer *w, const char *name, long value)
{
    mt_strbuf_addf(&w->params, "%s = ", name);
    if (!w->block[0][0] && is_block(name, value)) {
        snprintf(w->block[0], NAME_SIZE, "%s", name);
        mt_strbuf_addf(&w->params, "32, 64, 128, 256, 512, 1024 default %ld doc \"threads of a block\"\n", value);
    } else if (value == 0) {
        mt_strbuf_add(&w->params, "0, 1\n");
    } else if (value > 1 && (value & (value - 1)) == 0) {
        mt_strbuf_addf(&w->params, "%ld, %ld, %ld default %ld\n", value / 2, value, 2 * value, value);
    } else {
        mt_strbuf_addf(&w->params, "%ld, %ld default %ld\n", value, 2 * value, value);
    }
}

static size_t count_words(const char *text, const char *word)
{
    size_t count = 0;
    for (mt_code_word at; (at = mt_code_next(&text)).length;) count += mt_code_is(at, word);
    return count;
}

/* What the source gives a value only where nobody else did: #ifndef TILE, #define TILE 16. */
static void find_guarded(writer *w)
{
    for (const char *at = w->source; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        char name[NAME_SIZE], defined[NAME_SIZE], *end;
        const char *rest, *next = strchr(at, '\n');
        if (!next || !read_directive(at, "ifndef", name, &rest) || !read_directive(next + 1, "define", defined, &rest) || strcmp(name, defined) != 0) continue;
        long value = strtol(rest, &end, 10);
        bool is_number = end != rest && (*end == '\n' || *end == '\r' || *end == '\0' || *end == ' ');
        if (is_number && value >= 0 && value < 65536 && count_words(w->source, name) > 2) add_knob(w, name, value); /* it is used too */
    }
}

/* Kernel Tuner's names, which sources use without defining them. */
static void find_customary(writer *w)
{
    static const char *const names[] = {"block_size_x", "block_size_y"};
    for (size_t i = 0; i < 2; i++)
        if (!w->block[i][0] && mt_text_has_word(w->code, names[i])) snprintf(w->block[i], NAME_SIZE, "%s", names[i]);
    if (w->block[0][0] == 'b') mt_strbuf_addf(&w->params, "%s = 32, 64, 128, 256 doc \"threads of a block\"\n", w->block[0]);
    if (w->block[1][0]) mt_strbuf_addf(&w->params, "%s = 1, 2, 4, 8\n", w->block[1]);
}

/* A name of the tool's own that the source does not use. */
static void name_knob(const writer *w, const char *const *names, char out[NAME_SIZE])
{
    while (names[1] && mt_text_has_word(w->source, names[0])) names++;
    snprintf(out, NAME_SIZE, "%s", names[0]);
}

static void find_knobs(writer *w)
{
    static const char *const rows[] = {"BLOCK_Y", "THREADS_Y", "KNOB_BLOCK_Y", NULL}, *const columns[] = {"BLOCK_X", "THREADS_X", "KNOB_BLOCK_X", NULL}, *const ones[] = {"BLOCK", "THREADS", "KNOB_BLOCK", NULL};
    find_guarded(w);
    find_customary(w);
    if (!w->block[0][0]) {
        name_knob(w, w->kernel->has_rows ? columns : ones, w->block[0]);
        mt_strbuf_addf(&w->params, w->kernel->has_rows ? "%s = 8, 16, 32, 64, 128 default 32 doc \"threads of a block\"\n" : "%s = 32, 64, 128, 256, 512, 1024 default 256 doc \"threads of a block\"\n", w->block[0]);
    }
    if (w->kernel->has_rows && !w->block[1][0]) {
        name_knob(w, rows, w->block[1]);
        mt_strbuf_addf(&w->params, "%s = 1, 2, 4, 8, 16 default 4 doc \"rows of threads\"\n", w->block[1]);
    }
}

static void write_knobs(const writer *w)
{
    mt_strbuf_add(w->out, "\n; Knobs: each is a macro that the source may read. More of them, and which values go together: [constraints].\n[params]\n");
    mt_strbuf_add(w->out, mt_strbuf_text(&w->params));
    if (!w->block[1][0]) return;
    mt_strbuf_addf(w->out, "\n[constraints]\nblock = %s * %s <= 1024 why \"a block has 1024 threads at most\"\n", w->block[0], w->block[1]);
}

/* ---- arguments ---- */

static void write_tensor(const writer *w, const mt_parameter *parameter)
{
    const char *role = !parameter->is_written ? "in" : parameter->is_read && !parameter->is_added ? "inout" : "out";
    bool is_floating = strchr("fb", *parameter->dtype) != NULL;
    mt_strbuf_addf(w->out, "%s = %s %s [", parameter->name, role, parameter->dtype);
    add_total(w, w->out);
    if (parameter->lanes > 1) mt_strbuf_addf(w->out, ", %d", parameter->lanes);
    mt_strbuf_add(w->out, strcmp(role, "out") == 0 ? "]" : is_floating ? "] uniform(-1, 1)" : "] uniform(0, 1)");
    if (parameter->is_added) mt_strbuf_addf(w->out, " zero before_each%s", is_floating ? " order any" : ""); /* sums of fractions depend on who comes first */
    mt_strbuf_addf(w->out, " ; guess: %s%s\n", w->size_count > 1 ? "its size; " : "", parameter->is_const ? "its values" : parameter->is_added ? "it begins as zeros" : "out is written alone, inout read too");
}

static void write_arguments(const writer *w)
{
    mt_strbuf_add(w->out, "\n; Arrays: `in`, `out` or `inout`, their type, elements and first values.\n[args]\n");
    for (size_t i = 0; i < w->kernel->parameter_count; i++)
        if (w->kernel->parameters[i].pointers) write_tensor(w, &w->kernel->parameters[i]);
}

static void write_launch(const writer *w)
{
    size_t size = 0;
    bool has_fractions = false;
    for (size_t i = 0; i < w->kernel->parameter_count; i++) has_fractions = has_fractions || (!w->kernel->parameters[i].pointers && !is_size(&w->kernel->parameters[i]));
    mt_strbuf_addf(w->out, "\n[launch 1]\n%sargs  = ", has_fractions ? "; Guess: numbers that are no sizes are 1.\n" : "");
    for (size_t i = 0; i < w->kernel->parameter_count; i++) {
        const mt_parameter *parameter = &w->kernel->parameters[i];
        if (i) mt_strbuf_add(w->out, ", ");
        if (parameter->pointers) mt_strbuf_add(w->out, parameter->name);
        else if (is_size(parameter) && size < MOST_SIZES) mt_strbuf_addf(w->out, "%s(%s)", parameter->dtype, w->sizes[size++]);
        else mt_strbuf_addf(w->out, "%s(1)", parameter->dtype);
    }
    if (w->block[1][0]) mt_strbuf_addf(w->out, "\n; Guess: a thread for each element; the first size counts columns.\ngrid  = ceil_div(%s, %s), ceil_div(%s, %s)\nblock = %s, %s\n", w->sizes[0], w->block[0], w->sizes[w->size_count > 1], w->block[1], w->block[0], w->block[1]);
    else {
        mt_strbuf_add(w->out, "\n; Guess: a thread for each element.\ngrid  = ceil_div(");
        add_total(w, w->out);
        mt_strbuf_addf(w->out, ", %s)\nblock = %s\n", w->block[0], w->block[0]);
    }
    if (w->kernel->has_dynamic_smem) mt_strbuf_add(w->out, "; Guess: none. The kernel has extern __shared__ memory: say how many bytes a launch gives it.\nsmem  = 0\n");
}

/* ---- all of it ---- */

static mt_status check(const mt_signature *kernel, mt_error *err)
{
    bool has_output = false;
    if (kernel->is_template)
        return MT_FAIL(err, MT_ERR_SPEC, "%s is a template, whose arguments are yours to choose: expected a kernel without them; or write the search space by hand, with `entry = %s<…>`", kernel->name, kernel->name);
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const mt_parameter *parameter = &kernel->parameters[i];
        if (strstr(parameter->type, "exture") || strstr(parameter->type, "urface"))
            return MT_FAIL(err, MT_ERR_SPEC, "%s: parameter %s is a texture or a surface, which search spaces do not have: let the kernel read a `const float *__restrict__` (the same cache)", kernel->name, parameter->name);
        if (parameter->pointers > 1 || !parameter->dtype || (!parameter->pointers && parameter->lanes > 1))
            return MT_FAIL(err, MT_ERR_SPEC, "%s: parameter %s is of type %s%s: expected a number, or a pointer to numbers (float, int, __half, float4, …); call it from an extern \"C\" __global__ function that has such parameters",
                           kernel->name, parameter->name, parameter->type, parameter->pointers > 1 ? " **" : parameter->pointers ? " *" : "");
        has_output = has_output || (parameter->pointers && parameter->is_written);
    }
    return has_output ? MT_OK : MT_FAIL(err, MT_ERR_SPEC, "%s writes to none of its parameters: expected a pointer that is not const", kernel->name);
}

static void write_kernel(const writer *w, const char *path)
{
    const mt_signature *kernel = w->kernel;
    mt_strbuf_addf(w->out, "; A first search space for %s, by `msda-tune new`. What is called a guess is to be looked at.\n[kernel]\nname      = %s\nsource    = %s\n", kernel->name, kernel->name, path);
    mt_strbuf_add(w->out, "; What the kernel computes with every knob at its default is taken for right. Better: the name of a plain __global__ function in the source that computes the same.\nreference = default\n");
    write_shape(w);
    mt_strbuf_addf(w->out, "\n[algorithm %s]\n", kernel->name);
}

mt_status mt_new_space(const char *source, const char *path, const mt_signature *kernel, mt_strbuf *out, mt_error *err)
{
    mt_status st = check(kernel, err);
    if (st != MT_OK) return st;
    writer w = {.source = source, .code = mt_code_bare(source), .kernel = kernel, .out = out};
    if (w.code) {
        name_sizes(&w);
        find_knobs(&w);
        write_kernel(&w, path);
        write_knobs(&w);
        write_arguments(&w);
        write_launch(&w);
    }
    if (!w.code || out->failed || w.params.failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "out of memory");
    mt_strbuf_free(&w.params);
    mt_free(w.code);
    return st;
}
