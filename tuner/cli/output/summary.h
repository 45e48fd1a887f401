/* The block that tune prints for each shape and workload when it ends. */
#pragma once

#include <stdio.h>

#include "tuner/cli/output/reasons.h"
#include "tuner/session/session.h"

enum { MT_SUMMARY_ALGORITHMS = 16 };

/* The fastest variant of one algorithm; a first time by itself, as it was evaluated. */
typedef struct mt_summary_algorithm {
    char name[32];
    double best_ns;
    char variant[1024];
} mt_summary_algorithm;

/* How the evaluations of one subject ended. */
typedef struct mt_summary_counts {
    char search[160]; /* "4000 valid points (9000 before constraints), strategy random"; "" = not told */
    size_t total;
    size_t by_kind[MT_OUTCOME_KIND_COUNT];
    mt_reasons reasons;
    mt_summary_algorithm algorithms[MT_SUMMARY_ALGORITHMS]; /* as they came; further ones are not told */
    size_t algorithm_count;
} mt_summary_counts;

/* "seed48 · local15", cleaned; without the workload that stands in when a file has none: its name would tell nothing. */
void mt_summary_name(const mt_space *space, const mt_workload *workload, mt_strbuf *name);

/* Counts one more; an outcome that is NULL is ignored. */
void mt_summary_count(mt_summary_counts *counts, const char *variant, const mt_outcome *outcome);

/* Lines fit MT_PAGE_COLUMNS. Of a best variant whose knobs take more than a line only those are told that differ from the default's, unless is_verbose. */
void mt_summary_print(FILE *out, const mt_space *space, const mt_workload *workload, const mt_device_facts *facts, bool is_recorded,
                      const mt_subject_summary *summary, const mt_summary_counts *counts, bool is_verbose);

/* Where the time of a session went. */
void mt_summary_times(FILE *out, const mt_session_times *times, bool is_recorded);
