/* What is asked of an evaluation: how far it goes, and how it is timed. One numbering for the session, the protocol and the worker. */
#pragma once

#include <stdint.h>

typedef enum mt_depth {
    MT_DEPTH_FULL,
    MT_DEPTH_VALIDATE, /* not timed */
    MT_DEPTH_RUN,      /* launched twice, neither validated nor timed */
    MT_DEPTH_COUNT
} mt_depth;

/* Figures of the two methods differ by launch latency, so that what is compared must have been timed by one. */
typedef enum mt_method {
    MT_METHOD_BY_LENGTH, /* in CUDA graphs when it is shorter than graph_below_ns */
    MT_METHOD_GRAPH,     /* also when it takes up to MT_METHOD_REACH times as long: what it competes with was timed so */
    MT_METHOD_EVENTS,
    MT_METHOD_COUNT
} mt_method;
enum { MT_METHOD_REACH = 4 };

/* As a time with so many launches per sample was measured; 0: unknown. */
static inline mt_method mt_method_of(uint32_t batch)
{
    return batch == 0 ? MT_METHOD_BY_LENGTH : batch > 1 ? MT_METHOD_GRAPH : MT_METHOD_EVENTS;
}
