/* What a session's row says of the batch system's job that it ran in (column job): "slurm 4711_3". */
#ifndef MT_BASE_JOB_H
#define MT_BASE_JOB_H

#include <stddef.h>

enum { MT_JOB_SIZE = 128, MT_JOB_PLAN_SIZE = 16 }; /* with the NUL; a plan's identity has 12 hexadecimal digits */

/* Writes the text, "" outside of a job. The job is the environment's (SLURM_…). */
void mt_job_text(char text[MT_JOB_SIZE]);

#endif
