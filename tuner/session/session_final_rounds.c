/* The rounds of a final. Each turn is a trial of its own, so that a finalist that dies takes nobody with it, and its name stands in the database before it runs.
 *
 * What is compared are times of one round, and a round stays on one GPU: several GPUs take rounds side by side. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/evaluate/event_queue.h"
#include "tuner/session/session_final.h"

static const int64_t energy_ns = 500000000;    /* least length of a loop */
static const int64_t longest_ns = 20000000000; /* then the final ends as soon as it can say anything */

enum turn_state { TURN_NONE /* it does not take part */, TURN_SUBMITTED, TURN_READY /* compiled; also while it runs */, TURN_DONE };

struct turn {
    enum turn_state state;
    uint64_t trial;
    int64_t worker_pid;    /* READY */
};

/* Any of them may be lost; one that is out of rounds rests until it is over. */
enum lane_state { LANE_RESTS, LANE_IN_ROUND /* its next turn is not compiled yet */, LANE_RUNS, LANE_LOST };

/* A GPU that takes rounds. */
typedef struct lane {
    size_t device;
    enum lane_state state;
    size_t round, place;                 /* whose turn it is */
    struct turn turns[MT_FINAL_PLACES]; /* of the entries and libraries in this round */
    const char *intent;                  /* the variant whose name is written ahead; borrowed from its entry; NULL = none */
    int64_t started_ns;
} lane;

enum rounds_kind {
    ROUNDS_BY_TIME,
    ROUNDS_BY_ENERGY,
    ROUNDS_OF_LIBRARIES /* one round of the libraries alone, validated: which of them take part? */
};

typedef struct rounds {
    mt_final *final;
    enum rounds_kind kind;
    lane lanes[MT_DEVICES_MAX];
    size_t lane_count;
    size_t given, most;             /* rounds */
    size_t returned[MT_DEVICES_MAX], returned_count; /* of GPUs that were lost */
    int64_t began_ns;
} rounds;

/* ---- who takes part ---- */

static mt_library *library_of(const rounds *self, size_t which)
{
    return which < MT_FINALISTS_MAX ? NULL : &self->final->libraries[which - MT_FINALISTS_MAX];
}

/* Energy is the finalists' affair. */
static size_t place_count(const rounds *self)
{
    size_t libraries = self->final->library_count ? MT_LIBRARIES_MAX : 0;
    return self->kind == ROUNDS_OF_LIBRARIES ? libraries : self->final->count + (self->kind == ROUNDS_BY_ENERGY ? 0 : libraries);
}

static size_t place_at(const rounds *self, size_t number)
{
    size_t finalists = self->kind == ROUNDS_OF_LIBRARIES ? 0 : self->final->count;
    return number < finalists ? number : MT_FINALISTS_MAX + number - finalists;
}

static bool is_out(const rounds *self, size_t which)
{
    const mt_library *library = library_of(self, which);
    return library ? library->is_out : self->final->entries[which].is_out;
}

/* ---- events ---- */

static lane *find_turn(rounds *self, uint64_t trial, size_t *which)
{
    for (size_t l = 0; l < self->lane_count; l++)
        for (*which = 0; *which < MT_FINAL_PLACES; ++*which)
            if (self->lanes[l].turns[*which].state != TURN_NONE && self->lanes[l].turns[*which].trial == trial) return &self->lanes[l];
    return NULL;
}

/* Moves the lane's write-ahead intent to the finalist that runs next there (NULL = none). */
static mt_status announce(rounds *self, lane *at, const char *next, int64_t worker_pid, mt_error *err)
{
    mt_session *session = self->final->session;
    int64_t before = mt_clock_now_ns();
    mt_intent done = {.subject = self->final->subject, .variant = at->intent, .boot_id = session->boot_id};
    mt_intent intent = {.subject = self->final->subject, .variant = next, .boot_id = session->boot_id, .worker_pid = worker_pid};
    mt_status st = mt_store_next_intent(session->store, session->id, at->intent ? &done : NULL, next ? &intent : NULL, err);
    at->intent = next;
    session->times.database_ns += mt_clock_now_ns() - before;
    return st;
}

/* A row of its own: it passed before, and it did not now. From then on it does not count. */
static mt_status drop(rounds *self, lane *at, mt_final_entry *entry, mt_event *event, mt_error *err)
{
    mt_final *final = self->final;
    if (entry->is_out) return MT_OK; /* on two GPUs at once; its name goes with the next move */
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
    if (at->intent == entry->variant) at->intent = NULL; /* storing the result takes it away */
    return mt_session_store_step(final->session, final->subject, &result, NULL, 0, err);
}

static void leave_gpu(rounds *self, lane *at)
{
    mt_session_device *device = &self->final->session->devices[at->device];
    at->state = LANE_IN_ROUND;
    device->free_ns = mt_clock_now_ns();
    device->busy_ns += device->free_ns - at->started_ns;
    device->started++;
}

/* A plugin that hangs or crashes would do it with each algorithm: those that have not run are left out. */
static void count_death(mt_final *final, mt_outcome_kind kind)
{
    bool is_death = kind == MT_OUTCOME_TIMEOUT || kind == MT_OUTCOME_CRASHED || kind == MT_OUTCOME_GPU_FAULT;
    if (!is_death || ++final->library_deaths < MT_LIBRARY_DEATHS) return;
    for (size_t i = 0; i < MT_LIBRARIES_MAX; i++) final->libraries[i].is_out = final->libraries[i].is_out || !(final->libraries[i].alone_ns > 0);
}

/* One that fails is no loss but of the comparison. */
static void library_done(rounds *self, const lane *at, mt_library *library, mt_event *event)
{
    mt_final *final = self->final;
    const char *text = event->outcome.text ? event->outcome.text : "";
    if (event->outcome.kind != MT_OUTCOME_OK) {
        library->is_out = true;
        if (self->kind == ROUNDS_OF_LIBRARIES) count_death(final, event->outcome.kind);
        if (!final->library_why[0]) snprintf(final->library_why, sizeof final->library_why, "%s: %.200s", mt_outcome_name(event->outcome.kind), text);
        return;
    }
    if (!library->text) library->text = mt_strdup(text);
    if (self->kind == ROUNDS_OF_LIBRARIES) library->alone_ns = event->outcome.timing.median_ns;
    else library->round_ns[at->round] = event->outcome.timing.median_ns;
}

static mt_status on_done(rounds *self, lane *at, size_t which, mt_event *event, mt_error *err)
{
    mt_final *final = self->final;
    mt_final_entry *entry = &final->entries[which < MT_FINALISTS_MAX ? which : 0];
    if (at->state == LANE_RUNS) leave_gpu(self, at); /* else it no longer compiles */
    at->turns[which].state = TURN_DONE;
    final->session->times.time_ns += event->outcome.time_ns;
    final->is_limited = final->is_limited || event->outcome.timing.limited > 0;
    if (library_of(self, which)) {
        library_done(self, at, library_of(self, which), event);
        return MT_OK;
    }
    if (event->outcome.kind != MT_OUTCOME_OK) return drop(self, at, entry, event, err);
    if (self->kind == ROUNDS_BY_ENERGY) {
        entry->energy[at->round] = event->outcome.energy;
        if (event->outcome.energy.source == MT_ENERGY_NONE && event->outcome.text && !final->why[0]) snprintf(final->why, sizeof final->why, "%.80s: %s", entry->variant, event->outcome.text);
        return MT_OK;
    }
    final->finalists[which].round_ns[at->round] = event->outcome.timing.median_ns;
    mt_free(entry->cubin_path);
    entry->cubin_path = event->cubin_path;
    entry->cubin = event->outcome.cubin;
    event->cubin_path = NULL;
    return MT_OK;
}

static bool has_lane(const rounds *self)
{
    for (size_t l = 0; l < self->lane_count; l++)
        if (self->lanes[l].state != LANE_LOST) return true;
    return false;
}

/* Its round is taken by another one, from the beginning. */
static mt_status on_lost(rounds *self, size_t device, mt_error *err)
{
    for (size_t l = 0; l < self->lane_count; l++) {
        lane *at = &self->lanes[l];
        if (at->device != device || at->state == LANE_LOST) continue;
        if (at->state == LANE_RUNS) leave_gpu(self, at);
        if (at->state == LANE_IN_ROUND) self->returned[self->returned_count++] = at->round;
        memset(at->turns, 0, sizeof at->turns);
        at->state = LANE_LOST;
        self->final->session->devices[device].is_lost = true;
        mt_status st = at->intent ? announce(self, at, NULL, 0, err) : MT_OK;
        if (st != MT_OK) return st;
    }
    if (has_lane(self)) return MT_OK;
    return MT_FAIL(err, MT_ERR_GPU, "GPU %d was lost while the finalists were compared on it", self->final->session->evaluator->devices[device].ordinal);
}

/* Waits for something to happen. */
static mt_status pump(rounds *self, mt_error *err)
{
    mt_session *session = self->final->session;
    mt_event event;
    size_t which;
    mt_status st = session->evaluator->ops->next(session->evaluator, &event, err);
    if (st != MT_OK) return st;
    lane *at = event.kind == MT_EVENT_READY || event.kind == MT_EVENT_DONE ? find_turn(self, event.trial, &which) : NULL;
    if (at && event.kind == MT_EVENT_READY) {
        at->turns[which].state = TURN_READY;
        at->turns[which].worker_pid = event.worker_pid;
    } else if (at) {
        st = on_done(self, at, which, &event, err);
    } else if (event.kind == MT_EVENT_LOST) {
        st = on_lost(self, event.device, err);
    } else if (session->params->progress && session->params->progress->tick) {
        session->params->progress->tick(session->params->progress->context);
    }
    mt_event_free(&event);
    return st;
}

/* ---- rounds and turns ---- */

/* Another one begins each round, and every second round runs backwards, so that nobody always follows the same one. */
static size_t turn_of(size_t round, size_t place, size_t count)
{
    size_t step = (round / 2 + place) % count;
    return round % 2 ? count - 1 - step : step;
}

/* Long kernels need fewer samples for the same certainty, and more would take minutes. */
static uint32_t samples_for(double median_ns)
{
    return median_ns > 20e6 ? 1 : median_ns > 5e6 ? 3 : 5;
}

static mt_status submit(rounds *self, lane *at, size_t which, mt_error *err)
{
    mt_final *final = self->final;
    mt_evaluator *evaluator = final->session->evaluator;
    bool is_library = library_of(self, which) != NULL;
    size_t finalist = is_library ? 0 : which; /* a library takes the arguments of a variant */
    const mt_final_entry *entry = &final->entries[finalist];
    at->turns[which] = (struct turn){.state = TURN_SUBMITTED, .trial = ++final->session->last_trial};
    mt_trial trial = {.id = at->turns[which].trial, .subject = final->number, .index = entry->index, .variant = entry->variant};
    if (self->kind != ROUNDS_OF_LIBRARIES) trial.retime = samples_for(final->finalists[finalist].near.median_ns);
    if (is_library) {
        trial.baseline = final->session->params->spec->library;
        trial.algorithm = (uint32_t)(which - MT_FINALISTS_MAX);
    }
    return evaluator->ops->submit(evaluator, &trial, err);
}

static bool take_round(rounds *self, lane *at)
{
    bool is_late = self->kind != ROUNDS_BY_ENERGY && self->given >= MT_FINAL_LEAST_ROUNDS && mt_clock_now_ns() - self->began_ns > longest_ns;
    if (self->returned_count) at->round = self->returned[--self->returned_count];
    else if (self->given < self->most && !is_late) at->round = self->given++;
    else return false;
    return true;
}

static mt_status begin_round(rounds *self, lane *at, bool *is_there, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = place_count(self);
    *is_there = take_round(self, at);
    if (!*is_there) goto done;
    at->state = LANE_IN_ROUND;
    at->place = 0;
    memset(at->turns, 0, sizeof at->turns);
    for (size_t place = 0; place < count; place++) {
        size_t which = place_at(self, turn_of(at->round, place, count));
        if (!is_out(self, which)) MT_TRY(submit(self, at, which, err));
    }
done:
    return st;
}

/* All by one method, or the difference between the methods would decide. */
static mt_method method_for(const mt_final *final)
{
    for (size_t i = 0; i < final->count; i++)
        if (final->finalists[i].near.batch > 1) return MT_METHOD_GRAPH;
    return MT_METHOD_EVENTS;
}

static mt_status start(rounds *self, lane *at, size_t which, mt_error *err)
{
    mt_status st = MT_OK;
    mt_evaluator *evaluator = self->final->session->evaluator;
    const struct turn *turn = &at->turns[which];
    int64_t pid = evaluator->ops->worker_pid ? evaluator->ops->worker_pid(evaluator, at->device) : turn->worker_pid;
    MT_TRY(announce(self, at, library_of(self, which) ? NULL : self->final->entries[which].variant, pid, err)); /* a library is no variant that could be at fault */
    const mt_trial_start how = {.device = at->device, .method = method_for(self->final), .energy_ns = self->kind == ROUNDS_BY_ENERGY ? energy_ns : 0};
    at->started_ns = mt_clock_now_ns();
    at->state = LANE_RUNS;
    st = evaluator->ops->start(evaluator, turn->trial, &how, err);
done:
    return st;
}

/* The lane's next turn, as soon as it is compiled; its next round, when this one is through. */
static mt_status advance(rounds *self, lane *at, mt_error *err)
{
    mt_status st = MT_OK;
    size_t count = place_count(self);
    bool is_there = true;
    while (at->state == LANE_RESTS || at->state == LANE_IN_ROUND) {
        if (at->state == LANE_RESTS) MT_TRY(begin_round(self, at, &is_there, err));
        if (!is_there) break;
        size_t which = at->place < count ? place_at(self, turn_of(at->round, at->place, count)) : 0;
        const struct turn *turn = &at->turns[which];
        if (at->place == count) at->state = LANE_RESTS;
        else if (turn->state == TURN_DONE || turn->state == TURN_NONE || is_out(self, which)) at->place++;
        else if (turn->state == TURN_READY) MT_TRY(start(self, at, which, err));
        else break;
    }
done:
    return st;
}

static bool is_under_way(const rounds *self)
{
    for (size_t l = 0; l < self->lane_count; l++)
        if (self->lanes[l].state == LANE_IN_ROUND || self->lanes[l].state == LANE_RUNS) return true;
    return self->returned_count > 0;
}

static mt_status run(rounds *self, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_session *session = self->final->session;
    self->began_ns = mt_clock_now_ns();
    do {
        for (size_t l = 0; l < self->lane_count; l++) MT_TRY(advance(self, &self->lanes[l], err));
        if (!is_under_way(self)) break;
        uv_run(session->loop, UV_RUN_NOWAIT); /* signals also reach a session whose evaluator never waits */
        if (!session->stop) MT_TRY(pump(self, err));
    } while (!session->stop);
    session->evaluator->ops->cancel(session->evaluator, session->stop != MT_STOP_NOT); /* turns of finalists that are out were compiled and never started */
    for (size_t l = 0; l < self->lane_count; l++)
        if (self->lanes[l].intent) MT_TRY(announce(self, &self->lanes[l], NULL, 0, err));
done:
    return st;
}

mt_status mt_final_try_libraries(mt_final *final, mt_error *err)
{
    mt_status st = MT_OK;
    rounds alone = {.final = final, .most = 1, .kind = ROUNDS_OF_LIBRARIES, .lanes = {{.device = final->device}}, .lane_count = 1};
    MT_TRY(run(&alone, err));
    mt_final_choose_libraries(final);
done:
    return st;
}

mt_status mt_final_run_rounds(mt_final *final, mt_error *err)
{
    mt_status st = MT_OK;
    const mt_evaluator *evaluator = final->session->evaluator;
    size_t count = evaluator->device_count ? evaluator->device_count : 1;
    rounds by_time = {.final = final, .most = MT_FINAL_ROUNDS};
    rounds by_energy = {.final = final, .most = MT_FINAL_ENERGY_ROUNDS, .kind = ROUNDS_BY_ENERGY, .lanes = {{.device = final->device}}, .lane_count = 1}; /* one board's meter */
    for (size_t device = 0; device < count; device++)
        if (!evaluator->devices[device].is_lost) by_time.lanes[by_time.lane_count++].device = device;
    if (final->count > 1 || final->library_count || final->objective != MT_OBJECTIVE_TIME) MT_TRY(run(&by_time, err));
    final->rounds = by_time.given;
    if (final->objective != MT_OBJECTIVE_TIME && !final->session->stop) MT_TRY(run(&by_energy, err));
done:
    return st;
}
