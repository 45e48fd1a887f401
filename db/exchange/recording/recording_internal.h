/* Between the files that write and read recordings and other formats. */
#pragma once

#include "db/exchange/recording/recording.h"
#include "tuner/base/strbuf.h"
#include "tuner/base/texts.h"

/* What line 1 of a recording says, so that rows need not repeat it. */
typedef struct mt_recording_context {
    mt_store *store; /* parses launches; may be NULL for rows without one */
    int64_t nvrtc_version, driver_version, recorded_unix_ms;
    char arch[32];
} mt_recording_context;

typedef struct mt_recording_header {
    bool has_no_spec;   /* the line 1 before has the kernel's programs */
    bool is_of_winner;  /* toolchain and time of the winner's row instead of the newest one's: of the rows that are not shipped nothing is told */
} mt_recording_header;
/* Adds line 1 of a subject without its line end, and fills *line1. */
mt_status mt_recording_add_header(mt_store *store, int64_t subject, mt_recording_header wishes, mt_recording_context *line1, mt_strbuf *json, mt_error *err);
/* Adds the member "final" behind a comma, if a final picked the subject's winner. */
mt_status mt_recording_add_final(mt_store *store, int64_t subject, mt_strbuf *json, mt_error *err);
/* Stores such a member. The subject's rows are stored already. *problem: what is wrong with the text, NULL = nothing; then nothing was stored. */
mt_status mt_recording_read_final(mt_store *store, int64_t session, const mt_subject *subject, int64_t at_unix_ms, const char *json, const char **problem, mt_error *err);
/* Adds a row's line: {"v":…,members,"library":{…},"s":[…]} and the line end. */
mt_status mt_recording_add_row(const mt_recording_context *line1, const mt_measurement_row *row, mt_strbuf *json, mt_error *err);
/* Adds the member "library" behind a comma, if the row was compared with a baseline plugin. */
void mt_recording_add_library(const mt_measurement_row *row, mt_strbuf *json);
/* Stores such a member. One that breaks the rules of rows is refused (mt_store_refused_row). */
mt_status mt_recording_read_library(mt_store *store, int64_t measurement, int64_t at_unix_ms, const char *json, mt_error *err);
/* Adds the members between "v" and "s", without a comma before them. */
mt_status mt_recording_add_members(const mt_recording_context *line1, const mt_measurement_row *row, mt_strbuf *json, mt_error *err);

/* Versions of the format. Numbered: a variant that had a row before is told by its number among the variants in the order of their first rows, from 0, counted from the last line 1 that has the kernel's programs. */
enum { MT_RECORDING_PLAIN = 1, MT_RECORDING_NUMBERED = 2 };

/* Variants, of a subject sorted; zeroed = none. */
typedef struct mt_recording_answers {
    mt_texts variants;
    char *winner; /* of the subject; NULL = it has none */
} mt_recording_answers;
/* What lookups need of a subject; nothing when it has no winner. Replaces what was there. */
mt_status mt_recording_find_answers(mt_store *store, int64_t subject, mt_recording_answers *answers, mt_error *err);
bool mt_recording_is_answer(const mt_recording_answers *answers, const char *variant);
void mt_recording_answers_free(mt_recording_answers *answers);
/* Takes off the row what only its own machine's report needs, and what nobody asks of a variant that did not win; `line`, empty, holds the text that stays. */
void mt_recording_slim(const mt_recording_answers *answers, mt_measurement_row *row, mt_strbuf *line);

typedef struct mt_subject_list {
    int64_t *ids; /* mt_free */
    size_t count, capacity;
} mt_subject_list;
/* Subjects that the filter leaves, at least one; NOT_FOUND lists what there is. */
mt_status mt_recording_subjects(mt_store *store, const mt_filter *filter, mt_subject_list *list, mt_error *err);
