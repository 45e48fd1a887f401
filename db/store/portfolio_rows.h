/* What tuned shapes tell of untuned ones: reading the measurements that a portfolio is chosen from, and storing what was chosen. tuner/predictor/ decides. */
#pragma once

#include "db/store/query.h"

/* What one portfolio is for: subjects that can be compared. */
typedef struct mt_portfolio_group {
    int64_t kernel, device;
    mt_l2 l2;
    mt_origin origin;
} mt_portfolio_group;

typedef struct mt_portfolio_group_info {
    mt_portfolio_group group;
    const char *gpu_key, *kernel, *kernel_key;
    int64_t shapes;                 /* with a winner */
} mt_portfolio_group_info;
typedef mt_status (*mt_query_group_callback)(void *context, const mt_portfolio_group_info *row, mt_error *err);
/* Groups with winners and stored expressions, ordered by kernel, GPU. Of the filter gpu, kernel, kernel_key, origin and cache state count. */
mt_status mt_query_groups(mt_store *store, const mt_filter *filter, mt_query_group_callback callback, void *context, mt_error *err);

/* Which expressions the kernel is stored with now. A row of a variant that a constraint excludes names them: the search space may be edited while the kernel stays the same, and then such a row
 * says nothing any more. */
mt_status mt_query_spec_digest(mt_store *store, int64_t kernel, char digest[MT_SPEC_DIGEST_SIZE], mt_error *err);

/* A subject with a winner. */
typedef struct mt_portfolio_subject {
    int64_t id, shape, workload;
    const char *shape_key, *shape_name, *workload_name, *workload_key;
    const char *kinds, *names;      /* of the kernel's shape values: "int,list,string", "D,H,dtype", in the order of the key's parts */
    double best_ns;
    const char *default_outcome;    /* NULL = the default was not measured there, or was excluded by other expressions than the stored ones */
    double default_ns;              /* NAN unless ok, or stopped early: then it took at least so long; by events beside a best in graphs, the least that it may take in graphs */
    const char *default_variant;    /* its text; NULL = not known */
} mt_portfolio_subject;
typedef mt_status (*mt_query_portfolio_subject_callback)(void *context, const mt_portfolio_subject *row, mt_error *err);
/* In the order of their ids. */
mt_status mt_query_portfolio_subjects(mt_store *store, const mt_portfolio_group *group, mt_query_portfolio_subject_callback callback, void *context, mt_error *err);

/* The newest row of one variant. */
typedef struct mt_portfolio_time {
    int64_t variant, measurement;
    mt_outcome_kind kind;
    double median_ns;               /* NAN unless ok or censored */
    double norm_error;              /* NAN = not known */
} mt_portfolio_time;
typedef mt_status (*mt_query_portfolio_time_callback)(void *context, const mt_portfolio_time *row, mt_error *err);
/* Rows that say that other expressions than the stored ones excluded the variant, or that its compiler was killed, are passed over, but not a recording's: what it lacks is excluded for good. So are rows with a larger error than the subject's winner may have, and
 * times by events beside a best that was timed in graphs (docs/measurement.md): by how much they are slower is not known; they are measured again. */
mt_status mt_query_portfolio_times(mt_store *store, const mt_portfolio_group *group, int64_t subject, mt_query_portfolio_time_callback callback, void *context, mt_error *err);
/* How many blocks the launches of a measurement had together; NAN = not known. */
mt_status mt_query_blocks(mt_store *store, int64_t measurement, double *blocks, mt_error *err);
/* The GPU's; 0 = not known. */
mt_status mt_query_sm_count(mt_store *store, int64_t device, int64_t *count, mt_error *err);
/* The kernel's stored expressions and the GPU's facts, both JSON, '{}' = none. mt_free them. */
mt_status mt_query_expressions(mt_store *store, int64_t kernel, int64_t device, char **spec_json, char **facts_json, mt_error *err);
/* mt_free *text. */
mt_status mt_query_variant_text(mt_store *store, int64_t variant, char **text, mt_error *err);

/* A portfolio as it is stored. */
typedef struct mt_portfolio_row {
    bool is_asked, is_exact;
    int64_t max_count, unserved_count, held_out_count;
    double within, worst, held_out_mean, held_out_worst; /* factors; NAN = nothing was held out */
    const char *rule_json;
    int64_t updated_unix_ms;        /* on reading */
} mt_portfolio_row;
typedef struct mt_portfolio_member { int64_t variant, position; } mt_portfolio_member;
typedef struct mt_portfolio_cell { int64_t subject, variant, measurement; double slowdown; /* NAN = it failed */ } mt_portfolio_cell;
typedef struct mt_portfolio {
    mt_portfolio_row row;
    const int64_t *subjects;              size_t subject_count;
    const mt_portfolio_member *variants;  size_t variant_count;
    const mt_portfolio_cell *cells;       size_t cell_count;
} mt_portfolio;
/* Replaces the group's portfolio, in one transaction; NULL removes it. */
mt_status mt_store_portfolio(mt_store *store, const mt_portfolio_group *group, const mt_portfolio *portfolio, mt_error *err);
/* The limits that hold for a group: those last asked for. *is_asked false: nobody asked. */
mt_status mt_query_portfolio_limits(mt_store *store, const mt_portfolio_group *group, bool *is_asked, int64_t *max_count, double *within, mt_error *err);
