/* Tables of the page: each in a box that scrolls by itself; those with groups as one table for each, with what does not fit folded in its row. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "reports/format.h"
#include "reports/html.h"
#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

enum { LONG_TEXT = 400, LONG_CELL = 160, SHOWN_ROWS = 20, MOST_COLUMNS = 32 };

/* "A=1;B=2" as words, so that lines break between knobs. */
static void add_knobs(mt_strbuf *page, const char *variant)
{
    size_t length = strlen(variant);
    char *words = mt_strndup(variant, length);
    page->failed = page->failed || !words;
    if (!words) return;
    for (size_t i = 0; i < length; i++)
        if (words[i] == ';') words[i] = ' ';
    mt_html_text(page, words);
    mt_free(words);
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
        mt_html_text(page, start);
        mt_strbuf_add(page, "…</summary>");
    }
    mt_strbuf_add(page, "<pre>");
    mt_html_text(page, text);
    mt_strbuf_add(page, is_long ? "</pre></details>" : "</pre>");
}

static void add_content(mt_strbuf *page, const mt_block *table, size_t index)
{
    char text[64];
    const mt_cell *cell = &table->cells[index];
    switch (cell->kind) {
    case MT_CELL_TEXT:
    case MT_CELL_SUBJECT:
        if (strlen(cell->text) > LONG_TEXT) add_code(page, cell->text);
        else mt_html_text(page, cell->text);
        break;
    case MT_CELL_NUMBER: mt_strbuf_add(page, mt_format_number(&table->columns[index % table->column_count], cell->number, text, sizeof text)); break;
    case MT_CELL_KNOBS: add_knobs(page, cell->text); break;
    case MT_CELL_CODE: add_code(page, cell->text); break;
    case MT_CELL_TIME: mt_strbuf_add(page, mt_format_time(cell->number, text, sizeof text)); break;
    }
}

static const char *class_of(mt_cell_kind kind)
{
    switch (kind) {
    case MT_CELL_NUMBER: return " class=\"n\"";
    case MT_CELL_KNOBS: return " class=\"v\"";
    case MT_CELL_CODE: return " class=\"c\"";
    case MT_CELL_TIME: return " class=\"w\"";
    case MT_CELL_TEXT: case MT_CELL_SUBJECT: break;
    }
    return "";
}

/* Part of a table's rows as a table of the page. */
typedef struct part {
    const mt_block *table;
    size_t first, last;       /* cells */
    size_t from, to;          /* columns that are shown; those behind are folded */
    bool hidden[MOST_COLUMNS]; /* without a single entry (energy that nobody measured) */
} part;

static part part_of(const mt_block *table, size_t first, size_t last)
{
    part p = {.table = table, .first = first, .last = last, .from = table->group_count ? table->told : 0, .to = table->column_count};
    assert(table->column_count <= MOST_COLUMNS);
    if (table->group_count && table->shown) p.to = p.from + table->shown;
    for (size_t column = 0; column < table->column_count; column++) p.hidden[column] = true;
    for (size_t i = first; i < last; i++)
        if (!mt_cell_is_empty(&table->cells[i])) p.hidden[i % table->column_count] = false;
    return p;
}

/* What a row has besides: told on request. */
static void add_folded(mt_strbuf *page, const part *p, size_t row)
{
    mt_strbuf_addf(page, "<details class=\"more\"><summary>%s</summary><dl>", p->table->folded);
    for (size_t column = p->to; column < p->table->column_count; column++) {
        const mt_cell *cell = &p->table->cells[row + column];
        if (mt_cell_is_empty(cell)) continue;
        mt_strbuf_addf(page, "<dt>%s</dt><dd%s>", p->table->columns[column].title, class_of(cell->kind));
        add_content(page, p->table, row + column);
        mt_strbuf_add(page, "</dd>");
    }
    mt_strbuf_add(page, "</dl></details>");
}

/* On a narrow page rows of a table with groups become cards: their cells then need their columns' names, and their roles. */
static void add_cell(mt_strbuf *page, const part *p, size_t row, size_t column)
{
    const mt_block *table = p->table;
    const mt_cell *cell = &table->cells[row + column];
    mt_strbuf_addf(page, "<td%s", class_of(cell->kind));
    if (table->group_count) mt_strbuf_addf(page, " role=\"cell\" data-h=\"%s\"", table->columns[column].title);
    if (cell->kind == MT_CELL_SUBJECT) mt_strbuf_addf(page, " data-s=\"%.0f\"", cell->number);
    mt_strbuf_add(page, ">");
    add_content(page, table, row + column);
    if (column + 1 == p->to && p->to < table->column_count) add_folded(page, p, row);
    mt_strbuf_add(page, "</td>");
}

static void add_head(mt_strbuf *page, const part *p)
{
    const char *roles = p->table->group_count ? " role=\"columnheader\"" : "";
    mt_strbuf_add(page, p->table->group_count ? "<thead role=\"rowgroup\"><tr role=\"row\">" : "<thead><tr>");
    for (size_t i = p->from; i < p->to; i++)
        if (!p->hidden[i]) mt_strbuf_addf(page, "<th scope=\"col\"%s%s>%s</th>", roles, mt_format_is_number(p->table, i) ? " class=\"n\"" : "", p->table->columns[i].title);
    mt_strbuf_add(page, "</tr></thead>");
}

/* The container scrolls, so it takes the keyboard's focus and has a name. `number` tells the parts of a table apart. */
static void add_part(mt_strbuf *page, const part *p, const char *caption, size_t number)
{
    const mt_block *table = p->table;
    size_t rows = (p->last - p->first) / table->column_count;
    bool is_grouped = table->group_count;
    mt_strbuf_addf(page, "<div class=\"t%s\" tabindex=\"0\" role=\"region\" aria-label=\"", rows > SHOWN_ROWS ? " long" : "");
    mt_html_text(page, caption);
    mt_strbuf_addf(page, "\"><table id=\"table-%s", table->name);
    if (number) mt_strbuf_addf(page, "-%zu", number + 1);
    mt_strbuf_add(page, is_grouped ? "\" role=\"table\"><caption>" : "\"><caption>");
    mt_html_text(page, caption);
    if (rows > SHOWN_ROWS) mt_strbuf_addf(page, " <small>%zu rows</small>", rows);
    mt_strbuf_add(page, "</caption>");
    add_head(page, p);
    mt_strbuf_add(page, is_grouped ? "<tbody role=\"rowgroup\">\n" : "<tbody>\n");
    for (size_t row = p->first; row < p->last; row += table->column_count) {
        mt_strbuf_add(page, is_grouped ? "<tr role=\"row\">" : "<tr>");
        for (size_t column = p->from; column < p->to; column++)
            if (!p->hidden[column]) add_cell(page, p, row, column);
        mt_strbuf_add(page, "</tr>\n");
    }
    mt_strbuf_add(page, "</tbody></table></div>\n");
}

static void add_group(mt_strbuf *page, const mt_block *table, size_t number)
{
    const mt_group *group = &table->groups[number];
    size_t last = number + 1 < table->group_count ? group[1].cell : table->cell_count;
    if (last == group->cell) return;
    part p = part_of(table, group->cell, last);
    if (p.to < table->column_count) p.hidden[p.to - 1] = false; /* the folded ones stand in it */
    mt_strbuf_addf(page, "<details class=\"group\"%s><summary><h3>", group->is_folded ? "" : " open");
    mt_html_text(page, group->title);
    mt_strbuf_add(page, "</h3></summary>");
    if (*group->note) {
        mt_strbuf_add(page, "<p>");
        mt_html_text(page, group->note);
        mt_strbuf_add(page, "</p>");
    }
    mt_strbuf_add_char(page, '\n');
    if (*group->common) {
        mt_strbuf_add(page, "<details class=\"common\"><summary>Each knob in the default</summary><p class=\"v\">");
        add_knobs(page, group->common);
        mt_strbuf_add(page, "</p></details>\n");
    }
    add_part(page, &p, group->title, number);
    mt_strbuf_add(page, "</details>\n");
}

void mt_html_table(mt_strbuf *page, const mt_block *table)
{
    if (!table->cell_count) return;
    if (!table->group_count) {
        const part p = part_of(table, 0, table->cell_count);
        add_part(page, &p, table->text, 0);
        return;
    }
    for (size_t i = 0; i < table->group_count; i++) add_group(page, table, i);
}
