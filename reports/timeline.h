/* Which evaluation a subject's rows were, and when they were stored, in seconds of tuning: gaps between sessions do not count. */
#pragma once

#include <math.h>

#include "reports/data.h"

/* `seconds`: NAN where no session measured: when the rows of an import or a replay were stored, or recorded, is no clock of a search. */
typedef struct mt_timeline { int64_t session, last_ms; size_t evaluation; double seconds; } mt_timeline;

static inline mt_timeline mt_timeline_begin(const mt_report_subject *subject) { return (mt_timeline){.session = -1, .seconds = subject->is_clocked ? 0 : NAN}; }

/* Rows in their order. Those of variants that did not run are no evaluations. */
static inline void mt_timeline_next(mt_timeline *line, const mt_row *row)
{
    if (row->is_clocked && row->session == line->session && row->created_unix_ms > line->last_ms) line->seconds += (double)(row->created_unix_ms - line->last_ms) / 1e3;
    line->evaluation += mt_outcome_is_run(row->kind);
    line->session = row->session;
    line->last_ms = row->created_unix_ms;
}
