/* What `show` lists: variants with their times, gathered from a query, sorted, and printed as tables or as JSON. */
#pragma once

#include <stdio.h>

#include "db/store/query.h"

/* In the order of the words of `--sort`. Whole subjects are sorted, by their first row, within their GPU and kernel. */
typedef enum mt_best_sort {
    MT_SORT_SHAPE,   /* as the query gave them */
    MT_SORT_TIME,    /* the slowest first: where most time goes */
    MT_SORT_SPEEDUP, /* what gained most over the default first */
    MT_SORT_FLOOR,   /* the farthest from the model's floor first: where most is left to gain */
    MT_SORT_NEWEST   /* measured last, first */
} mt_best_sort;
#define MT_SORT_WORDS "shape|time|speedup|floor|newest"

typedef struct mt_best_item {
    char *heading, *subject;   /* GPU and kernel; what else tells one subject from another */
    char *shape, *workload, *variant, *usual, *notes;
    const char *l2;
    double median_ns, half_ns, error, floor_ratio, default_ns; /* NAN = not known */
    int64_t created_unix_ms;
    char *json;                /* the row's object */
    double key;                /* what it is sorted by */
    size_t group, of_subject, at; /* places of its heading, its subject's first item, and itself, as they came */
} mt_best_item;

typedef struct mt_best_list {
    mt_best_item *items;
    size_t count, capacity;
    bool failed;               /* memory ran out: prints nothing */
} mt_best_list; /* zero-initialise */

/* `heading` of its GPU and kernel, `is_old`: not today's source, which goes last. `usual`: mt_query_usual's text or NULL. `json`: the object for mt_best_list_json, taken over; NULL = none. All
 * other texts are copied. `store`: asked for the default's time of a subject's first row. */
mt_status mt_best_list_add(mt_best_list *list, mt_store *store, const mt_measurement_row *row, const char *heading, bool is_old, const char *usual, char *json, mt_error *err);
void mt_best_list_sort(mt_best_list *list, mt_best_sort sort);
/* Tables that fit MT_PAGE_COLUMNS where they can, of knobs only those that are not the default's where not all fit; is_verbose: all, each variant on one line. */
void mt_best_list_print(const mt_best_list *list, bool is_verbose, FILE *out);
/* An array of the rows' objects. */
void mt_best_list_json(const mt_best_list *list, FILE *out);
void mt_best_list_free(mt_best_list *list);
