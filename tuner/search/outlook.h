/* What going on is expected to gain, judged by what the models promise and by what became of their promises. */
#pragma once

#include <stddef.h>

/* The largest promises of the Gaussian process's latest look that are summed up. */
enum { MT_OUTLOOK_TOPS = 8 };

typedef struct mt_outlook {
    double tops[MT_OUTLOOK_TOPS]; /* logs of expected improvements, largest first; while the Gaussian process looks */
    double gp, forest;            /* shares of the best's speed: the sum of those; the forest's best candidate */
    double promised;              /* the sum of what the points asked since the best improved were expected to gain */
} mt_outlook; /* zero-initialise */

void mt_outlook_begin(mt_outlook *outlook);                        /* the Gaussian process looks at its candidates anew */
void mt_outlook_note(mt_outlook *outlook, double log_improvement); /* one of them */
/* The Gaussian process, or the forest, asked for the best one. `unit`: the best's share of speed per improvement of 1. */
void mt_outlook_end(mt_outlook *outlook, double unit);
void mt_outlook_forest(mt_outlook *outlook, double log_improvement, double unit);
void mt_outlook_better(mt_outlook *outlook);                       /* the best improved */
/* The share by which the best's speed is expected to grow if the search goes on; NAN: too early to say, which it is until 100 results in a row, and half of all that were told, brought
 * nothing better. */
double mt_outlook_gain(const mt_outlook *outlook, size_t told, size_t since_better);
