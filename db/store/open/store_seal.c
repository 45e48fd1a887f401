/* Making a database one that is handed on. */
#include <string.h>

#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"

/* Who imported a file, where and when is nobody's business who gets the database, and equal files are to make equal databases. What is kept: the file's name, and as the
 * time that of its newest row. */
static const char forget_imports[] =
    "UPDATE main.session SET host = '', boot_id = '', process_id = 0, space_path = replace(space_path, rtrim(space_path, replace(space_path, '/', '')), ''), "
    "started_unix_ms = ifnull((SELECT max(created_unix_ms) FROM measurement WHERE session_id = session.id), 0), "
    "ended_unix_ms = ifnull((SELECT max(created_unix_ms) FROM measurement WHERE session_id = session.id), 0) WHERE command = 'import'; "
    "UPDATE main.best SET updated_unix_ms = (SELECT created_unix_ms FROM measurement WHERE id = measurement_id) "
    "WHERE measurement_id IN (SELECT m.id FROM measurement m JOIN session s ON s.id = m.session_id WHERE s.command = 'import'); "
    "UPDATE main.answer SET updated_unix_ms = created_unix_ms WHERE measurement_id IN (SELECT m.id FROM measurement m JOIN session s ON s.id = m.session_id WHERE s.command = 'import')";

mt_status mt_store_seal(mt_store *store, mt_error *err)
{
    mt_status st;
    char *mode = NULL;
    MT_TRY(mt_sql_exec(store, forget_imports, err));
    MT_TRY(mt_sql_exec(store, "PRAGMA optimize", err));
    MT_TRY(mt_sql_exec(store, "PRAGMA temp_store = FILE; VACUUM", err)); /* else what was overwritten still stands between the rows; the copy is as large as the database */
    MT_TRY(mt_sql_one(store, "PRAGMA journal_mode = DELETE", "seal", MT_NO_IN, MT_OUT(MT_TO_TEXT(&mode)), err));
    if (!mode || strcmp(mode, "delete") != 0) st = MT_FAIL(err, MT_ERR_DB, "%s: stays in journal mode %s, expected delete", store->path, mode ? mode : "(none)");
done:
    mt_free(mode);
    return st;
}
