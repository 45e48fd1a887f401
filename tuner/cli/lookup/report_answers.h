/* What libtunelookup answers from a report's database, shape by shape. */
#pragma once

#include "db/store/store.h"
#include "include/tunelookup.h"
#include "reports/report.h"
#include "tuner/cli/lookup/plan_cache.h"
#include "tuner/cli/requests/sources.h"

/* What a question needs of the store: GPUs' facts, and of what kinds the values of a kernel's shapes are ("int,list,string"). */
typedef struct mt_report_gpu { char *key; mt_device_facts facts; } mt_report_gpu;
typedef struct mt_report_kinds { char *kernel, *kernel_key, *kinds; } mt_report_kinds;

typedef struct mt_report_answers {
    mt_report_lookup lookup; /* for mt_report_options; borrows this */
    mt_store *store;         /* borrowed */
    mt_sources sources;
    mt_plan_cache measured, recorded; /* without and with rows of recorded GPUs */
    bool is_read;            /* at the first question */
    mt_report_gpu *gpus;
    mt_report_kinds *kinds;
    size_t gpu_count, gpu_capacity, kinds_count, kinds_capacity;
} mt_report_answers;

/* Files are opened when the first is asked: of one that the library refuses (others may write to it, say) nothing is told. `store` outlives it. */
/* As mt_report_lookup.refusal; needs no sources: of a struct that mt_report_answers_begin made. */
void mt_report_answers_begin(mt_store *store, mt_report_answers *answers);
const char *mt_report_answers_refusal(void *answers, const mt_report_question *question, const char *variant);
mt_status mt_report_answers_open(mt_store *store, mt_report_answers *answers, mt_error *err);
void mt_report_answers_close(mt_report_answers *answers); /* zeroed struct is fine */
