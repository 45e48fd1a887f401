/* `tune --watch FILE`: how far the search is and the report's first screen of what is being tuned, in one HTML file that is rewritten while the session runs and that a browser loads again by itself. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "db/store/query.h"
#include "reports/doc.h"
#include "tuner/session/session.h"

/* What is told of a shape's search. */
typedef struct mt_watched {
    char *name;                   /* shape, and workload where that says something; owned */
    size_t done, total, measured; /* measured: not known from before */
    double best_ns;               /* INFINITY = nothing is OK yet */
    int64_t began_ns, ended_ns;   /* ended_ns 0 = it is being searched */
} mt_watched;

/* A page is made in a thread of its own, with a connection of its own to the database, so that the session never waits for it: at most one at a time, at most each five seconds and a tenth of the
 * time, and only when there is something new. */
typedef struct mt_watch {
    const char *path, *db;        /* borrowed */
    mt_filter filter;             /* what is tuned; its texts are borrowed */
    mt_progress next;             /* everything is passed on */
    size_t planned;               /* subjects that the session means to tune; 0 = not known */
    mt_watched *subjects;         /* in the order they began */
    size_t count, capacity, skipped;
    mt_doc doc;                   /* the page that is being made */
    uv_thread_t thread;
    bool is_running, has_news, has_warned;
    atomic_bool is_done;          /* set by the thread; what follows is the thread's until then */
    mt_status status;
    mt_error error;
    int64_t (*now_ns)(void);      /* mt_clock_now_ns; tests set their own behind mt_watch_begin */
    int64_t began_ns, took_ns;    /* of the page before */
    int64_t first_ns;             /* when the watch began */
} mt_watch; /* zero-initialise */

/* Writes the first page, so that it can be opened; USAGE for a database in memory, IO where the file cannot be written. `next` is copied, its context borrowed. */
mt_status mt_watch_begin(mt_watch *watch, const char *path, const char *db, const mt_filter *filter, const mt_progress *next, mt_error *err);
mt_progress mt_watch_progress(mt_watch *watch);
/* Writes the last page, which is not loaded again. Also where begin failed, or never was. */
void mt_watch_end(mt_watch *watch);
