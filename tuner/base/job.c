#include "tuner/base/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char plan_word[] = "plan ";

void mt_job_text(const char *plan, char text[MT_JOB_SIZE])
{
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID"), *job = getenv("SLURM_JOB_ID");
    char where[100] = "";
    if (array && task) snprintf(where, sizeof where, "slurm %.40s_%.40s", array, task);
    else if (job) snprintf(where, sizeof where, "slurm %.40s", job);
    if (!plan) snprintf(text, MT_JOB_SIZE, "%s", where);
    else snprintf(text, MT_JOB_SIZE, "%s%s%s%.*s", where, *where ? ", " : "", plan_word, MT_JOB_PLAN_SIZE - 1, plan);
}

const char *mt_job_plan(const char *job)
{
    const char *at = job ? strstr(job, plan_word) : NULL;
    return at ? at + strlen(plan_word) : "";
}
