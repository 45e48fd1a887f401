/* What check_types.c and check_fields.c share: arguments held against the declarations of a source. */
#pragma once

#include "tuner/cli/check/check.h"
#include "tuner/space/points/env.h"
#include "tuner/space/source/declared.h"

typedef struct mt_checking {
    const mt_spec *spec;
    const mt_env *env;
    const mt_source *source;
    mt_declared declared;
    mt_strbuf *out;
    size_t *told; /* how many sentences, those too that *out has already */
} mt_checking;

/* A parameter of a kernel, or a field of one that is a struct. */
typedef struct mt_declared_place {
    const mt_launch *launch;
    const mt_signature *of; /* the kernel, or the struct */
    size_t index;
    bool is_field;
    const char *file;
} mt_declared_place;

/* "[arg a] is a scalar f32, but parameter 2 of scale is float *a (scale.cu)", and what was expected. */
void mt_check_tell(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, const char *expected);
/* The type that the launch hands over: the reference's outputs may be wider. *is_known: no knob chooses it. */
mt_status mt_check_dtype(const mt_checking *c, const mt_launch *launch, const mt_arg *arg, mt_dtype *dtype, bool *is_known, mt_error *err);
/* `index`: of the argument that stands at the place. */
mt_status mt_check_argument(const mt_checking *c, const mt_declared_place *at, size_t index, mt_error *err);
/* The members of a struct against the fields of the source's: how many, their types, names, and where they lie. */
mt_status mt_check_fields(const mt_checking *c, const mt_declared_place *at, const mt_arg *arg, mt_error *err);
