/* What `diff` found: gathered, regressions first, and printed as a table or as JSON. (JUnit XML is made of the report: reports/format_junit.c.) */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "db/exchange/diff.h"

/* The order in which they are listed. */
typedef enum mt_diff_rank { MT_RANK_SLOW, MT_RANK_AMBG, MT_RANK_FAST, MT_RANK_SAME, MT_RANK_ONLY_A, MT_RANK_ONLY_B, MT_RANK_COUNT } mt_diff_rank;

enum { MT_DIFF_TEXTS = 9 }; /* kernel, shape, workload, cache state, origin, gpu_a, gpu_b, source_a, source_b */

typedef struct mt_diff_item {
    char *texts[MT_DIFF_TEXTS];
    char *variant_a, *variant_b; /* what a.variant and b.variant point to */
    bool is_variant;             /* a variant that both sides have; else the winners */
    mt_diff_rank rank;
    mt_diff_time a, b;           /* variant NULL: the side has nothing */
    mt_diff_ratio ratio;         /* NAN where one has nothing, or no interval */
    size_t at;
} mt_diff_item;

typedef struct mt_diff_list {
    mt_diff_item *items;
    size_t count, capacity;
    size_t winners[MT_RANK_COUNT];
    double threshold;            /* a part of 1; the caller sets it */
    bool failed;                 /* memory ran out: printing prints nothing */
} mt_diff_list; /* zero-initialise */

/* The winners of a subject, and with_variants also its variants. Copies. */
void mt_diff_list_add(mt_diff_list *list, const mt_diff_subject *subject, bool with_variants);
/* Winners before variants; of each the slower first, the greatest change first, then what was not told apart, what is faster, and what is the same. Last what one side lacks. */
void mt_diff_list_sort(mt_diff_list *list);
/* What one side lacks is only counted unless `is_verbose`. */
void mt_diff_list_print(const mt_diff_list *list, bool is_verbose, FILE *out);
void mt_diff_list_json(const mt_diff_list *list, FILE *out);
void mt_diff_list_free(mt_diff_list *list);
