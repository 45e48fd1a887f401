/* What the files that write the page share. */
#ifndef MT_REPORTS_HTML_H
#define MT_REPORTS_HTML_H

#include "reports/doc.h"

void mt_html_text(mt_strbuf *page, const char *text); /* as text of an element or a quoted attribute, whatever stands in it */
void mt_html_table(mt_strbuf *page, const mt_block *table); /* nothing for one without rows */

#endif
