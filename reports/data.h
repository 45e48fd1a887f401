/* What sections work on: all measurements of the filter, by subject, read once. */
#pragma once

#include "db/store/query_page.h"
#include "reports/report_lookup.h"

/* One measurement. */
typedef struct mt_row {
    int64_t id, session, created_unix_ms;
    char *variant;           /* canonical text */
    char *text;              /* failures: what was said; else NULL */
    uint16_t *levels;        /* one for each knob of the subject: index among its values */
    mt_outcome_kind kind;
    uint16_t arm;            /* index among the subject's arms */
    bool is_newest;          /* of its variant: what counts where variants are compared */
    bool is_clocked;         /* stored when it was measured, by a session: rows of an import were not */
    bool is_timed;           /* ok or censored, with a time */
    double median_ns, low_ns, high_ns, norm_error, sm_mhz; /* NAN = not known */
    uint32_t registers, spill_bytes, smem_bytes, samples, dropped;
} mt_row;

typedef struct mt_knob {
    char *name;
    char **values;           /* numbers by size, then texts; "–" = not active, last */
    size_t count;
} mt_knob;

/* What is ranked together. */
typedef struct mt_report_subject {
    size_t place;            /* among the subjects: what rows of tables refer to */
    size_t of_gpu;           /* how many subjects its GPU has */
    char *key;               /* all that identifies it */
    char *label;             /* "msda · seed48 · local15 · H100 · cold", as long as needed to tell subjects apart */
    char *gpu_key, *gpu_name, *kernel, *kernel_key, *shape, *shape_key, *workload;
    mt_l2 l2;
    mt_origin origin;
    int64_t newest_unix_ms;  /* when its last row was stored */
    bool is_current;         /* of the kernel's source of today, or without rows of that, of the one that was measured last: rows of others are history */
    mt_row *rows;            /* in the order they were stored */
    size_t count, capacity;
    size_t evaluations;      /* of the rows: the others say why a variant did not run */
    bool is_clocked;         /* some row is */
    mt_knob *knobs;          /* those that any row names, in the order of the texts */
    size_t knob_count;
    char **arms;             /* who proposed rows, in the order of their first ones; "" = not known */
    size_t arm_count, arm_capacity;
    double floor_ns, flops, dram_bytes;   /* the model's; NAN = none */
    /* The winner, NAN/NULL without one. */
    bool is_so_far;          /* there is none yet: the fastest one that was measured stands in */
    char *best;
    int64_t best_id, final_id, tied;
    double best_ns, best_low_ns, best_high_ns, default_ns, baseline_ns, best_error;
    size_t comparison_points;        /* variants to compare with that are known */
} mt_report_subject;

typedef struct mt_report_data {
    mt_report_subject *subjects; /* the GPU with most of them first; ordered by kernel, shape, workload, cache state, origin */
    size_t count, capacity;
    size_t *by_key, key_capacity; /* places of the subjects in the order of their keys */
    size_t rows, evaluations;
    int64_t *imports;        /* sessions that were imports, by their ids */
    size_t import_count, import_capacity;
} mt_report_data;

/* `lookup` knows which sources are today's; NULL = nobody does. */
mt_status mt_report_load(mt_store *store, const mt_filter *filter, const mt_report_lookup *lookup, mt_report_data *data, mt_error *err);
void mt_report_data_free(mt_report_data *data);
/* The subject that names say; NULL when it has no measurement. */
mt_report_subject *mt_report_find(const mt_report_data *data, const mt_subject_names *names);
/* Its place among the subjects, SIZE_MAX when it has no measurement. */
size_t mt_report_place(const mt_report_data *data, const mt_measurement_row *row);
/* Whether the group of `first` has a winner for the shape, under whatever workload. False when memory runs out. */
bool mt_report_has_winner(const mt_report_data *data, const mt_report_subject *first, const char *shape_key);
/* The same GPU, state of the source, cache state and origin: what may be averaged and listed together. */
bool mt_report_is_same_group(const mt_report_subject *a, const mt_report_subject *b);
/* Whether any of its rows says who proposed it: older files, imports and other tools do not. */
bool mt_report_has_arms(const mt_report_subject *subject);
/* The newest row of a variant, or NULL. */
const mt_row *mt_report_newest(const mt_report_subject *subject, const char *variant);
