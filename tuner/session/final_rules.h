/* Who of the finalists is tied with the fastest, and which of those is taken: pure functions of the figures. docs/measurement.md says why. */
#pragma once

#include "db/store/store.h"

enum {
    MT_FINAL_ROUNDS = 12,     /* so many that 7 comparisons at 95 % together are possible: each needs 9 */
    MT_FINAL_LEAST_ROUNDS = 9,
    MT_FINAL_ENERGY_ROUNDS = 2 /* there and back, so that a board that warms up shows as error */
};
#define MT_FINAL_CONFIDENCE 0.95
#define MT_FINAL_MARGIN 0.002 /* a difference that is certain, but smaller than this, is no reason to take the variant with more memory */

typedef struct mt_finalist {
    mt_near_tie near;         /* texts borrowed */
    double round_ns[MT_FINAL_ROUNDS];
    mt_finalist_row row;      /* the result; round_ns is not set */
} mt_finalist;

/* Interleaved: round r of all finalists was measured at the same time. The leader has the least median. A finalist is tied with it unless the sign-test
 * interval of the median of its per-round ratios to the leader lies above 1 + MT_FINAL_MARGIN, at a level (Bonferroni) that makes the tied
 * set hold the fastest with MT_FINAL_CONFIDENCE. count ≥ 1, 1 ≤ rounds ≤ MT_FINAL_ROUNDS. */
void mt_final_judge_rounds(mt_finalist *finalists, size_t count, size_t rounds);
/* From the stored medians and intervals alone (a recording): tied when the interval of each holds the other's median, so that a pick is slower than the leader by no more than either says. */
void mt_final_judge_intervals(mt_finalist *finalists, size_t count);
/* One figure of several rounds': the mean, its error the greater of the readings' and half of what lies between the rounds. NONE when a round has none. count ≥ 1. */
mt_energy mt_final_energy(const mt_energy *rounds, size_t count);
/* After mt_final_judge_rounds, which fills the times: by energy, or energy × time (row.energy is set for all). The leader has the least; tied with it is whose error
 * reaches as far as the leader's, the margin given. The ratios stay those of the times. */
void mt_final_judge_energy(mt_finalist *finalists, size_t count, mt_objective objective);
/* The finalist that is taken. */
size_t mt_final_pick(const mt_finalist *finalists, size_t count);
