#include "reports/report.h"

#include "reports/section.h"

#define MT_SECTION(name) extern const mt_section mt_section_##name;
#include "reports/sections.def"
#undef MT_SECTION

static const mt_section *const sections[] = {
#define MT_SECTION(name) &mt_section_##name,
#include "reports/sections.def"
#undef MT_SECTION
};

extern const unsigned char mt_reports_style_css[]; /* reports/web/style.css */

static mt_status check_content(mt_store *store, const mt_filter *filter, mt_error *err)
{
    int64_t counts[MT_OUTCOME_KIND_COUNT] = {0}, all = 0;
    mt_status st = mt_query_outcome_counts(store, filter, counts, err);
    for (int kind = 0; st == MT_OK && kind < MT_OUTCOME_KIND_COUNT; kind++) all += counts[kind];
    if (st == MT_OK && !all) return MT_FAIL(err, MT_ERR_NOTHING_VALID, "%s: nothing to report: no measurements match", mt_store_path(store));
    return st;
}

mt_status mt_report_render(mt_store *store, const mt_filter *filter, mt_strbuf *page, mt_error *err)
{
    const mt_report_context context = {store, filter};
    mt_status st = MT_OK;
    MT_TRY(check_content(store, filter, err));
    mt_strbuf_add(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>msda-tune report</title>\n<style>\n");
    mt_strbuf_add(page, (const char *)mt_reports_style_css);
    mt_strbuf_add(page, "</style></head><body>\n<h1>msda-tune report</h1>\n<p>");
    mt_html_text(page, mt_store_path(store));
    mt_strbuf_add(page, "</p>\n");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        mt_strbuf_addf(page, "<section id=\"%s\"><h2>%s</h2>\n", sections[i]->name, sections[i]->title);
        MT_TRY(sections[i]->render(&context, page, err));
        mt_strbuf_add(page, "</section>\n");
    }
    mt_strbuf_add(page, "</body></html>\n");
    if (page->failed) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "report: out of memory");
done:
    return st;
}
