/* Whether the files of `reference = file:…` and `init = file:…` hold what a shape needs. */
#pragma once

#include "tuner/space/points/space.h"

/* An error that names the file, what it holds and what was expected, when one is no .npy file or of another type or shape than its argument. */
mt_status mt_check_files(const mt_space *space, const mt_device_facts *facts, mt_error *err);
