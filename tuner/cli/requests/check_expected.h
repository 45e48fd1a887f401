/* Whether a `reference = file:…` is the expected output that a shape needs. */
#ifndef MT_CLI_REQUESTS_CHECK_EXPECTED_H
#define MT_CLI_REQUESTS_CHECK_EXPECTED_H

#include "tuner/space/points/space.h"

/* An error that names the file, what it holds and what was expected, when it is no .npy file or of another type or shape than the first output. MT_OK where the reference is no file. */
mt_status mt_check_expected(const mt_space *space, const mt_device_facts *facts, mt_error *err);

#endif
