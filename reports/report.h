/* The report: one self-contained HTML page made of the sections in sections.def. */
#ifndef MT_REPORTS_REPORT_H
#define MT_REPORTS_REPORT_H

#include "db/query.h"
#include "tuner/base/strbuf.h"

/* Renders into *page. NOTHING_VALID, naming the file, when the filter leaves no measurement at all. */
mt_status mt_report_render(mt_store *store, const mt_filter *filter, mt_strbuf *page, mt_error *err);

#endif
