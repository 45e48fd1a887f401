#include "tuner/base/job.h"

#include <stdio.h>
#include <stdlib.h>

void mt_job_text(char text[MT_JOB_SIZE])
{
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID"), *job = getenv("SLURM_JOB_ID");
    if (array && task) snprintf(text, MT_JOB_SIZE, "slurm %.40s_%.40s", array, task);
    else if (job) snprintf(text, MT_JOB_SIZE, "slurm %.40s", job);
    else text[0] = '\0';
}
