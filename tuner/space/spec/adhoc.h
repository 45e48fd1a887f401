/* Shapes that a search space's file does not name, given by their values: production asked for one, or somebody on the command line. They become [shape]
 * sections behind the file's text, so that the reader, the workers and the keys treat them as they treat every other shape. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/spec/spec.h"

enum { MT_ADHOC_NAME_SIZE = 64 };

/* `text`: a value for each name of the file's shapes, in any order: "N=1;M=8;H=92,46;dtype=f16". Where a shape of the file has these values, *name becomes that
 * one's. Else *name becomes "shape-" and 8 digits of the values' hash, and a section is added to `sections` unless it is there already. `workloads`: "a, b", those
 * of the new section; NULL or "" = the file's default ones. mt_free *name.
 * SPEC error: a name that is missing, unknown or given twice, a value of another kind, a word that no shape of the file has there, an unknown workload. */
mt_status mt_adhoc_add(const mt_spec *spec, const char *text, const char *workloads, mt_strbuf *sections, char **name, mt_error *err);
/* The file's space, and as its shapes also those of the keys ("N=1;M=8"); keys that do not fit it are passed over. As mt_spec_load. */
mt_status mt_spec_load_shapes(const char *path, const char *const *keys, size_t count, mt_spec **out, mt_error *err);
