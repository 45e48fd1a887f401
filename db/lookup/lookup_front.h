/* What answers for a shape besides its winner, within a limit of errors or in a class of equal bits (lookup_front.c). */
#pragma once

#include "db/lookup/lookup.h"

typedef struct mt_lookup_front_reader { struct sqlite3_stmt *times, *row, *on_subject, *bits; struct mt_lookup_member *members; } mt_lookup_front_reader; /* begins as zeros */
/* head: the winners of the shape's workloads, by `next`; winner: the one of them that answers, which gets most_error and `slower` with TUNELOOKUP_ERRORS, and of_class where the plan is bound to a class. */
tunelookup_status mt_lookup_front_read(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *head, mt_lookup_row *winner);
void mt_lookup_front_end(mt_lookup_front_reader *reader);

/* lookup_rows.c: counts a row that is left out, and why: loader->backing.why. answer: the row of table answer at hand, or NULL. */
tunelookup_status mt_lookup_hide_damaged(mt_lookup_loader *loader, struct sqlite3_stmt *answer);

/* lookup_rule.c: most_error and error_shapes of the predictor, whose rule has its shapes and rows. errors: [shape_count][variant_count], looked at where there is a row. False = no memory. */
bool mt_lookup_errors_settle(mt_lookup_loader *loader, const size_t *names, const double *errors, mt_lookup_predictor *predictor);
/* The same file: what each predictor's rule says of every shape of the plan. */
tunelookup_status mt_lookup_rules_settle(mt_lookup_answers *answers);
