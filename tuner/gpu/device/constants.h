/* Arguments with `constant`: contents that kernels read from a variable of their source instead of from a parameter. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/gpu/device/module.h"
#include "tuner/gpu/device/subject.h"

/* Copies the set's inputs into the variables that the module has of them, in the order of the stream. An input may be a variable in one module and a parameter in another; what is
 * neither, or a variable that is too small, is told in `why`, unless needs_all is false. */
CUresult mt_constants_fill(mt_gpu *gpu, const mt_spec *spec, const mt_plan *plan, const mt_module *module, const mt_input_set *set, bool needs_all, mt_strbuf *why);
