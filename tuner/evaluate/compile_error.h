/* The reference and the input generators stand in the source of the tuned kernels, and are compiled first: a mistake anywhere in it is told then, and is to be told of where it is. */
#pragma once

#include "tuner/worker/compile_pool.h"

/* Says why the reference and the generators did not compile: "k.cu:12: in twice(): …" where the log names a line of the source, and all of the log. is_by_default: they were compiled as the
 * default variant (`reference = default`, or no reference was named), so that it is its knobs that the source does not compile with. COMPILE in *error. */
void mt_attribute_compile_error(const mt_source *source, bool is_by_default, const mt_pool_result *result, mt_error *error);
