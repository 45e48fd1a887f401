/* A tuning job for Slurm, as scripts in a folder: an array of tasks for each GPU type, a stage in front that compiles, jobs behind it that put together what the tasks found. Slurm places,
 * queues, retries and accounts; here is only said what is to be run. Everything that comes from outside stands quoted in the scripts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/job.h"
#include "tuner/base/status.h"
#include "tuner/base/strbuf.h"

/* One task of the array: what `tune` is given beside what all tasks are. */
typedef struct mt_cluster_task {
    char *label; /* "seed48 · local15", "shard 3/8"; owned */
    char *words; /* quoted for the shell: " --shape 'x'", "" for shards; owned */
} mt_cluster_task;

typedef struct mt_cluster_gpu {
    const char *type;  /* "h100"; "" = whatever the node has */
    bool is_compiled;  /* its facts are known, so that kernels can be compiled without it */
} mt_cluster_gpu;

/* Borrowed. Texts are as a person gave them, unless said otherwise. */
typedef struct mt_cluster_plan {
    char id[MT_JOB_PLAN_SIZE];           /* of this plan in this folder, given by mt_cluster_folder_claim; in plan.tsv, in the scripts and in what the tasks write */
    const char *tool, *space, *folder;   /* absolute paths; the folder is there */
    const mt_cluster_gpu *gpus;          size_t gpu_count;   /* at least one */
    const mt_cluster_task *tasks;        size_t task_count;  /* of each GPU type */
    const char *space_key;               /* of the search space's state, which the tasks insist on */
    bool is_sharded;                     /* task I is shard I/N of the whole: near-ties are compared once more over all of them */
    const char *tune_words, *check_words;/* quoted, each with a blank before it */
    const char *whole_words;             /* quoted: the shapes and workloads of all tasks, for shards and the job that compares near-ties */
    const char *template_text;           /* what the user adds to every script: #SBATCH lines, modules, a container */
    const char *time, *partition, *account, *qos, *gres, *compile_partition; /* for sbatch; NULL = not given */
    long long cpus, at_once;             /* 0 = not given */
} mt_cluster_plan;

/* A time limit as sbatch takes it: "90" (minutes), "90:00", "1:30:00", "2-12", "2-12:30", "2-12:30:00", "UNLIMITED". *seconds: 0 = no limit. False for anything else. */
bool mt_cluster_time(const char *text, long long *seconds);
/* How long before its time limit a task is told, and the shortest limit that makes sense with it. */
enum { MT_CLUSTER_SIGNAL_S = 120, MT_CLUSTER_LEAST_S = 600 };

/* What a folder's template.sh is when the user has none yet. */
extern const char mt_cluster_template[];

/* plan.tsv: lines "#\tplan\tID" (left out without one) and "#\tspace\tKEY", then for each part its name, its job's, its number among the tasks, and what it is. Two plans with the same text
 * but for the first line have the same parts. */
void mt_cluster_plan_table(const mt_cluster_plan *plan, mt_strbuf *out);
/* Writes the scripts and plan.tsv into the folder; what was written there before is replaced, parts are not touched. */
mt_status mt_cluster_write(const mt_cluster_plan *plan, mt_error *err);
