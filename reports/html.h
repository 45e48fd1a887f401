/* What the files that write the page share. */
#pragma once

#include "reports/doc.h"

void mt_html_text(mt_strbuf *page, const char *text); /* as text of an element or a quoted attribute, whatever stands in it */
void mt_html_table(mt_strbuf *page, const mt_block *table); /* nothing for one without rows */
