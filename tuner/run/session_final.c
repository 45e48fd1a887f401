/* The end of a subject: near-ties are compared, on a GPU by timing them again in turns, and table best gets the pick.
 *
 * Each turn is a trial of its own, so that a finalist that dies takes nobody with it, and its name stands in the database before it runs.
 * Nothing else is under way meanwhile. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/log.h"
#include "tuner/run/event_queue.h"
#include "tuner/run/final_rules.h"
#include "tuner/run/session_internal.h"

static const int64_t energy_ns = 500000000;    /* least length of a loop */
static const int64_t longest_ns = 20000000000; /* then the final ends as soon as it can say anything */
enum { MOST_ATTEMPTS = 3 /* finals of one session: each time a finalist died, or others moved up */ };

struct entry {
    char *variant, *cubin_path;
    mt_hash cubin;
    mt_energy energy[MT_FINAL_ENERGY_ROUNDS];
    size_t index;
    bool is_out;       /* it did not survive being timed again */
    /* its turn of the round under way */
    uint64_t trial;
    bool is_ready, is_done;
    int64_t worker_pid;
};

struct final {
    mt_session *session;
    const mt_subject *subject;
    const mt_space *space;
    size_t number;
    struct entry entries[MT_FINALISTS_MAX];
    mt_finalist finalists[MT_FINALISTS_MAX]; /* entries that are in come first when it is judged */
    size_t count, rounds;
    bool can_retime;
    bool is_for_energy; /* the rounds under way */
    mt_objective objective;
    char why[256];      /* of the first whose energy could not be measured */
    int64_t evaluation;
    char *running;     /* whose intent is written; borrowed from its entry */
};

static mt_status no_memory(mt_error *err)
{
    return MT_FAIL(err, MT_ERR_NO_MEMORY, "final: out of memory");
}

static void forget(struct entry *entry)
{
    mt_free(entry->variant);
    mt_free(entry->cubin_path);
    *entry = (struct entry){0};
}

static mt_status on_near_tie(void *context, const mt_near_tie *row, mt_error *err)
{
    struct final *final = context;
    struct entry *entry = &final->entries[final->count];
    mt_point point;
    mt_error ignored;
    /* A row of a point that the file no longer describes can be compared, but not run. */
    if (mt_point_parse(mt_space_spec(final->space), row->variant, &point, &ignored) != MT_OK || !mt_space_find(final->space, &point, &entry->index)) {
        if (final->objective == MT_OBJECTIVE_TIME) final->can_retime = false;
        else return MT_OK; /* its energy can't be known any more */
    }
    entry->variant = mt_strdup(row->variant);
    if (!entry->variant) return no_memory(err);
    final->finalists[final->count].near = *row;
    final->finalists[final->count++].near.variant = entry->variant;
    return MT_OK;
}

/* ---- one turn ---- */

static struct entry *entry_of(struct final *final, uint64_t trial)
{
    for (size_t i = 0; i < final->count; i++)
        if (final->entries[i].trial == trial) return &final->entries[i];
    return NULL;
}

/* Long kernels need fewer samples for the same certainty, and more would take minutes. */
static uint32_t samples_for(double median_ns)
{
    return median_ns > 20e6 ? 1 : median_ns > 5e6 ? 3 : 5;
}

static mt_status submit(struct final *final, size_t which, mt_error *err)
{
    mt_evaluator *evaluator = final->session->evaluator;
    struct entry *entry = &final->entries[which];
    entry->trial = ++final->session->last_trial;
    entry->is_ready = entry->is_done = false;
    mt_trial trial = {entry->trial, final->number, entry->index, entry->variant, samples_for(final->finalists[which].near.median_ns)};
    return evaluator->ops->submit(evaluator, &trial, err);
}

/* Moves the write-ahead intent from the finalist that ran to the one that runs next (NULL = none). */
static mt_status announce(struct final *final, struct entry *next, mt_error *err)
{
    mt_session *session = final->session;
    int64_t before = mt_clock_now_ns();
    mt_intent done = {.subject = final->subject, .variant = final->running, .boot_id = session->boot_id};
    mt_intent intent = {.subject = final->subject, .variant = next ? next->variant : NULL, .boot_id = session->boot_id, .worker_pid = next ? next->worker_pid : 0};
    mt_status st = mt_store_next_intent(session->store, session->id, final->running ? &done : NULL, next ? &intent : NULL, err);
    final->running = next ? next->variant : NULL;
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

/* A row of its own: it passed before, and it did not now. From then on it has no standing. */
static mt_status drop(struct final *final, struct entry *entry, mt_event *event, mt_error *err)
{
    mt_result result = {
        .subject = final->subject,
        .variant = entry->variant,
        .launch_json = event->launch_json,
        .model_flops = NAN,
        .model_dram_bytes = NAN,
        .model_floor_ns = NAN,
        .evaluation = ++final->evaluation,
        .outcome = &event->outcome,
    };
    entry->is_out = true;
    return mt_session_store_step(final->session, final->subject, &result, NULL, 0, err);
}

static mt_status on_done(struct final *final, struct entry *entry, size_t round, mt_event *event, mt_error *err)
{
    mt_finalist *finalist = &final->finalists[entry - final->entries];
    entry->is_done = true;
    final->session->times.time_ns += event->outcome.time_ns;
    if (event->outcome.kind != MT_OUTCOME_OK) return drop(final, entry, event, err);
    if (final->is_for_energy) {
        entry->energy[round] = event->outcome.energy;
        if (event->outcome.energy.source == MT_ENERGY_NONE && event->outcome.text && !final->why[0]) snprintf(final->why, sizeof final->why, "%.80s: %s", entry->variant, event->outcome.text);
        return MT_OK;
    }
    finalist->round_ns[round] = event->outcome.timing.median_ns;
    mt_free(entry->cubin_path);
    entry->cubin_path = event->cubin_path;
    entry->cubin = event->outcome.cubin;
    event->cubin_path = NULL;
    return MT_OK;
}

/* Waits for something to happen. */
static mt_status pump(struct final *final, size_t round, mt_error *err)
{
    mt_session *session = final->session;
    mt_event event;
    uv_run(session->loop, UV_RUN_NOWAIT);
    if (session->interrupts) return MT_OK;
    mt_status st = session->evaluator->ops->next(session->evaluator, &event, err);
    if (st != MT_OK) return st;
    struct entry *entry = event.kind == MT_EVENT_TICK ? NULL : entry_of(final, event.trial);
    if (entry && event.kind == MT_EVENT_READY) {
        entry->is_ready = true;
        entry->worker_pid = event.worker_pid;
    } else if (entry && event.kind == MT_EVENT_DONE) {
        st = on_done(final, entry, round, &event, err);
    } else if (event.kind == MT_EVENT_LOST && event.device == session->evaluator->device) {
        st = MT_FAIL(err, MT_ERR_GPU, "GPU %d was lost while the finalists were compared on it; the same command goes on from there", session->evaluator->devices[event.device].ordinal);
    } else if (session->params->progress && session->params->progress->tick) {
        session->params->progress->tick(session->params->progress->context);
    }
    mt_event_free(&event);
    return st;
}

/* All by one method, or the difference between the methods would decide. */
static mt_trial_method method_for(const struct final *final)
{
    for (size_t i = 0; i < final->count; i++)
        if (final->finalists[i].near.batch > 1) return MT_TRIAL_GRAPH;
    return MT_TRIAL_EVENTS;
}

static mt_status take_turn(struct final *final, struct entry *entry, size_t round, mt_error *err)
{
    mt_status st = MT_OK;
    mt_evaluator *evaluator = final->session->evaluator;
    while (!entry->is_ready && !entry->is_done && !final->session->interrupts) MT_TRY(pump(final, round, err));
    if (entry->is_done || final->session->interrupts) goto done; /* it no longer compiles: it was dropped */
    MT_TRY(announce(final, entry, err));
    evaluator->method = method_for(final);
    evaluator->energy_ns = final->is_for_energy ? energy_ns : 0;
    int64_t start_ns = mt_clock_now_ns();
    MT_TRY(evaluator->ops->start(evaluator, entry->trial, err));
    while (!entry->is_done && !final->session->interrupts) MT_TRY(pump(final, round, err));
    final->session->devices[evaluator->device].busy_ns += mt_clock_now_ns() - start_ns;
done:
    return st;
}

/* Another one begins each round, and every second round runs backwards, so that nobody always follows the same one. */
static size_t turn(size_t round, size_t place, size_t count)
{
    size_t step = (round / 2 + place) % count;
    return round % 2 ? count - 1 - step : step;
}

static mt_status run_round(struct final *final, size_t round, mt_error *err)
{
    mt_status st = MT_OK;
    for (size_t place = 0; place < final->count; place++) {
        size_t which = turn(round, place, final->count);
        if (!final->entries[which].is_out) MT_TRY(submit(final, which, err));
    }
    for (size_t place = 0; place < final->count && !final->session->interrupts; place++) {
        struct entry *entry = &final->entries[turn(round, place, final->count)];
        if (!entry->is_out) MT_TRY(take_turn(final, entry, round, err));
    }
done:
    return st;
}

/* ---- the whole ---- */

static mt_status run_rounds(struct final *final, mt_error *err)
{
    mt_status st = MT_OK;
    mt_evaluator *evaluator = final->session->evaluator;
    int64_t start_ns = mt_clock_now_ns();
    while (final->rounds < MT_FINAL_ROUNDS && !final->session->interrupts) {
        MT_TRY(run_round(final, final->rounds, err));
        final->rounds++;
        if (final->rounds >= MT_FINAL_LEAST_ROUNDS && mt_clock_now_ns() - start_ns > longest_ns) break;
    }
    final->is_for_energy = true;
    for (size_t round = 0; final->objective != MT_OBJECTIVE_TIME && round < MT_FINAL_ENERGY_ROUNDS && !final->session->interrupts; round++)
        MT_TRY(run_round(final, round, err));
    if (final->session->interrupts) evaluator->ops->cancel(evaluator, true);
    MT_TRY(announce(final, NULL, err));
done:
    return st;
}

/* By time; by energy where that is asked for and known of all. */
static void judge(struct final *final)
{
    bool is_known = final->objective != MT_OBJECTIVE_TIME && final->rounds > 0;
    for (size_t i = 0; i < final->count; i++) {
        final->finalists[i].row.energy = mt_final_energy(final->entries[i].energy, MT_FINAL_ENERGY_ROUNDS);
        is_known = is_known && final->finalists[i].row.energy.source != MT_ENERGY_NONE;
    }
    if (final->objective != MT_OBJECTIVE_TIME && !is_known) {
        mt_log_warn("picked by time: energy is not known of all finalists%s%s", final->why[0] ? ": " : "", final->why);
        final->objective = MT_OBJECTIVE_TIME;
    }
    if (!final->rounds) mt_final_judge_intervals(final->finalists, final->count);
    else mt_final_judge_rounds(final->finalists, final->count, final->rounds);
    if (final->objective != MT_OBJECTIVE_TIME) mt_final_judge_energy(final->finalists, final->count, final->objective);
}

/* Finalists that are out leave the list. */
static void close_ranks(struct final *final)
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
            final->entries[i] = (struct entry){0};
        }
        kept++;
    }
    final->count = kept;
}

static mt_status keep(struct final *final, mt_error *err)
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
static mt_status compare(struct final *final, mt_winner_cubin *winner, bool *is_settled, mt_error *err)
{
    mt_status st = MT_OK;
    mt_session *session = final->session;
    int64_t current;
    bool is_by_time = final->objective == MT_OBJECTIVE_TIME;
    MT_TRY(mt_store_final_current(session->store, final->subject, &final->objective, &current, err));
    if (!current) MT_TRY(mt_store_near_ties(session->store, final->subject, final->objective, on_near_tie, final, err));
    *is_settled = current || final->count < (is_by_time ? 2 : 1);
    if (*is_settled) goto done;
    if (final->can_retime) MT_TRY(run_rounds(final, err));
    size_t began = final->count;
    close_ranks(final);
    *is_settled = session->interrupts > 0 || (!is_by_time && final->count == began);
    if (session->interrupts || final->count == 0) goto done;
    judge(final);
    MT_TRY(keep(final, err));
    if (!final->rounds) goto done;
    struct entry *pick = &final->entries[mt_final_pick(final->finalists, final->count)];
    mt_free(winner->path);
    winner->path = pick->cubin_path;
    winner->hash = pick->cubin;
    pick->cubin_path = NULL;
done:
    return st;
}

mt_status mt_session_final(mt_session *session, const mt_subject *subject, size_t number, const mt_space *space, int64_t *evaluation, mt_winner_cubin *winner, mt_error *err)
{
    mt_status st = MT_OK;
    bool is_settled = false;
    for (int attempt = 0; attempt < MOST_ATTEMPTS && !is_settled && st == MT_OK; attempt++) {
        struct final final = {.session = session, .subject = subject, .space = space, .number = number, .evaluation = *evaluation, .objective = session->objective,
            .can_retime = session->evaluator->can_retime};
        st = compare(&final, winner, &is_settled, err);
        *evaluation = final.evaluation;
        for (size_t i = 0; i < MT_FINALISTS_MAX; i++) forget(&final.entries[i]);
    }
    return st;
}
