/* T4, the interchange format of the auto-tuning community: {"schema_version":"1.0.0","metadata":{…},"results":[{configuration, times, invalidity, …},…]}.
 * What T4 has no words for stands in members called MT_T4_OWN, which its schema allows and other readers pass over. docs/database.md lists them. */
#pragma once

#include "db/store/query.h"

#define MT_T4_OWN "msda-tune"

/* Writes the newest row of each variant of every subject that the filter leaves; compressed if path ends in .gz or .zst. *untried: rows that were left out, because nobody tried
 * their variants (mt_outcome_is_untried), for which T4 has no word. */
mt_status mt_t4_export(mt_store *store, const mt_filter *filter, const char *path, size_t *untried, mt_error *err);
/* The kind that a foreign file means; false for a word that is none of T4's. */
bool mt_t4_kind(const char *invalidity, mt_outcome_kind *kind);
