#include "tuner/search/outlook.h"

#include <math.h>

/* Chosen on recordings: docs/experiments/2026-11-29-search-until-flat.md. */
#define BELIEF 0.02 /* promises of so much that came to nothing halve the models' word */
enum { PATIENCE = 100, FOREST_POINTS = 8 };

void mt_outlook_begin(mt_outlook *outlook)
{
    for (int i = 0; i < MT_OUTLOOK_TOPS; i++) outlook->tops[i] = -INFINITY;
}

void mt_outlook_note(mt_outlook *outlook, double log_improvement)
{
    int at = MT_OUTLOOK_TOPS - 1;
    if (!(log_improvement > outlook->tops[at])) return;
    for (; at > 0 && outlook->tops[at - 1] < log_improvement; at--) outlook->tops[at] = outlook->tops[at - 1];
    outlook->tops[at] = log_improvement;
}

void mt_outlook_end(mt_outlook *outlook, double unit)
{
    outlook->gp = 0;
    for (int i = 0; i < MT_OUTLOOK_TOPS; i++) outlook->gp += exp(outlook->tops[i]) * unit;
    outlook->promised += exp(outlook->tops[0]) * unit;
}

void mt_outlook_forest(mt_outlook *outlook, double log_improvement, double unit)
{
    outlook->forest = exp(log_improvement) * unit;
    outlook->promised += outlook->forest;
}

void mt_outlook_better(mt_outlook *outlook)
{
    outlook->promised = 0;
}

double mt_outlook_gain(const mt_outlook *outlook, size_t told, size_t since_better)
{
    if (since_better < PATIENCE || 2 * since_better < told) return NAN;
    return fmax(outlook->gp, FOREST_POINTS * outlook->forest) * BELIEF / (BELIEF + outlook->promised);
}
