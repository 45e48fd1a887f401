/* Device workers and their GPU without processes and without time: every step of theirs, and the arrival of every message, is an event, and a seed chooses which of those that may
 * happen comes next. Stands in the place of worker.c and clock.c, so that device_worker.c is led through orders of events that a real machine shows only under load. */
#pragma once

#include <string.h>

#include "tests/unit/toy.h"
#include "tests/unit/unit.h"
#include "tuner/base/alloc.h"
#include "tuner/base/clock.h"
#include "tuner/worker/device_worker.h"
#include "tuner/worker/worker.h"

/* As ck_assert_msg, which writes to a pipe each time, also when all is well. */
#define must(condition, ...) ((condition) ? (void)0 : ck_abort_msg(__VA_ARGS__))

enum { MAX_PROCESSES = 16, MAX_QUEUE = 16, SHOT = 137 };

struct mt_worker {
    mt_worker_launch launch;
    bool is_started, has_context, is_hung, is_stopped, is_killed, is_dead, is_timeout;
    int served, to_exit; /* how it will end when its present step is done; 0 = it goes on, SHOT = it is killed from outside */
    bool has_deadline;
    mt_message in[MAX_QUEUE], out[MAX_QUEUE]; /* FIFO; those of `in` own their texts */
    size_t in_count, out_count;
};

static struct {
    mt_worker *processes[MAX_PROCESSES];
    int room;      /* contexts that the GPU takes at once */
    bool is_gone;  /* it takes none, and what is there is broken */
    int deaths;    /* of processes that did nothing, still to come */
    int stillborn; /* of the first ones, that die before they say HELLO */
    int stops;     /* of processes by SIGSTOP, still to come */
    bool is_stuck; /* the next process that is killed does not go */
    uint32_t seed;
    int64_t now_ns;
} gpu;

static uint32_t draw(uint32_t below)
{
    gpu.seed = gpu.seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(gpu.seed >> 8) * below) >> 24);
}

/* ---- in the place of clock.c and worker.c ---- */

int64_t mt_clock_now_ns(void)
{
    return gpu.now_ns += 1000;
}

int64_t mt_clock_thread_cpu_ns(void)
{
    return gpu.now_ns;
}

int64_t mt_clock_unix_ms(void)
{
    return gpu.now_ns / 1000000;
}

mt_status mt_worker_spawn(uv_loop_t *loop, const mt_worker_launch *launch, mt_worker **worker, mt_error *err)
{
    (void)loop;
    for (size_t i = 0; i < MAX_PROCESSES; i++) {
        if (gpu.processes[i]) continue;
        *worker = gpu.processes[i] = mt_alloc(1, sizeof **worker);
        must(*worker, "out of memory");
        (*worker)->launch = *launch;
        (*worker)->has_deadline = true;
        return MT_OK;
    }
    return MT_FAIL(err, MT_ERR_WORKER, "too many processes");
}

mt_status mt_worker_send(mt_worker *worker, const mt_strbuf *frame, mt_error *err)
{
    size_t used;
    must(worker->in_count < MAX_QUEUE, "nobody reads");
    if (worker->is_killed || worker->is_dead) return MT_OK;
    return mt_proto_decode(frame->text, frame->length, &worker->in[worker->in_count++], &used, err);
}

void mt_worker_deadline(mt_worker *worker, double seconds)
{
    worker->has_deadline = seconds > 0;
}

/* Deadlines pass when the seed says so, not by a clock. */
double mt_worker_deadline_left(const mt_worker *worker)
{
    return worker->has_deadline ? 1 : 0;
}

void mt_worker_kill(mt_worker *worker)
{
    worker->is_killed = true;
}

void mt_worker_forget_log(mt_worker *worker)
{
    (void)worker;
}

bool mt_worker_is_stopped(const mt_worker *worker)
{
    return worker->is_stopped;
}

int64_t mt_worker_pid(const mt_worker *worker)
{
    (void)worker;
    return 1;
}

void mt_worker_pretend_unkillable(bool unkillable)
{
    (void)unkillable;
}

/* ---- what a process does ---- */

static bool enter_gpu(mt_worker *self)
{
    int inside = 0;
    for (size_t i = 0; i < MAX_PROCESSES; i++) inside += gpu.processes[i] && gpu.processes[i]->has_context;
    if (!gpu.is_gone && !self->has_context) self->has_context = inside < gpu.room;
    return self->has_context && !gpu.is_gone;
}

static mt_message *say(mt_worker *self, mt_message_type type)
{
    must(self->out_count < MAX_QUEUE, "nobody listens");
    mt_message *message = &self->out[self->out_count++];
    *message = (mt_message){.type = type};
    return message;
}

static void say_hello(mt_worker *self)
{
    mt_hello *hello = &say(self, MT_MESSAGE_HELLO)->hello;
    hello->facts = toy_facts();
    self->is_started = true;
    if (strcmp(self->launch.role, "device") == 0 && !enter_gpu(self)) hello->status = MT_ERR_GPU, hello->error = "no context";
}

/* Says the stages up to `last`, unless the GPU is gone: then it dies in one of them. */
static bool pass_stages(mt_worker *self, uint64_t id, mt_work last)
{
    for (mt_work work = MT_WORK_INPUTS; work <= last; work++) {
        say(self, MT_MESSAGE_STAGE)->stage = (mt_stage_report){id, work};
        if (gpu.is_gone && draw(3) == 0) break;
    }
    if (gpu.is_gone) self->to_exit = 4;
    return !gpu.is_gone;
}

/* The variant's text is what shall happen. */
static void act(mt_worker *self, const mt_evaluate_order *order)
{
    const char *text = order->variant;
    must(self->has_context, "an order for a process without a context");
    if (strcmp(text, "vanish") == 0) gpu.is_gone = true;
    if (!pass_stages(self, order->id, MT_WORK_TIME)) return;
    if (strcmp(text, "crash") == 0) self->to_exit = 7;
    if (strcmp(text, "killed") == 0) self->to_exit = SHOT;
    if (strcmp(text, "hang") == 0) self->is_hung = true;
    if (self->to_exit || self->is_hung) return;
    mt_verdict *verdict = &say(self, MT_MESSAGE_RESULT)->verdict;
    verdict->id = order->id;
    verdict->is_sticky = strcmp(text, "fault") == 0 || strcmp(text, "linger") == 0 || (strcmp(text, "damaged") == 0 && self->served > 0);
    mt_outcome_set(&verdict->outcome, verdict->is_sticky ? MT_OUTCOME_GPU_FAULT : MT_OUTCOME_OK, "%s", text);
    self->served++;
    if (strcmp(text, "late_death") == 0) self->to_exit = 5;
    if (strcmp(text, "linger") == 0) self->is_hung = true;
    else if (verdict->is_sticky) self->to_exit = 1;
}

static void take_order(mt_worker *self)
{
    mt_message message = self->in[0];
    memmove(&self->in[0], &self->in[1], --self->in_count * sizeof self->in[0]);
    if (message.type == MT_MESSAGE_EVALUATE) act(self, &message.evaluate);
    if (message.type == MT_MESSAGE_PREPARE) {
        bool is_in = enter_gpu(self);
        mt_prepared *prepared = &say(self, MT_MESSAGE_PREPARED)->prepared;
        if (!is_in) prepared->status = MT_ERR_GPU, prepared->error = "no context";
    }
    mt_message_free(&message);
}

/* ---- events ---- */

enum event { STEP, DIE, DELIVER, GONE, EXPIRE, LEAVE, STOP, STICK, EVENT_COUNT };

static bool may_happen(const mt_worker *at, enum event event)
{
    bool lives = !at->is_dead && !at->is_killed && !at->to_exit && !at->is_hung && !at->is_stopped;
    switch (event) {
    case STEP: return lives && (!at->is_started || at->in_count > 0);
    case DIE: return !at->is_dead && (at->is_killed || at->to_exit);
    case DELIVER: return at->out_count > 0 && !at->is_killed;
    case GONE: return at->is_dead && (at->is_killed || at->out_count == 0);
    case EXPIRE: return at->is_hung && at->has_deadline && at->out_count == 0 && !at->is_killed;
    case LEAVE: return lives && at->is_started && at->in_count + at->out_count == 0 && strcmp(at->launch.role, "reserve") == 0 && gpu.deaths > 0 && draw(100) == 0; /* the system was short of memory */
    case STOP: return lives && gpu.stops > 0 && draw(100) == 0;
    case STICK: return at->is_killed && gpu.is_stuck;
    default: return false;
    }
}

static void forget(size_t index)
{
    mt_worker *at = gpu.processes[index];
    gpu.processes[index] = NULL;
    for (size_t i = 0; i < at->in_count; i++) mt_message_free(&at->in[i]);
    for (size_t i = 0; i < at->out_count; i++)
        if (at->out[i].type == MT_MESSAGE_RESULT) mt_outcome_free(&at->out[i].verdict.outcome);
    mt_free(at);
}

static void deliver(mt_worker *at)
{
    mt_message message = at->out[0];
    memmove(&at->out[0], &at->out[1], --at->out_count * sizeof at->out[0]);
    at->launch.message(at->launch.context, &message);
    if (message.type == MT_MESSAGE_RESULT) mt_outcome_free(&message.verdict.outcome);
}

static void happen(size_t index, enum event event)
{
    mt_worker *at = gpu.processes[index];
    const mt_worker_death death = {.is_timeout = at->is_timeout, .is_lost = event == STICK, .is_killed = at->to_exit == SHOT, .how = "its end", .log_tail = ""};
    if (event == STEP && gpu.stillborn > 0) at->to_exit = 9, gpu.stillborn--;
    else if (event == STEP && !at->is_started) say_hello(at);
    else if (event == STEP) take_order(at);
    else if (event == DIE) at->is_dead = true, at->has_context = false;
    else if (event == DELIVER) deliver(at);
    else if (event == STOP) at->is_stopped = true, gpu.stops--;
    else if (event == GONE || event == STICK) {
        if (event == STICK) gpu.is_stuck = false;
        at->launch.gone(at->launch.context, &death);
        forget(index);
    } else if (event == LEAVE) {
        at->to_exit = 9;
        gpu.deaths--;
    } else {
        at->is_timeout = at->is_killed = true;
        at->launch.doomed(at->launch.context);
    }
}

/* One of the events that may happen; false = none. */
static bool happen_any(void)
{
    size_t count = 0, chosen_index = 0;
    enum event chosen = STEP;
    for (size_t i = 0; i < MAX_PROCESSES; i++) {
        for (enum event event = STEP; gpu.processes[i] && event < EVENT_COUNT; event++) {
            if (!may_happen(gpu.processes[i], event) || draw((uint32_t)++count) != 0) continue;
            chosen_index = i;
            chosen = event;
        }
    }
    gpu.now_ns += draw(5000000);
    if (count) happen(chosen_index, chosen);
    return count > 0;
}
