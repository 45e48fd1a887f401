/* The states of a GPU's processes, its order and its incident: which follows which. A step that no table has would attribute a fault to the wrong variant: it ends the session in every build. */
#undef NDEBUG
#include <assert.h>

#include "tuner/base/clock.h"
#include "tuner/worker/device_worker_internal.h"

#define TO(state) (1u << (state))

/* Every process may leave, and may be gone, at any time. */
static const unsigned slot_steps[SLOT_STATE_COUNT] = {
    [SLOT_FREE] = TO(SLOT_STARTING),
    [SLOT_STARTING] = TO(SLOT_STARTED) | TO(SLOT_READY), /* READY: the first one, which makes its context before it says HELLO */
    [SLOT_STARTED] = TO(SLOT_ENTERING),
    [SLOT_ENTERING] = TO(SLOT_READY) | TO(SLOT_STARTED), /* STARTED: the GPU did not let it in */
    [SLOT_READY] = TO(SLOT_PREPARING),
    [SLOT_PREPARING] = TO(SLOT_READY),
};

static const unsigned order_steps[ORDER_STATE_COUNT] = {
    [ORDER_NONE] = TO(ORDER_QUEUED),
    [ORDER_QUEUED] = TO(ORDER_SENT) | TO(ORDER_NONE),
    [ORDER_SENT] = TO(ORDER_QUEUED) | TO(ORDER_SUSPECT_QUEUED) | TO(ORDER_HELD) | TO(ORDER_NONE), /* QUEUED: its process is gone, by no doing of its own */
    [ORDER_SUSPECT_QUEUED] = TO(ORDER_SUSPECT_SENT) | TO(ORDER_HELD) | TO(ORDER_NONE),
    [ORDER_SUSPECT_SENT] = TO(ORDER_SUSPECT_QUEUED) | TO(ORDER_HELD) | TO(ORDER_NONE),
    [ORDER_HELD] = TO(ORDER_NONE),
};

static const unsigned incident_steps[INCIDENT_STATE_COUNT] = {
    [INCIDENT_NONE] = TO(INCIDENT_OPEN),
    [INCIDENT_OPEN] = TO(INCIDENT_PROVEN),
    [INCIDENT_PROVEN] = TO(INCIDENT_REFILLING),
    [INCIDENT_REFILLING] = TO(INCIDENT_NONE) | TO(INCIDENT_OPEN),
};

enum slot_state mt_slot_was(const slot *at)
{
    return mt_slot_is_leaving(at) ? at->left : at->state;
}

void mt_slot_enter(slot *at, enum slot_state state)
{
    at->since_ns = mt_clock_now_ns();
    if (state < SLOT_LEAVING) {
        assert(slot_steps[mt_slot_was(at)] & TO(state));
        *(mt_slot_is_leaving(at) ? &at->left : &at->state) = state;
    } else if (!mt_slot_is_leaving(at)) {
        assert(at->state != SLOT_FREE);
        at->left = at->state;
        at->state = state;
    }
}

void mt_order_enter(struct order *order, enum order_state state)
{
    assert(order_steps[order->state] & TO(state));
    order->state = state;
}

void mt_incident_enter(struct incident *incident, enum incident_state state)
{
    assert(incident_steps[incident->state] & TO(state));
    incident->state = state;
}

bool mt_order_is_sent(const struct order *order)
{
    return order->state == ORDER_SENT || order->state == ORDER_SUSPECT_SENT;
}

bool mt_order_is_queued(const struct order *order)
{
    return order->state == ORDER_QUEUED || order->state == ORDER_SUSPECT_QUEUED;
}

bool mt_order_is_suspect(const struct order *order)
{
    return order->state == ORDER_SUSPECT_QUEUED || order->state == ORDER_SUSPECT_SENT;
}

bool mt_incident_is_open(const struct incident *incident)
{
    return incident->state == INCIDENT_OPEN || incident->state == INCIDENT_PROVEN;
}
