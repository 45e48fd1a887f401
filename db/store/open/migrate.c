#include "db/store/open/migrate.h"

#include "db/store/current.h"
#include "db/store/open/store_file.h"
#include "db/store/sql.h"

/* Schema 7 had one outcome 'pruned' for a variant that did not run, and a sentence that told which of three. Here alone such a sentence is read: SQL expressions of the old outcome and text, and what they are
 * now. A sentence that the outcome or the digest says is gone; every other text stays. */
#define OLD_EXCLUDED(text) text " GLOB 'a constraint excludes it on this shape and GPU (expressions [0-9a-f]*)'"
#define OLD_OUTCOME(outcome, text) \
    "CASE WHEN " outcome " <> 'pruned' THEN " outcome " WHEN " text " = 'not recorded' THEN 'not_recorded' WHEN " text " GLOB 'the compiler died*' THEN 'compiler_killed' ELSE 'excluded' END"
#define OLD_TEXT(outcome, text) "CASE WHEN " outcome " <> 'pruned' OR NOT (" text " = 'not recorded' OR " OLD_EXCLUDED(text) ") THEN " text " END"
#define OLD_DIGEST(outcome, text) "CASE WHEN " outcome " = 'pruned' AND " OLD_EXCLUDED(text) " THEN substr(" text ", -9, 8) END"

extern const unsigned char mt_db_schema_sql[]; /* schema.sql, NUL-terminated; it sets application_id and user_version */

/* Comparisons with libraries were metrics with composed names, "cublaslt_best_ratio"; the source said which algorithm it was. What only looks so stays a metric. */
#define VALUE_OF(name) "(SELECT value FROM metric v WHERE v.measurement_id = b.measurement_id AND v.name = b.plugin || '" name "')"
#define ALGORITHM_OF(name) "(SELECT nullif(substr(v.source, length(b.plugin) + 3), '') FROM metric v WHERE v.measurement_id = b.measurement_id AND v.name = b.plugin || '" name "')"
#define LIBRARY_COMPARISONS \
    "CREATE TABLE library_comparison (measurement_id INTEGER NOT NULL REFERENCES measurement (id), plugin TEXT NOT NULL, first_ns REAL, first_ratio REAL, " \
    "first_algorithm TEXT, best_ns REAL NOT NULL, best_ratio REAL NOT NULL, best_ratio_low REAL, best_ratio_high REAL, best_algorithm TEXT, is_limited " \
    "INTEGER NOT NULL, created_unix_ms INTEGER NOT NULL, PRIMARY KEY (measurement_id, plugin)); " \
    "INSERT INTO library_comparison SELECT b.measurement_id, b.plugin, " VALUE_OF("_first_ns") ", " VALUE_OF("_first_ratio") ", " ALGORITHM_OF("_first_ratio") ", " \
    VALUE_OF("_best_ns") ", b.value, " VALUE_OF("_best_ratio_low") ", " VALUE_OF("_best_ratio_high") ", " ALGORITHM_OF("_best_ratio") ", " \
    "ifnull(" VALUE_OF("_throttled") ", 0) > 0, b.created_unix_ms FROM (SELECT *, substr(name, 1, length(name) - length('_best_ratio')) AS plugin FROM metric WHERE name GLOB '*_best_ratio') b " \
    "WHERE length(b.plugin) BETWEEN 1 AND 31 AND b.plugin NOT GLOB '*[^a-z0-9_]*' AND (b.source = b.plugin OR b.source GLOB b.plugin || ': *') AND " VALUE_OF("_best_ns") " IS NOT NULL; " \
    "DELETE FROM metric WHERE EXISTS (SELECT 1 FROM library_comparison l WHERE l.measurement_id = metric.measurement_id AND metric.name IN (l.plugin || '_first_ns', l.plugin || '_first_ratio', " \
    "l.plugin || '_best_ns', l.plugin || '_best_ratio', l.plugin || '_best_ratio_low', l.plugin || '_best_ratio_high', l.plugin || '_throttled')); "

/* The outcome of the measurement that said of the default on a portfolio's shape that it did not run. */
#define DEFAULT_NOT_RUN \
    "(SELECT m.outcome FROM landmark l JOIN measurement m ON m.subject_id = l.subject_id AND m.variant_id = l.variant_id WHERE l.role = 'default' " \
    "AND l.subject_id = portfolio_shape.subject_id AND NOT " MT_IS_RUN("m") " ORDER BY m.id DESC LIMIT 1)"

/* A portfolio's cells as the lookup reads them; the next session's portfolio has them.  Rows of another toolkit's headers are not
 * known; of older sessions nobody can tell. Outcomes that say why a variant did not run, in place of sentences; comparisons with libraries as rows; of a session its plan, which
 * was part of the job's text, and whether it was truncated. */
static const char to_8[] =
    "ALTER TABLE portfolio ADD COLUMN cells BLOB; "
    "ALTER TABLE session ADD COLUMN headers TEXT; ALTER TABLE measurement ADD COLUMN spec_digest TEXT; "
    "UPDATE measurement SET spec_digest = " OLD_DIGEST("outcome", "text") ", outcome = " OLD_OUTCOME("outcome", "text") ", text = " OLD_TEXT("outcome", "text") " WHERE outcome = 'pruned'; "
    "UPDATE portfolio_cell SET outcome = ifnull((SELECT m.outcome FROM measurement m WHERE m.id = measurement_id), 'excluded') WHERE outcome = 'pruned'; "
    "UPDATE portfolio_shape SET default_outcome = ifnull(" DEFAULT_NOT_RUN ", 'excluded') WHERE default_outcome = 'pruned'; "
    LIBRARY_COMPARISONS
    "ALTER TABLE session ADD COLUMN plan TEXT; ALTER TABLE session ADD COLUMN truncated INTEGER NOT NULL DEFAULT 0; "
    "UPDATE session SET plan = CASE WHEN job GLOB 'plan *' THEN substr(job, 6) ELSE substr(job, instr(job, ', plan ') + 7) END, "
    "job = CASE WHEN job NOT GLOB 'plan *' THEN substr(job, 1, instr(job, ', plan ') - 1) END WHERE job GLOB 'plan *' OR instr(job, ', plan ') > 0; "
    "UPDATE session SET truncated = 1 WHERE json_valid(times_json) AND json_type(times_json, '$.truncated') = 'true'; "
    "PRAGMA user_version = 8;";

/* Which arm of a strategy proposed what; what is not to be handed out, which the lookup reads all of; and which measurement holds the result of a variant. */
static const char to_9[] =
    "ALTER TABLE measurement ADD COLUMN proposed_by TEXT; DROP INDEX IF EXISTS measurement_wrong; "
    "CREATE INDEX measurement_unsafe ON measurement (subject_id, variant_id) WHERE outcome IN " MT_UNSAFE_OUTCOMES "; "
    "CREATE TABLE current_result (subject_id INTEGER NOT NULL REFERENCES subject (id), variant_id INTEGER NOT NULL REFERENCES variant (id), measurement_id INTEGER, newest_id INTEGER NOT NULL, "
    "PRIMARY KEY (subject_id, variant_id)) WITHOUT ROWID; "
    "INSERT INTO current_result " MT_CURRENT_OF("") "; PRAGMA user_version = 9;";

/* Which error a subject's winner may have at most; fingerprints of outputs, which older rows lack. */
static const char to_10[] = "ALTER TABLE measurement ADD COLUMN bits TEXT; CREATE TABLE error_limit (subject_id INTEGER PRIMARY KEY REFERENCES subject (id), max_error REAL NOT NULL); PRAGMA user_version = 10;";

/* Fingerprints of the first rows of a batch. */
static const char to_11[] = "ALTER TABLE measurement ADD COLUMN row_bits TEXT; PRAGMA user_version = 11;";

/* Steps lead from one version to the next and end with PRAGMA user_version; an empty file becomes the newest schema at once. */
enum { OLDEST = 7 };
static const char *const steps[MT_SCHEMA_VERSION - OLDEST] = {to_8, to_9, to_10, to_11};

static mt_status read_number(sqlite3 *db, const char *path, const char *sql, int64_t *value, mt_error *err)
{
    sqlite3_stmt *statement = NULL;
    *value = 0;
    mt_status st = MT_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) {
        st = mt_sql_fail_handle(db, path, "read the schema version", err);
    } else {
        *value = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return st;
}

/* *version: 0 for an empty database. Three reads that must see one state: the caller has a transaction open, or another process could make
 * the schema between them and a new database would look like a stranger's. */
static mt_status read_version(sqlite3 *db, const char *path, int64_t *version, mt_error *err)
{
    mt_status st;
    int64_t application, objects;
    MT_TRY(read_number(db, path, "PRAGMA user_version", version, err));
    MT_TRY(read_number(db, path, "PRAGMA application_id", &application, err));
    MT_TRY(read_number(db, path, "SELECT count(*) FROM sqlite_master", &objects, err));
    if (application == 0 && *version == 0 && objects == 0) goto done;
    if (application != MT_SCHEMA_APPLICATION_ID || *version < 1) {
        st = MT_FAIL(err, MT_ERR_DB, "%s: is an SQLite database of another program, not a tuning database", path);
    } else if (*version > MT_SCHEMA_VERSION) {
        st = MT_FAIL(err, MT_ERR_DB, "%s: was written by a newer msda-tune (schema %lld, this one knows up to %d); update msda-tune or "
                     "choose another file with --db", path, (long long)*version, MT_SCHEMA_VERSION);
    } else if (*version < OLDEST) {
        st = MT_FAIL(err, MT_ERR_DB, "%s: has schema %lld, of a tool before version 0.1; this one updates files from schema %d on", path, (long long)*version, OLDEST);
    }
done:
    return st;
}

/* The version is read again under the write lock: another process may have been here meanwhile. */
static mt_status make_step(sqlite3 *db, const char *path, int64_t from, mt_error *err)
{
    mt_status st = MT_OK;
    int64_t version = from;
    const char *what = from ? "update the schema" : "create the schema", *sql = from ? steps[from - OLDEST] : (const char *)mt_db_schema_sql;
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) MT_LEAVE(mt_sql_fail_handle(db, path, what, err));
    MT_TRY(read_version(db, path, &version, err));
    if (version == from && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) MT_LEAVE(mt_sql_fail_handle(db, path, what, err));
    if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) st = mt_sql_fail_handle(db, path, what, err);
done:
    if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

static mt_status read_version_alone(sqlite3 *db, const char *path, int64_t *version, mt_error *err)
{
    if (sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) return mt_sql_fail_handle(db, path, "read the schema version", err);
    mt_status st = read_version(db, path, version, err);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

mt_status mt_migrate(sqlite3 *db, const char *path, bool read_only, mt_error *err)
{
    mt_status st;
    int64_t version;
    MT_TRY(read_version_alone(db, path, &version, err));
    if (version == MT_SCHEMA_VERSION) goto done;
    if (read_only && !version && mt_store_file_lacks_wal(db, path)) {
        st = MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: holds nothing without %s-wal, in which its rows were while a program had it open; copy the two together, or the file alone once that program has ended", path, path);
        goto done;
    }
    if (read_only) {
        st = version ? MT_FAIL(err, MT_ERR_DB, "%s: has the older schema %lld; any msda-tune command that writes into it (tune, import) updates it", path, (long long)version)
                     : MT_FAIL(err, MT_ERR_NOT_FOUND, "%s: is empty, not a tuning database", path);
        goto done;
    }
    while (version < MT_SCHEMA_VERSION) {
        MT_TRY(make_step(db, path, version, err));
        MT_TRY(read_version_alone(db, path, &version, err));
    }
done:
    return st;
}
