/* What a kernel's stored expressions (kernel.spec_json) and a GPU's facts (device.facts_json) say to who reads them, and which of two texts that differ says more. */
#ifndef MT_DB_EXCHANGE_SAID_H
#define MT_DB_EXCHANGE_SAID_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/status.h"

struct sqlite3;

/* Whether lookups can read the expressions, which is asked before they are taken over from a file; "{}" = none are known. False writes the reason into `why`. */
mt_status mt_said_check_spec(const char *spec_json, bool *is_sound, char *why, size_t size, mt_error *err);

/* Makes SQL functions of the handle: spec_rank(spec_json) and facts_rank(facts_json, key), texts of which the smaller is of what is to be kept. It is the same whatever stands in the text that nobody reads: blanks, members without
 * a meaning. First comes what can be read, of facts those that tell more of those that are known, then a hash decides. So nothing is gained by a longer text, and those who merge in another order keep the same one. A hash is
 * neutral, not a proof: who forges expressions that lookups can read may try until theirs is the smaller one. Nothing in a file tells who wrote it, and rows can be forged as well; what is merged must be trusted that far.
 * Facts that contradict the numbers in the GPU's key can't be read. short_hash(text): 8 digits. */
mt_status mt_said_functions(struct sqlite3 *db, const char *path, mt_error *err);

#endif
