/* Queries that recordings need and nobody outside db/ does. */
#ifndef MT_DB_QUERY_INTERNAL_H
#define MT_DB_QUERY_INTERNAL_H

#include "db/query.h"

typedef struct mt_subject_info {
    int64_t id, measurements;
    const char *gpu_key, *kernel, *kernel_key, *shape, *workload, *regime, *origin;
} mt_subject_info;
typedef mt_status (*mt_query_subject_callback)(void *context, const mt_subject_info *info, mt_error *err);
/* Subjects with at least one measurement. */
mt_status mt_query_subjects(mt_store *store, const mt_filter *filter, mt_query_subject_callback callback, void *context, mt_error *err);

/* The newest row of each variant of a subject, ordered by variant. */
mt_status mt_query_newest(mt_store *store, int64_t subject, bool with_samples, mt_query_callback callback, void *context, mt_error *err);

#endif
