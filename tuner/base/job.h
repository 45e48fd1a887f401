/* What a session's row says of the batch system's job that it ran in (column job): "slurm 4711_3". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MT_JOB_SIZE = 128, MT_JOB_PLAN_SIZE = 16 }; /* with the NUL; a plan's identity has 12 hexadecimal digits */
#define MT_JOB_PART "part-" /* begins the name of a task's database; its task and ".sqlite" follow */

/* Of what a session carries, PLAN:TASK, or PLAN of an older tool, whether it is of the plan, and of the task that `name`, a database's file, is named for. One that is named otherwise is any task's. */
bool mt_job_is_of_plan(const char *carried, const char *plan);
bool mt_job_is_of_part(const char *carried, const char *name);
/* How many letters of it are PLAN, no more than a plan's identity has. */
int mt_job_plan_length(const char *carried);
/* Whether a text can be PLAN or PLAN:TASK. */
bool mt_job_is_plan(const char *text);

/* Writes the text, "" outside of a job. The job is the environment's (SLURM_…). */
void mt_job_text(char text[MT_JOB_SIZE]);
