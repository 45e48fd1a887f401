/* What only reports ask for: drift references, launches as text, portfolios with their cells, what constraints cut, members of stored JSON. As in query.h: callbacks stop by returning other
 * than MT_OK, texts are borrowed for the call. */
#pragma once

#include "db/store/query.h"
#include "tuner/base/strbuf.h"

/* Which subject a row is of, by names. */
typedef struct mt_subject_names {
    const char *gpu_key, *gpu_name, *kernel, *kernel_key, *shape, *shape_key, *workload, *workload_key, *l2, *origin;
} mt_subject_names;

/* One timing of a drift reference, in the order of time. */
typedef struct mt_drift_info {
    mt_subject_names subject;
    int64_t session, created_unix_ms;
    const char *variant;
    double median_ns, low_ns, high_ns, sm_mhz; /* NAN = not known */
} mt_drift_info;
typedef mt_status (*mt_query_drift_callback)(void *context, const mt_drift_info *row, mt_error *err);
mt_status mt_query_drift(mt_store *store, const mt_filter *filter, mt_query_drift_callback callback, void *context, mt_error *err);

/* How many points a constraint excluded, in the session that saw most of them. */
typedef struct mt_pruned_info {
    mt_subject_names subject;
    const char *constraint, *why; /* why may be "" */
    int64_t points;
} mt_pruned_info;
typedef mt_status (*mt_query_pruned_callback)(void *context, const mt_pruned_info *row, mt_error *err);
mt_status mt_query_pruned(mt_store *store, const mt_filter *filter, mt_query_pruned_callback callback, void *context, mt_error *err);

/* Adds the launches of a measurement as lines to copy: "msda_direct  grid 5808,1,1  block 512,1,1  smem 18432  carveout 17". Nothing when none are stored. */
mt_status mt_query_launch_text(mt_store *store, int64_t measurement, mt_strbuf *text, mt_error *err);

/* Adds the canonical text of the variant that is the default point of the measurement's subject; nothing when none is known. */
mt_status mt_query_default_variant(mt_store *store, int64_t measurement, mt_strbuf *text, mt_error *err);

/* The members of a JSON object that are numbers; nothing for other text. */
typedef mt_status (*mt_query_number_callback)(void *context, const char *name, double value, mt_error *err);
mt_status mt_query_numbers(mt_store *store, const char *json, mt_query_number_callback callback, void *context, mt_error *err);

typedef struct mt_portfolio_info {
    int64_t id, shapes, members, max_count, unserved, apart, held_out, updated_unix_ms;
    const char *gpu_key, *gpu_name, *kernel, *kernel_key, *l2, *origin;
    double within, worst, held_out_mean, held_out_worst; /* factors; NAN = nothing was held out */
} mt_portfolio_info;
typedef mt_status (*mt_query_portfolio_callback)(void *context, const mt_portfolio_info *row, mt_error *err);
/* Of the filter gpu, kernel, kernel_key, origin and cache state count. */
mt_status mt_query_portfolios(mt_store *store, const mt_filter *filter, mt_query_portfolio_callback callback, void *context, mt_error *err);

/* A tuned shape of a portfolio: what its best member costs there, and the default. */
typedef struct mt_covered_info {
    const char *shape, *workload, *default_outcome; /* NULL = the default was not measured there */
    int64_t position;                               /* of the best member; 0 = no member has a time */
    double best_ns, slowdown, default_slowdown;     /* NAN = none */
} mt_covered_info;
typedef mt_status (*mt_query_covered_callback)(void *context, const mt_covered_info *row, mt_error *err);
mt_status mt_query_covered(mt_store *store, int64_t portfolio, mt_query_covered_callback callback, void *context, mt_error *err);

typedef struct mt_member_info {
    int64_t position, measured;   /* shapes with a time of it */
    const char *variant;
    double mean, worst;           /* slowdowns over those: geometric mean; NAN without any */
} mt_member_info;
typedef mt_status (*mt_query_member_callback)(void *context, const mt_member_info *row, mt_error *err);
mt_status mt_query_members(mt_store *store, int64_t portfolio, mt_query_member_callback callback, void *context, mt_error *err);
