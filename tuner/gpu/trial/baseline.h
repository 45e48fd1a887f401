/* A baseline plugin (include/msda_baseline.h) in the place of a variant's launches: everything else of an evaluation stays as it is. */
#pragma once

#include "tuner/gpu/trial/trial.h"

typedef struct mt_baseline mt_baseline; /* the plugin, open for the shape that it was asked for last; one per mt_gpu */

/* Opens the plugin that the request names for its shape, unless it is open for that. What is missing (plugin, library, an algorithm of that number) is the trial's outcome, load_error. */
mt_status mt_baseline_prepare(mt_gpu_trial *trial, mt_error *err);
/* Queues the request's algorithm over the binding's buffers. */
CUresult mt_baseline_run(mt_gpu_trial *trial, const mt_binding *binding);
/* Where the algorithm itself said that it failed, its code takes the place of the driver's in the outcome. */
void mt_baseline_explain(mt_gpu_trial *trial);
/* What the plugin says of the algorithm; borrowed until the next call. */
const char *mt_baseline_text(mt_gpu_trial *trial);
