/* A comparison for continuous integration. Columns are found by their titles (report_diff.c). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "reports/format.h"
#include "reports/html.h"

static const mt_cell *cell_of(const mt_block *table, size_t row, const char *title)
{
    size_t column = 0;
    while (column < table->column_count && strcmp(table->columns[column].title, title) != 0) column++;
    assert(column < table->column_count);
    return &table->cells[row * table->column_count + column];
}

static const char *text_of(const mt_block *table, size_t row, const char *title) { return cell_of(table, row, title)->text; }

static bool is_slower(const char *verdict) { return strcmp(verdict, "SLOW") == 0; }
static bool is_skipped(const char *verdict) { return !is_slower(verdict) && strcmp(verdict, "FAST") != 0 && strcmp(verdict, "SAME") != 0; }

static const mt_block *find_table(const mt_doc *doc)
{
    for (size_t i = 0; i < doc->count; i++)
        for (size_t k = 0; k < doc->sections[i].count; k++)
            if (doc->sections[i].blocks[k].kind == MT_BLOCK_TABLE && strcmp(doc->sections[i].blocks[k].name, "diff") == 0) return &doc->sections[i].blocks[k];
    return NULL;
}

/* "12.30 % (11.90 to 12.70)". */
static void add_change(const mt_block *table, size_t row, mt_strbuf *out)
{
    double change = cell_of(table, row, "Change (%)")->number, low = cell_of(table, row, "From")->number, high = cell_of(table, row, "To")->number;
    mt_strbuf_addf(out, "%.2f %%", change);
    if (isfinite(low) && isfinite(high)) mt_strbuf_addf(out, " (%.2f to %.2f)", low, high);
}

static void add_failure(const mt_block *table, size_t row, mt_strbuf *out)
{
    mt_strbuf_add(out, "<failure type=\"SLOW\" message=\"B is slower by ");
    add_change(table, row, out);
    mt_strbuf_addf(out, "\">A: %.3f us with ", cell_of(table, row, "A (µs)")->number);
    mt_html_text(out, text_of(table, row, "Knobs A"));
    mt_strbuf_addf(out, "\nB: %.3f us with ", cell_of(table, row, "B (µs)")->number);
    mt_html_text(out, text_of(table, row, "Knobs B"));
    mt_strbuf_add(out, "</failure>");
}

static void add_case(const mt_block *table, size_t row, mt_strbuf *out)
{
    const char *verdict = text_of(table, row, "Verdict"), *gpu = text_of(table, row, "GPU B");
    double b = cell_of(table, row, "B (µs)")->number;
    mt_strbuf_add(out, "<testcase classname=\"");
    mt_html_text(out, text_of(table, row, "Kernel"));
    mt_strbuf_add_char(out, '.');
    mt_html_text(out, *gpu ? gpu : text_of(table, row, "GPU A"));
    mt_strbuf_add(out, "\" name=\"");
    mt_html_text(out, text_of(table, row, "Shape"));
    mt_strbuf_add_char(out, ' ');
    mt_html_text(out, text_of(table, row, "Workload"));
    mt_strbuf_addf(out, " %s", text_of(table, row, "L2 cache"));
    if (strcmp(text_of(table, row, "Is"), "variant") == 0) {
        mt_strbuf_add_char(out, ' ');
        mt_html_text(out, text_of(table, row, "Knobs B"));
    }
    mt_strbuf_addf(out, "\" time=\"%.9f\">", isfinite(b) ? b / 1e6 : 0);
    if (is_slower(verdict)) add_failure(table, row, out);
    if (is_skipped(verdict)) mt_strbuf_addf(out, "<skipped message=\"%s\"/>", strcmp(verdict, "AMBG") == 0 ? "the measurements do not tell" : strcmp(verdict, "only A") == 0 ? "only A has a winner" : "only B has a winner");
    mt_strbuf_add(out, "</testcase>\n");
}

void mt_format_junit(const mt_doc *doc, mt_strbuf *out)
{
    const mt_block *table = find_table(doc);
    size_t rows = table ? table->cell_count / table->column_count : 0, slower = 0, skipped = 0;
    for (size_t row = 0; row < rows; row++) {
        slower += is_slower(text_of(table, row, "Verdict"));
        skipped += is_skipped(text_of(table, row, "Verdict"));
    }
    mt_strbuf_addf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"msda-tune comparison\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", rows, slower, skipped);
    for (size_t row = 0; row < rows; row++) add_case(table, row, out);
    mt_strbuf_add(out, "</testsuite>\n</testsuites>\n");
}
