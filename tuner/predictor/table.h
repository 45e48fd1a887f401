/* The measurements of one group (kernel, GPU, cache state, origin) as a predictor's data, and the predictor kept in the database. */
#pragma once

#include "db/store/portfolio_rows.h"
#include "tuner/predictor/predictor.h"

typedef struct mt_predictor_subject {   /* a tuned shape with one workload */
    int64_t id;
    size_t shape;                    /* index */
    char *workload, *workload_key, *default_variant; /* default_variant NULL = not known */
    double best_ns, default_slowdown; /* factor; NAN = not measured; INFINITY = it fails there */
} mt_predictor_subject;

typedef struct mt_predictor_cell_row {
    int64_t measurement;             /* 0 = none */
    double slowdown;                 /* factor; NAN = none; INFINITY = it failed, or a constraint excludes it */
} mt_predictor_cell_row;

typedef struct mt_predictor_table {
    mt_portfolio_group group;
    size_t subject_count, subject_capacity, shape_count, variant_count;
    mt_predictor_subject *subjects;     /* those of one shape need not be neighbours */
    char *shape_keys[MT_RULE_SHAPES], *shape_names[MT_RULE_SHAPES];
    int64_t shape_ids[MT_RULE_SHAPES];
    int64_t variants[MT_RULE_VARIANTS]; /* [variant_count] that may be chosen, then, up to column_count, others that are on a subject's front of time and error: for lookups within a limit of errors */
    size_t column_count;
    mt_predictor_cell_row *cells;       /* [subject_count][column_count] */
    size_t left_out;                 /* tuned shapes beyond MT_RULE_SHAPES */
    size_t misfits;                  /* subjects whose shape has other values than the kernel's expressions name: damaged, or of a stranger */
    char misfit[256];                /* why the first of them is left out */
    double *work;                    /* [shape_count][variant_count]: blocks of the launches together, or nanoseconds by the cost model; NAN = not known */
    uint32_t time_digest;            /* of the cost model; 0 = the kernel has none */
    int64_t sm_count;                /* 0 = not known, nor are costs then */
    mt_times_loss loss;              /* where data.loss is set */
    mt_predictor_data data;             /* of the shapes: the worst over their workloads */
    char *kinds;
} mt_predictor_table;

/* `within` as in mt_predictor_options. Rows that say another text of the search space excluded a variant do not count. A group of fewer shapes than one is fine: shape_count 0.
 * Shapes that do not have the kernel's values are left out and told of (mt_log_warn); UNSUPPORTED where there are no others. */
mt_status mt_predictor_table_load(mt_store *store, const mt_portfolio_group *group, double within, mt_predictor_table *table, mt_error *err);
void mt_predictor_table_free(mt_predictor_table *table);

/* Chooses again from what is stored, and stores that. `asked` NULL: with the limits that were last asked for, else with MT_PREDICTOR_AUTO_MAX and MT_PREDICTOR_WITHIN. */
#define MT_PREDICTOR_WITHIN 1.10
enum { MT_PREDICTOR_AUTO_MAX = MT_RULE_VARIANTS };
mt_status mt_predictor_refresh(mt_store *store, const mt_portfolio_group *group, const mt_predictor_options *asked, mt_error *err);
/* Every group of the file: after an import or a merge. */
mt_status mt_predictor_refresh_all(mt_store *store, mt_error *err);

/* family[shape_count]: shapes that agree in all of the values named ("N,K") get one number. NOT_FOUND for a name that shapes do not have; NO_MEMORY. */
mt_status mt_predictor_families(const mt_predictor_table *table, const char *names, size_t family[MT_RULE_SHAPES], mt_error *err);
/* "H.sum" for a feature. */
void mt_predictor_feature_name(const mt_predictor_table *table, size_t feature, char *out, size_t size);
