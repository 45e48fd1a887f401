/* When a subject's rows were stored, in seconds of tuning: gaps between sessions do not count. */
#ifndef MT_REPORTS_TIMELINE_H
#define MT_REPORTS_TIMELINE_H

#include "reports/data.h"

typedef struct mt_timeline { int64_t session, last_ms; double seconds; } mt_timeline;

static inline mt_timeline mt_timeline_begin(void) { return (mt_timeline){.session = -1}; }

/* Rows in their order. */
static inline double mt_timeline_next(mt_timeline *line, const mt_row *row)
{
    if (row->session == line->session && row->created_unix_ms > line->last_ms) line->seconds += (double)(row->created_unix_ms - line->last_ms) / 1e3;
    line->session = row->session;
    line->last_ms = row->created_unix_ms;
    return line->seconds;
}

#endif
