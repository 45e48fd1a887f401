/* What `msda-tune slurm` is told, and whether it makes sense. */
#pragma once

#include "tuner/base/strbuf.h"
#include "tuner/cli/command.h"

typedef struct mt_slurm_values {
    const char *space, *time, *output, *status, *template, *partition, *account, *qos, *gres, *compile_partition;
    mt_texts shapes, workloads, gpu_types;
    int64_t shards, cpus, at_once;
    int compile;
    bool submit, json, replace;
} mt_slurm_values;

/* USAGE error for what would break a script, for what Slurm would refuse when the tasks have waited for their GPUs, and for options of tune (the operands) that tune would refuse. */
mt_status mt_slurm_check(const mt_slurm_values *values, const mt_arguments *arguments, mt_error *err);

/* The operands as words of the scripts, quoted, each with a space in front. Tasks run in the job's folder: relative names of files (--input, --recordings, --events)
 * become absolute ones, from the folder that the command runs in. */
mt_status mt_slurm_tune_words(const mt_arguments *arguments, mt_strbuf *out, mt_error *err);
