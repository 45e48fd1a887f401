/* What a session's row says of the batch system's job that it ran in (column job): "slurm 4711_3, plan 0123456789ab". */
#ifndef MT_BASE_JOB_H
#define MT_BASE_JOB_H

#include <stddef.h>

enum { MT_JOB_SIZE = 128, MT_JOB_PLAN_SIZE = 16 }; /* with the NUL; a plan's identity has 12 hexadecimal digits */

/* Writes the text, "" outside of a job and of a plan. The job is the environment's (SLURM_…); `plan` may be NULL. */
void mt_job_text(const char *plan, char text[MT_JOB_SIZE]);
/* The plan in such a text, which is borrowed; "" where there is none. `job` may be NULL. */
const char *mt_job_plan(const char *job);

#endif
