/* Measuring a variant's energy. The decisions are in energy_rules.h. */
#pragma once

#include "tuner/gpu/trial/trial.h"

/* Fills outcome->energy after mt_trial_time; where it can't be measured the outcome's text says why, and it stays OK. */
mt_status mt_trial_energy(mt_gpu_trial *trial, mt_error *err);
