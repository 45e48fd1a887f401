#include "tuner/cli/output/print.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/text.h"

static bool is_quiet;

void mt_be_quiet(bool quiet)
{
    is_quiet = quiet;
}

bool mt_is_quiet(void)
{
    return is_quiet;
}

void mt_tell(const char *format, ...)
{
    va_list args;
    if (is_quiet) return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

const char *mt_print_us(double ns, char *out, size_t size)
{
    double us = ns / 1e3;
    if (!isfinite(us)) snprintf(out, size, "-");
    else snprintf(out, size, "%.*f µs", mt_text_decimals(us), us);
    return out;
}

const char *mt_print_speed(double ratio, char out[MT_PRINT_SPEED_SIZE])
{
    if (fabs(ratio - 1) < 0.005) snprintf(out, MT_PRINT_SPEED_SIZE, "as fast as");
    else snprintf(out, MT_PRINT_SPEED_SIZE, "%.2f × as fast as", ratio);
    return out;
}

const char *mt_print_energy(double uj, double error_uj, char *out, size_t size)
{
    const char *unit = uj < 1e3 ? "µJ" : uj < 1e6 ? "mJ" : "J";
    double scale = uj < 1e3 ? 1 : uj < 1e6 ? 1e3 : 1e6;
    if (!isfinite(uj) || !isfinite(error_uj)) snprintf(out, size, "-");
    else snprintf(out, size, "%.*f %s ± %.2g %s", mt_text_decimals(uj / scale), uj / scale, unit, error_uj / scale, unit);
    return out;
}

const char *mt_print_interval(double median_ns, double low_ns, double high_ns, char *out, size_t size)
{
    double us = median_ns / 1e3, half = fmax(high_ns - median_ns, median_ns - low_ns) / 1e3;
    if (!isfinite(us) || !isfinite(half)) return mt_print_us(median_ns, out, size);
    snprintf(out, size, "%.*f µs ± %.*f µs", mt_text_decimals(us), us, mt_text_decimals(us), half);
    return out;
}

const char *mt_print_seconds(double seconds, char *out, size_t size)
{
    long whole = isfinite(seconds) && seconds < 1e9 ? lround(seconds) : 0;
    if (!isfinite(seconds) || seconds >= 1e9) snprintf(out, size, "-");
    else if (seconds < 9.95) snprintf(out, size, "%.1f s", seconds);
    else if (whole < 60) snprintf(out, size, "%ld s", whole);
    else if (whole < 3600) snprintf(out, size, "%ld min %02ld s", whole / 60, whole % 60);
    else snprintf(out, size, "%ld h %02ld min", whole / 3600, whole % 3600 / 60);
    return out;
}

const char *mt_print_left(size_t done, size_t total, size_t measured, double seconds, char out[MT_PRINT_TIME_SIZE])
{
    *out = 0;
    if (done < total && measured && seconds > 0) mt_print_seconds((double)(total - done) * seconds / (double)measured, out, MT_PRINT_TIME_SIZE);
    return out;
}

void mt_print_clean(mt_strbuf *buf, const char *text, size_t max_columns)
{
    size_t left = text ? strlen(text) : 0, columns = 0;
    while (left && strchr(" \t\r\n", text[left - 1])) left--; /* logs end with a newline */
    for (; left; columns++) {
        if (max_columns && columns == max_columns) {
            mt_strbuf_add(buf, "…");
            return;
        }
        size_t length;
        if (mt_text_is_shown(text, left, &length)) mt_strbuf_add_bytes(buf, text, length);
        else mt_strbuf_add_char(buf, strchr("\n\t\r", *text) ? ' ' : '?');
        text += length;
        left -= length;
    }
}

void mt_print_knob(mt_strbuf *buf, const char *knob, size_t length)
{
    mt_strbuf own = {0}, clean = {0};
    mt_strbuf_add_bytes(&own, knob, length);
    mt_print_clean(&clean, mt_strbuf_text(&own), 0);
    const char *text = mt_strbuf_text(&clean), *value = strchr(text, '=');
    if (value && (!value[1] || strchr(value, ' '))) mt_strbuf_addf(buf, "%.*s\"%s\"", (int)(value + 1 - text), text, value + 1);
    else mt_strbuf_add(buf, text);
    mt_strbuf_free(&clean);
    mt_strbuf_free(&own);
}

void mt_print_knobs(mt_strbuf *buf, const char *variant)
{
    for (const char *at = variant; *at; at += *at == ';') {
        size_t length = strcspn(at, ";");
        if (at > variant) mt_strbuf_add_char(buf, ' ');
        mt_print_knob(buf, at, length);
        at += length;
    }
}

char *mt_print_unlisted(const char *knobs)
{
    const char part = strchr(knobs, ';') ? ';' : ' ';
    bool is_quoted = false, is_parted = false;
    char *out = mt_alloc(strlen(knobs) + 1, 1), *end = out;
    for (const char *at = knobs; out && *at; at++) {
        bool is_blank = *at == ' ' && (end == out || is_parted);
        if (part == ' ' && *at == '"') is_quoted = !is_quoted;
        else if (*at == part && !is_quoted) is_parted = end > out;
        else if (!is_blank || is_quoted) {
            if (is_parted) *end++ = ';';
            is_parted = false;
            *end++ = *at;
        }
    }
    return out;
}

void mt_print_program(mt_strbuf *command)
{
    mt_strbuf_add_word(command, program_invocation_name);
}

void mt_print_option(mt_strbuf *command, const char *option, const char *value)
{
    if (!value) return;
    mt_strbuf_addf(command, " %s ", option);
    mt_strbuf_add_word(command, value);
}

size_t mt_print_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

/* Whether the word behind place `at` is longer than a line of `room` columns, wherever it begins. */
static bool is_long_word(const char *text, size_t at, size_t room)
{
    text += at;
    return strcspn(text + strspn(text, " "), " ") > room;
}

/* Bytes of `text` that the next line takes, `room` columns at most where there is a place to break; without the space it breaks at. A variant or a shape, which may be longer than any line, breaks behind
 * a ';' between its values. */
static size_t line_length(const char *text, size_t room, const char *behind)
{
    size_t columns = 0, best = 0, between = 0;
    for (size_t i = 0; text[i]; i++) {
        bool may_break = text[i] == ' ' && i > 0 && text[i - 1] != ' ' && (!behind || strchr(behind, text[i - 1]));
        if (may_break && (columns <= room || !best)) best = i;
        if (i > 0 && text[i - 1] == ';' && text[i] != ' ' && columns <= room) between = i;
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (columns > room && between > best && is_long_word(text, best, room)) return between;
        if (columns > room && best) return best;
    }
    return strlen(text);
}

/* `at`: columns that the first line has already. */
static void print_wrapped_from(FILE *out, const char *text, size_t at, size_t indent, const char *behind)
{
    for (size_t used = at;; used = indent) {
        size_t length = line_length(text, used < MT_PAGE_COLUMNS ? MT_PAGE_COLUMNS - used : 0, behind);
        fprintf(out, "%.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
        if (!*text) return;
        fprintf(out, "%*s", (int)indent, "");
    }
}

void mt_print_wrapped(FILE *out, const char *text, size_t indent, const char *behind)
{
    size_t lead = strspn(text, " "); /* no place to break */
    fprintf(out, "%.*s", (int)lead, text);
    print_wrapped_from(out, text + lead, lead, indent, behind);
}

static void add_cell(mt_table *table, mt_strbuf *clean)
{
    mt_table_item *cells = mt_grow(table->cells, table->count, &table->capacity, sizeof *cells);
    if (cells) table->cells = cells;
    char *text = clean->length || clean->failed ? mt_strbuf_take(clean) : mt_strdup("");
    if (!cells || !text) {
        table->failed = true;
        mt_free(text);
        return;
    }
    table->cells[table->count++] = (mt_table_item){text, MT_COLOR_NONE};
}

void mt_table_color(mt_table *table, mt_color color)
{
    if (table->count && !table->failed) table->cells[table->count - 1].color = color;
}

void mt_table_cell(mt_table *table, const char *text)
{
    mt_strbuf clean = {0};
    mt_print_clean(&clean, text, 0);
    add_cell(table, &clean);
    mt_strbuf_free(&clean);
}

void mt_table_cellf(mt_table *table, const char *format, ...)
{
    mt_strbuf text = {0};
    va_list args;
    va_start(args, format);
    mt_strbuf_addv(&text, format, args);
    va_end(args);
    mt_table_cell(table, mt_strbuf_text(&text));
    mt_strbuf_free(&text);
}

static void measure(const mt_table *table, size_t *widths)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t cell = mt_print_columns(table->cells[i].text), *width = &widths[i % table->columns];
        if (cell > *width) *width = cell;
    }
}

/* Columns up to where the last one begins. */
static size_t lead_of(const mt_table *table, const size_t *widths)
{
    size_t lead = 0;
    for (size_t i = 0; i + 1 < table->columns; i++) lead += widths[i] + 2;
    return lead;
}

size_t mt_table_width(const mt_table *table)
{
    size_t *widths = table->failed || !table->columns ? NULL : mt_alloc(table->columns, sizeof *widths);
    if (!widths) return 0;
    measure(table, widths);
    size_t width = lead_of(table, widths) + widths[table->columns - 1];
    mt_free(widths);
    return width;
}

/* The last cell of a row, `gap` spaces behind the others: it begins at column `lead`. */
static void print_last(const mt_table *table, FILE *out, const char *cell, size_t indent, size_t lead, int gap)
{
    enum { LEAST = 40, STEP = 4 }; /* columns that are worth a column; how far in the lines below stand */
    bool fits = lead + mt_print_columns(cell) <= MT_PAGE_COLUMNS, goes_below = !fits && lead + LEAST > MT_PAGE_COLUMNS;
    if (!table->wraps || fits) {
        fprintf(out, "%*s%s\n", gap, "", cell);
        return;
    }
    if (goes_below) fprintf(out, "\n%*s", (int)(indent + STEP), "");
    else fprintf(out, "%*s", gap, "");
    print_wrapped_from(out, cell, goes_below ? indent + STEP : lead, goes_below ? indent + STEP : lead, NULL);
}

void mt_table_print(const mt_table *table, FILE *out, const char *indent)
{
    size_t *widths = table->failed || !table->columns ? NULL : mt_alloc(table->columns, sizeof *widths);
    if (!widths) return;
    measure(table, widths);
    for (size_t i = 0, gap = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        bool is_right = table->right && table->right[column] == 'r';
        size_t pad = widths[column] - mt_print_columns(table->cells[i].text);
        if (column == 0) fputs(indent, out);
        gap = (column ? gap + 2 : 0) + (is_right ? pad : 0);
        if (column + 1 == table->columns) {
            print_last(table, out, table->cells[i].text, strlen(indent), strlen(indent) + lead_of(table, widths), (int)gap);
            continue;
        }
        fprintf(out, "%*s", (int)gap, "");
        mt_color_print(out, table->cells[i].color, table->cells[i].text);
        gap = is_right ? 0 : pad;
    }
    mt_free(widths);
}

void mt_table_free(mt_table *table)
{
    for (size_t i = 0; i < table->count; i++) mt_free(table->cells[i].text);
    mt_free(table->cells);
    table->cells = NULL;
    table->count = table->capacity = 0;
    table->failed = false;
}
