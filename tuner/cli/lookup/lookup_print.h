/* What the lookup library answered, as text and as JSON. */
#pragma once

#include <stdio.h>

#include "tuner/cli/lookup/lookup_query.h"

/* `gpu`: its canonical key. A launch or argument that can't be evaluated is said where it belongs; only memory can fail. */
mt_status mt_lookup_print_text(FILE *out, const mt_lookup_query *asked, const char *gpu, const tunelookup_result *result, mt_error *err);
mt_status mt_lookup_print_json(FILE *out, const mt_lookup_query *asked, const char *gpu, const tunelookup_result *result, mt_error *err);

/* Names of the library's enumerations. */
const char *mt_lookup_match_name(tunelookup_match match);
const char *mt_lookup_dtype_name(tunelookup_dtype dtype);
const char *mt_lookup_role_name(tunelookup_role role);
const char *mt_lookup_kind_name(tunelookup_arg_kind kind);
