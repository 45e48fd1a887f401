/* How an evaluation ended for its variant: told at once, when the GPU has taken another process, or after a replay alone. */
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/worker/device_worker_internal.h"

static bool is_damage(const mt_outcome *outcome)
{
    return outcome->kind == MT_OUTCOME_GPU_FAULT || outcome->kind == MT_OUTCOME_CRASHED || outcome->kind == MT_OUTCOME_TIMEOUT;
}

static void report(mt_device_worker *self, const mt_outcome *outcome, char *launch_json)
{
    bool is_open = mt_incident_is_open(&self->incident);
    mt_order_enter(&self->order, ORDER_HELD);
    self->order.outcome = *outcome;
    self->order.launch_json = launch_json;
    self->order.ended_ns = mt_clock_now_ns();
    self->idle_deaths = 0;
    if (self->active) self->active->served++;
    if (is_open) self->incident.outcome = mt_outcome_name(outcome->kind);
    if (!is_open || !is_damage(outcome)) mt_device_release_held(self);
}

/* Takes what is kept of an end: the order has none then. */
static mt_outcome take_outcome(struct order *order, char **launch_json)
{
    mt_outcome outcome = order->outcome;
    *launch_json = order->launch_json;
    memset(&order->outcome, 0, sizeof order->outcome);
    order->launch_json = NULL;
    return outcome;
}

void mt_device_release_held(mt_device_worker *self)
{
    char *launch_json;
    if (self->order.state != ORDER_HELD) return;
    mt_outcome outcome = take_outcome(&self->order, &launch_json);
    mt_order_enter(&self->order, ORDER_NONE);
    self->options.done(self->options.context, self->order.id, &outcome, &launch_json);
    mt_outcome_free(&outcome);
    mt_free(launch_json);
}

void mt_device_drop_order(mt_device_worker *self)
{
    char *launch_json;
    mt_outcome outcome = take_outcome(&self->order, &launch_json);
    mt_outcome_free(&outcome);
    mt_free(launch_json);
    if (self->order.state != ORDER_NONE) mt_order_enter(&self->order, ORDER_NONE);
}

/* ---- whose fault it is ---- */

/* A sticky error is told by whichever call comes after it, and an earlier variant's wild write may be what made this one fault. What ran first in
 * its worker was alone already; any other is run once more, alone in the next worker. */
static bool needs_replay(const mt_device_worker *self, const mt_outcome *outcome)
{
    return outcome->kind == MT_OUTCOME_GPU_FAULT && self->order.served_before > 0;
}

static void begin_replay(struct order *order, const mt_outcome *fault, char *launch_json)
{
    mt_order_enter(order, ORDER_SUSPECT_QUEUED);
    order->outcome = *fault;
    order->launch_json = launch_json;
    order->may_crowd = true;
    order->attempts = 0;
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
    char *launch_json;
    mt_outcome outcome = take_outcome(&self->order, &launch_json);
    char *first = outcome.text;
    const char *was = first ? first : "";
    bool is_same = alone && same_fault(&outcome, alone);
    outcome.text = NULL;
    bool is_shown = alone && is_damage(alone);
    outcome.guilt = is_shown ? MT_GUILT_SHOWN : MT_GUILT_NOT_REPRODUCED;
    if (!alone) mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: could not be tried", was);
    else if (!is_shown) mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nnot reproduced alone: ended as %s", was, mt_outcome_name(alone->kind));
    else if (is_same) mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: same fault", was);
    else mt_outcome_set(&outcome, MT_OUTCOME_GPU_FAULT, "%s\nalone: %s: %s", was, mt_outcome_name(alone->kind), alone->text ? alone->text : "");
    mt_free(first);
    report(self, &outcome, launch_json);
}

void mt_device_conclude(mt_device_worker *self, mt_outcome *outcome, char *launch_json)
{
    if (self->order.state == ORDER_SUSPECT_SENT) {
        mt_device_settle_replay(self, outcome);
        mt_outcome_free(outcome);
        mt_free(launch_json);
    } else if (needs_replay(self, outcome)) {
        begin_replay(&self->order, outcome, launch_json);
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
