/* Queries that recordings need and nobody outside db/ does. */
#pragma once

#include "db/store/query.h"
#include "db/store/sql.h"

/* Kernel `k` is the one that the filter's kernel_key, a parameter such as "?3", begins. */
#define MT_KEY_BEGINS(parameter) "(" parameter " IS NULL OR substr(k.key, 1, length(" parameter ")) = lower(" parameter "))"
/* As people read lists: the GPU with most subjects first, numbers in the names of shapes as numbers (mt_text_natural). The C of the reports orders as this does. */
#define SUBJECT_ORDER "ORDER BY (SELECT count(*) FROM subject n WHERE n.device_id = d.id) DESC, d.key, k.name, k.id, h.name COLLATE mt_natural, h.key, w.key, s.regime, s.origin"
/* ?1 … ?9 are the filter. Subjects are few and measurements many: CROSS JOIN makes SQLite keep this order. */
#define SUBJECT_TABLES \
    "FROM subject s JOIN device d ON d.id = s.device_id JOIN kernel k ON k.id = s.kernel_id JOIN shape h ON h.id = s.shape_id " \
    "JOIN workload w ON w.id = s.workload_id "
#define SUBJECT_FILTER \
    "(?1 IS NULL OR mt_device_matches(?1, d.key, d.name)) AND (?2 IS NULL OR k.name = ?2) AND " MT_KEY_BEGINS("?3") " " \
    "AND (?4 IS NULL OR h.name = ?4) AND (?5 IS NULL OR h.key = ?5) AND (?6 IS NULL OR w.name = ?6) AND (?7 IS NULL OR w.key = ?7) " \
    "AND (?8 IS NULL OR s.origin = ?8) AND (?9 IS NULL OR s.regime = ?9) "
/* The filter as values, in one call: mt_query_values(filter).in; NULL is everything. There is room for two more. */
typedef struct mt_filter_values { mt_sql_in in[12]; } mt_filter_values;
mt_filter_values mt_query_values(const mt_filter *filter);

typedef struct mt_subject_info {
    int64_t id, measurements;
    const char *gpu_key, *kernel, *kernel_key, *shape, *workload, *l2, *origin;
} mt_subject_info;
typedef mt_status (*mt_query_subject_callback)(void *context, const mt_subject_info *info, mt_error *err);
/* Subjects with at least one measurement. */
mt_status mt_query_subjects(mt_store *store, const mt_filter *filter, mt_query_subject_callback callback, void *context, mt_error *err);

/* Columns of table library_comparison as `l`, which a query of rows joins with measurement `m` by MT_LIBRARY_JOIN. */
#define MT_LIBRARY_COLUMNS "l.plugin, l.first_ns, l.first_ratio, l.best_ns, l.best_ratio, l.best_ratio_low, l.best_ratio_high, l.is_limited, "
#define MT_LIBRARY_JOIN \
    "LEFT JOIN library_comparison l ON l.measurement_id = m.id AND l.plugin = (SELECT n.plugin FROM library_comparison n WHERE n.measurement_id = m.id ORDER BY n.created_unix_ms DESC, n.plugin LIMIT 1) "
enum { MT_LIBRARY_COLUMN_COUNT = 8 };
void mt_query_read_library(sqlite3_stmt *statement, int first, mt_row_library *library);

/* The newest row of each variant of a subject, ordered by variant; one that did not run only where there is no other. */
mt_status mt_query_newest(mt_store *store, int64_t subject, bool with_samples, mt_query_callback callback, void *context, mt_error *err);
