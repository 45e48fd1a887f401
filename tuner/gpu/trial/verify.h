/* Validating a variant: its outputs against the reference, the guard bands, its inputs. The rules are in verify_rules.h. */
#pragma once

#include "tuner/gpu/trial/trial.h"

/* Two runs per seed against the reference: faults, guard bands, inputs, values, bits. The first of them; binds the inputs that timing takes. */
mt_status mt_trial_validate_first(mt_gpu_trial *trial, mt_error *err);
/* Right after timing: what the last timed run left, and one more run in the scratch that it left. */
mt_status mt_trial_validate_timed(mt_gpu_trial *trial, mt_error *err);
/* The other runs. */
mt_status mt_trial_validate_rest(mt_gpu_trial *trial, mt_error *err);
