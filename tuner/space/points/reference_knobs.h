/* A reference that reads knobs (`reads_knobs`) is one for each combination of their values. Without such knobs there is one combination, 0. */
#pragma once

#include "tuner/space/points/env.h"

size_t mt_reference_count(const mt_spec *spec);
/* The combination of a variant: an inactive knob counts as at its default. `point` NULL: of the defaults. */
size_t mt_reference_of(const mt_spec *spec, const mt_point *point);
/* Its knobs at these levels, all others inactive. */
void mt_reference_point(const mt_spec *spec, size_t combination, mt_point *point);
/* "ORDER=rows;TT=4": for messages; "" without such knobs. */
const char *mt_reference_name(const mt_spec *spec, size_t combination, char *out, size_t size);
/* The file with the expected output, values in the place of ${NAME}; *path is mt_free'd. */
mt_status mt_reference_file(const mt_spec *spec, size_t combination, char **path, mt_error *err);
