/* What libtunelookup needs of a space, as JSON text that the session keeps in kernel.spec_json. docs/stored_formats.md describes the form. */
#pragma once

#include "tuner/space/spec/spec.h"

/* Names and kinds of shape values (sorted), knobs, lets, requirements, constraints, arguments and launches, with expressions as program text. Not in it: shapes, workloads,
 * docs, the reference and what only makes inputs. Equal specs give equal text. Owned by the caller (mt_free); NULL only when memory runs out. */
char *mt_spec_json(const mt_spec *spec);
