/* What a kernel's stored expressions (kernel.spec_json) and a GPU's facts (device.facts_json) say to who reads them, and which of two texts that differ says more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"

struct sqlite3;

/* Whether lookups can read the expressions, which is asked before they are taken over from a file; "{}" = none are known. False writes the reason into `why`. */
mt_status mt_said_check_spec(const char *spec_json, bool *is_sound, char *why, size_t size, mt_error *err);

/* Makes SQL functions of the handle: spec_rank(spec_json) and facts_rank(facts_json, key). The first two characters of what they give tell how much can be read, the smaller the more; all of it is equal for texts that say the
 * same, whatever stands in them that nobody reads: blanks, members without a meaning. So nothing is gained by a longer text. Of two that say other things and as much, nothing in a file tells which is right: who merges keeps
 * what he has. Facts that contradict the numbers in the GPU's key can't be read. short_hash(text): 8 digits. */
mt_status mt_said_functions(struct sqlite3 *db, const char *path, mt_error *err);
