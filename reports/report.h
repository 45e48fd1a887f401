/* The report: a document made of the sections in sections.def. format.h writes it. */
#pragma once

#include "db/exchange/diff.h"
#include "db/exchange/misses.h"
#include "db/store/query.h"
#include "reports/doc.h"
#include "reports/report_lookup.h"

enum { MT_REPORT_PAGE_ROWS = 400 }; /* what a page lists of each table */

/* Which sections, and how much of it. */
typedef struct mt_report_options {
    const char *const *sections; size_t section_count; /* names; 0 = all */
    bool has_charts;    /* a page: charts get their data */
    size_t most_rows;   /* long tables end there with a word on what is beyond; 0 = all */
    const mt_report_lookup *lookup; /* borrowed; NULL = what single shapes get is not told */
    const mt_misses *misses; /* what production asked for in vain; borrowed; NULL = no log */
} mt_report_options;

/* The names of the sections that there are, in their order. */
size_t mt_report_section_count(void);
const char *mt_report_section_name(size_t index);

/* Fills *doc (mt_doc_free it in every case). NOTHING_VALID, naming the file, when the filter leaves no measurement at all; USAGE for an unknown section. */
mt_status mt_report_make(mt_store *store, const mt_filter *filter, const mt_report_options *options, mt_doc *doc, mt_error *err);
/* The comparison of two sides, as `diff` makes it, regressions first; *slower: how many winners of b are slower. NOTHING_VALID when they have no subject in common. */
mt_status mt_report_make_diff(const mt_diff_side *a, const mt_diff_side *b, const char *const names[2], const mt_diff_filter *filter, double threshold, bool with_variants, mt_doc *doc,
                              size_t *slower, mt_error *err);
