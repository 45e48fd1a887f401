#include "tuner/cli/requests/new_space.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/base/texts.h"
#include "tuner/cli/requests/new_host.h"
#include "tuner/cli/requests/new_knobs.h"
#include "tuner/space/dtype.h"
#include "tuner/space/source/declared.h"
#include "tuner/space/signature/signature_constants.h"
#include "tuner/space/signature/fields.h"
#include "tuner/space/spec/spec.h"

enum { NAME_SIZE = 64, MOST_SIZES = 16, MOST_POINTERS = 16 }; /* POINTERS: of an array in a struct */

typedef struct writer {
    const char *source, *others;
    const mt_signature *kernel;
    mt_parameter *parameters; size_t parameter_count; /* of the kernel, structs as their fields; names and types are the kernel's, its structs' or `names`' */
    size_t *owners;                   /* per one of these: which parameter of the kernel it is, or is in */
    mt_signatures *structs;           /* per parameter of the kernel: its fields, or none */
    mt_texts names;                   /* that are neither the kernel's nor its structs' */
    char sizes[MOST_SIZES][NAME_SIZE]; size_t size_count; /* shape values: the integer parameters, else N */
    size_t size_of[MOST_SIZES];       /* per size: its parameter, or parameter_count */
    int row_sizes[3];                 /* per axis: the size of which each index has a block; -1: none, threads count there */
    mt_new_knobs knobs;
    mt_constants constants;           /* that need contents */
    bool has_host_code;               /* in the source, or in what it includes */
    mt_strbuf *out;
} writer;

/* Of a number by value: a type that no tensor has, too. */
static const char *scalar_dtype(const mt_parameter *parameter)
{
    return strcmp(parameter->type, "bool") == 0 ? "bool" : parameter->dtype;
}

static bool is_integer(const mt_parameter *parameter)
{
    return parameter->dtype && (*parameter->dtype == 'i' || *parameter->dtype == 'u');
}

/* Numbers of 8 and 16 bits are flags and the like. */
static bool is_wide(const mt_parameter *parameter)
{
    return is_integer(parameter) && (strcmp(parameter->dtype + 1, "32") == 0 || strcmp(parameter->dtype + 1, "64") == 0);
}

static bool is_size(const mt_parameter *parameter)
{
    return !parameter->pointers && parameter->elements <= 1 && parameter->lanes == 1 && is_wide(parameter) && !parameter->is_enum;
}

/* ---- structs ---- */

static bool is_struct(const mt_parameter *parameter)
{
    return !parameter->pointers && !parameter->dtype;
}

static void add_parameter(writer *w, size_t owner, const mt_parameter *parameter)
{
    const char *type = parameter->dtype ? NULL : mt_signature_taken_type(w->kernel, parameter->type);
    w->owners[w->parameter_count] = owner;
    mt_parameter *added = &w->parameters[w->parameter_count++];
    *added = *parameter;
    if (type) added->dtype = mt_signature_dtype(type, &added->lanes), added->is_alias = true;
    if (!added->dtype && added->is_const && added->pointers == 1 && strcmp(added->type, "void") == 0) added->dtype = "u8", added->is_alias = true; /* bytes, at least */
    if (added->dtype || type) return;
    added->dtype = mt_enum_dtype(w->source, added->type);
    if (!added->dtype) added->dtype = mt_enum_dtype(w->others, added->type);
    added->is_enum = added->dtype;
}

/* Pointers in an array are arguments of their own. */
static size_t count_arguments(const mt_parameter *field)
{
    return field->pointers && field->elements > 1 && field->elements <= MOST_POINTERS ? (size_t)field->elements : 1;
}

static mt_status rename_parameter(writer *w, mt_parameter *parameter, mt_strbuf *name, mt_error *err)
{
    mt_status st = mt_texts_take(&w->names, mt_strbuf_take(name), err);
    if (st == MT_OK) parameter->name = w->names.items[w->names.count - 1];
    return st;
}

/* A field's role is guessed by const alone: the body is not searched for fields. */
static mt_status add_fields(writer *w, size_t owner, mt_error *err)
{
    const mt_signature *fields = &w->structs[owner].items[0];
    mt_status st = MT_OK;
    for (size_t i = 0; i < fields->parameter_count; i++) {
        mt_parameter field = fields->parameters[i];
        size_t count = count_arguments(&field);
        field.is_read = field.is_const;
        field.is_written = field.pointers && !field.is_const;
        for (size_t k = 0; st == MT_OK && k < count; k++) {
            mt_strbuf name = {0};
            add_parameter(w, owner, &field);
            if (count == 1) continue;
            mt_strbuf_addf(&name, "%s_%zu", field.name, k);
            st = rename_parameter(w, &w->parameters[w->parameter_count - 1], &name, err);
        }
    }
    return st;
}

/* Another argument's, or a struct's that is one. */
static bool is_name_taken(const writer *w, size_t of)
{
    const char *name = w->parameters[of].name;
    for (size_t i = 0; i < w->parameter_count; i++)
        if (i != of && strcmp(w->parameters[i].name, name) == 0) return true;
    for (size_t i = 0; i < w->kernel->parameter_count; i++)
        if (w->structs[i].count && strcmp(w->kernel->parameters[i].name, name) == 0) return true;
    return false;
}

/* Fields of one name, in two structs or beside a parameter of the kernel, get that of their struct in front. */
static mt_status name_fields(writer *w, mt_error *err)
{
    mt_status st = MT_OK;
    bool *is_taken = mt_alloc(w->parameter_count + 1, sizeof *is_taken);
    if (!is_taken) return mt_no_memory("new", err);
    for (size_t i = 0; i < w->parameter_count; i++) is_taken[i] = w->structs[w->owners[i]].count && is_name_taken(w, i);
    for (size_t i = 0; st == MT_OK && i < w->parameter_count; i++) {
        const char *owner = w->kernel->parameters[w->owners[i]].name;
        while (st == MT_OK && is_taken[i]) {
            mt_strbuf name = {0};
            mt_strbuf_addf(&name, "%s_%s", owner, w->parameters[i].name);
            st = rename_parameter(w, &w->parameters[i], &name, err);
            is_taken[i] = is_name_taken(w, i);
        }
    }
    mt_free(is_taken);
    return st;
}

/* Structs whose fields the source names plainly become their fields; check() refuses others. */
static mt_status find_parameters(writer *w, mt_error *err)
{
    const mt_signature *kernel = w->kernel;
    size_t most = kernel->parameter_count;
    mt_status st = MT_OK;
    w->structs = mt_alloc(kernel->parameter_count + 1, sizeof *w->structs);
    if (!w->structs) return mt_no_memory("new", err);
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const mt_parameter *parameter = &kernel->parameters[i];
        if (is_struct(parameter)) MT_TRY(mt_fields_read(w->source, parameter->type, &w->structs[i], NULL, err));
        if (is_struct(parameter) && !w->structs[i].count) MT_TRY(mt_fields_read(w->others, parameter->type, &w->structs[i], NULL, err));
        if (w->structs[i].count && w->structs[i].items[0].pack) mt_signatures_free(&w->structs[i]); /* members lie otherwise */
        for (size_t k = 0; w->structs[i].count && k < w->structs[i].items[0].parameter_count; k++) most += count_arguments(&w->structs[i].items[0].parameters[k]);
    }
    w->parameters = mt_alloc(most + 1, sizeof *w->parameters);
    w->owners = mt_alloc(most + 1, sizeof *w->owners);
    if (!w->parameters || !w->owners) return mt_no_memory("new", err);
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        if (w->structs[i].count) MT_TRY(add_fields(w, i, err));
        else add_parameter(w, i, &kernel->parameters[i]);
    }
    st = name_fields(w, err);
done:
    return st;
}

/* ---- sizes ---- */

/* `width` and `Width` are two sizes. */
static bool is_taken(const writer *w, const char *name)
{
    bool is_taken = strcmp(name, "ALGO") == 0;
    for (size_t i = 0; i + 1 < w->size_count; i++) is_taken = is_taken || strcmp(w->sizes[i], name) == 0;
    return is_taken && strlen(name) + 1 < NAME_SIZE;
}

static void add_size(writer *w, const char *said, size_t parameter)
{
    w->size_of[w->size_count] = parameter;
    char *name = w->sizes[w->size_count++];
    snprintf(name, NAME_SIZE, "%s", said);
    for (char *at = name; *at; at++) *at = (char)toupper((unsigned char)*at);
    while (is_taken(w, name)) strncat(name, "_", NAME_SIZE - strlen(name) - 1);
}

/* Of each row a block works on: what its index is compared with, else the first size that is neither a row's length nor counts another axis; -1: none. */
static int find_row_size(const writer *w, int axis)
{
    int found = -1;
    for (size_t i = w->size_count; i-- > 0;) {
        size_t place = w->size_of[i];
        bool is_parameter = place < w->parameter_count && !w->structs[w->owners[place]].count, is_other = false;
        if (is_parameter && (int)w->owners[place] == w->kernel->rows[axis].bound) return (int)i;
        for (int k = 0; k < axis; k++) is_other = is_other || w->row_sizes[k] == (int)i;
        if (!is_other && !(is_parameter && w->parameters[place].row_axes >> axis & 1)) found = (int)i;
    }
    return found;
}

/* How many rows there are may be known to the grid alone: a size that the kernel is not told. */
static void find_rows(writer *w)
{
    static const char *const names[] = {"ROWS", "ROWS_Y", "ROWS_Z"};
    for (int axis = 0; axis < 3; axis++) {
        w->row_sizes[axis] = w->kernel->rows[axis].is_alone ? find_row_size(w, axis) : -1;
        if (!w->kernel->rows[axis].is_alone || w->row_sizes[axis] >= 0 || w->size_count == MOST_SIZES) continue;
        w->row_sizes[axis] = (int)w->size_count;
        add_size(w, names[axis], w->parameter_count);
    }
}

static void name_sizes(writer *w)
{
    for (size_t i = 0; i < w->parameter_count && w->size_count < MOST_SIZES; i++)
        if (is_size(&w->parameters[i])) add_size(w, w->parameters[i].name, i);
    if (w->size_count == 0) add_size(w, "N", w->parameter_count);
    find_rows(w);
}

/* The product of all sizes but one (-1: of all); of a square one alone, its square. A matrix has two of them, and of more than four some are no sizes. */
static void add_total(const writer *w, int except, mt_strbuf *out)
{
    bool is_matrix = w->kernel->has_rows && !w->kernel->has_planes && w->row_sizes[0] < 0 && w->row_sizes[1] < 0, is_first = true;
    size_t most = is_matrix ? 2 : 4, count = w->size_count < most ? w->size_count : most;
    for (size_t i = 0; i < count; i++) {
        if ((int)i == except) continue;
        mt_strbuf_addf(out, "%s%s", is_first ? "" : " * ", w->sizes[i]);
        is_first = false;
    }
    if (w->size_count == 1 && w->kernel->has_rows) mt_strbuf_addf(out, " * %s", w->sizes[0]);
    if (is_first) mt_strbuf_add(out, "1");
    for (size_t axis = 0; axis < 3; axis++)
        if (w->knobs.factors[axis][0]) mt_strbuf_addf(out, " * %s", w->knobs.factors[axis]);
}

static void write_shape(const writer *w)
{
    static const int each[] = {1048576, 1024, 256, 32};
    size_t places = w->size_count + (w->size_count == 1 && w->kernel->has_rows);
    mt_strbuf_add(w->out, "\n; Guess: sizes. Say what your program asks for; several [shape NAME] are tuned one after the other.\n[shape example]\n");
    for (size_t i = 0; i < w->size_count; i++) mt_strbuf_addf(w->out, "%s = %d\n", w->sizes[i], each[places < 4 ? places - 1 : 3]);
}

/* ---- knobs ---- */

/* A block's threads, as the launch has them, in a product. */
static bool add_threads(const writer *w, mt_strbuf *out)
{
    bool has_knob = false;
    for (size_t axis = 0; axis < 3; axis++) {
        const char *threads = w->knobs.block[axis];
        has_knob = has_knob || (*threads && !isdigit((unsigned char)*threads));
        if (*threads && strcmp(threads, "1") != 0) mt_strbuf_addf(out, "%s%s", axis ? " * " : "", threads);
    }
    return has_knob;
}

static void write_knobs(const writer *w)
{
    const mt_new_knobs *knobs = &w->knobs;
    mt_strbuf threads = {0};
    bool has_knob = add_threads(w, &threads), has_rows = knobs->block[1][0] && strcmp(knobs->block[1], "1") != 0;
    if (knobs->params.length) mt_strbuf_addf(w->out, "\n; Knobs: each is a macro that the source may read. More of them, and which values go together: [constraints].\n[params]\n%s", mt_strbuf_text(&knobs->params));
    if (has_knob && (has_rows || knobs->most_threads)) {
        mt_strbuf_addf(w->out, "\n[constraints]\nblock = %s <= ", mt_strbuf_text(&threads));
        if (knobs->most_threads) mt_strbuf_addf(w->out, "%lld why \"its __launch_bounds__ allow no more threads\"\n", (long long)knobs->most_threads);
        else if (*knobs->bounds) mt_strbuf_addf(w->out, "%s why \"its __launch_bounds__ allow no more threads\"\n", knobs->bounds);
        else mt_strbuf_add(w->out, "1024 why \"a block has 1024 threads at most\"\n");
    }
    mt_strbuf_free(&threads);
}

/* ---- arguments ---- */

/* Indices lie within the arrays, or within what they count of those. */
static void add_indices(const writer *w, const mt_parameter *parameter, mt_strbuf *out)
{
    int except = -1;
    for (size_t i = 0; i < w->size_count; i++)
        if (w->size_of[i] < w->parameter_count && parameter->index_factor == (int)w->owners[w->size_of[i]] + 1) except = (int)i;
    mt_strbuf_add(out, "uniform(0, ");
    add_total(w, except, out);
    mt_strbuf_add(out, " - 1)");
}

static void add_values(const writer *w, const mt_parameter *parameter, mt_strbuf *out)
{
    bool is_known = parameter->index_factor == 0 || (parameter->index_factor > 0 && w->size_count > 1);
    if (parameter->is_index && parameter->extra) mt_strbuf_add(out, "iota"); /* start[row] to start[row + 1]: an element for each row */
    else if (parameter->is_index && is_wide(parameter) && is_known) add_indices(w, parameter, out);
    else if (is_integer(parameter)) mt_strbuf_add(out, parameter->is_positive ? "uniform(1, 2)" : "uniform(0, 1)");
    else mt_strbuf_add(out, parameter->is_positive ? "uniform(0.5, 1.5)" : "uniform(-1, 1)");
}

/* Why it has these values, or what else is to be looked at. */
static const char *remark_on(const mt_parameter *parameter)
{
    if (parameter->is_added) return "it begins as zeros";
    if (parameter->is_index && is_wide(parameter)) return "its values, which are indices";
    if (parameter->is_positive) return "its values, of which the kernel takes roots or logarithms, or by which it divides";
    return parameter->is_const ? "its values" : "out is written alone, inout read too";
}

static void write_tensor(const writer *w, const mt_parameter *parameter)
{
    const char *role = !parameter->is_written ? "in" : parameter->is_read && !parameter->is_added ? "inout" : "out";
    mt_strbuf_addf(w->out, "%s = %s %s [", parameter->name, role, parameter->dtype);
    add_total(w, -1, w->out);
    if (parameter->extra && parameter->is_index) mt_strbuf_addf(w->out, " + %d", parameter->extra);
    if (parameter->lanes > 1) mt_strbuf_addf(w->out, ", %d", parameter->lanes);
    mt_strbuf_add(w->out, strcmp(role, "out") == 0 ? "]" : "] ");
    if (strcmp(role, "out") != 0) add_values(w, parameter, w->out);
    if (parameter->is_added) mt_strbuf_addf(w->out, " zero before_each%s", is_integer(parameter) ? "" : " order any"); /* sums of fractions depend on who comes first */
    mt_strbuf_addf(w->out, " ; guess: %s%s%s\n", parameter->is_alias ? "its type; " : "", w->size_count > 1 ? "its size; " : "", remark_on(parameter));
}

/* __constant__ variables get their contents from inputs, too. */
static void write_constants(const writer *w)
{
    for (size_t i = 0; i < w->constants.count; i++) {
        const mt_constant *constant = &w->constants.items[i];
        bool is_taken = false;
        for (size_t k = 0; k < w->parameter_count; k++) is_taken = is_taken || strcmp(w->parameters[k].name, constant->name) == 0;
        if (!constant->is_used || !constant->dtype || is_taken) continue;
        mt_strbuf_addf(w->out, "%s = in %s [%lld", constant->name, constant->dtype, (long long)(constant->elements ? constant->elements : 1));
        if (constant->lanes > 1) mt_strbuf_addf(w->out, ", %d", constant->lanes);
        mt_strbuf_addf(w->out, strchr("fb", *constant->dtype) ? "] uniform(-1, 1) constant %s ; guess: %sits values\n" : "] uniform(0, 1) constant %s ; guess: %sits values\n", constant->entry, constant->elements ? "" : "its size; ");
    }
}

static void write_arguments(const writer *w)
{
    mt_strbuf_add(w->out, "\n; Arrays: `in`, `out` or `inout`, their type, elements and first values.\n[args]\n");
    for (size_t i = 0; i < w->parameter_count; i++)
        if (w->parameters[i].pointers) write_tensor(w, &w->parameters[i]);
    write_constants(w);
}

/* A block for each row, or as many as the threads that count along the axis need. */
static void add_blocks(const writer *w, int axis, const char *size, const char *threads)
{
    if (w->row_sizes[axis] >= 0) mt_strbuf_add(w->out, w->sizes[w->row_sizes[axis]]);
    else if (strcmp(threads, "1") == 0) mt_strbuf_add(w->out, size);
    else mt_strbuf_addf(w->out, "ceil_div(%s, %s)", size, threads);
}

/* Where blocks have rows along y, what their rows' elements are counted by. */
static const char *columns_of(const writer *w)
{
    for (size_t i = 0; w->row_sizes[1] >= 0 && i < w->size_count; i++)
        if (w->size_of[i] < w->parameter_count && w->parameters[w->size_of[i]].row_axes & 2) return w->sizes[i];
    return w->sizes[w->row_sizes[1] == 0 && w->size_count > 1];
}

static void write_grid(const writer *w)
{
    const mt_new_knobs *knobs = &w->knobs;
    const char *x = knobs->block[0], *y = knobs->block[1], *z = knobs->block[2];
    bool is_flat = !*y && !w->kernel->has_rows, has_rows = w->row_sizes[0] >= 0 || w->row_sizes[1] >= 0;
    mt_strbuf total = {0};
    add_total(w, -1, &total);
    if (w->kernel->has_grid_barrier) mt_strbuf_add(w->out, "\ncooperative = yes\n; Guess: a block for each SM. Blocks that wait for each other must all run at once.\ngrid  = device.sm_count");
    else {
        mt_strbuf_addf(w->out, "\n; Guess: %s%s%s%s.\ngrid  = ", w->row_sizes[0] >= 0 ? "a block for each row, which blockIdx.x counts" : w->row_sizes[1] >= 0 ? "a thread for each element of a row, which blockIdx.y counts" : "a thread for each element",
                       is_flat || has_rows ? "" : "; the first size counts columns",
                       knobs->is_literal ? "; which of the knobs say how many threads a block has, and how many elements it does, is not known here" : "",
                       knobs->is_fixed ? "; the numbers of threads are the source's own: with #ifndef around its #define such a number becomes a knob" : "");
        add_blocks(w, 0, is_flat ? mt_strbuf_text(&total) : columns_of(w), x);
        if (!is_flat) mt_strbuf_add(w->out, ", "), add_blocks(w, 1, w->sizes[w->size_count > 1], *y ? y : x);
        if (w->kernel->has_planes && (*z || w->row_sizes[2] >= 0)) mt_strbuf_add(w->out, ", "), add_blocks(w, 2, w->sizes[w->size_count > 2 ? 2 : w->size_count - 1], *z ? z : "1");
    }
    mt_strbuf_free(&total);
    mt_strbuf_addf(w->out, "\nblock = %s%s%s%s%s\n", x, *y ? ", " : "", y, *z ? ", " : "", z);
}

/* A number as search spaces write it; vectors have names of their own. */
static void add_number(const writer *w, const mt_parameter *parameter, size_t *size, mt_strbuf *out)
{
    if (is_size(parameter) && *size < MOST_SIZES) mt_strbuf_addf(out, "%s(%s)", parameter->dtype, w->sizes[(*size)++]);
    else if (parameter->elements > 1) mt_strbuf_addf(out, "%s[%lld](1)", scalar_dtype(parameter), (long long)parameter->elements);
    else mt_strbuf_addf(out, "%s(1)", scalar_dtype(parameter));
}

/* float4 and its kind: a struct of its own, as large as it is aligned; of three numbers they lie as an array does. */
static void write_vector(const writer *w, const mt_parameter *parameter)
{
    mt_dtype dtype = MT_F32;
    mt_strbuf_addf(w->out, "%s = struct %s[%d](1)", parameter->name, parameter->dtype, parameter->lanes);
    if (mt_dtype_from_name(parameter->dtype, &dtype) && parameter->lanes != 3) mt_strbuf_addf(w->out, " align %llu", (unsigned long long)mt_declared_align(parameter, dtype));
    mt_strbuf_add(w->out, " ; guess: its values\n");
}

/* What stands in the list of arguments, or of members, from parameter `from` on, until another of the kernel's begins. */
static size_t add_owned(const writer *w, size_t from, size_t *size, mt_strbuf *out)
{
    size_t i = from;
    for (; i < w->parameter_count && w->owners[i] == w->owners[from]; i++) {
        const mt_parameter *parameter = &w->parameters[i];
        if (i > from) mt_strbuf_add(out, ", ");
        if (parameter->pointers || parameter->lanes > 1) mt_strbuf_add(out, parameter->name);
        else add_number(w, parameter, size, out);
    }
    return i;
}

/* Vectors and structs stand among the arguments; what each launch lists is gathered meanwhile. */
static void write_structs(const writer *w, mt_strbuf *args)
{
    size_t size = 0;
    for (size_t i = 0; i < w->parameter_count; i++)
        if (!w->parameters[i].pointers && w->parameters[i].lanes > 1) write_vector(w, &w->parameters[i]);
    for (size_t i = 0; i < w->parameter_count;) {
        size_t owner = w->owners[i];
        if (i) mt_strbuf_add(args, ", ");
        if (!w->structs[owner].count) {
            i = add_owned(w, i, &size, args);
            continue;
        }
        mt_strbuf_addf(w->out, "%s = struct ", w->kernel->parameters[owner].name);
        i = add_owned(w, i, &size, w->out);
        if (w->structs[owner].items[0].align) mt_strbuf_addf(w->out, " align %lld", (long long)w->structs[owner].items[0].align);
        mt_strbuf_add(w->out, " ; guess: what is no size is 1, a pointer to const is read alone, another one written alone\n");
        mt_strbuf_add(args, w->kernel->parameters[owner].name);
    }
}

static void write_launch(const writer *w, const mt_strbuf *args)
{
    bool has_fractions = false;
    for (size_t i = 0; i < w->kernel->parameter_count; i++) {
        const mt_parameter *parameter = &w->kernel->parameters[i];
        has_fractions = has_fractions || (!parameter->pointers && parameter->dtype && parameter->lanes == 1 && !is_size(parameter));
    }
    mt_strbuf_addf(w->out, "\n[launch 1]\n%sargs  = %s", has_fractions ? "; Guess: numbers that are no sizes are 1.\n" : "", mt_strbuf_text(args));
    write_grid(w);
    if (!w->kernel->has_dynamic_smem) return;
    mt_strbuf_addf(w->out, "; Guess: %s. The kernel has extern __shared__ memory: say how many bytes a launch gives it.\nsmem  = ", w->kernel->dynamic_bytes ? "an element for each thread" : "none");
    for (size_t i = 0; w->kernel->dynamic_bytes && i < 3 && w->knobs.block[i][0]; i++) mt_strbuf_addf(w->out, "%s * ", w->knobs.block[i]);
    mt_strbuf_addf(w->out, "%d\n", w->kernel->dynamic_bytes);
}

/* ---- all of it ---- */

/* Why a parameter, or a struct's field, can't be described. */
static mt_status explain(const writer *w, const mt_parameter *parameter, mt_strbuf *why, mt_error *err)
{
    mt_signatures fields = {0};
    mt_status st = MT_OK;
    if (parameter->pointers > 1) mt_strbuf_add(why, "it points to pointers, or to rows of several elements");
    else if (parameter->pointers && strcmp(parameter->type, "void") == 0) mt_strbuf_add(why, "no cast tells what it points to");
    else if (parameter->pointers) mt_strbuf_add(why, parameter->dtype ? "how many pointers it has is not known, or they are too many" : "its elements are no numbers that are known here");
    else if (parameter->dtype) mt_strbuf_add(why, "how many elements it has is not known");
    else if (strchr(parameter->type, '<')) mt_strbuf_add(why, "the fields of a template are known to the compiler alone");
    else {
        st = mt_fields_read(w->source, parameter->type, &fields, why, err);
        if (st == MT_OK && !fields.count && !why->length) st = mt_fields_read(w->others, parameter->type, &fields, why, err);
        if (!why->length) mt_strbuf_add(why, !fields.count ? "the source has no struct of that name with fields of its own alone" : fields.items[0].pack ? "it is packed" : "it is a struct within a struct");
        mt_signatures_free(&fields);
    }
    return st;
}

static mt_status refuse(const writer *w, size_t of, mt_error *err)
{
    const mt_parameter *parameter = &w->parameters[of];
    size_t owner = w->owners[of];
    mt_strbuf why = {0};
    mt_status st = explain(w, parameter, &why, err);
    bool is_field = w->structs[owner].count;
    if (st == MT_OK) st = MT_FAIL(err, MT_ERR_SPEC, "%s: parameter %s%s%s is of type %s%s (%s): expected a number, a pointer to numbers (float, int, __half, float4, …), or a struct of such fields; write what else it is into the search space by hand, or call it from an extern \"C\" __global__ function that has such parameters",
                           w->kernel->name, is_field ? w->kernel->parameters[owner].name : "", is_field ? "'s field " : "", parameter->name, parameter->type, parameter->pointers > 1 ? " **" : parameter->pointers ? " *" : "", mt_strbuf_text(&why));
    mt_strbuf_free(&why);
    return st;
}

static mt_status check(const writer *w, mt_error *err)
{
    const mt_signature *kernel = w->kernel;
    bool has_output = false;
    for (size_t i = 0; i < kernel->take_count; i++)
        if (kernel->takes[i].is_other)
            return MT_FAIL(err, MT_ERR_SPEC, "%s is a template that takes more than types and numbers (%s): expected a kernel without such an argument; or write the search space by hand, with `entry = %s<…>`", kernel->name,
                           *kernel->takes[i].name ? kernel->takes[i].name : "without a name", kernel->entry);
    for (size_t i = 0; i < w->parameter_count; i++) {
        const mt_parameter *parameter = &w->parameters[i];
        if (strstr(parameter->type, "exture") || strstr(parameter->type, "urface"))
            return MT_FAIL(err, MT_ERR_SPEC, "%s: parameter %s is of type %s: %s", kernel->name, parameter->name, parameter->type, MT_NO_TEXTURES);
        bool is_field = w->structs[w->owners[i]].count, is_long = parameter->pointers && parameter->elements > MOST_POINTERS;
        if (parameter->pointers > 1 || !parameter->dtype || (is_field && (parameter->elements == 0 || is_long))) return refuse(w, i, err);
        has_output = has_output || (parameter->pointers && parameter->is_written);
    }
    return has_output ? MT_OK : MT_FAIL(err, MT_ERR_SPEC, "%s writes to none of its parameters: expected a pointer that is not const", kernel->name);
}

/* nvcc knows these types without a header, NVRTC does not. */
static bool lacks_stdint(const writer *w)
{
    static const char *const types[] = {"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    bool is_used = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) is_used = is_used || mt_text_has_word(w->source, types[i]) || mt_text_has_word(w->others, types[i]);
    return is_used && !w->has_host_code && !strstr(w->source, "stdint") && !strstr(w->others, "stdint");
}

static void write_options(const writer *w)
{
    bool has_guard = *w->knobs.guard, needs_types = lacks_stdint(w);
    if (has_guard) mt_strbuf_add(w->out, "; Without its macro the source gives knobs values of its own.\n");
    if (needs_types) mt_strbuf_add(w->out, "; Without an #include the source uses types of <cstdint>, which nvcc knows and NVRTC does not.\n");
    if (has_guard || needs_types) mt_strbuf_addf(w->out, "options   =%s%s%s\n", has_guard ? " -D" : "", w->knobs.guard, needs_types ? " -include=cstdint" : "");
}

static void write_kernel(const writer *w, const char *path)
{
    const mt_signature *kernel = w->kernel;
    mt_strbuf_addf(w->out, "; A first search space for %s, by `msda-tune new`. What is called a guess is to be looked at.\n[kernel]\nname      = %s\nsource    = %s\n", kernel->name, kernel->name, path);
    mt_strbuf_add(w->out, "; What the kernel computes with every knob at its default is taken for right. Better: the name of a plain __global__ function in the source that computes the same.\nreference = default\n");
    if (w->has_host_code) mt_strbuf_add(w->out, "; The source has code for the host, too, which NVRTC does not take. With #ifndef __CUDACC_RTC__ around that code this line can go, and compiles are faster.\ncompiler  = nvcc\n");
    write_options(w);
    write_shape(w);
    mt_strbuf_addf(w->out, "\n[algorithm %s]\n", kernel->name);
    if (kernel->take_count) mt_strbuf_add(w->out, "; Guess: what the template takes. A type may be a shape value or a knob, too: ${TYPE}.\n");
    if (kernel->take_count || kernel->is_overload || strcmp(kernel->entry, kernel->name) != 0) mt_strbuf_addf(w->out, "entry = %s", kernel->entry);
    else return;
    for (size_t i = 0; i < kernel->take_count; i++) {
        const mt_template_parameter *take = &kernel->takes[i];
        mt_strbuf_addf(w->out, take->is_type ? "%s%s" : "%s${" MT_NEW_TAKES "%s}", i ? ", " : "<", take->is_type ? mt_signature_taken_type(kernel, take->name) : take->name);
    }
    if (kernel->take_count) mt_strbuf_add(w->out, ">");
    if (kernel->is_overload) mt_signature_add_parameters(kernel, true, w->out);
    mt_strbuf_add(w->out, "\n");
}

mt_status mt_new_space(const char *source, const char *others, const char *path, const mt_signature *kernel, mt_strbuf *out, mt_error *err)
{
    writer w = {.source = source, .others = others, .kernel = kernel, .out = out, .has_host_code = mt_new_has_host_code(source) || mt_new_has_host_code(others)};
    mt_strbuf args = {0};
    mt_status st = MT_OK;
    MT_TRY(find_parameters(&w, err));
    MT_TRY(check(&w, err));
    MT_TRY(mt_new_knobs_find(source, others, kernel, &w.knobs, err));
    MT_TRY(mt_constants_read(source, &w.constants, err));
    name_sizes(&w);
    write_kernel(&w, path);
    write_knobs(&w);
    write_arguments(&w);
    write_structs(&w, &args);
    write_launch(&w, &args);
    if (out->failed || args.failed) st = mt_no_memory("new", err);
done:
    for (size_t i = 0; w.structs && i < kernel->parameter_count; i++) mt_signatures_free(&w.structs[i]);
    mt_free(w.structs);
    mt_free(w.parameters);
    mt_free(w.owners);
    mt_texts_free(&w.names);
    mt_strbuf_free(&args);
    mt_strbuf_free(&w.knobs.params);
    mt_free(w.constants.items);
    return st;
}
