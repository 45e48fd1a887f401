/* Measuring a variant's energy. The decisions are in energy_rules.h. */
#ifndef MT_GPU_TRIAL_ENERGY_H
#define MT_GPU_TRIAL_ENERGY_H

#include "tuner/gpu/trial/trial.h"

/* Fills outcome->energy after mt_trial_time; where it can't be measured the outcome's text says why, and it stays OK. */
mt_status mt_trial_energy(mt_gpu_trial *trial, mt_error *err);

#endif
