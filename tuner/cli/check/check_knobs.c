/* What `msda-tune check` warns of before compiling: knobs whose macro headers, or the source's own templates, use for something else. */
#include "tuner/cli/check/check.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/space/signature/signature_code.h"
#include "tuner/space/source/macro_names.h"

static bool includes(const mt_source *source, const char *header)
{
    if (!header) return true;
    for (size_t i = 0; i < source->file_count; i++)
        if (strstr(source->files[i].text, header)) return true;
    return false;
}

/* Whether `code` has a template with a parameter of that name: `template <typename T, int NAME = 4>`. */
static bool is_template_parameter(const char *code, const char *name)
{
    for (const char *at = code;;) {
        mt_code_word word = mt_code_next(&at), last = {0};
        if (!word.length) return false;
        if (!mt_code_is(word, "template")) continue;
        for (int depth = 0; (word = mt_code_next(&at)).length && !strchr("({;", *word.at); last = word) {
            depth += *word.at == '<' ? 1 : *word.at == '>' ? -1 : 0;
            bool ends = *word.at == '>' || *word.at == ',' || *word.at == '=';
            if (ends && last.length && mt_code_is(last, name)) return true;
            if (depth == 0) break;
        }
    }
}

static void tell_template_parameters(const mt_spec *spec, const mt_source_file *file, mt_strbuf *out)
{
    char *code = mt_code_bare(file->text);
    for (size_t i = 0; code && i < spec->param_count; i++) {
        if (is_template_parameter(code, spec->params[i].macro))
            mt_strbuf_addf(out, "knob %s: its macro breaks the template in %s that has a parameter of this name; expected another name, or [kernel] macros = KNOB_\n", spec->params[i].name, file->path);
    }
    mt_free(code);
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
    for (size_t i = 0; i < source->file_count; i++) tell_template_parameters(spec, &source->files[i], out);
}
