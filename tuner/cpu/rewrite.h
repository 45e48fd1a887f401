/* CUDA's words that no macro can take away, in a source that is preprocessed: shared memory, and assembler. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/source/source.h"

/* Adds the text as the host's compiler can take it. What is `__shared__` becomes memory of the program's, since one block runs after the other; `extern __shared__ T x[]` a pointer to the launch's memory; and inline PTX, where
 * it is reached, ends the run with its place. Only what is of the source's files is changed: headers of the host have assembler of their own. Lines keep their numbers. */
void mt_cpu_rewrite(const mt_source *source, const char *text, mt_strbuf *out);
