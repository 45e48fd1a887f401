/* What a kernel's stored cost model says of stored shapes and variants. Computed by the library's own code, so that what the tuner stores is what the library would find. */
#pragma once

#include "db/store/portfolio_rows.h"

typedef struct mt_times_of mt_times_of; /* one thread at a time */

/* NULL with MT_OK: the kernel is stored without a cost model, or the GPU's facts are not known. mt_predictor_times_free it. */
mt_status mt_predictor_times_load(mt_store *store, const mt_portfolio_group *group, mt_times_of **times, mt_error *err);
/* The same of expressions and facts at hand, both JSON. */
mt_status mt_predictor_times_make(const char *spec_json, const char *facts_json, mt_times_of **times, mt_error *err);
void mt_predictor_times_free(mt_times_of *times); /* NULL is a no-op */
/* Which expressions they are of; never 0. */
uint32_t mt_predictor_times_digest(const mt_times_of *times);
/* The shape that is asked next: "D=32;H=92,46;dtype=f16". False: it has other values than the kernel's shapes. */
bool mt_predictor_times_set_shape(mt_times_of *times, const char *key);
/* "ALGO=ring;BM=64", kept by `times`; NULL = out of memory. */
const struct mt_lookup_variant *mt_predictor_times_variant(mt_times_of *times, const char *text);
/* Its nanoseconds on the shape that was set, at least 1; 0 = the model has none there. */
int64_t mt_predictor_times_at(mt_times_of *times, const struct mt_lookup_variant *variant);
