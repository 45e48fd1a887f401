/* How a report asks what the lookup library would answer. */
#pragma once

#include <stdbool.h>

#include "db/store/query.h"

/* A shape of one state of a kernel's source on a GPU, by their stored keys. */
typedef struct mt_report_question { const char *gpu_key, *kernel, *kernel_key, *shape_key; mt_origin origin; } mt_report_question;
/* What a program that asks for it is told. */
typedef struct mt_report_answer {
    const char *gets;        /* a few words; static */
    double slowdown;         /* expected, against the best for the shape; NAN = nothing is expected */
    double bound;            /* in nine of ten cases it is no greater; NAN = no bound is known */
    bool is_predicted;       /* else its slowdown was measured, or the question has no answer: nothing to bound */
    bool is_own;             /* the winner of that very shape on that GPU */
    bool is_nothing;         /* there is no answer */
} mt_report_answer;
/* Who can ask the lookup library, and knows the search spaces: reports know the store alone. */
typedef struct mt_report_lookup {
    bool (*ask)(void *context, const mt_report_question *question, mt_report_answer *answer); /* false: nothing can be said */
    const char *(*refusal)(void *context, const mt_report_question *question, const char *variant); /* why the winner of that shape is not handed out; NULL: it is, or nothing can be said */
    const char *(*today)(void *context, const char *kernel); /* the key of the kernel's source as it is now; NULL = not known */
    void *context;
} mt_report_lookup;
