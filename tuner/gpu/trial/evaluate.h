/* The life of one variant on the device: load → occupancy → validate → time. */
#pragma once

#include "tuner/gpu/device/device.h"
#include "tuner/gpu/trial/evaluate_request.h"

/* Evaluates; everything a variant can do wrong is an outcome. *sticky is set when the context is no longer usable (the worker must exit after replying). Calls mt_subject_memory first. */
mt_status mt_gpu_evaluate(mt_gpu *gpu, const mt_evaluate_request *request, mt_stage_callback stage, void *context, mt_outcome *outcome, bool *sticky, mt_error *err);

/* {"launches":[{"entry":…,"grid":[…],"block":[…],"cluster":[…],"smem":…,"carveout":…}]} of the last evaluation, as launched; NULL when it got not that far. Valid until the next call. */
const char *mt_gpu_launch_json(const mt_gpu *gpu);

/* An output of the subject of which every expected element is NaN or infinite, as a variant that passed showed: its values are hardly checked. NULL = none seen. The spec's text. */
const char *mt_gpu_vacuous(const mt_gpu *gpu);
