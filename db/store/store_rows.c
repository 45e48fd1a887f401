/* Find-or-insert of the rows that measurements refer to, and sessions. */
#include <math.h>
#include <unistd.h>

#include "db/store/row_scan.h"
#include "db/store/store_internal.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* A row that is left out is written anew, whatever it held. */
static mt_status mend(mt_store *store, const char *table, int64_t id, const char *sql, const mt_sql_in *in, mt_error *err)
{
    bool is;
    mt_status st = mt_row_is_left_out(store, table, id, &is, err);
    if (st == MT_OK && is) st = mt_sql_do(store, sql, "mend a row", in, err);
    return st == MT_OK ? mt_row_mended(store, table, id, err) : st;
}

mt_status mt_store_device(mt_store *store, const mt_device_row *row, int64_t *id, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.device (key, name, facts_json) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET name = excluded.name, facts_json = excluded.facts_json "
                              "WHERE excluded.facts_json NOT IN ('{}', facts_json) OR name <> excluded.name";
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "store a device", MT_IN(MT_TEXT(row->key), MT_TEXT(or_empty(row->name)), MT_TEXT(row->facts_json ? row->facts_json : "{}")), err);
    if (st == MT_OK) st = mt_sql_one(store, "SELECT id FROM main.device WHERE key = ?", "look up a device", MT_IN(MT_TEXT(row->key)), MT_OUT(MT_TO_INT(id)), err);
    if (st == MT_OK) st = mend(store, "device", *id, "UPDATE main.device SET name = ?, facts_json = ? WHERE id = ?", MT_IN(MT_TEXT(or_empty(row->name)), MT_TEXT(row->facts_json ? row->facts_json : "{}"), MT_INT(*id)), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_kernel(mt_store *store, const mt_kernel_row *row, int64_t *id, mt_error *err)
{
    /* The .ini's programs can change while the source does not: the newest are kept. */
    static const char sql[] = "INSERT INTO main.kernel (name, key, spec_json) VALUES (?1, ?2, ?3) ON CONFLICT (name, key) DO UPDATE SET spec_json = excluded.spec_json "
                              "WHERE excluded.spec_json NOT IN ('{}', spec_json) AND (?4 = 0 OR spec_json = '{}')";
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "store a kernel", MT_IN(MT_TEXT(row->name), MT_TEXT(row->key), MT_TEXT(row->spec_json ? row->spec_json : "{}"), MT_INT(row->keeps_spec)), err);
    if (st == MT_OK) st = mt_sql_one(store, "SELECT id FROM main.kernel WHERE name = ? AND key = ?", "look up a kernel", MT_IN(MT_TEXT(row->name), MT_TEXT(row->key)), MT_OUT(MT_TO_INT(id)), err);
    if (st == MT_OK) st = mend(store, "kernel", *id, "UPDATE main.kernel SET spec_json = ? WHERE id = ?", MT_IN(MT_TEXT(row->spec_json ? row->spec_json : "{}"), MT_INT(*id)), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* Shapes and workloads: a new name for known values is a renaming. */
static mt_status named_row(mt_store *store, const char *table, const char *insert, const char *find, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, insert, "store a shape or workload", MT_IN(MT_INT(kernel), MT_TEXT(row->key), MT_TEXT(or_empty(row->name))), err);
    if (st == MT_OK) st = mt_sql_one(store, find, "look up a shape or workload", MT_IN(MT_INT(kernel), MT_TEXT(row->key)), MT_OUT(MT_TO_INT(id)), err);
    if (st == MT_OK) st = mt_row_mended(store, table, *id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_shape(mt_store *store, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err)
{
    return named_row(store, "shape", "INSERT INTO main.shape (kernel_id, key, name) VALUES (?, ?, ?) ON CONFLICT (kernel_id, key) DO UPDATE SET "
                     "name = excluded.name WHERE name <> excluded.name",
                     "SELECT id FROM main.shape WHERE kernel_id = ? AND key = ?", kernel, row, id, err);
}

mt_status mt_store_workload(mt_store *store, int64_t kernel, const mt_shape_row *row, int64_t *id, mt_error *err)
{
    return named_row(store, "workload", "INSERT INTO main.workload (kernel_id, key, name) VALUES (?, ?, ?) ON CONFLICT (kernel_id, key) DO UPDATE SET "
                     "name = excluded.name WHERE name <> excluded.name",
                     "SELECT id FROM main.workload WHERE kernel_id = ? AND key = ?", kernel, row, id, err);
}

mt_status mt_store_toolchain(mt_store *store, const mt_toolchain_row *row, int64_t *id, mt_error *err)
{
    static const char insert[] = "INSERT OR IGNORE INTO main.toolchain (nvrtc_version, driver_version, arch) VALUES (?, ?, ?)";
    static const char find[] = "SELECT id FROM main.toolchain WHERE nvrtc_version = ? AND driver_version = ? AND arch = ?";
    const mt_sql_in *in = MT_IN(MT_INT(row->nvrtc_version), MT_INT(row->driver_version), MT_TEXT(or_empty(row->arch)));
    mt_status st;
    *id = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, insert, "store a toolchain", in, err);
    if (st == MT_OK) st = mt_sql_one(store, find, "look up a toolchain", in, MT_OUT(MT_TO_INT(id)), err);
    if (st == MT_OK) st = mt_row_mended(store, "toolchain", *id, err);
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
    static const char sql[] = "INSERT INTO main.subject (device_id, kernel_id, shape_id, workload_id, regime, origin) VALUES (?, ?, ?, ?, ?, ?)";
    mt_status st;
    MT_TRY(mt_subject_find(store, subject, id, err));
    if (*id) st = mend(store, "subject", *id, "UPDATE main.subject SET kernel_id = ? WHERE id = ?", MT_IN(MT_INT(subject->kernel), MT_INT(*id)), err); /* all else is what it is known by */
    if (*id) goto done;
    MT_TRY(mt_sql_do(store, sql, "store a subject", MT_IN(MT_INT(subject->device), MT_INT(subject->kernel), MT_INT(subject->shape), MT_INT(subject->workload),
                     MT_TEXT(mt_l2_name(subject->l2)), MT_TEXT(mt_origin_name(subject->origin))), err));
    *id = sqlite3_last_insert_rowid(store->db);
    store->subject = *subject;
    store->subject_id = *id;
done:
    return st;
}

mt_status mt_variant_id(mt_store *store, int64_t kernel, const char *text, int64_t *id, mt_error *err)
{
    const mt_sql_in *in = MT_IN(MT_INT(kernel), MT_TEXT(text));
    mt_status st;
    MT_TRY(mt_sql_one(store, "SELECT id FROM main.variant WHERE kernel_id = ? AND text = ?", "look up a variant", in, MT_OUT(MT_TO_INT(id)), err));
    if (*id) goto done;
    MT_TRY(mt_sql_do(store, "INSERT INTO main.variant (kernel_id, text) VALUES (?, ?)", "store a variant", in, err));
    *id = sqlite3_last_insert_rowid(store->db);
done:
    return st;
}

/* --- sessions ----------------------------------------------------------------------------------------------------------------------- */

mt_status mt_store_session_begin(mt_store *store, const mt_session_row *row, int64_t *id, mt_error *err)
{
    static const char sql[] = "INSERT INTO main.session (command, host, boot_id, process_id, tool_version, strategy, space_path, seed, origin, started_unix_ms, job, plan, headers) "
                              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    mt_status st;
    if (row->host && *row->host) { /* settling intents compares with it */
        char *host = mt_strdup(row->host);
        if (!host) return MT_FAIL(err, MT_ERR_NO_MEMORY, "%s: out of memory", store->path);
        mt_free(store->host);
        store->host = host;
    }
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "begin a session", MT_IN(MT_NOTE(or_empty(row->command)), MT_TEXT(store->host), MT_TEXT(or_empty(row->boot_id)), MT_INT(getpid()), MT_TEXT(or_empty(row->tool_version)),
                   MT_TEXT(or_empty(row->strategy)), MT_TEXT(or_empty(row->space_path)), MT_INT(row->seed), MT_TEXT(mt_origin_name(row->origin)), MT_INT(mt_clock_unix_ms()), MT_TEXT(row->job),
                   MT_TEXT(row->plan), MT_TEXT(row->headers)), err);
    *id = sqlite3_last_insert_rowid(store->db);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_session_end(mt_store *store, int64_t session, const mt_session_end_row *row, mt_error *err)
{
    static const char sql[] = "UPDATE main.session SET ended_unix_ms = max(?, started_unix_ms), state = ?, worker_restarts = ?, evaluated = ?, known = ?, failed = ?, truncated = ?, times_json = ?, "
                              "warnings = ?, drift = ? WHERE id = ?";
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_do(store, sql, "end a session", MT_IN(MT_INT(mt_clock_unix_ms()), MT_TEXT(row->state ? row->state : "done"), MT_INT(row->worker_restarts), MT_INT(row->evaluated), MT_INT(row->known),
                   MT_INT(row->failed), MT_INT(row->is_truncated), MT_TEXT(row->times_json), MT_NOTE(row->warnings), MT_REAL(row->drift), MT_INT(session)), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_pruned(mt_store *store, int64_t session, const mt_subject *subject, const char *constraint, const char *why, int64_t count,
                          mt_error *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO main.pruned (session_id, subject_id, constraint_name, why, point_count) VALUES (?, ?, ?, ?, ?)";
    mt_status st;
    int64_t subject_id;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_subject_id(store, subject, &subject_id, err);
    if (st == MT_OK) st = mt_sql_do(store, sql, "store a constraint's count", MT_IN(MT_INT(session), MT_INT(subject_id), MT_TEXT(constraint), MT_TEXT(why), MT_INT(count)), err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_comparison_point(mt_store *store, const mt_subject *subject, const char *role, const char *variant, mt_error *err)
{
    static const char insert[] = "INSERT OR REPLACE INTO main.landmark (subject_id, role, variant_id) VALUES (?, ?, ?)", remove[] = "DELETE FROM main.landmark WHERE subject_id = ? AND role = ?";
    static const char what[] = "store what is compared with";
    mt_status st;
    int64_t subject_id, variant_id = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_subject_id(store, subject, &subject_id, err);
    if (st == MT_OK && variant) st = mt_variant_id(store, subject->kernel, variant, &variant_id, err);
    if (st == MT_OK) st = variant ? mt_sql_do(store, insert, what, MT_IN(MT_INT(subject_id), MT_TEXT(role), MT_INT(variant_id)), err)
                                  : mt_sql_do(store, remove, what, MT_IN(MT_INT(subject_id), MT_TEXT(role)), err);
    if (st == MT_OK && store->has_left_out) st = mt_sql_do(store, "DELETE FROM main.landmark WHERE subject_id = ? AND (role NOT IN ('default', 'baseline') OR variant_id NOT IN (SELECT id FROM variant))", what, MT_IN(MT_INT(subject_id)), err);
    if (st == MT_OK && variant) st = mt_row_mended(store, "landmark", subject_id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_set_error_limit(mt_store *store, const mt_subject *subject, const mt_limit *limit, mt_error *err)
{
    static const char insert[] = "INSERT OR REPLACE INTO main.error_limit (subject_id, max_error) VALUES (?, ?)", remove[] = "DELETE FROM main.error_limit WHERE subject_id = ?", what[] = "store the limit of errors";
    mt_status st;
    int64_t id;
    MT_TRY(mt_tx_begin(store, err));
    st = mt_subject_id(store, subject, &id, err);
    if (st == MT_OK) st = limit->is_given ? mt_sql_do(store, insert, what, MT_IN(MT_INT(id), MT_REAL(limit->most)), err) : mt_sql_do(store, remove, what, MT_IN(MT_INT(id)), err);
    if (st == MT_OK && limit->is_given) st = mt_row_mended(store, "error_limit", id, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_error_limit(mt_store *store, const mt_subject *subject, mt_limit *limit, mt_error *err)
{
    int64_t id = 0;
    *limit = (mt_limit){NAN, false};
    mt_status st = mt_subject_find(store, subject, &id, err);
    if (st == MT_OK && id) st = mt_sql_one(store, "SELECT max_error FROM error_limit WHERE subject_id = ?", "read the limit of errors", MT_IN(MT_INT(id)), MT_OUT(MT_TO_REAL(&limit->most)), err);
    limit->is_given = !isnan(limit->most);
    return st;
}
