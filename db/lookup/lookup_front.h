/* What answers for a shape within a bound on the error, besides its winner (lookup_front.c). */
#pragma once

#include "db/lookup/lookup.h"

typedef struct mt_lookup_front_reader { struct sqlite3_stmt *front, *on_subject; } mt_lookup_front_reader; /* begins as zeros */
/* head: the winners of the shape's workloads, by `next`; winner: the one of them that answers, which gets most_error and `slower`. */
tunelookup_status mt_lookup_front_read(mt_lookup_loader *loader, mt_lookup_front_reader *reader, const mt_lookup_row *head, mt_lookup_row *winner);
void mt_lookup_front_end(mt_lookup_front_reader *reader);
