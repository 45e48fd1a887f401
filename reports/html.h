/* HTML building blocks. All text from the database goes through mt_html_text. */
#ifndef MT_REPORTS_HTML_H
#define MT_REPORTS_HTML_H

#include <stdint.h>

#include "tuner/base/strbuf.h"

/* Adds text escaped for element content and quoted attributes; what mt_text_is_shown refuses becomes U+FFFD, but for line breaks and tabs. NULL adds nothing. */
void mt_html_text(mt_strbuf *page, const char *text);
void mt_html_cell(mt_strbuf *page, const char *text);                       /* <td> */
/* <td>, a variant's text with spaces for semicolons, so that it wraps. */
void mt_html_knobs(mt_strbuf *page, const char *variant);
void mt_html_number(mt_strbuf *page, const char *format, double value);     /* right-aligned <td>; empty when not finite */
/* "2026-11-28 00:20 UTC"; empty for 0. */
void mt_html_time(mt_strbuf *page, int64_t unix_ms);
/* "13.0" for 13000; "?" for 0. */
void mt_html_cuda_version(mt_strbuf *page, int64_t version);
/* <table> with a heading row; titles end with NULL. */
void mt_html_table_begin(mt_strbuf *page, const char *const *titles);
void mt_html_table_end(mt_strbuf *page);

#endif
