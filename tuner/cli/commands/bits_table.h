/* show --bits: which variants compute the same bits. */
#pragma once

#include "db/store/query.h"

/* On stdout; where nothing is known, that. */
mt_status mt_bits_print(mt_store *store, const mt_filter *filter, mt_error *err);
