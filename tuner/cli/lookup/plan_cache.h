/* Questions to libtunelookup that many shapes share: the same GPU, kernel, strings and lengths of lists are prepared once. Preparing reads all rows of a kernel, and a plan keeps them until its handle is closed; so
 * only so many are kept. */
#pragma once

#include "include/tunelookup.h"
#include "tuner/cli/lookup/lookup_query.h"

enum { MT_PLANS_KEPT = 32 };

typedef struct mt_plan_cache {
    const char *path;      /* borrowed; NULL = the user's file over the shipped ones */
    unsigned flags;
    tunelookup_db *db;     /* NULL = the library refuses the files, or nobody asked yet */
    tunelookup_status refusal; /* of the files */
    struct { char *question; tunelookup_plan *plan; tunelookup_status status; } items[MT_PLANS_KEPT]; /* plan NULL: the library refuses the question, as the status says */
    size_t count;
} mt_plan_cache;

/* The plan that answers the query of `kernel`, or NULL, for which *why (may be NULL) gives the reason. It lives until the next call: making room closes the handle. */
tunelookup_plan *mt_plan_cache_get(mt_plan_cache *cache, const tunelookup_device *device, const char *kernel, const mt_lookup_query *query, tunelookup_status *why);
/* Why a lookup does not hand out that winner of a tuned shape, whose stored key has what the plan is bound to; NULL: it does. */
const char *mt_plan_refuses(const tunelookup_plan *plan, const char *shape_key, const char *variant);
/* Closes the handle and forgets the plans; the next question reads the files anew. A zeroed struct is fine. */
void mt_plan_cache_forget(mt_plan_cache *cache);
