/* Between the files that write and read recordings and other formats. */
#ifndef MT_DB_RECORDING_INTERNAL_H
#define MT_DB_RECORDING_INTERNAL_H

#include "db/recording.h"
#include "tuner/base/strbuf.h"

/* What line 1 of a recording says, so that rows need not repeat it. */
typedef struct mt_recording_context {
    mt_store *store; /* parses launches; may be NULL for rows without one */
    int64_t nvrtc_version, driver_version, recorded_unix_ms;
    char arch[32];
} mt_recording_context;

/* Adds line 1 of a subject without its line end, and fills *line1. */
mt_status mt_recording_add_header(mt_store *store, int64_t subject, mt_recording_context *line1, mt_strbuf *json, mt_error *err);
/* Adds a row's line: {"v":…,members,"s":[…]} and the line end. */
mt_status mt_recording_add_row(const mt_recording_context *line1, const mt_measurement_row *row, mt_strbuf *json, mt_error *err);
/* Adds the members between "v" and "s", without a comma before them. */
mt_status mt_recording_add_members(const mt_recording_context *line1, const mt_measurement_row *row, mt_strbuf *json, mt_error *err);

typedef struct mt_subject_list {
    int64_t *ids; /* mt_free */
    size_t count, capacity;
} mt_subject_list;
/* Subjects that the filter leaves, at least one; NOT_FOUND lists what there is. */
mt_status mt_recording_subjects(mt_store *store, const mt_filter *filter, mt_subject_list *list, mt_error *err);

#endif
