/* What `msda-tune check` looks at beside compiling. Each function adds sentences to *out or *why, one a line, or fails with an error. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/facts.h"
#include "tuner/space/points/space.h"
#include "tuner/space/source/source.h"

/* An error that names the file, what it holds and what was expected, when one is no .npy file or of another type or shape than its argument. */
mt_status mt_check_files(const mt_space *space, const mt_device_facts *facts, mt_error *err);
/* points[count]: indices of the space. MT_ERR_SPEC, with file, line and the point, where [model] time_ns has no time of at least 1 for one of them; NO_MEMORY. */
mt_status mt_check_model(const mt_space *space, const mt_device_facts *facts, const size_t *points, size_t count, mt_error *err);
/* Adds a sentence for each knob that headers break with; one a line. */
void mt_check_taken_names(const mt_spec *spec, const mt_source *source, mt_strbuf *out);
/* Adds a sentence for each argument that is surely of another type, or a struct whose members lie otherwise than the fields, one a line; those that *out has already are not added again. Nothing is said of templates, of types that a macro or typedef names,
 * of vectors and bytes, and of unsigned integers that hold the bits of something else. */
mt_status mt_check_types(const mt_spec *spec, const mt_shape *shape, const mt_device_facts *facts, const mt_source *source, mt_strbuf *out, mt_error *err);
/* Adds why none of [tune] defaults may run there (where there are none, or the default variant is the reference: the first variant's default point): the condition or the hardware's rule that the first of them breaks, with its numbers. Adds nothing where one may. */
mt_status mt_check_default(const mt_space *space, const mt_device_facts *facts, mt_strbuf *why, mt_error *err);
/* Adds the same of a point that compiled to code which may not run, where it is the default and no other of `defaults` could take its place. */
void mt_check_default_code(const mt_space *space, size_t index, const char *rule, mt_strbuf *why);
/* Adds a line for each variable without values that is in the variant's cubin, and that no argument fills, or none to its end. */
mt_status mt_check_constants(const mt_space *space, size_t index, const mt_device_facts *facts, const mt_source *source, const char *cubin_path, mt_strbuf *out, mt_error *err);
