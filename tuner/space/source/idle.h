/* Knobs that change nothing, most often a slip of the pen: each of their values is the same variant once more. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/source/source.h"

/* Bit i: spec->params[i] stands in no file of the source, and no launch, argument, option or other knob's `when` reads it. What constraints read does not count. Without bits where words
 * can't tell, as with names pasted by ##. */
uint64_t mt_idle_knobs(const mt_spec *spec, const mt_source *source);
/* Adds "knob A changes nothingWHERE: WHY reads it". Nothing where there is none. */
void mt_idle_tell(const mt_spec *spec, uint64_t knobs, const char *where, const char *why, mt_strbuf *text);
/* The same of mt_idle_knobs. */
void mt_idle_tell_unread(const mt_spec *spec, uint64_t idle, mt_strbuf *text);
/* Bit i: reads_knobs names spec->params[i], and the reference surely does not read it: no launch or file of it, and in the source other kernels alone. */
uint64_t mt_idle_reference_knobs(const mt_spec *spec, const mt_source *source);
/* Bit i: a launch, an argument, an option or another knob's `when` reads spec->params[i]. */
uint64_t mt_knobs_of_expressions(const mt_spec *spec);
