#include "tuner/space/source/nvcc_words.h"

#include <stddef.h>
#include <string.h>

#include "tuner/space/source/option_words.h"

/* Without the hyphens in front: nvcc takes one or two. */
static const char *const allowed[] = {
    "std", "use_fast_math", "ftz", "prec-div", "prec-sqrt", "fmad", "G", "device-debug", "lineinfo", "generate-line-info", "maxrregcount", "dopt", "Ofast-compile", "expt-relaxed-constexpr",
    "expt-extended-lambda", "extended-lambda", "extra-device-vectorization", "restrict", "w", "disable-warnings", "Werror", "Wno-deprecated-gpu-targets", "Wno-deprecated-declarations", "diag-suppress",
    "diag-warn", "diag-error", "default-stream", "O0", "O1", "O2", "O3", "Xptxas", "ptxas-options", "Xcudafe", "cudafe-options", "res-usage", "resource-usage", "rdc=false", "relocatable-device-code=false",
};

/* nvcc hands them on in commands that it writes: no letters that mean something there. */
static const char value_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.,:=";

const char *mt_nvcc_word_refusal(const char *word)
{
    size_t length;
    const char *value;
    if (mt_word_macro(word, &length, &value)) return NULL; /* becomes a line of the source */
    const char *name = word + (word[0] == '-') + (word[0] == '-' && word[1] == '-');
    bool is_known = false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed && *word == '-'; i++) {
        size_t letters = strlen(allowed[i]);
        is_known |= strncmp(name, allowed[i], letters) == 0 && (!name[letters] || name[letters] == '=');
    }
    if (!is_known) return "not one of the options that nvcc gets from here; expected one that makes other code, such as -use_fast_math, --expt-relaxed-constexpr, --extended-lambda, -maxrregcount=N, -lineinfo, -Xptxas=… or -D";
    return word[strspn(word, value_letters)] ? "expected letters, digits and + - . , : = _ in an option for nvcc" : NULL;
}
