/* Timing a variant. The decisions are in timing_rules.h, what it needs on the device in timer.h. */
#pragma once

#include "tuner/gpu/trial/trial.h"

/* Samples until the rules have enough: outcome->timing and its samples, or "censored". */
mt_status mt_trial_time(mt_gpu_trial *trial, mt_error *err);
