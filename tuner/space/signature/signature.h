/* The __global__ functions of a CUDA source as far as their declarations tell: for a first search space of a kernel that has none. Nothing is preprocessed or compiled, so macros are not expanded and conditions not
 * evaluated; what a compiler would refuse may be read, and a declaration made by macros is not seen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef struct mt_parameter {
    char *name;
    char *type;           /* without const, references and pointers: "float", "unsigned int", "__half" */
    const char *dtype;    /* as search spaces name it, "f32"; NULL = not one of them */
    int lanes;            /* 4 for float4; else 1 */
    int pointers;         /* how many */
    int64_t elements;     /* of a struct's field: how many it is an array of, 1 if none, 0 if that can't be told */
    bool is_enum;         /* of a number: a name that the source gives its values */
    bool is_alias;        /* a typedef or a macro names the type; under conditions there may be others */
    bool is_const;        /* what it points to */
    bool is_read, is_written; /* of a pointer: whether the body reads or writes elements; both where it can't be told */
    bool is_added;        /* all that the body does with it is atomicAdd, atomicMax and their kind */
    unsigned row_axes;    /* of a number: bit 0 if the body multiplies blockIdx.x with it, 1 .y, 2 .z */
    bool is_index;        /* the body takes elements for indices: x[column[j]]; of a number: takes it for a part of one */
    int index_factor;     /* … times the parameter of this place, from 1: x[row[j] * width]; -1: times something else; 0: times nothing */
    int extra;            /* the largest number that indices add to a name: 1 of start[row + 1] */
    bool is_positive;     /* the body takes roots or logarithms of elements, or divides by them */
} mt_parameter;

/* What a template takes. */
typedef struct mt_template_parameter {
    char *name;
    char *standard;       /* its default, as it is written; NULL: none */
    bool is_type, is_bool;
    bool is_other;        /* neither a type nor a number: a pack, another template, an enum, a pointer */
} mt_template_parameter;

typedef struct mt_signature {
    char *name;
    char *entry;          /* with its namespaces, of which unnamed ones have no name: "ns::scale" */
    char *symbol;         /* its name in compiled code; NULL = only the compiler can tell */
    bool is_template;
    bool is_overload;     /* the source has another of this entry with other parameters */
    mt_template_parameter *takes; size_t take_count, take_capacity;
    bool has_rows, has_planes; /* the body asks for threadIdx.y or blockIdx.y, for their z */
    bool has_dynamic_smem; /* … and for extern __shared__ memory */
    int dynamic_bytes;     /* of an element of that; 0: its type is not known here */
    bool asks_block;       /* the body reads blockDim */
    bool has_grid_barrier; /* blocks wait for each other: this_grid() of cooperative groups */
    char *steps[3];        /* in which the body counts blockIdx.x, .y, .z: "TILE" of blockIdx.x * TILE; NULL: it does not, or by blockDim */
    struct {
        bool is_alone;     /* the body takes blockIdx.x (.y, .z) for an index without counting threads: a block for each row */
        char *factor;      /* a constant in a row's length, "D" of blockIdx.y * n * D; NULL: none */
        int bound;         /* the parameter that it is compared with, by its place; -1: none */
    } rows[3];
    char *bounds;          /* what __launch_bounds__ says of the threads of a block: "256"; NULL: nothing */
    int64_t align;         /* of a struct: the bytes that its declaration asks for; 0: as its fields do */
    int64_t pack;          /* of a packed struct: no field is aligned to more bytes; 0: it is none */
    mt_parameter *parameters; size_t parameter_count, parameter_capacity;
} mt_signature;

typedef struct mt_signatures {
    mt_signature *items; size_t count, capacity;
} mt_signatures;

/* In the order of the source; a declaration whose definition comes later counts once. Free with mt_signatures_free, also after an error. */
mt_status mt_signatures_read(const char *source, mt_signatures *signatures, mt_error *err);
void mt_signatures_free(mt_signatures *signatures);

/* What of a source a kernel may read: without comments, and without the other kernels, whose names are not `name` (without namespaces). What conditions choose from stays; mt_free. NULL: no memory. */
char *mt_signature_source_of(const char *source, const char *name);

/* What search spaces call a type, "f32" of float4, with *lanes = 4; NULL: not one of them, *lanes = 1. */
const char *mt_signature_dtype(const char *type, int *lanes);

/* The type that a template is given at first: its default, int where the body takes numbers of it for indices, or float. NULL: none of its parameters is a type called so. */
const char *mt_signature_taken_type(const mt_signature *signature, const char *type);
/* "(const float *, int)", as an entry has them to choose among overloads; is_taken: with the types that a template is given at first. */
void mt_signature_add_parameters(const mt_signature *signature, bool is_taken, mt_strbuf *out);

/* The function's name in compiled code, by the Itanium C++ ABI; mt_free. NULL: one of its parameters' types is not known here, or memory ran out. */
char *mt_signature_mangle(const mt_signature *signature);
