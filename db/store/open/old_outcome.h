/* What schema 7, and recordings of its time, said of a variant that did not run: the one outcome 'pruned', and a sentence that told which of three. Here alone such a sentence is read. */
#pragma once

#include "db/store/store.h"

/* SQL expressions of the old outcome and text, and what they are now. A sentence that the outcome or the digest says is gone; every other text stays. */
#define MT_OLD_EXCLUDED(text) text " GLOB 'a constraint excludes it on this shape and GPU (expressions [0-9a-f]*)'"
#define MT_OLD_OUTCOME(outcome, text) \
    "CASE WHEN " outcome " <> 'pruned' THEN " outcome " WHEN " text " = 'not recorded' THEN 'not_recorded' WHEN " text " GLOB 'the compiler died*' THEN 'compiler_killed' ELSE 'excluded' END"
#define MT_OLD_TEXT(outcome, text) "CASE WHEN " outcome " <> 'pruned' OR NOT (" text " = 'not recorded' OR " MT_OLD_EXCLUDED(text) ") THEN " text " END"
#define MT_OLD_DIGEST(outcome, text) "CASE WHEN " outcome " = 'pruned' AND " MT_OLD_EXCLUDED(text) " THEN substr(" text ", -9, 8) END"

/* Of a row that says 'pruned': outcome->text, owned or NULL, becomes kind, spec_digest and what remains of the text. */
mt_status mt_old_outcome_read(mt_store *store, mt_outcome *outcome, mt_error *err);
