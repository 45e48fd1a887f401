/* What has happened and was not yet asked for. */
#pragma once

#include "tuner/evaluate/evaluator.h"

typedef struct mt_event_queue {
    mt_event *events;
    size_t first, count, capacity;
    bool failed; /* memory ran out: events are missing */
} mt_event_queue; /* zero-initialise */

void mt_event_queue_push(mt_event_queue *queue, mt_event *event); /* takes what the event owns */
/* DONE without more than a kind and a text. */
void mt_event_queue_push_done(mt_event_queue *queue, uint64_t trial, mt_outcome_kind kind, const char *text);
bool mt_event_queue_pop(mt_event_queue *queue, mt_event *event);
/* Drops events of a kind that has not been asked for (READY of cancelled trials). */
void mt_event_queue_drop(mt_event_queue *queue, mt_event_kind kind);
void mt_event_queue_free(mt_event_queue *queue);
void mt_event_free(mt_event *event); /* zeroed struct is fine */
