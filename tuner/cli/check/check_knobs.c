/* What `msda-tune check` warns of before compiling: knobs whose macro headers use for something else. */
#include "tuner/cli/check/check.h"

#include <string.h>

#include "tuner/space/source/macro_names.h"

static bool includes(const mt_source *source, const char *header)
{
    if (!header) return true;
    for (size_t i = 0; i < source->file_count; i++)
        if (strstr(source->files[i].text, header)) return true;
    return false;
}

void mt_check_taken_names(const mt_spec *spec, const mt_source *source, mt_strbuf *out)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        for (size_t k = 0; k < mt_taken_name_count; k++) {
            const mt_taken_name *taken = &mt_taken_names[k];
            if (strcmp(spec->params[i].macro, taken->name) != 0 || !includes(source, taken->header)) continue;
            mt_strbuf_addf(out, "knob %s: its macro breaks headers of %s, which use the name for something else; expected another name, or [kernel] macros = KNOB_\n", spec->params[i].name,
                           taken->header ? taken->header : "NVRTC");
        }
    }
}
