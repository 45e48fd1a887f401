/* How an evaluation ended for its variant: told at once, when the GPU has taken another process, or after a replay alone. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/worker/device_worker_internal.h"

static void report(mt_device_worker *self, mt_outcome *outcome, char *launch_json)
{
    bool is_damage = outcome->kind == MT_OUTCOME_GPU_FAULT || outcome->kind == MT_OUTCOME_CRASHED || outcome->kind == MT_OUTCOME_TIMEOUT;
    self->has_order = self->is_sent = false;
    self->idle_deaths = 0;
    self->ended_ns = mt_clock_now_ns();
    if (self->active) self->active->served++;
    if (self->incident_ns) self->incident = mt_outcome_name(outcome->kind);
    self->has_held = true;
    self->held = *outcome;
    self->held_launch = launch_json;
    if (!self->incident_ns || !is_damage) mt_device_release_held(self);
}

void mt_device_release_held(mt_device_worker *self)
{
    if (!self->has_held) return;
    self->options.done(self->options.context, self->id, &self->held, &self->held_launch);
    mt_device_drop_held(self);
}

void mt_device_drop_held(mt_device_worker *self)
{
    mt_outcome_free(&self->held);
    mt_free(self->held_launch);
    memset(&self->held, 0, sizeof self->held);
    self->held_launch = NULL;
    self->has_held = false;
}

/* ---- exact blame ---- */

/* A sticky error is told by whichever call comes after it, and an earlier variant's wild write may be what made this one fault. What ran first in
 * its worker was alone already; any other is run once more, alone in the next worker. */
static bool needs_replay(const mt_device_worker *self, const mt_outcome *outcome)
{
    return outcome->kind == MT_OUTCOME_GPU_FAULT && !self->is_replay && self->served_before > 0;
}

static void begin_replay(mt_device_worker *self, const mt_outcome *fault, char *launch_json)
{
    self->is_replay = true;
    self->suspect = *fault;
    self->suspect_launch = launch_json;
    self->is_sent = false; /* the next worker gets the order again */
    self->may_crowd = true;
    self->attempts = 0;
}

void mt_device_drop_suspect(mt_device_worker *self)
{
    mt_outcome_free(&self->suspect);
    mt_free(self->suspect_launch);
    self->suspect_launch = NULL;
    self->is_replay = false;
}

static size_t name_length(const char *text)
{
    return text ? strcspn(text, ":") : 0;
}

static bool same_fault(const mt_outcome *a, const mt_outcome *b)
{
    size_t length = name_length(a->text);
    return a->kind == b->kind && length == name_length(b->text) && (length == 0 || memcmp(a->text, b->text, length) == 0);
}

/* The verdict stays the first one: that a kernel faulted once is reason enough not to hand it out. `alone`: how the replay ended; NULL = it could not be run. */
void mt_device_settle_replay(mt_device_worker *self, const mt_outcome *alone)
{
    mt_outcome outcome = self->suspect;
    char *first = outcome.text, *launch_json = self->suspect_launch;
    memset(&self->suspect, 0, sizeof self->suspect);
    self->suspect_launch = NULL;
    self->is_replay = false;
    const char *was = first ? first : "";
    bool is_same = alone && same_fault(&outcome, alone);
    outcome.text = NULL;
    bool is_damage = alone && (alone->kind == MT_OUTCOME_GPU_FAULT || alone->kind == MT_OUTCOME_CRASHED || alone->kind == MT_OUTCOME_TIMEOUT);
    outcome.guilt = is_damage ? MT_GUILT_SHOWN : MT_GUILT_NOT_REPRODUCED;
    if (!alone)
        mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: could not be tried", was);
    else if (!is_damage)
        mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nnot reproduced alone: ended as %s", was, mt_outcome_name(alone->kind));
    else if (is_same)
        mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: same fault", was);
    else
        mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: %s: %s", was, mt_outcome_name(alone->kind), alone->text ? alone->text : "");
    mt_free(first);
    report(self, &outcome, launch_json);
}

void mt_device_conclude(mt_device_worker *self, mt_outcome *outcome, char *launch_json)
{
    if (self->is_replay) {
        mt_device_settle_replay(self, outcome);
        mt_outcome_free(outcome);
        mt_free(launch_json);
    } else if (needs_replay(self, outcome)) {
        begin_replay(self, outcome, launch_json);
    } else {
        if (outcome->kind == MT_OUTCOME_GPU_FAULT) {
            char *text = outcome->text;
            outcome->text = NULL;
            mt_outcome_set(outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: nothing else had run in its worker", text ? text : "");
            mt_free(text);
        }
        report(self, outcome, launch_json);
    }
}
