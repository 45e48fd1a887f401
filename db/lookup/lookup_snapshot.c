/* tunelookup_snapshot_id: one hash of all that a find may depend on. It is of contents, never of paths, times of files or pages, so that copies of one file agree wherever they lie, and whatever of
 * it waits in a -wal. */
#include "db/lookup/lookup_pin.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What the other files of db/lookup/ read, a query a table. Of what only sessions and reports read (who measured, when, how long it took) nothing; of
 * when a row was renewed only what order it makes (add_order). */
static const char *const contents[] = {
    "SELECT id, key FROM device ORDER BY id",
    "SELECT id, name, key, spec_json FROM kernel ORDER BY id",
    "SELECT id, kernel_id, key, name FROM shape ORDER BY id",
    "SELECT id, kernel_id, key, name FROM workload ORDER BY id",
    "SELECT id, nvrtc_version, driver_version, arch FROM toolchain ORDER BY id",
    "SELECT id, kernel_id, text FROM variant ORDER BY id",
    "SELECT id, device_id, kernel_id, shape_id, workload_id, regime, origin FROM subject ORDER BY id",
    "SELECT id, subject_id, variant_id, toolchain_id, outcome, median_ns, low_ns, high_ns, norm_error, cubin_hash FROM measurement ORDER BY id",
    "SELECT device_id, shape_id, variant_id, origin, cause, lifted FROM strike ORDER BY id",
    "SELECT kernel_id, device_id, subject_id, origin, regime, workload_id, shape_key, shape_name, measurement_id, variant_id, toolchain_id, median_ns, low_ns, high_ns, norm_error, created_unix_ms, cubin_hash, "
    "carveouts FROM answer ORDER BY kernel_id, device_id, subject_id",
    "SELECT subject_id, measurement_id, final_id FROM best ORDER BY subject_id",
    "SELECT id, subject_id FROM final_round ORDER BY id",
    "SELECT final_id, measurement_id, median_ns, picked FROM finalist ORDER BY final_id, measurement_id",
    "SELECT id, kernel_id, device_id, regime, origin, is_asked, max_count, within, worst, unserved_count, is_exact, held_out_count, held_out_mean, held_out_worst, rule_json, cells FROM portfolio ORDER BY id",
    "SELECT * FROM portfolio_shape ORDER BY portfolio_id, subject_id",
    "SELECT * FROM portfolio_variant ORDER BY portfolio_id, variant_id",
    "SELECT c.* FROM portfolio p CROSS JOIN portfolio_cell c ON c.portfolio_id = p.id WHERE p.cells IS NULL ORDER BY c.portfolio_id, c.subject_id, c.variant_id", /* else cells has them */
    "SELECT hash, encoding FROM cubin ORDER BY hash",
};

/* What classes of equal bits are made of, which files of schemas before 11 lack. */
static const char fingerprints[] = "SELECT id, bits, row_bits FROM measurement WHERE bits IS NOT NULL ORDER BY id";

static void add_number(XXH3_state_t *state, int64_t number)
{
    XXH3_128bits_update(state, &number, sizeof number);
}

/* A value's bytes behind its type and length, so that no two rows look alike. */
static void add_value(XXH3_state_t *state, sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    add_number(state, type);
    if (type == SQLITE_INTEGER) {
        add_number(state, sqlite3_column_int64(statement, column));
    } else if (type == SQLITE_FLOAT) {
        double real = sqlite3_column_double(statement, column);
        XXH3_128bits_update(state, &real, sizeof real);
    } else if (type != SQLITE_NULL) {
        const void *bytes = sqlite3_column_blob(statement, column);
        int length = sqlite3_column_bytes(statement, column);
        add_number(state, length);
        if (bytes && length) XXH3_128bits_update(state, bytes, (size_t)length);
    }
}

static tunelookup_status add_rows(XXH3_state_t *state, sqlite3 *db, const char *path, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t rows = 0;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) add_value(state, statement, i);
        rows++;
    }
    code = sqlite3_finalize(statement) == SQLITE_OK ? code : SQLITE_ERROR;
    add_number(state, rows);
    return code == SQLITE_OK ? TUNELOOKUP_OK : mt_lookup_sqlite_fail(db, path);
}

/* ---- which source of a kernel is the newest ---- */

/* When a kernel's source was last tuned, for a GPU and at all. Of several sources of one kernel the newest answers (lookup_answers.c), and tuning one again renews its time even where nothing is
 * measured: so their order counts, over all files, and no time. */
static const char renewals_sql[] =
    "SELECT k.name || ' ' || d.key, k.key, max(a.updated_unix_ms) FROM answer a JOIN kernel k ON k.id = a.kernel_id JOIN device d ON d.id = a.device_id GROUP BY a.kernel_id, a.device_id UNION ALL "
    "SELECT k.name, k.key, max(a.updated_unix_ms) FROM answer a JOIN kernel k ON k.id = a.kernel_id GROUP BY a.kernel_id";

typedef struct renewal {
    XXH64_hash_t kernel, key; /* hashes of the texts */
    int64_t at;
    size_t place;             /* of two at one time the first is the newer */
} renewal;

typedef struct renewals {
    renewal *items;
    size_t count, capacity;
} renewals;

static XXH64_hash_t hash_of(sqlite3_stmt *statement, int column)
{
    const void *text = sqlite3_column_blob(statement, column);
    return XXH3_64bits(text ? text : "", (size_t)sqlite3_column_bytes(statement, column));
}

static bool add_renewal(renewals *all, sqlite3_stmt *statement)
{
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 64;
        renewal *grown = realloc(all->items, capacity * sizeof *grown);
        if (!grown) return false;
        all->items = grown;
        all->capacity = capacity;
    }
    all->items[all->count] = (renewal){ hash_of(statement, 0), hash_of(statement, 1), sqlite3_column_int64(statement, 2), all->count };
    all->count++;
    return true;
}

static tunelookup_status read_renewals(renewals *all, sqlite3 *db, const char *path)
{
    sqlite3_stmt *statement = NULL;
    bool is_kept = true;
    int code = sqlite3_prepare_v2(db, renewals_sql, -1, &statement, NULL);
    while (code == SQLITE_OK && is_kept && sqlite3_step(statement) == SQLITE_ROW) is_kept = add_renewal(all, statement);
    code = sqlite3_finalize(statement) == SQLITE_OK ? code : SQLITE_ERROR;
    if (!is_kept) return mt_lookup_no_memory();
    return code == SQLITE_OK ? TUNELOOKUP_OK : mt_lookup_sqlite_fail(db, path);
}

static int by_order(const void *a, const void *b)
{
    const renewal *x = a, *y = b;
    if (x->kernel != y->kernel) return x->kernel < y->kernel ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->place < y->place) - (x->place > y->place);
}

static void add_order(XXH3_state_t *state, renewals *all)
{
    if (all->count) qsort(all->items, all->count, sizeof *all->items, by_order);
    for (size_t i = 0; i < all->count; i++) {
        add_number(state, (int64_t)all->items[i].kernel);
        add_number(state, (int64_t)all->items[i].key);
    }
}

/* ---- the whole ---- */

static tunelookup_status check_stamps(const tunelookup_db *db)
{
    for (size_t i = 0; i < db->file_count; i++) {
        mt_lookup_stamp now = mt_lookup_stamp_of(db->files[i].path);
        if (!mt_lookup_stamp_equal(&now, &db->files[i].stamp)) return mt_lookup_fail(TUNELOOKUP_ERR_IO, "%s: changed since it was opened or refreshed; tunelookup_refresh reads it again", db->files[i].path);
    }
    return TUNELOOKUP_OK;
}

/* A pack says itself what is in it, and as the only file also which source is the newest. */
static tunelookup_status add_session(XXH3_state_t *state, renewals *order, const mt_lookup_file *file, const mt_lookup_session *session)
{
    tunelookup_status st = TUNELOOKUP_OK;
    add_number(state, file->is_shipped);
    if (session->is_pack) XXH3_128bits_update(state, session->contents, sizeof session->contents);
    for (size_t i = 0; !session->is_pack && i < sizeof contents / sizeof *contents; i++) LOOKUP_TRY(add_rows(state, session->db, file->path, contents[i]));
    if (!session->is_pack && sqlite3_table_column_metadata(session->db, "main", "measurement", "row_bits", NULL, NULL, NULL, NULL, NULL) == SQLITE_OK) LOOKUP_TRY(add_rows(state, session->db, file->path, fingerprints));
    if (session->db) LOOKUP_TRY(read_renewals(order, session->db, file->path));
    st = mt_lookup_sqlite_confirm(file, session);
done:
    return st;
}

/* A file that answers nothing, because it is missing or left out, counts for nothing; one that can't be read just now is an error. */
static tunelookup_status add_file(XXH3_state_t *state, renewals *order, const mt_lookup_file *file, bool is_alone)
{
    mt_lookup_session session;
    tunelookup_status st = is_alone && mt_pack_is_name(file->path) ? mt_lookup_sqlite_try(file, &session) : mt_lookup_sqlite_open(file, &session);
    if (st != TUNELOOKUP_ERR_IO && mt_lookup_is_of_file(st)) {
        mt_lookup_clear_detail();
        return TUNELOOKUP_OK;
    }
    if (st == TUNELOOKUP_OK && (session.db || session.is_pack)) st = add_session(state, order, file, &session);
    mt_lookup_sqlite_close(&session);
    return st;
}

tunelookup_status mt_lookup_snapshot_of(const tunelookup_db *db, mt_lookup_source *sources, char id[TUNELOOKUP_SNAPSHOT_ID])
{
    tunelookup_status st = TUNELOOKUP_OK;
    XXH3_state_t state;
    XXH128_canonical_t digest;
    renewals order = { 0 };
    XXH3_128bits_reset(&state);
    add_number(&state, 10000 * TUNELOOKUP_VERSION_MAJOR + 100 * TUNELOOKUP_VERSION_MINOR + TUNELOOKUP_VERSION_PATCH); /* another library may answer otherwise */
    add_number(&state, db->flags & (TUNELOOKUP_RECORDED | TUNELOOKUP_USER_CUBINS));
    for (size_t i = 0; i < db->file_count; i++) {
        bool is_open = sources && sources[i].session.db;
        LOOKUP_TRY(is_open ? add_session(&state, &order, &db->files[i], &sources[i].session) : add_file(&state, &order, &db->files[i], db->file_count == 1));
    }
    if (db->file_count > 1 || !mt_pack_is_name(db->files[0].path)) add_order(&state, &order);
    XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&state));
    mt_lookup_hex(digest.digest, id);
done:
    free(order.items);
    return st;
}

tunelookup_status tunelookup_snapshot_id(tunelookup_db *db, char id[TUNELOOKUP_SNAPSHOT_ID])
{
    mt_lookup_clear_detail();
    if (!db || !id) return mt_lookup_fail(TUNELOOKUP_ERR_ARGUMENT, "db or id is NULL");
    *id = '\0';
    if (*db->pin) {
        memcpy(id, db->pin, sizeof db->pin);
        return TUNELOOKUP_OK;
    }
    tunelookup_status st = check_stamps(db);
    if (st == TUNELOOKUP_OK) st = mt_lookup_snapshot_of(db, NULL, id);
    if (st == TUNELOOKUP_OK) st = check_stamps(db);
    if (st != TUNELOOKUP_OK) *id = '\0';
    return st;
}
