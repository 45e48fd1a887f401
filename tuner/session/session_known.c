#include <stdlib.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/session/session_internal.h"
#include "tuner/search/index_map.h"

struct loading {
    const mt_space *space;
    mt_history *history;
    const mt_shard *shard; /* or NULL */
    mt_index_map seen;     /* of the history, while it is added to from another database */
    bool is_shared, no_race;
};

/* False for a point that the file no longer describes: its row is history, not part of this search. */
static bool find_index(const struct loading *loading, const char *variant, size_t *index)
{
    mt_point point;
    mt_error ignored;
    if (mt_point_parse(mt_space_spec(loading->space), variant, &point, &ignored) != MT_OK) return false;
    return mt_space_find(loading->space, &point, index);
}

static mt_status on_known(void *context, const char *variant, mt_outcome_kind kind, double median_ns, double norm_error, const char *text, mt_error *err)
{
    struct loading *loading = context;
    mt_history *history = loading->history;
    size_t index;
    if (kind == MT_OUTCOME_CENSORED && loading->no_race) return MT_OK; /* its time is wanted now */
    if (!find_index(loading, variant, &index)) return MT_OK;
    if (loading->shard && !mt_shard_has(loading->shard, loading->space, index)) return MT_OK;
    if (loading->is_shared && mt_index_map_get(&loading->seen, index, NULL)) return MT_OK; /* one's own row counts */
    mt_known *added = MT_APPEND(history->known, history->known_count, history->known_capacity);
    if (!added) return mt_no_memory("known variants", err);
    *added = (mt_known){index, kind, median_ns, norm_error, mt_strdup(text)};
    return added->text || !text ? MT_OK : mt_no_memory("known variants", err);
}

static mt_status on_quarantined(void *context, const char *variant, const char *reason, mt_error *err)
{
    struct loading *loading = context;
    mt_history *history = loading->history;
    size_t index;
    if (!find_index(loading, variant, &index)) return MT_OK;
    mt_quarantined *added = MT_APPEND(history->quarantined, history->quarantined_count, history->quarantined_capacity);
    if (!added) return mt_no_memory("quarantined variants", err);
    *added = (mt_quarantined){index, mt_strdup(reason ? reason : "")};
    return added->reason ? MT_OK : mt_no_memory("quarantined variants", err);
}

static int by_index(const void *a, const void *b)
{
    const mt_quarantined *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* What the merged file of other tasks knows, behind one's own. What brought down another's GPU is not tried here either. */
static mt_status load_shared(mt_session *session, const mt_subject *subject, struct loading *loading, mt_error *err)
{
    const mt_session_params *params = session->params;
    mt_subject elsewhere;
    bool is_there;
    mt_status st = mt_store_subject_elsewhere(session->store, subject, params->shared, params->reuse, &elsewhere, &is_there, err);
    for (size_t i = 0; i < loading->history->own_count && st == MT_OK; i++)
        if (!mt_index_map_put(&loading->seen, loading->history->known[i].index, 0)) st = MT_FAIL(err, MT_ERR_NO_MEMORY, "known variants: out of memory");
    loading->is_shared = true;
    if (st == MT_OK && is_there) st = mt_store_known(params->shared, &elsewhere, params->reuse, on_known, loading, err);
    if (st == MT_OK && is_there) st = mt_store_quarantined(params->shared, &elsewhere, on_quarantined, loading, err);
    mt_index_map_free(&loading->seen);
    return st;
}

mt_status mt_history_load(mt_session *session, const mt_subject *subject, const mt_space *space, const mt_shard *shard, mt_history *history, mt_error *err)
{
    struct loading loading = {.space = space, .history = history, .shard = shard, .no_race = session->params->no_race};
    int64_t before = mt_clock_now_ns();
    mt_status st = mt_store_known(session->store, subject, session->params->reuse, on_known, &loading, err);
    if (st == MT_OK) st = mt_store_quarantined(session->store, subject, on_quarantined, &loading, err);
    history->own_count = history->known_count;
    if (st == MT_OK && session->params->shared) st = load_shared(session, subject, &loading, err);
    if (history->quarantined_count) qsort(history->quarantined, history->quarantined_count, sizeof *history->quarantined, by_index);
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

const char *mt_history_quarantine(const mt_history *history, size_t index)
{
    mt_quarantined key = {.index = index};
    if (!history->quarantined_count) return NULL;
    const mt_quarantined *found = bsearch(&key, history->quarantined, history->quarantined_count, sizeof key, by_index);
    return found ? found->reason : NULL;
}

void mt_history_free(mt_history *history)
{
    for (size_t i = 0; i < history->quarantined_count; i++) mt_free(history->quarantined[i].reason);
    for (size_t i = 0; i < history->known_count; i++) mt_free(history->known[i].text);
    mt_free(history->quarantined);
    mt_free(history->known);
    memset(history, 0, sizeof *history);
}
