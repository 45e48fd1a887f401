/* The processes of a GPU: one at work and two in reserve. All have started CUDA (which takes longest, and no memory of the device); one of the reserve also has a context, half a
 * gigabyte. The second makes its own while a fault's suspect is replayed or a process is torn down, and whoever takes the next order makes its inputs then. */
#include "tuner/base/clock.h"
#include "tuner/base/times.h"
#include "tuner/worker/device_worker_internal.h"

static const int64_t IDLE_NS = 100000000; /* a device without an order for that long waits for the compiler: time to make a context */

bool mt_slot_is_leaving(const slot *s)
{
    return s->state >= SLOT_LEAVING;
}

bool mt_slot_is_usable(const slot *s)
{
    return s->state != SLOT_FREE && s->state < SLOT_LEAVING;
}

bool mt_slot_has_context(const slot *s)
{
    return s->state == SLOT_READY || s->state == SLOT_PREPARING;
}

bool mt_slot_has_gpu(const slot *s)
{
    return mt_slot_was(s) >= SLOT_ENTERING;
}

static bool is_free(const slot *s)
{
    return s->state == SLOT_FREE;
}

static bool is_preparing(const slot *s)
{
    return s->state == SLOT_ENTERING || s->state == SLOT_PREPARING;
}

static bool is_starting(const slot *s)
{
    return s->state == SLOT_STARTING;
}

static bool is_making_context(const slot *s)
{
    return s->state == SLOT_ENTERING;
}

size_t mt_device_count_slots(const mt_device_worker *self, mt_slot_is is)
{
    size_t count = 0;
    for (size_t i = 0; i < SLOTS; i++) count += is(&self->slots[i]);
    return count;
}

static slot *find_slot(mt_device_worker *self, mt_slot_is is)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (is(&self->slots[i])) return &self->slots[i];
    return NULL;
}

bool mt_device_is_quiet(const mt_device_worker *self)
{
    return mt_device_count_slots(self, is_preparing) == 0 && mt_device_count_slots(self, mt_slot_is_leaving) == 0;
}

static int readiness(const slot *s)
{
    return (int)s->state + 4 * s->is_warm;
}

/* The readiest of those that could take over; NULL = none. */
static slot *find_reserve(mt_device_worker *self)
{
    slot *best = NULL;
    for (size_t i = 0; i < SLOTS; i++) {
        slot *at = &self->slots[i];
        if (at != self->active && mt_slot_is_usable(at) && (!best || readiness(at) > readiness(best))) best = at;
    }
    return best;
}

static mt_status spawn(mt_device_worker *self, slot *at, const mt_worker_launch *launch, mt_error *err)
{
    mt_worker_launch mine = *launch;
    *at = (slot){.owner = self};
    mine.role = self->was_greeted ? "reserve" : "device";
    mine.context = at;
    mt_status st = mt_worker_spawn(self->options.loop, &mine, &at->worker, err);
    if (st == MT_OK) mt_slot_enter(at, SLOT_STARTING);
    return st;
}

/* While CUDA starts in one process, making a context in another takes twice as long (seen: 0.55 s instead of 0.25), and an incident waits for that: until it is over only those
 * are started without which it can't end. */
static size_t wanted(const mt_device_worker *self)
{
    if (!mt_incident_is_open(&self->incident)) return USABLE;
    return mt_order_is_suspect(&self->order) || self->incident.state == INCIDENT_OPEN ? 2 : 1;
}

/* Who has no context gives way to one that has, for as long as the order was not sent: in a GPU that takes one process nobody else will ever get one. */
static void choose_active(mt_device_worker *self)
{
    slot *best = find_reserve(self);
    bool gives_way = self->active && !mt_order_is_sent(&self->order) && mt_slot_is_usable(self->active) && !mt_slot_has_context(self->active) && best && mt_slot_has_context(best);
    if (!self->active || gives_way) self->active = best;
}

/* That there is no reserve (too few descriptors, say) is no error. */
bool mt_device_ensure_workers(mt_device_worker *self, const mt_worker_launch *launch, mt_error *err)
{
    mt_error ignored;
    choose_active(self);
    if (!self->active) {
        slot *at = find_slot(self, is_free);
        if (at && spawn(self, at, launch, err) != MT_OK) return false;
        self->active = at;
    }
    while (self->was_greeted && !self->has_no_reserve && mt_device_count_slots(self, mt_slot_is_usable) < wanted(self)) {
        slot *at = find_slot(self, is_free);
        if (!at) break;
        self->has_no_reserve = spawn(self, at, launch, &ignored) != MT_OK;
    }
    return true;
}

void mt_device_retire(slot *at, enum slot_state leaving)
{
    mt_slot_enter(at, leaving);
    mt_worker_kill(at->worker);
}

/* ---- contexts and inputs ahead of time ---- */

static void prepare(slot *at, bool wants_subject)
{
    mt_error ignored;
    mt_device_worker *self = at->owner;
    mt_strbuf plain = {0};
    bool has_subject = wants_subject && self->order.preparation.length > 0;
    mt_message message = {.type = MT_MESSAGE_PREPARE};
    bool is_encoded = has_subject || mt_proto_encode(&message, &plain, &ignored) == MT_OK;
    if (is_encoded && mt_worker_send(at->worker, has_subject ? &self->order.preparation : &plain, &ignored) == MT_OK) {
        mt_slot_enter(at, mt_slot_has_context(at) ? SLOT_PREPARING : SLOT_ENTERING);
        at->is_warm = has_subject;
        mt_worker_deadline(at->worker, self->options.subject_limit_s);
    }
    mt_strbuf_free(&plain);
}

/* A GPU that takes one process must be free of all others. */
static bool may_enter(const mt_device_worker *self, const slot *at)
{
    if (at->state == SLOT_READY) return true;
    return at->state == SLOT_STARTED && (!self->takes_one || mt_device_count_slots(self, mt_slot_has_gpu) == 0);
}

/* The first one without a context. */
static slot *find_plain(mt_device_worker *self)
{
    for (size_t i = 0; i < SLOTS; i++) {
        slot *at = &self->slots[i];
        if (at != self->active && at->state == SLOT_STARTED && may_enter(self, at)) return at;
    }
    return NULL;
}

static bool has_ready_reserve(const mt_device_worker *self)
{
    for (size_t i = 0; i < SLOTS; i++) {
        const slot *at = &self->slots[i];
        if (at != self->active && mt_slot_is_usable(at) && mt_slot_has_gpu(at)) return true;
    }
    return false;
}

/* Nothing is wrong: the reserve gets its context while nobody is waiting for the device. */
static void provide_calmly(mt_device_worker *self)
{
    const struct order *order = &self->order;
    bool has_order = mt_order_is_queued(order) || mt_order_is_sent(order);
    bool is_idle = !has_order && (order->frame.length == 0 || mt_clock_now_ns() - order->ended_ns > IDLE_NS);
    slot *plain = is_idle && !has_ready_reserve(self) ? find_plain(self) : NULL;
    if (plain) prepare(plain, false);
}

/* The inputs of whoever comes next wait until a replay has made its own: two at once might not fit. */
static void provide_next(mt_device_worker *self)
{
    bool is_replay = mt_order_is_suspect(&self->order);
    bool is_active = self->active && mt_slot_is_usable(self->active) && !is_replay;
    slot *next = is_active ? self->active : find_reserve(self);
    bool wants_subject = !is_replay || (mt_order_is_sent(&self->order) && self->order.part == PART_VARIANT);
    if (next && may_enter(self, next) && (wants_subject ? !next->is_warm : !mt_slot_has_context(next))) prepare(next, wants_subject);
}

void mt_device_provide(mt_device_worker *self)
{
    if (!self->was_greeted || self->life != LIFE_WORKING) return;
    if (!mt_incident_is_open(&self->incident)) {
        provide_calmly(self);
        return;
    }
    bool wants_active = self->order.state == ORDER_SUSPECT_QUEUED && self->active && self->active->state == SLOT_STARTED;
    if (wants_active && may_enter(self, self->active)) prepare(self->active, false);
    provide_next(self);
    if (self->incident.state == INCIDENT_PROVEN || mt_device_count_slots(self, is_making_context) > 0) return;
    slot *plain = find_plain(self);
    if (plain) {
        prepare(plain, false);
        return;
    }
    /* Nobody else can be had: the one that is there has to be believed. */
    bool is_sole = self->has_no_reserve && self->active && mt_slot_has_context(self->active) && mt_device_count_slots(self, mt_slot_is_usable) == 1;
    if (is_sole) mt_incident_enter(&self->incident, INCIDENT_PROVEN);
    if (self->takes_one && mt_device_is_quiet(self) && mt_device_count_slots(self, is_starting) == 0) mt_device_distrust(self);
}

void mt_device_distrust(mt_device_worker *self)
{
    slot *spare = self->active;
    if (self->order.state != ORDER_HELD || self->incident.state == INCIDENT_PROVEN || !spare || !mt_slot_has_context(spare)) return;
    self->active = NULL;
    mt_device_retire(spare, SLOT_LEAVING);
}

bool mt_device_take_prepared(slot *at, const mt_prepared *prepared, mt_error *err)
{
    mt_device_worker *self = at->owner;
    bool had_context = at->state == SLOT_PREPARING;
    int64_t asked_ns = at->since_ns;
    mt_worker_deadline(at->worker, 0);
    mt_times_note(had_context ? "ready" : "entered", asked_ns, at->is_warm ? "with inputs" : NULL);
    if (had_context || prepared->status == MT_OK) { /* who had a context lacks the inputs at most, which an order makes too */
        mt_slot_enter(at, SLOT_READY);
        if (!had_context && self->incident.state == INCIDENT_OPEN) mt_incident_enter(&self->incident, INCIDENT_PROVEN);
        return true;
    }
    mt_slot_enter(at, SLOT_STARTED);
    at->is_warm = false;
    /* Whoever has left since it asked was still there then, perhaps: it may ask again. */
    if (mt_device_count_slots(self, mt_slot_has_gpu) == 0 && self->last_gone_ns < asked_ns)
        return (void)MT_FAIL(err, prepared->status, "the GPU is gone after a worker's restart: %s", prepared->error ? prepared->error : "no context"), false;
    self->takes_one = true; /* or it has no memory for more */
    return true;
}
