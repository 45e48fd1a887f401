#include "reports/doc.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"

static void free_block(mt_block *block)
{
    for (size_t i = 0; i < block->cell_count; i++) mt_free(block->cells[i].text);
    for (size_t i = 0; i < block->group_count; i++) {
        MT_FREE_EACH(block->groups[i].title, block->groups[i].note, block->groups[i].common);
    }
    MT_FREE_EACH(block->groups, block->cells, block->name, block->text);
    mt_strbuf_free(&block->data);
}

void mt_doc_free(mt_doc *doc)
{
    for (size_t i = 0; i < doc->count; i++) {
        mt_doc_section *section = &doc->sections[i];
        for (size_t k = 0; k < section->count; k++) free_block(&section->blocks[k]);
        mt_free(section->blocks);
    }
    MT_FREE_EACH(doc->sections, doc->title, doc->source);
    mt_strbuf_free(&doc->shared);
    *doc = (mt_doc){0};
}

bool mt_doc_is_ok(const mt_doc *doc)
{
    bool failed = doc->failed || doc->shared.failed;
    for (size_t i = 0; i < doc->count; i++)
        for (size_t k = 0; k < doc->sections[i].count; k++) failed = failed || doc->sections[i].blocks[k].data.failed;
    return !failed;
}

void mt_doc_section_begin(mt_doc *doc, const char *name, const char *title)
{
    mt_doc_section *sections = mt_grow(doc->sections, doc->count, &doc->capacity, sizeof *sections);
    doc->failed = doc->failed || !sections;
    if (doc->failed) return;
    doc->sections = sections;
    sections[doc->count++] = (mt_doc_section){.name = name, .title = title};
}

/* NULL when memory has run out. */
static mt_block *add_block(mt_doc *doc, mt_block_kind kind, const char *name, char *text)
{
    if (doc->failed) {
        mt_free(text);
        return NULL;
    }
    assert(doc->count);
    mt_doc_section *section = &doc->sections[doc->count - 1];
    mt_block *blocks = mt_grow(section->blocks, section->count, &section->capacity, sizeof *blocks);
    if (blocks) section->blocks = blocks;
    char *copy = mt_strdup(name);
    doc->failed = !blocks || !text || (name && !copy);
    if (doc->failed) {
        mt_free(text);
        mt_free(copy);
        return NULL;
    }
    blocks[section->count] = (mt_block){.kind = kind, .name = copy, .text = text};
    return &blocks[section->count++];
}

static char *formatted(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
static char *formatted(const char *format, va_list args)
{
    mt_strbuf text = {0};
    mt_strbuf_add(&text, "");
    mt_strbuf_addv(&text, format, args);
    return mt_strbuf_take(&text);
}

void mt_doc_note(mt_doc *doc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_block(doc, MT_BLOCK_NOTE, NULL, formatted(format, args));
    va_end(args);
}

void mt_doc_note_on(mt_doc *doc, const char *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_block(doc, MT_BLOCK_NOTE, table, formatted(format, args));
    va_end(args);
}

void mt_doc_figure(mt_doc *doc, const char *label, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_block(doc, MT_BLOCK_FIGURE, label, formatted(format, args));
    va_end(args);
}

void mt_doc_table(mt_doc *doc, const char *name, const char *caption, const mt_column *columns)
{
    mt_block *block = add_block(doc, MT_BLOCK_TABLE, name, mt_strdup(caption));
    if (!block) return;
    block->columns = columns;
    while (columns[block->column_count].title) block->column_count++;
}

/* The table begun last; not when the document has failed. */
static mt_block *table_of(const mt_doc *doc)
{
    mt_doc_section *section = &doc->sections[doc->count - 1];
    mt_block *block = &section->blocks[section->count - 1];
    assert(block->kind == MT_BLOCK_TABLE);
    return block;
}

void mt_doc_fold(mt_doc *doc, size_t told, size_t shown, const char *folded)
{
    if (doc->failed) return;
    mt_block *block = table_of(doc);
    block->told = told;
    block->shown = shown;
    block->folded = folded;
}

static void add_group(mt_doc *doc, size_t cell, bool is_folded, const char *title, const char *note, const char *common)
{
    mt_block *block = table_of(doc);
    mt_group *groups = mt_grow(block->groups, block->group_count, &block->group_capacity, sizeof *groups);
    doc->failed = !groups;
    if (!groups) return;
    block->groups = groups;
    mt_group *group = &groups[block->group_count++];
    *group = (mt_group){cell, mt_strdup(title), mt_strdup(note), mt_strdup(common), is_folded};
    doc->failed = !group->title || !group->note || !group->common;
}

void mt_doc_group(mt_doc *doc, bool is_folded, const char *title, const char *note, const char *common)
{
    if (!doc->failed) add_group(doc, table_of(doc)->cell_count, is_folded, title, note, common);
}

void mt_doc_split(mt_doc *doc, size_t row, bool is_folded, const char *title)
{
    if (!doc->failed) add_group(doc, row * table_of(doc)->column_count, is_folded, title, "", "");
}

typedef struct sort_key { double key; size_t row; } sort_key;

static int by_key(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

void mt_doc_sort(mt_doc *doc, const double *keys)
{
    if (doc->failed) return;
    mt_block *block = table_of(doc);
    size_t columns = block->column_count, rows = block->cell_count / columns;
    sort_key *order = mt_alloc(rows + 1, sizeof *order);
    mt_cell *cells = mt_alloc(block->cell_count + 1, sizeof *cells);
    doc->failed = !order || !cells;
    if (!doc->failed) {
        for (size_t i = 0; i < rows; i++) order[i] = (sort_key){keys[i], i};
        qsort(order, rows, sizeof *order, by_key);
        for (size_t i = 0; i < rows; i++) memcpy(&cells[i * columns], &block->cells[order[i].row * columns], columns * sizeof *cells);
        memcpy(block->cells, cells, block->cell_count * sizeof *cells);
    }
    mt_free(order);
    mt_free(cells);
}

static void add_cell(mt_doc *doc, mt_cell cell)
{
    if (doc->failed) {
        mt_free(cell.text);
        return;
    }
    mt_block *block = table_of(doc);
    mt_cell *cells = mt_grow(block->cells, block->cell_count, &block->cell_capacity, sizeof *cells);
    doc->failed = !cells;
    if (cells) block->cells = cells;
    if (cells) cells[block->cell_count++] = cell;
    else mt_free(cell.text);
}

static void add_text_cell(mt_doc *doc, mt_cell_kind kind, const char *text)
{
    char *copy = mt_strdup(text ? text : "");
    doc->failed = doc->failed || !copy;
    add_cell(doc, (mt_cell){.kind = kind, .text = copy});
}

void mt_doc_text(mt_doc *doc, const char *text) { add_text_cell(doc, MT_CELL_TEXT, text); }
void mt_doc_knobs(mt_doc *doc, const char *variant) { add_text_cell(doc, MT_CELL_KNOBS, variant); }
void mt_doc_code(mt_doc *doc, const char *text) { add_text_cell(doc, MT_CELL_CODE, text); }
void mt_doc_number(mt_doc *doc, double number) { add_cell(doc, (mt_cell){.kind = MT_CELL_NUMBER, .number = number}); }
void mt_doc_time(mt_doc *doc, int64_t unix_ms) { add_cell(doc, (mt_cell){.kind = MT_CELL_TIME, .number = (double)unix_ms}); }

void mt_doc_subject(mt_doc *doc, size_t subject, const char *text)
{
    char *copy = mt_strdup(text);
    doc->failed = doc->failed || !copy;
    add_cell(doc, (mt_cell){.kind = subject == SIZE_MAX ? MT_CELL_TEXT : MT_CELL_SUBJECT, .text = copy, .number = (double)subject});
}

void mt_doc_textf(mt_doc *doc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = formatted(format, args);
    va_end(args);
    doc->failed = doc->failed || !text;
    add_cell(doc, (mt_cell){.kind = MT_CELL_TEXT, .text = text});
}

void mt_doc_cuda(mt_doc *doc, int64_t version)
{
    if (version) mt_doc_textf(doc, "%lld.%lld", (long long)(version / 1000), (long long)(version % 1000 / 10));
    else mt_doc_text(doc, "unknown");
}

bool mt_cell_is_empty(const mt_cell *cell)
{
    if (cell->text) return !*cell->text;
    return !isfinite(cell->number) || (cell->kind != MT_CELL_NUMBER && cell->number == 0);
}

/* The column that needs it; column_count = none does. */
static size_t needed_by(const mt_block *table, const mt_explanation *e)
{
    if (!e->column) return 0;
    for (size_t i = 0; i < table->cell_count; i++) {
        const mt_cell *cell = &table->cells[i];
        size_t column = i % table->column_count;
        if (strncmp(table->columns[column].title, e->column, strlen(e->column)) != 0 || mt_cell_is_empty(cell)) continue;
        if (!e->entry || (cell->text && strncmp(cell->text, e->entry, strlen(e->entry)) == 0)) return column;
    }
    return table->column_count;
}

/* A note on columns that a page shows, or on those that it folds, which it introduces by their word. */
static void explain(mt_doc *doc, const mt_block *table, const mt_explanation *list, bool is_folded)
{
    mt_strbuf note = {0};
    for (; list->text; list++) {
        size_t column = needed_by(table, list);
        bool is_behind = table->shown && column >= table->told + table->shown;
        if (column < table->column_count && is_behind == is_folded) mt_strbuf_addf(&note, note.length ? " %s" : "%s", list->text);
    }
    doc->failed = doc->failed || note.failed;
    const char *folded = table->folded;
    mt_block *block = note.length ? add_block(doc, MT_BLOCK_NOTE, table->name, mt_strbuf_take(&note)) : NULL; /* `table` may have moved */
    if (block && is_folded) block->folded = folded;
    mt_strbuf_free(&note);
}

void mt_doc_explain(mt_doc *doc, const char *name, const mt_explanation *list)
{
    for (int is_folded = 0; is_folded < 2 && !doc->failed; is_folded++) {
        const mt_doc_section *section = &doc->sections[doc->count - 1];
        size_t k = 0;
        while (k < section->count && (section->blocks[k].kind != MT_BLOCK_TABLE || strcmp(section->blocks[k].name, name) != 0)) k++;
        if (k < section->count && section->blocks[k].cell_count) explain(doc, &section->blocks[k], list, is_folded);
    }
}

mt_strbuf *mt_doc_chart(mt_doc *doc, const char *name, const char *label)
{
    mt_block *block = add_block(doc, MT_BLOCK_CHART, name, mt_strdup(label));
    return block ? &block->data : &doc->shared; /* failed anyway */
}

void mt_json_name(mt_strbuf *json, const char *name)
{
    if (json->length && json->text[json->length - 1] != '{') mt_strbuf_add_char(json, ',');
    mt_strbuf_add_json(json, name);
    mt_strbuf_add_char(json, ':');
}

void mt_json_double(mt_strbuf *json, double value, int digits)
{
    if (isfinite(value)) mt_strbuf_addf(json, "%.*g", digits, value);
    else mt_strbuf_add(json, "null");
}
