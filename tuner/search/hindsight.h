/* How a model's expectations compare with what was found, the latest results weighing most. */
#pragma once

#include <stdbool.h>

typedef struct mt_hindsight {
    double weight, sum, squares, errors, scores; /* of what was found; squared errors, and those over the variance that was told with them */
} mt_hindsight; /* zero-initialise */

/* `expected` with its standard deviation, and what came of it, in the same unit. */
void mt_hindsight_add(mt_hindsight *hindsight, double expected, double deviation, double found);
/* What the model's deviations should be multiplied with: 1 as long as nothing is known, between 1/2 and 3. */
double mt_hindsight_scale(const mt_hindsight *hindsight);
/* Whether a constant would have been nearer to what was found, by a fifth at least: then the model chooses its points for what it got wrong. */
bool mt_hindsight_is_misled(const mt_hindsight *hindsight);
