/* The list of variants with strikes, for `show --quarantine` and `quarantine`. */
#pragma once

#include "tuner/cli/requests/database.h"
#include "tuner/cli/output/print.h"

/* Prints variant, shape, cause, when, strikes and whether they quarantine; "none" is no error. */
mt_status mt_quarantine_print(mt_store *store, const mt_filter *filter, bool as_json, mt_error *err);
