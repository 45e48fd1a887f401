/* What `slurm --status` prints. */
#pragma once

#include <stdbool.h>

#include "tuner/base/status.h"

/* Tasks, their stand and the best so far, on stdout. */
mt_status mt_cluster_show(const char *folder, bool as_json, mt_error *err);
