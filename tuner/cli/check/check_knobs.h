/* What `msda-tune check` warns of before compiling: knobs whose macro headers use for something else. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/source/source.h"

/* Adds a sentence for each knob that headers break with; one a line. */
void mt_check_taken_names(const mt_spec *spec, const mt_source *source, mt_strbuf *out);
