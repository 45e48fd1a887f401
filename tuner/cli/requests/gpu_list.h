/* --gpu of `msda-tune tune` and `portfolio --measure` for GPUs that are there: auto, all, or device numbers. */
#pragma once

#include "tuner/evaluate/evaluator.h"

typedef struct mt_gpu_list {
    bool is_all;
    int ordinals[MT_DEVICES_MAX]; /* as given, without repetition; {0} for auto and all */
    size_t count;
} mt_gpu_list;

/* "auto" is the first GPU. USAGE error for anything else but "all" and numbers separated by commas. */
mt_status mt_gpu_list_parse(const char *text, mt_gpu_list *list, mt_error *err);
