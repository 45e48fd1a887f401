/* Strikes, by ids: what the settling of intents and the public function share. */
#pragma once

#include "db/store/store.h"

/* Inserts a strike; no transaction of its own. */
mt_status mt_strike_insert(mt_store *store, int64_t device, int64_t shape, int64_t variant, const char *origin, const char *cause, mt_error *err);
