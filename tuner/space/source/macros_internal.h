/* Inside of macros.c and macros_check.c. */
#pragma once

#include "tuner/space/source/macros.h"

/* MT_ERR_SPEC when two options give one name different values. `workload`: NULL = its values are no macros here. */
mt_status mt_macros_check(const mt_env *env, const mt_workload *workload, const mt_options *options, mt_error *err);
