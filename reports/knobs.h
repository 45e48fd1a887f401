/* The knobs of a subject, taken from its variants' texts, and what they do to the time. */
#pragma once

#include "reports/data.h"

bool mt_knobs_find(mt_report_subject *subject); /* fills knobs and the rows' levels; false when memory runs out */
void mt_knobs_free(mt_report_subject *subject);

/* One value of a knob, over the newest rows of the variants that have it. Slowdowns are to the fastest variant. */
typedef struct mt_level_effect {
    size_t count, timed, failed;         /* variants; with a time; failed (the rest is neither) */
    double best, low, median, high, worst; /* slowdowns: least, quartiles, greatest; NAN without any */
} mt_level_effect;

typedef struct mt_knob_effect {
    /* Among the variants of the winner's algorithm (of all without a winner) in which the knob is active. NAN where the winner lacks it, or it has one value there. */
    double overall;      /* share of the variance of log time that the knob's values alone explain (main effect, η²) */
    double near_best;    /* how far the values among the fastest tenth are from those of all (PED-ANOVA), as a share of the sum over the knobs */
    size_t values;       /* that these variants have; 0 where the winner lacks it */
    mt_level_effect *levels; /* knob.count of them */
} mt_knob_effect;

/* effects[knob_count], freed by mt_knobs_effects_free; NULL when memory runs out. */
mt_knob_effect *mt_knobs_effects(const mt_report_subject *subject);
void mt_knobs_effects_free(const mt_report_subject *subject, mt_knob_effect *effects);
/* order[knob_count]: the knobs by what they explain, the most first; those without figures last. */
void mt_knobs_rank(const mt_report_subject *subject, const mt_knob_effect *effects, size_t *order);
/* A variant that differs from the best in one knob (db/store/neighbour.h). Where another value of it brings other knobs with it, as another algorithm does, many do: the fastest stands for them, and where none has a
 * time, one that failed. */
typedef struct mt_neighbour {
    size_t knob;
    const mt_row *row;
} mt_neighbour;
/* *count of them, freed by mt_free; NULL when memory runs out. */
mt_neighbour *mt_knobs_neighbours(const mt_report_subject *subject, size_t *count);
/* The fastest time (ns) of each pair of values, cells[a's count × b's count], INFINITY = none. */
void mt_knobs_pair(const mt_report_subject *subject, size_t a, size_t b, double *cells);
/* The fastest time of the subject's newest rows; NAN without any. */
double mt_knobs_fastest(const mt_report_subject *subject);
