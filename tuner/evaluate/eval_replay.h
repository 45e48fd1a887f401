/* Answers trials from a recording: the whole tool without a GPU. */
#pragma once

#include "db/store/store.h"
#include "tuner/evaluate/evaluator.h"

/* `gpu` as after "recorded:" (model, or a leading part: "h100"). `recordings` is an open store with rows of origin `recorded`; it must outlive the
 * evaluator. NO_GPU, naming the recorded GPUs, when there is none for `gpu`; USAGE when it fits several. Rows of the cache state that begin() is told count. begin() answers MT_ERR_NOT_FOUND for a shape and workload without a recording. */
mt_status mt_eval_replay_create(mt_store *recordings, const char *gpu, const mt_spec *spec, mt_evaluator **evaluator, mt_error *err);
/* Subjects that `recordings` lacks are answered from `under`, the shipped recordings, where these are of the same source; those that both have are told. It must outlive the evaluator; NULL is a no-op. */
void mt_eval_replay_over(mt_evaluator *evaluator, mt_store *under);
