#include "tuner/base/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mt_job_text(char text[MT_JOB_SIZE])
{
    const char *array = getenv("SLURM_ARRAY_JOB_ID"), *task = getenv("SLURM_ARRAY_TASK_ID"), *job = getenv("SLURM_JOB_ID");
    if (array && task) snprintf(text, MT_JOB_SIZE, "slurm %.40s_%.40s", array, task);
    else if (job) snprintf(text, MT_JOB_SIZE, "slurm %.40s", job);
    else text[0] = '\0';
}

/* PLAN of PLAN:TASK. */
static size_t plan_length(const char *carried)
{
    return strcspn(carried, ":");
}

int mt_job_plan_length(const char *carried)
{
    size_t length = plan_length(carried);
    return length < MT_JOB_PLAN_SIZE ? (int)length : MT_JOB_PLAN_SIZE - 1;
}

bool mt_job_is_of_plan(const char *carried, const char *plan)
{
    size_t length = plan_length(carried);
    return length == plan_length(plan) && strncmp(carried, plan, length) == 0;
}

bool mt_job_is_of_part(const char *carried, const char *name)
{
    static const char part[] = MT_JOB_PART, ending[] = ".sqlite";
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *task = carried + plan_length(carried);
    if (!*task || strncmp(base, part, sizeof part - 1) != 0) return true;
    size_t length = strlen(++task);
    base += sizeof part - 1;
    return strncmp(base, task, length) == 0 && strcmp(base + length, ending) == 0;
}

bool mt_job_is_plan(const char *text)
{
    size_t length = strspn(text, "0123456789abcdef");
    const char *task = text + length;
    return length && length < MT_JOB_PLAN_SIZE && (!*task || (*task == ':' && task[1] && strlen(text) < MT_JOB_SIZE && !strpbrk(task, "/\n")));
}
