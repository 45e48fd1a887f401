#include "tuner/search/hindsight.h"

#include <math.h>

#define KEPT 0.95           /* of the weight of all before, with each result: about twenty count */
#define PRIOR 5             /* results' worth of belief that deviations are right */
#define MOST_SCORE 25       /* one surprise does not make a model worthless */
#define NEEDED 8            /* results' weight before a model is judged */
#define WORSE_THAN_NONE 1.2 /* root mean square error over the deviation of what was found */

void mt_hindsight_add(mt_hindsight *hindsight, double expected, double deviation, double found)
{
    double error = found - expected, score = error / deviation;
    hindsight->weight = KEPT * hindsight->weight + 1;
    hindsight->sum = KEPT * hindsight->sum + found;
    hindsight->squares = KEPT * hindsight->squares + found * found;
    hindsight->errors = KEPT * hindsight->errors + error * error;
    hindsight->scores = KEPT * hindsight->scores + fmin(score * score, MOST_SCORE);
}

double mt_hindsight_scale(const mt_hindsight *hindsight)
{
    double scale = sqrt((hindsight->scores + PRIOR) / (hindsight->weight + PRIOR));
    return fmin(fmax(scale, 0.5), 3);
}

bool mt_hindsight_is_misled(const mt_hindsight *hindsight)
{
    if (hindsight->weight <= NEEDED) return false;
    double spread = hindsight->squares - hindsight->sum * hindsight->sum / hindsight->weight;
    return hindsight->errors > WORSE_THAN_NONE * WORSE_THAN_NONE * spread;
}
