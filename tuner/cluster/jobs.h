/* What Slurm says of jobs: squeue, and sacct for those that it has forgotten. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

typedef struct mt_cluster_entry {
    long long job;   /* of the array */
    long long index; /* in it; −1 = no array */
    char state[24];  /* "RUNNING", "PENDING", "COMPLETED", … */
    char node[64];   /* "" = none yet */
    char left[24];   /* of its time, "1:02:03"; "" = not known */
} mt_cluster_entry;

typedef struct mt_cluster_jobs {
    mt_cluster_entry *items; /* squeue's first */
    size_t count, capacity;
    bool is_answered;        /* at least one of the two answered */
} mt_cluster_jobs; /* zero-initialise */

/* `ids`: job numbers, separated by commas. Without Slurm, or when it does not answer: MT_OK and not is_answered. */
mt_status mt_cluster_jobs_ask(const char *ids, mt_cluster_jobs *jobs, mt_error *err);
const mt_cluster_entry *mt_cluster_jobs_find(const mt_cluster_jobs *jobs, long long job, long long index); /* or NULL */
void mt_cluster_jobs_free(mt_cluster_jobs *jobs);

/* The lines of squeue or sacct, "JOB|INDEX|STATE|NODE|LEFT" or "JOB_INDEX|STATE|NODE"; others are passed over. For its test too. */
mt_status mt_cluster_jobs_parse(const char *text, mt_cluster_jobs *jobs, mt_error *err);
/* Runs a program of PATH without a shell; what it prints is added to `out`. *code: its exit code; 127 = it is not there. argv ends with NULL. */
mt_status mt_cluster_capture(const char *const *argv, mt_strbuf *out, int *code, mt_error *err);
