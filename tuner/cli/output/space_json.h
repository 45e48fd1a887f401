/* A search space's facts for programs: what `list --json` and `check --json` tell of one. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/spec/spec.h"

/* Members without braces: kernel, source, variants, knobs, constraints, workloads. */
void mt_space_json_facts(mt_strbuf *out, const mt_spec *spec);
/* Members without braces: name, values, workloads, main. */
void mt_space_json_shape(mt_strbuf *out, const mt_shape *shape);
