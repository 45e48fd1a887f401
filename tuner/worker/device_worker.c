#include "tuner/worker/device_worker_internal.h"

#include <stdio.h>
#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/base/times.h"

enum { MAX_STOPS = 3, MAX_IDLE_DEATHS = 3, MAX_FALSE_STARTS = 3, STOPPED_CHECKS = 2 };
/* A counter's 20 periods, its patience and settling, then perhaps power readings: generously. */
static const double ENERGY_BASE_S = 10, ENERGY_LOOPS = 20;

/* Nothing is told after it: the order ends here, a suspect's as the fault that it was. */
static void fail_with(mt_device_worker *self, const mt_error *error)
{
    if (self->life != LIFE_WORKING) return;
    if (mt_order_is_suspect(&self->order)) {
        mt_device_settle_replay(self, NULL);
        mt_device_release_held(self);
    }
    mt_device_drop_order(self);
    self->life = LIFE_FAILED;
    self->options.failed(self->options.context, error);
}

static double limit_of(const mt_device_worker *self, enum part part)
{
    return part == PART_SUBJECT ? self->options.subject_limit_s : self->options.variant_limit_s + self->order.extra_s;
}

/* What hangs does so in its first run, and how long that may take the best so far tells. */
static void limit_first_run(mt_device_worker *self, mt_work before, mt_work now)
{
    struct order *order = &self->order;
    double left = mt_worker_deadline_left(self->active->worker), spared = order->spared_s;
    if (before == MT_WORK_LOAD && now == MT_WORK_VALIDATE && order->first_run_s > 0 && left > order->first_run_s) {
        order->spared_s = left - order->first_run_s;
        mt_worker_deadline(self->active->worker, order->first_run_s);
    } else if (now == MT_WORK_TIME && spared > 0) {
        order->spared_s = 0;
        mt_worker_deadline(self->active->worker, left + spared);
    }
}

static void enter_work(mt_device_worker *self, mt_work work)
{
    struct order *order = &self->order;
    enum part part = work < MT_WORK_LOAD ? PART_SUBJECT : PART_VARIANT;
    mt_work before = order->work;
    order->work = work;
    if (part == order->part) {
        if (part == PART_VARIANT) limit_first_run(self, before, work);
        return;
    }
    order->left_s[order->part] = mt_worker_deadline_left(self->active->worker);
    if (self->incident.state == INCIDENT_REFILLING && order->state == ORDER_SENT && part == PART_VARIANT) {
        mt_times_note("refill", order->part_started_ns, NULL);
        mt_incident_enter(&self->incident, INCIDENT_NONE);
    }
    order->part = part;
    order->part_started_ns = mt_clock_now_ns();
    if (order->state == ORDER_SUSPECT_SENT) mt_device_provide(self);
    double left = order->left_s[part];
    mt_worker_deadline(self->active->worker, left > 0.001 ? left : 0.001);
}

static bool may_send(const mt_device_worker *self)
{
    if (!mt_order_is_queued(&self->order) || !self->active || self->active->state != SLOT_READY) return false;
    return (self->order.state == ORDER_SUSPECT_QUEUED && self->order.may_crowd) || mt_device_is_quiet(self);
}

static void begin_order(mt_device_worker *self)
{
    struct order *order = &self->order;
    if (order->state == ORDER_QUEUED && mt_clock_now_ns() - order->ordered_ns > 1000000) mt_times_note("quiet", order->ordered_ns, "an order waited for our own processes");
    mt_order_enter(order, order->state == ORDER_QUEUED ? ORDER_SENT : ORDER_SUSPECT_SENT);
    order->is_crowded = mt_device_count_slots(self, mt_slot_has_gpu) > 1;
    order->served_before = self->active->served;
    order->attempts++;
    order->work = MT_WORK_START;
    order->part = PART_SUBJECT;
    order->part_started_ns = mt_clock_now_ns();
    order->spared_s = 0;
    for (int i = 0; i < PART_COUNT; i++) order->left_s[i] = limit_of(self, i);
}

static void send_order(mt_device_worker *self)
{
    mt_error error;
    if (!may_send(self)) return;
    mt_worker_forget_log(self->active->worker);
    if (mt_worker_send(self->active->worker, &self->order.frame, &error) != MT_OK) {
        fail_with(self, &error);
        return;
    }
    begin_order(self);
    mt_worker_deadline(self->active->worker, self->order.left_s[PART_SUBJECT]);
}

/* ---- processes ---- */

/* What an incident costs, for $MSDA_TUNE_TIMES: until the device could take the next order, and then until that one's inputs were made ("refill"). */
static bool end_incident(mt_device_worker *self)
{
    struct incident *incident = &self->incident;
    bool has_context = self->active && mt_slot_has_context(self->active);
    if (incident->state != INCIDENT_PROVEN || mt_order_is_suspect(&self->order) || !has_context || !mt_device_is_quiet(self)) return false;
    mt_times_note("incident", incident->since_ns, incident->outcome);
    mt_incident_enter(incident, INCIDENT_REFILLING);
    mt_device_release_held(self);
    return true;
}

static void on_message(void *context, mt_message *message);
static void on_gone(void *context, const mt_worker_death *death);
static void on_doomed(void *context);

/* On a host of several GPUs each process sees its own alone: CUDA starts faster, and all the more in several at once. */
static bool ensure_workers(mt_device_worker *self, mt_error *err)
{
    enum { MAX_ENV = 32 };
    const char *env[MAX_ENV + 2] = {0};
    size_t count = 0;
    for (; self->options.env && self->options.env[count] && count < MAX_ENV; count++) env[count] = self->options.env[count];
    if (self->is_alone) env[count] = self->alone;
    const mt_worker_launch launch = {
        .device = self->is_alone ? 0 : self->options.device,
        .bundle_fd = self->options.bundle_fd,
        .env = env,
        .message = on_message,
        .gone = on_gone,
        .doomed = on_doomed,
        .open_handles = &self->open_handles,
    };
    return mt_device_ensure_workers(self, &launch, err);
}

/* After anything that came or went: somebody is at work, somebody in reserve. */
static void refill_slot(mt_device_worker *self)
{
    mt_error error;
    if (self->life != LIFE_WORKING) return;
    if (!ensure_workers(self, &error)) {
        fail_with(self, &error);
        return;
    }
    mt_device_provide(self);
    if (end_incident(self)) (void)ensure_workers(self, &error); /* what the incident used up */
    send_order(self);
}

static void begin_incident(mt_device_worker *self)
{
    if (mt_incident_is_open(&self->incident)) return;
    mt_incident_enter(&self->incident, INCIDENT_OPEN);
    self->incident.since_ns = mt_clock_now_ns();
    self->incident.outcome = NULL;
    for (size_t i = 0; i < SLOTS; i++) self->slots[i].is_warm = false; /* perhaps for another subject */
}

/* Killing takes a tenth of a second and more: what will be needed starts meanwhile. */
static void on_doomed(void *context)
{
    slot *at = context;
    mt_device_worker *self = at->owner;
    mt_error ignored;
    mt_slot_enter(at, SLOT_LEAVING);
    if (at != self->active || self->life != LIFE_WORKING) return;
    begin_incident(self);
    (void)ensure_workers(self, &ignored);
    mt_device_provide(self);
}

/* No end of the variant that ran: neither stored nor a strike. */
static void fail_gone(mt_device_worker *self, const mt_error *error)
{
    mt_device_drop_order(self);
    fail_with(self, error);
}

/* ---- messages ---- */

static void on_hello(slot *at, mt_hello *hello)
{
    mt_device_worker *self = at->owner;
    if (mt_slot_was(at) != SLOT_STARTING) return;
    if (hello->status != MT_OK && at == self->active) {
        mt_error error;
        mt_error_set(&error, hello->status, "%s%s", self->was_greeted ? "the GPU is gone after a worker's restart: " : "", hello->error ? hello->error : "the device worker cannot work");
        fail_gone(self, &error);
        return;
    }
    if (hello->status != MT_OK) {
        self->has_no_reserve = true;
        mt_device_retire(at, SLOT_LEAVING);
        mt_device_distrust(self);
        return;
    }
    self->false_starts = 0;
    mt_worker_deadline(at->worker, 0);
    mt_times_note("start", at->since_ns, NULL);
    mt_slot_enter(at, self->was_greeted ? SLOT_STARTED : SLOT_READY);
    if (!self->was_greeted) {
        self->hello = *hello;
        snprintf(self->bus_id, sizeof self->bus_id, "%s", hello->bus_id ? hello->bus_id : "");
        self->hello.error = self->hello.bus_id = NULL; /* the message frees them */
        self->was_greeted = true;
    }
    refill_slot(self);
}

static void on_prepared(slot *at, const mt_prepared *prepared)
{
    mt_error error;
    if (at->state != SLOT_ENTERING && at->state != SLOT_PREPARING) return;
    if (mt_device_take_prepared(at, prepared, &error)) refill_slot(at->owner);
    else fail_gone(at->owner, &error);
}

/* Other people's processes: what the worker counts, less ours; NVML may still show those that have just gone. */
static int count_foreign(mt_device_worker *self, int counted)
{
    static const int64_t lately_ns = 2000000000;
    if (mt_clock_now_ns() - self->last_gone_ns > lately_ns) self->gone_lately = 0;
    int ours = (int)mt_device_count_slots(self, mt_slot_has_gpu) - 1 + self->gone_lately;
    return counted <= 0 ? counted : counted > ours ? counted - ours : 0;
}

/* A replay beside the process that faulted may not have come to run for want of memory: then it is done again when that one is gone. */
static bool must_repeat(mt_device_worker *self, const mt_verdict *verdict)
{
    bool did_run = verdict->status == MT_OK && verdict->outcome.kind != MT_OUTCOME_LAUNCH_ERROR && verdict->outcome.kind != MT_OUTCOME_LOAD_ERROR;
    if (self->order.state != ORDER_SUSPECT_SENT || !self->order.is_crowded || did_run) return false;
    mt_order_enter(&self->order, ORDER_SUSPECT_QUEUED);
    self->order.may_crowd = false;
    self->order.attempts = 0;
    return true;
}

static void leave(mt_device_worker *self)
{
    self->restarts += !mt_order_is_suspect(&self->order); /* the second worker that a suspect costs belongs to the same incident */
    begin_incident(self);
    mt_device_retire(self->active, SLOT_LEAVING); /* it is about to exit by itself, which may hang in the driver */
}

static void on_verdict(slot *at, mt_verdict *verdict)
{
    mt_device_worker *self = at->owner;
    if (at != self->active || !mt_order_is_sent(&self->order) || verdict->id != self->order.id) return;
    mt_worker_deadline(at->worker, 0);
    if (verdict->is_sticky) leave(self);
    else if (self->order.state == ORDER_SUSPECT_SENT && self->incident.state == INCIDENT_OPEN)
        mt_incident_enter(&self->incident, INCIDENT_PROVEN); /* it ran there */
    if (must_repeat(self, verdict)) {
        if (mt_slot_is_leaving(at)) self->active = NULL;
        refill_slot(self);
        return;
    }
    if (verdict->status != MT_OK) {
        mt_error error;
        mt_error_set(&error, verdict->status, "%s", verdict->error ? verdict->error : "the device worker failed");
        fail_with(self, &error);
        return;
    }
    self->options.foreign(self->options.context, count_foreign(self, verdict->foreign_processes));
    if (verdict->vacuous) self->options.vacuous(self->options.context, verdict->vacuous);
    char *launch_json = (char *)verdict->launch_json;
    mt_outcome outcome = verdict->outcome;
    memset(&verdict->outcome, 0, sizeof verdict->outcome); /* both are ours now */
    verdict->launch_json = NULL;
    mt_device_conclude(self, &outcome, launch_json);
    if (mt_slot_is_leaving(at) && self->active == at) self->active = NULL;
    refill_slot(self);
}

static void on_message(void *context, mt_message *message)
{
    slot *at = context;
    mt_device_worker *self = at->owner;
    switch (message->type) {
    case MT_MESSAGE_HELLO: on_hello(at, &message->hello); break;
    case MT_MESSAGE_PREPARED: on_prepared(at, &message->prepared); break;
    case MT_MESSAGE_STAGE:
        if (at == self->active && mt_order_is_sent(&self->order) && message->stage.id == self->order.id) enter_work(self, message->stage.work);
        break;
    case MT_MESSAGE_RESULT: on_verdict(at, &message->verdict); break;
    default: break;
    }
}

/* The next worker gets the order. */
static void requeue(struct order *order)
{
    mt_order_enter(order, order->state == ORDER_SENT ? ORDER_QUEUED : ORDER_SUSPECT_QUEUED);
}

/* The worker died, or was killed, with an evaluation under way: whose fault is it? */
static void attribute_death(mt_device_worker *self, const mt_worker_death *death)
{
    mt_strbuf text = {0};
    if (death->is_timeout)
        mt_strbuf_addf(&text, "no end within %.3g s, in stage %s%s", self->order.spared_s > 0 ? self->order.first_run_s : limit_of(self, self->order.part), mt_work_name(self->order.work),
                       self->order.spared_s > 0 ? " (its first run; the limit is 1000 times the best, at least 1 s), twice" : "");
    else mt_strbuf_addf(&text, "%s in stage %s", death->how, mt_work_name(self->order.work));
    if (death->log_tail[0]) mt_strbuf_addf(&text, "\n%s", death->log_tail);
    bool may_be_held_up = death->is_timeout && self->order.spared_s > 0 && self->order.attempts < MT_WORKER_ATTEMPTS && !death->is_lost; /* a busy host may keep a process waiting for so short a limit */
    if (may_be_held_up) {
        requeue(&self->order);
    } else if (self->order.part == PART_VARIANT) {
        mt_outcome outcome = {0};
        mt_outcome_set(&outcome, death->is_timeout ? MT_OUTCOME_TIMEOUT : MT_OUTCOME_CRASHED, "%s", mt_strbuf_text(&text));
        mt_device_conclude(self, &outcome, NULL);
    } else if (self->order.attempts < MT_WORKER_ATTEMPTS && !death->is_lost) {
        requeue(&self->order);
    } else {
        mt_error error;
        const mt_place *place = &self->options.reference;
        if (self->order.work == MT_WORK_REFERENCE && place->path) mt_error_set(&error, death->is_lost ? MT_ERR_GPU : MT_ERR_SPEC, "%s:%d: [kernel] reference: %s", place->path, place->line, mt_strbuf_text(&text));
        else mt_error_set(&error, MT_ERR_GPU, "the inputs could not be made: %s", mt_strbuf_text(&text));
        fail_with(self, &error);
    }
    mt_strbuf_free(&text);
}

/* It died before it said HELLO. One may have been killed from outside (the out-of-memory killer, say); several in a row, or one that does not answer, tell of a GPU that can't be used. */
static void lose_start(mt_device_worker *self, const mt_worker_death *death)
{
    mt_error error;
    self->active = NULL;
    if (!mt_order_is_suspect(&self->order)) self->restarts++;
    if (!death->is_timeout && ++self->false_starts <= MAX_FALSE_STARTS) return; /* the next one is started */
    mt_error_set(&error, MT_ERR_WORKER, "the device worker did not start: %s%s%s", death->is_timeout ? "no answer" : death->how, death->log_tail[0] ? "\n" : "", death->log_tail);
    fail_gone(self, &error);
}

/* It had nothing to do, or had not begun what it was handed in its last moments. */
static bool was_idle(const mt_device_worker *self, const mt_worker_death *death)
{
    return !mt_order_is_sent(&self->order) || (self->order.work == MT_WORK_START && !death->is_timeout);
}

static void hand_on(mt_device_worker *self, bool was_attempt)
{
    if (!mt_order_is_sent(&self->order)) return;
    if (!was_attempt) self->order.attempts--;
    requeue(&self->order);
}

/* The one at work is gone without having said why. Whoever stopped it from outside did not mean the variant, nor whoever killed it; but the out-of-memory killer's choice may be the variant's doing, if it
 * makes it again. */
static void lose_active(mt_device_worker *self, const mt_worker_death *death, bool is_stopped)
{
    mt_error error;
    self->active = NULL;
    if (!mt_order_is_suspect(&self->order)) self->restarts++;
    begin_incident(self);
    if (was_idle(self, death)) {
        self->idle_deaths++;
        hand_on(self, false);
    } else if (is_stopped && self->order.stops++ < MAX_STOPS) {
        hand_on(self, false);
    } else if (is_stopped) {
        mt_error_set(&error, MT_ERR_WORKER, "the device worker was stopped (SIGSTOP) again and again");
        fail_gone(self, &error);
    } else if (death->is_killed && self->order.attempts < MT_WORKER_ATTEMPTS) {
        self->options.notice(self->options.context, "the device worker was killed from outside (SIGKILL), most often for lack of memory: what it ran is tried once more");
        hand_on(self, true);
    } else {
        attribute_death(self, death);
    }
    if (self->idle_deaths <= MAX_IDLE_DEATHS) return;
    mt_error_set(&error, MT_ERR_WORKER, "the device worker keeps dying while it has nothing to do: %s", death->how);
    fail_with(self, &error);
}

/* The reserve is gone: it is a convenience. */
static void lose_reserve(mt_device_worker *self, bool had_started)
{
    if (had_started && ++self->idle_deaths <= MAX_IDLE_DEATHS) return;
    self->has_no_reserve = true;
    mt_device_distrust(self);
}

static void on_gone(void *context, const mt_worker_death *death)
{
    slot *at = context, was = *at;
    mt_device_worker *self = was.owner;
    bool had_started = mt_slot_was(&was) >= SLOT_STARTED;
    *at = (slot){.owner = self};
    if (mt_slot_is_leaving(&was)) mt_times_note("gone", was.since_ns, NULL);
    if (mt_slot_has_gpu(&was)) {
        self->last_gone_ns = mt_clock_now_ns();
        self->gone_lately++;
    }
    if (self->life == LIFE_STOPPED) return;
    if (at == self->active && !had_started && was.state != SLOT_STOPPED) lose_start(self, death);
    else if (at == self->active) lose_active(self, death, was.state == SLOT_STOPPED);
    else if (!mt_slot_is_leaving(&was) || death->is_timeout) lose_reserve(self, had_started);
    if (death->is_lost) {
        mt_error error;
        mt_device_release_held(self); /* what hung so is known */
        mt_error_set(&error, MT_ERR_GPU, "GPU %d (%s) is lost: its worker could not be killed", self->options.device, self->hello.facts.name);
        fail_with(self, &error);
    }
    refill_slot(self);
}

mt_status mt_device_worker_create(const mt_device_worker_options *options, mt_device_worker **out, mt_error *err)
{
    mt_device_worker *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "device worker: out of memory");
    self->options = *options;
    self->is_alone = mt_visible_alone(options->device, self->alone); /* once: the host's GPUs stay those that they are */
    if (!ensure_workers(self, err)) {
        mt_device_worker_destroy(self);
        return err->status;
    }
    *out = self;
    return MT_OK;
}

const mt_hello *mt_device_worker_hello(const mt_device_worker *self)
{
    return self->was_greeted ? &self->hello : NULL;
}

const char *mt_device_worker_bus_id(const mt_device_worker *self)
{
    return self->bus_id;
}

int64_t mt_device_worker_pid(const mt_device_worker *self)
{
    return self->active && self->active->worker ? mt_worker_pid(self->active->worker) : 0;
}

int64_t mt_device_worker_restarts(const mt_device_worker *self)
{
    return self->restarts;
}

mt_status mt_device_worker_evaluate(mt_device_worker *self, const mt_evaluate_order *request, double first_run_s, mt_error *err)
{
    mt_status st = MT_OK;
    mt_message message = {.type = MT_MESSAGE_PREPARE, .evaluate = *request};
    mt_strbuf_clear(&self->order.preparation);
    MT_TRY(mt_proto_encode(&message, &self->order.preparation, err));
    mt_strbuf_clear(&self->order.frame);
    message.type = MT_MESSAGE_EVALUATE;
    MT_TRY(mt_proto_encode(&message, &self->order.frame, err));
    self->order.id = request->id;
    self->order.attempts = self->order.stops = 0;
    self->order.extra_s = request->energy_ns > 0 ? ENERGY_BASE_S + ENERGY_LOOPS * (double)request->energy_ns / 1e9 : 0;
    self->order.first_run_s = first_run_s;
    self->order.ordered_ns = mt_clock_now_ns();
    mt_order_enter(&self->order, ORDER_QUEUED);
    send_order(self);
done:
    return st;
}

/* A process that was stopped (by SIGSTOP; Ctrl-Z stops us too) answers nothing until somebody lets it go on, perhaps never. */
static void replace_stopped(slot *at)
{
    mt_device_worker *self = at->owner;
    at->stopped_count = mt_worker_is_stopped(at->worker) ? at->stopped_count + 1 : 0;
    if (at->stopped_count < STOPPED_CHECKS) return;
    char text[96];
    snprintf(text, sizeof text, "device worker %lld was stopped (SIGSTOP) and is replaced", (long long)mt_worker_pid(at->worker));
    self->options.notice(self->options.context, text);
    if (at == self->active) begin_incident(self);
    mt_device_retire(at, SLOT_STOPPED);
}

void mt_device_worker_tick(mt_device_worker *self)
{
    static const int64_t second_ns = 1000000000;
    int64_t now = mt_clock_now_ns();
    if (self->life != LIFE_WORKING) return;
    if (now - self->checked_ns > second_ns) {
        self->checked_ns = now;
        for (size_t i = 0; i < SLOTS; i++)
            if (mt_slot_is_usable(&self->slots[i])) replace_stopped(&self->slots[i]);
    }
    refill_slot(self);
}

const mt_strbuf *mt_device_worker_frame(const mt_device_worker *self)
{
    return &self->order.frame;
}

void mt_device_worker_abort(mt_device_worker *self)
{
    if (mt_order_is_sent(&self->order) && self->active) mt_worker_kill(self->active->worker);
    mt_device_drop_order(self);
}

void mt_device_worker_stop(mt_device_worker *self)
{
    if (self->life == LIFE_STOPPED) return;
    self->life = LIFE_STOPPED;
    for (size_t i = 0; i < SLOTS; i++)
        if (self->slots[i].worker) mt_worker_kill(self->slots[i].worker);
}

void mt_device_worker_destroy(mt_device_worker *self)
{
    if (!self) return;
    mt_device_worker_stop(self);
    while (self->open_handles) uv_run(self->options.loop, UV_RUN_ONCE);
    mt_device_drop_order(self);
    mt_strbuf_free(&self->order.frame);
    mt_strbuf_free(&self->order.preparation);
    mt_free(self);
}
