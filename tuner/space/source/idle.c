#include "tuner/space/source/idle.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"
#include "tuner/space/signature/signature.h"
#include "tuner/space/spec/spec_scope.h"

static bool may_stand_in_text(const char *text, const mt_param *param)
{
    mt_strbuf number = {0}; /* of a text among the values, which #if compares in its place */
    mt_strbuf_addf(&number, "%s_INDEX", param->macro);
    bool is_there = strstr(text, "##") || mt_text_has_word(text, param->macro) || (param->is_verbatim && mt_text_has_word(text, mt_strbuf_text(&number)));
    mt_strbuf_free(&number);
    return is_there;
}

static bool may_stand_in(const mt_source *source, const mt_param *param)
{
    bool is_there = false;
    for (size_t i = 0; i < source->file_count && !is_there; i++) is_there = may_stand_in_text(source->files[i].text, param);
    return is_there;
}

uint64_t mt_knobs_of_expressions(const mt_spec *spec)
{
    uint64_t knobs = mt_scope_knobs_of_text(spec, spec->options) | mt_scope_knobs(spec, &spec->per);
    for (size_t i = 0; i < spec->algorithm_count; i++)
        knobs |= mt_scope_knobs_of_text(spec, spec->algorithms[i].options) | mt_scope_knobs_of_text(spec, spec->algorithms[i].entry);
    for (size_t i = 0; i < spec->arg_count; i++) knobs |= mt_scope_knobs_of_arg(spec, &spec->args[i]);
    for (size_t i = 0; i < spec->launch_count; i++) knobs |= mt_scope_knobs_of_launch(spec, &spec->launches[i]);
    for (size_t i = 1; i < spec->param_count; i++)
        if (spec->params[i].has_when) knobs |= mt_scope_knobs(spec, &spec->params[i].when);
    return knobs;
}

uint64_t mt_idle_knobs(const mt_spec *spec, const mt_source *source)
{
    uint64_t idle = 0, read = spec->is_recorded ? UINT64_MAX : mt_knobs_of_expressions(spec);
    for (size_t i = 1; i < spec->param_count; i++)
        if (!(read >> i & 1) && !may_stand_in(source, &spec->params[i])) idle |= UINT64_C(1) << i;
    return idle;
}

/* Of "ns::right<4>(int)" it is "right". */
static void add_last_name(const char *entry, mt_strbuf *out)
{
    size_t length = strcspn(entry, "<("), from = length;
    while (from > 0 && entry[from - 1] != ':') from--;
    mt_strbuf_add_bytes(out, entry + from, length - from);
}

uint64_t mt_idle_reference_knobs(const mt_spec *spec, const mt_source *source)
{
    uint64_t idle = spec->reference_knobs & ~mt_scope_knobs_of_text(spec, spec->reference_file ? spec->reference_file : spec->reference) & ~mt_scope_knobs_of_text(spec, spec->options);
    if (!idle || spec->reference_file) return idle;
    mt_strbuf name = {0};
    add_last_name(spec->reference, &name);
    for (size_t i = 0; i < spec->launch_count; i++) {
        const mt_launch *launch = &spec->launches[i];
        if (!launch->algorithm || strcmp(launch->algorithm, "reference") != 0) continue;
        idle &= ~mt_scope_knobs_of_launch(spec, launch);
        for (size_t k = 0; k < launch->reached_count; k++) idle &= ~mt_scope_knobs_of_arg(spec, &spec->args[launch->reached[k]]);
        if (launch->entry) idle = 0; /* of a kernel of its own */
    }
    for (size_t i = 0; i < source->file_count && idle; i++) {
        char *text = mt_signature_source_of(source->files[i].text, mt_strbuf_text(&name));
        for (size_t k = 0; k < spec->param_count; k++)
            if (!text || may_stand_in_text(text, &spec->params[k])) idle &= ~(UINT64_C(1) << k);
        mt_free(text);
    }
    mt_strbuf_free(&name);
    return idle;
}

void mt_idle_tell(const mt_spec *spec, uint64_t knobs, const char *where, const char *why, mt_strbuf *text)
{
    mt_strbuf names = {0};
    size_t count = 0;
    for (size_t i = 0; i < spec->param_count; i++)
        if (knobs >> i & 1) mt_strbuf_addf(&names, "%s%s", count++ ? ", " : "", spec->params[i].name);
    if (count) mt_strbuf_addf(text, "knob%s %s change%s nothing%s: %s reads %s", count == 1 ? "" : "s", mt_strbuf_text(&names), count == 1 ? "s" : "", where, why, count == 1 ? "it" : "them");
    mt_strbuf_free(&names);
}

/* What constraints and lets read: numbers of a limit, most often, that stand among the knobs. */
static uint64_t knobs_of_conditions(const mt_spec *spec)
{
    uint64_t knobs = 0;
    for (size_t i = 0; i < spec->constraint_count; i++) knobs |= mt_scope_knobs(spec, &spec->constraints[i].expr);
    for (size_t i = 0; i < spec->algorithm_count; i++)
        if (spec->algorithms[i].has_requires) knobs |= mt_scope_knobs(spec, &spec->algorithms[i].requires_expr);
    return knobs;
}

void mt_idle_tell_unread(const mt_spec *spec, uint64_t idle, mt_strbuf *text)
{
    uint64_t limits = idle & knobs_of_conditions(spec);
    mt_idle_tell(spec, idle & ~limits, "", "neither the source nor a launch, an argument or an option", text);
    if (limits && idle & ~limits) mt_strbuf_add(text, "; ");
    mt_idle_tell(spec, limits, " in the code", "a constraint alone", text); /* a knob of one value that limits others is a number for [let] */
}
