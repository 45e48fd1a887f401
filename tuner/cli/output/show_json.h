/* Rows as JSON for `msda-tune show --json`. */
#pragma once

#include "db/store/query.h"
#include "tuner/base/strbuf.h"

/* Adds one row as an object: subject, times in microseconds, knobs, validated error, resources, launch. Numbers that are not finite become null. terms: of the row's
 * state of its kernel's source (mt_query_terms). space_key: of the source that --space names, where it is the row's kernel; else NULL. */
void mt_show_json_row(mt_strbuf *out, const mt_measurement_row *row, const mt_kernel_terms *terms, const char *space_key);
/* The same for a winner: with "tied", an array of the other variants of its final's tied set and their ratios to the leader, [] = none or no final; and what it is compared with, "default_us" and "baseline_us", null = not known or not valid. */
mt_status mt_show_json_best(mt_strbuf *out, const mt_measurement_row *row, const mt_kernel_terms *terms, const char *space_key, mt_store *store, mt_error *err);

/* A session: state, counts, "times" (where its time went, GPU by GPU; null while it runs), warnings as an array. */
void mt_show_json_session(mt_strbuf *out, const mt_session_info *row);
