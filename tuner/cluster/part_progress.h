/* How far the tasks of a folder are, from its plan, from the parts that they write, and from Slurm where it is there. Nothing is written. */
#pragma once

#include <stdint.h>

#include "tuner/base/job.h"
#include "tuner/cluster/jobs.h"

typedef enum mt_cluster_stand {
    MT_CLUSTER_WAITING, /* not begun, or back in the queue */
    MT_CLUSTER_RUNNING,
    MT_CLUSTER_DONE,
    MT_CLUSTER_STOPPED, /* ended before it was done: interrupted, out of time, its node lost; the same task goes on from there */
    MT_CLUSTER_FAILED,
    MT_CLUSTER_STANDS
} mt_cluster_stand;
const char *mt_cluster_stand_name(mt_cluster_stand stand);

typedef struct mt_cluster_row {
    char *part, *job, *label;  /* owned */
    long long job_id, index;   /* job_id 0 = not submitted; index among the tasks */
    long long before;          /* tasks of the arrays before its own: there it has index - before */
    mt_cluster_stand stand;
    char why[120];             /* what Slurm or the part says of it; "" = nothing more */
    bool is_log_wanted;        /* what it failed of is told by its log alone */
    char node[64], left[24];
    char session_job[MT_JOB_SIZE]; /* of the part's last run, as mt_job_text writes it; "" = not known */
    int64_t evaluated, sessions; /* of all runs of the task; variants that were known are not counted again */
    int64_t failed;            /* of the part, as its last run knew */
    double seconds;            /* that its ended runs took */
} mt_cluster_row;

/* The fastest of a subject over all parts. */
typedef struct mt_cluster_best {
    char *gpu, *kernel, *shape, *workload, *l2, *variant; /* owned */
    double median_ns;
} mt_cluster_best;

typedef struct mt_cluster_progress {
    char plan[MT_JOB_PLAN_SIZE]; /* its identity; "" = of an older tool */
    mt_cluster_row *rows;
    size_t row_count, row_capacity;
    mt_cluster_best *bests;
    size_t best_count, best_capacity;
    char *stages;              /* owned: "merge: PENDING, final: …", "" = nothing known */
    bool is_submitted, is_asked; /* jobs.tsv names a job; Slurm answered */
    size_t counts[MT_CLUSTER_STANDS];
    double left_s;             /* about; NAN = nothing is done yet, or nothing runs */
} mt_cluster_progress;

/* NOT_FOUND when the folder has no plan.tsv. A part that cannot be read is told in its row. mt_cluster_progress_free in every case. */
mt_status mt_cluster_progress_read(const char *folder, mt_cluster_progress *progress, mt_error *err);
void mt_cluster_progress_free(mt_cluster_progress *progress);
