/* Whether a table or an index, as a database's schema has its text, may be one that this program made. Shared by the tuner and the lookup library; libc only.
 *
 * SQLite computes what a schema says: generated columns while rows are read, expressions of indexes and functions in CHECKs while they are written. A stranger's file could so keep a reader
 * busy for hours, or fill its memory, with one row. No tuning database has any of these. */
#pragma once

/* NULL = it may; else what it holds, as part of a sentence ("a generated column"). `sql` NULL: an index that SQLite makes itself. */
const char *mt_schema_text_problem(const char *sql);
