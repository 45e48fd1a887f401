#include "reports/web.h"

/* Made by cmake/embed.cmake from files of web/ and, with charts, of what npm installed. */
extern const unsigned char mt_reports_style_css[], mt_reports_page_js[];
extern const char mt_reports_page_js_sha256[];
#ifdef MT_WITH_CHARTS
extern const unsigned char mt_reports_charts_js[], mt_reports_notices_txt[];
extern const char mt_reports_charts_js_sha256[];
#endif

static void add_script(mt_strbuf *page, const unsigned char *script)
{
    mt_strbuf_add(page, "<script>"); /* nothing between: the hash is of the element's text */
    mt_strbuf_add(page, (const char *)script);
    mt_strbuf_add(page, "</script>\n");
}

bool mt_web_has_charts(void)
{
#ifdef MT_WITH_CHARTS
    return true;
#else
    return false;
#endif
}

void mt_web_add_style(mt_strbuf *page) { mt_strbuf_add(page, (const char *)mt_reports_style_css); }

void mt_web_add_scripts(mt_strbuf *page)
{
    add_script(page, mt_reports_page_js);
#ifdef MT_WITH_CHARTS
    add_script(page, mt_reports_charts_js);
#endif
}

void mt_web_add_hashes(mt_strbuf *page)
{
    mt_strbuf_addf(page, "'sha256-%s'", mt_reports_page_js_sha256);
#ifdef MT_WITH_CHARTS
    mt_strbuf_addf(page, " 'sha256-%s'", mt_reports_charts_js_sha256);
#endif
}

void mt_web_add_notices(mt_strbuf *page, void (*add_text)(mt_strbuf *page, const char *text))
{
#ifdef MT_WITH_CHARTS
    mt_strbuf_add(page, "<details><summary>Third-party software in this page</summary><pre>");
    add_text(page, (const char *)mt_reports_notices_txt);
    mt_strbuf_add(page, "</pre></details>\n");
#else
    (void)page;
    (void)add_text;
#endif
}
