/* A section of the report. A new one is a file sec_<name>.c that exports const mt_section mt_section_<name>, and one line in sections.def. */
#ifndef MT_REPORTS_SECTION_H
#define MT_REPORTS_SECTION_H

#include "db/query.h"
#include "reports/html.h"

typedef struct mt_report_context {
    mt_store *store;
    const mt_filter *filter;
} mt_report_context;

typedef struct mt_section {
    const char *name;  /* anchor */
    const char *title;
    mt_status (*render)(const mt_report_context *context, mt_strbuf *page, mt_error *err);
} mt_section;

#endif
