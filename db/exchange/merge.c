/* Files into one, part by part. Two handles: a part is a stranger's file, and stays apart from the one that is written. */
#include "db/exchange/merge.h"

#include "db/exchange/merge_internal.h"
#include "db/exchange/said.h"
#include "db/store/current.h"
#include "db/store/row_scan.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"

enum {
    PATIENCE_MS = 30 * 60 * 1000, /* another merge may have much to put in order */
    COMMIT_AFTER_MS = 500,        /* of merging: small parts share a transaction, since each commit waits for the disk */
    LARGE_BYTES = 4 << 20         /* a part of this size has one of its own, which is undone without further notes */
};

/* What the tuner never asks for, and merging for each part: a session by when it began, a final by its session, a shape by its name. Without them a part would cost a look at those of all parts before it. */
static const char set_up[] =
    "CREATE INDEX IF NOT EXISTS main.session_by_start ON session (started_unix_ms, process_id); CREATE INDEX IF NOT EXISTS main.final_round_by_session ON final_round (session_id, subject_id); "
    "CREATE INDEX IF NOT EXISTS main.shape_by_name ON shape (kernel_id, name); "
    "CREATE TEMP TABLE IF NOT EXISTS merge_landmark (subject_id INTEGER, role TEXT, variant_id INTEGER, PRIMARY KEY (subject_id, role, variant_id)) WITHOUT ROWID";

mt_status mt_merge_begin(mt_store *store, const mt_merge_options *options, mt_merge **merge, mt_error *err)
{
    mt_status st;
    mt_merge *m = mt_alloc(1, sizeof *m);
    *merge = NULL;
    if (!m) return mt_merge_no_memory(store->path, err);
    m->store = store;
    m->options = *options;
    sqlite3_busy_timeout(store->db, PATIENCE_MS);
    MT_TRY(mt_sql_exec(store, "PRAGMA temp_store = FILE", err)); /* what winners are chosen from, of a subject with a million variants, and what undoes a part */
    if (store->has_left_out) MT_TRY(mt_row_scan_again(store, err));
    MT_TRY(mt_said_functions(store->db, store->path, err));
    MT_TRY(mt_tx_begin(store, err));
    st = mt_sql_exec(store, set_up, err);
    MT_TRY(mt_tx_end(store, st, err));
    for (size_t i = 0; i < mt_merge_rule_count; i++) MT_TRY(mt_merge_table_prepare(m, i, err));
    *merge = m;
    m = NULL;
done:
    mt_merge_end(m);
    return st;
}

void mt_merge_end(mt_merge *merge)
{
    if (!merge) return;
    for (size_t i = 0; i < mt_merge_rule_count; i++) mt_merge_table_free(&merge->tables[i]);
    if (merge->is_open && merge->store->depth) mt_store_rollback(merge->store);
    mt_free(merge);
}

/* SQLite gives up a whole transaction by itself on some errors: then nothing is left to commit. */
static mt_status commit(mt_merge *m, mt_error *err)
{
    bool is_open = m->is_open && m->store->depth;
    mt_status st = is_open ? mt_tx_end(m->store, MT_OK, err) : MT_OK;
    if (is_open && st == MT_OK) m->committed += m->pending;
    m->is_open = false;
    m->pending = 0;
    return st;
}

size_t mt_merge_committed(const mt_merge *merge)
{
    return merge->committed;
}

static mt_status merge_rows(mt_merge *m, mt_error *err)
{
    mt_status st;
    int64_t last = 0;
    MT_TRY(mt_tx_begin(m->store, err));
    st = mt_sql_one(m->store, "SELECT max(id) FROM measurement", "read measurements", MT_NO_IN, MT_OUT(MT_TO_INT(&last)), err);
    m->has_mended = false;
    for (size_t i = 0; i < mt_merge_rule_count && st == MT_OK; i++) st = mt_merge_table_rows(m, i, err);
    if (st == MT_OK && m->has_mended) st = mt_row_scan_again(m->store, err); /* what referred to rows that are mended counts again */
    if (st == MT_OK) st = mt_current_renew_after(m->store, m->has_mended ? 0 : last, err);
    st = mt_tx_end(m->store, st, err);
done:
    return st;
}

static bool is_large(sqlite3 *part)
{
    int64_t pages = 0, page_bytes = 0;
    mt_error ignored;
    return mt_merge_number(part, "", "PRAGMA page_count", "", &pages, &ignored) != MT_OK || mt_merge_number(part, "", "PRAGMA page_size", "", &page_bytes, &ignored) != MT_OK ||
           pages * page_bytes > LARGE_BYTES;
}

static mt_status open_part(mt_merge *m, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_merge_part_open(m->path, true, &m->part, err));
    if (sqlite3_exec(m->part, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) st = mt_sql_fail_handle(m->part, m->path, "read", err); /* one state of it */
done:
    return st == MT_OK ? st : mt_merge_name_row(m, st);
}

mt_status mt_merge_part(mt_merge *m, const char *path, mt_merge_counts *counts, bool *is_part_bad, mt_error *err)
{
    mt_status st;
    mt_merge_counts own = *counts;
    m->path = path;
    m->counts = &own;
    m->is_part_at_fault = false;
    m->left_out = (mt_left_out){.path = path};
    m->other_names = 0;
    MT_TRY(open_part(m, err));
    bool is_alone = is_large(m->part);
    if (is_alone) MT_TRY(commit(m, err));
    if (!is_alone && !m->is_open) {
        MT_TRY(mt_tx_begin(m->store, err));
        m->is_open = true;
        m->opened_ns = mt_clock_now_ns();
    }
    MT_TRY(merge_rows(m, err));
    *counts = own;
    (*(is_alone ? &m->committed : &m->pending))++;
    if (m->is_open && mt_clock_now_ns() - m->opened_ns > COMMIT_AFTER_MS * INT64_C(1000000)) st = commit(m, err);
done:
    sqlite3_close(m->part);
    m->part = NULL;
    mt_left_out_end(&m->left_out);
    *is_part_bad = m->is_part_at_fault && (m->store->depth > 0 || !m->is_open);
    return st;
}

mt_status mt_merge_finish(mt_merge *merge, mt_error *err)
{
    mt_status st = commit(merge, err);
    return st == MT_OK ? mt_merge_order(merge->store, err) : st;
}
