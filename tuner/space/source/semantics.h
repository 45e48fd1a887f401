/* What a search space means, as text for the kernel's key: what changes results, and nothing that does not. */
#pragma once

#include "tuner/space/spec/spec.h"

/* Normalised text of everything that changes what a variant computes or launches, apart from the source: options, lets, args,
 * launches, entries, bake; not: knob values, constraints, shapes, workloads, the model, docs, key order. Part of the kernel key. mt_free it. */
char *mt_spec_semantics(const mt_spec *spec);
