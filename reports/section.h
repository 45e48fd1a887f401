/* A section of the report. A new one is a file sections/sec_<name>.c that exports const mt_section mt_section_<name>, and one line in sections.def. */
#pragma once

#include "db/exchange/misses.h"
#include "reports/data.h"
#include "reports/doc.h"
#include "reports/report_lookup.h"

typedef struct mt_report_context {
    mt_store *store;
    const mt_filter *filter;
    const mt_report_data *data;
    const mt_report_lookup *lookup; /* NULL = nobody can be asked */
    const mt_misses *misses; /* what production asked for in vain; NULL = no log was given */
    size_t most_rows; /* of one table: what is beyond is summed up, and told; SIZE_MAX for files that programs read */
} mt_report_context;

typedef struct mt_section {
    const char *name;  /* of --section, and of its place on the page */
    const char *title;
    mt_status (*render)(const mt_report_context *context, mt_doc *doc, mt_error *err);
} mt_section;

/* Geometric mean of what was added. */
typedef struct mt_geomean { double logs; size_t count; } mt_geomean;
void mt_geomean_add(mt_geomean *mean, double value); /* ignores what is not finite or not positive */
double mt_geomean_of(const mt_geomean *mean);        /* NAN without any */

/* The name of the row's workload; "" for the one that stands in when a file has none: its name would tell nothing. */
const char *mt_report_workload(const mt_measurement_row *row);
/* "h100-sxm" of a GPU's key. Returns out. */
const char *mt_gpu_model(const char *gpu_key, char *out, size_t size);
