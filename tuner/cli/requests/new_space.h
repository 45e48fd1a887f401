/* A first search space of a kernel that has none: `msda-tune new`. What the kernel's declaration and body do not tell is guessed, and each guess says so in the file. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/space/signature/signature.h"

/* The text of the file. `source`: the .cu file's text, `others`: those of the files that it includes; `path`: its path as the file is to name it. SPEC names a parameter that no search space can describe, and what to do instead. */
mt_status mt_new_space(const char *source, const char *others, const char *path, const mt_signature *kernel, mt_strbuf *out, mt_error *err);
