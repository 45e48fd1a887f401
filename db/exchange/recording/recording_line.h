/* A line of a recording, and its members as columns of a statement. What is wrong is a SYNTAX error: "FILE:LINE: expected …, found …". */
#pragma once

#include "db/exchange/recording/recording_io.h"
#include "db/store/sql.h"

#define MT_RECORDING_FILES "a recording of msda-tune (JSON lines, the first with \"format\"), a Kernel Tuner cache (a JSON object with \"cache\") or a T4 file (one with \"results\")"

typedef struct mt_line_source {
    mt_store *store;
    const char *path;
    mt_lines *lines;
} mt_line_source;

mt_status mt_line_fail(const mt_line_source *from, const char *what, const char *name, mt_error *err);
/* The row of a SELECT that takes the line apart; ?1 is the line. The statement is a cached one, to be reset in any case. */
mt_status mt_line_parse(const mt_line_source *from, const char *literal, const char *line, sqlite3_stmt **statement, mt_error *err);
/* Of two members of one name SQLite takes either, by its version. */
mt_status mt_line_check_names(const mt_line_source *from, const char *line, mt_error *err);

/* A text of at least min_length bytes without NULs. */
mt_status mt_line_text(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, size_t min_length, const char **text, mt_error *err);
mt_status mt_line_integer(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, int64_t *value, mt_error *err);
mt_status mt_line_real(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, double *value, mt_error *err); /* NAN where there is none */
mt_status mt_line_date(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, int64_t *unix_ms, mt_error *err);
/* Two columns, of json_type and json_extract. NULL: there is none. */
mt_status mt_line_object(const mt_line_source *from, sqlite3_stmt *statement, int column, const char *name, const char **json, mt_error *err);
