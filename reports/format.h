/* How a document is written. */
#pragma once

#include "reports/doc.h"

typedef enum mt_format { MT_FORMAT_HTML, MT_FORMAT_MD, MT_FORMAT_CSV, MT_FORMAT_JSON, MT_FORMAT_JUNIT } mt_format;

void mt_format_html(const mt_doc *doc, mt_strbuf *out);
void mt_format_md(const mt_doc *doc, mt_strbuf *out);
void mt_format_csv(const mt_doc *doc, mt_strbuf *out);  /* tables one after the other, an empty line between */
void mt_format_json(const mt_doc *doc, mt_strbuf *out); /* {section: {title, notes, figures, tables: {name: {caption, columns, rows}}}} */
/* The rows of a comparison as test cases of JUnit XML: what is slower has failed, what was not told apart or has one side only is skipped. */
void mt_format_junit(const mt_doc *doc, mt_strbuf *out);

/* Shared by the formats. */
/* A number as its column shows it; "" when not finite. Returns out. */
const char *mt_format_number(const mt_column *column, double number, char *out, size_t size);
/* "2026-11-28 00:20 UTC"; "" for 0. Returns out. */
const char *mt_format_time(double unix_ms, char *out, size_t size);
bool mt_format_is_number(const mt_block *table, size_t column); /* right-aligned */
