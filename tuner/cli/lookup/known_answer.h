/* What libtunelookup answers today for a search space's shapes, as tune asks it before it searches. */
#pragma once

#include "tuner/cli/lookup/plan_cache.h"
#include "tuner/session/session.h"

enum { MT_KNOWN_FILES = 2, MT_KNOWN_ANSWERS = MT_ANSWERS_MAX / MT_KNOWN_FILES /* of each */ };

typedef struct mt_known_answer {
    const mt_spec *spec;            /* borrowed, as are the facts */
    const mt_device_facts *facts;
    mt_plan_cache files[MT_KNOWN_FILES]; /* the database that is tuned into, then the user's over the shipped ones */
    tunelookup_result results[MT_KNOWN_FILES][MT_KNOWN_ANSWERS]; /* of the last call: their texts are what it gave */
    bool has_warned;       /* that a file is not trusted: once */
} mt_known_answer;

/* A file that is refused answers nothing, and whoever writes into it says why. `db`: the path that is tuned into; borrowed. */
void mt_known_answer_open(const char *db, const mt_spec *spec, const mt_device_facts *facts, bool is_recorded, mt_known_answer *answer);
void mt_known_answer_close(mt_known_answer *answer); /* zeroed struct is fine */
/* mt_answers.find; the context is the mt_known_answer. Reads the files anew: what was tuned meanwhile is known. */
size_t mt_known_answer_find(void *context, const mt_shape *shape, const mt_workload *workload, const char *variants[MT_ANSWERS_MAX]);
/* By what factor the answer may be slower than the best, as far as that is known, since the first such question: 1 where a row is exact, UNKNOWN_LOSS where nothing is known. */
#define MT_KNOWN_ANSWER_UNKNOWN_LOSS 3.0
double mt_known_answer_loss(mt_known_answer *answer, const mt_shape *shape, const mt_workload *workload);
/* Whether a file has a row of the shape itself, since the first such question. `workload` NULL: of a program that names none. */
bool mt_known_answer_is_exact(mt_known_answer *answer, const mt_shape *shape, const mt_workload *workload);
/* The facts as the library takes them; the name is borrowed. */
tunelookup_device mt_known_answer_device(const mt_device_facts *facts);
