#include "tuner/space/idle.h"

#include <string.h>

#include "tuner/base/text.h"
#include "tuner/space/macros.h"
#include "tuner/space/spec_internal.h"

static bool may_stand_in(const mt_source *source, const char *word)
{
    for (size_t i = 0; i < source->file_count; i++)
        if (strstr(source->files[i].text, "##") || mt_text_has_word(source->files[i].text, word)) return true;
    return false;
}

uint64_t mt_knobs_of_expressions(const mt_spec *spec)
{
    uint64_t knobs = mt_scope_knobs_of_text(spec, spec->options);
    for (size_t i = 0; i < spec->algorithm_count; i++) knobs |= mt_scope_knobs_of_text(spec, spec->algorithms[i].options);
    for (size_t i = 0; i < spec->arg_count; i++) knobs |= mt_scope_knobs_of_arg(spec, &spec->args[i]);
    for (size_t i = 0; i < spec->launch_count; i++) knobs |= mt_scope_knobs_of_launch(spec, &spec->launches[i]);
    for (size_t i = 0; i < spec->prepare_count; i++) knobs |= mt_scope_knobs_of_launch(spec, &spec->prepares[i]);
    for (size_t i = 1; i < spec->param_count; i++)
        if (spec->params[i].has_when) knobs |= mt_scope_knobs(spec, &spec->params[i].when);
    return knobs;
}

uint64_t mt_idle_knobs(const mt_spec *spec, const mt_source *source)
{
    uint64_t idle = 0, read = spec->is_recorded ? UINT64_MAX : mt_knobs_of_expressions(spec);
    for (size_t i = 1; i < spec->param_count; i++)
        if (!(read >> i & 1) && !may_stand_in(source, spec->params[i].macro)) idle |= UINT64_C(1) << i;
    return idle;
}
