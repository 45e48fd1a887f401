/* Why a lookup does not hand out the winner of a shape that was tuned, for those who list winners. */
#ifndef MT_DB_LOOKUP_REFUSAL_H
#define MT_DB_LOOKUP_REFUSAL_H

#include "include/tunelookup.h"

/* `shape_key`: as stored, with the strings and lengths of lists that the plan is bound to. NULL: it is handed out. */
const char *mt_lookup_refuses(const tunelookup_plan *plan, const char *shape_key, const char *variant);

#endif
