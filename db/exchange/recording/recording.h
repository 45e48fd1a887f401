/* Recordings: an exhaustively measured space as JSON lines, compressed when the path ends in .zst or .gz. docs/database.md gives the format.
 *
 * Line 1 describes the subject (format, version, GPU with every fact, kernel, its key, shape, workload, cache state, toolchain); each further line is one
 * variant's newest row with short keys. Lines are sorted by variant, so that equal data make equal files. */
#pragma once

#include "db/store/query.h"
#include "tuner/base/strbuf.h"

/* Writes the newest row of each variant for one subject (the filter must select exactly one GPU, kernel key, shape, workload, cache state, origin; else an
 * error that lists what there is). Samples only with filter->with_samples. */
mt_status mt_recording_export(mt_store *store, const mt_filter *filter, const char *path, mt_error *err);
/* The same for every subject that the filter leaves, one behind the other, each with a line 1 of its own. The order depends on names and keys alone. With `answers_only` the rows that
 * lookups need, without the tuner's own times and logs, of subjects that have a winner: what is shipped. */
mt_status mt_recording_export_all(mt_store *store, const mt_filter *filter, bool answers_only, const char *path, mt_error *err);
/* Writes such a text, compressed as the path ends: .zst or .gz. */
mt_status mt_recording_write(const char *path, const mt_strbuf *text, mt_error *err);
/* Reads a file's bytes into the store as rows of `origin` in one transaction. What breaks the rules of rows (db/row_rules.h), or is no row, is left out and named on stderr with `name`, the
 * file's path, and the line; so is a subject whose line 1 is, with its rows. *left_out (may be NULL): how many lines. SYNTAX where no line 1 is sound, or the text can't be unpacked: then nothing is stored. A file
 * (by content) that was imported with this origin before is left alone. Winners are refreshed. */
mt_status mt_recording_import_bytes(mt_store *store, const void *bytes, size_t length, const char *name, mt_origin origin, int64_t *left_out, mt_error *err);

/* Another file whose results count together with those that such bytes gave: of the same kernel, GPU and shape. *count of its variants' results count; 0 = there is none. */
typedef struct mt_recording_mixed {
    char *name; /* mt_free; as it was imported */
    int64_t count;
} mt_recording_mixed;
mt_status mt_recording_find_mixed(mt_store *store, const void *bytes, size_t length, mt_recording_mixed *mixed, mt_error *err);
/* The names of the knobs in the first line of such a text, which is not packed, and of those that the store has under the same name and key of a kernel ("": none): mt_free both. */
mt_status mt_recording_compare_knobs(mt_store *store, const char *text, char **told, char **known, mt_error *err);
