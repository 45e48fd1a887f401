/* The page: one file that loads nothing. Text of databases goes through add_text (elements, quoted attributes) or add_script_json (the one data block); scripts are ours, named by
 * their hashes in the policy, and the only things that run. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/format.h"
#include "reports/web.h"
#include "tuner/base/text.h"

enum { LONG_TEXT = 400, LONG_PIECE = 60, LONG_CELL = 160, SHOWN_ROWS = 20, MOST_COLUMNS = 32 };

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

static void add_text(mt_strbuf *page, const char *text)
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

/* ---- tables ---- */

/* "A=1;B=2": one piece each, so that lines break between knobs. */
static void add_knobs(mt_strbuf *page, const char *variant)
{
    while (*variant) {
        size_t length = strcspn(variant, ";");
        char piece[256];
        if (length >= sizeof piece) {
            add_text(page, variant);
            return;
        }
        memcpy(piece, variant, length);
        piece[length] = 0;
        mt_strbuf_add(page, length <= LONG_PIECE ? "<span class=\"k\">" : "<span>");
        add_text(page, piece);
        mt_strbuf_add(page, "</span>");
        variant += length;
        if (*variant == ';') mt_strbuf_add(page, " "), variant++;
    }
}

static void add_code(mt_strbuf *page, const char *text)
{
    bool is_long = strlen(text) > LONG_CELL || strchr(text, '\n');
    if (!*text) return;
    if (is_long) {
        char start[81];
        snprintf(start, sizeof start, "%.*s", (int)(strcspn(text, "\n") < 80 ? strcspn(text, "\n") : 80), text);
        while (*start && !mt_text_utf8(start, strlen(start))) start[strlen(start) - 1] = 0;
        mt_strbuf_add(page, "<details><summary>");
        add_text(page, start);
        mt_strbuf_add(page, "…</summary>");
    }
    mt_strbuf_add(page, "<pre>");
    add_text(page, text);
    mt_strbuf_add(page, is_long ? "</pre></details>" : "</pre>");
}

static void add_cell(mt_strbuf *page, const mt_block *table, size_t index)
{
    char text[64];
    const mt_cell *cell = &table->cells[index];
    mt_strbuf_add(page, cell->kind == MT_CELL_NUMBER ? "<td class=\"n\">" : cell->kind == MT_CELL_KNOBS ? "<td class=\"v\">" : cell->kind == MT_CELL_CODE ? "<td class=\"c\">" : cell->kind == MT_CELL_TIME ? "<td class=\"w\">" : "<td>");
    switch (cell->kind) {
    case MT_CELL_TEXT:
        if (strlen(cell->text) > LONG_TEXT) add_code(page, cell->text);
        else add_text(page, cell->text);
        break;
    case MT_CELL_NUMBER: mt_strbuf_add(page, mt_format_number(&table->columns[index % table->column_count], cell->number, text, sizeof text)); break;
    case MT_CELL_KNOBS: add_knobs(page, cell->text); break;
    case MT_CELL_CODE: add_code(page, cell->text); break;
    case MT_CELL_TIME: mt_strbuf_add(page, mt_format_time(cell->number, text, sizeof text)); break;
    }
    mt_strbuf_add(page, "</td>");
}

/* Columns without a single entry (energy that nobody measured) are not shown. */
static bool is_empty(const mt_block *table, size_t column)
{
    for (size_t i = column; i < table->cell_count; i += table->column_count) {
        const mt_cell *cell = &table->cells[i];
        if (cell->text ? *cell->text : isfinite(cell->number) && (cell->kind == MT_CELL_NUMBER || cell->number != 0)) return false;
    }
    return true;
}

/* The container scrolls, so it takes the keyboard's focus and has a name. */
static void add_table(mt_strbuf *page, const mt_block *table)
{
    if (!table->cell_count) return;
    size_t rows = table->cell_count / table->column_count;
    bool hidden[MOST_COLUMNS];
    assert(table->column_count <= MOST_COLUMNS);
    for (size_t i = 0; i < table->column_count; i++) hidden[i] = is_empty(table, i);
    mt_strbuf_addf(page, "<div class=\"t%s\" tabindex=\"0\" role=\"region\" aria-label=\"", rows > SHOWN_ROWS ? " long" : "");
    add_text(page, table->text);
    mt_strbuf_addf(page, "\"><table id=\"table-%s\"><caption>", table->name);
    add_text(page, table->text);
    if (rows > SHOWN_ROWS) mt_strbuf_addf(page, " <small>%zu rows</small>", rows);
    mt_strbuf_add(page, "</caption><thead><tr>");
    for (size_t i = 0; i < table->column_count; i++)
        if (!hidden[i]) mt_strbuf_addf(page, "<th scope=\"col\"%s>%s</th>", mt_format_is_number(table, i) ? " class=\"n\"" : "", table->columns[i].title);
    mt_strbuf_add(page, "</tr></thead><tbody>\n<tr>");
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t column = i % table->column_count;
        if (i && !column) mt_strbuf_add(page, "</tr>\n<tr>");
        if (!hidden[column]) add_cell(page, table, i);
    }
    mt_strbuf_add(page, "</tr>\n</tbody></table></div>\n");
}

/* ---- the rest of a section ---- */

static void add_figures(mt_strbuf *page, const mt_doc_section *section, size_t *k)
{
    mt_strbuf_add(page, "<dl class=\"figures\">");
    for (; *k < section->count && section->blocks[*k].kind == MT_BLOCK_FIGURE; ++*k) {
        mt_strbuf_add(page, "<div><dt>");
        add_text(page, section->blocks[*k].name);
        mt_strbuf_add(page, "</dt><dd>");
        add_text(page, section->blocks[*k].text);
        mt_strbuf_add(page, "</dd></div>");
    }
    mt_strbuf_add(page, "</dl>\n");
    --*k;
}

static void add_chart(mt_strbuf *page, const mt_block *chart)
{
    mt_strbuf_addf(page, "<figure data-chart=\"%s\" hidden><figcaption>", chart->name);
    add_text(page, chart->text);
    mt_strbuf_add(page, "</figcaption></figure>\n");
}

static void add_section(mt_strbuf *page, const mt_doc_section *section)
{
    mt_strbuf_addf(page, "<section id=\"%s\" aria-labelledby=\"h-%s\"><h2 id=\"h-%s\">%s</h2>\n", section->name, section->name, section->name, section->title);
    for (size_t k = 0; k < section->count; k++) {
        const mt_block *block = &section->blocks[k];
        switch (block->kind) {
        case MT_BLOCK_NOTE:
            mt_strbuf_add(page, "<p>");
            add_text(page, block->text);
            mt_strbuf_add(page, "</p>\n");
            break;
        case MT_BLOCK_FIGURE: add_figures(page, section, &k); break;
        case MT_BLOCK_TABLE: add_table(page, block); break;
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
    add_text(page, doc->title);
    mt_strbuf_add(page, "</title>\n<style>\n");
    mt_web_add_style(page);
    mt_strbuf_add(page, "</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header><h1>");
    add_text(page, doc->title);
    mt_strbuf_add(page, "</h1><p class=\"source\">");
    add_text(page, doc->source);
    mt_strbuf_add(page, "</p><div id=\"controls\"></div></header>\n<nav aria-label=\"Sections\"><ol>\n");
    for (size_t i = 0; i < doc->count; i++) mt_strbuf_addf(page, "<li><a href=\"#%s\">%s</a></li>\n", doc->sections[i].name, doc->sections[i].title);
    mt_strbuf_add(page, "</ol></nav>\n<main id=\"main\">\n");
}

void mt_format_html(const mt_doc *doc, mt_strbuf *page)
{
    add_head(page, doc);
    if (mt_web_has_charts()) mt_strbuf_add(page, "<noscript><p class=\"hint\">Scripts are off: the tables are complete, charts, sorting and copying need them.</p></noscript>\n");
    else mt_strbuf_add(page, "<p class=\"hint\">This build of the tool has no charts (it was made without npm or network): the tables hold everything.</p>\n");
    for (size_t i = 0; i < doc->count; i++) add_section(page, &doc->sections[i]);
    mt_strbuf_add(page, "</main>\n<footer>\n<p>Written by msda-tune " MT_VERSION ".</p>\n");
    mt_web_add_notices(page, add_text);
    mt_strbuf_add(page, "</footer>\n");
    if (mt_web_has_charts()) add_data(page, doc);
    mt_web_add_scripts(page);
    mt_strbuf_add(page, "</body></html>\n");
}
