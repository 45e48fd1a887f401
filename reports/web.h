/* What the build embeds from web/: the style, the page's own script, and the charts (Apache ECharts and ours in one bundle) where npm could fetch them. */
#pragma once

#include <stdbool.h>

#include "tuner/base/strbuf.h"

bool mt_web_has_charts(void);
void mt_web_add_style(mt_strbuf *page);
void mt_web_add_scripts(mt_strbuf *page); /* the elements */
void mt_web_add_hashes(mt_strbuf *page);  /* their sources for a Content-Security-Policy: 'sha256-…' 'sha256-…' */
/* Notices of the third-party code in the page, nothing without charts. add_text escapes. */
void mt_web_add_notices(mt_strbuf *page, void (*add_text)(mt_strbuf *page, const char *text));
