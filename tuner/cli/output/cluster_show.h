/* What `slurm --status` prints. */
#ifndef MT_CLI_OUTPUT_CLUSTER_SHOW_H
#define MT_CLI_OUTPUT_CLUSTER_SHOW_H

#include <stdbool.h>

#include "tuner/base/status.h"

/* Tasks, their stand and the best so far, on stdout. */
mt_status mt_cluster_show(const char *folder, bool as_json, mt_error *err);

#endif
