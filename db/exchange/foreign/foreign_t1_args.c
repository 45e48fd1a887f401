/* The arguments of a T1 file. */
#include <stdio.h>
#include <string.h>

#include "db/exchange/foreign/foreign_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { ARGUMENT_LIMIT = 256, MEMBER_SIZE = 96 };

typedef struct argument {
    const char *member; /* "Arguments[2]" */
    char name[64];
    char dtype[8];
    int lanes;
    mt_foreign_member type, own_name, memory, other_memory, access, fill, value, size, source;
} argument;

/* "float4" is f32 by four; false: a type that search spaces lack. */
static bool read_type(const char *text, argument *a)
{
    static const struct { const char *name, *dtype; } types[] = {{"int8", "i8"}, {"uint8", "u8"}, {"int16", "i16"}, {"uint16", "u16"}, {"int32", "i32"}, {"uint32", "u32"}, {"int64", "i64"}, {"uint64", "u64"},
        {"int", "i32"}, {"uint", "u32"}, {"half", "f16"}, {"float", "f32"}, {"double", "f64"}, {"bool", "bool"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t length = strlen(types[i].name);
        if (strncmp(text, types[i].name, length) != 0) continue;
        int64_t lanes = 1;
        bool is_vector = types[i].dtype[0] == 'f' && mt_text_int64(text + length, strlen(text + length), &lanes) && lanes >= 2 && lanes <= 16;
        if (text[length] && !is_vector) continue;
        snprintf(a->dtype, sizeof a->dtype, "%s", types[i].dtype);
        a->lanes = (int)lanes;
        return true;
    }
    return false;
}

/* In the kernel's parameter order. */
static void add_call(mt_foreign *f, const char *text)
{
    mt_strbuf_addf(&f->calls, "%s%s", f->calls.length ? ", " : "", text);
}

static bool is_number(const mt_foreign_member *m)
{
    double number;
    return (strcmp(m->type, "integer") == 0 || strcmp(m->type, "real") == 0) && mt_text_double(m->text, &number);
}

static mt_status add_scalar(mt_foreign *f, const argument *a, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf text = {0};
    bool is_whole = a->dtype[0] != 'f', reads_parameters;
    mt_strbuf_addf(&text, "%s(", a->dtype);
    if (a->lanes > 1) st = mt_foreign_fail(f, a->member, err, "a scalar of type %s, expected one number", a->type.text);
    else if (!*a->value.type) {
        mt_foreign_missing(f, &f->notes, "the value of the scalar %s: its line in [args], NAME = scalar %s VALUE", a->name, a->dtype);
        mt_strbuf_free(&text);
        mt_strbuf_add(&text, a->name);
        add_call(f, a->name);
        goto done;
    } else if (is_whole && (strcmp(a->value.type, "true") == 0 || strcmp(a->value.type, "false") == 0)) mt_strbuf_add(&text, a->value.type);
    else if (!is_whole && is_number(&a->value)) mt_strbuf_add(&text, a->value.text);
    else if (is_whole && strcmp(a->value.type, "real") == 0 && strlen(a->value.text) > 2 && strcmp(a->value.text + strlen(a->value.text) - 2, ".0") == 0) mt_strbuf_addf(&text, "%.*s", (int)strlen(a->value.text) - 2, a->value.text);
    else if (is_whole) st = mt_foreign_integer(f, &a->value, a->member, &text, &reads_parameters, err);
    else st = mt_foreign_fail(f, a->member, err, "FillValue of %s is %.60s, expected a finite number", a->name, a->value.text);
    if (st != MT_OK) goto done;
    mt_strbuf_add_char(&text, ')');
    add_call(f, mt_strbuf_text(&text));
done:
    mt_strbuf_free(&text);
    return st;
}

static mt_status add_extent(mt_foreign *f, const argument *a, bool is_scratch, mt_strbuf *out, mt_error *err)
{
    bool reads_parameters = false;
    mt_status st = mt_foreign_integer(f, &a->size, a->member, out, &reads_parameters, err);
    if (st == MT_OK && reads_parameters && !is_scratch) return mt_foreign_fail(f, a->member, err, "Size of %s reads tuning parameters, expected one size for all (of scratch alone it may differ)", a->name);
    if (st == MT_OK && a->lanes > 1) mt_strbuf_addf(out, ", %d", a->lanes);
    return st;
}

/* How the contents are made; "" = only a person knows. */
static void add_init(const argument *a, mt_strbuf *out)
{
    const char *fill = a->fill.text, *value = is_number(&a->value) ? a->value.text : NULL;
    if (value && (strcmp(fill, "Constant") == 0 || !*fill)) mt_strbuf_addf(out, "constant(%s)", value);
    else if (value && strcmp(fill, "Random") == 0) mt_strbuf_addf(out, *value == '-' ? "uniform(%s, 0)" : "uniform(0, %s)", value);
    else if (strcmp(fill, "Generator") == 0 && strcmp(a->source.text, "i") == 0) mt_strbuf_add(out, "iota");
}

static mt_status add_vector(mt_foreign *f, const argument *a, mt_error *err)
{
    mt_status st = MT_OK;
    mt_strbuf line = {0}, init = {0};
    const char *access = a->access.text;
    bool is_symbol = strcmp(a->memory.text, "Symbol") == 0 || strcmp(a->other_memory.text, "Constant") == 0;
    const char *role = is_symbol || strcmp(access, "ReadOnly") == 0 ? "in" : strcmp(access, "WriteOnly") == 0 ? "out" : strcmp(access, "ReadWrite") == 0 ? "inout" : NULL;
    const char *dtype = strcmp(a->dtype, "bool") == 0 ? "u8" : a->dtype;
    if (!role) MT_LEAVE(mt_foreign_fail(f, a->member, err, "AccessType of %s is %.40s, expected ReadOnly, WriteOnly or ReadWrite", a->name, *a->access.type ? access : "missing"));
    if (*a->value.type && !is_number(&a->value)) MT_LEAVE(mt_foreign_fail(f, a->member, err, "FillValue of %s is %.60s, expected a finite number", a->name, a->value.text));
    f->has_output = f->has_output || *role == 'o' || role[2];
    if (!is_symbol) add_call(f, a->name);
    mt_strbuf_addf(&line, "%s = %s %s [", a->name, role, dtype);
    if (*a->size.type) MT_TRY(add_extent(f, a, false, &line, err));
    add_init(a, &init);
    bool needs_init = *role == 'i';
    if (!*a->size.type) mt_foreign_missing(f, &f->args, "%s = %s %s [ELEMENTS] %s", a->name, role, dtype, needs_init ? init.length ? mt_strbuf_text(&init) : "INIT" : "");
    else if (needs_init && !init.length) mt_foreign_missing(f, &f->args, "%s] INIT, such as uniform(0, 1); contents of one's own come by tune --input %s=FILE.npy in its stead", mt_strbuf_text(&line), a->name);
    else {
        mt_strbuf_addf(&f->args, "%s]%s%s", mt_strbuf_text(&line), needs_init ? " " : "", needs_init ? mt_strbuf_text(&init) : "");
        if (is_symbol) mt_strbuf_addf(&f->args, " constant %s", a->name);
        mt_strbuf_add_char(&f->args, '\n');
    }
done:
    mt_strbuf_free(&line);
    mt_strbuf_free(&init);
    return st;
}

/* Local memory is the launch's dynamic shared memory. */
static mt_status add_local(mt_foreign *f, const argument *a, mt_error *err)
{
    mt_strbuf size = {0};
    bool reads_parameters;
    static const int bytes[] = {['8'] = 1, ['1'] = 2, ['3'] = 4, ['6'] = 8};
    int element = strcmp(a->dtype, "bool") == 0 ? 1 : bytes[(unsigned char)a->dtype[1]];
    mt_status st = f->launch.length ? mt_foreign_fail(f, a->member, err, "shared memory is there twice, expected SharedMemory or one argument of MemoryType Local") : mt_foreign_integer(f, &a->size, a->member, &size, &reads_parameters, err);
    if (st == MT_OK) mt_strbuf_addf(&f->launch, "smem  = (%s) * %d\n", mt_strbuf_text(&size), element * a->lanes);
    mt_strbuf_free(&size);
    return st;
}

static mt_status add_argument(mt_foreign *f, argument *a, size_t number, mt_error *err)
{
    snprintf(a->name, sizeof a->name, "arg%zu", number + 1);
    if (*a->own_name.type) {
        size_t length = strlen(a->own_name.text);
        if (!mt_text_is_identifier(a->own_name.text, length) || length >= sizeof a->name) return mt_foreign_fail(f, a->member, err, "Name is '%.60s', expected letters, digits and _", a->own_name.text);
        snprintf(a->name, sizeof a->name, "%s", a->own_name.text);
    }
    if (!read_type(a->type.text, a)) return mt_foreign_fail(f, a->member, err, "Type of %s is %.40s, expected bool, int8 to uint64, half, float or double, or a vector such as float4", a->name, *a->type.type ? a->type.text : "missing");
    if (strcmp(a->memory.text, "Scalar") == 0) return add_scalar(f, a, err);
    if (strcmp(a->memory.text, "Local") == 0) return add_local(f, a, err);
    if (strcmp(a->memory.text, "Vector") == 0 || strcmp(a->memory.text, "Symbol") == 0) return add_vector(f, a, err);
    return mt_foreign_fail(f, a->member, err, "MemoryType of %s is %.40s, expected Scalar, Vector, Local or Symbol", a->name, *a->memory.type ? a->memory.text : "missing");
}

static mt_status read_argument(mt_foreign *f, const char *json, size_t number, mt_error *err)
{
    char member[MEMBER_SIZE];
    argument a = {.member = member};
    mt_status st = MT_OK;
    const struct { const char *path; mt_foreign_member *to; } wanted[] = {{"$.Type", &a.type}, {"$.Name", &a.own_name}, {"$.MemoryType", &a.memory}, {"$.MemType", &a.other_memory},
        {"$.AccessType", &a.access}, {"$.FillType", &a.fill}, {"$.FillValue", &a.value}, {"$.Size", &a.size}, {"$.DataSource", &a.source}};
    snprintf(member, sizeof member, "Arguments[%zu]", number);
    if (*json != '{') return mt_foreign_fail(f, member, err, "expected an object");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) MT_TRY(mt_foreign_get(f, json, wanted[i].path, wanted[i].to, err));
    st = add_argument(f, &a, number, err);
done:
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) mt_free(wanted[i].to->text);
    return st;
}

mt_status mt_foreign_read_t1_arguments(mt_foreign *f, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = 0;
    mt_sql_args rows = mt_sql_query(f->parser, "SELECT value FROM json_each(?1, '$.KernelSpecification.Arguments')", MT_IN(MT_TEXT(f->text)), &st, err);
    for (; mt_sql_each(f->parser, &rows, "read arguments", &st, err); count++) {
        if (count == ARGUMENT_LIMIT) st = mt_foreign_fail(f, "Arguments", err, "more than %d", (int)ARGUMENT_LIMIT);
        else st = read_argument(f, mt_sql_column(rows.statement, 0), count, err);
    }
    f->has_args = count > 0;
    if (st == MT_OK && count && !f->has_output) mt_foreign_missing(f, &f->args, "an output: none of the arguments is WriteOnly or ReadWrite; NAME = out DTYPE [ELEMENTS]");
    return st;
}
