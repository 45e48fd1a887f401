/* `msda-tune check`: what the space's cost model says of its points. */
#pragma once

#include "tuner/space/points/space.h"

/* points[count]: indices of the space. MT_ERR_SPEC, with file, line and the point, where [model] time_ns has no time of at least 1 for one of them; NO_MEMORY. */
mt_status mt_check_model(const mt_space *space, const mt_device_facts *facts, const size_t *points, size_t count, mt_error *err);
