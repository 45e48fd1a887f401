/* What all charts share: the subjects with their knobs, points, steps and effects, as JSON. Points are thinned out where there are many; whatever is drawn as a box, a step or a heat map
 * is made of all rows. */
#pragma once

#include "reports/data.h"
#include "reports/doc.h"

/* Fills doc->shared and notes, in the section begun last, what was left out of charts. */
mt_status mt_charts_add(const mt_report_data *data, mt_doc *doc, mt_error *err);
