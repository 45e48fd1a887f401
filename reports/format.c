#include "reports/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tuner/base/text.h"

const char *mt_format_number(const mt_column *column, double number, char *out, size_t size)
{
    *out = 0;
    if (!isfinite(number)) return out;
    if (column->format && strcmp(column->format, MT_DOC_US) == 0) {
        snprintf(out, size, "%.*f", mt_text_decimals(number), number);
        return out;
    }
    /* The formats are literals of the sections. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(out, size, column->format ? column->format : "%.6g", number);
#pragma GCC diagnostic pop
    return out;
}

const char *mt_format_time(double unix_ms, char *out, size_t size)
{
    struct tm tm;
    *out = 0;
    if (!isfinite(unix_ms) || fabs(unix_ms) > 4e15) return out;
    time_t seconds = (time_t)(unix_ms / 1000);
    if (unix_ms != 0 && gmtime_r(&seconds, &tm)) strftime(out, size, "%Y-%m-%d %H:%M UTC", &tm);
    return out;
}

bool mt_format_is_number(const mt_block *table, size_t column) { return table->columns[column].format != NULL; }

/* ---- Markdown ---- */

/* One line; what may not be shown becomes U+FFFD; the characters that Markdown or HTML in it would read get a backslash or an entity. */
static void add_md_text(mt_strbuf *out, const char *text)
{
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        bool is_shown = mt_text_is_shown(text, left, &length);
        if (*text == '\n' || *text == '\t' || *text == '\r') mt_strbuf_add_char(out, ' ');
        else if (!is_shown) mt_strbuf_add(out, "\xef\xbf\xbd");
        else if (*text == '<') mt_strbuf_add(out, "&lt;");
        else if (*text == '&') mt_strbuf_add(out, "&amp;");
        else {
            if (strchr("|\\`*_[]", *text)) mt_strbuf_add_char(out, '\\');
            mt_strbuf_add_bytes(out, text, length);
        }
    }
}

static void add_md_cell(const mt_block *table, size_t index, mt_strbuf *out)
{
    char text[64];
    const mt_cell *cell = &table->cells[index];
    mt_strbuf_add(out, " ");
    if (cell->kind == MT_CELL_NUMBER) mt_strbuf_add(out, mt_format_number(&table->columns[index % table->column_count], cell->number, text, sizeof text));
    else if (cell->kind == MT_CELL_TIME) mt_strbuf_add(out, mt_format_time(cell->number, text, sizeof text));
    else add_md_text(out, cell->text);
    mt_strbuf_add(out, " |");
}

static void add_md_table(const mt_block *table, mt_strbuf *out)
{
    if (!table->cell_count) return;
    mt_strbuf_add(out, "**");
    add_md_text(out, table->text);
    mt_strbuf_add(out, "**\n\n|");
    for (size_t i = 0; i < table->column_count; i++) mt_strbuf_addf(out, " %s |", table->columns[i].title);
    mt_strbuf_add(out, "\n|");
    for (size_t i = 0; i < table->column_count; i++) mt_strbuf_add(out, mt_format_is_number(table, i) ? "---:|" : "---|");
    for (size_t i = 0; i < table->cell_count; i++) {
        if (i % table->column_count == 0) mt_strbuf_add(out, "\n|");
        add_md_cell(table, i, out);
    }
    mt_strbuf_add(out, "\n\n");
}

void mt_format_md(const mt_doc *doc, mt_strbuf *out)
{
    mt_strbuf_add(out, "# ");
    add_md_text(out, doc->title);
    mt_strbuf_add(out, "\n\n");
    add_md_text(out, doc->source);
    mt_strbuf_add(out, "\n\n");
    for (size_t i = 0; i < doc->count; i++) {
        mt_strbuf_addf(out, "## %s\n\n", doc->sections[i].title);
        for (size_t k = 0; k < doc->sections[i].count; k++) {
            const mt_block *block = &doc->sections[i].blocks[k];
            if (block->kind == MT_BLOCK_TABLE) add_md_table(block, out);
            if (block->kind != MT_BLOCK_NOTE && block->kind != MT_BLOCK_FIGURE) continue;
            if (block->kind == MT_BLOCK_FIGURE) mt_strbuf_addf(out, "- %s: ", block->name);
            add_md_text(out, block->text);
            bool in_list = block->kind == MT_BLOCK_FIGURE && k + 1 < doc->sections[i].count && block[1].kind == MT_BLOCK_FIGURE;
            mt_strbuf_add(out, in_list ? "\n" : "\n\n");
        }
    }
}

/* ---- CSV (RFC 4180) ---- */

/* A leading = + - @ would make a spreadsheet calculate: such text gets an apostrophe. What a terminal would obey becomes U+FFFD. */
static void add_csv_text(mt_strbuf *out, const char *text)
{
    mt_strbuf_add_char(out, '"');
    if (*text && strchr("=+-@\t\r", *text)) mt_strbuf_add_char(out, '\'');
    for (size_t left = strlen(text), length; left; text += length, left -= length) {
        bool is_shown = mt_text_is_shown(text, left, &length);
        if (*text == '"') mt_strbuf_add_char(out, '"');
        if (is_shown || strchr("\n\t\r", *text)) mt_strbuf_add_bytes(out, text, length);
        else mt_strbuf_add(out, "\xef\xbf\xbd");
    }
    mt_strbuf_add_char(out, '"');
}

static void add_csv_cell(const mt_cell *cell, mt_strbuf *out)
{
    char text[64];
    if (cell->kind == MT_CELL_TIME) mt_strbuf_addf(out, "\"%s\"", mt_format_time(cell->number, text, sizeof text));
    else if (cell->kind != MT_CELL_NUMBER) add_csv_text(out, cell->text);
    else if (isfinite(cell->number)) mt_strbuf_addf(out, "%.9g", cell->number);
}

static void add_csv_table(const mt_block *table, mt_strbuf *out)
{
    if (out->length) mt_strbuf_add(out, "\r\n");
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) mt_strbuf_add_char(out, ',');
        add_csv_text(out, table->columns[i].title);
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        mt_strbuf_add(out, i % table->column_count ? "," : "\r\n");
        add_csv_cell(&table->cells[i], out);
    }
    mt_strbuf_add(out, "\r\n");
}

void mt_format_csv(const mt_doc *doc, mt_strbuf *out)
{
    for (size_t i = 0; i < doc->count; i++)
        for (size_t k = 0; k < doc->sections[i].count; k++)
            if (doc->sections[i].blocks[k].kind == MT_BLOCK_TABLE && doc->sections[i].blocks[k].cell_count) add_csv_table(&doc->sections[i].blocks[k], out);
}

/* ---- JSON ---- */

static void add_json_cell(const mt_cell *cell, mt_strbuf *out)
{
    if (cell->kind == MT_CELL_TIME && cell->number == 0) mt_strbuf_add(out, "null");
    else if (cell->kind == MT_CELL_TIME) mt_strbuf_addf(out, "%.0f", cell->number);
    else if (cell->kind == MT_CELL_NUMBER) mt_json_double(out, cell->number, 9);
    else mt_strbuf_add_json(out, cell->text);
}

static void add_json_table(const mt_block *table, mt_strbuf *out)
{
    mt_json_name(out, table->name);
    mt_strbuf_add(out, "{\"caption\":");
    mt_strbuf_add_json(out, table->text);
    mt_strbuf_add(out, ",\"columns\":[");
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) mt_strbuf_add_char(out, ',');
        mt_strbuf_add_json(out, table->columns[i].title);
    }
    mt_strbuf_add(out, "],\"rows\":[");
    for (size_t i = 0; i < table->cell_count; i++) {
        if (i % table->column_count == 0) mt_strbuf_add(out, i ? "],\n[" : "\n[");
        else mt_strbuf_add_char(out, ',');
        add_json_cell(&table->cells[i], out);
    }
    mt_strbuf_add(out, table->cell_count ? "]]}" : "]}");
}

static void add_json_texts(const mt_doc_section *section, mt_block_kind kind, const char *name, mt_strbuf *out)
{
    size_t count = 0;
    mt_json_name(out, name);
    mt_strbuf_add_char(out, kind == MT_BLOCK_FIGURE ? '{' : '[');
    for (size_t k = 0; k < section->count; k++) {
        const mt_block *block = &section->blocks[k];
        if (block->kind != kind) continue;
        if (kind == MT_BLOCK_FIGURE) mt_json_name(out, block->name);
        else if (count++) mt_strbuf_add_char(out, ',');
        mt_strbuf_add_json(out, block->text);
    }
    mt_strbuf_add_char(out, kind == MT_BLOCK_FIGURE ? '}' : ']');
}

void mt_format_json(const mt_doc *doc, mt_strbuf *out)
{
    mt_strbuf_add(out, "{\"title\":");
    mt_strbuf_add_json(out, doc->title);
    mt_strbuf_add(out, ",\"source\":");
    mt_strbuf_add_json(out, doc->source);
    mt_strbuf_add(out, ",\"sections\":{");
    for (size_t i = 0; i < doc->count; i++) {
        const mt_doc_section *section = &doc->sections[i];
        mt_json_name(out, section->name);
        mt_strbuf_add(out, "{\"title\":");
        mt_strbuf_add_json(out, section->title);
        add_json_texts(section, MT_BLOCK_NOTE, "notes", out);
        add_json_texts(section, MT_BLOCK_FIGURE, "figures", out);
        mt_json_name(out, "tables");
        mt_strbuf_add(out, "{");
        for (size_t k = 0; k < section->count; k++)
            if (section->blocks[k].kind == MT_BLOCK_TABLE && section->blocks[k].cell_count) add_json_table(&section->blocks[k], out);
        mt_strbuf_add(out, "}}\n");
    }
    mt_strbuf_add(out, "}}\n");
}
