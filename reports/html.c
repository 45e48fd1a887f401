#include "reports/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tuner/base/alloc.h"
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
    for (size_t left = text ? strlen(text) : 0, length; left; text += length, left -= length) {
        const char *escape = escape_of(text, left, &length);
        if (escape)
            mt_strbuf_add(page, escape);
        else
            mt_strbuf_add_bytes(page, text, length);
    }
}

void mt_html_cell(mt_strbuf *page, const char *text)
{
    mt_strbuf_add(page, "<td>");
    mt_html_text(page, text);
    mt_strbuf_add(page, "</td>");
}

void mt_html_knobs(mt_strbuf *page, const char *variant)
{
    char *spaced = mt_strdup(variant ? variant : "");
    for (char *at = spaced; at && *at; at++)
        if (*at == ';') *at = ' ';
    mt_html_cell(page, spaced);
    page->failed = page->failed || !spaced;
    mt_free(spaced);
}

void mt_html_number(mt_strbuf *page, const char *format, double value)
{
    char text[64];
    mt_strbuf_add(page, "<td class=\"n\">");
    /* The formats are literals of the sections. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (isfinite(value)) {
        snprintf(text, sizeof text, format, value);
        mt_html_text(page, text);
    }
#pragma GCC diagnostic pop
    mt_strbuf_add(page, "</td>");
}

void mt_html_time(mt_strbuf *page, int64_t unix_ms)
{
    char text[64] = "";
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm tm;
    if (unix_ms && gmtime_r(&seconds, &tm)) strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm);
    mt_strbuf_addf(page, "<td>%s</td>", text);
}

void mt_html_cuda_version(mt_strbuf *page, int64_t version)
{
    if (version)
        mt_strbuf_addf(page, "<td>%lld.%lld</td>", (long long)(version / 1000), (long long)(version % 1000 / 10));
    else
        mt_strbuf_add(page, "<td>?</td>");
}

void mt_html_table_begin(mt_strbuf *page, const char *const *titles)
{
    mt_strbuf_add(page, "<table><thead><tr>");
    for (; *titles; titles++) mt_strbuf_addf(page, "<th scope=\"col\">%s</th>", *titles);
    mt_strbuf_add(page, "</tr></thead><tbody>\n");
}

void mt_html_table_end(mt_strbuf *page)
{
    mt_strbuf_add(page, "</tbody></table>\n");
}
