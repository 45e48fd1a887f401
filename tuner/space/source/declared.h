/* What the declarations of a source's kernels say of their parameters. Nothing is preprocessed (signature.h): where it can't be told for sure, nothing is said. */
#pragma once

#include "tuner/space/signature/signature.h"
#include "tuner/space/source/source.h"

typedef struct mt_declared {
    const mt_source *source;
    mt_signatures *files; /* of each file of the source */
} mt_declared;

/* `source` must outlive it; NULL: a source of which nothing is known. Free with mt_declared_free, also after an error. */
mt_status mt_declared_read(const mt_source *source, mt_declared *declared, mt_error *err);
void mt_declared_free(mt_declared *declared);

/* The kernel of this name, its own or in compiled code; NULL: none, or several, as overloads are and what stands under conditions. *file: where it stands; file may be NULL. */
const mt_signature *mt_declared_kernel(const mt_declared *declared, const char *entry, const char **file);
/* The type of a parameter's elements, or of the parameter itself; false: an alias, a struct or a pointer to pointers, which may be anything. Of float4 it is f32. */
bool mt_declared_dtype(const mt_parameter *parameter, mt_dtype *dtype);
/* In bytes, by value: CUDA aligns a vector of two or four to its size, of three to its elements. `dtype`: of its elements. */
uint64_t mt_declared_align(const mt_parameter *parameter, mt_dtype dtype);

/* What the reference writes to an output of this floating type: double, unless it is declared with the output's own type, or with float where it reads nothing from there. */
mt_dtype mt_declared_reference_dtype(const mt_declared *declared, const mt_spec *spec, size_t arg, mt_dtype own);
