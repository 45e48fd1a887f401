/* The write-ahead rhythm of a session: result(n) and intent(n+1) in one transaction, and what to make of intents found later. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/store/measurement.h"
#include "db/store/store_internal.h"
#include "db/store/store_strike.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/file.h"
#include "tuner/base/log.h"

/* One of it: in a final a variant may run on two GPUs at once. */
static mt_status remove_intent(mt_store *store, int64_t session, const mt_result *result, mt_error *err)
{
    mt_status st;
    int64_t subject, variant;
    MT_TRY(mt_subject_id(store, result->subject, &subject, err));
    MT_TRY(mt_variant_id(store, result->subject->kernel, result->variant, &variant, err));
    st = mt_sql_do(store, "DELETE FROM main.intent WHERE id = (SELECT min(id) FROM intent WHERE session_id = ? AND variant_id = ? AND subject_id = ?)", "remove an intent",
                   MT_IN(MT_INT(session), MT_INT(variant), MT_INT(subject)), err);
done:
    return st;
}

static mt_status insert_intent(mt_store *store, int64_t session, const mt_intent *intent, mt_error *err)
{
    mt_status st;
    int64_t subject, variant;
    MT_TRY(mt_subject_id(store, intent->subject, &subject, err));
    MT_TRY(mt_variant_id(store, intent->subject->kernel, intent->variant, &variant, err));
    st = mt_sql_do(store, "INSERT INTO main.intent (session_id, subject_id, variant_id, boot_id, worker_pid, created_unix_ms) VALUES (?, ?, ?, ?, ?, ?)", "store an intent",
                   MT_IN(MT_INT(session), MT_INT(subject), MT_INT(variant), MT_TEXT(intent->boot_id ? intent->boot_id : ""), MT_INT(intent->worker_pid), MT_INT(mt_clock_unix_ms())), err);
done:
    return st;
}

/* One that breaks the rules of rows is named and left out; the session goes on. */
static mt_status insert_result(mt_store *store, int64_t session, const mt_result *result, mt_error *err)
{
    mt_status st = mt_measurement_insert(store, session, result->measured_unix_ms, result, err);
    if (st == MT_OK || !mt_store_refused_row(store)) return st;
    mt_log_warn("%s; the row of %s is left out", err->message, result->variant);
    return MT_OK;
}

mt_status mt_store_step(mt_store *store, int64_t session, const mt_result *result, const mt_intent *intent, mt_error *err)
{
    mt_status st;
    MT_TRY(mt_tx_begin(store, err));
    if (result) st = insert_result(store, session, result, err);
    if (result && st == MT_OK) st = remove_intent(store, session, result, err);
    if (intent && st == MT_OK) st = insert_intent(store, session, intent, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

mt_status mt_store_next_intent(mt_store *store, int64_t session, const mt_intent *done, const mt_intent *next, mt_error *err)
{
    mt_status st;
    mt_result of_done = {.subject = done ? done->subject : NULL, .variant = done ? done->variant : NULL};
    MT_TRY(mt_tx_begin(store, err));
    if (done) st = remove_intent(store, session, &of_done, err);
    if (next && st == MT_OK) st = insert_intent(store, session, next, err);
    st = mt_tx_end(store, st, err);
done:
    return st;
}

/* --- settling ----------------------------------------------------------------------------------------------------------------------- */

/* Longer than any variant may run: an intent this old has no living owner, wherever it ran. */
static const int64_t stale_ms = 3600 * 1000;

typedef struct found_intent {
    int64_t id, shape, variant;
    bool strike;
} found_intent;

/* A killed process that its parent has not yet waited for is dead. */
static bool is_zombie(pid_t pid)
{
    char path[64], *text = NULL;
    size_t length;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (mt_file_read(path, 4096, &text, &length, NULL) != MT_OK) return false;
    const char *name_end = strrchr(text, ')'); /* the name before it may hold anything */
    bool zombie = name_end && name_end[1] && name_end[2] == 'Z';
    mt_free(text);
    return zombie;
}

static bool is_alive(int64_t pid)
{
    if (pid <= 0 || pid == getpid()) return false; /* this process has nothing running while it settles */
    if (kill((pid_t)pid, 0) != 0) return errno == EPERM;
    return !is_zombie((pid_t)pid);
}

/* Whether the intent at hand (columns of found_sql) was left behind, and whether that counts against its variant. On another machine
 * that shares the file nobody can tell a running tuner from a dead one, except by age; such an intent is never a strike. */
static bool was_left_behind(const mt_store *store, sqlite3_stmt *statement, const char *boot_id, bool *strike)
{
    const char *boot = mt_sql_column(statement, 3), *host = mt_sql_column(statement, 4);
    bool stale = mt_clock_unix_ms() - sqlite3_column_int64(statement, 6) > stale_ms;
    bool same_host = !*host || strcmp(host, store->host) == 0;
    bool same_boot = strcmp(boot, boot_id) == 0;
    *strike = same_host && !same_boot;
    if (!same_host) return stale;
    return *strike || stale || !is_alive(sqlite3_column_int64(statement, 5));
}

static const char found_sql[] =
    "SELECT i.id, s.shape_id, i.variant_id, i.boot_id, n.host, n.process_id, i.created_unix_ms "
    "FROM intent i JOIN subject s ON s.id = i.subject_id JOIN session n ON n.id = i.session_id "
    "WHERE s.device_id = ? AND s.origin = ? ORDER BY i.id";

static mt_status find_left_behind(mt_store *store, int64_t device, mt_origin origin, const char *boot_id, found_intent **found, size_t *count,
                                  mt_error *err)
{
    mt_status st;
    size_t capacity = 0;
    mt_sql_args rows = mt_sql_query(store, found_sql, MT_IN(MT_INT(device), MT_TEXT(mt_origin_name(origin))), &st, err);
    while (mt_sql_each(store, &rows, "read intents", &st, err)) {
        bool strike;
        if (!was_left_behind(store, rows.statement, boot_id, &strike)) continue;
        found_intent *added = MT_APPEND(*found, *count, capacity);
        if (!added) st = mt_no_memory(store->path, err);
        else *added = (found_intent){.id = sqlite3_column_int64(rows.statement, 0), .shape = sqlite3_column_int64(rows.statement, 1), .variant = sqlite3_column_int64(rows.statement, 2), .strike = strike};
    }
    return st;
}

/* The host went down once, on however many GPUs the variant ran. */
static bool is_first_of_variant(const found_intent *found, size_t which)
{
    for (size_t i = 0; i < which; i++)
        if (found[i].strike && found[i].shape == found[which].shape && found[i].variant == found[which].variant) return false;
    return true;
}

static mt_status settle_one(mt_store *store, int64_t device, mt_origin origin, const found_intent *found, mt_error *err)
{
    mt_status st = MT_OK;
    if (found->strike) st = mt_strike_insert(store, device, found->shape, found->variant, mt_origin_name(origin), "host_down", err);
    return st == MT_OK ? mt_sql_do(store, "DELETE FROM main.intent WHERE id = ?", "remove an intent", MT_IN(MT_INT(found->id)), err) : st;
}

mt_status mt_store_settle_intents(mt_store *store, int64_t device, mt_origin origin, const char *boot_id, int64_t *left_behind, mt_error *err)
{
    mt_status st;
    found_intent *found = NULL;
    size_t count = 0;
    *left_behind = 0;
    MT_TRY(mt_tx_begin(store, err));
    st = find_left_behind(store, device, origin, boot_id ? boot_id : "", &found, &count, err);
    for (size_t i = count; i-- > 0;) found[i].strike = found[i].strike && is_first_of_variant(found, i);
    for (size_t i = 0; i < count && st == MT_OK; i++) st = settle_one(store, device, origin, &found[i], err);
    st = mt_tx_end(store, st, err);
    if (st == MT_OK) *left_behind = (int64_t)count;
done:
    mt_free(found);
    return st;
}
