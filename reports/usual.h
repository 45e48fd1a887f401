/* What the winners of a kernel have in common, so that a page may say of each only what is its own. */
#ifndef MT_REPORTS_USUAL_H
#define MT_REPORTS_USUAL_H

#include "reports/data.h"
#include "tuner/base/strbuf.h"

/* Adds the usual value of each knob, as a variant's text, "A=1;B=2": the most common one among the winners of `first`'s group that have the knob (mt_report_is_same_group), the one that comes
 * first of equally common ones. Returns how many winners there are. The buffer fails when memory runs out. */
size_t mt_usual_of(const mt_report_data *data, const mt_report_subject *first, mt_strbuf *usual);
/* Adds the knobs of a variant whose value is not the usual one, "A=2;C=3". */
void mt_usual_difference(const char *usual, const char *variant, mt_strbuf *difference);

#endif
