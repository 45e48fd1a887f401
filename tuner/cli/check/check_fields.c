/* How the members of a struct lie against the fields that the source gives it, value by value in the order of both. */
#include "tuner/cli/check/check_types_internal.h"

#include <string.h>
#include <strings.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/signature/fields.h"

enum { MOST_BYTES = 32764, MOST_DEPTH = 8 }; /* of a kernel's parameters; of structs in each other */

/* A member of the search space's struct, or a field of the source's. */
typedef struct holder {
    const char *name; /* NULL: none */
    size_t arg;       /* a member's */
    const mt_signature *of; size_t field; /* a field's: the struct that has it, and which of its fields it is */
} holder;

/* A number or a pointer. */
typedef struct part {
    uint64_t at, bytes; /* mean nothing where the layout isn't known */
    holder by[2];       /* what holds it: the struct's own member or field, and the innermost */
} part;
enum { OUTER, INNER };

typedef struct layout {
    part *parts; size_t count, capacity;
    uint64_t bytes, align;
    uint64_t pack;            /* most bytes that a field is aligned to; 0: as many as it asks for */
    bool is_packed;           /* it, or a struct in it */
    bool is_unknown;          /* a type is not plain: parts are still in their order */
    mt_signatures *structs; size_t struct_count, struct_capacity; /* that parts point into */
} layout;

static void free_layout(layout *l)
{
    for (size_t i = 0; i < l->struct_count; i++) mt_signatures_free(&l->structs[i]);
    MT_FREE_EACH(l->structs, l->parts);
    *l = (layout){0};
}

static uint64_t round_up(uint64_t bytes, uint64_t align)
{
    return (bytes + align - 1) / align * align;
}

/* What comes next in the struct, as C lays it out. Its structs stay where they are. */
static mt_status append(layout *l, const layout *next, holder outer, mt_error *err)
{
    uint64_t align = l->pack && l->pack < next->align ? l->pack : next->align, start = round_up(l->bytes, align);
    for (size_t i = 0; i < next->count; i++) {
        part *added = MT_APPEND(l->parts, l->count, l->capacity);
        if (!added) return mt_no_memory("check", err);
        *added = next->parts[i];
        added->at += start;
        added->by[OUTER] = outer;
    }
    l->bytes = start + next->bytes;
    if (align > l->align) l->align = align;
    l->is_packed = l->is_packed || next->is_packed;
    l->is_unknown = l->is_unknown || next->is_unknown || l->bytes > MOST_BYTES;
    return MT_OK;
}

/* `count` values side by side. */
static mt_status append_values(layout *l, part value, uint64_t count, uint64_t align, mt_error *err)
{
    mt_status st = MT_OK;
    layout one = {.parts = &value, .count = 1, .bytes = value.bytes, .align = align};
    for (uint64_t i = 0; st == MT_OK && i < count; i++) {
        st = append(l, &one, value.by[INNER], err);
        one.align = 1;
    }
    return st;
}

/* ---- the search space's ---- */

/* The argument's, or of i32(N) what it holds. */
static const char *name_of(const mt_arg *arg)
{
    if (!strchr(arg->name, '(')) return arg->name;
    const char *value = arg->value.source;
    return value && mt_text_is_identifier(value, strlen(value)) ? value : NULL;
}

static mt_status lay_out_members(const mt_checking *c, const mt_launch *launch, const mt_arg *arg, layout *l, mt_error *err)
{
    mt_status st = MT_OK;
    l->align = arg->align ? (uint64_t)arg->align : 1;
    for (size_t i = 0; st == MT_OK && i < arg->member_count; i++) {
        const mt_arg *member = &c->spec->args[arg->members[i]];
        part value = {.bytes = 8, .by[INNER] = {.name = name_of(member), .arg = arg->members[i]}};
        mt_dtype dtype = MT_F32;
        bool is_known = true;
        if (member->kind == MT_ARG_STRUCT) {
            layout inner = {0};
            st = lay_out_members(c, launch, member, &inner, err);
            if (st == MT_OK) st = append(l, &inner, value.by[INNER], err);
            free_layout(&inner);
            continue;
        }
        if (member->kind == MT_ARG_SCALAR) st = mt_check_dtype(c, launch, member, &dtype, &is_known, err);
        if (member->kind == MT_ARG_SCALAR) value.bytes = mt_dtype_bytes(dtype);
        l->is_unknown = l->is_unknown || !is_known || member->kind == MT_ARG_TENSORMAP;
        if (st == MT_OK) st = append_values(l, value, 1, value.bytes, err);
    }
    l->bytes = round_up(l->bytes, l->align);
    return st;
}

/* ---- the source's ---- */

static mt_status lay_out_fields(const mt_checking *c, const char *type, int depth, layout *l, bool *is_found, mt_error *err);

static mt_status add_field(const mt_checking *c, const mt_signature *of, size_t index, int depth, layout *l, mt_error *err)
{
    const mt_parameter *field = &of->parameters[index];
    mt_status st = MT_OK;
    mt_dtype dtype;
    part value = {.bytes = 8, .by[INNER] = {.name = field->name, .of = of, .field = index}};
    int64_t elements = field->elements >= 1 && field->elements <= MOST_BYTES ? field->elements : 1;
    bool is_plain = field->pointers || mt_declared_dtype(field, &dtype), is_struct = false;
    if (!is_plain) {
        layout inner = {0};
        st = lay_out_fields(c, field->type, depth + 1, &inner, &is_struct, err);
        for (int64_t i = 0; st == MT_OK && is_struct && i < elements && !l->is_unknown; i++) st = append(l, &inner, value.by[INNER], err);
        for (size_t i = 0; st == MT_OK && i < inner.struct_count; i++) { /* parts point into them */
            mt_signatures *kept = MT_APPEND(l->structs, l->struct_count, l->struct_capacity);
            if (!kept) st = mt_no_memory("check", err);
            else *kept = inner.structs[i], inner.structs[i] = (mt_signatures){0};
        }
        free_layout(&inner);
    } else if (!field->pointers) value.bytes = mt_dtype_bytes(dtype);
    l->is_unknown = l->is_unknown || elements != field->elements || (!is_plain && !is_struct);
    if (st == MT_OK && !is_struct) st = append_values(l, value, (uint64_t)elements * (uint64_t)(field->pointers ? 1 : field->lanes), field->pointers || !is_plain ? 8 : mt_declared_align(field, dtype), err);
    return st;
}

/* *is_found: the source has that struct, with nothing but plain fields. */
static mt_status lay_out_fields(const mt_checking *c, const char *type, int depth, layout *l, bool *is_found, mt_error *err)
{
    mt_status st = MT_OK;
    mt_signatures read = {0};
    for (size_t i = 0; i < c->source->file_count && !read.count && st == MT_OK && depth < MOST_DEPTH; i++) st = mt_fields_read(c->source->files[i].text, type, &read, NULL, err);
    *is_found = read.count > 0;
    if (st != MT_OK || !read.count) {
        mt_signatures_free(&read);
        return st;
    }
    mt_signatures *kept = MT_APPEND(l->structs, l->struct_count, l->struct_capacity);
    const mt_signature *of = read.items;
    if (!kept) {
        mt_signatures_free(&read);
        return mt_no_memory("check", err);
    }
    *kept = read;
    l->align = of->align ? (uint64_t)of->align : 1;
    l->pack = (uint64_t)of->pack;
    l->is_packed = of->pack > 0;
    for (size_t i = 0; st == MT_OK && i < of->parameter_count; i++) st = add_field(c, of, i, depth, l, err);
    l->bytes = round_up(l->bytes, l->align);
    return st;
}

/* ---- one against the other ---- */

static bool is_called(const char *a, const char *b)
{
    return a && b && strcasecmp(a, b) == 0; /* a shape value N is handed to a field n */
}

/* The field that has the member's name, stands elsewhere, and is given something else: the two are exchanged. NULL: none. */
static const holder *find_namesake(const layout *own, const layout *theirs, size_t at, int level)
{
    const char *name = own->parts[at].by[level].name;
    const part *there = &theirs->parts[at];
    if (!name || is_called(name, there->by[level].name)) return NULL;
    for (size_t i = 0; i < theirs->count; i++) {
        const part *other = &theirs->parts[i];
        bool is_beside = level == OUTER || other->by[OUTER].field == there->by[OUTER].field;
        if (is_beside && is_called(name, other->by[level].name) && !is_called(name, own->parts[i].by[level].name)) return &other->by[level];
    }
    return NULL;
}

static void check_name(const mt_checking *c, mt_declared_place at, const layout *own, const layout *theirs, size_t i)
{
    int level = find_namesake(own, theirs, i, OUTER) ? OUTER : INNER;
    const holder *namesake = find_namesake(own, theirs, i, level), *field = &theirs->parts[i].by[level];
    if (!namesake) return;
    mt_strbuf expected = {0};
    mt_strbuf_addf(&expected, ": field %zu is called %s; expected the members in the order of the fields, or another name for this one", namesake->field + 1, namesake->name);
    at.of = field->of, at.index = field->field;
    mt_check_tell(c, &at, &c->spec->args[own->parts[i].by[level].arg], mt_strbuf_text(&expected));
    mt_strbuf_free(&expected);
}

static mt_declared_place place_of(const mt_declared_place *at, const part *field)
{
    return (mt_declared_place){at->launch, field->by[INNER].of, field->by[INNER].field, true, at->file};
}

/* The first that lies elsewhere; those behind it follow it. */
static bool check_offsets(const mt_checking *c, const mt_declared_place *at, const layout *own, const layout *theirs)
{
    for (size_t i = 0; i < own->count; i++) {
        const part *mine = &own->parts[i], *field = &theirs->parts[i];
        mt_declared_place place = place_of(at, field);
        const mt_parameter *parameter = &place.of->parameters[place.index];
        mt_strbuf expected = {0};
        if (mine->at == field->at && mine->bytes == field->bytes) continue;
        mt_strbuf_addf(&expected, ": it lies in bytes %llu to %llu, and the field in %llu to %llu", (unsigned long long)mine->at, (unsigned long long)(mine->at + mine->bytes - 1), (unsigned long long)field->at,
                       (unsigned long long)(field->at + field->bytes - 1));
        if (parameter->lanes > 1 && !parameter->pointers)
            mt_strbuf_addf(&expected, "; a %s is a struct of its own: expected NAME = struct %s[%d](…) align N, with the alignment that CUDA gives it, and NAME as the member", parameter->type, parameter->dtype, parameter->lanes);
        else if (theirs->is_packed) mt_strbuf_add(&expected, ", which is packed; expected the packed part's bytes in the place of its fields, as u8[5](…)");
        else if (mine->at != field->at) mt_strbuf_addf(&expected, "; expected a struct that is made as the source's is, with the structs in it");
        mt_check_tell(c, &place, &c->spec->args[mine->by[INNER].arg], mt_strbuf_text(&expected));
        mt_strbuf_free(&expected);
        return false;
    }
    return true;
}

static void check_size(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, const layout *own, const layout *theirs)
{
    mt_strbuf expected = {0};
    if (own->bytes == theirs->bytes && own->align == theirs->align) return;
    mt_strbuf_addf(&expected, ": it has %llu bytes, aligned to %llu, and the struct in the source %llu, aligned to %llu: expected align %llu", (unsigned long long)own->bytes, (unsigned long long)own->align,
                   (unsigned long long)theirs->bytes, (unsigned long long)theirs->align, (unsigned long long)theirs->align);
    mt_check_tell(c, at, arg, mt_strbuf_text(&expected));
    mt_strbuf_free(&expected);
}

static void check_count(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, size_t own, size_t theirs)
{
    mt_strbuf expected = {0};
    mt_strbuf_addf(&expected, ": it has %zu value%s, and the struct in the source %zu", own, own == 1 ? "" : "s", theirs);
    mt_check_tell(c, at, arg, mt_strbuf_text(&expected));
    mt_strbuf_free(&expected);
}

static mt_status compare(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, const layout *own, const layout *theirs, mt_error *err)
{
    mt_status st = MT_OK;
    bool is_known = !own->is_unknown && !theirs->is_unknown;
    size_t told = *c->told;
    if (own->count != theirs->count) {
        if (is_known && !theirs->is_packed) check_count(c, at, arg, own->count, theirs->count);
        return MT_OK;
    }
    for (size_t i = 0; st == MT_OK && i < own->count; i++) {
        mt_declared_place place = place_of(at, &theirs->parts[i]);
        size_t before = *c->told;
        st = mt_check_argument(c, &place, own->parts[i].by[INNER].arg, err);
        if (st == MT_OK && *c->told == before) check_name(c, place, own, theirs, i);
    }
    if (st == MT_OK && is_known && *c->told == told && check_offsets(c, at, own, theirs)) check_size(c, at, arg, own, theirs);
    return st;
}

mt_status mt_check_fields(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, mt_error *err)
{
    layout own = {0}, theirs = {0};
    bool is_found = false;
    mt_status st = lay_out_fields(c, at->of->parameters[at->index].type, 0, &theirs, &is_found, err);
    if (st == MT_OK && is_found) st = lay_out_members(c, at->launch, arg, &own, err);
    if (st == MT_OK && is_found) st = compare(c, at, arg, &own, &theirs, err);
    free_layout(&own);
    free_layout(&theirs);
    return st;
}
