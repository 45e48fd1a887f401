/* Whose folder it is: parts of one plan must not be taken for those of another. */
#pragma once

#include "tuner/cluster/scripts.h"

/* Before mt_cluster_write: makes plan->folder fit for the plan, and writes plan->id: that of the folder where it holds the same plan, else a new one. Nothing is done where it is empty or holds
 * the same plan. Where it holds another one of which nothing has begun (no part, no
 * result, no submitted job), that one's scripts are removed. USAGE error where it has begun, unless `replaces`: then scripts and results are moved into old-N in the folder. USAGE error in that case
 * while jobs of it wait or run, as far as squeue tells. Files of others, and template.sh, stay as they are. */
mt_status mt_cluster_folder_claim(mt_cluster_plan *plan, bool replaces, mt_error *err);
