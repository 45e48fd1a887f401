/* The page: one file that loads nothing. Text of databases goes through mt_html_text (elements, quoted attributes) or add_script_json (the one data block); scripts are ours, named by
 * their hashes in the policy, and the only things that run. */
#include <string.h>

#include "reports/format.h"
#include "reports/html.h"
#include "reports/web.h"
#include "tuner/base/text.h"

static const char *escape_of(const char *text, size_t left, size_t *length)
{
    bool is_shown = mt_text_is_shown(text, left, length);
    switch (*text) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\n': case '\t': return NULL;
    default: return is_shown ? NULL : "\xef\xbf\xbd";
    }
}

void mt_html_text(mt_strbuf *page, const char *text)
{
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        const char *escape = escape_of(text, left, &length);
        if (escape) mt_strbuf_add(page, escape);
        else mt_strbuf_add_bytes(page, text, length);
    }
}

/* JSON inside <script>: '<' is written as an escape, so that no text can end the element. What may not be shown is not shown by charts either. */
static void add_script_json(mt_strbuf *page, const char *json, size_t left)
{
    for (size_t length; left; json += length, left -= length) {
        bool is_shown = mt_text_is_shown(json, left, &length);
        if (*json == '<') mt_strbuf_add(page, "\\u003c");
        else if (is_shown || *json == '\n') mt_strbuf_add_bytes(page, json, length);
        else mt_strbuf_add(page, "\\ufffd");
    }
}

/* ---- the rest of a section ---- */

static void add_figures(mt_strbuf *page, const mt_doc_section *section, size_t *k)
{
    mt_strbuf_add(page, "<dl class=\"figures\">");
    for (; *k < section->count && section->blocks[*k].kind == MT_BLOCK_FIGURE; ++*k) {
        mt_strbuf_add(page, "<div><dt>");
        mt_html_text(page, section->blocks[*k].name);
        mt_strbuf_add(page, "</dt><dd>");
        mt_html_text(page, section->blocks[*k].text);
        mt_strbuf_add(page, "</dd></div>");
    }
    mt_strbuf_add(page, "</dl>\n");
    --*k;
}

static void add_chart(mt_strbuf *page, const mt_block *chart)
{
    mt_strbuf_addf(page, "<figure data-chart=\"%s\" hidden><figcaption>", chart->name);
    mt_html_text(page, chart->text);
    mt_strbuf_add(page, "</figcaption></figure>\n");
}

/* A section without a figure and without a row has nothing to show. */
static bool is_empty(const mt_doc_section *section)
{
    for (size_t k = 0; k < section->count; k++) {
        const mt_block *block = &section->blocks[k];
        if (block->kind == MT_BLOCK_FIGURE || (block->kind == MT_BLOCK_TABLE && block->cell_count)) return false;
    }
    return true;
}

/* What is not there is said in one line each. */
static void add_empty(mt_strbuf *page, const mt_doc *doc)
{
    size_t count = 0;
    for (size_t i = 0; i < doc->count; i++) {
        const mt_doc_section *section = &doc->sections[i];
        if (!is_empty(section)) continue;
        mt_strbuf_addf(page, count++ ? "<dt>%s</dt><dd>" : "<dl class=\"empty\"><dt>%s</dt><dd>", section->title);
        for (size_t k = 0; k < section->count; k++)
            if (section->blocks[k].kind == MT_BLOCK_NOTE) mt_html_text(page, section->blocks[k].text), mt_strbuf_add_char(page, ' ');
        mt_strbuf_add(page, "</dd>\n");
    }
    if (count) mt_strbuf_add(page, "</dl>\n");
}

static void add_section(mt_strbuf *page, const mt_doc_section *section)
{
    mt_strbuf_addf(page, "<section id=\"%s\" aria-label=\"%s\"><h2>%s</h2>\n", section->name, section->title, section->title); /* a heading that is not laid out yet names nothing */
    for (size_t k = 0; k < section->count; k++) {
        const mt_block *block = &section->blocks[k];
        switch (block->kind) {
        case MT_BLOCK_NOTE:
            if (block->name) mt_strbuf_addf(page, "<p data-of=\"%s\">", block->name);
            else mt_strbuf_add(page, "<p>");
            if (block->folded) mt_strbuf_addf(page, "%s: ", block->folded);
            mt_html_text(page, block->text);
            mt_strbuf_add(page, "</p>\n");
            break;
        case MT_BLOCK_FIGURE: add_figures(page, section, &k); break;
        case MT_BLOCK_TABLE: mt_html_table(page, block); break;
        case MT_BLOCK_CHART: if (mt_web_has_charts()) add_chart(page, block); break;
        }
    }
    mt_strbuf_add(page, "</section>\n");
}

/* ---- the page ---- */

/* All data of all charts: {"shared":{…},"charts":{name:{…}}}. Not a script: no policy lets it run, and the browser does not try. */
static void add_data(mt_strbuf *page, const mt_doc *doc)
{
    mt_strbuf json = {0};
    mt_strbuf_addf(&json, "{\"shared\":{%s},\"charts\":{", mt_strbuf_text(&doc->shared));
    for (size_t i = 0; i < doc->count; i++)
        for (size_t k = 0; k < doc->sections[i].count; k++) {
            const mt_block *block = &doc->sections[i].blocks[k];
            if (block->kind != MT_BLOCK_CHART) continue;
            mt_json_name(&json, block->name);
            mt_strbuf_add(&json, "{");
            mt_strbuf_add(&json, mt_strbuf_text(&block->data));
            mt_strbuf_add(&json, "}");
        }
    mt_strbuf_add(&json, "}}");
    mt_strbuf_add(page, "<script type=\"application/json\" id=\"data\">");
    add_script_json(page, mt_strbuf_text(&json), json.length);
    mt_strbuf_add(page, "</script>\n");
    page->failed = page->failed || json.failed;
    mt_strbuf_free(&json);
}

static void add_head(mt_strbuf *page, const mt_doc *doc)
{
    mt_strbuf_add(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ");
    mt_web_add_hashes(page);
    mt_strbuf_add(page, "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
    if (doc->refresh_s) mt_strbuf_addf(page, "<meta http-equiv=\"refresh\" content=\"%d\">\n", doc->refresh_s);
    mt_strbuf_add(page, "<title>");
    mt_html_text(page, doc->title);
    mt_strbuf_add(page, "</title>\n<style>\n");
    mt_web_add_style(page);
    mt_strbuf_add(page, "</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header><h1>");
    mt_html_text(page, doc->title);
    mt_strbuf_add(page, "</h1><p class=\"source\">");
    mt_html_text(page, doc->source);
    mt_strbuf_add(page, "</p><div id=\"controls\"></div></header>\n<nav aria-label=\"Sections\"><ol>\n");
    for (size_t i = 0; i < doc->count; i++)
        if (!is_empty(&doc->sections[i])) mt_strbuf_addf(page, "<li><a href=\"#%s\">%s</a></li>\n", doc->sections[i].name, doc->sections[i].title);
    mt_strbuf_add(page, "</ol></nav>\n<main id=\"main\">\n");
}

void mt_format_html(const mt_doc *doc, mt_strbuf *page)
{
    add_head(page, doc);
    if (mt_web_has_charts()) mt_strbuf_add(page, "<noscript><p class=\"hint\">Scripts are off: the tables are complete, charts, sorting and copying need them.</p></noscript>\n");
    else mt_strbuf_add(page, "<p class=\"hint\">This build of the tool has no charts (it was made without npm or network): the tables hold everything.</p>\n");
    for (size_t i = 0; i < doc->count; i++)
        if (!is_empty(&doc->sections[i])) add_section(page, &doc->sections[i]);
    add_empty(page, doc);
    mt_strbuf_add(page, "</main>\n<footer>\n<p>Written by msda-tune " MT_VERSION ".</p>\n");
    mt_web_add_notices(page, mt_html_text);
    mt_strbuf_add(page, "</footer>\n");
    if (mt_web_has_charts()) add_data(page, doc);
    mt_web_add_scripts(page);
    mt_strbuf_add(page, "</body></html>\n");
}
