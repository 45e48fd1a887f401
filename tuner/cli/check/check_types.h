/* What `msda-tune check` refuses before compiling: arguments of another type than the kernel's declaration has. A GPU would read the same bytes as something else. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/facts.h"
#include "tuner/space/source/source.h"

/* Adds a sentence for each argument that is surely of another type, one a line; those that *out has already are not added again. Nothing is said of templates, of types that a macro or typedef names,
 * of vectors and bytes, and of unsigned integers that hold the bits of something else. */
mt_status mt_check_types(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_source *source, mt_strbuf *out, mt_error *err);
