/* Why variants were refused or failed: each different reason once, with the first variant that had it. What tune and check print of them. */
#pragma once

#include <stdio.h>

#include "tuner/base/outcome.h"

enum { MT_REASONS = 12, MT_REASONS_OF_KIND = 4, MT_REASON_TEXT = 1208, MT_REASON_VARIANT = 1024 };

typedef struct mt_reason {
    mt_outcome_kind kind;
    size_t count;
    char text[MT_REASON_TEXT];       /* of the first; one cleaned line: the rule, the number, the limit */
    char variant[MT_REASON_VARIANT]; /* the first: "ALGO=k;BLOCK=2048" */
} mt_reason;

typedef struct mt_reasons { /* zero-initialise; nothing to free */
    mt_reason items[MT_REASONS];
    size_t count;
    size_t untold[MT_OUTCOME_KIND_COUNT]; /* with reasons behind the first few */
} mt_reasons;

/* Two texts that differ in numbers only are one reason. `variant` ("ALGO=k;BLOCK=2048") and `text` may be NULL. */
void mt_reasons_add(mt_reasons *reasons, mt_outcome_kind kind, const char *variant, const char *text);
/* Of that kind: "      2 illegal, first: RULE" and the variant on a line of its own. */
void mt_reasons_print(const mt_reasons *reasons, mt_outcome_kind kind, FILE *out);
