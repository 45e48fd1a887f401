/* Inside libtunelookup: what all files together hold, and handles that are pinned to it. */
#pragma once

#include "db/lookup/lookup.h"

/* The id of what the files hold, of those that are open in `sources` in the transactions of these; NULL = none is. */
tunelookup_status mt_lookup_snapshot_of(const tunelookup_db *db, mt_lookup_source *sources, char id[TUNELOOKUP_SNAPSHOT_ID]);
/* Pins the handle to what the files hold; ERR_OTHER_SNAPSHOT where that is not `expected` (NULL = whatever it is). */
tunelookup_status mt_lookup_pin(tunelookup_db *db, const char *expected);
/* Of a pinned handle, and OK for others: whether the files, as `sources` read them, hold that still; whether none is left out that may be back. */
tunelookup_status mt_lookup_pin_check(const tunelookup_db *db, mt_lookup_source *sources);
tunelookup_status mt_lookup_pin_check_left_out(const tunelookup_db *db, const mt_lookup_left_out *left_out, uint32_t count);
