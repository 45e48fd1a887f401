/* What libtunelookup answers for many shapes of one kernel on one GPU, and how it is written for programs that have no library: export --c-table and --vllm. */
#pragma once

#include "include/tunelookup.h"
#include "tuner/base/strbuf.h"
#include "tuner/cli/requests/database.h"

typedef struct mt_table_row {
    char *strings;              /* "dtype=f16;layout=RC", in the order of the shape's key; "" = it has none */
    int64_t values[TUNELOOKUP_MAX_VALUES]; /* the other values, elements of lists one after the other, in that order */
    char *names[TUNELOOKUP_MAX_VALUES];    /* theirs: "M", "H[0]" */
    size_t count;
    tunelookup_result result;   /* its match is not NONE */
} mt_table_row;

typedef struct mt_table_answers {
    char *kernel, *kernel_key, *gpu_key, *gpu_name, *kinds;
    mt_table_row *rows;         /* by strings, count, values; each shape once */
    size_t row_count, row_capacity, unanswered; /* shapes that the library has no answer for, which are not in rows */
    tunelookup_db *db;
    struct mt_table_plan *plans;
    size_t plan_count, plan_capacity;
} mt_table_answers; /* zero-initialise; mt_table_answers_free in every case */

/* Asks for every shape that the filter's rows were tuned for, and for those of `shapes` (a file of shapes by their values, "M=1;N=2;dtype=f16", one a line; '#' begins a comment; NULL = none). The rows must be of one GPU and
 * one source of one kernel: USAGE otherwise, with what there is. NOTHING_VALID without a message where there are none. */
mt_status mt_table_answers_ask(mt_store *store, const mt_filter *filter, const char *shapes, mt_table_answers *answers, mt_error *err);
void mt_table_answers_free(mt_table_answers *answers);

/* A C99 header with the answers as a static table. */
mt_status mt_c_table(const mt_table_answers *answers, mt_strbuf *out, mt_error *err);

/* JSON as vLLM's and SGLang's kernels read their configurations, a file for all M of one N and K (or E and N): mt_vllm_write makes them in a folder, and tells each. USAGE where the shapes have no M and N, and K or E. */
mt_status mt_vllm_write(const mt_table_answers *answers, const char *folder, mt_error *err);
