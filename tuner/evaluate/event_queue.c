#include "tuner/evaluate/event_queue.h"

#include <string.h>

#include "tuner/base/alloc.h"

void mt_event_free(mt_event *event)
{
    mt_outcome_free(&event->outcome);
    mt_free(event->launch_json);
    mt_free(event->cubin_path);
    memset(event, 0, sizeof *event);
}

void mt_event_queue_push(mt_event_queue *queue, mt_event *event)
{
    if (queue->first > 0 && queue->first + queue->count == queue->capacity) {
        memmove(queue->events, queue->events + queue->first, queue->count * sizeof *queue->events);
        queue->first = 0;
    }
    mt_event *events = mt_grow(queue->events, queue->first + queue->count, &queue->capacity, sizeof *events);
    if (!events) {
        queue->failed = true;
        mt_event_free(event);
        return;
    }
    queue->events = events;
    queue->events[queue->first + queue->count++] = *event;
}

void mt_event_queue_push_done(mt_event_queue *queue, uint64_t trial, mt_outcome_kind kind, const char *text)
{
    mt_event event = {.kind = MT_EVENT_DONE, .trial = trial};
    mt_outcome_set(&event.outcome, kind, "%s", text ? text : "");
    mt_event_queue_push(queue, &event);
}

bool mt_event_queue_pop(mt_event_queue *queue, mt_event *event)
{
    if (queue->count == 0) return false;
    *event = queue->events[queue->first++];
    if (--queue->count == 0) queue->first = 0;
    return true;
}

void mt_event_queue_drop(mt_event_queue *queue, mt_event_kind kind)
{
    size_t kept = 0;
    for (size_t i = 0; i < queue->count; i++) {
        mt_event *event = &queue->events[queue->first + i];
        if (event->kind == kind) mt_event_free(event);
        else queue->events[queue->first + kept++] = *event;
    }
    queue->count = kept;
}

void mt_event_queue_free(mt_event_queue *queue)
{
    mt_event event;
    while (mt_event_queue_pop(queue, &event)) mt_event_free(&event);
    mt_free(queue->events);
    memset(queue, 0, sizeof *queue);
}
