/* Find-or-insert of the rows that measurements refer to, and sessions. */
#include <unistd.h>

#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"

/* Most calls find their row: reading first keeps them from taking the write lock. */
static mt_status find_row(mt_store *store, const char *literal, int64_t number, const char *a, const char *b, int64_t *id, mt_error *err)
{
    sqlite3_stmt *statement;
    mt_status st = mt_sql_cached_get(store, literal, &statement, err);
    if (st != MT_OK) return st;
    mt_sql_args args = mt_sql_args_of(statement);
    if (number) mt_sql_int(&args, number);
    mt_sql_text(&args, a);
    if (b) mt_sql_text(&args, b);
    return mt_sql_value(store, &args, 0, id, "look up a row", err);
}

mt_status mt_store_device(mt_store *store, const mt_device_row *row, int64_t *id, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, "INSERT INTO main.device (key, name, facts_json) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                           "name = excluded.name, facts_json = excluded.facts_json "
                           "WHERE excluded.facts_json NOT IN ('{}', facts_json) OR name <> excluded.name", &statement, err);
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_text(&args, row->key);
        mt_sql_text_or(&args, row->name, "");
        mt_sql_text_or(&args, row->facts_json, "{}");
        st = mt_sql_run(store, &args, "store a device", err);
    }
    if (st == MT_OK) st = find_row(store, "SELECT id FROM main.device WHERE key = ?", 0, row->key, NULL, id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_kernel(mt_store *store, const mt_kernel_row *row, int64_t *id, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    /* The .ini's programs can change while the source does not: the newest are kept. */
    st = mt_sql_cached_get(store, "INSERT INTO main.kernel (name, key, spec_json) VALUES (?1, ?2, ?3) ON CONFLICT (name, key) DO UPDATE SET "
                           "spec_json = excluded.spec_json WHERE excluded.spec_json NOT IN ('{}', spec_json) AND (?4 = 0 OR spec_json = '{}')", &statement, err);
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_text(&args, row->name);
        mt_sql_text(&args, row->key);
        mt_sql_text_or(&args, row->spec_json, "{}");
        mt_sql_int(&args, row->keeps_spec);
        st = mt_sql_run(store, &args, "store a kernel", err);
    }
    if (st == MT_OK) st = find_row(store, "SELECT id FROM main.kernel WHERE name = ? AND key = ?", 0, row->name, row->key, id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* Shapes and workloads: a new name for known values is a renaming. */
static mt_status named_row(mt_store *store, const char *insert, const char *find, int64_t kernel, const mt_shape_row *row, int64_t *id,
                           mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, insert, &statement, err);
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_int(&args, kernel);
        mt_sql_text(&args, row->key);
        mt_sql_text_or(&args, row->name, "");
        st = mt_sql_run(store, &args, "store a shape or workload", err);
    }
    if (st == MT_OK) st = find_row(store, find, kernel, row->key, NULL, id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_shape(mt_store *store, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err)
{
    return named_row(store, "INSERT INTO main.shape (kernel_id, key, name) VALUES (?, ?, ?) ON CONFLICT (kernel_id, key) DO UPDATE SET "
                     "name = excluded.name WHERE name <> excluded.name",
                     "SELECT id FROM main.shape WHERE kernel_id = ? AND key = ?", kernel, row, id, err);
}

mt_status mt_store_workload(mt_store *store, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err)
{
    return named_row(store, "INSERT INTO main.workload (kernel_id, key, name) VALUES (?, ?, ?) ON CONFLICT (kernel_id, key) DO UPDATE SET "
                     "name = excluded.name WHERE name <> excluded.name",
                     "SELECT id FROM main.workload WHERE kernel_id = ? AND key = ?", kernel, row, id, err);
}

mt_status mt_store_toolchain(mt_store *store, const mt_toolchain_row *row, int64_t *id, mt_error *err)
{
    static const char insert[] = "INSERT OR IGNORE INTO main.toolchain (nvrtc_version, driver_version, arch) VALUES (?, ?, ?)";
    static const char find[] = "SELECT id FROM main.toolchain WHERE nvrtc_version = ? AND driver_version = ? AND arch = ?";
    mt_status st;
    *id = 0;
    MT_TRY(mt_tx_begin(store, err));
    for (int pass = 0; pass < 2 && st == MT_OK; pass++) {
        sqlite3_stmt *statement;
        st = mt_sql_cached_get(store, pass ? find : insert, &statement, err);
        if (st != MT_OK) break;
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_int(&args, row->nvrtc_version);
        mt_sql_int(&args, row->driver_version);
        mt_sql_text_or(&args, row->arch, "");
        st = mt_sql_value(store, &args, 0, id, "store a toolchain", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* --- subjects and variants ---------------------------------------------------------------------------------------------------------- */

static bool same_subject(const mt_subject *a, const mt_subject *b)
{
    return a->device == b->device && a->kernel == b->kernel && a->shape == b->shape && a->workload == b->workload &&
           a->l2 == b->l2 && a->origin == b->origin;
}

mt_status mt_subject_find(mt_store *store, const mt_subject *subject, int64_t *id, mt_error *err)
{
    static const char sql[] = "SELECT id FROM main.subject WHERE device_id = ? AND shape_id = ? AND workload_id = ? AND regime = ? AND origin = ?";
    if (store->subject_id && same_subject(&store->subject, subject)) {
        *id = store->subject_id;
        return MT_OK;
    }
    mt_status st = mt_sql_one(store, sql, "look up a subject", MT_IN(MT_INT(subject->device), MT_INT(subject->shape), MT_INT(subject->workload), MT_TEXT(mt_l2_name(subject->l2)),
                              MT_TEXT(mt_origin_name(subject->origin))), MT_OUT(MT_TO_INT(id)), err);
    if (st != MT_OK) return st;
    store->subject = *subject;
    store->subject_id = *id;
    return MT_OK;
}

mt_status mt_subject_id(mt_store *store, const mt_subject *subject, int64_t *id, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(mt_subject_find(store, subject, id, err));
    if (*id) goto done;
    MT_TRY(mt_sql_cached_get(store, "INSERT INTO main.subject (device_id, kernel_id, shape_id, workload_id, regime, origin) "
                             "VALUES (?, ?, ?, ?, ?, ?)", &statement, err));
    mt_row_values noted;
    mt_sql_args args = mt_sql_args_row(statement, &noted);
    mt_sql_int(&args, subject->device);
    mt_sql_int(&args, subject->kernel);
    mt_sql_int(&args, subject->shape);
    mt_sql_int(&args, subject->workload);
    mt_sql_text(&args, mt_l2_name(subject->l2));
    mt_sql_text(&args, mt_origin_name(subject->origin));
    MT_TRY(mt_sql_run(store, &args, "store a subject", err));
    *id = sqlite3_last_insert_rowid(store->db);
    store->subject = *subject;
    store->subject_id = *id;
done:
    return st;
}

mt_status mt_variant_id(mt_store *store, int64_t kernel, const char *text, int64_t *id, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(find_row(store, "SELECT id FROM main.variant WHERE kernel_id = ? AND text = ?", kernel, text, NULL, id, err));
    if (*id) goto done;
    MT_TRY(mt_sql_cached_get(store, "INSERT INTO main.variant (kernel_id, text) VALUES (?, ?)", &statement, err));
    mt_row_values noted;
    mt_sql_args args = mt_sql_args_row(statement, &noted);
    mt_sql_int(&args, kernel);
    mt_sql_text(&args, text);
    MT_TRY(mt_sql_run(store, &args, "store a variant", err));
    *id = sqlite3_last_insert_rowid(store->db);
done:
    return st;
}

/* --- sessions ----------------------------------------------------------------------------------------------------------------------- */

mt_status mt_store_session_begin(mt_store *store, const mt_session_row *row, int64_t *id, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    if (row->host && *row->host) { /* settling intents compares with it */
        char *host = mt_strdup(row->host);
        if (!host) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", store->path);
        mt_free(store->host);
        store->host = host;
    }
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, "INSERT INTO main.session (command, host, boot_id, process_id, tool_version, strategy, space_path, seed, "
                           "origin, started_unix_ms, job, plan, headers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &statement, err);
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_text_or(&args, row->command, "");
        mt_sql_text(&args, store->host);
        mt_sql_text_or(&args, row->boot_id, "");
        mt_sql_int(&args, getpid());
        mt_sql_text_or(&args, row->tool_version, "");
        mt_sql_text_or(&args, row->strategy, "");
        mt_sql_text_or(&args, row->space_path, "");
        mt_sql_int(&args, row->seed);
        mt_sql_text(&args, mt_origin_name(row->origin));
        mt_sql_int(&args, mt_clock_unix_ms());
        mt_sql_text(&args, row->job);
        mt_sql_text(&args, row->plan);
        mt_sql_text(&args, row->headers);
        st = mt_sql_run(store, &args, "begin a session", err);
        *id = sqlite3_last_insert_rowid(store->db);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_session_end(mt_store *store, int64_t session, const mt_session_end_row *row, mt_error *err)
{
    mt_status st;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_cached_get(store, "UPDATE main.session SET ended_unix_ms = max(?, started_unix_ms), state = ?, worker_restarts = ?, evaluated = ?, known = ?, "
                           "failed = ?, truncated = ?, times_json = ?, warnings = ?, drift = ? WHERE id = ?", &statement, err);
    if (st == MT_OK) {
        mt_sql_args args = mt_sql_args_of(statement);
        mt_sql_int(&args, mt_clock_unix_ms());
        mt_sql_text_or(&args, row->state, "done");
        mt_sql_int(&args, row->worker_restarts);
        mt_sql_int(&args, row->evaluated);
        mt_sql_int(&args, row->known);
        mt_sql_int(&args, row->failed);
        mt_sql_int(&args, row->is_truncated);
        mt_sql_text(&args, row->times_json);
        mt_sql_text(&args, row->warnings);
        mt_sql_real(&args, row->drift);
        mt_sql_int(&args, session);
        st = mt_sql_run(store, &args, "end a session", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_pruned(mt_store *store, int64_t session, const mt_subject *subject, const char *constraint, const char *why, int64_t count,
                          mt_error *err)
{
    mt_status st;
    int64_t subject_id;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_subject_id(store, subject, &subject_id, err);
    if (st == MT_OK) {
        st = mt_sql_cached_get(store, "INSERT OR REPLACE INTO main.pruned (session_id, subject_id, constraint_name, why, point_count) "
                               "VALUES (?, ?, ?, ?, ?)", &statement, err);
    }
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_int(&args, session);
        mt_sql_int(&args, subject_id);
        mt_sql_text(&args, constraint);
        mt_sql_text(&args, why);
        mt_sql_int(&args, count);
        st = mt_sql_run(store, &args, "store a constraint's count", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_comparison_point(mt_store *store, const mt_subject *subject, const char *role, const char *variant, mt_error *err)
{
    mt_status st;
    int64_t subject_id, variant_id = 0;
    sqlite3_stmt *statement;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_subject_id(store, subject, &subject_id, err);
    if (st == MT_OK && variant) st = mt_variant_id(store, subject->kernel, variant, &variant_id, err);
    if (st == MT_OK) {
        st = mt_sql_cached_get(store, variant ? "INSERT OR REPLACE INTO main.landmark (subject_id, role, variant_id) VALUES (?1, ?2, ?3)"
                                              : "DELETE FROM main.landmark WHERE subject_id = ?1 AND role = ?2", &statement, err);
    }
    if (st == MT_OK) {
        mt_row_values noted;
        mt_sql_args args = mt_sql_args_row(statement, &noted);
        mt_sql_int(&args, subject_id);
        mt_sql_text(&args, role);
        if (variant) mt_sql_int(&args, variant_id);
        st = mt_sql_run(store, &args, "store what is compared with", err);
    }
    st = mt_tx_end(store, st, err);
done:
    return st;
}
