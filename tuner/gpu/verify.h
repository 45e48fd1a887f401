/* Validating a variant: its outputs against the reference, the guard bands, its inputs. The rules are in verify_rules.h. */
#ifndef MT_GPU_VERIFY_H
#define MT_GPU_VERIFY_H

#include "tuner/gpu/trial.h"

/* Two runs per seed against the reference: faults, guard bands, inputs, values, bits. */
mt_status mt_trial_validate(mt_gpu_trial *trial, mt_error *err);
/* After timing: what the last timed run left, and one more run in the scratch that it left. */
mt_status mt_trial_validate_again(mt_gpu_trial *trial, mt_error *err);

#endif
