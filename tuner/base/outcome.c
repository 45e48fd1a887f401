#include "tuner/base/outcome.h"

#include <stdarg.h>
#include <math.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/strbuf.h"

static const char *const kinds[MT_OUTCOME_KIND_COUNT] = {
#define MT_OUTCOME_NAME(name, text, meaning) [MT_OUTCOME_##name] = text,
    MT_OUTCOME_MAP(MT_OUTCOME_NAME)
#undef MT_OUTCOME_NAME
};

static const char *const objectives[MT_OBJECTIVE_COUNT] = {[MT_OBJECTIVE_TIME] = "time", [MT_OBJECTIVE_ENERGY] = "energy", [MT_OBJECTIVE_EDP] = "edp"};

static const char *const energy_sources[] = {[MT_ENERGY_NONE] = "none", [MT_ENERGY_COUNTER] = "counter", [MT_ENERGY_POWER] = "power"};

static const char *const l2_states[] = {[MT_L2_COLD] = "cold", [MT_L2_WARM] = "warm"};

const char *mt_outcome_name(mt_outcome_kind kind)
{
    return kinds[kind];
}

/* The place of `name` in names[count], or count. */
static size_t find(const char *name, const char *const *names, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(name, names[i]) != 0) i++;
    return i;
}

bool mt_outcome_from_name(const char *name, mt_outcome_kind *kind)
{
    size_t i = find(name, kinds, MT_OUTCOME_KIND_COUNT);
    if (i == MT_OUTCOME_KIND_COUNT) return false;
    *kind = (mt_outcome_kind)i;
    return true;
}

double mt_timing_low_ns(const mt_timing *timing)
{
    return timing->samples ? timing->low_ns : NAN;
}

double mt_timing_high_ns(const mt_timing *timing)
{
    return timing->samples ? timing->high_ns : NAN;
}

double mt_timing_half_ns(const mt_timing *timing)
{
    return fmax(mt_timing_high_ns(timing) - timing->median_ns, timing->median_ns - mt_timing_low_ns(timing));
}

bool mt_outcome_is_timed(mt_outcome_kind kind)
{
    return mt_outcome_may_win(kind) || kind == MT_OUTCOME_YARDSTICK;
}

bool mt_outcome_is_failure(mt_outcome_kind kind)
{
    return mt_outcome_is_run(kind) && !mt_outcome_is_timed(kind);
}

bool mt_outcome_is_run(mt_outcome_kind kind)
{
    return kind != MT_OUTCOME_EXCLUDED && !mt_outcome_is_untried(kind);
}

bool mt_outcome_is_untried(mt_outcome_kind kind)
{
    return kind == MT_OUTCOME_NOT_RECORDED || kind == MT_OUTCOME_COMPILER_KILLED;
}

bool mt_outcome_may_win(mt_outcome_kind kind)
{
    return kind == MT_OUTCOME_OK || kind == MT_OUTCOME_CENSORED;
}

const char *mt_l2_name(mt_l2 l2)
{
    return l2_states[l2];
}

bool mt_l2_from_name(const char *name, mt_l2 *l2)
{
    size_t i = find(name, l2_states, sizeof l2_states / sizeof *l2_states);
    if (i == sizeof l2_states / sizeof *l2_states) return false;
    *l2 = (mt_l2)i;
    return true;
}

const char *mt_energy_source_name(mt_energy_source source)
{
    return energy_sources[source];
}

bool mt_energy_source_from_name(const char *name, mt_energy_source *source)
{
    size_t i = find(name, energy_sources, sizeof energy_sources / sizeof *energy_sources);
    if (i == sizeof energy_sources / sizeof *energy_sources) return false;
    *source = (mt_energy_source)i;
    return true;
}

const char *mt_objective_name(mt_objective objective)
{
    return objectives[objective];
}

bool mt_objective_from_name(const char *name, mt_objective *objective)
{
    size_t i = find(name, objectives, MT_OBJECTIVE_COUNT);
    if (i == MT_OBJECTIVE_COUNT) return false;
    *objective = (mt_objective)i;
    return true;
}

void mt_outcome_free(mt_outcome *outcome)
{
    mt_free(outcome->text);
    mt_free(outcome->sample_ns);
    memset(outcome, 0, sizeof *outcome);
}

/* Formats before freeing: the new text may quote the old one. */
void mt_outcome_set(mt_outcome *outcome, mt_outcome_kind kind, const char *format, ...)
{
    mt_strbuf text = {0};
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&text, format, args);
    va_end(args);
    mt_free(outcome->text);
    outcome->text = mt_strbuf_take(&text);
    outcome->kind = kind;
}
