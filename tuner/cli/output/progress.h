/* What a person sees while tuning: one live line on a terminal, or with --progress a view of several; elsewhere plain lines for the start, each new best, a sign of life every half
 * minute, and the end. Goes to stderr; the summary of each subject goes to stdout (summary.h). */
#ifndef MT_CLI_PROGRESS_H
#define MT_CLI_PROGRESS_H

#include <stdio.h>

#include "tuner/base/strbuf.h"
#include "tuner/cli/output/summary.h"
#include "tuner/session/session.h"

enum { MT_DISPLAY_FAILURES = 4 };

typedef struct mt_display {
    FILE *progress, *summary;
    bool is_terminal, quiet;       /* quiet: no progress, summaries only */
    bool wants_view;               /* on a terminal several lines instead of one: the best, a bar, the last failures */
    int width;                     /* columns of the terminal */
    int64_t (*now_ns)(void);       /* mt_clock_now_ns; tests give their own */
    mt_summary_counts counts;      /* of the current subject */
    const mt_device_facts *facts;
    bool is_recorded;
    size_t subjects_ended;
    /* private from here */
    char title[160];
    size_t done, total, measured;
    double best_ns, shown_best_ns;
    int64_t began_ns, drawn_ns, spoke_ns;
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

#endif
