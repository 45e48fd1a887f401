#include "tuner/cli/requests/new_space.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/cli/requests/new_knobs.h"
#include "tuner/space/signature/signature_constants.h"

enum { NAME_SIZE = 64, MOST_SIZES = 16 };

typedef struct writer {
    const mt_signature *kernel;
    char sizes[MOST_SIZES][NAME_SIZE]; size_t size_count; /* shape values: the integer parameters, else N */
    mt_new_knobs knobs;
    mt_constants constants;           /* that need contents */
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

/* The product of all sizes; of a square one alone, its square. A matrix has two of them, and of more than four some are no sizes. */
static void add_total(const writer *w, mt_strbuf *out)
{
    size_t most = w->kernel->has_rows && !w->kernel->has_planes ? 2 : 4, count = w->size_count < most ? w->size_count : most;
    for (size_t i = 0; i < count; i++) mt_strbuf_addf(out, "%s%s", i ? " * " : "", w->sizes[i]);
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

static void write_knobs(const writer *w)
{
    const mt_new_knobs *knobs = &w->knobs;
    if (knobs->params.length) mt_strbuf_addf(w->out, "\n; Knobs: each is a macro that the source may read. More of them, and which values go together: [constraints].\n[params]\n%s", mt_strbuf_text(&knobs->params));
    if (knobs->is_literal || !knobs->block[1][0]) return;
    mt_strbuf_addf(w->out, "\n[constraints]\nblock = %s * %s", knobs->block[0], knobs->block[1]);
    if (knobs->block[2][0]) mt_strbuf_addf(w->out, " * %s", knobs->block[2]);
    mt_strbuf_add(w->out, " <= 1024 why \"a block has 1024 threads at most\"\n");
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

/* __constant__ variables get their contents from inputs, too. */
static void write_constants(const writer *w)
{
    for (size_t i = 0; i < w->constants.count; i++) {
        const mt_constant *constant = &w->constants.items[i];
        bool is_taken = false;
        for (size_t k = 0; k < w->kernel->parameter_count; k++) is_taken = is_taken || strcmp(w->kernel->parameters[k].name, constant->name) == 0;
        if (!constant->is_used || !constant->dtype || is_taken) continue;
        mt_strbuf_addf(w->out, "%s = in %s [%lld", constant->name, constant->dtype, (long long)(constant->elements ? constant->elements : 1));
        if (constant->lanes > 1) mt_strbuf_addf(w->out, ", %d", constant->lanes);
        mt_strbuf_addf(w->out, strchr("fb", *constant->dtype) ? "] uniform(-1, 1) constant %s ; guess: %sits values\n" : "] uniform(0, 1) constant %s ; guess: %sits values\n", constant->name, constant->elements ? "" : "its size; ");
    }
}

static void write_arguments(const writer *w)
{
    mt_strbuf_add(w->out, "\n; Arrays: `in`, `out` or `inout`, their type, elements and first values.\n[args]\n");
    for (size_t i = 0; i < w->kernel->parameter_count; i++)
        if (w->kernel->parameters[i].pointers) write_tensor(w, &w->kernel->parameters[i]);
    write_constants(w);
}

static void write_grid(const writer *w)
{
    const mt_new_knobs *knobs = &w->knobs;
    const char *x = knobs->block[0], *y = knobs->block[1], *z = knobs->block[2];
    mt_strbuf_addf(w->out, "\n; Guess: a thread for each element%s%s.\ngrid  = ceil_div(", *y ? "; the first size counts columns" : "",
                   knobs->is_literal ? "; which of the knobs say how many threads a block has, and how many elements it does, is not known here" : "");
    if (*y) mt_strbuf_addf(w->out, "%s, %s), ceil_div(%s, %s)\nblock = %s, %s%s%s\n", w->sizes[0], x, w->sizes[w->size_count > 1], y, x, y, *z ? ", " : "", z);
    else {
        add_total(w, w->out);
        mt_strbuf_addf(w->out, ", %s)\nblock = %s\n", x, x);
    }
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
    write_grid(w);
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
    if (*w->knobs.guard) mt_strbuf_addf(w->out, "; Without it the source gives knobs values of its own.\noptions   = -D%s\n", w->knobs.guard);
    write_shape(w);
    mt_strbuf_addf(w->out, "\n[algorithm %s]\n", kernel->name);
}

mt_status mt_new_space(const char *source, const char *others, const char *path, const mt_signature *kernel, mt_strbuf *out, mt_error *err)
{
    writer w = {.kernel = kernel, .out = out};
    mt_status st = MT_OK;
    MT_TRY(check(kernel, err));
    MT_TRY(mt_new_knobs_find(source, others, kernel, &w.knobs, err));
    MT_TRY(mt_constants_read(source, &w.constants, err));
    name_sizes(&w);
    write_kernel(&w, path);
    write_knobs(&w);
    write_arguments(&w);
    write_launch(&w);
    if (out->failed) st = mt_no_memory("new", err);
done:
    mt_strbuf_free(&w.knobs.params);
    mt_free(w.constants.items);
    return st;
}
