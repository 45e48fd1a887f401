/* The end of a subject: near-ties are compared, on GPUs by timing them again in turns (session_final_rounds.c), and table best gets the pick. Nothing else is under way
 * meanwhile. */

#include "tuner/base/alloc.h"
#include "tuner/session/session_final.h"

enum { MOST_ATTEMPTS = 3 /* finals of one session: each time a finalist died, or others moved up */ };

static void forget(mt_final_entry *entry)
{
    mt_free(entry->variant);
    mt_free(entry->cubin_path);
    *entry = (mt_final_entry){0};
}

static mt_status on_near_tie(void *context, const mt_near_tie *row, mt_error *err)
{
    mt_final *final = context;
    for (size_t i = 0; i < final->count; i++)
        if (final->finalists[i].near.measurement == row->measurement) return MT_OK; /* a rival that is a near-tie too */
    if (final->count == MT_FINALISTS_MAX) return MT_OK; /* no room for one */
    mt_final_entry *entry = &final->entries[final->count];
    mt_point point;
    mt_error ignored;
    /* A row of a point that the file no longer describes can be compared, but not run. */
    if (mt_point_parse(mt_space_spec(final->space), row->variant, &point, &ignored) != MT_OK || !mt_space_find(final->space, &point, &entry->index)) {
        if (final->objective == MT_OBJECTIVE_TIME) final->can_retime = false;
        else return MT_OK; /* its energy can't be known any more */
    }
    entry->variant = mt_strdup(row->variant);
    if (!entry->variant) return mt_no_memory("final", err);
    final->finalists[final->count].near = *row;
    final->finalists[final->count++].near.variant = entry->variant;
    return MT_OK;
}

/* ---- the whole ---- */

bool mt_final_is_cut(const mt_session *session)
{
    return session->stop && session->evaluator->can_retime;
}

/* By time; by energy where that is asked for and known of all. */
static void judge(mt_final *final)
{
    bool is_known = final->objective != MT_OBJECTIVE_TIME && final->rounds > 0;
    for (size_t i = 0; i < final->count; i++) {
        final->finalists[i].row.energy = mt_final_energy(final->entries[i].energy, MT_FINAL_ENERGY_ROUNDS);
        is_known = is_known && final->finalists[i].row.energy.source != MT_ENERGY_NONE;
    }
    if (final->objective != MT_OBJECTIVE_TIME && !is_known) {
        mt_session_warn(final->session, "%s: picked by time: energy is not known of all finalists%s%s", mt_space_shape(final->space)->name, final->why[0] ? ": " : "", final->why);
        final->objective = MT_OBJECTIVE_TIME;
    }
    if (!final->rounds) mt_final_judge_intervals(final->finalists, final->count);
    else mt_final_judge_rounds(final->finalists, final->count, final->rounds);
    if (final->objective != MT_OBJECTIVE_TIME) mt_final_judge_energy(final->finalists, final->count, final->objective);
}

/* Finalists that are out leave the list. */
static void close_ranks(mt_final *final)
{
    size_t kept = 0;
    for (size_t i = 0; i < final->count; i++) {
        if (final->entries[i].is_out) {
            forget(&final->entries[i]);
            continue;
        }
        if (kept != i) {
            final->entries[kept] = final->entries[i];
            final->finalists[kept] = final->finalists[i];
            final->entries[i] = (mt_final_entry){0};
        }
        kept++;
    }
    final->count = kept;
}

static mt_status keep(mt_final *final, mt_error *err)
{
    mt_session *session = final->session;
    mt_finalist_row rows[MT_FINALISTS_MAX];
    float round_ns[MT_FINALISTS_MAX][MT_FINAL_ROUNDS];
    bool is_timed = final->rounds > 0;
    mt_final_row row = {.method = is_timed ? "interleaved" : "intervals", .rounds = final->rounds, .confidence = MT_FINAL_CONFIDENCE, .objective = final->objective};
    for (size_t i = 0; i < final->count; i++) {
        for (size_t r = 0; r < final->rounds; r++) round_ns[i][r] = (float)final->finalists[i].round_ns[r];
        rows[i] = final->finalists[i].row;
        rows[i].round_ns = is_timed ? round_ns[i] : NULL;
    }
    return mt_store_final(session->store, session->id, final->subject, &row, rows, final->count, err);
}

/* One comparison; *is_settled: there is nothing (more) to compare. */
static mt_status compare(mt_final *final, mt_winner_cubin *winner, mt_subject_summary *summary, bool *is_settled, mt_error *err)
{
    mt_status st = MT_OK;
    mt_session *session = final->session;
    int64_t current;
    bool is_compared = true, is_by_time = final->objective == MT_OBJECTIVE_TIME;
    MT_TRY(mt_store_final_current(session->store, final->subject, &final->objective, &current, err));
    if (current && final->library_count && final->is_first) MT_TRY(mt_final_was_compared(final, current, &is_compared, err));
    bool holds = current && is_compared;
    if (!holds) MT_TRY(mt_store_near_ties(session->store, final->subject, final->objective, on_near_tie, final, err));
    if (!holds && final->library_count) MT_TRY(mt_store_plain_rival(session->store, final->subject, on_near_tie, final, err));
    *is_settled = holds || final->count < (is_by_time && !final->library_count ? 2 : 1);
    if (*is_settled) goto done;
    if (final->can_retime && final->library_count) MT_TRY(mt_final_try_libraries(final, err));
    if (current && !final->library_count) { /* it holds, and the plugin is still not there */
        *is_settled = true;
        st = mt_final_keep_libraries(final, summary, err);
        goto done;
    }
    if (final->can_retime && !session->stop) MT_TRY(mt_final_run_rounds(final, err));
    bool is_cut = mt_final_is_cut(session);
    size_t began = final->count;
    close_ranks(final);
    if (final->count == 1 && !final->rounds && is_by_time) { /* nobody to compare it with after all */
        *is_settled = true;
        st = mt_final_keep_libraries(final, summary, err);
        goto done;
    }
    *is_settled = is_cut || (!is_by_time && final->count == began);
    if (is_cut || final->count == 0) goto done;
    judge(final);
    MT_TRY(keep(final, err));
    MT_TRY(mt_final_keep_libraries(final, summary, err));
    if (!final->rounds) goto done;
    mt_final_entry *pick = &final->entries[mt_final_pick(final->finalists, final->count)];
    mt_free(winner->path);
    winner->path = pick->cubin_path;
    winner->hash = pick->cubin;
    pick->cubin_path = NULL;
done:
    return st;
}

/* The first GPU that is left. */
static size_t first_device(const mt_evaluator *evaluator)
{
    size_t device = 0;
    while (device + 1 < evaluator->device_count && evaluator->devices[device].is_lost) device++;
    return device;
}

mt_status mt_session_final(mt_session *session, const mt_subject *subject, size_t number, const mt_space *space, int64_t *evaluation, mt_winner_cubin *winner, mt_subject_summary *summary, mt_error *err)
{
    mt_status st = MT_OK;
    bool has_libraries = session->params->spec->library && session->evaluator->can_retime;
    bool is_settled = false;
    for (int attempt = 0; attempt < MOST_ATTEMPTS && !is_settled && st == MT_OK; attempt++) {
        mt_final final = {.session = session, .subject = subject, .space = space, .number = number, .device = first_device(session->evaluator), .evaluation = *evaluation, .objective = session->objective,
            .can_retime = session->evaluator->can_retime, .is_first = attempt == 0, .library_count = has_libraries ? MT_LIBRARIES_MAX : 0};
        st = compare(&final, winner, summary, &is_settled, err);
        *evaluation = final.evaluation;
        bool is_cut = st == MT_OK && mt_final_is_cut(session) && final.count > 1;
        for (size_t i = 0; i < MT_FINALISTS_MAX; i++) forget(&final.entries[i]);
        for (size_t i = 0; i < MT_LIBRARIES_MAX; i++) mt_free(final.libraries[i].text);
        if (is_cut) mt_session_warn(session, "%s: the comparison of the near-ties was interrupted: picked by the times of the search alone", mt_space_shape(space)->name);
    }
    return st;
}
