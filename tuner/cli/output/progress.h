/* What a person sees while tuning: on a terminal one live line for each subject, updated in place and never wider than the terminal, or with --progress a view of several; elsewhere a plain
 * line every ten seconds at most. Goes to stderr; the summary of each subject goes to stdout (summary.h). */
#pragma once

#include <stdio.h>

#include "tuner/base/strbuf.h"
#include "tuner/cli/output/same_code.h"
#include "tuner/cli/output/summary.h"
#include "tuner/session/session.h"

enum { MT_DISPLAY_FAILURES = 4 };

typedef struct mt_display {
    FILE *progress, *summary;
    bool is_terminal, quiet;       /* quiet: no progress, summaries only */
    bool wants_view;               /* on a terminal several lines instead of one: the best, a bar, the last failures */
    bool is_verbose;               /* summaries list all knobs */
    int width;                     /* columns of the terminal; follows it while tuning, unless has_own_width */
    bool has_own_width;            /* tests give one */
    int64_t (*now_ns)(void);       /* mt_clock_now_ns; tests give their own */
    mt_summary_counts counts;      /* of the current subject */
    const mt_device_facts *facts;
    bool is_recorded;
    size_t subjects_ended;
    mt_same_code codes;          /* of what was compiled; its owner frees it. spec NULL: none are noted */
    /* private from here */
    char title[160];
    size_t done, total, measured;
    double best_ns;
    int64_t began_ns, drawn_ns, spoke_ns; /* spoke_ns: 0 = not yet, in the whole session */
    char best[400];                /* its knobs, cleaned */
    double first_ns;               /* the subject's first valid time: the default's */
    char failures[MT_DISPLAY_FAILURES][200]; /* the last ones, the newest first */
    size_t drawn_lines;            /* on the terminal now */
    mt_strbuf skipped_first, skipped_why; /* shapes skipped for one reason: the first of them, and the reason */
    size_t skipped_count;
} mt_display;

/* progress to stderr, summary to stdout; sets the log's hook, so that log lines do not run into the live line. */
void mt_display_init(mt_display *display, bool quiet);
/* Callbacks for the session; the display must outlive it. */
mt_progress mt_display_progress(mt_display *display);
/* Removes the live line. Call before printing anything else. */
void mt_display_clear(mt_display *display);
/* Also lets go of the log's hook. */
void mt_display_end(mt_display *display);
