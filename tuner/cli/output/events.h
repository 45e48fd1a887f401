/* What happens while tuning, for programs: one JSON object a line, appended to a file, each line in one write, so that several tuners may share it. */
#pragma once

#include <stdbool.h>

#include "tuner/session/session.h"

typedef struct mt_events {
    int fd;
    bool is_open;
    mt_progress next;        /* who else wants to know */
    const char *gpu, *origin; /* for the lines; borrowed */
    char *shape, *workload;  /* of the subject under way; owned */
    bool has_failed;         /* a write went wrong: told once, then nothing more is written */
} mt_events;

/* Opens for appending; *events hands everything on to `next`, which is copied. mt_events_close in every case, of a zeroed struct too. */
mt_status mt_events_open(mt_events *events, const char *path, const mt_progress *next, const char *gpu, mt_origin origin, mt_error *err);
void mt_events_close(mt_events *events);
/* Callbacks for the session; the events must outlive it. */
mt_progress mt_events_progress(mt_events *events);
