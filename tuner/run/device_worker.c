#include "tuner/run/device_worker.h"

#include <string.h>

#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/run/worker.h"

enum { MAX_ATTEMPTS = 2, MAX_IDLE_DEATHS = 3 };
/* A counter's 20 periods, its patience and settling, then perhaps power readings: generously. */
static const double ENERGY_BASE_S = 10, ENERGY_LOOPS = 20;
enum part { PART_SUBJECT, PART_VARIANT, PART_COUNT };

struct mt_device_worker {
    mt_device_worker_options options;
    mt_worker *worker; /* NULL = absent */
    mt_hello hello;
    bool is_greeted, was_greeted; /* this worker; any worker */
    bool is_leaving;              /* it reported a sticky error */
    bool is_failed, is_closing;
    int64_t restarts;
    int idle_deaths;              /* in a row, with nothing under way */
    size_t open_handles;
    /* the evaluation */
    bool has_order, is_sent;
    uint64_t id;
    mt_strbuf frame;
    int attempts;
    mt_work work;
    enum part part;
    int64_t part_started_ns;
    double left_s[PART_COUNT];
    double extra_s;               /* that the order's energy loop may take beside the variant's limit */
    int served;                   /* evaluations that this worker has ended */
    /* a fault that waits for the suspect's replay alone */
    bool is_replay;
    mt_outcome suspicion;
    char *suspicion_launch;
};

static void settle_replay(mt_device_worker *self, const mt_outcome *alone);

static void fail_with(mt_device_worker *self, const mt_error *error)
{
    if (self->is_failed || self->is_closing) return;
    if (self->is_replay) settle_replay(self, NULL);
    self->is_failed = true;
    self->options.failed(self->options.context, error);
}

static double limit_of(const mt_device_worker *self, enum part part)
{
    return part == PART_SUBJECT ? self->options.subject_limit_s : self->options.variant_limit_s + self->extra_s;
}

static void enter_work(mt_device_worker *self, mt_work work)
{
    enum part part = work < MT_WORK_LOAD ? PART_SUBJECT : PART_VARIANT;
    self->work = work;
    if (part == self->part) return;
    int64_t now = mt_clock_now_ns();
    self->left_s[self->part] -= (double)(now - self->part_started_ns) / 1e9;
    self->part = part;
    self->part_started_ns = now;
    double left = self->left_s[part];
    mt_worker_deadline(self->worker, left > 0.001 ? left : 0.001);
}

static void send_order(mt_device_worker *self)
{
    if (!self->has_order || self->is_sent || !self->is_greeted || self->is_leaving) return;
    mt_error error;
    mt_worker_forget_log(self->worker);
    if (mt_worker_send(self->worker, &self->frame, &error) != MT_OK) {
        fail_with(self, &error);
        return;
    }
    self->is_sent = true;
    self->attempts++;
    self->work = MT_WORK_START;
    self->part = PART_SUBJECT;
    self->part_started_ns = mt_clock_now_ns();
    for (int i = 0; i < PART_COUNT; i++) self->left_s[i] = limit_of(self, i);
    mt_worker_deadline(self->worker, self->left_s[PART_SUBJECT]);
}

static void report(mt_device_worker *self, mt_outcome *outcome, char *launch_json)
{
    self->has_order = self->is_sent = false;
    self->idle_deaths = 0;
    self->served++;
    self->options.done(self->options.context, self->id, outcome, &launch_json);
    mt_outcome_free(outcome);
    mt_free(launch_json);
}

/* ---- exact blame ---- */

/* A sticky error is told by whichever call comes after it, and an earlier variant's wild write may be what made this one fault. What ran first in
 * its worker was alone already; any other is run once more, alone in the next worker. */
static bool needs_replay(const mt_device_worker *self, const mt_outcome *outcome)
{
    return outcome->kind == MT_OUTCOME_GPU_FAULT && !self->is_replay && self->served > 0;
}

static void begin_replay(mt_device_worker *self, const mt_outcome *fault, char *launch_json)
{
    self->is_replay = true;
    self->suspicion = *fault;
    self->suspicion_launch = launch_json;
    self->is_sent = false; /* the next worker gets the order again */
    self->attempts = 0;
}

static void drop_suspicion(mt_device_worker *self)
{
    mt_outcome_free(&self->suspicion);
    mt_free(self->suspicion_launch);
    self->suspicion_launch = NULL;
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
static void settle_replay(mt_device_worker *self, const mt_outcome *alone)
{
    mt_outcome outcome = self->suspicion;
    char *first = outcome.text, *launch_json = self->suspicion_launch;
    memset(&self->suspicion, 0, sizeof self->suspicion);
    self->suspicion_launch = NULL;
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

static void conclude(mt_device_worker *self, mt_outcome *outcome, char *launch_json)
{
    if (self->is_replay) {
        settle_replay(self, outcome);
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

static void on_hello(mt_device_worker *self, mt_hello *hello)
{
    if (hello->status != MT_OK) {
        mt_error error;
        mt_error_set(&error, hello->status, "%s%s", self->was_greeted ? "the GPU is gone after a worker's restart: " : "", hello->error ? hello->error : "the device worker cannot work");
        fail_with(self, &error);
        return;
    }
    self->hello = *hello;
    self->hello.error = self->hello.bus_id = NULL; /* the message frees them */
    self->is_greeted = self->was_greeted = true;
    mt_worker_deadline(self->worker, 0);
    send_order(self);
}

static void on_verdict(mt_device_worker *self, mt_verdict *verdict)
{
    if (!self->has_order || !self->is_sent || verdict->id != self->id) return;
    mt_worker_deadline(self->worker, 0);
    if (verdict->is_sticky) {
        self->is_leaving = true; /* it exits by itself, or is killed after the grace */
        self->restarts += !self->is_replay; /* the second worker that a suspect costs belongs to the same incident */
        mt_worker_deadline(self->worker, 2.0);
    }
    if (verdict->status != MT_OK) {
        mt_error error;
        mt_error_set(&error, verdict->status, "%s", verdict->error ? verdict->error : "the device worker failed");
        self->has_order = self->is_sent = false;
        fail_with(self, &error);
        return;
    }
    self->options.foreign(self->options.context, verdict->foreign_processes);
    char *launch_json = (char *)verdict->launch_json;
    mt_outcome outcome = verdict->outcome;
    memset(&verdict->outcome, 0, sizeof verdict->outcome); /* both are ours now */
    verdict->launch_json = NULL;
    conclude(self, &outcome, launch_json);
}

static void on_message(void *context, mt_message *message)
{
    mt_device_worker *self = context;
    switch (message->type) {
    case MT_MESSAGE_HELLO: on_hello(self, &message->hello); break;
    case MT_MESSAGE_STAGE:
        if (self->is_sent && message->stage.id == self->id) enter_work(self, message->stage.work);
        break;
    case MT_MESSAGE_RESULT: on_verdict(self, &message->verdict); break;
    default: break;
    }
}

static mt_status spawn(mt_device_worker *self, mt_error *err);

/* The worker died, or was killed, with an evaluation under way: whose fault is it? */
static void blame(mt_device_worker *self, const mt_worker_death *death)
{
    mt_strbuf text = {0};
    if (death->is_timeout)
        mt_strbuf_addf(&text, "no end within %g s, in stage %s", limit_of(self, self->part), mt_work_name(self->work));
    else
        mt_strbuf_addf(&text, "%s in stage %s", death->how, mt_work_name(self->work));
    if (death->log_tail[0]) mt_strbuf_addf(&text, "\n%s", death->log_tail);
    if (self->part == PART_VARIANT) {
        mt_outcome outcome = {0};
        mt_outcome_set(&outcome, death->is_timeout ? MT_OUTCOME_TIMEOUT : MT_OUTCOME_CRASHED, "%s", mt_strbuf_text(&text));
        conclude(self, &outcome, NULL);
    } else if (self->attempts < MAX_ATTEMPTS && !death->is_lost) {
        self->is_sent = false; /* the next worker gets it */
    } else {
        mt_error error;
        mt_error_set(&error, MT_ERR_GPU, "the inputs or the reference could not be made: %s", mt_strbuf_text(&text));
        fail_with(self, &error);
    }
    mt_strbuf_free(&text);
}

static void fail_start(mt_device_worker *self, const mt_worker_death *death)
{
    mt_error error;
    mt_error_set(&error, MT_ERR_WORKER, "the device worker did not start: %s%s%s", death->is_timeout ? "no answer" : death->how, death->log_tail[0] ? "\n" : "", death->log_tail);
    fail_with(self, &error);
}

/* Counts the loss; true when another worker should be tried. */
static bool may_replace(mt_device_worker *self, const mt_worker_death *death)
{
    mt_error error;
    if (!self->is_leaving && !self->is_replay) self->restarts++;
    if (self->is_sent)
        blame(self, death);
    else if (!self->is_leaving)
        self->idle_deaths++;
    if (death->is_lost) {
        mt_error_set(&error, MT_ERR_GPU, "GPU %d (%s) is lost: its worker could not be killed", self->options.device, self->hello.facts.name);
        fail_with(self, &error);
    } else if (self->idle_deaths > MAX_IDLE_DEATHS) {
        mt_error_set(&error, MT_ERR_WORKER, "the device worker keeps dying while it has nothing to do: %s", death->how);
        fail_with(self, &error);
    }
    return !self->is_failed;
}

static void on_gone(void *context, const mt_worker_death *death)
{
    mt_device_worker *self = context;
    bool had_started = self->is_greeted;
    self->worker = NULL;
    self->is_greeted = false;
    if (self->is_closing) return;
    if (!had_started) {
        fail_start(self, death);
        return;
    }
    mt_error error;
    bool again = may_replace(self, death);
    self->is_leaving = false;
    if (again && spawn(self, &error) != MT_OK) fail_with(self, &error);
}

/* Also in the background after a death, so that the start (cuInit, context: 0.3 s) overlaps with compiling. */
static mt_status spawn(mt_device_worker *self, mt_error *err)
{
    mt_worker_launch launch = {
        .role = "device",
        .device = self->options.device,
        .bundle_fd = self->options.bundle_fd,
        .env = self->options.env,
        .message = on_message,
        .gone = on_gone,
        .context = self,
        .open_handles = &self->open_handles,
    };
    self->is_greeted = false;
    self->served = 0;
    return mt_worker_spawn(self->options.loop, &launch, &self->worker, err);
}

mt_status mt_device_worker_create(const mt_device_worker_options *options, mt_device_worker **out, mt_error *err)
{
    mt_device_worker *self = mt_alloc(1, sizeof *self);
    if (!self) return MT_FAIL(err, MT_ERR_NO_MEMORY, "device worker: out of memory");
    self->options = *options;
    mt_status st = spawn(self, err);
    if (st != MT_OK) {
        mt_device_worker_destroy(self);
        return st;
    }
    *out = self;
    return MT_OK;
}

const mt_hello *mt_device_worker_hello(const mt_device_worker *self)
{
    return self->was_greeted ? &self->hello : NULL;
}

int64_t mt_device_worker_pid(const mt_device_worker *self)
{
    return self->worker ? mt_worker_pid(self->worker) : 0;
}

int64_t mt_device_worker_restarts(const mt_device_worker *self)
{
    return self->restarts;
}

mt_status mt_device_worker_evaluate(mt_device_worker *self, const mt_evaluate_order *order, mt_error *err)
{
    mt_strbuf_clear(&self->frame);
    mt_message message = {.type = MT_MESSAGE_EVALUATE, .evaluate = *order};
    mt_status st = mt_proto_encode(&message, &self->frame, err);
    if (st != MT_OK) return st;
    self->id = order->id;
    self->attempts = 0;
    self->extra_s = order->energy_ns > 0 ? ENERGY_BASE_S + ENERGY_LOOPS * (double)order->energy_ns / 1e9 : 0;
    self->has_order = true;
    self->is_sent = false;
    send_order(self);
    return MT_OK;
}

const mt_strbuf *mt_device_worker_frame(const mt_device_worker *self)
{
    return &self->frame;
}

void mt_device_worker_abort(mt_device_worker *self)
{
    if (!self->has_order) return;
    if (self->is_sent && self->worker) mt_worker_kill(self->worker);
    drop_suspicion(self);
    self->has_order = self->is_sent = false;
}

void mt_device_worker_destroy(mt_device_worker *self)
{
    if (!self) return;
    self->is_closing = true;
    if (self->worker) mt_worker_kill(self->worker);
    while (self->open_handles) uv_run(self->options.loop, UV_RUN_ONCE);
    drop_suspicion(self);
    mt_strbuf_free(&self->frame);
    mt_free(self);
}
