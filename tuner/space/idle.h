/* Knobs that change nothing, most often a slip of the pen: each of their values is the same variant once more. */
#ifndef MT_SPACE_IDLE_H
#define MT_SPACE_IDLE_H

#include "tuner/space/source.h"

/* Bit i: spec->params[i] stands in no file of the source, and no launch, argument, option or other knob's `when` reads it. What constraints read does not count. Without bits where words
 * can't tell, as with names pasted by ##. */
uint64_t mt_idle_knobs(const mt_spec *spec, const mt_source *source);
/* Bit i: a launch, an argument, an option or another knob's `when` reads spec->params[i]. */
uint64_t mt_knobs_of_expressions(const mt_spec *spec);

#endif
